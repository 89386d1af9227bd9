"""Several evaluations are aggregated as one where everything that makes values comparable is the same."""

from __future__ import annotations

import json
import random

import pyarrow.parquet as pq
import pytest

from jobs import cli, pipeline, store
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from tests.support.evaluations import QUIET, aggregate, score, write_trec

QUICK = {"aggregate.methods": ["auto"], "aggregate.tests": ["sign_flip"], "aggregate.replicates": 99}
QUERIES = 30


def lines(system: str, *, seed: int = 0) -> list[str]:
    """The run of a system: query, document, score."""
    made = random.Random(f"{system}{seed}")
    found = []
    for query in range(QUERIES):
        order = [f"d{doc}" for doc in range(6)]
        made.shuffle(order)
        found += [f"q{query:02d} {doc} {9 - place}" for place, doc in enumerate(order)]
    return found


def judged(*, first: int = 1) -> list[str]:
    made = random.Random(1)
    qrels = [f"q{query:02d} d{doc} {made.choice([0, 0, 1, 2])}" for query in range(QUERIES) for doc in range(6)]
    return [f"q00 d0 {first}", *qrels[1:]]


def evaluation(spark, folder, name, systems, *, qrels=None, users=7, metrics="RR,nDCG@3", seed=0, **settings):
    """An evaluation of these systems in the folder of this name."""
    runs = {system: lines(system, seed=seed) for system in systems}
    flags = write_trec(folder / f"{name}-input", runs=runs, qrels=qrels or judged())
    rows = "".join(f"q{query:02d},u{query % users}\n" for query in range(QUERIES))
    (folder / f"{name}-queries.csv").write_text("query_id,user_id\n" + rows)
    flags |= {"inputs.queries": str(folder / f"{name}-queries.csv")}
    flags |= {key.replace("__", "."): value for key, value in settings.items()}
    score(spark, folder / name, metrics, flags)
    return folder / name


def together(spark, directories, output, **settings):
    """The manifest, and the rows of ESTIMATES and CONTRASTS."""
    given = {key.replace("__", "."): value for key, value in settings.items()}
    chosen = {f"aggregate.{key}" if "." not in key else key: value for key, value in given.items()}
    flags = {**QUICK, "aggregate.unit": "user_id", "aggregate.output": str(output), **chosen}
    described, *tables = pipeline.aggregate(spark, directories, load(None, flags=flags), QUIET)
    return described, *(table.to_pylist() for table in tables)


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    """old has A and B, new has C and A as it was scored again, whole has A, B and C."""
    made = tmp_path_factory.mktemp("several")
    for name, systems in (("old", "AB"), ("new", "C"), ("whole", "ABC")):
        evaluation(spark, made, name, systems)
    evaluation(spark, made, "again", "AC", seed=1)
    return made


def test_a_system_that_is_added_is_compared_as_if_it_had_been_there(spark, folder, tmp_path):
    expected = [
        table.to_pylist()
        for table in aggregate(spark, folder / "whole", unit="user_id", **{k[10:]: v for k, v in QUICK.items()})
    ]
    described, *found = together(spark, [folder / "old", folder / "new"], tmp_path / "out")
    assert found == expected
    _, *found = together(spark, [folder / "new", folder / "old"], tmp_path / "turned")
    assert found == expected
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"manifest.json", "unit_sums", "estimates.parquet"}
    manifest = store.read_manifest(tmp_path / "out")
    assert (manifest["kind"], manifest["systems"]) == ("aggregate", ["A", "B", "C"])
    assert [(each["directory"], each["systems"]) for each in manifest["evaluations"]] == [
        (str(folder / "old"), ["A", "B"]),
        (str(folder / "new"), ["C"]),
    ]
    assert described["notes"] == []


def test_a_system_in_two_evaluations_is_asked_about(spark, folder, tmp_path):
    both = [folder / "old", folder / "again"]
    with pytest.raises(UsageError) as refused:
        together(spark, both, tmp_path / "out")
    assert str(refused.value) == (
        'system "A" is in old and again; take it from the last with --same-system last, or compare them with '
        "--same-system both, as A@old and A@again"
    )
    _, estimates, _ = together(spark, both, tmp_path / "others", systems=["B", "C"])
    assert {row["system"] for row in estimates} == {"B", "C"}


def estimates_of(folder, system):
    """Estimates of one evaluation's system by metric, from its scores."""
    files = store.score_files(folder, store.read_manifest(folder))
    rows = [row for file in files for row in pq.read_table(file).to_pylist() if row["system"] == system]
    return {
        metric: sum(row[column] or 0.0 for row in rows) / QUERIES
        for metric, column in (("RR", "rr"), ("nDCG@3", "ndcg_at_3"))
    }


