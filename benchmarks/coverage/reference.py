"""Coverage that an independent program found in the settings of REFERENCE, for comparison.

It was written before this package, in numpy alone, with other random numbers and its own formulae for every interval:
2,000 data sets each, 1,999 replicates for queries and 999 for clusters. A Monte-Carlo error is 0.5 points near 95 %,
0.7 near 90 %, 1.0 near 70 % to 80 %.
"""

from __future__ import annotations

DATA_SETS = 2_000
_QUERIES = """
                                 t hall auto percentile basic  bca studentized
rr10 (35% zeros), N=50         94.5 96.0 96.0 94.2 93.4 94.8 96.2
rr10 (35% zeros), N=200        95.6 96.0 96.0 95.5 95.0 95.5 96.0
rr10 (35% zeros), N=1000       94.2 94.2 94.5 94.1 94.2 94.0 94.0
rr10 sparse (90% zeros), N=50  88.2 95.6 97.1 88.1 82.2 90.8 90.5
rr10 sparse (90% zeros), N=200 92.9 97.5 98.8 94.0 91.7 96.1 97.5
rr10 sparse (90% zeros), N=1000 94.5 95.2 96.0 94.7 94.2 95.0 95.3
ndcg moderate, N=50            95.0 95.7 95.7 94.6 93.8 95.0 95.7
ndcg moderate, N=200           95.2 95.4 95.4 95.0 95.0 95.0 95.4
ndcg moderate, N=1000          93.8 93.9 93.9 93.9 93.7 93.8 93.8
ndcg skewed (60% zeros), N=50  91.1 95.5 96.6 91.3 88.8 93.0 95.5
ndcg skewed (60% zeros), N=200 94.4 95.6 96.5 94.4 93.5 95.2 95.5
ndcg skewed (60% zeros), N=1000 94.5 94.5 95.2 94.3 94.0 94.2 94.3
delta rr10 (80% ties), N=50    96.4 88.8 96.4 91.9 97.0 86.9 88.9
delta rr10 (80% ties), N=200   95.8 94.5 95.8 95.0 96.0 94.3 94.2
delta rr10 (80% ties), N=1000  94.9 94.7 94.9 94.8 94.8 94.4 94.3
delta sparse (97% ties), N=50  79.2 69.0 79.2 70.6 79.5 63.9 69.5
delta sparse (97% ties), N=200 88.6 69.0 88.6 79.7 94.3 69.3 70.4
delta sparse (97% ties), N=1000 93.8 93.5 95.1 94.1 93.7 93.5 92.8
"""
_CLUSTERS = """
                                              t  cr1  cr3 percentile bca studentized wild auto
rr10 (35% zeros), ICC 0.3, G=20            95.6 89.5 92.3 90.4 87.9 93.3 94.3 96.2
rr10 (35% zeros), ICC 0.3, G=50            96.4 92.2 93.7 92.8 90.5 94.4 95.2 96.7
rr10 (35% zeros), ICC 0.3, G=200           95.8 93.8 94.4 93.4 92.0 93.5 94.9 96.0
ndcg skewed (60% zeros), ICC 0.3, G=20     91.6 84.4 86.5 86.1 85.4 91.5 90.4 93.7
ndcg skewed (60% zeros), ICC 0.3, G=50     93.3 89.3 90.5 90.3 89.7 93.2 92.0 95.0
ndcg skewed (60% zeros), ICC 0.3, G=200    94.7 92.3 92.8 92.7 91.2 93.5 93.3 95.9
rr10 (35% zeros), ICC 0.3, informative sizes, G=20 92.7 86.5 89.1 85.4 85.5 91.3 90.4 94.0
rr10 (35% zeros), ICC 0.3, informative sizes, G=50 93.2 89.6 91.2 89.3 89.0 92.9 92.2 94.4
"""


def _table(text: str) -> dict[str, dict[str, float]]:
    """Setting -> interval -> coverage as a share."""
    head, *rows = text.strip().splitlines()
    methods = head.split()
    found = {}
    for row in rows:
        name, *cells = row.rsplit(maxsplit=len(methods))
        found[name] = {method: float(cell) / 100 for method, cell in zip(methods, cells, strict=True)}
    return found


PUBLISHED = _table(_QUERIES) | _table(_CLUSTERS)
