"""Segments, strata and the queries that moved most: parts of an evaluation, each as if it stood alone."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow.parquet as pq
import pytest

from jobs import segments, store
from jobs.errors import DataRefused, UsageError
from jobs.segments import named
from tests.support.evaluations import aggregate, score, write_trec

COUNTRIES = {"de": 30, "fr": 14, "is": 3, "": 12}
"""Users who ask two queries each, by country; some say none."""


@pytest.fixture(scope="module")
def scored(spark, tmp_path_factory):
    return evaluation(spark, tmp_path_factory.mktemp("segments"), COUNTRIES)


def evaluation(spark, folder, countries, *, device=None):
    made = random.Random(3)
    runs = {"A": [], "B": []}
    qrels, queries = [], ["query_id,user_id,country,device"]
    for country, users in countries.items():
        for number in range(2 * users):
            user = f"{country}{number // 2}"
            query = f"q{country}{number}"
            queries.append(f"{query},{user},{country},{made.choice(['phone', 'desk']) if device is None else device}")
            qrels.append(f"{query} d1 1")
            for system in runs:
                order = ["d1", "d2", "d3", "d4"]
                made.shuffle(order)
                runs[system] += [f"{query} {doc} {9 - place}" for place, doc in enumerate(order)]
    settings = write_trec(folder, runs=runs, qrels=qrels)
    (folder / "queries.csv").write_text("\n".join(queries) + "\n")
    score(spark, folder / "out", "RR,P@1", {**settings, "inputs.queries": str(folder / "queries.csv")})
    return folder / "out"


def segment_rows(scored, part, name="user_id"):
    return pq.read_table(scored / "aggregates" / name / f"segment_{part}").to_pylist()


def alone(spark, scored, folder, country):
    """ESTIMATES and CONTRASTS of an evaluation that holds one country's queries."""
    manifest = store.read_manifest(scored)
    (folder / "scores").mkdir(parents=True)
    for file in store.score_files(scored, manifest):
        table = pq.read_table(file)
        keep = [value == country for value in table["country"].to_pylist()]
        pq.write_table(table.filter(keep), folder / "scores" / file.rpartition("/")[2])
    store.write_manifest(folder, {**manifest, "files": store.part_files(folder / "scores", under=folder)})
    return aggregate(spark, folder, unit="user_id", methods=["auto", "percentile"])


def test_a_segment_has_the_numbers_of_an_evaluation_of_its_queries_alone(spark, scored, tmp_path):
    aggregate(spark, scored, unit="user_id", segments=["country", "device"])
    for country in ("de", "fr"):
        expected = alone(spark, scored, tmp_path / country, country)
        for part, table in zip(("estimates", "contrasts"), expected, strict=True):
            found = [row for row in segment_rows(scored, part) if row["segment"] == f"country={country}"]
            key = ["metric", "method", "system" if part == "estimates" else "candidate"]
            for one, other in zip(
                sorted(found, key=lambda row: [row[k] for k in key]),
                sorted(table.to_pylist(), key=lambda row: [row[k] for k in key]),
                strict=True,
            ):
                differing = {k for k in one if one[k] != other[k]}
                assert differing <= {"segment", "p_adjusted"}, (one, other)


def test_segments_with_few_units_are_left_out_and_counted(spark, scored):
    aggregate(spark, scored, unit="user_id", segments=["country"], name="few", methods=["t"])
    told = {row["segment"] for row in segment_rows(scored, "estimates", "few")}
    assert told == {"country=de", "country=fr", "country=(none)"}
    assert store.read_manifest(scored / "aggregates" / "few")["segments"]["n_small"] == 1


def test_segments_of_two_columns_where_systems_answer_different_queries_count_each_query_once(spark, tmp_path):
    countries = {f"q{n:02d}": "de" if n % 3 else "fr" for n in range(36)}
    runs = {"A": [f"{q} d1 {1 if n % 2 else -1}" for n, q in enumerate(countries) if n % 5]}
    runs["A"] += [f"{q} d0 0" for n, q in enumerate(countries) if n % 5]
    runs["B"] = [f"{q} d1 1" for n, q in enumerate(countries) if n % 7]
    settings = write_trec(tmp_path, runs=runs, qrels=[f"{q} d1 1" for q in countries])
    rows = [f"{q},{country},{'desk' if n % 2 else 'phone'}" for n, (q, country) in enumerate(countries.items())]
    (tmp_path / "queries.csv").write_text("\n".join(["query_id,country,device", *rows]) + "\n")
    settings |= {"inputs.queries": str(tmp_path / "queries.csv"), "score.conventions.unanswered": "skip"}
    score(spark, tmp_path / "out", "RR", settings)
    chosen = {"segments": ["country", "device"], "fewest_units": 2, "name": "apart", "methods": ["t"]}
    aggregate(spark, tmp_path / "out", unit="query_id", **chosen)
    both = [n for n in range(36) if n % 5 and n % 7]  # A finds d1 first in odd queries, second in even ones
    kinds = {"country=de": 3, "country=fr": 3, "device=desk": 2, "device=phone": 2}
    of = {
        segment: [n for n in both if (n % kinds[segment] > 0) == (segment in ("country=de", "device=desk"))]
        for segment in kinds
    }
    found = {row["segment"]: row for row in segment_rows(tmp_path / "out", "contrasts", "apart")}
    for segment, numbers in of.items():
        row = found[segment]
        delta = sum(0.5 for n in numbers if n % 2 == 0) / len(numbers)
        assert (row["n_queries"], row["n_units"]) == (len(numbers), len(numbers)), segment
        assert row["delta"] == pytest.approx(delta, abs=1e-15)
        assert (row["wins"], row["ties"]) == (sum(n % 2 == 0 for n in numbers), sum(n % 2 for n in numbers))


