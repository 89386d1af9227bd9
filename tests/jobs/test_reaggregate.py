"""Sums of aggregations are enough for other contrasts, intervals and tests, and nights add, without Spark."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalcore.inference import to_limbs
from jobs import buckets, cli, pipeline, store
from jobs.added_sums import Night, added
from jobs.config_file import load
from jobs.errors import DataRefused, UsageError
from jobs.measures import Measure
from jobs.reaggregate import reaggregate
from jobs.tables import ALL
from tests.support.evaluations import QUIET, aggregate, score, write_trec

QUICK = {"replicates": 199, "methods": ["auto", "bca"], "tests": ["sign_flip"]}


@pytest.fixture(scope="module")
def scored(spark, tmp_path_factory):
    """Three systems; some users ask on both nights, and C leaves a few queries unanswered."""
    folder, made = tmp_path_factory.mktemp("nights"), random.Random(5)
    runs = {"A": [], "B": [], "C": []}
    qrels, queries = [], ["query_id,user_id,night,country"]
    for number in range(90):
        query, user = f"q{number:02d}", f"u{made.randint(0, 24)}"
        queries.append(f"{query},{user},{made.choice('ab')},{'de' if int(user[1:]) % 2 else 'fr'}")
        qrels += [f"{query} d{doc} {made.choice([0, 0, 1, 2, 3])}" for doc in range(6)] + [f"{query} d9 1"]
        for system in runs:
            order = [f"d{doc}" for doc in (*range(6), 9)]
            made.shuffle(order)
            if system != "C" or number % 15:
                runs[system] += [f"{query} {doc} {9 - place}" for place, doc in enumerate(order)]
    settings = write_trec(folder, runs=runs, qrels=qrels)
    (folder / "queries.csv").write_text("\n".join(queries) + "\n")
    score(spark, folder / "out", "RR,nDCG@3,DCG,NumRelRet", {**settings, "inputs.queries": str(folder / "queries.csv")})
    return folder / "out"


def night(scored: Path, folder: Path, name: str) -> Path:
    """An evaluation of one night's queries alone."""
    manifest = store.read_manifest(scored)
    (folder / "scores").mkdir(parents=True)
    for file in manifest["files"]:
        table = pq.read_table(scored / file["path"])
        keep = [value == name for value in table["night"].to_pylist()]
        pq.write_table(table.filter(keep), folder / "scores" / Path(file["path"]).name)
    store.write_manifest(folder, {**manifest, "files": store.part_files(folder / "scores", under=folder)})
    return folder


def again(*directories: Path, output: Path, **settings: object) -> tuple[list, list]:
    """The rows of ESTIMATES and CONTRASTS that sums alone give."""
    flags = {f"aggregate.{key}": value for key, value in {**settings, "output": str(output)}.items()}
    return tuple(table.to_pylist() for table in reaggregate(directories, load(None, flags=flags))[1:])


def direct(spark, scored: Path, **settings: object) -> tuple[list, list]:
    return tuple(table.to_pylist() for table in aggregate(spark, scored, **settings))


def assert_same(found, expected, *, close=()):
    """Equal to the last bit, but for what comes of sums of products of metrics whose scales differ between nights."""
    for ours, theirs in zip(found, expected, strict=True):
        for row, other in zip(ours, theirs, strict=True):
            differing = {key for key in row if row[key] != other[key]}
            if row["metric"] in close:
                assert differing.isdisjoint(
                    {"estimate", "delta", "standard_error", "wins", "flags", "n_units", "verdict"}
                )
                assert [row[key] for key in differing] == pytest.approx([other[key] for key in differing], rel=1e-4)
            else:
                assert {key: row[key] for key in differing} == {key: other[key] for key in differing}


def test_the_same_settings_give_the_same_bytes(spark, scored, tmp_path):
    settings = {"unit": "user_id", "strata": "country", "margins": {"DCG": 0.3}, **QUICK}
    expected = direct(spark, scored, name="whole", quantiles=[0.25], **settings)
    assert again(scored / "aggregates" / "whole", output=tmp_path / "again") == expected
    assert again(tmp_path / "again", output=tmp_path / "twice") == expected  # what it writes is an aggregation
    tables = [pq.read_table(tmp_path / "twice" / f"{part}.parquet").to_pylist() for part in ("estimates", "contrasts")]
    assert tuple(tables) == expected


