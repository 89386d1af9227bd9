"""Diversity: one query, loops over ranks and subtopics."""

from __future__ import annotations

import math

from evalcore.metrics import NNRBP, NRBP, PIA, AlphaDCG, AlphaNDCG, ErrIA, MapIA, NErrIA, StRecall

NAN = float("nan")


def _covered(metric, extras) -> dict[str, list[str]]:
    """The subtopics that each document is relevant to, in the order of the entries."""
    covered: dict[str, list[str]] = {}
    for document, subtopic, grade in extras.subtopics:
        if grade >= metric.min_grade:
            covered.setdefault(document, []).append(subtopic)
    return covered


def _relevant_to(metric, extras) -> dict[str, int]:
    """How many documents are relevant to each subtopic that has any."""
    found: dict[str, int] = {}
    for subtopics in _covered(metric, extras).values():
        for subtopic in subtopics:
            found[subtopic] = found.get(subtopic, 0) + 1
    return found


def _gains(metric, ranking, covered) -> list[float]:
    """What the document at each rank adds."""
    seen: dict[str, int] = {}
    gains = []
    for document in ranking:
        gain = 0.0
        for subtopic in covered.get(document, []):
            gain += (1 - metric.alpha) ** seen.get(subtopic, 0)
            seen[subtopic] = seen.get(subtopic, 0) + 1
        gains.append(gain)
    return gains


def _greedy(metric, covered) -> list[str]:
    """The ranking that takes what adds most, the greatest id where several do."""
    worth: dict[str, float] = {}
    left, ranking = sorted(covered, reverse=True), []
    while left:
        best, most = left[0], -1.0
        for document in left:
            gain = 0.0
            for subtopic in covered[document]:
                gain += worth.get(subtopic, 1.0)
            if gain > most:
                best, most = document, gain
        left.remove(best)
        ranking.append(best)
        for subtopic in covered[best]:
            worth[subtopic] = worth.get(subtopic, 1.0) * (1 - metric.alpha)
    return ranking


def _weight(metric, rank: int) -> float:
    if isinstance(metric, (AlphaDCG, AlphaNDCG)):
        return 1 / math.log2(rank + 1)
    if isinstance(metric, (ErrIA, NErrIA)):
        return 1 / rank
    return metric.beta ** (rank - 1)


def _total(metric, gains) -> float:
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        if metric.cutoff is None or rank <= metric.cutoff:
            total += gain * _weight(metric, rank)
    return total


def _of_perfect(metric, retrieved, judged, extras) -> float:
    n_subtopics = len(_relevant_to(metric, extras))
    if n_subtopics == 0:
        return NAN
    depth = len(extras.documents) if metric.cutoff is None else metric.cutoff
    perfect = _total(metric, [n_subtopics * (1 - metric.alpha) ** above for above in range(depth)])
    return _total(metric, _gains(metric, extras.documents, _covered(metric, extras))) / perfect if perfect else 0.0


def _of_greedy(metric, retrieved, judged, extras) -> float:
    covered = _covered(metric, extras)
    if not covered:
        return NAN
    best = _gains(metric, _greedy(metric, covered), covered)
    return _total(metric, _gains(metric, extras.documents, covered)) / _total(metric, best)


def _nrbp(metric, retrieved, judged, extras) -> float:
    n_subtopics = len(_relevant_to(metric, extras))
    if n_subtopics == 0:
        return NAN
    total = _total(metric, _gains(metric, extras.documents, _covered(metric, extras)))
    return total * (1 - (1 - metric.alpha) * metric.beta) / n_subtopics


def _subtopic_recall(metric, retrieved, judged, extras) -> float:
    n_subtopics = len(_relevant_to(metric, extras))
    if n_subtopics == 0:
        return NAN
    seen = set()
    for document in extras.documents[: metric.cutoff]:
        seen |= set(_covered(metric, extras).get(document, []))
    return len(seen) / n_subtopics


def _precision(metric, retrieved, judged, extras) -> float:
    n_subtopics = len(_relevant_to(metric, extras))
    if n_subtopics == 0:
        return NAN
    depth = len(extras.documents) if metric.cutoff is None else metric.cutoff
    covered = _covered(metric, extras)
    n_found = sum(len(covered.get(document, [])) for document in extras.documents[: metric.cutoff])
    return n_found / depth / n_subtopics if depth else 0.0


def _average_precision(metric, retrieved, judged, extras) -> float:
    covered, n_relevant = _covered(metric, extras), _relevant_to(metric, extras)
    if not n_relevant:
        return NAN
    values = []
    for subtopic, n_of_subtopic in n_relevant.items():
        n_hits, total = 0, 0.0
        for rank, document in enumerate(extras.documents, start=1):
            if subtopic in covered.get(document, []):
                n_hits += 1
                total += n_hits / rank
        values.append(total / n_of_subtopic)
    return sum(values) / len(values)


VALUES = {
    AlphaDCG: _of_perfect,
    AlphaNDCG: _of_greedy,
    ErrIA: _of_perfect,
    MapIA: _average_precision,
    NErrIA: _of_greedy,
    NNRBP: _of_greedy,
    NRBP: _nrbp,
    PIA: _precision,
    StRecall: _subtopic_recall,
}
EXAMPLES = [
    AlphaDCG(),
    AlphaDCG(cutoff=3),
    AlphaDCG(cutoff=5, alpha=0.3, min_grade=2),
    AlphaNDCG(),
    AlphaNDCG(cutoff=3),
    AlphaNDCG(cutoff=5, alpha=0.3, min_grade=2),
    ErrIA(),
    ErrIA(cutoff=3),
    ErrIA(cutoff=5, alpha=0.3, min_grade=2),
    NErrIA(),
    NErrIA(cutoff=3),
    NErrIA(cutoff=5, alpha=1, min_grade=2),
    NRBP(),
    NRBP(alpha=0.3, beta=0.8, min_grade=2),
    NNRBP(),
    NNRBP(alpha=0.3, beta=0.8, min_grade=2),
    StRecall(),
    StRecall(cutoff=3),
    StRecall(cutoff=5, min_grade=2),
    PIA(),
    PIA(cutoff=3),
    PIA(cutoff=5, min_grade=2),
    MapIA(),
    MapIA(min_grade=2),
]
