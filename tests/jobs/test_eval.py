"""`evaljob eval` gives the numbers of the two jobs, to the last bit, from the same files without Spark."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pytest

from evalcore import Conventions, evaluate
from jobs import cli, pipeline
from jobs.config_file import load
from jobs.direct import evaluation
from jobs.store import read_manifest
from jobs.tables import CONTRASTS, ESTIMATES
from tests.support.evaluations import QUIET, score

ROOT = Path(__file__).parents[2]
METRICS = "nDCG@5,AP,RR,P@3,Judged@3,NumRelRet,Bpref,IPrecCurve,F"
SYSTEMS = ("new", "old", "other")


def lines(seed: int, *, n_queries: int = 40) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Runs by system, judgments and queries as lines: with ties, unjudged documents, unanswered and unjudged queries,
    and queries without a relevant document."""
    rng = random.Random(seed)
    documents = [f"d{each:02}" for each in range(30)] + ["é", "007"]
    queries = [f"q{each}" for each in range(n_queries)]
    qrels = [
        f"{query} 0 {document} {rng.choice([0, 0, 1, 2, 3]) if number % 9 else 0}\n"
        for number, query in enumerate(queries)
        for document in rng.sample(documents, 8)
    ]
    runs = {}
    for system in SYSTEMS:
        answered = rng.sample([*queries, "unjudged"], n_queries - 2)
        runs[system] = [
            f"{query} Q0 {document} {rank} {rng.choice([0.25, 0.5, 0.5, 0.75, 1 / 3])} {system}\n"
            for query in answered
            for rank, document in enumerate(rng.sample(documents, rng.randint(1, 12)), start=1)
        ]
    table = ["query_id,user,weight\n", *(f"{query},u{rng.randrange(12)},{rng.randint(1, 4)}\n" for query in queries)]
    return runs, qrels, table


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, object]:
    """Settings that name files of such lines."""
    folder = tmp_path_factory.mktemp("files")
    runs, qrels, queries = lines(1)
    (folder / "qrels.txt").write_text("".join(qrels))
    (folder / "queries.csv").write_text("".join(queries))
    for system, its in runs.items():
        (folder / f"{system}.run.gz").write_bytes(gzip.compress("".join(its).encode()))
    return {
        "inputs.runs": [str(folder / f"{system}.run.gz") for system in SYSTEMS],
        "inputs.qrels": [str(folder / "qrels.txt")],
    }


def inferred(settings: dict[str, object], metrics: str = METRICS) -> evaluation.Inferred:
    config = load(None, flags={"score.metrics": [metrics], **settings})
    return evaluation.inferred(evaluation.values(config, evaluation.metrics_of(config.score)), config)


CHOICES: dict[str, dict[str, object]] = {
    "as it is": {},
    "left out where unanswered": {"score.conventions.unanswered": "skip", "aggregate.baseline": "old"},
    "left out where nothing is relevant, by users": {
        "score.conventions.no_relevant": "skip",
        "score.conventions.mean": "units",
        "aggregate.unit": "user",
    },
    "medians and a quantile": {"score.conventions.mean": "median", "aggregate.quantiles": [0.1]},
    "weighted, all methods": {
        "score.conventions.mean": "weighted",
        "aggregate.methods": ["t", "studentized"],
        "aggregate.adjust": "max_t",
    },
}


