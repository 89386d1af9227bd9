"""pytrec_eval's RelevanceEvaluator: trec_eval's measures of dictionaries, by trec_eval's names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.conventions import GEOMETRIC_FLOOR
from evalcore.errors import DataError, MetricNameError, unknown
from evalcore.evaluation import evaluate
from evalcore.given import by_text
from evalcore.metrics.base import Metric
from evalcore.metrics.names import parse
from evalcore.presets import preset

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
FIFTHS = tuple(f"{fifth / 5:.2f}" for fifth in range(1, 11))


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a measure is made of.

    metrics   names of evalcore, {} for the parameter
    values    from the values of the metrics, in their order
    defaults  the parameters that stand in the measure's names; none if its name has no parameter
    level     whether relevance_level decides which documents are relevant to it
    """

    metrics: tuple[str, ...] = ()
    values: Callable[..., FloatArray] = lambda values: values
    defaults: tuple[str, ...] = ()
    level: bool = True


def _logarithm(values: FloatArray) -> FloatArray:
    return np.log(np.maximum(values, GEOMETRIC_FLOOR))


def _zero(*, plus: float = 0.0) -> _Measure:
    return _Measure(("NumRet",), lambda values: np.zeros_like(values) + plus)


MEASURES: dict[str, _Measure] = {
    "runid": _zero(),
    "num_q": _zero(plus=1.0),
    "num_ret": _Measure(("NumRet",)),
    "num_rel": _Measure(("NumRel",)),
    "num_rel_ret": _Measure(("NumRelRet",)),
    "map": _Measure(("AP",)),
    "gm_map": _Measure(("AP",), _logarithm),
    "Rprec": _Measure(("Rprec",)),
    "bpref": _Measure(("Bpref",)),
    "recip_rank": _Measure(("RR",)),
    "iprec_at_recall": _Measure(("IPrec(point=trec_eval9)@{}",), defaults=TENTHS),
    "P": _Measure(("P@{}",), defaults=CUTOFFS),
    "relstring": _zero(),
    "recall": _Measure(("R@{}",), defaults=CUTOFFS),
    "infAP": _Measure(("infAP",)),
    "gm_bpref": _Measure(("Bpref",), _logarithm),
    "Rprec_mult": _Measure(("Rprec(mult={})",), defaults=FIFTHS),
    "utility": _Measure(("Utility",)),
    "11pt_avg": _Measure(("11ptAP(point=trec_eval9)",)),
    "binG": _Measure(("binG",)),
    "G": _Measure(("G",), level=False),
    "ndcg": _Measure(("nDCG",), level=False),
    "ndcg_rel": _Measure(("ndcg_rel",)),
    "Rndcg": _Measure(("Rndcg", "NumRel"), lambda values, relevant: np.where(relevant > 0, values, 0.0)),
    "ndcg_cut": _Measure(("nDCG@{}",), defaults=CUTOFFS, level=False),
    "map_cut": _Measure(("AP@{}",), defaults=CUTOFFS),
    "relative_P": _Measure(("RelativeP@{}",), defaults=CUTOFFS),
    "success": _Measure(("Success@{}",), defaults=("1", "5", "10")),
    "set_P": _Measure(("P",)),
    "set_relative_P": _Measure(("set_relative_P",)),
    "set_recall": _Measure(("R",)),
    "set_map": _Measure(("set_map",)),
    "set_F": _Measure(("F",)),
    "num_nonrel_judged_ret": _Measure(("num_nonrel_judged_ret",)),
}


