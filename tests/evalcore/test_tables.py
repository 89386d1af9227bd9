"""evaluate() of tables: the bits of the same content as mappings, whatever the kind of table."""

from decimal import Decimal
from typing import get_args

import duckdb
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from evalcore import Conventions, DataError, evaluate, evaluate_runs
from evalcore.arrow import columns_of
from evalcore.conventions import Duplicates, Ties
from evalcore.evaluated import Evaluation
from tests.support.forms import FORMS
from tests.support.strategies import same_bits, seeded

METRICS = "nDCG@10,AP,RR@10,P@2,R@5,Bpref,Judged@5,Brier,Spearman,alpha_nDCG@5,IPS@3,SNIPS@3"
OF_GRADES = "nDCG@3,nDCG(gain=exp2),AP,RR,P@2,R@5,Bpref"
RUN = {
    "query_id": ["q1", "q2", "q1", "a query with a long id", "q1", "q9", "q2"],
    "doc_id": ["d1", "d1", "é", "a document with a long id", "00", "d1", "0"],
    "score": [0.5, 0.75, 0.5, 0.0, 0.5, 3.0, 1.0],
}
QRELS = {
    "query_id": ["q2", "q1", "q1", "q2", "a query with a long id", "q3", "q1"],
    "doc_id": ["0", "é", "d1", "00", "a document with a long id", "d1", "d5"],
    "relevance": [1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0],
    "propensity": [0.5, 1.0, 0.25, 0.5, 1.0, 0.125, 0.5],
}


def as_run(rows) -> dict[str, list[tuple[str, float]]]:
    """query -> [(document, score)], in the order of the rows."""
    found = {}
    for query, document, score in zip(rows["query_id"], rows["doc_id"], rows["score"], strict=True):
        found.setdefault(query, []).append((document, score))
    return found


def as_mapping(rows, value="relevance") -> dict[str, dict[str, float]]:
    """query -> {document: value}."""
    found = {}
    for query, document, number in zip(rows["query_id"], rows["doc_id"], rows[value], strict=True):
        found.setdefault(query, {})[document] = number
    return found


def assert_same(found: Evaluation, expected: Evaluation) -> None:
    assert (found.queries, found.statuses, found.n_outside) == (
        expected.queries, expected.statuses, expected.n_outside
    )  # fmt: skip
    assert list(found.columns) == list(expected.columns)
    assert [column for column in found.columns if not same_bits(found.columns[column], expected.columns[column])] == []


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_table_has_the_values_of_mappings(form):
    propensities = as_mapping(QRELS, "propensity")
    expected = evaluate(as_run(RUN), as_mapping(QRELS), METRICS, propensities=propensities)
    assert expected.statuses == ("ok", "ok", "ok", "unanswered")
    make = FORMS[form]
    assert_same(evaluate(make(RUN), make(QRELS), METRICS), expected)


@pytest.mark.parametrize("form", FORMS)
def test_whole_numbers_are_the_ids_that_their_texts_are(form):
    run = {"query_id": [1, 2, 1], "doc_id": [70, 7, 2**53 + 1], "score": [1, 2, 3]}
    qrels = {"query_id": ["2", "1"], "doc_id": ["7", str(2**53 + 1)], "relevance": [1, 1]}
    found = evaluate(FORMS[form](run), FORMS[form](qrels), "RR")
    assert (found.queries, found.mean()) == (("2", "1"), {"RR": 1.0})


@st.composite
def contents(draw):
    """Rows of two systems, with ties and rows in no order, and judgments; each also as mappings."""
    ids = draw(st.lists(st.text(max_size=20), unique=True, min_size=2, max_size=8))
    queries = [f"q{place}" for place in range(draw(st.integers(1, 4)))]
    of_document = st.tuples(st.sampled_from([*queries, "other"]), st.sampled_from(ids))
    rows = draw(st.lists(of_document, unique=True, max_size=20))
    scores = draw(st.lists(st.sampled_from([0.0, -0.0, 0.1, 0.5, 1e300]), min_size=len(rows), max_size=len(rows)))
    judged = draw(st.lists(st.tuples(st.sampled_from(queries), st.sampled_from(ids)), unique=True, min_size=1))
    grades = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0]), min_size=len(judged), max_size=len(judged)))
    rows.append((judged[0][0], "is there for sure"))
    run = dict(zip(("query_id", "doc_id"), map(list, zip(*rows, strict=True)), strict=True)) | {
        "score": [*scores, 0.25]
    }
    qrels = dict(zip(("query_id", "doc_id"), map(list, zip(*judged, strict=True)), strict=True)) | {"relevance": grades}
    return run, qrels


@seeded(60)
@given(contents(), st.sampled_from([ties for ties in get_args(Ties) if ties not in ("rank_column", "average_rank")]))
def test_tables_of_any_content_have_the_values_of_mappings_under_every_tie_rule(content, ties):
    run, qrels = content
    conventions = Conventions(ties=ties)
    metrics = OF_GRADES.replace(",Bpref", "") if ties == "average" else OF_GRADES
    expected = evaluate(as_run(run), as_mapping(qrels), metrics, conventions=conventions)
    assert_same(evaluate(pa.table(run), pl.DataFrame(qrels), metrics, conventions=conventions), expected)