@pytest.fixture(scope="module")
def scored(spark, files, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("scored") / "out"
    score(spark, output, METRICS, {**files, "inputs.queries": queries_of(files)})
    return output


def queries_of(files: dict[str, object]) -> str:
    return str(Path(files["inputs.qrels"][0]).with_name("queries.csv"))


@pytest.mark.parametrize("choice", CHOICES)
def test_the_numbers_are_those_of_the_two_jobs_to_the_last_bit(spark, files, scored, choice):
    chosen = {"aggregate.unit": "query_id", "aggregate.replicates": 499, **CHOICES[choice]}
    found = inferred({**files, "inputs.queries": queries_of(files), **chosen})
    estimates, contrasts = pipeline.aggregate(spark, scored, load(None, flags=chosen), QUIET)[1:]
    assert pa.Table.from_pylist(found.estimates, ESTIMATES).equals(estimates)
    assert pa.Table.from_pylist(found.contrasts, CONTRASTS).equals(contrasts)
    assert estimates.num_rows > 40


def test_the_counts_are_those_of_the_audit(files, scored):
    counts = read_manifest(scored)["counts"]
    found = inferred({**files, "inputs.queries": queries_of(files), "aggregate.unit": "query_id"}).values.counts
    shared = found.keys() & counts.keys()
    assert len(shared) >= 14
    assert {key: found[key] for key in shared} == {key: counts[key] for key in shared}


@pytest.mark.parametrize("ties", ["doc_id_desc", "doc_id_asc", "input_order", "random", "average", "rank_column"])
@pytest.mark.parametrize("duplicates", ["first", "last", "best_score", "counted"])
def test_copies_and_ties_are_treated_as_evaluate_does(tmp_path, ties, duplicates):
    """`evaluate` is compared with the Spark job elsewhere; under rank_column it ranks in the order it is given."""
    rng = random.Random(5)
    run = [(f"q{rng.randrange(5)}", f"d{rng.randrange(8)}", rng.choice([0.5, 1.0, 2.0])) for _ in range(90)]
    qrels = {f"q{query}": {f"d{each}": each % 3 for each in range(7)} for query in range(5)}
    lines = [f"{query} Q0 {document} {rank} {value} s\n" for rank, (query, document, value) in enumerate(run)]
    (tmp_path / "run").write_text("".join(lines))
    judged = [f"{query} 0 {each} {grade}\n" for query, grades in qrels.items() for each, grade in grades.items()]
    (tmp_path / "qrels").write_text("".join(judged))
    conventions = {"ties": ties, "duplicates": duplicates, "unjudged": "removed"}
    flags: dict[str, object] = {f"score.conventions.{key}": value for key, value in conventions.items()}
    flags |= {"inputs.runs": [str(tmp_path / "run")], "inputs.qrels": [str(tmp_path / "qrels")]}
    config = load(None, flags={**flags, "score.metrics": ["nDCG@5,RR,P@3,NumRelRet"]})
    found = evaluation.values(config, evaluation.metrics_of(config.score)).found["s"]
    given: dict[str, list[tuple[str, float]]] = {}
    for query, document, value in run:
        given.setdefault(query, []).append((document, value))
    expected = evaluate(given, qrels, "nDCG@5,RR,P@3,NumRelRet", conventions=Conventions(**conventions))
    assert found.per_query() == expected.per_query()


# what the command prints


SMALL_RUNS = {
    "old": "q1 Q0 a 1 0.9 old\nq1 Q0 b 2 0.5 old\nq2 Q0 c 1 0.7 old\n",
    "new": "q1 Q0 b 1 0.9 new\nq1 Q0 a 2 0.5 new\nq2 Q0 d 1 0.7 new\n",
}
SMALL_QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A folder, where the command runs, with judgments and two runs of two queries."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(SMALL_QRELS)
    for system, content in SMALL_RUNS.items():
        Path(system).write_text(content)
    return tmp_path


def printed(capsys, *words: str, code: int = 0) -> str:
    """What the command prints, which must end with this code; of a refusal the message."""
    assert cli.main(["eval", *words]) == code
    out, err = capsys.readouterr()
    assert (out if code else err) == ""
    return err if code else out


def test_a_table_has_estimates_deltas_and_what_they_mean(small, capsys):
    shown = printed(capsys, "qrels", "old", "new", "--metrics", "RR,AP", "--baseline", "old").splitlines()
    assert shown[0] == "2 queries, deltas against old"
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in shown[3:7]}
    assert rows["RR", "old"][0] == "1.0000"
    assert rows["RR", "new"][0] == "0.2500"  # 1/2 and 0
    assert "-0.7500" in rows["RR", "new"]
    assert "insufficient" in shown[3]
    assert any(line.startswith("insufficient: fewer than 10 units") for line in shown)


