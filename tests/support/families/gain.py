"""What documents are worth: the twins of cumulative gain and of what is made of it."""

from __future__ import annotations

import math

from evalcore.metrics import BPM, CG, DCG, IDCG, NDCG, RNDCG, SDCG, BinG, Discount, G, Gain, NDCGRel, Q
from tests.support.families.top_k import is_relevant, n_relevant

NAN = float("nan")


def exponential_gain(grade: float) -> float:
    """Of a judged document."""
    return 2.0**grade - 1 if grade > 0 else 0.0


def gain_of(metric, grade: float | None) -> float:
    """What a document of this grade is worth."""
    bar = getattr(metric, "min_grade", None)
    if grade is None or (bar is not None and grade < bar):
        return 0.0
    for listed, gain in metric.gain.table:
        if grade == listed:
            return gain
    if metric.gain.name == "binary":
        return 1.0 if grade >= 1 else 0.0
    if metric.gain.name == "exp2":
        return exponential_gain(grade)
    if metric.gain.name == "signed":
        return grade
    return max(grade, 0.0)


def discount_of(name: str, rank: float) -> float:
    """What is left of a gain at this rank."""
    if name == "none":
        return 1.0
    if name == "zipf":
        return 1 / rank
    if name.startswith("jk"):
        base = float(name.removeprefix("jk"))
        return 1 / math.log(rank, base) if rank > base else 1.0
    base = math.e if name == "ln" else float(name.removeprefix("log"))
    return 1 / math.log(rank + 1, base)


def discounted_sum(gains, discount: str, cutoff: int | None) -> float:
    """Gains in rank order, each discounted by its rank."""
    return sum(gain * discount_of(discount, rank) for rank, gain in enumerate(gains[:cutoff], start=1))


def gains_of(metric, grades) -> list[float]:
    """In the order of the grades."""
    return [gain_of(metric, grade) for grade in grades]


def best_first(metric, grades) -> list[float]:
    """The gains of the best ranking of these documents."""
    return sorted(gains_of(metric, grades), reverse=True)


def _cg(metric, retrieved, judged) -> float:
    return sum(gains_of(metric, retrieved[: metric.cutoff]))


def _dcg(metric, retrieved, judged) -> float:
    return discounted_sum(gains_of(metric, retrieved), metric.discount.name, metric.cutoff)


def _ideal_dcg(metric, retrieved, judged) -> float:
    return discounted_sum(best_first(metric, judged), metric.discount.name, metric.cutoff)


def _ndcg(metric, retrieved, judged) -> float:
    if max(gains_of(metric, judged), default=0) == 0:
        return NAN
    found = _dcg(metric, retrieved, judged)
    best = best_first(metric, retrieved if metric.ideal == "retrieved" else judged)
    ideal = discounted_sum(best, metric.discount.name, None if metric.ideal == "full" else metric.cutoff)
    return found / ideal if found else 0.0


def _ndcg_at(metric, retrieved, judged, depth: int) -> float:
    found = discounted_sum(gains_of(metric, retrieved), metric.discount.name, depth)
    return found / discounted_sum(best_first(metric, judged), metric.discount.name, depth)


def _averaged_at_levels(metric, retrieved, judged) -> float:
    best = [gain for gain in best_first(metric, judged) if gain > 0]
    if not best:
        return NAN
    depths = [rank for rank in range(1, len(best) + 1) if rank == len(best) or best[rank] < best[rank - 1]]
    if len(retrieved) >= len(best) + 2:
        depths.append(len(retrieved))
    return sum(_ndcg_at(metric, retrieved, judged, depth) for depth in depths) / len(depths)


def _averaged_at_gains(metric, retrieved, judged) -> float:
    n_best = len([gain for gain in gains_of(metric, judged) if gain > 0])
    if n_best == 0:
        return NAN
    ranks = [rank for rank, gain in enumerate(gains_of(metric, retrieved), start=1) if gain > 0]
    values = [_ndcg_at(metric, retrieved, judged, rank) for rank in ranks]
    missed = n_best - len(ranks)
    if ranks and missed > 0:
        values += [_ndcg_at(metric, retrieved, judged, len(retrieved) + len(judged))] * missed
    return sum(values) / n_best


