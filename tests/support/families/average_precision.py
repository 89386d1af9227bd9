"""Precision averaged over relevant documents, grades or recall levels: the twins."""

from __future__ import annotations

import math

from evalcore.metrics import AP, GAP, GMAP, ElevenPointAP, Gain, IPrec
from tests.support.families.gain import gains_of
from tests.support.families.top_k import is_relevant, n_relevant

NAN = float("nan")
TENTHS = [tenth / 10 for tenth in range(11)]


def _relevant_ranks(metric, retrieved) -> list[int]:
    return [rank for rank, grade in enumerate(retrieved, 1) if is_relevant(metric, grade)]


def _average_precision(metric, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return NAN
    k = math.inf if metric.cutoff is None else metric.cutoff
    ranks = [rank for rank in _relevant_ranks(metric, retrieved) if rank <= k]
    below = {"R": wanted, "min(R,k)": min(wanted, k), "hits": len(ranks), "min(R,k,n)": min(wanted, k, len(retrieved))}
    total = sum(number / rank for number, rank in enumerate(ranks, 1))
    denominator = below[getattr(metric, "denominator", "R")]
    return total / denominator if denominator else 0.0


def _raised(metric, retrieved, judged) -> float:
    value = _average_precision(metric, retrieved, judged)
    return value if math.isnan(value) else max(value, metric.floor)


def _graded_average_precision(metric, retrieved, judged) -> float:
    """The mean of the sums of precisions over all thresholds, each with the share of users who have it."""
    gains = gains_of(metric, retrieved)
    levels = sorted(set(gains_of(metric, judged)) - {0.0})
    above = below = 0.0
    for lower, level in zip([0.0, *levels], levels, strict=False):
        share = level - lower
        ranks = [rank for rank, gain in enumerate(gains, 1) if gain >= level]
        counted = [(number, rank) for number, rank in enumerate(ranks, 1) if rank <= (metric.cutoff or math.inf)]
        above += share * sum(number / rank for number, rank in counted)
        below += share * len([gain for gain in gains_of(metric, judged) if gain >= level])
    return above / below if below else NAN


def interpolated_precision(metric, retrieved, judged, recall) -> float:
    """The best precision from the rank on where enough is found."""
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return NAN
    share = recall * wanted
    needed = {
        "reached": math.ceil(round(share, 6)),
        "trec_eval9": math.floor(share + 0.9),
        "trec_eval10": math.floor(share + 0.5),
    }[metric.point]
    ranks = _relevant_ranks(metric, retrieved)
    precisions = [
        len([rank for rank in ranks if rank <= last]) / last
        for last in range(1, len(retrieved) + 1)
        if len([rank for rank in ranks if rank <= last]) >= needed
    ]
    return max(precisions, default=0.0)


VALUES = {
    AP: _average_precision,
    GMAP: _raised,
    GAP: _graded_average_precision,
    IPrec: lambda metric, retrieved, judged: interpolated_precision(metric, retrieved, judged, metric.recall),
    ElevenPointAP: lambda metric, retrieved, judged: (
        sum(interpolated_precision(metric, retrieved, judged, recall) for recall in TENTHS) / 11
    ),
}

EXAMPLES = [
    AP(cutoff=3, denominator="min(R,k)"),
    AP(denominator="hits"),
    AP(cutoff=3, denominator="hits"),
    AP(cutoff=3, denominator="min(R,k,n)"),
    GMAP(),
    GMAP(cutoff=3, floor=0.01, min_grade=2),
    GAP(),
    GAP(cutoff=3, gain=Gain.parse("{1:0.2,2:0.5,3:1}")),
    GAP(gain=Gain.parse("exp2")),
    IPrec(recall=0),
    IPrec(recall=0.1),
    IPrec(recall=0.5, point="trec_eval9", min_grade=2),
    IPrec(recall=1, point="trec_eval10"),
    ElevenPointAP(),
    ElevenPointAP(point="trec_eval9", min_grade=2),
]
