"""Other tools' names of our metrics: what each is read as, and how those with a number inside are spelled out."""

from __future__ import annotations

import re

from evalcore.metrics.numbers import plain

ALIASES = {
    # words of papers and of recommenders
    "HR": "Success",
    "Hit": "Success",
    "HitRate": "Success",
    "Hits": "NumRelRet",
    "SRecall": "StRecall",
    "ZeroResultRate": "ZeroResult",
    "alpha_ndcg": "alpha_nDCG",
    # ir_measures
    "AP_IA": "MAP_IA",
    "MAP": "AP",
    "MRR": "RR",
    "NDCG": "nDCG",
    "Precision": "P",
    "RPrec": "Rprec",
    "Recall": "R",
    "SetF": "F",
    "SetP": "P",
    "SetR": "R",
    "SetRelP": "RelativeP",
    # trec_eval
    "11pt_avg": "11ptAP",
    "bpref": "Bpref",
    "dcg": "DCG",
    "gm_bpref": "GMBpref",
    "gm_map": "GMAP",
    "ideal_dcg": "IDCG",
    "iprec_at_recall": "IPrecCurve",
    "map": "AP",
    "map_avgjg": "GroupMean",
    "ndcg": "nDCG",
    "ndcg_p": "nDCG(discount=jk2)",
    "ndcg_rel": "nDCG_rel",
    "num_nonrel_judged_ret": "NumNonRelJudgedRet",
    "num_q": "NumQ",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet",
    "prefs_avgjg": "Prefs(per=group)",
    "prefs_avgjg_Rnonrel": "PrefsRnonrel",
    "prefs_avgjg_Rnonrel_ret": "PrefsRnonrel(pairs=retrieved)",
    "prefs_avgjg_imp": "Prefs(per=group,pairs=implied)",
    "prefs_avgjg_ret": "Prefs(per=group,pairs=retrieved)",
    "prefs_num_prefs_ful": "NumPrefsMet",
    "prefs_num_prefs_ful_ret": "NumPrefsMet(pairs=retrieved)",
    "prefs_num_prefs_poss": "NumPrefs",
    "prefs_pair": "Prefs(per=pair)",
    "prefs_pair_imp": "Prefs(per=pair,pairs=implied)",
    "prefs_pair_ret": "Prefs(per=pair,pairs=retrieved)",
    "prefs_simp": "Prefs",
    "prefs_simp_imp": "Prefs(pairs=implied)",
    "prefs_simp_ret": "Prefs(pairs=retrieved)",
    "recip_rank": "RR",
    "set_F": "F",
    "set_P": "P",
    "set_map": "SetAP",
    "set_recall": "R",
    "set_relative_P": "RelativeP",
    "utility": "Utility",
    # ndeval
    "strec": "StRecall",
    # ranx
    "dcg_burges": "DCG(gain=exp2)",
    "f1": "F",
    "hit_rate": "Success",
    "hits": "NumRelRet",
    "mrr": "RR",
    "ndcg_burges": "nDCG(gain=exp2)",
    "precision": "P",
    "r_precision": "Rprec",
    "recall": "R",
    # scipy, scikit-learn, torchmetrics, rax
    "AUROC": "AUC",
    "BrierScore": "Brier",
    "OPA": "PairwiseAccuracy",
    "brier_score_loss": "Brier",
    "kendalltau": "KendallTau",
    "log_loss": "LogLoss",
    "roc_auc": "AUC",
    "spearmanr": "Spearman",
    "weightedtau": "WeightedTau",
}
"""Whole names, by the tool that writes them; what stands behind one in brackets or after @ is kept."""

TREC_CUT = {
    "P": "P",
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "recall": "R",
    "relative_P": "RelativeP",
    "success": "Success",
}
"""Names of trec_eval that end in a cutoff: map_cut_10, P.5."""
TREC_NUMBER = {
    "P_avgjg": "GroupMean(of=P@{})",
    "Rprec_mult": "Rprec(mult={})",
    "Rprec_mult_avgjg": "GroupMean(of=Rprec(mult={}))",
    "iprec_at_recall": "IPrec@{}",
}
"""Names of trec_eval that end in another number, and where ours has it: Rprec_mult_0.50."""
TREC_GAINS = ("G", "Rndcg", "dcg", "ideal_dcg", "ndcg", "ndcg_p", "ndcg_rel")
"""Names of trec_eval that may end in gains by grade: ndcg.1=3.5,2=9."""

SPELLINGS = {"dcg=log2": "discount=log2", "dcg=exp-log2": "gain=exp2"}
"""Parameters with their values, as ir_measures writes them."""
KEYS = {"gains": "gain", "max_rel": "max"}
"""Names of parameters in ir_measures."""


def expand_trec(text: str) -> str:
    """A name of trec_eval with a number or gains inside, in our grammar; any other text as it is.

    >>> expand_trec("ndcg_cut.10"), expand_trec("Rprec_mult_0.50"), expand_trec("ndcg.1=3.5,2=9"), expand_trec("AP@5")
    ('nDCG@10', 'Rprec(mult=0.5)', 'ndcg(gain={1:3.5,2:9})', 'AP@5')
    """
    gains = re.fullmatch(rf"({'|'.join(TREC_GAINS)})[_.](-?[0-9]+=.*)", text)
    if gains:
        return f"{gains[1]}(gain={{{gains[2].replace('=', ':')}}})"
    form = re.fullmatch(r"([A-Za-z_]+?)[_.]([0-9]*\.?[0-9]+)", text)
    measure, value = form.groups() if form else (text, "")
    if measure in TREC_CUT and value.isdigit():
        return f"{TREC_CUT[measure]}@{value}"
    return TREC_NUMBER[measure].format(plain(float(value))) if measure in TREC_NUMBER and value else text
