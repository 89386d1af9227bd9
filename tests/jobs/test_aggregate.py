"""The aggregation job: exact, paired, the same for any layout, and honest about clusters and missing answers."""

from __future__ import annotations

import hashlib
import math
import random
import statistics

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from jobs import buckets, pipeline, store, unit_sums
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from tests.support.evaluations import QUIET, aggregate, score, write_trec


def rows_of(table, **wanted):
    return [row for row in table.to_pylist() if all(row[key] == value for key, value in wanted.items())]


def evaluation(spark, folder, *, users=20, seed=1, settings=()):
    """Two systems that mostly agree, and users whose queries resemble each other."""
    made = random.Random(seed)
    runs = {"A": [], "B": []}
    qrels, queries = [], ["query_id,user_id"]
    for user in range(users):
        ease = made.choice([0.05, 0.95])
        for number in range(made.randint(3, 9)):
            query = f"q{user}x{number}"
            queries.append(f"{query},u{user}")
            qrels += [f"{query} d{doc} {int(made.random() < 0.1)}" for doc in range(6)] + [f"{query} d9 1"]
            order = [9, *range(6)] if made.random() < ease else [*range(6), 9]
            for system in runs:
                if system == "B" and made.random() < 0.2:
                    made.shuffle(order)
                runs[system] += [f"{query} d{doc} {100 - place}" for place, doc in enumerate(order)]
    flags = write_trec(folder, runs=runs, qrels=qrels)
    (folder / "queries.csv").write_text("\n".join(queries) + "\n")
    score(
        spark,
        folder / "out",
        "RR,nDCG@3,DCG",
        {**flags, "inputs.queries": str(folder / "queries.csv"), **dict(settings)},
    )
    return folder / "out"


@pytest.fixture(scope="module")
def scored(spark, tmp_path_factory):
    return evaluation(spark, tmp_path_factory.mktemp("scored"))


def test_estimates_are_the_mean_and_the_t_interval_of_the_scores(spark, scored):
    from scipy import stats

    estimates, contrasts = aggregate(spark, scored, unit="query_id", baseline="A", methods=["t"])
    values = {}
    for file in store.score_files(scored, store.read_manifest(scored)):
        for row in pq.read_table(file).to_pylist():
            values[row["system"], row["query_id"]] = row["dcg"]
    for system in "AB":
        each = [value for (known, _), value in values.items() if known == system]
        row = rows_of(estimates, system=system, metric="DCG", method="t")[0]
        error = statistics.stdev(each) / math.sqrt(len(each))
        reach = stats.t.ppf(0.975, len(each) - 1) * error
        assert row["estimate"] == pytest.approx(statistics.fmean(each), abs=1e-14)
        assert (row["low"], row["high"]) == pytest.approx((row["estimate"] - reach, row["estimate"] + reach), abs=1e-10)
        assert (row["n_queries"], row["n_units"], row["flags"]) == (len(each), len(each), [])
    deltas = [values["B", query] - value for (system, query), value in values.items() if system == "A"]
    row = rows_of(contrasts, metric="DCG", method="t")[0]
    assert (row["candidate"], row["baseline"]) == ("B", "A")
    assert row["delta"] == pytest.approx(statistics.fmean(deltas), abs=1e-14)
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(deltas, 0).pvalue, abs=1e-9)
    assert (row["wins"], row["losses"]) == (sum(d > 1e-9 for d in deltas), sum(d < -1e-9 for d in deltas))
    assert row["wins"] + row["ties"] + row["losses"] == len(deltas)


def test_a_cluster_interval_is_wider_than_the_query_level_one_on_clustered_data(spark, scored):
    methods = ["auto", "t", "percentile", "bca"]
    by_query, _ = aggregate(spark, scored, unit="query_id", methods=methods)
    by_user, _ = aggregate(spark, scored, unit="user_id", methods=methods)
    for method in methods:
        widths = [
            row["high"] - row["low"]
            for table in (by_query, by_user)
            for row in rows_of(table, system="A", metric="RR", method=method)
        ]
        assert widths[1] > 1.3 * widths[0], method
    assert rows_of(by_user, system="A", metric="RR", method="t")[0]["n_units"] == 20