COUNTED = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
OFFICIAL = ("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
OF_SETS = ("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F")
NICKNAMES = {"official": (*COUNTED, *OFFICIAL), "set": (*COUNTED, *OF_SETS), "all_trec": tuple(MEASURES)}
supported_measures = set(MEASURES)
supported_nicknames = {name: set(measures) for name, measures in NICKNAMES.items()}


class RelevanceEvaluator:
    """Values of trec_eval's measures for the queries of a run.

    query_relevance         query -> {document: grade}
    measures                names: "map", "P_10", "ndcg_cut.5,10", "recall" (its usual cutoffs), "official"
    relevance_level         from which grade a document is relevant
    judged_docs_only_flag   take unjudged documents out of the rankings first

    The values are those of trec_eval 9.0.8: scores are compared as 32-bit floats, ties by descending document
    id, and a query without relevant documents has 0. The values of gm_map and gm_bpref are logarithms.
    Unlike pytrec_eval it takes grades that are fractions and ids that are whole numbers (their texts are in the
    answer), and refuses scores that are NaN or infinite, and parameters that a measure does not have.

    Raises MetricNameError or DataError, which are ValueErrors.

    >>> evaluator = RelevanceEvaluator({"q1": {"a": 1, "b": 0}}, {"map", "P_1,2"})
    >>> evaluator.evaluate({"q1": {"a": 0.1, "b": 0.2}, "q2": {"a": 0.5}})
    {'q1': {'map': 0.5, 'P_1': 0.0, 'P_2': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, float]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 (pytrec_eval's signature)
    ) -> None:
        if relevance_level < 1:
            raise DataError(f"relevance_level is {relevance_level}; it must be 1 or more")
        asked = [measures] if isinstance(measures, str) else list(measures)
        self._rows = list(_rows(asked, relevance_level))
        self._qrels = {
            query: judged for query, judged in by_text(query_relevance, "of the judgments").items() if judged
        }
        conventions = preset("trec_eval").conventions
        if judged_docs_only_flag:
            conventions = replace(conventions, unjudged="removed", negative_grade="removed")
        self._conventions = conventions

    def evaluate(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[str, dict[str, float]]:
        """{query: {measure: value}} of the queries that are judged."""
        run = {query: answer for query, answer in by_text(scores, "of the run").items() if query in self._qrels}
        if not run:
            return {}
        metrics = list(dict.fromkeys(metric for row in self._rows for metric in row.metrics))
        if not metrics:
            return {query: {} for query in run}
        found = evaluate(run, self._qrels, metrics, conventions=self._conventions, queries=run.keys())
        columns = [row.values(*(np.nan_to_num(found.values(metric)) for metric in row.metrics)) for row in self._rows]
        names = [row.name for row in self._rows]
        by_query = zip(*(column.tolist() for column in columns), strict=True)
        return {query: dict(zip(names, values, strict=True)) for query, values in zip(run, by_query, strict=True)}


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The value of all queries: the sum of num_, the geometric mean of gm_, else the mean.

    >>> compute_aggregated_measure("num_ret", [1, 2]), compute_aggregated_measure("map", [0.5, 1.0])
    (3.0, 0.75)
    """
    total = math.fsum(values)
    if measure.startswith("num_"):
        return total
    if not len(values):
        return math.nan
    return math.exp(total / len(values)) if measure.startswith("gm_") else total / len(values)


def parse_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """{query: {document: score}} from lines of query, Q0, document, rank, score, tag.

    Raises DataError for a line of another form and a document returned twice.

    >>> parse_run(["q1 Q0 a 1 0.5 tag"])
    {'q1': {'a': 0.5}}
    """
    return _parsed(lines, fields=6, value=lambda row: float(row[4]))


def parse_qrel(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """{query: {document: grade}} from lines of query, iteration, document, grade.

    Raises DataError for a line of another form and a document judged twice.

    >>> parse_qrel(["q1 0 a 2"])
    {'q1': {'a': 2}}
    """
    return _parsed(lines, fields=4, value=lambda row: int(row[3]))


N = TypeVar("N", int, float)


def _parsed(lines: Iterable[str], *, fields: int, value: Callable[[list[str]], N]) -> dict[str, dict[str, N]]:
    found: dict[str, dict[str, N]] = {}
    for number, line in enumerate(lines, start=1):
        row = line.split()
        try:
            if len(row) != fields:
                raise ValueError(f"{len(row)} fields")  # noqa: TRY301 (one message for all that is wrong with a line)
            read = value(row)
        except ValueError as error:
            raise DataError(f"line {number} is not {fields} fields with a number: {error}: {line.strip()}") from None
        if row[2] in found.setdefault(row[0], {}):
            raise DataError(f"line {number}: query {row[0]} has document {row[2]} already")
        found[row[0]][row[2]] = read
    return found


@dataclass(frozen=True, slots=True)
class _Row:
    """One number of the answer."""

    name: str
    metrics: tuple[Metric, ...]
    values: Callable[..., FloatArray]


def _rows(asked: Iterable[str], level: int) -> Iterator[_Row]:
    """In the order of `MEASURES`."""
    parameters: dict[str, set[str]] = {}
    for text in asked:
        if text in NICKNAMES:
            for measure in NICKNAMES[text]:
                parameters.setdefault(measure, set())
            continue
        measure, given = _split(text)
        parameters.setdefault(measure, set()).update(given)
    for measure, recipe in MEASURES.items():
        if measure not in parameters:
            continue
        for parameter in sorted(parameters[measure] or recipe.defaults or [""], key=lambda text: float(text or 0)):
            metrics = tuple(_at_level(parse(each.format(parameter)), recipe, level) for each in recipe.metrics)
            written = f"{float(parameter):.2f}" if "." in (recipe.defaults or "-")[0] else parameter
            yield _Row(f"{measure}_{written}" if recipe.defaults else measure, metrics, recipe.values)


def _split(text: str) -> tuple[str, list[str]]:
    """A measure and the parameters behind it: P_5, P.5, P.5,10.  Raises MetricNameError."""
    if text in MEASURES:
        return text, []
    form = re.fullmatch(r"(.+?)[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)", text)
    if form is None or form[1] not in MEASURES:
        raise MetricNameError(unknown("measure", text, MEASURES))
    if not MEASURES[form[1]].defaults:
        raise MetricNameError(f"{text}: {form[1]} has no parameter here")
    return form[1], form[2].split(",")


def _at_level(metric: Metric, recipe: _Measure, level: int) -> Metric:
    return replace(metric, min_grade=level) if recipe.level and hasattr(metric, "min_grade") else metric  # type: ignore[type-var]
