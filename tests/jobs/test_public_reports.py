"""Publicly reported faults of evaluation programs, on the reported inputs: in the Spark jobs none of them is there.

The inputs are not part of the project. Reports whose conventions are the same are scored together: a query is called
by the number of its report and its own id.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalcore import Conventions, column_name, name, parse
from evalcore.inference import LIMB_BITS
from jobs import checks, pipeline, store
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from jobs.judgments import graded
from jobs.readers import open_input
from tests.support.evaluations import QUIET, aggregate, digest, score, scores_of, write_trec
from tests.support.reports import (
    EXPECTED_MEANS,
    EXPECTED_OF_QUERIES,
    REPORTS,
    TOLERANCE,
    Case,
    Expected,
    case,
    reported,
)

ALSO = ("B12", "B18", "B44", "B48")
"""Reports that expect something of a score table beside numbers of queries."""
METHODS = ["auto", "percentile", "bca", "t"]


def write(folder: Path, cases: Mapping[str, Case]) -> dict[str, object]:
    """TREC files of the cases together, their keys before the ids of queries, and the settings that name the files."""
    runs: dict[str, list[str]] = {}
    qrels = []
    for prefix, content in cases.items():
        for system, run in content.runs.items():
            rows = [f"{prefix}{query} {doc} {value}" for query, answer in run.items() for doc, value in answer]
            runs.setdefault(system, []).extend(rows)
        qrels += [f"{prefix}{query} {doc} {grade}" for query, rows in content.qrels.items() for doc, grade in rows]
    return write_trec(folder, runs=runs, qrels=qrels)


def conventions_of(chosen: Iterable[tuple[str, str]]) -> dict[str, object]:
    return {f"score.conventions.{key}": value for key, value in chosen}


def early(expected: Expected) -> Conventions:
    """The conventions that act before values are summed."""
    chosen = {key: value for key, value in expected.conventions if key not in checks.LATE_CONVENTIONS}
    return Conventions(**chosen)


def metrics_of(some: Iterable[Expected]) -> str:
    return ",".join(dict.fromkeys(name(parse(expected.metric)) for expected in some))


@pytest.fixture(scope="module")
def evaluation(spark, tmp_path_factory) -> Callable[[Conventions], Path]:
    """Conventions -> the evaluation of all reports that have these conventions."""

    @functools.cache
    def of(conventions: Conventions) -> Path:
        some = [expected for expected in EXPECTED_OF_QUERIES if early(expected) == conventions]
        cases = {f"{number}/": case(number) for number in sorted({expected.case for expected in some})}
        if conventions == Conventions():
            cases |= {f"{number}/": case(number) for number in ALSO} | {"B25/": repeated_without_contradiction()}
        folder = tmp_path_factory.mktemp("reports")
        chosen = conventions_of([("ties", conventions.ties), ("duplicates", conventions.duplicates)])
        score(spark, folder / "out", metrics_of(some), {**write(folder, cases), **chosen})
        return folder / "out"

    return of


@pytest.fixture(scope="module")
def rows(evaluation) -> Callable[[Conventions], dict[tuple[str, str], dict[str, Any]]]:
    """Conventions -> (system, query) -> row of the evaluation."""

    @functools.cache
    def of(conventions: Conventions) -> dict[tuple[str, str], dict[str, Any]]:
        return {(row["system"], row["query_id"]): row for row in scores_of(evaluation(conventions))}

    return of


@pytest.fixture
def table(rows) -> dict[tuple[str, str], dict[str, Any]]:
    return rows(Conventions())


@pytest.fixture
def manifest(evaluation) -> dict[str, Any]:
    return store.read_manifest(evaluation(Conventions()))


@pytest.mark.parametrize("expected", EXPECTED_OF_QUERIES, ids=str)
def test_the_job_gives_a_query_the_value_that_is_right(rows, expected):
    row = rows(early(expected))[expected.system, f"{expected.case}/{expected.query}"]
    assert row[column_name(parse(expected.metric))] == pytest.approx(expected.value, abs=TOLERANCE, rel=0)


def unit_of(expected: Expected) -> str:
    return f"{expected.case}+topics" if expected.topics else expected.case


@pytest.fixture(scope="module")
def means(spark, tmp_path_factory) -> Callable[..., dict[tuple[str, str], dict[str, Any]]]:
    """Conventions -> (report, system) -> UNIT SUMS, where the unit of a query is its report."""
    folder = tmp_path_factory.mktemp("means")

    @functools.cache
    def evaluated() -> None:
        cases = {f"{unit_of(expected)}/": case(expected.case) for expected in EXPECTED_MEANS}
        asked = [
            f"{prefix}{query},{prefix.rstrip('/')}"
            for prefix, content in cases.items()
            for query in (content.topics if "+" in prefix and content.topics else content.qrels)
        ]
        (folder / "queries.csv").write_text("\n".join(["query_id,report", *asked]) + "\n")
        settings = {**write(folder, cases), "inputs.queries": str(folder / "queries.csv")}
        score(spark, folder / "out", metrics_of(EXPECTED_MEANS), settings)

    @functools.cache
    def of(chosen: tuple[tuple[str, str], ...]) -> dict[tuple[str, str], dict[str, Any]]:
        evaluated()
        flags = {"aggregate.unit": "report", "aggregate.methods": ["t"], **conventions_of(chosen)}
        found, _, _ = pipeline.aggregate(spark, folder / "out", load(None, flags=flags), QUIET)
        sums = pq.read_table(Path(found["directory"]) / "unit_sums").to_pylist()
        return {(row["unit"], row["system"]): {**row, **found["exponents"]} for row in sums if row["given"] is None}

    return of


@pytest.mark.parametrize("expected", EXPECTED_MEANS, ids=str)
def test_the_job_gives_the_mean_that_is_right(means, expected):
    assert early(expected) == Conventions()
    sums, column = means(expected.conventions)[unit_of(expected), expected.system], column_name(parse(expected.metric))
    limbs = sums[f"{column}_hi"] / 2**LIMB_BITS + sums[f"{column}_lo"] / 4**LIMB_BITS
    mean = limbs * 2.0 ** sums[column] / sums[f"{column}_n"]
    assert mean == pytest.approx(expected.value, abs=TOLERANCE, rel=0)


# queries that are missing on one side


def statuses(table: dict[tuple[str, str], dict[str, Any]], *numbers: str) -> dict[str, str]:
    """Query -> status, of system A and these reports."""
    return {q: row["status"] for (system, q), row in table.items() if system == "A" and q.split("/")[0] in numbers}


@reported("B10")
def test_a_query_without_an_answer_has_a_row_that_says_so(table):
    of_report = statuses(table, "B10")
    assert len(of_report) == REPORTS["B10"]["expected"]["n_rows"]
    assert of_report == {"B10/q1": "ok", "B10/q2": "unanswered"}


@reported("B11")
def test_no_query_in_common_is_an_error_with_examples_of_both_sides(spark, tmp_path):
    with pytest.raises(DataRefused, match=r'no query in common: the runs have "?7"?, the judgments "?7\.1"?,'):
        score(spark, tmp_path / "out", "AP", write(tmp_path, {"": case("B11")}))
    assert not (tmp_path / "out").exists()


@reported("B12")
@reported("B48")
def test_queries_of_one_side_alone_are_counted_and_stop_nothing(table, manifest):
    missing, extra = REPORTS["B48"]["expected"]["missing"], REPORTS["B48"]["expected"]["extra"]
    assert statuses(table, "B12", "B48") == {
        "B12/q1": "ok",
        "B48/q1": "ok",
        **{f"B48/{query}": "unanswered" for query in missing},
    }
    n_extra = len(extra) + REPORTS["B12"]["expected"]["n_extra_queries"]
    of_b45 = 1  # a query whose judgments are empty has no line in a file
    assert manifest["counts"]["n_rankings_outside_universe"] == n_extra + of_b45


@reported("B18")
def test_nothing_to_find_is_null_in_the_table_whatever_the_mean_makes_of_it(table):
    assert [table["A", f"B18/{query}"]["ndcg"] for query in ("q0", "q1")] == [1.0, None]


# repeated documents


@reported("B22")
def test_a_document_returned_twice_is_an_error_that_names_it(spark, tmp_path):
    settings = write(tmp_path, {f"{number}/": case(number) for number in ("B22", "B24")})
    with pytest.raises(DataRefused, match="2 documents returned more than once") as error:
        score(spark, tmp_path / "out", "AP", settings)
    assert 'system "A", query "B22/q", document "a"' in str(error.value)
    assert 'system "r", query "B24/q", document "A"' in str(error.value)


def repeated_without_contradiction() -> Case:
    query, document = REPORTS["B25"]["expected"]["error_on"]
    agreeing = [(doc, grade) for doc, grade in case("B25").qrels[query] if doc != document]
    return Case({"A": {query: [(document, 1.0)]}}, {query: agreeing})


@reported("B25")
def test_judgments_that_contradict_each_other_are_an_error_that_names_them(spark, tmp_path):
    query, document = REPORTS["B25"]["expected"]["error_on"]
    settings = write(tmp_path, {"": replace(case("B25"), runs={"A": {query: [(document, 1.0)]}})})
    judged = rf'1 document judged more than once .* query "{query}", document "{document}"'
    with pytest.raises(DataRefused, match=judged):
        score(spark, tmp_path / "out", "AP", settings)


@reported("B25")
def test_judgments_that_repeat_count_once(table, manifest):
    query, _ = REPORTS["B25"]["expected"]["error_on"]
    assert table["A", f"B25/{query}"]["numrel"] == 1
    of_b26 = 1
    assert manifest["counts"]["n_repeated"] == REPORTS["B25"]["expected"]["identical_dups"] + of_b26


# scores, state, arguments


@reported("B42")
def test_ranks_and_scores_that_disagree_are_noted(manifest):
    assert any(REPORTS["B42"]["expected"]["warn"] in note.lower() for note in manifest["notes"])


@reported("B43")
def test_what_is_evaluated_again_has_the_same_values(spark, tmp_path):
    settings = write(tmp_path, {f"{number}/": case(number) for number in ("B43", "B44", "B45")})
    first, second = (score(spark, tmp_path / "out", "nDCG@2,nDCG@10,nDCG@20", settings) for _ in range(2))
    assert digest(first) == digest(second)


@reported("B46")
def test_a_cutoff_that_is_no_rank_is_refused_before_anything_is_read(spark, tmp_path):
    settings = write(tmp_path, {"": case("B10")})
    for cutoff in REPORTS["B46"]["input"]["k"]:
        with pytest.raises(UsageError, match=r"must be a whole number from 1|is not a metric name"):
            score(spark, tmp_path / "out", f"P@{cutoff}", settings)
    assert not (tmp_path / "out").exists()


# types


@pytest.fixture(scope="module")
def frame() -> dict[str, pa.Array]:
    given = REPORTS["B47"]["input"]["df"]
    return {
        "query_id": pa.array(given["q_id"]),
        "doc_id": pa.array(given["doc_id"]),
        "number": pa.array(given["score(int32)"], pa.int32()),
    }


@reported("B47")
@pytest.mark.parametrize(
    ("ids", "numbers"),
    [
        ("string", "int32"),
        ("large_string", "int64"),
        ("dictionary", "float"),
        ("int8", "decimal"),
        ("int32", "double"),
        ("int64", "int8"),
    ],
)
def test_ids_and_numbers_of_any_integer_or_text_type_are_read_alike(spark, tmp_path, frame, ids, numbers):
    # pandas writes object as string, str and string as large_string, category as dictionary
    keys = {
        key: frame[key].dictionary_encode() if ids == "dictionary" else frame[key].cast(pa.type_for_alias(ids))
        for key in ("query_id", "doc_id")
    }
    number = frame["number"].cast(pa.decimal128(12, 2) if numbers == "decimal" else pa.type_for_alias(numbers))
    systems = pa.array(["A"] * len(number))
    settings = write_parquet(
        tmp_path,
        runs=pa.table({"system": systems, **keys, "score": number}),
        qrels=pa.table({**keys, "relevance": number}),
    )
    config = load(None, flags=settings)
    runs = open_input(spark, config.inputs, "runs", order="score").runs(placed=False)
    labels = open_input(spark, config.inputs, "qrels", order="score").labels()
    qrels = graded(labels, config.judgments)
    expected = [("1", "1", 1.0), ("2", "2", 1.0)]
    assert (
        runs.select("query_id", "doc_id", "score").dtypes
        == qrels.select("query_id", "doc_id", qrels.relevance.alias("score")).dtypes
    )
    assert sorted(map(tuple, qrels.select("query_id", "doc_id", "relevance").collect())) == expected
    assert sorted(map(tuple, runs.select("query_id", "doc_id", "score").collect())) == expected


@reported("B47")
@reported("B50")
def test_a_number_is_the_same_id_as_its_text(spark, tmp_path, frame):
    given = REPORTS["B50"]["input"]
    judged = [(int(q), int(doc), grade) for q, row in given["qrels_int_ids"].items() for doc, grade in row.items()]
    returned = [("A", q, doc, value) for q, row in given["runs_str_ids"]["A"].items() for doc, value in row]
    itself = zip(*(frame[key].to_pylist() for key in ("query_id", "doc_id", "number")), strict=True)
    for q, doc, value in itself:
        judged.append((int(q) + 1000, int(doc), value))
        returned.append(("A", str(int(q) + 1000), doc, float(value)))
    qrels = dict(zip(("query_id", "doc_id", "relevance"), map(list, zip(*judged, strict=True)), strict=True))
    runs = dict(zip(("system", "query_id", "doc_id", "score"), map(list, zip(*returned, strict=True)), strict=True))
    found = score(spark, tmp_path / "out", "AP", write_parquet(tmp_path, runs=pa.table(runs), qrels=pa.table(qrels)))
    assert [row["query_id"] for row in found] == ["1", "1001", "1002"]
    expected = REPORTS["B50"]["expected"]["AP"], *[REPORTS["B47"]["expected"]["AP of itself"]] * 2
    assert tuple(row["ap"] for row in found) == expected


def write_parquet(folder: Path, *, runs: pa.Table, qrels: pa.Table) -> dict[str, Any]:
    pq.write_table(runs, folder / "runs.parquet")
    pq.write_table(qrels, folder / "qrels.parquet")
    return {"inputs.runs": [str(folder / "runs.parquet")], "inputs.qrels": [str(folder / "qrels.parquet")]}


# statistics


def as_runs(number: str, values: Mapping[str, list[float]]) -> dict[str, list[str]]:
    """Rankings of 1000 documents, of which so many are relevant that P@1000 is the value."""
    return {
        system: [
            f"{number}/q{query} {'r' if rank < round(value * 1000) else 'x'}{rank} {1000 - rank}"
            for query, value in enumerate(of_system)
            for rank in range(1000)
        ]
        for system, of_system in values.items()
    }


@pytest.fixture(scope="module")
def contrasts(spark, tmp_path_factory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("contrasts")
    b58 = {system: REPORTS["B58"]["input"][system] for system in ("baseline", "candidate")}
    runs = as_runs("B57", REPORTS["B57"]["input"]["scores"]) | as_runs("B58", b58)
    judged = [f"{number}/q{query} r{rank} 1" for number in ("B57", "B58") for query in range(4) for rank in range(1000)]
    settings = {**write_trec(folder, runs=runs, qrels=judged), **conventions_of([("unanswered", "skip")])}
    score(spark, folder / "out", "P@1000", settings)
    return aggregate(spark, folder / "out", unit="query_id", methods=METHODS, replicates=999)[1].to_pylist()


@reported("B57")
@reported("B58")
@pytest.mark.parametrize(
    ("number", "candidate", "baseline", "delta"), [("B57", "B", "A", -1.0), ("B58", "candidate", "baseline", -0.001)]
)
def test_contrasts_of_four_queries_are_told_with_their_intervals_and_no_verdict(
    contrasts, number, candidate, baseline, delta
):
    found = [row for row in contrasts if (row["candidate"], row["baseline"]) == (candidate, baseline)]
    assert [row["method"] for row in found] == METHODS
    assert abs(delta) == REPORTS[number]["expected"].get("mean diff", 0.001)
    for row in found:
        assert (row["delta"], row["low"], row["high"]) == pytest.approx((delta, delta, delta), abs=TOLERANCE)
        assert row["p_value"] == REPORTS["B57"]["expected"]["randomisation p (exact, two-sided)"]
        assert (row["verdict"], row["n_queries"]) == ("inconclusive", 4)
        assert {"degenerate", "insufficient"} <= set(row["flags"])