def test_a_paired_interval_is_narrower_than_that_of_two_separate_samples(spark, scored):
    estimates, contrasts = aggregate(spark, scored, unit="query_id")
    alone = [row["standard_error"] for row in rows_of(estimates, metric="RR", method="auto")]
    paired = rows_of(contrasts, metric="RR", method="percentile")[0]
    assert paired["high"] - paired["low"] < 0.7 * 2 * 1.96 * math.hypot(*alone)


def digest(tables):
    return hashlib.sha256(repr([table.to_pylist() for table in tables]).encode()).hexdigest()


def written(evaluation):
    """Pair counts and movers of the aggregation by user, in the order of their keys."""
    tables = [pq.read_table(evaluation / "aggregates" / "user_id" / part) for part in ("pairs", "movers")]
    keys = ("candidate", "baseline", "metric", "place", "query_id")
    return [
        table.sort_by([(key, "ascending") for key in (*keys, "delta") if key in table.column_names]) for table in tables
    ]


def test_partitions_row_order_and_aqe_change_no_byte_of_what_is_found(spark, scored, tmp_path):
    tables = aggregate(spark, scored, unit="user_id")
    expected, expected_pairs = digest(tables), digest(written(scored))
    manifest = store.read_manifest(scored)
    table = pa.concat_tables([pq.read_table(file) for file in store.score_files(scored, manifest)])
    saved = {key: spark.conf.get(key) for key in ("spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled")}
    try:
        for number, (partitions, adaptive) in enumerate([(1, "true"), (7, "false"), (64, "true")]):
            copy = tmp_path / str(partitions)
            (copy / "scores").mkdir(parents=True)
            shuffled = table.take(np.random.default_rng(number).permutation(table.num_rows))
            step = -(-table.num_rows // partitions)
            for part in range(partitions):
                pq.write_table(shuffled.slice(part * step, step), copy / "scores" / f"part-{part:03d}.parquet")
            store.write_manifest(copy, {**manifest, "files": store.part_files(copy / "scores", under=copy)})
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            spark.conf.set("spark.sql.adaptive.enabled", adaptive)
            assert digest(aggregate(spark, copy, unit="user_id")) == expected, partitions
            assert digest(written(copy)) == expected_pairs, partitions
    finally:
        for key, value in saved.items():
            spark.conf.set(key, value)


def test_without_a_baseline_all_pairs_are_contrasted(spark, tmp_path):
    runs = {
        system: [f"q{query} d{query % rank} 1" for query in range(12)] for rank, system in enumerate("ABC", start=1)
    }
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{query} d0 1" for query in range(12)])
    score(spark, tmp_path / "out", "Success", settings)
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    pairs = [(row["candidate"], row["baseline"], row["delta"]) for row in contrasts.to_pylist()]
    assert pairs == [("B", "A", -0.5), ("C", "A", -2 / 3), ("C", "B", -1 / 6)]
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"], baseline="B", name="against-b")
    assert [(row["candidate"], row["baseline"]) for row in contrasts.to_pylist()] == [("A", "B"), ("C", "B")]


def unanswered_case(spark, folder, convention):
    runs = {"A": ["q1 d1 1", "q2 d1 1", "q3 d1 1"], "B": ["q2 d1 1", "q3 dx 1", "q4 d1 1"]}
    settings = write_trec(folder, runs=runs, qrels=[f"q{n} d1 1" for n in range(1, 5)])
    score(spark, folder / "out", "RR,NumRet", {**settings, "score.conventions.unanswered": convention})
    return aggregate(spark, folder / "out", unit="query_id", methods=["t"], baseline="A")


def test_an_unanswered_query_is_zero_by_default(spark, tmp_path):
    estimates, contrasts = unanswered_case(spark, tmp_path, "zero")
    assert [row["estimate"] for row in rows_of(estimates, metric="RR")] == [0.75, 0.5]
    row = rows_of(contrasts, metric="RR")[0]
    assert (row["delta"], row["n_queries"], row["wins"], row["ties"], row["losses"]) == (-0.25, 4, 1, 1, 2)


def test_under_skip_a_contrast_is_over_the_queries_that_both_answered(spark, tmp_path):
    estimates, contrasts = unanswered_case(spark, tmp_path, "skip")
    found = [(row["estimate"], row["n_queries"]) for row in rows_of(estimates, metric="RR")]
    assert found == [(1.0, 3), (2 / 3, 3)]
    row = rows_of(contrasts, metric="RR")[0]
    assert (row["delta"], row["n_queries"], row["wins"], row["ties"], row["losses"]) == (-0.5, 2, 0, 1, 1)


def test_counts_are_summed_and_not_averaged(spark, tmp_path):
    estimates, contrasts = unanswered_case(spark, tmp_path, "zero")
    assert [(row["statistic"], row["estimate"]) for row in rows_of(estimates, metric="NumRet")] == [("sum", 3.0)] * 2
    assert rows_of(contrasts, metric="NumRet")[0]["delta"] == 0.0


@pytest.mark.parametrize(("convention", "expected"), [("zero", 0.5), ("one", 1.0), ("skip", 1.0)])
def test_queries_without_a_relevant_document_count_as_the_convention_says(spark, tmp_path, convention, expected):
    settings = write_trec(tmp_path, runs={"A": ["q1 d1 1", "q2 d1 1"]}, qrels=["q1 d1 1", "q2 d1 0"])
    score(spark, tmp_path / "out", "nDCG,Judged@5", {**settings, "score.conventions.no_relevant": convention})
    estimates, _ = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    row = rows_of(estimates, metric="nDCG")[0]
    assert (row["estimate"], row["n_undefined"], row["n_queries"]) == (expected, 1, 1 if convention == "skip" else 2)
    assert rows_of(estimates, metric="Judged@5")[0]["n_queries"] == 2


def test_a_bucket_is_a_function_of_the_unit_alone(spark):
    ids = ["u1", "ü", "", "q-000"]
    frame = spark.createDataFrame([(each,) for each in ids], "unit string")
    found = [row[0] for row in frame.select(unit_sums.unit_of("unit", buckets=F.lit(4096))).collect()]
    assert found == [f"{int(hashlib.md5(f'evaljob:{each}'.encode()).hexdigest()[:8], 16) % 4096:04d}" for each in ids]


def test_more_units_than_the_limit_share_buckets_with_the_same_estimates(spark, scored, monkeypatch):
    by_unit = aggregate(spark, scored, unit="query_id", methods=["t"])
    monkeypatch.setattr(buckets, "MOST_UNITS", 50)
    in_buckets = aggregate(spark, scored, unit="query_id", methods=["t"], name="buckets")
    for one, other in zip(by_unit[0].to_pylist(), in_buckets[0].to_pylist(), strict=True):
        assert one["estimate"] == other["estimate"]
        assert other["standard_error"] == pytest.approx(one["standard_error"], rel=0.2)
        assert other["flags"] == ["bucketed"]
    for one, other in zip(by_unit[1].to_pylist(), in_buckets[1].to_pylist(), strict=True):
        assert (one["delta"], one["wins"]) == (other["delta"], other["wins"])


def test_sums_of_spark_and_of_numpy_are_the_same_integers(spark, scored):
    from evalcore.inference import UnitSums

    aggregate(spark, scored, unit="user_id", name="sums")
    table = pq.read_table(scored / "aggregates" / "sums" / "unit_sums").to_pylist()
    manifest = store.read_manifest(scored / "aggregates" / "sums")
    files = store.score_files(scored, store.read_manifest(scored))
    rows = [
        row for row in pa.concat_tables([pq.read_table(file) for file in files]).to_pylist() if row["system"] == "A"
    ]
    values = np.array([[row["rr"], row["dcg"]] for row in rows])
    exponents = [manifest["exponents"]["rr"], manifest["exponents"]["dcg"]]
    expected = UnitSums.from_values([row["user_id"] for row in rows], values, exponents=np.array(exponents))
    found = sorted((row for row in table if row["system"] == "A"), key=lambda row: row["unit"])
    assert exponents == [0, 2]
    for column, name in enumerate(("rr", "dcg")):
        for part in ("n", "hi", "lo"):
            assert [row[f"{name}_{part}"] for row in found] == getattr(expected, part)[:, column].tolist()


def test_an_aggregation_names_its_files_and_can_be_made_again(spark, scored):
    first = digest(aggregate(spark, scored, unit="query_id", methods=["t"], name="again"))
    assert digest(aggregate(spark, scored, unit="query_id", methods=["t"], name="again")) == first
    folder = scored / "aggregates" / "again"
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json", "unit_sums", "pairs", "movers", "estimates.parquet", "contrasts.parquet"
    }  # fmt: skip
    assert not list(scored.rglob("*.unfinished"))


