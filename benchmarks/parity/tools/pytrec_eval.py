"""pytrec_eval against `evalcore.compat.pytrec_eval`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.parity.cases import Case
from benchmarks.parity.tools.tool import Tool, Values
from evalcore.compat.pytrec_eval import MEASURES, RelevanceEvaluator


def theirs(given: Case, measures: Sequence[str]) -> Values:
    """Of trec_eval's code."""
    import pytrec_eval

    return by_measure(pytrec_eval.RelevanceEvaluator(given.qrels, set(measures)).evaluate(given.run))


def ours(given: Case, measures: Sequence[str]) -> Values:
    """Of the stand-in."""
    return by_measure(RelevanceEvaluator(given.qrels, measures).evaluate(given.run))


def by_measure(of_query: Mapping[str, Mapping[str, float]]) -> Values:
    """{query: {measure: value}} the other way round."""
    found: Values = {}
    for query, values in of_query.items():
        for measure, value in values.items():
            found.setdefault(measure, {})[query] = value
    return found


TOOL = Tool(
    "pytrec_eval",
    "pytrec-eval-terrier",
    [measure for measure in MEASURES if measure not in ("runid", "relstring")],
    theirs,
    ours,
    "Code of trec_eval 9.0.8, against `evalcore.compat.pytrec_eval`. A measure with cutoffs stands for all its "
    "usual ones. runid and relstring are no numbers.",
)