@seeded(30)
@given(contents(), st.randoms())
def test_the_order_of_rows_changes_nothing(content, random):
    run, qrels = content
    places = list(range(len(run["query_id"])))
    random.shuffle(places)
    shuffled = {name: [column[place] for place in places] for name, column in run.items()}
    assert_same(evaluate(shuffled, qrels, OF_GRADES), evaluate(run, qrels, OF_GRADES))


@pytest.mark.parametrize("duplicates", get_args(Duplicates)[1:])
def test_documents_that_are_returned_twice_are_treated_as_in_mappings(duplicates):
    rows = {name: [*column, *column[:3]] for name, column in RUN.items()} | {"score": [*range(7), 9, 8, 0]}
    conventions = Conventions(duplicates=duplicates)
    expected = evaluate(as_run(rows), as_mapping(QRELS), OF_GRADES, conventions=conventions)
    assert_same(evaluate(rows, QRELS, OF_GRADES, conventions=conventions), expected)


def test_ranks_order_a_run_without_scores_and_one_that_is_to_follow_them():
    ranked = {"query_id": ["q1"] * 3, "doc_id": ["d1", "d5", "é"], "rank": [3, 1, 2]}
    assert evaluate(ranked, QRELS, "RR").per_query()["q1"] == {"RR": 1.0}
    assert evaluate({**ranked, "rank": [2, 3, 1]}, QRELS, "P@1").per_query()["q1"] == {"P@1": 1.0}
    both = {**ranked, "score": [9.0, 8.0, 7.0]}
    by_rank = Conventions(ties="rank_column")
    assert evaluate(both, QRELS, "P@1").per_query()["q1"] == {"P@1": 0.0}
    assert evaluate(both, QRELS, "P@1", conventions=by_rank).per_query()["q1"] == {"P@1": 1.0}
    with pytest.raises(DataError, match="ties: rank_column needs the column rank, and the run has none"):
        evaluate(RUN, QRELS, "P@1", conventions=by_rank)


def test_subtopics_are_a_column():
    rows = {
        "query_id": ["q", "q", "q", "q"],
        "doc_id": ["a", "b", "a", "c"],
        "relevance": [1, 2, 3, 1],
        "subtopic": ["s2", "s1", "s1", None],
    }
    mapped = {"q": {"a": {"s2": 1, "s1": 3}, "b": {"s1": 2}, "c": {"": 1}}}
    run = {"q": ["c", "a", "b"]}
    metrics = "alpha_nDCG@3,ERR_IA@3,StRecall@2,P_IA@3"
    expected = evaluate(run, mapped, metrics)
    for make in (pa.table, pd.DataFrame, pl.DataFrame, dict):
        assert_same(evaluate(run, make(rows), metrics), expected)
    with pytest.raises(DataError, match="documents are judged for several subtopics or groups, and AP would need one"):
        evaluate(run, rows, "AP")


def test_the_universe_may_be_a_table_with_weights():
    weighted = {"query_id": ["q2", "q1"], "weight": [3.0, 1.0]}
    for make in (dict, pl.DataFrame, pa.table, pd.DataFrame):
        found = evaluate(RUN, QRELS, "P@1", queries=make(weighted), conventions=Conventions(mean="weighted"))
        assert found.queries == ("q2", "q1")
        assert found.mean() == {"P@1": 0.75 + 0.25 * found.per_query()["q1"]["P@1"]}
    assert evaluate(RUN, QRELS, "P@1", queries=pl.Series(["q2"])).queries == ("q2",)
    with pytest.raises(DataError, match="has 2 rows and 1 queries; query q1 is twice"):
        evaluate(RUN, QRELS, "P@1", queries=pa.table({"query_id": ["q1", "q1"]}))


def test_systems_are_a_column_or_the_keys_of_a_mapping():
    both = {name: [*column, *column[:4]] for name, column in RUN.items()}
    both["system"] = ["B"] * 7 + ["A"] * 4
    alone = {"B": RUN, "A": {name: column[:4] for name, column in RUN.items()}}
    expected = {system: evaluate(rows, QRELS, OF_GRADES) for system, rows in alone.items()}
    shuffled = np.random.default_rng(0).permutation(11)
    for runs in (both, alone, pa.table(both), {name: np.array(column)[shuffled] for name, column in both.items()}):
        found = evaluate_runs(runs, pa.table(QRELS), OF_GRADES)
        assert sorted(found) == ["A", "B"]
        for system in found:
            assert_same(found[system], expected[system])
    with pytest.raises(DataError, match="the run has 2 systems: B; A; evaluate_runs takes several"):
        evaluate(both, QRELS, "AP")
    with pytest.raises(DataError, match=r"no query of the run of A is judged; run e\.g\. q, qrels e\.g\. q2"):
        evaluate_runs({"A": {"q": ["a"]}}, QRELS, "AP")


