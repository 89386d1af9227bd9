"""Where systems count different queries, or a metric has its own way of being undefined, the contrast stays paired."""

from __future__ import annotations

import math

import pytest

from jobs import store
from jobs.errors import DataRefused, UsageError
from tests.support.evaluations import aggregate, score, write_trec


def contrast_of(contrasts, metric):
    return next(row for row in contrasts.to_pylist() if row["metric"] == metric and row["method"] == "t")


def estimate_of(estimates, metric, system):
    rows = estimates.to_pylist()
    return next(row for row in rows if (row["metric"], row["system"], row["method"]) == (metric, system, "t"))


def test_a_metric_that_is_undefined_for_one_system_alone_is_contrasted_over_the_queries_of_both(spark, tmp_path):
    settings = write_trec(
        tmp_path,
        runs={
            "A": ["q1 a 2", "q1 x 1", "q2 x 3", "q2 a 2", "q3 a 1"],
            "B": ["q1 a 1", "q2 x 3", "q2 a 2", "q3 x 3", "q3 a 2"],
        },
        qrels=["q1 a 1", "q2 a 1", "q3 a 1"],
    )
    score(spark, tmp_path / "out", "Accuracy", settings)
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    row = contrast_of(contrasts, "Accuracy")
    assert (row["delta"], row["n_queries"], row["ties"]) == (0, 1, 1)  # both have the pair of q2 alone


@pytest.mark.parametrize(("metric", "floor"), [("GMAP", 1e-5), ("GMAP(floor=0.01)", 0.01)])
def test_a_geometric_mean_counts_queries_without_a_relevant_document_at_its_floor(spark, tmp_path, metric, floor):
    settings = write_trec(tmp_path, runs={"A": ["q1 a 1", "q2 x 1"]}, qrels=["q1 a 1", "q2 x 0"])
    score(spark, tmp_path / "out", metric, settings)
    estimates, _ = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    row = estimate_of(estimates, metric, "A")
    assert (row["estimate"], row["n_queries"]) == (pytest.approx(math.sqrt(floor), rel=1e-12), 2)


def test_of_a_metric_where_less_is_better_a_win_is_the_lower_value(spark, tmp_path):
    runs = {"A": [f"q{i} a 0.9" for i in range(12)], "B": [f"q{i} a 0.5" for i in range(12)]}
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{i} a 1" for i in range(12)])
    score(spark, tmp_path / "out", "LogLoss", settings)
    _, contrasts = aggregate(spark, tmp_path / "out", unit="query_id", baseline="B", methods=["t"])
    row = contrast_of(contrasts, "LogLoss")
    assert (row["verdict"], row["wins"], row["losses"]) == ("improved", 12, 0)


def test_of_a_ratio_a_query_with_nothing_below_counts_as_a_unit(spark, tmp_path):
    runs = {"A": [f"q{i:02} a 0.5" for i in range(20)]}
    settings = write_trec(tmp_path, runs=runs, qrels=[f"q{i:02} a {int(i < 2)}" for i in range(20)])
    score(spark, tmp_path / "out", "PCOC", settings)
    estimates, _ = aggregate(spark, tmp_path / "out", unit="query_id", methods=["t"])
    row = estimate_of(estimates, "PCOC", "A")
    # CR2: a query's squared residual over what its share of the denominator, 1/2 for each of two, leaves of it
    error = math.sqrt(18 * 0.5**2 + 2 * 4.5**2 / (1 - 1 / 2)) / 2
    assert (row["estimate"], row["n_units"]) == (5, 20)
    assert row["standard_error"] == pytest.approx(error, rel=1e-12)


