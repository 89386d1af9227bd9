"""Every metric family by its canonical name: adding a metric is a class and a line here."""

from __future__ import annotations

from evalcore.metrics.average_precision import AP
from evalcore.metrics.base import Metric
from evalcore.metrics.counts import Judged, NumRel, NumRelRet, NumRet
from evalcore.metrics.first_hit import RR
from evalcore.metrics.gain import CG, DCG, IDCG, NDCG
from evalcore.metrics.top_k import F, P, R, Rprec, Success

METRICS: dict[str, type[Metric]] = {
    "P": P,
    "R": R,
    "F": F,
    "Success": Success,
    "Rprec": Rprec,
    "RR": RR,
    "AP": AP,
    "CG": CG,
    "DCG": DCG,
    "IDCG": IDCG,
    "nDCG": NDCG,
    "Judged": Judged,
    "NumRet": NumRet,
    "NumRel": NumRel,
    "NumRelRet": NumRelRet,
}
