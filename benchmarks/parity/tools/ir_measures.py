"""ir_measures against its preset and gdeval's."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.parity.cases import Case
from benchmarks.parity.tools.tool import Tool, Values, under

METRICS = {
    **{each: each for each in ("AP", "AP@10", "P@10", "R@100", "RR", "RR@10", "nDCG", "nDCG@10", "Success@5", "Rprec")},
    **{each: each for each in ("Bpref", "infAP", "IPrec@0.1", "Judged@10", "NumRet", "NumRel", "ERR@20")},
    "SetP": "P",
    "SetR": "R",
    "SetF": "F",
    "SetAP": "SetAP",
    "NumRet(rel=1)": "NumRelRet",
    "nDCG(dcg='exp-log2')@20": "nDCG(gain=exp2)@20",
}
BY_GDEVAL = ("ERR@20", "nDCG(dcg='exp-log2')@20")


def theirs(given: Case, measures: Sequence[str]) -> Values:
    """Measure by measure, so that each goes to the program that ir_measures has for it."""
    import ir_measures

    found: Values = {}
    for measure in taken(given, measures):
        rows = ir_measures.iter_calc([ir_measures.parse_measure(measure)], given.qrels, given.run)
        found[measure] = {row.query_id: row.value for row in rows}
    return found


def taken(given: Case, measures: Sequence[str]) -> list[str]:
    """Without those of gdeval where it refuses a grade."""
    best = max(grade for judged in given.qrels.values() for grade in judged.values())
    return [measure for measure in measures if best <= 4 or measure not in BY_GDEVAL]


def ours(given: Case, measures: Sequence[str]) -> Values:
    """Under the preset of the program that ir_measures has for a measure."""
    of = {measure: "gdeval" if measure in BY_GDEVAL else "ir_measures" for measure in taken(given, measures)}
    found: Values = {}
    for each in set(of.values()):
        asked = [measure for measure in of if of[measure] == each]
        found |= under(each, METRICS, no_relevant="zero")(given, asked)
    return found


TOOL = Tool(
    "ir_measures",
    "ir-measures",
    list(METRICS),
    theirs,
    ours,
    "Preset `ir_measures`; for ERR and nDCG with exponential gains, which ir_measures takes from gdeval, preset "
    "`gdeval`, whose values are rounded to five decimals on both sides. gdeval refuses the grade 5 of "
    "lenskit_topn. Accuracy is left out: it divides by 0 where nothing returned is not relevant.",
)
