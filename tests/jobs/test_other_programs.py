"""The score job on real runs, against the values of other programs: every measure of every query."""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import replace
from functools import cache

import pytest

from evalcore import column_name, name, parse, preset
from tests.support.data import DATA, needs_data
from tests.support.evaluations import score

pytestmark = needs_data
TREC_EVAL = preset("trec_eval")
CONDENSED = {"score.conventions.unjudged": "removed", "score.conventions.negative_grade": "removed"}
SETS = {
    "robust03": ("robust03/input.*.gz", "robust03/qrels.robust03.txt", "tag", 8, 800),
    "web2012": ("web2012/run.*.gz", "qrels/qrels.web.151-200.txt", "file", 4, 200),
    "cranfield": ("cranfield/run.*.gz", "cranfield/qrels.cranfield.graded.txt", "tag", 7, 1575),
    "results_test": ("trec_eval/results.test", "trec_eval/qrels.test", "tag", 1, 3),
    "results_trunc": ("trec_eval/results.trunc", "trec_eval/qrels.test", "tag", 1, 2),
    "rel_level_l2": ("trec_eval/results.test", "trec_eval/qrels.rel_level", "tag", 1, 3),
    "judged_only_J": ("trec_eval/results.test", "trec_eval/qrels.test", "tag", 1, 3),
}


@cache
def expected_values(tag: str) -> dict[tuple[str, str], float]:
    """(query, measure) -> value."""
    with gzip.open(DATA / "expected" / f"{tag}.perquery.csv.gz", "rt") as file:
        return {(row["qid"], row["measure"]): float(row["value"]) for row in csv.DictReader(file)}


def tag_of(name: str, system: str) -> str:
    if name in ("results_test", "results_trunc", "rel_level_l2", "judged_only_J"):
        return f"trec_eval.{name}"
    return system.removeprefix("run.") if name == "web2012" else f"{name}.{system}"


def metric_of(measure: str, set_name: str):
    """The metric of a measure, with what trec_eval -l 2 makes of it: gains do not change."""
    metric = parse(measure, short=TREC_EVAL.short)
    bar = set_name == "rel_level_l2" and hasattr(metric, "min_grade") and not hasattr(metric, "gain")
    return replace(metric, min_grade=2) if bar else metric


def settings_of(runs, qrels, **more):
    return {"inputs.runs": [str(DATA / runs)], "inputs.qrels": [str(DATA / qrels)], "score.preset": "trec_eval", **more}


@pytest.mark.parametrize("set_name", SETS)
def test_every_measure_of_every_query_equals_trec_eval(spark, tmp_path, set_name):
    runs, qrels, system_from, n_systems, n_answered = SETS[set_name]
    measures = sorted({measure for _, measure in expected_values(tag_of("robust03", "InexpC2"))})
    assert len(measures) == 74
    if set_name == "rel_level_l2":
        measures.remove("Rndcg")  # trec_eval gives 0 where nothing is of grade 2, though gains do not know the bar
    columns = {measure: column_name(metric_of(measure, set_name)) for measure in measures}
    more = CONDENSED if set_name == "judged_only_J" else {}
    names = ",".join({column: name(metric_of(measure, set_name)) for measure, column in columns.items()}.values())
    settings = settings_of(runs, qrels, **{"inputs.system_from": system_from}, **more)
    rows = score(spark, tmp_path / "out", names, settings)
    assert len({row["system"] for row in rows}) == n_systems
    answered = [row for row in rows if row["status"] != "unanswered"]
    assert len(answered) == n_answered
    wrong = []
    for row in answered:
        values = expected_values(tag_of(set_name, row["system"]))
        for measure, column in columns.items():
            value, expected = row[column] or 0.0, values[row["query_id"], measure]
            if measure == "gm_map":  # there a query's value is the logarithm that is averaged
                value = math.log(value or 1e-5)
            if not math.isclose(value, expected, rel_tol=0, abs_tol=1e-12):
                wrong.append((row["system"], row["query_id"], measure, value, expected))
    assert not wrong, wrong[:3]


def printed(path) -> dict[tuple[str, str], str]:
    """(query, measure) -> what is printed, from lines of measure, query, value."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    lines = [line.split() for line in text.splitlines()]
    return {(query, measure): value for measure, query, value in lines if query != "all"}


def wrong_digits(rows, expected, short) -> list:
    """Where our value, printed as trec_eval prints it, is not the one that it printed."""
    values = {row["query_id"]: row for row in rows}
    wrong = []
    for (query, measure), theirs in expected.items():
        value = values[query][column_name(parse(measure, short=short))] or 0.0
        if abs(value - float(theirs)) > 0.5e-4 + 1e-9:
            wrong.append((query, measure, value, theirs))
    return wrong


@pytest.mark.parametrize("system", ["InexpC2", "oce03noXbmD", "rutcor03100"])
def test_every_line_of_trec_eval_10(spark, tmp_path, system):
    expected = printed(DATA / f"expected/cli/robust03.{system}.trec_eval-v10.0.q.txt.gz")
    settings = settings_of(f"robust03/input.{system}.gz", "robust03/qrels.robust03.txt")
    names = ",".join(sorted({measure for _, measure in expected}))
    rows = score(spark, tmp_path / "out", names, {**settings, "score.preset": "trec_eval10"})
    assert not wrong_digits(rows, expected, preset("trec_eval10").short)


@pytest.mark.parametrize(
    ("file", "runs", "qrels", "depth"),
    [
        ("out.test.prefs", "prefs.results.test", "prefs.test", "auto"),
        ("out.test.qrels_prefs", "results.test", "qrels.test", "auto"),
        ("out.test.qrels_jg", "results.test", "qrels.123", "auto"),
    ],
)
def test_preferences_and_groups_of_judgments(spark, tmp_path, file, runs, qrels, depth):
    expected = printed(DATA / "trec_eval" / file)
    settings = settings_of(f"trec_eval/{runs}", f"trec_eval/{qrels}")
    settings["score.conventions.ties"] = "doc_id_desc" if file == "out.test.qrels_jg" else "doc_id_asc"
    rows = score(spark, tmp_path / "out", ",".join(sorted({measure for _, measure in expected})), settings)
    assert not wrong_digits(rows, expected, TREC_EVAL.short)


def test_queries_without_an_answer_and_a_depth_as_with_c_and_m(spark, tmp_path):
    settings = settings_of("trec_eval/results.trunc", "trec_eval/qrels.test")
    settings |= {"score.conventions.unanswered": "zero", "score.conventions.depth": 100}
    known = printed(DATA / "trec_eval" / "out.test.aqcM")
    measures = ("map", "Rprec", "bpref", "recip_rank", "P_5", "P_1000", "recall_100", "ndcg", "infAP", "num_ret")
    expected = {key: value for key, value in known.items() if key[1] in measures}
    rows = score(spark, tmp_path / "out", ",".join(measures), {**settings, "score.preset": "trec_eval10"})
    assert len({query for query, _ in expected}) == 3
    assert not wrong_digits(rows, expected, preset("trec_eval10").short)