def test_without_a_baseline_the_title_says_which_it_is_and_how_to_name_another(small, capsys):
    shown = printed(capsys, "qrels", "old", "new", "--metrics", "RR")
    assert shown.splitlines()[0] == "2 queries, deltas against new, the first by name: --baseline names another"


def test_trec_lines_of_several_runs_have_names_in_the_order_of_their_files(small, capsys):
    for words in (["-m", "recip_rank"], ["--metrics", "RR", "--format", "trec"]):
        lines = [line.split() for line in printed(capsys, "qrels", "old", "new", *words).splitlines()]
        assert [line[2] for line in lines] == [
            "old",
            "1.0000",
            "new",
            "0.2500",
        ]
        assert [line[0] for line in lines[::2]] == ["runid", "runid"]
    assert len(printed(capsys, "qrels", "old", "-m", "recip_rank").splitlines()) == 1
    assert len(printed(capsys, "qrels", "old", "new", "-m", "runid").splitlines()) == 2


@pytest.mark.parametrize("format_", ["csv", "trec", "latex"])
def test_what_was_left_out_is_told_beside_a_form_that_has_no_place_for_it(small, capsys, format_):
    Path("new").write_text("q1 Q0 b 1 0.9 new\n")
    assert cli.main(["eval", "qrels", "old", "new", "--metrics", "RR", "--baseline", "old", "--format", format_]) == 0
    out, err = capsys.readouterr()
    assert "note" not in out
    assert err == "evaljob: note: 1 ranking of judged queries missing, and counted as empty.\n"


def test_values_of_queries_have_no_place_in_a_table_for_a_paper(small, capsys):
    words = ["qrels", "old", "--metrics", "RR", "--format", "latex", "--per-query"]
    assert "--per-query: a table for a paper has no values of queries" in printed(capsys, *words, code=2)


def test_a_text_for_each_query_is_no_measure(small, capsys):
    assert "-m relstring: a text for each query, and no number" in printed(
        capsys, "qrels", "old", "-m", "relstring", code=2
    )


@pytest.mark.parametrize("divider", [",", ";", "|", "\t"])
def test_a_csv_file_is_divided_by_what_its_first_line_has_most_of(small, capsys, divider):
    expected = printed(capsys, "qrels", "old", "--metrics", "RR,AP")
    lines = ["system,query_id,doc_id,score"]
    for line in SMALL_RUNS["old"].splitlines():
        query, _, document, _, score, system = line.split()
        lines.append(f"{system},{query},{document},{score}")
    Path("old.csv").write_text("\n".join(lines).replace(",", divider) + "\n")
    assert printed(capsys, "qrels", "old.csv", "--metrics", "RR,AP") == expected


def test_all_pairs_have_a_table_of_their_own(small, capsys):
    Path("third").write_text(SMALL_RUNS["old"].replace(" old", " third"))
    shown = printed(capsys, "qrels", "old", "new", "third", "--metrics", "RR")
    assert "Contrasts, candidate - baseline" in shown
    pairs = [line.split()[1:4] for line in shown.splitlines() if re.match(r"RR +\w+ +\w+ +[-+]\d", line)]
    assert pairs == [["old", "new", "+0.7500"], ["third", "new", "+0.7500"], ["third", "old", "+0.0000"]]


def test_a_margin_may_be_named_as_the_metric_and_is_never_passed_over(small, capsys):
    Path("qrels").write_text("".join(f"q{each} 0 a 1\n" for each in range(20)))
    for system, first in (("old", 0), ("new", 1)):  # each finds the document at rank 1 for every other query
        scores = [(each, {"a": int(each % 2 == first), "b": 0.5}) for each in range(20)]
        rows = [
            f"q{each} Q0 {doc} 1 {score} {system}\n" for each, of_query in scores for doc, score in of_query.items()
        ]
        Path(system).write_text("".join(rows))
    words = ("qrels", "old", "new", "--metrics", "AP", "--baseline", "old", "--json", "--margin")
    for margin in ("AP=0.4", "map=0.4"):
        assert json.loads(printed(capsys, *words, margin))["contrasts"][0]["verdict"] == "equivalent"
    assert json.loads(printed(capsys, *words, "AP=0.1"))["contrasts"][0]["verdict"] == "inconclusive"
    assert 'a margin: unknown metric "APP"' in printed(capsys, *words, "APP=0.4", code=2)


