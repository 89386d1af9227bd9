"""The examples in conf/suites run on the data they are for, and give the values that others computed."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path
from statistics import mean

import pytest

from jobs import pipeline
from jobs.config_file import load
from tests.support.data import DATA, needs_data
from tests.support.evaluations import QUIET, scores_of
from tests.support.trec import read_expected

SUITES = Path(__file__).resolve().parents[2] / "conf" / "suites"
FOLDERS = {"obd": "obd", "lenskit": "lenskit_topn", "trec": "trec_eval", "lightgbm": "ltr"}


def run(spark, output, suite):
    """SCORES of a suite, run in the folder of its data."""
    flags = {"output.dir": str(output)}
    pipeline.score(spark, load(str(SUITES / f"{suite}.yaml"), flags=flags), QUIET)
    return scores_of(output)


def ndcg_of_features(names):
    """nDCG@10 by each feature of each query, with the gain 2**label - 1; the first of equal documents comes first."""
    lines = iter(Path("rank.test").read_text().splitlines())
    found = {}
    for query, size in enumerate(map(int, Path("rank.test.query").read_text().split()), start=1):
        words = [next(lines).split() for _ in range(size)]
        labels, features = [int(label) for label, *_ in words], [dict(w.split(":") for w in rest) for _, *rest in words]
        for name in names:
            order = sorted(range(size), key=lambda place: -float(features[place].get(name, 0)))
            best = dcg(sorted(labels, reverse=True))
            found[name, str(query)] = dcg([labels[place] for place in order]) / best if best else None
    assert next(lines, None) is None
    return found


def dcg(labels):
    return sum((2**label - 1) / math.log2(rank + 1) for rank, label in enumerate(labels[:10], start=1))


def test_every_suite_is_short():
    suites = {path.stem: path.read_text().splitlines() for path in SUITES.glob("*.yaml")}
    assert suites.keys() == FOLDERS.keys()
    assert all(len(lines) < 15 for lines in suites.values())


@needs_data
@pytest.mark.parametrize("suite", FOLDERS)
def test_a_suite_gives_the_values_that_are_known(spark, tmp_path, monkeypatch, suite):
    monkeypatch.chdir(DATA / FOLDERS[suite])
    rows = run(spark, tmp_path / "out", suite)
    if suite == "obd":
        with gzip.open("bts.men.men.csv.gz", "rt") as file:
            log = list(csv.DictReader(file))
        assert len(rows) == len(log) == 10_000
        assert {row["system"] for row in rows} == {"bts.men.men"}
        assert mean(row["p_at_1"] for row in rows) == pytest.approx(mean(int(row["click"]) for row in log))
        weights = [int(row["click"]) / float(row["propensity_score"]) for row in log]
        assert mean(row["ips_discount_none_at_1"] for row in rows) == pytest.approx(mean(weights))
    elif suite == "lenskit":
        with open("topn-java-metrics.csv") as file:
            known = {(row["Algorithm"], row["user"]): float(row["Java.RecipRank"]) for row in csv.DictReader(file)}
        found = {(row["system"], row["query_id"]): row["rr"] for row in rows}
        assert len(known) > 90
        assert {key: found[key] for key in known} == pytest.approx(known, abs=1e-12)
    elif suite == "lightgbm":
        known = ndcg_of_features(["36", "43", "111"])
        assert len(rows) == 150
        found = {(row["system"], row["query_id"]): row["ndcg_gain_exp2_ideal_retrieved_at_10"] for row in rows}
        assert found == pytest.approx(known, abs=1e-12)
    else:
        known = read_expected(DATA / "expected" / "trec_eval.results_test.perquery.csv.gz")
        columns = {"map": "ap", "ndcg_cut_10": "ndcg_at_10", "recip_rank": "rr"}
        for measure, column in columns.items():
            assert {row["query_id"]: row[column] for row in rows} == pytest.approx(known[measure], abs=1e-12)
