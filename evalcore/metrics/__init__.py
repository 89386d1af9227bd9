"""The definitions of the metrics.

base.py       what a metric is            names.py      "nDCG@10" to a metric and back
registry.py   METRICS, all of them        gains.py, discounts.py   the parts of nDCG

top_k.py  first_hit.py  average_precision.py  gain.py  counts.py      one family a file
"""

from evalcore.metrics.average_precision import AP
from evalcore.metrics.base import Facts, Metric
from evalcore.metrics.counts import Judged, NumRel, NumRelRet, NumRet
from evalcore.metrics.discounts import Discount
from evalcore.metrics.first_hit import RR
from evalcore.metrics.gain import CG, DCG, IDCG, NDCG
from evalcore.metrics.gains import Gain
from evalcore.metrics.names import column_name, name, parameters, parse, parse_list
from evalcore.metrics.registry import METRICS
from evalcore.metrics.top_k import F, P, R, Rprec, Success

__all__ = [
    "AP", "CG", "DCG", "IDCG", "METRICS", "NDCG", "RR", "Discount", "F", "Facts", "Gain", "Judged", "Metric",
    "NumRel", "NumRelRet", "NumRet", "P", "R", "Rprec", "Success", "column_name", "name", "parameters", "parse",
    "parse_list",
]  # fmt: skip
