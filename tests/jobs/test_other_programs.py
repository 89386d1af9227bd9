"""The score job on real runs, against the values of other programs: every shared metric of every query."""

from __future__ import annotations

import csv
import gzip
import math

import pytest

from evalcore import MetricNameError, column_name, parse
from tests.support.data import DATA, needs_data
from tests.support.evaluations import score

pytestmark = needs_data
CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)
MEASURES = [
    *("map", "ndcg", "recip_rank", "Rprec", "set_P", "set_recall", "set_F", "num_ret", "num_rel", "num_rel_ret"),
    *(f"{family}_{cutoff}" for family in ("P", "recall", "map_cut", "ndcg_cut", "success") for cutoff in CUTOFFS),
]
SETS = {
    "robust03": ("robust03/input.*.gz", "robust03/qrels.robust03.txt", "tag", 8, 800),
    "web2012": ("web2012/run.*.gz", "qrels/qrels.web.151-200.txt", "file", 4, 200),
    "cranfield": ("cranfield/run.*.gz", "cranfield/qrels.cranfield.graded.txt", "tag", 7, 1575),
    "results_test": ("trec_eval/results.test", "trec_eval/qrels.test", "tag", 1, 3),
    "results_trunc": ("trec_eval/results.trunc", "trec_eval/qrels.test", "tag", 1, 2),
}


def expected_values(tag: str) -> dict[tuple[str, str], float]:
    """(query, measure) -> value."""
    with gzip.open(DATA / "expected" / f"{tag}.perquery.csv.gz", "rt") as file:
        return {(row["qid"], row["measure"]): float(row["value"]) for row in csv.DictReader(file)}


def tag_of(name: str, system: str) -> str:
    if name.startswith("results"):
        return f"trec_eval.{name}"
    return system.removeprefix("run.") if name == "web2012" else f"{name}.{system}"


@pytest.mark.parametrize("name", SETS)
def test_every_shared_metric_of_every_query_equals_trec_eval(spark, tmp_path, name):
    runs, qrels, system_from, n_systems, n_answered = SETS[name]
    settings = {
        "inputs.runs": [str(DATA / runs)],
        "inputs.qrels": [str(DATA / qrels)],
        "inputs.system_from": system_from,
        "score.preset": "trec_eval",
    }
    rows = score(spark, tmp_path / "out", ",".join(MEASURES), settings)
    columns = {measure: column_name(parse(measure)) for measure in MEASURES}
    assert len({row["system"] for row in rows}) == n_systems
    answered = [row for row in rows if row["status"] != "unanswered"]
    assert len(answered) == n_answered
    wrong, compared = [], 0
    for system in sorted({row["system"] for row in rows}):
        values = expected_values(tag_of(name, system))
        assert {query for query, _ in values} == {row["query_id"] for row in answered if row["system"] == system}
        for row in (row for row in answered if row["system"] == system):
            for measure, column in columns.items():
                value = row[column] if row[column] is not None else 0.0
                compared += 1
                if not math.isclose(value, values[row["query_id"], measure], rel_tol=0, abs_tol=1e-12):
                    wrong.append((system, row["query_id"], measure, value, values[row["query_id"], measure]))
    assert not wrong, wrong[:3]
    assert compared == n_answered * len(MEASURES)


def test_the_measures_left_out_are_those_that_are_not_built_yet():
    names = {measure for _, measure in expected_values("robust03.InexpC2")}
    unknown = set()
    for measure in names:
        try:
            parse(measure)
        except MetricNameError:
            unknown.add(measure)
    assert names - unknown == set(MEASURES)