def test_a_system_that_was_scored_again_is_taken_from_the_last(spark, folder, tmp_path):
    described, estimates, _ = together(spark, [folder / "old", folder / "again"], tmp_path / "out", same_system="last")
    found = {(row["system"], row["metric"]): row["estimate"] for row in estimates}
    for system, source in (("A", "again"), ("B", "old"), ("C", "again")):
        for metric, expected in estimates_of(folder / source, system).items():
            assert found[system, metric] == pytest.approx(expected, abs=1e-14)
    assert estimates_of(folder / "old", "A") != estimates_of(folder / "again", "A")
    assert described["notes"] == ["In several evaluations, and taken from the last that has it: A from again."]
    assert [each["systems"] for each in described["evaluations"]] == [["B"], ["A", "C"]]


def test_a_system_can_be_compared_with_itself_as_it_was(spark, folder, tmp_path):
    both = [folder / "old", folder / "again"]
    _, _, contrasts = together(spark, both, tmp_path / "out", same_system="both", baseline="A@old", metrics=["RR"])
    deltas = {row["candidate"]: row["delta"] for row in contrasts}
    assert sorted(deltas) == ["A@again", "B", "C"]
    expected = estimates_of(folder / "again", "A")["RR"] - estimates_of(folder / "old", "A")["RR"]
    assert deltas["A@again"] == pytest.approx(expected, abs=1e-14)


def test_one_evaluation_may_leave_systems_and_metrics_out(spark, folder, tmp_path):
    _, estimates, _ = together(spark, [folder / "whole"], tmp_path / "out", systems=["C", "A"], metrics=["nDCG@3"])
    assert [(row["system"], row["metric"]) for row in estimates] == [("A", "nDCG@3"), ("C", "nDCG@3")]
    with pytest.raises(UsageError, match='unknown system "D"'):
        together(spark, [folder / "whole"], tmp_path / "none", systems=["D"])
    with pytest.raises(UsageError, match='unknown metric "AP"'):
        together(spark, [folder / "whole"], tmp_path / "none", metrics=["AP"])
    with pytest.raises(UsageError, match='unknown system "B"'):
        together(spark, [folder / "whole"], tmp_path / "none", systems=["A", "C"], baseline="B")


# what is refused


def refused(spark, one, other, tmp_path, **settings):
    with pytest.raises(DataRefused) as found:
        together(spark, [one, other], tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()
    return str(found.value)


def test_every_difference_is_named(spark, folder, tmp_path):
    other = evaluation(
        spark,
        tmp_path,
        "other",
        "D",
        metrics="RR,AP",
        qrels=[*judged(), "q90 d1 1"],
        score__conventions__ties="doc_id_asc",
        score__conventions__unanswered="skip",
        prepare__self_retrieval="remove",
    )
    assert refused(spark, folder / "old", other, tmp_path) == (
        "old and other cannot be compared: ties is doc_id_desc in old and doc_id_asc in other; unanswered is zero in "
        "old and skip in other (choose with --set score.conventions.unanswered=...); prepare.self_retrieval is keep in "
        "old and remove in other; nDCG@3 only in old (choose what both have with --metrics); AP only in other (choose "
        "what both have with --metrics); judgments are not the same, of 180 rows in old and 181 rows in other"
    )


def test_a_grade_that_changed_is_seen_though_nothing_else_did(spark, folder, tmp_path):
    other = evaluation(spark, tmp_path, "other", "D", qrels=judged(first=2))
    assert refused(spark, folder / "old", other, tmp_path) == (
        "old and other cannot be compared: judgments are not the same, of 180 rows in old and 180 rows in other"
    )


def test_the_order_and_place_of_judgments_do_not_matter(spark, folder, tmp_path):
    other = evaluation(spark, tmp_path, "other", "D", qrels=judged()[::-1])
    _, estimates, _ = together(spark, [folder / "old", other], tmp_path / "out")
    assert {row["system"] for row in estimates} == {"A", "B", "D"}


def test_metrics_that_both_have_can_be_chosen(spark, folder, tmp_path):
    other = evaluation(spark, tmp_path, "other", "D", metrics="AP,RR")
    _, estimates, _ = together(spark, [folder / "old", other], tmp_path / "out", metrics=["RR"])
    assert {(row["system"], row["metric"]) for row in estimates} == {(system, "RR") for system in "ABD"}


def test_a_convention_that_acts_on_values_can_be_chosen_for_all(spark, folder, tmp_path):
    other = evaluation(spark, tmp_path, "other", "D", score__conventions__no_relevant="skip")
    assert "no_relevant is zero in old and skip in other" in refused(spark, folder / "old", other, tmp_path)
    described, *_ = together(
        spark, [folder / "old", other], tmp_path / "chosen", score__conventions__no_relevant="skip"
    )
    assert described["conventions"]["no_relevant"] == "skip"


def test_queries_that_only_one_has_are_named(spark, folder, tmp_path):
    manifest = store.read_manifest(folder / "new")
    (tmp_path / "fewer" / "scores").mkdir(parents=True)
    for file in manifest["files"]:
        table = pq.read_table(folder / "new" / file["path"])
        keep = [query not in ("q03", "q21") for query in table["query_id"].to_pylist()]
        pq.write_table(table.filter(keep), tmp_path / "fewer" / file["path"])
    files = store.part_files(tmp_path / "fewer" / "scores", under=tmp_path / "fewer")
    store.write_manifest(tmp_path / "fewer", {**manifest, "files": files})
    assert refused(spark, folder / "old", tmp_path / "fewer", tmp_path) == (
        '2 queries only in some of the evaluations: "q03", "q21"; score all with the same --queries or judgments'
    )
    store.write_manifest(tmp_path / "fewer", {**manifest, "files": files, "n_queries": 28})
    assert refused(spark, folder / "old", tmp_path / "fewer", tmp_path) == (
        "old and fewer cannot be compared: 30 queries in old and 28 queries in fewer; score both with the same "
        "--queries"
    )


def test_users_who_ask_other_queries_are_no_units(spark, folder, tmp_path):
    other = evaluation(spark, tmp_path, "other", "D", users=29)
    message = refused(spark, folder / "old", other, tmp_path)
    assert message.startswith(
        "the evaluations do not say the same of 23 queries, in one of n_relevant, n_judged, user_id: "
    )
    assert '"q07", "q08", "q09"; score all with the same --queries and judgments' in message


def test_a_unit_that_only_one_knows_is_unknown(spark, folder, tmp_path):
    manifest = store.read_manifest(folder / "new")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "scores").symlink_to(folder / "new" / "scores")
    store.write_manifest(tmp_path / "bare", {**manifest, "query_columns": []})
    with pytest.raises(UsageError, match='knows no "user_id" of its queries'):
        together(spark, [folder / "old", tmp_path / "bare"], tmp_path / "out")