def test_what_is_left_out_is_told(small, capsys):
    Path("old").write_text("q1 Q0 a 1 0.9 old\nq1 Q0 a 2 nan old\nq7 Q0 a 1 1 old\nq8 Q0 a 1 1 old\n")
    Path("queries.csv").write_text("query_id\nq1\nq2\nq8\n")
    conventions = ("duplicates=first", "non_finite_score=last")
    words = [word for each in conventions for word in ("--set", f"score.conventions.{each}")]
    shown = printed(capsys, "qrels", "old", "--metrics", "RR", "--queries", "queries.csv", *words)
    assert [line for line in shown.splitlines() if line.startswith("note: ")] == [
        "note: 1 query of --queries without judgments left out.",
        "note: 1 ranking of queries that are not judged, or not in --queries, left out.",
        "note: 1 ranking of judged queries missing, and counted as empty.",
        "note: 1 document returned again for a query, kept: first.",
        "note: 1 score NaN or infinite, ranked last.",
    ]


def test_json_has_exactly_these_keys(small, capsys):
    told = json.loads(printed(capsys, "qrels", "old", "new", "--metrics", "RR", "--format", "json"))
    assert list(told) == ["estimates", "contrasts", "per_query", "audit"]
    assert [list(row) for row in told["estimates"]] == [["system", "metric", "n", "estimate", "low", "high"]] * 2
    assert told["estimates"][0]["estimate"] == 0.25
    assert told["per_query"] == [
        {"system": "new", "query_id": "q1", "metric": "RR", "value": 0.5},
        {"system": "new", "query_id": "q2", "metric": "RR", "value": 0.0},
        {"system": "old", "query_id": "q1", "metric": "RR", "value": 1.0},
        {"system": "old", "query_id": "q2", "metric": "RR", "value": 1.0},
    ]
    assert told["audit"]["n_run_rows"] == 6
    assert printed(capsys, "qrels", "old", "new", "--metrics", "RR", "--json") == json.dumps(told, indent=2) + "\n"


def test_an_end_beyond_every_double_is_null_in_json(small, capsys):
    words = ("qrels", "old", "new", "--metrics", "GMAP", "--set", "aggregate.methods=[t]", "--json")
    shown = printed(capsys, *words, "--set", "aggregate.confidence=0.9999")
    told = json.loads(shown, parse_constant=pytest.fail)["estimates"][0]
    assert (told["low"], told["high"]) == (0, None)


def test_csv_has_a_row_for_each_system_with_its_delta(small, capsys):
    rows = list(
        csv.DictReader(io.StringIO(printed(capsys, "qrels", "old", "new", "--metrics", "RR", "--format", "csv")))
    )
    assert [(row["system"], row["baseline"], row["delta"]) for row in rows] == [("new", "", ""), ("old", "new", "0.75")]
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "qrels", "old", "--format", "csv", "--per-query"))))
    assert list(rows[0]) == ["system", "query_id", "metric", "value"]
    assert len(rows) == 2 * 3