def test_p_values_of_segments_are_adjusted_over_the_segments(spark, scored):
    from scipy import stats

    aggregate(spark, scored, unit="user_id", segments=["country", "device"], name="adjusted", methods=["t"])
    rows = [row for row in segment_rows(scored, "contrasts", "adjusted") if row["metric"] == "RR"]
    for column in ("country", "device"):
        of_column = [row for row in rows if row["segment"].startswith(f"{column}=")]
        expected = stats.false_discovery_control([row["p_value"] for row in of_column])
        assert [row["p_adjusted"] for row in of_column] == pytest.approx(list(expected))


def test_large_segments_share_buckets_and_keep_their_estimates(spark, scored, monkeypatch):
    aggregate(spark, scored, unit="user_id", segments=["country"], name="whole", methods=["t"])
    monkeypatch.setattr(segments, "MOST_ROWS", 1)
    monkeypatch.setattr(segments, "FEWEST_BUCKETS", 16)
    aggregate(spark, scored, unit="user_id", segments=["country"], name="shared", methods=["t"])
    whole, shared = (
        {(row["segment"], row["system"], row["metric"]): row for row in segment_rows(scored, "estimates", name)}
        for name in ("whole", "shared")
    )
    assert whole.keys() == shared.keys()
    for key, row in whole.items():
        assert shared[key]["estimate"] == row["estimate"]
    assert whole["country=de", "A", "RR"]["n_units"] == 30
    assert shared["country=de", "A", "RR"]["n_units"] <= 16
    assert "bucketed" in shared["country=de", "A", "RR"]["flags"]
    assert "bucketed" not in shared["country=fr", "A", "RR"]["flags"]


def test_a_column_of_ids_is_no_column_of_segments(spark, scored, monkeypatch):
    monkeypatch.setattr(segments, "MOST_SEGMENTS", 2)
    with pytest.raises(DataRefused, match="country: 3 segments with enough units, and at most 2"):
        aggregate(spark, scored, unit="user_id", segments=["country"], name="ids", methods=["t"])
    with pytest.raises(UsageError, match=r'unknown column of queries "contry"\. Did you mean "country"'):
        aggregate(spark, scored, unit="user_id", segments=["contry"])


def test_the_segment_of_a_query_that_says_none_has_a_name(spark):
    frame = spark.createDataFrame([("de",), (None,)], "country string")
    assert [row[0] for row in frame.select(named(["country"])).collect()] == [["country=de"], ["country=(none)"]]


def test_strata_keep_their_share_and_make_the_standard_error_that_of_the_strata(spark, scored):
    estimates, _ = aggregate(spark, scored, unit="user_id", strata="country", name="strata", methods=["t"])
    values = {}
    for file in store.score_files(scored, store.read_manifest(scored)):
        for row in pq.read_table(file).to_pylist():
            if row["system"] == "A":
                values.setdefault(row["country"], {}).setdefault(row["user_id"], []).append(row["rr"])
    n = sum(len(each) for users in values.values() for each in users.values())
    total = sum(sum(each) for users in values.values() for each in users.values())
    variance = 0.0  # of users with two queries each: s^2 of their sums, by country
    for users in values.values():
        sums = [sum(each) for each in users.values()]
        mean = sum(sums) / len(sums)
        variance += len(sums) * sum((each - mean) ** 2 for each in sums) / (len(sums) - 1)
    row = next(row for row in estimates.to_pylist() if (row["system"], row["metric"]) == ("A", "RR"))
    assert row["estimate"] == pytest.approx(total / n, abs=1e-15)
    assert row["standard_error"] == pytest.approx(math.sqrt(variance) / n, rel=1e-9)


def test_a_unit_in_two_strata_is_refused(spark, scored):
    with pytest.raises(DataRefused, match="of user_id in more than one stratum; strata must part the units"):
        aggregate(spark, scored, unit="user_id", strata="device", name="crossing")


