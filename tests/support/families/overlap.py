"""Two systems: sets of documents."""

from __future__ import annotations

from evalcore.metrics import Jaccard, Overlap

NAN = float("nan")


def _overlap(metric, retrieved, judged, extras) -> float:
    ours, theirs = set(extras.documents[: metric.cutoff]), set(extras.reference[: metric.cutoff])
    return len(ours & theirs) / max(len(ours), len(theirs)) if ours or theirs else NAN


def _jaccard(metric, retrieved, judged, extras) -> float:
    ours, theirs = set(extras.documents[: metric.cutoff]), set(extras.reference[: metric.cutoff])
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else NAN


VALUES = {Jaccard: _jaccard, Overlap: _overlap}
EXAMPLES = [Jaccard(), Jaccard(cutoff=3), Overlap(), Overlap(cutoff=3)]