def test_an_evaluation_that_does_not_say_what_it_was_judged_by_is_scored_again(spark, folder, tmp_path):
    manifest = store.read_manifest(folder / "new")
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "scores").symlink_to(folder / "new" / "scores")
    counts = {key: value for key, value in manifest["counts"].items() if key != "qrels_fingerprint"}
    store.write_manifest(tmp_path / "older", {**manifest, "counts": counts})
    assert refused(spark, folder / "old", tmp_path / "older", tmp_path) == (
        "old and older cannot be compared: older does not say which judgments it used; score again"
    )


def test_scores_of_another_version_are_compared_with_a_note(spark, folder, tmp_path):
    manifest = store.read_manifest(folder / "new")
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "scores").symlink_to(folder / "new" / "scores")
    store.write_manifest(tmp_path / "older", {**manifest, "versions": {**manifest["versions"], "evaljob": "0.0.9"}})
    described, *_ = together(spark, [folder / "old", tmp_path / "older"], tmp_path / "out")
    version = manifest["versions"]["evaljob"]
    assert described["notes"] == [
        f"Scored by different versions of evaljob (old by {version}, older by 0.0.9); the changelog says whether a "
        "number changed between."
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("old new --unit user_id", "no output directory is given; name one with --output"),
        ("old old/../old --unit user_id --output out", "name each evaluation once"),
        ("old none --unit user_id --output out", "none does not exist; name the folder"),
        ("old new --unit user_id --output new --force", "new is an evaluation, and an aggregation does not replace it"),
        ("old new --unit user_id --output old", "old exists; choose another --output, or replace it with --force"),
        ("old new --output out", "what resampling draws has no default"),
        ("old new --unit user_id --output out --same-system first", "aggregate.same_system"),
    ],
)
def test_a_wrong_command_is_refused_before_spark_starts(folder, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("jobs.session.session", lambda **_: pytest.fail("Spark was started"))
    assert cli.main(["aggregate", *arguments.split()]) == 2
    assert message in capsys.readouterr().err


def test_the_command_takes_several_evaluations(spark, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    arguments = [
        "aggregate",
        str(folder / "old"),
        str(folder / "new"),
        "--unit",
        "query_id",
        "--baseline",
        "A",
        "--json",
    ]
    settings = [word for key, value in QUICK.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    for force in ([], ["--force"]):
        code = cli.main([*arguments, *settings, "--output", str(tmp_path / "out"), "--quiet", *force])
        assert (code, capsys.readouterr().out[:1]) == (0, "{")
    assert (tmp_path / "out" / "contrasts.parquet").exists()