def test_sanity_checks_are_over_the_queries_that_the_estimate_counts(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 x 2", "q1 a 1", "q2 x 1"]}, qrels=["q1 a 1", "q2 x 0"])
    score(spark, tmp_path / "out", "nDCG,NumRelRet", {**settings, "score.diagnostics": ["oracle"]})
    told = store.read_manifest(tmp_path / "out")["diagnostics"]["A"]
    assert (told["nDCG"]["oracle"], told["NumRelRet"]["oracle"]) == (0.5, 1)  # q2 counts 0; counts are summed


def test_scores_that_are_not_there_are_refused_where_a_metric_reads_them(spark, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    settings = write_trec(tmp_path, runs={"A": ["q1 a 1"]}, qrels=["q1 a 1"])
    table = pa.table({"system": ["A"] * 3, "query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "rank": [1, 2, 3]})
    pq.write_table(table, tmp_path / "ranks.parquet")
    settings |= {"inputs.runs": [str(tmp_path / "ranks.parquet")], "score.conventions.ties": "rank_column"}
    score(spark, tmp_path / "out", "RR", settings)
    with pytest.raises(UsageError, match='there is no column "score"'):
        score(spark, tmp_path / "out2", "RR,AUC", settings)


def test_a_system_compared_with_itself_agrees_whatever_is_removed_from_rankings(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 a 3", "q1 b 2", "q1 c 1"]}, qrels=["q1 c 1"])
    chosen = {"score.reference": "A", "score.conventions.unjudged": "removed"}
    row = score(spark, tmp_path / "out", "RBO,Overlap@3,RefKendallTau,NumRet", {**settings, **chosen})[0]
    assert [row[key] for key in ("rbo", "overlap_at_3", "refkendalltau", "numret")] == [1, 1, 1, 1]
    with pytest.raises(UsageError, match="ties: optimistic is not defined for RBO"):
        score(spark, tmp_path / "out2", "RBO", {**settings, **chosen, "score.conventions.ties": "optimistic"})


def test_looking_at_whole_ties_and_a_depth_that_cuts_them_exclude_each_other(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 a 1", "q1 b 1"]}, qrels=["q1 a 1"])
    for chosen in ({"score.conventions.ties": "average"}, {"score.diagnostics": ["ties"]}):
        with pytest.raises(UsageError, match="looks at all tied documents; use depth: auto with it"):
            score(spark, tmp_path / "out", "RR", {**settings, **chosen, "score.conventions.depth": 1})


def test_under_depth_auto_an_ideal_made_of_all_retrieved_documents_is_whole(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 a 2", "q1 b 1"]}, qrels=["q1 a 1", "q1 b 3"])
    row = score(spark, tmp_path / "out", "nDCG(ideal=retrieved)@1,GroupMean(of=nDCG(ideal=retrieved)@1)", settings)[0]
    assert row["ndcg_ideal_retrieved_at_1"] == pytest.approx(1 / 3)
    assert row["groupmean_of_ndcg_ideal_retrieved_at_1"] == pytest.approx(1 / 3)


def test_judgments_with_two_propensities_contradict_each_other(spark, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    settings = write_trec(tmp_path, runs={"A": ["q1 a 1"]}, qrels=["q1 a 1"])
    rows = {"query_id": ["q1", "q1"], "doc_id": ["a", "a"], "relevance": [1.0, 1.0], "propensity": [0.1, 0.5]}
    pq.write_table(pa.table(rows), tmp_path / "q.parquet")
    with pytest.raises(
        DataRefused, match=r"judged more than once with different propensities: .* propensities 0.1 and 0.5; keep"
    ):
        score(spark, tmp_path / "out", "IPS@5", {**settings, "inputs.qrels": [str(tmp_path / "q.parquet")]})


def test_rankings_of_queries_without_judgments_are_refused_where_that_is_an_error(spark, tmp_path):
    settings = write_trec(tmp_path, runs={"A": ["q1 a 1", "q9 a 1"]}, qrels=["q1 a 1"])
    assert len(score(spark, tmp_path / "out", "RR", settings)) == 1
    with pytest.raises(DataRefused, match=r'1 ranking of queries without judgments, and unjudged_query is error: "q9"'):
        score(spark, tmp_path / "out2", "RR", {**settings, "score.conventions.unjudged_query": "error"})