def test_intervals_that_allow_for_two_kinds_of_units_are_made_again(spark, scored, tmp_path):
    settings = {"unit": "user_id", "crossed": "night", **QUICK}
    expected = direct(spark, scored, name="crossed", **settings)
    assert again(scored / "aggregates" / "crossed", output=tmp_path / "again") == expected
    assert again(tmp_path / "again", output=tmp_path / "twice") == expected
    assert {row["method"] for row in expected[0]} == {"two_way", "auto", "bca"}
    without = load(None, overrides=["aggregate.crossed=null"], flags={"aggregate.output": str(tmp_path / "alone")})
    assert set(reaggregate([tmp_path / "again"], without)[1]["method"].to_pylist()) == {"auto", "bca"}
    with pytest.raises(UsageError, match="a second kind of unit by country are not there"):
        again(tmp_path / "again", output=tmp_path / "none", crossed="country")
    with pytest.raises(UsageError, match="a second kind of unit do not add over several aggregations"):
        again(tmp_path / "again", tmp_path / "twice", output=tmp_path / "none")


def test_a_margin_of_a_metric_that_is_not_there_is_refused_of_sums_too(spark, scored, tmp_path):
    direct(spark, scored, name="margins", unit="user_id", **QUICK)
    with pytest.raises(UsageError, match='a margin: unknown metric "nothing"'):
        again(scored / "aggregates" / "margins", output=tmp_path / "again", margins={"nothing": 0.1})


def test_other_contrasts_methods_confidence_and_seed_are_those_of_a_direct_aggregation(spark, scored, tmp_path):
    direct(spark, scored, unit="user_id", name="pairs", **QUICK)
    other = {"baseline": "B", "confidence": 0.9, "methods": ["studentized"], "seed": 3, "adjust": "max_t"}
    expected = direct(spark, scored, unit="user_id", name="other", **{**QUICK, **other})
    found = again(scored / "aggregates" / "pairs", output=tmp_path / "out", **other)
    # B is the candidate of one of the pairs that were counted, and the baseline of both here
    assert [(row["candidate"], row["baseline"]) for row in found[1][:2]] == [("A", "B"), ("C", "B")]
    assert found == expected


def test_systems_and_metrics_can_be_left_out(spark, scored, tmp_path):
    direct(spark, scored, unit="query_id", name="all", **QUICK)
    expected = direct(spark, scored, unit="query_id", name="some", systems=["A", "C"], metrics=["DCG"], **QUICK)
    found = again(scored / "aggregates" / "all", output=tmp_path / "out", systems=["A", "C"], metrics=["DCG"])
    assert found == expected
    assert {(row["system"], row["metric"]) for row in found[0]} == {("A", "DCG"), ("C", "DCG")}


def test_wins_of_a_pair_that_nobody_counted_are_null_and_not_0(spark, scored, tmp_path):
    expected = direct(spark, scored, unit="query_id", name="all", **QUICK)[1]
    direct(spark, scored, unit="query_id", name="with-a", baseline="A", **QUICK)
    _, found = again(scored / "aggregates" / "with-a", output=tmp_path / "out", baseline="B")
    for row in found:
        turned = row["candidate"] == "A"
        known = next(
            each
            for each in expected
            if {each["candidate"], each["baseline"]} == {row["candidate"], row["baseline"]}
            and (each["metric"], each["method"]) == (row["metric"], row["method"])
        )
        assert row["delta"] == (-known["delta"] if turned else known["delta"])
        wins = (known["losses"], known["ties"], known["wins"]) if turned else (None, None, None)
        assert (row["wins"], row["ties"], row["losses"]) == wins