def test_under_skip_systems_that_share_no_query_cannot_be_told_apart(spark, tmp_path):
    runs = {"A": [f"q{n} d1 1" for n in range(20)], "B": [f"q{n} dx 1" for n in range(20, 40)], "C": ["q99 d1 1"]}
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{n} d1 1" for n in range(40)])
    score(spark, tmp_path / "out", "RR", {**settings, "score.preset": "trec_eval"})
    estimates, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"], baseline="C")
    assert [(row["system"], row["estimate"], row["n_queries"]) for row in estimates.to_pylist()] == [
        ("A", 1.0, 20), ("B", 0.0, 20), ("C", None, 0)
    ]  # fmt: skip
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    assert [(row["delta"], row["n_queries"], row["verdict"]) for row in contrasts.to_pylist()] == [
        (None, 0, "inconclusive")
    ] * 3


def test_a_metric_without_a_value_for_empty_rankings_is_contrasted_where_both_have_one(spark, tmp_path):
    runs = {"A": [f"q{n} d1 1" for n in range(10)], "B": [f"q{n} {'d1' if n < 10 else 'dx'} 1" for n in range(40)]}
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{n} d1 1" for n in range(40)])
    score(spark, tmp_path / "out", "Judged@1,RR", settings)
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    row = rows_of(contrasts, metric="Judged@1")[0]
    assert (row["delta"], row["n_queries"], row["ties"], row["verdict"]) == (0.0, 10, 10, None)
    row = rows_of(contrasts, metric="RR")[0]
    assert (row["delta"], row["n_queries"]) == (0.0, 40)