def test_the_queries_that_moved_most_are_told_both_ways_with_both_values(spark, scored):
    aggregate(spark, scored, unit="user_id", movers=3, name="movers", methods=["t"])
    moved = pq.read_table(scored / "aggregates" / "movers" / "movers").to_pylist()
    values = {}
    for file in store.score_files(scored, store.read_manifest(scored)):
        for row in pq.read_table(file).to_pylist():
            values[row["system"], row["query_id"]] = row["rr"]
    deltas = {query: values["B", query] - values["A", query] for system, query in values if system == "A"}
    for sign in (1, -1):
        first = sorted((-sign * delta, query) for query, delta in deltas.items() if sign * delta > 0)[:3]
        rows = [row for row in moved if row["metric"] == "RR" and sign * row["delta"] > 0]
        assert [row["query_id"] for row in rows] == [query for _, query in first]
        assert [row["place"] for row in rows] == [1, 2, 3]
        for row in rows:
            assert row["candidate_value"] == values["B", row["query_id"]]
            assert row["baseline_value"] == values["A", row["query_id"]]


def test_quantiles_have_the_interval_of_the_share_of_values_up_to_them(spark, scored):
    from scipy import stats

    estimates, _ = aggregate(spark, scored, unit="query_id", quantiles=[0.5, 0.9], name="quantiles", methods=["t"])
    rows = {(row["system"], row["metric"], row["statistic"]): row for row in estimates.to_pylist()}
    values = [
        row["rr"]
        for file in store.score_files(scored, store.read_manifest(scored))
        for row in pq.read_table(file).to_pylist()
        if row["system"] == "A"
    ]
    for level, statistic in ((0.5, "median"), (0.9, "quantile 0.9")):
        row = rows["A", "RR", statistic]
        assert row["method"] == "woodruff"
        assert row["estimate"] == pytest.approx(np.quantile(values, level))
        share = np.mean(np.array(values) <= row["estimate"])
        error = math.sqrt(share * (1 - share) / (len(values) - 1))  # s / sqrt(n) of ones and zeros
        reach = stats.t.ppf(0.975, len(values) - 1) * error
        ends = np.quantile(values, np.clip([level - reach, level + reach], 0, 1))
        assert (row["low"], row["high"]) == pytest.approx(tuple(ends))


def test_a_median_of_clusters_has_a_wider_interval_than_one_of_queries(spark, tmp_path):
    runs, qrels, queries = {"A": []}, [], ["query_id,user_id"]
    made = random.Random(8)
    for user in range(40):
        rank = made.randint(1, 30)  # all queries of a user are answered alike
        for number in range(5):
            query = f"q{user}x{number}"
            queries.append(f"{query},u{user}")
            qrels.append(f"{query} d1 1")
            runs["A"] += [f"{query} {'d1' if place == rank else f'x{place}'} {50 - place}" for place in range(1, 31)]
    settings = write_trec(tmp_path, runs=runs, qrels=qrels)
    (tmp_path / "queries.csv").write_text("\n".join(queries) + "\n")
    chosen = {"inputs.queries": str(tmp_path / "queries.csv"), "score.conventions.mean": "median"}
    score(spark, tmp_path / "out", "RR", {**settings, **chosen})
    widths = []
    for unit in ("query_id", "user_id"):
        (row,) = aggregate(spark, tmp_path / "out", unit=unit)[0].to_pylist()
        assert (row["statistic"], row["method"]) == ("median", "woodruff")
        assert row["low"] <= row["estimate"] <= row["high"]
        widths.append(row["high"] - row["low"])
    assert widths[1] > 1.3 * widths[0]


def test_queries_that_share_users_and_themes_have_intervals_that_allow_for_both(spark, tmp_path):
    from evalcore.inference import UnitSums
    from evalcore.inference.two_way import two_way

    made = random.Random(5)
    easy = {kind: [made.random() for _ in range(12)] for kind in ("user", "theme")}
    runs, qrels, queries, rows = {"A": []}, [], ["query_id,user,theme"], []
    for user in range(12):
        for theme in range(12):
            query, found = f"q{user}x{theme}", made.random() * 2 < easy["user"][user] + easy["theme"][theme]
            queries.append(f"{query},u{user},t{theme}")
            qrels.append(f"{query} d1 1")
            runs["A"].append(f"{query} {'d1' if found else 'dx'} 1")
            rows.append((f"u{user}", f"t{theme}", float(found)))
    settings = write_trec(tmp_path, runs=runs, qrels=qrels)
    (tmp_path / "queries.csv").write_text("\n".join(queries) + "\n")
    score(spark, tmp_path / "out", "P@1", {**settings, "inputs.queries": str(tmp_path / "queries.csv")})
    estimates, _ = aggregate(spark, tmp_path / "out", unit="user", crossed="theme", methods=["t"])
    found = {row["method"]: row for row in estimates.to_pylist()}
    users, themes, values = (list(column) for column in zip(*rows, strict=True))
    column = np.array(values)[:, np.newaxis]
    both = [f"{user} {theme}" for user, theme in zip(users, themes, strict=True)]
    expected = two_way(*(UnitSums.from_values(ids, column) for ids in (users, themes, both)))[0][0]
    assert found["two_way"]["standard_error"] == pytest.approx(expected.standard_error, rel=1e-12)
    ends = (found["two_way"]["low"], found["two_way"]["high"])
    assert ends == pytest.approx(tuple(expected.intervals["two_way"]), rel=1e-11)
    assert found["two_way"]["standard_error"] > found["t"]["standard_error"]
