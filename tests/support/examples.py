"""EXAMPLES: every metric, with and without a cutoff, and every parameter at several settings.

The properties in tests/evalcore/test_metrics.py run over all of them.
"""

from __future__ import annotations

from evalcore.metrics import (
    AP,
    CG,
    DCG,
    IDCG,
    NDCG,
    RR,
    Discount,
    F,
    Gain,
    Judged,
    Metric,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    Success,
)
from tests.support import families

LINEAR = Gain.parse("linear")
EXP2 = Gain.parse("exp2")
BINARY = Gain.parse("binary")
STEEP = Gain.parse("{1:3.5,2:9}")
FALLING = Gain.parse("{-1:0.5,1:4,2:0,3:1}")  # a higher grade may gain less, a negative one something

LOG2 = Discount.parse("log2")
LN = Discount.parse("ln")
LOG10 = Discount.parse("log10")
NO_DISCOUNT = Discount.parse("none")

EXAMPLES: list[Metric] = [
    P(),
    P(cutoff=1),
    P(cutoff=5),
    P(cutoff=3, min_grade=0),
    P(cutoff=5, min_grade=2),
    R(),
    R(cutoff=5),
    R(min_grade=0),
    R(cutoff=5, min_grade=2),
    F(),
    F(cutoff=3),
    F(cutoff=3, beta=2),
    F(cutoff=5, beta=0.5, min_grade=2),
    Success(),
    Success(cutoff=1),
    Success(cutoff=5, min_grade=2),
    Rprec(),
    Rprec(min_grade=2),
    RR(),
    RR(cutoff=3),
    RR(cutoff=5, min_grade=2),
    AP(),
    AP(cutoff=3),
    AP(cutoff=5, min_grade=2),
    CG(),
    CG(cutoff=3),
    CG(cutoff=3, gain=EXP2),
    CG(gain=FALLING),
    DCG(),
    DCG(cutoff=3),
    DCG(cutoff=5, gain=EXP2),
    DCG(discount=LN, gain=BINARY),
    DCG(cutoff=5, discount=LOG10, gain=FALLING),
    IDCG(),
    IDCG(cutoff=3),
    IDCG(cutoff=5, gain=EXP2, discount=LN),
    IDCG(cutoff=2, gain=FALLING),
    NDCG(),
    NDCG(cutoff=3),
    NDCG(cutoff=10),
    NDCG(gain=EXP2),
    NDCG(cutoff=5, gain=BINARY),
    NDCG(cutoff=5, gain=STEEP),
    NDCG(cutoff=3, gain=FALLING),
    NDCG(gain=FALLING),
    NDCG(cutoff=5, discount=LN),
    NDCG(cutoff=5, gain=EXP2, discount=LOG10),
    NDCG(cutoff=5, discount=NO_DISCOUNT),
    Judged(),
    Judged(cutoff=3),
    NumRet(),
    NumRel(),
    NumRel(min_grade=2),
    NumRelRet(),
    NumRelRet(cutoff=3),
    NumRelRet(cutoff=5, min_grade=2),
]
for _family in families.modules():
    EXAMPLES += _family.EXAMPLES
