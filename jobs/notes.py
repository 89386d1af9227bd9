"""What a reader of the numbers should know and would not ask: a sentence for each thing noticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evalcore import Conventions, Metric, name
from evalcore.metrics import P, Reliability
from evalcore.metrics.calibration import expected_calibration_error, maximum_calibration_error
from evalcore.statuses import UNANSWERED, UNJUDGED
from jobs.errors import number_of

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
    binary = [name(metric) for metric in metrics if _is_binary(metric)]
    graded = (counts["lowest_gain"] or 0) < (counts["best_grade"] or 0)
    if binary and graded:
        least = min(getattr(metric, "min_grade", None) or 1 for metric in metrics if _is_binary(metric))
        notes.append(
            f"Judgments are graded, up to {counts['best_grade']:g}; every grade from {least:g} counts alike in "
            f"{_listed(binary)}. Set the bar with rel, as in P(rel=2)@5, or use a graded metric such as nDCG."
        )
    if counts["n_subtopic_names"] == 1 and any(metric.FACTS.needs & {"subtopics", "preferences"} for metric in metrics):
        notes.append(
            "All judgments have the same subtopic or group: is the second column of the qrels (or the column subtopic) "
            "what it should be?"
        )
    precise = [name(metric) for metric in metrics if isinstance(metric, P)]
    if precise and counts["n_only_judged"] and counts["n_only_judged"] == counts["n_answered"]:
        notes.append(
            "Every ranking holds as many documents as its query has judgments, as if candidates had been given and "
            f"not found: with sampled candidates {_listed(precise)} depends on how many were sampled, and may order "
            f"systems differently than all candidates would ({SAMPLED})."
        )
    return notes


def of_left_out(counts: Mapping[str, int], conventions: Conventions, *, n_systems: int) -> list[str]:
    """Notes on what is in no estimate, or in it otherwise than it was given.

    counts   of the audit
    """
    notes = []
    if n := counts[f"n_{UNJUDGED}"] // n_systems:
        notes.append(f"{number_of(n, 'query')} of --queries without judgments left out.")
    if n := counts["n_rankings_outside_universe"]:
        notes.append(f"{number_of(n, 'ranking')} of queries that are not judged, or not in --queries, left out.")
    if n := counts[f"n_{UNANSWERED}"]:
        how = "left out" if conventions.unanswered == "skip" else "counted as empty"
        notes.append(f"{number_of(n, 'ranking')} of judged queries missing, and {how}.")
    if n := counts["n_duplicates"]:
        how = "each of which counts" if conventions.duplicates == "counted" else f"kept: {conventions.duplicates}"
        notes.append(f"{number_of(n, 'document')} returned again for a query, {how}.")
    if n := counts["n_non_finite_scores"]:
        notes.append(f"{number_of(n, 'score')} NaN or infinite, ranked last.")
    return notes


def of_answers(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Notes on what each system returned, from rows of system, n_answered and n_longest."""
    notes = []
    if silent := [row["system"] for row in answers if not row["n_answered"]]:
        notes.append(f"{_listed(silent)} answered none of these queries; is it a run of others?")
    some = sorted((row for row in answers if row["n_answered"]), key=lambda row: row["n_answered"])
    if some and some[0]["n_answered"] < some[-1]["n_answered"]:
        fewest, most = some[0], some[-1]
        notes.append(
            f"Systems answer different numbers of queries, from {fewest['n_answered']:,} ({fewest['system']}) to "
            f"{most['n_answered']:,} ({most['system']}); score.conventions.unanswered says how the others count."
        )
    some.sort(key=lambda row: row["n_longest"])
    if some and 2 * some[0]["n_longest"] <= some[-1]["n_longest"]:
        short, long = some[0], some[-1]
        notes.append(
            f"Lists are of different length, up to {short['n_longest']:,} documents by {short['system']} and "
            f"{long['n_longest']:,} by {long['system']}: recall and average precision favour the longer ones. "
            "For the same depth use score.conventions.depth."
        )
    return notes


def of_calibration(estimates: Sequence[Mapping[str, Any]], metrics: Mapping[str, Metric]) -> list[str]:
    """Notes on calibration over all queries together: a mean of the errors of queries is another thing.

    estimates   rows of ESTIMATES, of one interval method
    metrics     by the name in the rows; the elements of a Reliability stand in their order
    """
    sums: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for row in estimates:
        metric = metrics.get(row["metric"])
        if isinstance(metric, Reliability):
            sums[name(metric), row["system"]].append(row["estimate"] or 0.0)
    notes = []
    for (reliability, system), values in sums.items():
        table = np.array(values).reshape(3, -1)  # how many, sums of scores, sums of labels
        error, worst = expected_calibration_error(*table), maximum_calibration_error(*table)
        notes.append(
            f"{reliability} of {system}: over all queries together the expected calibration error is {error:.4f}, the "
            f"largest of a bin {worst:.4f}."
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


def _is_binary(metric: Metric) -> bool:
    gain = getattr(metric, "gain", None)
    return metric.FACTS.binary or getattr(gain, "name", "") == "binary"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