def test_markdown_is_a_table(small, capsys):
    lines = printed(capsys, "qrels", "old", "new", "--metrics", "RR", "--format", "markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert table[1].startswith("|---|---|---:|")
    assert {line.count("|") for line in table} == {table[0].count("|")}


def test_latex_marks_what_differs_from_the_baseline(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    queries = range(30)
    Path("qrels").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    rows = [(f"{query} Q0 a 1 {1 + query % 3} ", f"{query} Q0 b 2 2.5 ") for query in queries]
    Path("base").write_text("".join(f"{a}my_base\n{b}my_base\n" for a, b in rows))
    Path("best").write_text("".join(f"{query} Q0 a 1 9 best\n" for query in queries))
    Path("same").write_text("".join(f"{a}same\n{b}same\n" for a, b in rows))
    lines = printed(
        capsys, "qrels", "base", "best", "same", "--metrics", "RR", "--baseline", "my_base", "--format", "latex"
    ).splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines[4] == r"my\_base & 0.6667 \\"  # 20 of 30 queries have the relevant document in second place
    assert lines[5] == r"best & \textbf{1.0000}$^{\dagger}$ \\"
    assert lines[6] == r"same & 0.6667 \\"
    assert r"differs from my\_base" in lines[-1]


def test_trec_format_prints_our_names(small, capsys):
    lines = printed(capsys, "qrels", "old", "--metrics", "nDCG@10", "--format", "trec", "--per-query").splitlines()
    assert lines == [f"{'nDCG@10':<22}\t{query}\t1.0000" for query in ("q1", "q2", "all")]


def test_the_values_of_queries_stand_above_the_table(small, capsys):
    shown = printed(capsys, "qrels", "old", "new", "--metrics", "RR", "--per-query").splitlines()
    assert [line.split() for line in shown[:3]] == [
        ["query", "system", "RR"],
        ["q1", "new", "0.5000"],
        ["q1", "old", "1.0000"],
    ]


def test_medians_and_quantiles_are_told_by_name(small, capsys):
    words = ("qrels", "old", "new", "--metrics", "RR", "--set", "aggregate.quantiles=[0.25]")
    shown = printed(capsys, *words, "--set", "score.conventions.mean=median")
    assert (
        shown.splitlines()[0]
        == "2 queries, mean: median, deltas against new, the first by name: --baseline names another"
    )
    assert "RR quantile 0.25  new" in shown
    told = json.loads(printed(capsys, *words, "--json"))
    values = {(row["system"], row["metric"]): row["estimate"] for row in told["estimates"]}
    assert values["new", "RR"] == 0.25
    assert values["new", "RR quantile 0.25"] == 0.125  # a quarter of the way from 0 to 1/2


# several data sets


def test_several_data_sets_have_a_row_each_and_one_for_their_mean(small, capsys):
    Path("qrels2").write_text("q7 0 a 1\n")
    for system in ("old", "new"):
        Path(f"{system}2").write_text(f"q7 Q0 a 1 1.0 {system}\n")
    words = ("--dataset", "one", "qrels", "old", "new", "--dataset", "two", "qrels2", "old2", "new2", "--metrics", "RR")
    found = json.loads(printed(capsys, *words, "--baseline", "old", "--json"))
    of_new = [(row["data_set"], row["estimate"]) for row in found["estimates"] if row["system"] == "new"]
    assert of_new == [("one", 0.25), ("two", 1.0)]
    assert [row["estimate"] for row in found["mean_estimates"]] == [0.625, 1.0]
    assert found["mean_contrasts"][0]["delta"] == -0.375
    rows = list(csv.DictReader(io.StringIO(printed(capsys, *words, "--format", "csv"))))
    assert [row["data_set"] for row in rows] == ["one", "two", "one", "two", "", ""]
    assert "mean of 2" in printed(capsys, *words)


def test_what_is_wrong_with_data_sets_is_told_with_their_name(small, capsys):
    assert "name its judgments and at least one run" in printed(capsys, "--dataset", "one", "qrels", code=2)
    assert "name two data sets" in printed(capsys, "--dataset", "one", "qrels", "old", code=2)
    words = ("--dataset", "one", "qrels", "old", "--dataset", "two", "nowhere", "old")
    assert "two: qrels: no such file or folder: nowhere" in printed(capsys, *words, code=2)
    assert "belongs" not in printed(capsys, "qrels", "old", *words, code=2)


def test_units_that_are_true_or_false_are_called_as_in_spark():
    assert evaluation._units({"query_id": ["q1", "q2"], "member": [True, False]}, "member") == ["true", "false"]