@pytest.mark.parametrize("unit", ["user_id", "query_id"])
def test_two_nights_added_are_the_whole(spark, scored, tmp_path, unit):
    expected = direct(spark, scored, unit=unit, name=f"{unit}-whole", **QUICK)
    nights = [night(scored, tmp_path / name, name) for name in "ab"]
    for each in nights:
        direct(spark, each, unit=unit, **QUICK)
    found = again(*nights, output=tmp_path / "out")
    assert [store.read_manifest(each / "aggregates" / unit)["exponents"]["dcg"] for each in nights] == [4, 3]
    assert_same(found, expected, close={"DCG"})
    assert again(*nights[::-1], output=tmp_path / "turned") == found
    manifest = store.read_manifest(tmp_path / "out")
    assert manifest["n_units"] == store.read_manifest(scored / "aggregates" / f"{unit}-whole")["n_units"]
    assert [each["directory"] for each in manifest["aggregations"]] == [
        str(each / "aggregates" / unit) for each in nights
    ]


def test_ids_and_buckets_of_two_nights_fall_into_the_same_buckets(spark, scored, tmp_path, monkeypatch):
    nights = [night(scored, tmp_path / name, name) for name in "ab"]
    direct(spark, nights[0], unit="query_id", **QUICK)
    monkeypatch.setattr(buckets, "MOST_UNITS", 16)
    direct(spark, nights[1], unit="query_id", **QUICK)
    expected = direct(spark, scored, unit="query_id", name="in-buckets", **QUICK)
    bucketed = [store.read_manifest(each / "aggregates" / "query_id")["bucketed"] for each in nights]
    assert bucketed == [False, True]
    assert_same(again(*nights, output=tmp_path / "out"), expected, close={"DCG"})
    assert "bucketed" in expected[0][0]["flags"]


def test_nights_whose_users_are_too_many_together_share_buckets(spark, scored, tmp_path, monkeypatch):
    nights = [night(scored, tmp_path / name, name) for name in "ab"]
    for each in nights:
        direct(spark, each, unit="query_id", strata="country", **QUICK)
    monkeypatch.setattr(buckets, "MOST_UNITS", 64)  # each night has about 45 queries
    expected = direct(spark, scored, unit="query_id", strata="country", name="many", **QUICK)
    assert_same(again(*nights, output=tmp_path / "out"), expected, close={"DCG"})
    manifest = store.read_manifest(tmp_path / "out")
    assert (manifest["buckets"], manifest["n_units"] >= 40) == (32, True)


def skipping(spark, scored: Path, **settings: object) -> tuple[dict, list, list]:
    """The manifest and rows of an aggregation that leaves unanswered queries out."""
    flags = {f"aggregate.{key}": value for key, value in settings.items()}
    flags["score.conventions.unanswered"] = "skip"
    described, *tables = pipeline.aggregate(spark, scored, load(None, flags=flags), QUIET)
    return described, *(table.to_pylist() for table in tables)


def test_contrasts_over_the_queries_that_both_answered_add_too(spark, scored, tmp_path):
    settings = {"unit": "user_id", "baseline": "A", "methods": ["t"], "tests": [], "replicates": 99, "name": "skip"}
    nights = [night(scored, tmp_path / name, name) for name in "ab"]
    for each in nights:
        skipping(spark, each, **settings)
    described, *expected = skipping(spark, scored, **settings)
    assert described["restricted"]
    assert_same(again(*nights, output=tmp_path / "out", name="skip"), expected, close={"DCG"})
    with pytest.raises(UsageError, match="has no sums over those that both C and B count, only for contrasts with A"):
        again(scored / "aggregates" / "skip", output=tmp_path / "refused", baseline="B")


