"""Relevant documents found: the twins of precision, recall and what is made of them."""

from __future__ import annotations

from evalcore.metrics import P, R, RelativeP, Rprec, SetAP, Utility

NAN = float("nan")


def is_relevant(metric, grade: float | None) -> bool:
    """Whether the document is judged, and well enough for the metric."""
    return grade is not None and grade >= metric.min_grade


def n_hits(metric, retrieved, depth=None) -> int:
    """Relevant documents in the first ranks."""
    return len([grade for grade in retrieved[:depth] if is_relevant(metric, grade)])


def n_relevant(metric, judged) -> int:
    """Relevant judged documents."""
    return len([grade for grade in judged if is_relevant(metric, grade)])


def _precision(metric, retrieved, judged) -> float:
    if metric.cutoff is None:
        below = len(retrieved)
    elif metric.denominator == "k":
        below = metric.cutoff
    else:
        below = min(metric.cutoff, len(retrieved))
    return n_hits(metric, retrieved, metric.cutoff) / below if below else 0.0


def _recall(metric, retrieved, judged) -> float:
    below = n_relevant(metric, judged)
    if below == 0:
        return NAN
    if metric.cap == "k":
        below = min(below, metric.cutoff)
    return n_hits(metric, retrieved, metric.cutoff) / below


def _r_precision(metric, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return NAN
    depth = max(1, int(metric.mult * wanted + 0.9))  # a fraction of a tenth or more is one rank more
    return n_hits(metric, retrieved, depth) / depth


def _relative_precision(metric, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return NAN
    if not retrieved:
        return 0.0
    most = min(len(retrieved) if metric.cutoff is None else metric.cutoff, wanted)
    return n_hits(metric, retrieved, metric.cutoff) / most


def _set_average_precision(metric, retrieved, judged) -> float:
    wanted = n_relevant(metric, judged)
    if wanted == 0:
        return NAN
    found = n_hits(metric, retrieved)
    return (found / len(retrieved)) * (found / wanted) if retrieved else 0.0


def _utility(metric, retrieved, judged) -> float:
    found, wanted = n_hits(metric, retrieved), n_relevant(metric, judged)
    total = 0.0
    for grade in retrieved:
        total += metric.relret if is_relevant(metric, grade) else metric.nonrelret
    total += metric.relnotret * (wanted - found)
    other = len(retrieved) - found
    return total + metric.nonrelnotret * (metric.documents - wanted - other)


VALUES = {
    P: _precision,
    R: _recall,
    RelativeP: _relative_precision,
    Rprec: _r_precision,
    SetAP: _set_average_precision,
    Utility: _utility,
}

EXAMPLES = [
    P(cutoff=5, denominator="min(k,n)"),
    R(cutoff=3, cap="k"),
    Rprec(mult=0.4),
    RelativeP(),
    RelativeP(cutoff=3),
    RelativeP(cutoff=5, min_grade=2),
    SetAP(),
    SetAP(min_grade=2),
    Utility(),
    Utility(relret=2, nonrelret=-0.5, relnotret=-3, nonrelnotret=0.25, documents=1_000_000, min_grade=2),
]
