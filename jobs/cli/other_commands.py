"""The commands that explain: metrics and conventions, and what is wrong with an installation."""

from __future__ import annotations

from jobs import console
from jobs.cli.app import Flag, app, print_json


@app.command
def metrics(name: str | None = None, /) -> int:
    """List the metrics and presets, or explain one.

    Parameters
    ----------
    name
        A metric or preset, such as nDCG, nDCG@10 or trec_eval, or the word conventions.
    """
    console.show_metrics(name)
    return 0


@app.command
def doctor(*, json: Flag = False) -> int:
    """Check Python, Java, Spark and memory, and say what to do about each thing wrong.

    Parameters
    ----------
    json
        Print the result as JSON.
    """
    from jobs.doctor import check

    findings = check()
    if json:
        print_json(
            [{"name": each.name, "ok": each.ok, "detail": each.detail, "advice": each.advice} for each in findings]
        )
    else:
        console.show_findings(findings)
    return 0 if all(finding.ok for finding in findings) else 1
