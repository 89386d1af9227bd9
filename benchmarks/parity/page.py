"""The page: a table for each tool, and the values that tools state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from benchmarks.parity.cases import Case
from benchmarks.parity.comparison import gaps, reason
from benchmarks.parity.tools.tool import Tool
from evalcore import evaluate
from evalcore.presets import preset
from tests.support.documented import DOCUMENTED


def table(tool: Tool, data: Mapping[str, Sequence[Case]]) -> tuple[list[str], int]:
    """The rows of a tool, and how many differences have no reason."""
    found = {name: gaps(tool, cases, tool.measures) for name, cases in data.items()}
    rows = [f"| measure | {' | '.join(data)} | why they differ |", f"|---|{'---:|' * len(data)}---|"]
    unexplained = 0
    for measure in tool.measures:
        cells, reasons = [], {}
        for name, cases in data.items():
            gap = found[name].get(measure)
            cells.append("" if gap is None else "0" if gap.largest == 0 else f"{gap.largest:.0e}")
            if gap is not None and not gap.is_none:
                why = reason(tool, cases, measure)
                unexplained += why is None
                reasons.setdefault(why or "NOT EXPLAINED", []).append(name)
            if gap is not None and gap.n_undefined:
                reasons.setdefault(f"NaN there for {gap.n_undefined} of {gap.n_undefined + gap.n} values", []).append(
                    name
                )
        why = "; ".join(
            why if len(reasons) == 1 and len(names) > 1 else f"{why} ({', '.join(names)})"
            for why, names in reasons.items()
        )
        rows.append(f"| {measure} | {' | '.join(cells)} | {why} |")
        print(rows[-1], flush=True)
    return rows, unexplained


def documented() -> tuple[list[str], int]:
    """Rows for values that tools state, and how many are not met."""
    rows = ["| tool | measure | evalcore | stated | found | source |", "|---|---|---|---:|---:|---|"]
    missed = 0
    for each in DOCUMENTED:
        conventions = replace(preset(each.preset).conventions, **each.changed)
        found = evaluate(each.run, each.qrels, each.metric, preset=each.preset, conventions=conventions)
        (value,) = found.mean().values()
        missed += abs(value - each.value) > 10**-each.decimals
        rows.append(f"| {each.preset} | {each.measure} | {each.metric} | {each.value} | {value:.7f} | {each.source} |")
    return rows, missed


def installed(package: str) -> str | None:
    """The version, None without the package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def page(tools: Sequence[Tool], data: Mapping[str, Sequence[Case]]) -> tuple[str, int]:
    """The page, and how many differences have no reason."""
    unexplained = 0
    sizes = ", ".join(
        f"{name} ({len(cases)} runs, {sum(len(c.run) for c in cases):,} rankings)" for name, cases in data.items()
    )
    parts = [
        "# Parity with other tools",
        "Made by `python -m benchmarks.parity`; do not edit.",
        "A cell is the largest absolute difference between evalcore's values and the tool's, over every query of every "
        f"run of a data set: {sizes}. 0 is equality to the last bit; an empty cell, that the tool gives no value. "
        "The documents of ltr are ranked by the sum of their features, once as it is and once rounded so that many "
        "are tied.",
        "For every difference above 1e-9 there is a reason that the script has tried: with scores untied in "
        "trec_eval's order, or with negative grades raised to 0, both sides agree. What a preset cannot reproduce is "
        "in `evalcore.presets.PRESETS[name].limits`.",
        f"Python {python_version()}, numpy {version('numpy')}.",
    ]
    for tool in tools:
        found = installed(tool.package)
        parts.append(f"## {tool.name} {found or ''}".rstrip())
        if found is None:
            parts.append(f"Not installed when this page was made: `pip install {tool.package}`.")
            continue
        print(f"\n{tool.name} {found}", flush=True)
        rows, missing = table(tool, data)
        unexplained += missing
        parts += [tool.about, "\n".join(rows)]
    rows, missed = documented()
    parts += [
        "## Values that tools state",
        "For tools that are not run here: values of their documentation or their tests, under the tool's preset.",
        "\n".join(rows),
    ]
    return "\n\n".join(parts) + "\n", unexplained + missed
