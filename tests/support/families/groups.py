"""Judgment groups: one query, the slow twin of the metric in each group."""

from __future__ import annotations

from evalcore.metrics import AP, NDCG, GroupMean
from tests.support.families.preferences import groups_of, mean


def _mean_of_groups(metric: GroupMean, retrieved, judged, extras) -> float:
    from tests.support import reference  # it imports this module

    return mean(
        [
            reference.value(metric.of, [levels.get(document) for document in extras.documents], list(levels.values()))
            for levels in groups_of(extras)
        ]
    )


VALUES = {GroupMean: _mean_of_groups}
EXAMPLES = [GroupMean(), GroupMean(of=NDCG()), GroupMean(of=AP(min_grade=2))]
