"""RankingMetrics over a list has the numbers of MLlib."""

import json
import math

import pytest

from evalcore import MetricNameError
from evalcore.compat.mllib import RankingMetrics
from evalcore.presets import preset
from tests.support.data import DATA, needs_data
from tests.support.trec import read_qrels, read_run

# metric of the file of cases -> method
METHODS = {"MAP": "meanAveragePrecisionAt", "P": "precisionAt", "R": "recallAt", "nDCG": "ndcgAt"}


def values(metrics: RankingMetrics, names) -> dict[str, float]:
    found = {}
    for each in names:
        family, _, k = each.partition("@")
        found[each] = getattr(metrics, METHODS[family])(int(k)) if k else metrics.meanAveragePrecision
    return found


@needs_data
def test_small_cases_have_the_values_of_mllib():
    cases = json.loads((DATA / "expected/spark_mllib_cases.json").read_text())["small"]
    assert len(cases) >= 7
    for name, case in cases.items():
        found = values(RankingMetrics(case["pairs"]), case["values"])
        assert found == pytest.approx(case["values"], rel=0, abs=1e-12), name


@needs_data
@pytest.mark.parametrize(
    ("name", "run", "qrels"),
    [
        ("cranfield.bm25", "cranfield/run.cranfield.bm25.txt.gz", "cranfield/qrels.cranfield.graded.txt"),
        ("robust03.uic0301", "robust03/input.uic0301.gz", "robust03/qrels.robust03.txt"),
        ("web2012.rm.cata-filtered", "web2012/run.web2012.rm.cata-filtered.txt.gz", "qrels/qrels.web.151-200.txt"),
    ],
)
def test_real_runs_have_the_values_of_mllib(name, run, qrels):
    expected = json.loads((DATA / "expected/spark_mllib_cases.json").read_text())[name]
    judged, found = read_qrels(DATA / qrels), read_run(DATA / run)
    pairs = []
    for query, start, stop in zip(found.queries, found.offsets[:-1], found.offsets[1:], strict=True):
        if query in judged:
            rows = zip((-found.scores[start:stop]).tolist(), found.doc_ids[start:stop].tolist(), strict=True)
            ranked = [
                doc for _, doc in sorted(sorted(rows, key=lambda row: row[1], reverse=True), key=lambda row: row[0])
            ]
            pairs.append((ranked, [doc for doc, grade in judged[query].items() if grade >= 1]))
    assert len(pairs) == expected["n"]
    assert values(RankingMetrics(pairs), expected["values"]) == pytest.approx(expected["values"], rel=0, abs=1e-12)


def test_documents_may_be_anything_that_can_be_a_key():
    assert RankingMetrics([([1.0, 2.5, None], [2.5]), ([("a", 1)], [("a", 1)])]).meanAveragePrecision == 0.75


def test_a_third_column_is_not_read():
    assert RankingMetrics([(["a"], ["a"], [0.5])]).precisionAt(1) == 1


def test_there_is_no_mean_of_nothing():
    assert math.isnan(RankingMetrics([]).ndcgAt(3))


@pytest.mark.parametrize("k", [0, -1])
def test_a_cutoff_below_1_is_refused(k):
    for method in METHODS.values():
        with pytest.raises(MetricNameError, match="must be a whole number from 1"):
            getattr(RankingMetrics([(["a"], ["a"])]), method)(k)


def test_the_preset_says_what_a_row_with_an_empty_list_needs():
    assert "unanswered=zero" in preset("spark_mllib").limits
