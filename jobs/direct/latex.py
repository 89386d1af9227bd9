"""The answer as a table for a paper."""

from __future__ import annotations

from jobs.direct.evaluation import Inferred
from jobs.direct.formats import is_quantile, rows_of
from jobs.flags import ADJUSTED


def as_latex(found: Inferred) -> str:
    """A tabular of booktabs: a row for each system, a column for each metric, the best value of each in bold.

    A dagger marks a difference from the baseline whose adjusted p-value is below 1 - confidence.
    """
    estimates, contrasts = rows_of(found)
    estimates = [row for row in estimates if not is_quantile(row)]
    baselines = {row["baseline"] for row in contrasts}
    marked = {}
    if len(baselines) == 1:
        level = 1 - found.settings.confidence
        marked = {
            (row["candidate"], row["metric"]): r"$^{\dagger}$" if row["p_adjusted"] < level else ""
            for row in contrasts
            if row["p_adjusted"] is not None
        }
    metrics = list(dict.fromkeys(row["metric"] for row in estimates))
    systems = list(dict.fromkeys(row["system"] for row in estimates))
    by_key = {(row["system"], row["metric"]): row["estimate"] for row in estimates}
    better = {measure.name: measure.higher_is_better for measure in found.measures}
    lines = [rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}", r"\toprule"]
    lines += [" & ".join(["system", *map(_escaped, metrics)]) + r" \\", r"\midrule"]
    for system in sorted(systems, key=lambda each: each not in baselines):  # the baseline first
        cells = [_escaped(system)]
        for metric in metrics:
            value, others = by_key[system, metric], [by_key[each, metric] for each in systems]
            known = [other for other in others if other is not None]
            shown = "--" if value is None else f"{value:.4f}"
            if len(systems) > 1 and known and better[metric] is not None:
                best = max(known) if better[metric] else min(known)
                shown = rf"\textbf{{{shown}}}" if value == best else shown
            cells.append(shown + marked.get((system, metric), ""))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if marked:
        how = ADJUSTED.get(found.settings.adjust, "")
        lines.append(
            f"% $\\dagger$: differs from {_escaped(next(iter(baselines)))}, two-sided paired t test, p < "
            f"{1 - found.settings.confidence:g} after {how} over the contrasts of a metric."
        )
    elif len(systems) > 1:
        lines.append("% no marks: name the system to compare with by --baseline")
    return "\n".join(lines) + "\n"


SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(each, rf"\{each}" if each in "&%$#_{}" else each) for each in text)
