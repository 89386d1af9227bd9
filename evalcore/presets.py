"""Named sets of choices that reproduce the numbers of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evalcore.conventions import Conventions
from evalcore.errors import ConventionError, unknown

Short = Mapping[str, Mapping[str, str]]
"""What a short metric name stands for: family, or family@ where it has a cutoff, to parameters as they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How a tool computes: the conventions, and what its short metric names mean.

    short   parameters that a name gets where it does not give them itself, for the family ("AP"), or only where
            the name has a cutoff ("AP@"); only those that differ from evalcore's defaults
    limits  what the tool does that the preset does not reproduce, and why
    """

    conventions: Conventions = field(default_factory=Conventions)
    short: Short = field(default_factory=dict)
    limits: str = ""


TREC_EVAL = Conventions(score_precision="float32", unanswered="skip")


def _levels(point: str) -> Short:
    """How many relevant documents make a level of recall."""
    return {family: {"point": point} for family in ("IPrec", "IPrecCurve", "11ptAP")}


PRESETS: dict[str, Preset] = {
    "default": Preset(),
    "trec_eval": Preset(
        conventions=TREC_EVAL,
        short=_levels("trec_eval9"),
        limits="Version 9.0.8 without flags; -c is unanswered=zero, -J is unjudged=removed with "
        "negative_grade=removed, -M is depth, -l is rel in a metric's name. Printed values have four decimals.",
    ),
    "trec_eval10": Preset(
        conventions=replace(TREC_EVAL, score_precision="float64", unanswered="zero"),
        short=_levels("trec_eval10"),
        limits="Version 10.0 with -c: without it the program stops at the first query that the run did not answer. "
        "Its rbp reads memory that it never set, and has no value to reproduce.",
    ),
    "ir_measures": Preset(
        conventions=replace(TREC_EVAL, unanswered="zero", duplicates="last"),
        short=_levels("trec_eval9"),
        limits="RR@k and Judged@k break ties by ascending document id there and everything else by descending: for "
        "those two use ties=doc_id_asc. nDCG with dcg=exp-log2 is rounded to five decimals there, and queries "
        "without a relevant document are left out of it. SetF(beta=b) is F with the square root of b. NumQ "
        "counts answered queries alone.",
    ),
    "ranx": Preset(
        conventions=Conventions(ties="input_order", duplicates="last", non_finite_score="last"),
        limits="Runs without tied scores: ranx sorts them by an algorithm that keeps no order of ties, so that no rule "
        "reproduces it. Grades that are fractions lose them there. bpref is NaN there for a query without judged "
        "documents that are not relevant, and counts negative grades as such: Bpref(negative=not_relevant). rbp "
        "multiplies grades as they are: RBP(max=m) times m.",
    ),
    "spark_mllib": Preset(
        conventions=Conventions(ties="rank_column", unanswered="skip", duplicates="counted"),
        short={"AP@": {"denominator": "min(R,k)"}, "nDCG": {"gain": "binary"}},
        limits="RankingMetrics averages over the rows it is given, so that a row with an empty list counts 0: use "
        "unanswered=zero where such rows exist. Every judged document must be relevant, because its labels are "
        "a set. Graded relevance in its Scala version takes the best ranking in the order in which labels are given, "
        "which is no property of the judgments.",
    ),
    "recommenders": Preset(
        conventions=Conventions(ties="input_order", unanswered="skip", no_relevant="skip", duplicates="counted"),
        short={"AP@": {"denominator": "min(R,k)"}, "nDCG": {"gain": "binary"}},
        limits="Predictions without tied scores: they are sorted by an algorithm that keeps no order of ties. AP@k is "
        "map_at_k; map is AP(denominator=R)@k. ndcg_at_k counts users without predictions as 0: use unanswered=zero "
        "for it. Every row of the truth is relevant, whatever its rating. r_precision_at_k is averaged over users "
        "with a hit alone, and rows that repeat in the truth multiply: neither is reproduced.",
    ),
    "sklearn": Preset(
        conventions=Conventions(ties="average", negative_grade="error"),
        short={"nDCG": {"ideal": "retrieved"}},
        limits="ndcg_score and dcg_score: every document has a grade and a score. With ignore_ties "
        "it has no rule for ties. A query with one document is refused there. "
        "average_precision_score is the area under a curve of steps, and no AP.",
    ),
    "lightgbm": Preset(
        conventions=Conventions(ties="input_order", no_relevant="one"),
        short={"AP@": {"denominator": "min(R,k,n)"}, "nDCG": {"gain": "exp2", "ideal": "retrieved"}},
        limits="The metrics ndcg and map with eval_at: every document has a label and a score. With weights of queries "
        "it is mean=weighted. A query of more than 10,000 documents is refused there. label_gain is gain={...}.",
    ),
    "torchmetrics": Preset(
        conventions=Conventions(ties="average", score_precision="float32"),
        short={"AP": {"denominator": "hits"}, "nDCG": {"ideal": "retrieved"}},
        limits="The retrieval metrics with empty_target_action=neg; pos is no_relevant=one, skip is skip. All but nDCG "
        "take tied documents in the order that topk happens to give. All but nDCG and hit rate count documents "
        "with a score of 0 or less as not returned. adaptive_k is P(denominator=min(k,n)). Values are 32-bit "
        "numbers, so that they agree to six digits or so.",
    ),
    "beir": Preset(
        conventions=TREC_EVAL,
        limits="NDCG, MAP, Recall and P, whose means are rounded to five decimals there. MRR, R_cap, Hole and "
        "top_k_accuracy take tied documents in the order of the run and divide by all judged queries: use "
        "ties=input_order with unanswered=zero. R_cap is R(cap=k). Documents with the id of their query are taken "
        "out of the run there: do so before. R_cap fails there for a query without a relevant document.",
    ),
    "msmarco": Preset(
        conventions=Conventions(ties="rank_column", no_relevant="skip", duplicates="counted"),
        limits="The script for passages has one metric, RR@10, from the rank column. It warns about a document that "
        "is returned twice and counts on. Its judgments list relevant documents alone.",
    ),
    "gdeval": Preset(
        conventions=Conventions(unanswered="skip", no_relevant="skip", duplicates="counted", rounding=5),
        short={"nDCG": {"gain": "exp2"}},
        limits="The script stops at a grade above 4 and at a query whose id is no number. The mean is that of "
        "unrounded values there, so that it can differ in the sixth decimal.",
    ),
}


def preset(name: str) -> Preset:
    """The preset of this name.  Raises ConventionError with the known names."""
    if name not in PRESETS:
        raise ConventionError(unknown("preset", name, PRESETS))
    return PRESETS[name]