def test_decimals_are_the_nearest_doubles():
    texts = ["0.1", "-123456789012345678.9", "0.3", "0", "99999999999999999999.5", "7", "1e-1"]
    scores = [Decimal(text) for text in texts]
    for kind in (pa.decimal128(30, 4), pa.decimal256(50, 10)):
        run = pa.table({**RUN, "score": pa.array(scores, kind)}).slice(1)
        _, columns = columns_of(run, ["score"])
        assert columns["score"].values.tolist() == [float(text) for text in texts[1:]]
    of_sql = duckdb.sql("select 'q1' as query_id, 'd1' as doc_id, 0.5 as score")
    assert evaluate(of_sql, QRELS, "NumRet").per_query()["q1"] == {"NumRet": 1.0}


def test_what_goes_wrong_while_a_table_is_made_is_told():
    table = pa.table(RUN)

    def batches():
        yield from table.to_batches()
        raise OSError("the line is dead")

    with pytest.raises(DataError, match=r"a table cannot be read: .*the line is dead"):
        evaluate(pa.RecordBatchReader.from_batches(table.schema, batches()), QRELS, "AP")


def test_the_reference_may_be_a_table_too():
    other = {**RUN, "score": [3.0, 2.0, 1.0, 0.0, 2.0, 1.0, 3.0]}
    expected = evaluate(as_run(RUN), as_mapping(QRELS), "RBO,Overlap@2", reference=as_run(other))
    assert_same(evaluate(RUN, QRELS, "RBO,Overlap@2", reference=pa.table(other)), expected)


def without(rows, name):
    return {each: column for each, column in rows.items() if each != name}


def twice(table):
    """A table of pandas with a second column of scores."""
    return pd.concat([table, table[["score"]]], axis=1)


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        (without(RUN, "score"), QRELS, r'unknown column of the run "score"\. Known: query_id, doc_id\.'),
        (pa.table(RUN).rename_columns(["query", "doc_id", "score"]), QRELS, r'"query_id"\. Did you mean "query"\?'),
        (RUN, without(QRELS, "relevance"), 'unknown column of the judgments "relevance"'),
        ({**RUN, "doc_id": [None, *RUN["doc_id"][1:]]}, QRELS, "doc_id is null in 1 rows of the run, .* at 0"),
        (pa.table({**RUN, "doc_id": [None, *RUN["doc_id"][1:]]}), QRELS, "doc_id is null in 1 rows of the run"),
        (pd.DataFrame({**RUN, "doc_id": [None, *RUN["doc_id"][1:]]}), QRELS, "doc_id is null in 1 rows of the run"),
        (
            pd.DataFrame({**RUN, "doc_id": pd.array([None, *range(6)], dtype="Int64")}),
            QRELS,
            "doc_id is null in 1 rows",
        ),
        (twice(pd.DataFrame(RUN)), QRELS, "the run has more than one column called score"),
        (pa.Table.from_pandas(pd.DataFrame(RUN)).append_column("score", [[0.0] * 7]), QRELS, "more than one .* score"),
        ({**RUN, "doc_id": [1.0] * 7}, QRELS, "doc_id of the run: 1.0 is no id: ids are texts or whole numbers"),
        (pa.table({**RUN, "doc_id": [1.0] * 7}), QRELS, "doc_id of the run: 1.0 is no id"),
        ({**RUN, "score": ["1"] * 7}, QRELS, "query q1 of the run, document d1 is '1', which is no number"),
        (pa.table({**RUN, "score": ["1"] * 7}), QRELS, "column score of the run holds texts; it must hold numbers"),
        (pa.table({**RUN, "score": [None] * 7}), QRELS, "6 numbers are NaN or infinite.*query q2 of the run, document"),
        ({**RUN, "score": [1.0]}, QRELS, "the columns of the run have different lengths"),
        ({**RUN, "score": np.ones((7, 1))}, QRELS, "column score of the run has 2 dimensions; it must have one"),
        ({**RUN, "score": 1.0}, QRELS, "column score of the run is 1.0; it must be an array or a list"),
        (
            pa.table({**RUN, "score": [[1.0]] * 7}),
            QRELS,
            r'"score" has the Arrow type \+l; cast it to texts or numbers',
        ),
        (pa.chunked_array([[1.0]]), QRELS, "a column was given, of the Arrow type g, where a table is needed"),
        (pa.table({**RUN, "system": ["A"] * 7}).slice(0, 0), QRELS, r"no query of the run is judged; run e\.g\. none"),
        (RUN, {**QRELS, "relevance": [None] * 7}, "7 numbers are NaN or infinite: the grade of query q2, document 0"),
        (RUN, {**QRELS, "doc_id": ["d1"] * 7}, "documents are judged again with another grade: query q1 of the judgm"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(run, qrels, message):
    with pytest.raises(DataError, match=message):
        evaluate(run, qrels, "AP")


def test_judgments_that_are_repeated_with_the_same_grade_count_once():
    twice = {name: [*column, *column] for name, column in QRELS.items()}
    assert_same(evaluate(RUN, twice, METRICS), evaluate(RUN, QRELS, METRICS))
