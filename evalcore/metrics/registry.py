"""Every metric family by its canonical name: adding a metric is a class and a line here."""

from __future__ import annotations

from evalcore.metrics.agreement import KendallTau, Spearman, TauAP, WeightedTau
from evalcore.metrics.average_precision import AP, GAP, GMAP
from evalcore.metrics.base import Metric
from evalcore.metrics.calibration import ECE, MCE, Reliability
from evalcore.metrics.cascade import ERR, NERR
from evalcore.metrics.clicks import IPS, SNIPS, ClickWeights
from evalcore.metrics.counts import Judged, NumNonRelJudgedRet, NumRel, NumRelRet, NumRet, Unjudged
from evalcore.metrics.diversity import PIA, MapIA, StRecall
from evalcore.metrics.first_hit import RR
from evalcore.metrics.gain import CG, DCG, IDCG, NDCG
from evalcore.metrics.gain_averaged import RNDCG, NDCGRel
from evalcore.metrics.gain_blended import BinG, G, Q
from evalcore.metrics.groups import GroupMean
from evalcore.metrics.incomplete import Bpref, GMBpref, InfAP
from evalcore.metrics.lists import NumQ, ZeroResult
from evalcore.metrics.novelty import NNRBP, NRBP, AlphaDCG, AlphaNDCG, ErrIA, NErrIA
from evalcore.metrics.overlap import Jaccard, Overlap
from evalcore.metrics.pairwise import AUC, Accuracy, PairwiseAccuracy, PairwiseLogLoss
from evalcore.metrics.preferences import NumPrefs, NumPrefsMet, Prefs, PrefsRnonrel
from evalcore.metrics.probabilities import PCOC, Brier, LogLoss
from evalcore.metrics.rank_biased import INST, RBP, RBPResidual
from evalcore.metrics.recall_levels import ElevenPointAP, IPrec, IPrecCurve
from evalcore.metrics.reference_agreement import RBO, RefKendallTau, RefSpearman
from evalcore.metrics.relative_precision import RelativeP, Rprec
from evalcore.metrics.scaled_gain import BPM, SDCG
from evalcore.metrics.sets import SetAP, Utility
from evalcore.metrics.surrogates import LambdaLoss, ListNetLoss, RankNetLoss
from evalcore.metrics.top_k import F, P, R, Success

METRICS: dict[str, type[Metric]] = {
    "P": P,
    "R": R,
    "F": F,
    "Success": Success,
    "Rprec": Rprec,
    "RelativeP": RelativeP,
    "SetAP": SetAP,
    "Utility": Utility,
    "RR": RR,
    "AP": AP,
    "GMAP": GMAP,
    "GAP": GAP,
    "IPrec": IPrec,
    "11ptAP": ElevenPointAP,
    "IPrecCurve": IPrecCurve,
    "CG": CG,
    "DCG": DCG,
    "IDCG": IDCG,
    "nDCG": NDCG,
    "nDCG_rel": NDCGRel,
    "Rndcg": RNDCG,
    "Q": Q,
    "G": G,
    "binG": BinG,
    "ERR": ERR,
    "nERR": NERR,
    "SDCG": SDCG,
    "BPM": BPM,
    "Judged": Judged,
    "NumRet": NumRet,
    "NumRel": NumRel,
    "NumRelRet": NumRelRet,
    "NumNonRelJudgedRet": NumNonRelJudgedRet,
    "Unjudged": Unjudged,
    "RBP": RBP,
    "RBPResidual": RBPResidual,
    "INST": INST,
    "Bpref": Bpref,
    "GMBpref": GMBpref,
    "infAP": InfAP,
    "NumPrefs": NumPrefs,
    "NumPrefsMet": NumPrefsMet,
    "Prefs": Prefs,
    "PrefsRnonrel": PrefsRnonrel,
    "GroupMean": GroupMean,
    "NumQ": NumQ,
    "ZeroResult": ZeroResult,
    "alpha_DCG": AlphaDCG,
    "alpha_nDCG": AlphaNDCG,
    "ERR_IA": ErrIA,
    "nERR_IA": NErrIA,
    "NRBP": NRBP,
    "nNRBP": NNRBP,
    "StRecall": StRecall,
    "P_IA": PIA,
    "MAP_IA": MapIA,
    "IPS": IPS,
    "SNIPS": SNIPS,
    "ClickWeights": ClickWeights,
    "Overlap": Overlap,
    "Jaccard": Jaccard,
    "Spearman": Spearman,
    "KendallTau": KendallTau,
    "TauAP": TauAP,
    "WeightedTau": WeightedTau,
    "RefSpearman": RefSpearman,
    "RefKendallTau": RefKendallTau,
    "RBO": RBO,
    "PairwiseAccuracy": PairwiseAccuracy,
    "Accuracy": Accuracy,
    "AUC": AUC,
    "PairwiseLogLoss": PairwiseLogLoss,
    "LogLoss": LogLoss,
    "Brier": Brier,
    "PCOC": PCOC,
    "ECE": ECE,
    "MCE": MCE,
    "Reliability": Reliability,
    "ListNetLoss": ListNetLoss,
    "RankNetLoss": RankNetLoss,
    "LambdaLoss": LambdaLoss,
}