def _q_measure(metric, retrieved, judged) -> float:
    gains, best = gains_of(metric, retrieved), best_first(metric, judged)
    n_best = len([gain for gain in best if gain > 0])
    if n_best == 0:
        return NAN
    total = 0.0
    for rank in range(1, len(gains[: metric.cutoff]) + 1):
        if gains[rank - 1] > 0:
            n_found = len([gain for gain in gains[:rank] if gain > 0])
            total += (n_found + metric.beta * sum(gains[:rank])) / (rank + metric.beta * sum(best[:rank]))
    return total / n_best


def _g(metric, retrieved, judged) -> float:
    gains, best = gains_of(metric, retrieved), best_first(metric, judged)
    if sum(best) == 0:
        return NAN
    total = 0.0
    for rank in range(1, len(gains) + 1):
        due = sum(max(gain, 1) for gain in (best + [0.0] * len(gains))[:rank])
        total += gains[rank - 1] / math.log2(2 + max(due - sum(gains[:rank]), 0))
    return total / sum(best)


def _binary_g(metric, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return NAN
    total, others = 0.0, 0
    for grade in retrieved:
        if is_relevant(metric, grade):
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    return total / wanted


def _shares(metric, retrieved) -> list[float]:
    return [min(gain, metric.max_grade) / metric.max_grade for gain in gains_of(metric, retrieved)]


def _scaled_dcg(metric, retrieved, judged) -> float:
    depth = len(retrieved) if metric.cutoff is None else metric.cutoff
    most = discounted_sum([1.0] * depth, metric.discount.name, None)
    return discounted_sum(_shares(metric, retrieved), metric.discount.name, depth) / most if most else 0.0


def _bejeweled(metric, retrieved, judged) -> float:
    shares = _shares(metric, retrieved)
    depth = len(shares) if metric.cutoff is None else metric.cutoff
    shares += [0.0] * depth
    wanted = metric.T * metric.max_grade  # in grades, which add up without rounding
    grades = [min(gain, metric.max_grade) for gain in gains_of(metric, retrieved)] + [0.0] * depth
    for stop in range(1, depth + 1):
        if sum(grades[:stop]) >= wanted or stop == depth:
            return sum(shares[:stop]) / stop
    return 0.0


VALUES = {
    BPM: _bejeweled,
    BinG: _binary_g,
    CG: _cg,
    DCG: _dcg,
    G: _g,
    IDCG: _ideal_dcg,
    NDCG: _ndcg,
    NDCGRel: _averaged_at_gains,
    Q: _q_measure,
    RNDCG: _averaged_at_levels,
    SDCG: _scaled_dcg,
}

EXP2 = Gain.parse("exp2")
SIGNED = Gain.parse("signed")
STEEP = Gain.parse("{1:3.5,2:9}")
FALLING = Gain.parse("{-1:0.5,1:4,2:0,3:1}")
JK2, JK10, ZIPF, LN = (Discount.parse(name) for name in ("jk2", "jk10", "zipf", "ln"))

EXAMPLES = [
    BPM(cutoff=5),
    BPM(T=1.5, max_grade=2, cutoff=5),
    BPM(),
    BinG(),
    BinG(min_grade=2),
    CG(gain=SIGNED, cutoff=3),
    CG(min_grade=1),
    DCG(gain=SIGNED, discount=ZIPF),
    DCG(discount=JK10, min_grade=2),
    G(),
    G(gain=STEEP),
    G(gain=FALLING),
    IDCG(discount=JK2, min_grade=2, cutoff=3),
    NDCG(discount=JK2),
    NDCG(discount=ZIPF, ideal="retrieved"),
    NDCG(gain=FALLING, ideal="retrieved"),
    NDCG(discount=JK10, ideal="full"),
    NDCG(gain=EXP2, min_grade=2, cutoff=5),
    NDCGRel(),
    NDCGRel(gain=FALLING, discount=LN),
    Q(),
    Q(beta=10, cutoff=3),
    Q(gain=FALLING),
    RNDCG(),
    RNDCG(gain=EXP2, discount=LN),
    RNDCG(gain=FALLING),
    SDCG(cutoff=3),
    SDCG(discount=LN, max_grade=2, cutoff=5),
    SDCG(),
]
