"""What a reader of the numbers should know and would not ask: a sentence for each thing noticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from evalcore import Metric, name
from evalcore.metrics import P

SAMPLED = "doi:10.1145/3394486.3403226"


def of_scores(metrics: Sequence[Metric], counts: Mapping[str, Any], *, by_rank: bool) -> list[str]:
    """Notes on a score table, from the counts of its audit.

    by_rank   whether documents were ordered by the rank column
    """
    notes = []
    if counts["n_misordered"]:
        order, other = ("the rank column", "score") if by_rank else ("score", "the rank column")
        how = "set score.conventions.ties to another rule" if by_rank else "use score.conventions.ties=rank_column"
        notes.append(
            f"Score and rank order differ in {counts['n_misordered']:,} of {counts['n_rankings']:,} rankings; "
            f"documents are ordered by {order}. To follow {other}, {how}."
        )
    binary = [name(metric) for metric in metrics if metric.FACTS.binary]
    graded = (counts["lowest_gain"] or 0) < (counts["best_grade"] or 0)
    if binary and graded:
        least = min(getattr(metric, "min_grade", 1) for metric in metrics if metric.FACTS.binary)
        notes.append(
            f"Judgments are graded, up to {counts['best_grade']:g}; every grade from {least:g} counts alike in "
            f"{_listed(binary)}. Set the bar with rel, as in P(rel=2)@5, or use a graded metric such as nDCG."
        )
    precise = [name(metric) for metric in metrics if isinstance(metric, P)]
    if precise and counts["n_only_judged"] and counts["n_only_judged"] == counts["n_answered"]:
        notes.append(
            "Every ranking holds as many documents as its query has judgments, as if candidates had been given and "
            f"not found: with sampled candidates {_listed(precise)} depends on how many were sampled, and may order "
            f"systems differently than all candidates would ({SAMPLED})."
        )
    return notes


def of_contrasts(contrasts: Sequence[Mapping[str, Any]], metrics: Mapping[str, Metric]) -> list[str]:
    """Notes on contrasts: pairs whose delta changes its sign with the cutoff.

    contrasts   rows of CONTRASTS, of one interval method
    metrics     by the name in the rows
    """
    families: defaultdict[tuple[str, str, str], list[tuple[int, float]]] = defaultdict(list)
    for row in contrasts:
        metric = metrics.get(row["metric"])
        cutoff = getattr(metric, "cutoff", None)
        if metric is None or cutoff is None or row["delta"] is None:
            continue
        family = name(metric).removesuffix(f"@{cutoff}")
        families[family, row["candidate"], row["baseline"]].append((cutoff, row["delta"]))
    notes = []
    for (family, candidate, baseline), deltas in families.items():
        signs = {delta > 0 for _, delta in deltas if delta}
        if len(signs) > 1:
            shown = ", ".join(f"{delta:+.4f} @{cutoff}" for cutoff, delta in sorted(deltas))
            notes.append(f"{family}: which of {candidate} and {baseline} is better depends on the cutoff: {shown}.")
    return notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
