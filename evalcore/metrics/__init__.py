"""The definitions of the metrics.

base.py        what a metric is                  names.py       "nDCG@10" to a metric and back
registry.py    METRICS, all of them              spellings.py   other tools' names
gains.py, discounts.py   the parts of nDCG       numbers.py     numbers in names

One family a file, and in brackets what the files of a line share:

top_k.py  relative_precision.py  sets.py  first_hit.py  average_precision.py  recall_levels.py    (ties.py)
gain.py  gain_averaged.py  gain_blended.py  scaled_gain.py  cascade.py    (gained.py  gain_bounds.py)
counts.py  lists.py  rank_biased.py  incomplete.py  clicks.py  groups.py
preferences.py    (preference_counts.py)
novelty.py  diversity.py    (subtopics.py)
overlap.py  reference_agreement.py
agreement.py  pairwise.py  probabilities.py  calibration.py  surrogates.py    (scored.py)
"""

from evalcore.metrics.agreement import KendallTau, Spearman, TauAP, WeightedTau
from evalcore.metrics.average_precision import AP, GAP, GMAP
from evalcore.metrics.base import Facts, Metric
from evalcore.metrics.calibration import (
    ECE,
    MCE,
    Reliability,
    expected_calibration_error,
    maximum_calibration_error,
)
from evalcore.metrics.cascade import ERR, NERR
from evalcore.metrics.clicks import IPS, SNIPS, ClickWeights, effective_sample_size
from evalcore.metrics.counts import Judged, NumNonRelJudgedRet, NumRel, NumRelRet, NumRet, Unjudged
from evalcore.metrics.discounts import Discount
from evalcore.metrics.diversity import PIA, MapIA, StRecall
from evalcore.metrics.first_hit import RR
from evalcore.metrics.gain import CG, DCG, IDCG, NDCG
from evalcore.metrics.gain_averaged import RNDCG, NDCGRel
from evalcore.metrics.gain_blended import BinG, G, Q
from evalcore.metrics.gains import Gain
from evalcore.metrics.groups import GroupMean
from evalcore.metrics.incomplete import Bpref, GMBpref, InfAP
from evalcore.metrics.lists import NumQ, ZeroResult
from evalcore.metrics.names import column_name, name, parameters, parse, parse_list
from evalcore.metrics.novelty import NNRBP, NRBP, AlphaDCG, AlphaNDCG, ErrIA, NErrIA
from evalcore.metrics.overlap import Jaccard, Overlap
from evalcore.metrics.pairwise import AUC, Accuracy, PairwiseAccuracy, PairwiseLogLoss
from evalcore.metrics.preferences import NumPrefs, NumPrefsMet, Prefs, PrefsRnonrel
from evalcore.metrics.probabilities import PCOC, Brier, LogLoss
from evalcore.metrics.rank_biased import INST, RBP, RBPResidual
from evalcore.metrics.recall_levels import ElevenPointAP, IPrec, IPrecCurve
from evalcore.metrics.reference_agreement import RBO, RefKendallTau, RefSpearman
from evalcore.metrics.registry import METRICS
from evalcore.metrics.relative_precision import RelativeP, Rprec
from evalcore.metrics.scaled_gain import BPM, SDCG
from evalcore.metrics.sets import SetAP, Utility
from evalcore.metrics.surrogates import LambdaLoss, ListNetLoss, RankNetLoss
from evalcore.metrics.top_k import F, P, R, Success

__all__ = [
    "AP", "AUC", "BPM", "CG", "DCG", "ECE", "ERR", "GAP", "GMAP", "IDCG", "INST", "IPS", "MCE", "METRICS", "NDCG",
    "NERR", "NNRBP", "NRBP", "PCOC", "PIA", "RBO", "RBP", "RNDCG", "RR", "SDCG", "SNIPS", "Accuracy", "AlphaDCG",
    "AlphaNDCG", "BinG", "Bpref", "Brier", "ClickWeights", "Discount", "ElevenPointAP", "ErrIA", "F", "Facts", "G",
    "GMBpref", "Gain", "GroupMean", "IPrec", "IPrecCurve", "InfAP", "Jaccard", "Judged", "KendallTau", "LambdaLoss",
    "ListNetLoss", "LogLoss", "MapIA", "Metric", "NDCGRel", "NErrIA", "NumNonRelJudgedRet", "NumPrefs", "NumPrefsMet",
    "NumQ", "NumRel", "NumRelRet", "NumRet", "Overlap", "P", "PairwiseAccuracy", "PairwiseLogLoss", "Prefs",
    "PrefsRnonrel", "Q", "R", "RBPResidual", "RankNetLoss", "RefKendallTau", "RefSpearman", "RelativeP", "Reliability",
    "Rprec", "SetAP", "Spearman", "StRecall", "Success", "TauAP", "Unjudged", "Utility", "WeightedTau", "ZeroResult",
    "column_name", "effective_sample_size", "expected_calibration_error", "maximum_calibration_error", "name",
    "parameters", "parse", "parse_list",
]  # fmt: skip