def test_a_night_without_gaps_adds_to_one_with_gaps(spark, scored, tmp_path):
    manifest = store.read_manifest(scored)
    table = pa.concat_tables([pq.read_table(scored / file["path"]) for file in manifest["files"]])
    ids, statuses = table["query_id"].to_pylist(), table["status"].to_pylist()
    silent = {query for query, status in zip(ids, statuses, strict=True) if status == "unanswered"}
    parts = {"gaps": [each < "q45" for each in ids], "whole": [each >= "q45" and each not in silent for each in ids]}
    parts["both"] = [one or other for one, other in zip(*parts.values(), strict=True)]
    found = {}
    for name, keep in parts.items():
        kept = table.filter(keep)
        (tmp_path / name / "scores").mkdir(parents=True)
        pq.write_table(kept, tmp_path / name / "scores" / "part.parquet")
        counts = {**manifest["counts"], "n_unanswered": kept["status"].to_pylist().count("unanswered")}
        files = store.part_files(tmp_path / name / "scores", under=tmp_path / name)
        store.write_manifest(tmp_path / name, {**manifest, "counts": counts, "files": files})
        found[name] = skipping(spark, tmp_path / name, unit="user_id", methods=["t"])
    assert [found[name][0]["restricted"] for name in parts] == [True, False, True]
    added_up = again(tmp_path / "gaps", tmp_path / "whole", output=tmp_path / "out")
    assert_same(added_up, found["both"][1:], close={"DCG"})


# the scale of sums


def sums_of(values: dict[str, list[float]], exponent: int) -> Night:
    """A night of one system and metric, by unit."""
    rows = []
    for unit, each in values.items():
        high, low = to_limbs(np.array(each), exponent=exponent)
        factors = np.rint(np.ldexp(np.array(each), 15 - exponent)).astype(int)
        sums = {"n": len(each), "hi": int(high.sum()), "lo": int(low.sum()), "undefined": 0}
        sums["squares"] = int((factors * factors).sum())
        key = {"segment": ALL, "stratum": None, "unit": unit, "system": "A", "given": None, "n_queries": len(each)}
        rows.append(key | {f"x_{part}": value for part, value in sums.items()})
    text = {key: pa.string() for key in ("segment", "stratum", "unit", "system", "given")}
    schema = pa.schema([(key, text.get(key, pa.int64())) for key in rows[0]])
    pairs = pa.table({"candidate": pa.array([], pa.string()), "baseline": pa.array([], pa.string())})
    return Night(
        sums=pa.Table.from_pylist(rows, schema), pairs=pairs, asked=[], exponents={"x": exponent}, buckets=0,
        restricted=False,
    )  # fmt: skip


def test_sums_of_another_scale_are_brought_to_the_larger_one_exactly_where_they_can_be():
    one, other = {"u1": [0.75, -0.5], "u2": [0.25]}, {"u1": [5.0, -7.0], "u3": [3.0]}
    measure = Measure(name="x", source="x", column="x")
    found, _, exponents, _ = added([sums_of(one, 0), sums_of(other, 3)], [measure], pairs=[])
    whole = sums_of({"u1": [0.75, -0.5, 5.0, -7.0], "u2": [0.25], "u3": [3.0]}, 3).sums.to_pylist()
    assert exponents == {"x": 3}
    for row, expected in zip(found.to_pylist(), whole, strict=True):
        for part in ("n", "squares"):
            assert row[f"x_{part}"] == expected[f"x_{part}"]
        total, wanted = ((each["x_hi"] << 30) + each["x_lo"] for each in (row, expected))
        assert (row["unit"], total) == (expected["unit"], wanted)


def test_what_a_larger_scale_cannot_hold_is_rounded_to_the_nearest_even():
    smallest = 2.0**-60  # the last bit of a sum at scale 1
    nights = [sums_of({"u1": [3 * smallest], "u2": [-smallest], "u3": [2 * smallest]}, 0), sums_of({"u4": [2.0]}, 1)]
    found, *_ = added(nights, [Measure(name="x", source="x", column="x")], pairs=[])
    totals = {row["unit"]: (row["x_hi"] << 30) + row["x_lo"] for row in found.to_pylist()}
    assert totals == {"u1": 2, "u2": 0, "u3": 1, "u4": 1 << 60}


# what is refused


@pytest.fixture(scope="module")
def made(spark, scored):
    """An aggregation by user."""
    aggregate(spark, scored, unit="user_id", name="made", baseline="A", **QUICK)
    return scored / "aggregates" / "made"


