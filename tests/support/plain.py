"""Small runs and judgments as plain mappings, and their value."""

from __future__ import annotations

from evalcore import evaluate

RUN = {"q1": {"a": 0.9, "b": 0.5, "c": 0.1}, "q2": {"a": 0.4}}
QRELS = {"q1": {"b": 1, "c": 2, "d": 0}, "q2": {"b": 1}, "q3": {"a": 1}, "q4": {"a": 0}}
TIED = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}


def value(run, qrels, metric="AP", **settings) -> float:
    """The value of the one query."""
    found = evaluate(run, qrels, metric, **settings)
    (only,) = found.values(found.metrics[0])
    return float(only)