def test_few_units_that_differ_give_no_verdict(spark, tmp_path):
    settings = write_trec(
        tmp_path, runs={"A": ["q1 dx 1", "q2 dx 1"], "B": ["q1 d1 1", "q2 d1 1"]}, qrels=["q1 d1 1", "q2 d1 1"]
    )
    score(spark, tmp_path / "out", "RR", settings)
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    row = contrasts.to_pylist()[0]
    assert (row["delta"], row["p_value"], row["verdict"]) == (1.0, 0.5, "inconclusive")
    assert "insufficient" in row["flags"]


def test_a_sum_is_the_exact_sum(spark, tmp_path):
    settings = write_trec(
        tmp_path, runs={"A": [f"q{n} d{n} 1" for n in range(49)]}, qrels=[f"q{n} d0 1" for n in range(49)]
    )
    score(spark, tmp_path / "out", "NumRelRet", settings)
    estimates, _ = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    assert estimates.to_pylist()[0]["estimate"] == 1.0


def test_conventions_that_act_on_values_can_be_chosen_again(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 d1 1", "q2 d1 1"]}, qrels=["q1 d1 1", "q2 d1 0"])
    score(spark, tmp_path / "out", "AP", settings)
    flags = {"aggregate.unit": "query_id", "score.conventions.no_relevant": "skip"}
    _, estimates, _ = pipeline.aggregate(spark, tmp_path / "out", load(None, flags=flags), QUIET)
    assert (estimates.to_pylist()[0]["estimate"], estimates.to_pylist()[0]["n_queries"]) == (1.0, 1)
    flags["score.conventions.ties"] = "doc_id_asc"
    with pytest.raises(UsageError, match="scored with ties: doc_id_desc"):
        pipeline.aggregate(spark, tmp_path / "out", load(None, flags=flags), QUIET)


def test_missing_rankings_are_refused_where_aggregation_is_told_so(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 d1 1"]}, qrels=["q1 d1 1", "q2 d1 1"])
    score(spark, tmp_path / "out", "AP", settings)
    flags = {"aggregate.unit": "query_id", "score.conventions.unanswered": "error"}
    with pytest.raises(DataRefused, match="1 ranking missing, and unanswered is error"):
        pipeline.aggregate(spark, tmp_path / "out", load(None, flags=flags), QUIET)