def changed(made: Path, folder: Path, **changes: object) -> Path:
    """A copy of an aggregation whose manifest says other things."""
    folder.mkdir(parents=True)
    for part in ("unit_sums", "pairs"):
        (folder / part).symlink_to(made / part)
    (folder / "estimates.parquet").symlink_to(made / "estimates.parquet")
    store.write_manifest(folder, {**store.read_manifest(made), **changes})
    return folder


def test_another_unit_needs_the_scores(made, tmp_path):
    with pytest.raises(UsageError, match="made are by user_id; for another unit aggregate again"):
        again(made, output=tmp_path / "out", unit="query_id")
    assert not (tmp_path / "out").exists()


def test_an_aggregation_does_not_count_twice(made, tmp_path):
    with pytest.raises(UsageError, match="an aggregation is named twice: its queries would count twice"):
        again(made, made / ".." / "made", output=tmp_path / "out")


def test_every_difference_between_nights_is_named(made, tmp_path):
    manifest = store.read_manifest(made)
    measures = [
        {**measure, "statistic": "sum"} if measure["name"] == "RR" else measure for measure in manifest["measures"]
    ]
    other = changed(
        made,
        tmp_path / "other",
        unit="session",
        conventions={**manifest["conventions"], "unanswered": "skip"},
        measures=[each for each in measures if each["name"] != "DCG"],
        systems=["A", "B"],
    )
    with pytest.raises(DataRefused) as refused:
        again(made, other, output=tmp_path / "out")
    assert str(refused.value) == (
        f"{made} and {other} cannot be added: unit is user_id and session; unanswered is zero and skip; RR is not the "
        "same; DCG is only in the first (choose what both have with --metrics); C only in one of them (choose what "
        "both have with --systems)"
    )


def test_what_is_in_one_night_alone_can_be_left_out(made, tmp_path):
    other = changed(made, tmp_path / "other", systems=["A", "B"])
    estimates, _ = again(made, other, output=tmp_path / "out", systems=["A", "B"], methods=["t"])
    once, _ = again(made, output=tmp_path / "once", systems=["A", "B"], methods=["t"])
    assert [row["n_queries"] for row in estimates] == [2 * row["n_queries"] for row in once]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"baseline": "D"}, 'unknown system "D"'),
        ({"systems": ["A", "E"]}, 'unknown system "E"'),
        ({"systems": ["B", "C"]}, "the baseline A is none of --systems B C"),
        ({"metrics": ["AP"]}, 'unknown metric "AP"'),
    ],
)
def test_names_that_are_not_there_are_refused(made, tmp_path, settings, message):
    with pytest.raises(UsageError, match=message):
        again(made, output=tmp_path / "out", **settings)


def test_the_command_reads_an_evaluation_whose_aggregation_has_a_name(made, tmp_path, capsys):
    arguments = ["reaggregate", str(made.parents[1]), "--name", "made", "--output", str(tmp_path / "out"), "--json"]
    assert cli.main([*arguments, "--systems", "A", "B", "--metrics", "RR,DCG", "--set", "aggregate.methods=[t]"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {(row["system"], row["metric"]) for row in told["estimates"]} == {
        (system, metric) for system in "AB" for metric in ("RR", "DCG")
    }
    assert cli.main(arguments) == 2
    assert "exists; choose another --output, or replace it with --force" in capsys.readouterr().err
    assert cli.main(["reaggregate", "--output", str(tmp_path / "none")]) == 2
    assert "name an aggregation, or several to add" in capsys.readouterr().err


def test_an_evaluation_is_not_replaced(made, tmp_path):
    evaluation = made.parents[1]
    with pytest.raises(UsageError, match="is an evaluation, and an aggregation does not replace it"):
        reaggregate([made], load(None, flags={"aggregate.output": str(evaluation), "output.force": True}))


def test_nothing_of_it_needs_spark(made, tmp_path):
    program = (
        "import sys\n"
        "sys.modules['pyspark'] = sys.modules['py4j'] = None\n"
        "from jobs import cli\n"
        f"sys.exit(cli.main(['reaggregate', {str(made)!r}, '--output', {str(tmp_path / 'out')!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Contrasts, candidate - A" in done.stdout
