"""Values of queries from any other tool are estimated and contrasted as those of an evaluation are."""

from __future__ import annotations

import gzip
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from jobs import cli, pipeline, store
from jobs.config_file import load
from jobs.errors import UsageError
from jobs.named import metric_of
from tests.support.data import DATA, needs_data
from tests.support.evaluations import QUIET, aggregate, score, write_trec
from tests.support.score_files import QUICK, VALUES, WIDE, long_rows, run, write


def means(rows: list) -> dict:
    return {(row["system"], row["metric"]): (row["estimate"], row["n_queries"]) for row in rows}


EXPECTED = {key: (sum(values.values()) / 3, 3) for key, values in VALUES.items()}


# an evaluation's own table


def test_scores_of_an_evaluation_give_the_bytes_that_it_gives_itself(spark, tmp_path):
    made = random.Random(2)
    runs, qrels, queries = {"A": [], "B": []}, [], ["query_id,user_id"]
    for number in range(40):
        query = f"q{number:02d}"
        queries.append(f"{query},u{number % 13}")
        qrels += [f"{query} d{doc} {made.choice([0, 0, 1, 2]) if number % 9 else 0}" for doc in range(5)]
        for system in runs:
            order = [f"d{doc}" for doc in range(6)]
            made.shuffle(order)
            if system == "A" or number % 8:
                runs[system] += [f"{query} {doc} {(9 - place) / 10}" for place, doc in enumerate(order)]
    flags = write_trec(tmp_path, runs=runs, qrels=qrels)
    (tmp_path / "queries.csv").write_text("\n".join(queries) + "\n")
    metrics = "RR,nDCG@3,DCG,NumRet,Judged@5,GMAP,PCOC,IPrecCurve,Unjudged@5"
    score(spark, tmp_path / "ev", metrics, {**flags, "inputs.queries": str(tmp_path / "queries.csv")})
    names = {}
    for metric in store.read_manifest(tmp_path / "ev")["metrics"]:
        known = metric_of(metric["column"])
        names |= {metric["name"]: metric["column"]} if known is None else {}
    for unit in ("query_id", "user_id"):
        settings = {"methods": ["auto", "bca"], "tests": ["sign_flip"]}
        expected = [
            table.to_pylist() for table in aggregate(spark, tmp_path / "ev", unit=unit, replicates=199, **settings)
        ]
        tables = {"inputs.scores": [str(tmp_path / "ev" / "scores")], "aggregate.columns": names}
        given = {f"aggregate.{key}": value for key, value in {**settings, "unit": unit, "replicates": 199}.items()}
        flags = {**tables, **given, "aggregate.output": str(tmp_path / unit)}
        _, *found = pipeline.aggregate(spark, [], load(None, flags=flags), QUIET)
        assert [table.to_pylist() for table in found] == expected
        assert {row["metric"] for row in expected[0]} >= {"nDCG@3", "PCOC", "IPrecCurve[0.0]"}


# the ways to lay out a table


LAYOUTS = {
    "wide": {"a.csv": WIDE},
    "a byte order mark and spaces": {"a.csv": "\ufeff" + WIDE.replace(",", " , ")},
    "with an index, as pandas writes it": {"a.csv": "," + WIDE.replace("\nA", "\n0,A").replace("\nB", "\n1,B")},
    "long": {"a.csv": long_rows()},
    "tabs": {"a.tsv": long_rows("\t")},
    "semicolons": {"a.csv": long_rows(";")},
    "gzip": {"a.csv.gz": gzip.compress(long_rows().encode())},
    "two files": {"a.csv": WIDE.split("B,")[0], "b.csv": WIDE[:40] + "B," + WIDE.split("\nB,", 1)[1]},
    "parquet": {
        "a.parquet": {
            "system": [s for s in "AB" for _ in range(3)],
            "query_id": ["q1", "q2", "q3"] * 2,
            **{m: [v for s in "AB" for v in VALUES[s, m].values()] for m in ("nDCG@10", "latency_ms")},
            "lang": ["de"] * 6,
        }
    },
    "output of trec_eval -q": {
        f"{system}.txt": "".join(
            f"{metric.replace('nDCG@', 'ndcg_cut_'):22s}\t{query}\t{value}\n"
            for (known, metric), each in VALUES.items()
            if known == system
            for query, value in {**each, "all": 0.5}.items()
        )
        for system in "AB"
    },
    "output of ir_measures": {
        f"{system}.res": "".join(
            f"{query}\t{metric}\t{value}\n"
            for (known, metric), each in VALUES.items()
            if known == system
            for query, value in each.items()
        )
        for system in "AB"
    },
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_estimates(spark, tmp_path, layout):
    described, estimates, contrasts = run(spark, tmp_path, LAYOUTS[layout])
    assert means(estimates) == EXPECTED
    deltas = {row["metric"]: (row["delta"], row["wins"], row["ties"], row["losses"]) for row in contrasts}
    assert deltas == {"nDCG@10": (-0.25 / 3, 1, 1, 1), "latency_ms": (-60.5 / 3, 1, 0, 2)}
    assert (described["kind"], described["systems"]) == ("aggregate", ["A", "B"])


def test_a_matrix_has_a_column_for_each_system(spark, tmp_path):
    matrix = "topic,user,A,B\nq1,u1,0.5,0.75\nq2,u1,0.25,0.25\nq3,u2,1,0.5\n"
    described, estimates, _ = run(spark, tmp_path, {"m.csv": matrix}, unit="user", metrics=["nDCG@10"])
    assert means(estimates) == {key: value for key, value in EXPECTED.items() if key[1] == "nDCG@10"}
    assert estimates[0]["n_units"] == 2
    numbered = "A,B\n0.5,0.75\n0.25,0.25\n1,0.5\n"
    described, estimates, contrasts = run(spark, tmp_path, {"m.csv": numbered}, metrics=["nDCG@10"])
    assert contrasts[0]["wins"] == contrasts[0]["ties"] == contrasts[0]["losses"] == 1
    assert described["notes"][0].endswith(
        "read as one row for each query, with a column for each system: query_id from the order of the rows."
    )


def test_what_is_guessed_is_told(spark, tmp_path):
    described, *_ = run(spark, tmp_path, {"a.csv": long_rows()})
    assert described["notes"] == [
        f"{tmp_path / 'a.csv'}: read as one row for each system, query and metric: system from run, query_id from "
        "topic, metric from measure.",
        "Not known here: latency_ms; a higher value is taken as better. If a lower one is, say so with "
        "--set aggregate.lower_is_better=[latency_ms].",
    ]
    wide = WIDE.replace("nDCG@10", "ndcg_cut_10").replace("user", "lang")
    described, *_ = run(spark, tmp_path, {"a.csv": wide}, lower_is_better=["latency_ms"])
    assert described["notes"][1:] == [
        "Read ndcg_cut_10 as nDCG@10; for a metric of another definition give a name of its own.",
        "Columns that are not read: lang.",
    ]


def test_columns_can_have_any_name(spark, tmp_path):
    strange = WIDE.replace("system,query_id,user,nDCG@10,latency_ms", "arm of test,Search ID,who,score,ms")
    columns = {"system": "arm of test", "query_id": "Search ID", "user": "who", "nDCG@10": "score", "latency_ms": "ms"}
    described, estimates, _ = run(spark, tmp_path, {"a.csv": strange}, unit="user", columns=columns)
    assert means(estimates) == EXPECTED
    assert (described["unit"], described["n_units"]) == ("user", 2)


def test_names_of_metrics_in_a_long_table_can_be_changed(spark, tmp_path):
    columns = {"nDCG(gain=exp2)@10": "nDCG@10"}
    _, estimates, _ = run(spark, tmp_path, {"a.csv": long_rows()}, columns=columns, metrics=["nDCG(gain=exp2)@10"])
    assert {row["metric"] for row in estimates} == {"nDCG(gain=exp2)@10"}


# what values mean


def test_a_metric_whose_lower_value_is_better_wins_by_it(spark, tmp_path):
    rows = "".join(f"{s},q{n},{v + n % 3},{v}\n" for s, v in (("A", 5), ("B", 4)) for n in range(12))
    files = {"a.csv": "system,query_id,latency_ms,ECE\n" + rows}
    _, _, contrasts = run(spark, tmp_path, files, lower_is_better=["latency_ms"])
    assert {row["metric"]: (row["delta"], row["wins"], row["verdict"]) for row in contrasts} == {
        "latency_ms": (-1.0, 12, "improved"),
        "ECE": (-1.0, 12, "improved"),  # a metric that is known has its own direction
    }
    _, _, contrasts = run(spark, tmp_path, files, metrics=["latency_ms"])
    assert (contrasts[0]["wins"], contrasts[0]["verdict"]) == (0, "regressed")
    with pytest.raises(UsageError, match=r'unknown metric "latency"\. Did you mean "latency_ms"'):
        run(spark, tmp_path, files, lower_is_better=["latency"])


def test_a_ratio_is_the_sum_over_the_sum(spark, tmp_path):
    log = "arm,session,clicks,impressions\nA,s1,1,4\nA,s2,0,6\nB,s1,3,5\nB,s2,,7\nB,s3,2,10\nA,s3,1,5\n"
    ratios = {"CTR": ["clicks", "impressions"]}
    files = {"log.csv": log}
    _, estimates, contrasts = run(spark, tmp_path, files, columns={"query_id": "session"}, ratios=ratios)
    # of B, s2 says nothing of clicks and is left out; of A it is left out of the contrast
    assert means(estimates) == {("A", "CTR"): (2 / 15, 3), ("B", "CTR"): (5 / 15, 2)}
    assert (contrasts[0]["statistic"], contrasts[0]["delta"]) == ("ratio", pytest.approx(5 / 15 - 2 / 9, abs=1e-15))
    _, estimates, _ = run(
        spark, tmp_path, files, columns={"query_id": "session"}, ratios=ratios, metrics=["CTR", "impressions"]
    )
    assert {row["metric"] for row in estimates} == {"CTR", "impressions"}


def test_values_of_any_size_are_summed_exactly(spark, tmp_path):
    rng = np.random.default_rng(0)
    values = np.round(rng.lognormal(12, 3, size=(2, 40)), 3)
    rows = [
        f"{system},q{n},{value!r}"
        for system, each in zip("AB", values.tolist(), strict=True)
        for n, value in enumerate(each)
    ]
    _, estimates, _ = run(spark, tmp_path, {"a.csv": "\n".join(["system,query_id,revenue", *rows]) + "\n"})
    for row, each in zip(estimates, values.tolist(), strict=True):
        assert row["estimate"] == pytest.approx(float(sum(map(Fraction, each)) / 40), rel=1e-15)


def test_a_missing_value_is_undefined_and_not_0(spark, tmp_path):
    rows = WIDE.replace("B,q1,u1,0.75,100\n", "").replace("A,q2,u1,0.25,80.5", "A,q2,u1,,80.5")
    described, estimates, contrasts = run(spark, tmp_path, {"a.csv": rows})
    assert means(estimates) == {
        ("A", "nDCG@10"): (0.75, 2), ("B", "nDCG@10"): (0.375, 2),
        ("A", "latency_ms"): (500.5 / 3, 3), ("B", "latency_ms"): (170.0, 2),
    }  # fmt: skip
    assert {row["metric"]: (row["delta"], row["n_queries"]) for row in contrasts} == {
        "nDCG@10": (-0.5, 1),
        "latency_ms": (170.0 - 190.25, 2),
    }
    assert "1 of 6 answers are not there; a contrast is over the queries that both systems have." in described["notes"]


def test_two_arms_without_a_common_query_are_two_samples(spark, tmp_path):
    from scipy import stats

    rng = np.random.default_rng(4)
    arms = {"control": rng.normal(1.0, 0.5, 30), "treated": rng.normal(1.3, 0.8, 24)}
    rows = [f"{arm},{arm}{n},{value!r}" for arm, each in arms.items() for n, value in enumerate(each.tolist())]
    described, _, contrasts = run(spark, tmp_path, {"ab.csv": "\n".join(["arm,query,spend", *rows]) + "\n"})
    row, expected = contrasts[0], stats.ttest_ind(arms["treated"], arms["control"], equal_var=False)
    assert (row["candidate"], row["baseline"]) == ("treated", "control")
    assert row["delta"] == pytest.approx(arms["treated"].mean() - arms["control"].mean(), abs=1e-14)
    assert row["p_value"] == pytest.approx(expected.pvalue, rel=1e-6)
    assert row["degrees_of_freedom"] == pytest.approx(expected.df, rel=1e-6)
    assert "No query is of two systems: contrasts are of two samples, and not paired." in described["notes"]
    sums = pq.read_table(tmp_path / "out" / "unit_sums").to_pylist()
    assert {(row["stratum"], row["system"]) for row in sums} == {(arm, arm) for arm in arms}


def test_users_who_saw_both_arms_are_no_strata(spark, tmp_path):
    rows = [
        f"{arm},{arm}{n},u{(n + shift) % 15},{n % 4}" for shift, arm in enumerate(("old", "new")) for n in range(15)
    ]
    _, _, contrasts = run(spark, tmp_path, {"ab.csv": "\n".join(["arm,query,user,spend", *rows]) + "\n"}, unit="user")
    assert (contrasts[0]["delta"], contrasts[0]["n_units"]) == (0.0, 15)
    assert set(pq.read_table(tmp_path / "out" / "unit_sums")["stratum"].to_pylist()) == {None}


def test_weights_segments_and_strata_come_from_the_table(spark, tmp_path):
    table = "system,query_id,n,lang,nDCG@10\n" + "".join(
        f"{system},q{query},{1 + query % 3},{'de' if query < 12 else 'fr'},{(query * step) % 7 / 7}\n"
        for system, step in (("A", 1), ("B", 2))
        for query in range(24)
    )
    _, estimates, _ = run(
        spark,
        tmp_path,
        {"a.csv": table},
        columns={"weight": "n"},
        segments=["lang"],
        strata="lang",
        mean="weighted",
    )
    weights = [1 + query % 3 for query in range(24)]
    values = [query % 7 / 7 for query in range(24)]
    expected = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    assert estimates[0]["estimate"] == pytest.approx(expected, abs=1e-15)
    segments = pq.read_table(tmp_path / "out" / "segment_estimates").to_pylist()
    assert {row["segment"] for row in segments} == {"lang=de", "lang=fr"}


def test_a_metric_in_percent_is_noticed(spark, tmp_path):
    rows = "".join(f"A,q{n},{10 * n}\n" for n in range(3))
    described, *_ = run(spark, tmp_path, {"a.csv": "system,query_id,nDCG@10\n" + rows})
    assert described["notes"][1:] == [
        "nDCG@10 goes from 0 to 20, and by definition from 0 to 1: is it in percent, or another metric?"
    ]


def test_fewer_than_two_units_are_flagged(spark, tmp_path):
    _, estimates, contrasts = run(spark, tmp_path, {"a.csv": WIDE.replace("u2", "u1")}, unit="user")
    for row in (*estimates, *contrasts):
        assert "one_unit" in row["flags"]
        assert row["low"] is None
        assert row["high"] is None
    assert {row["verdict"] for row in contrasts} == {"inconclusive"}


def test_the_command_shows_estimates_and_how_it_read_the_table(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    (file,) = write(tmp_path, {"a.csv": WIDE})
    arguments = ["aggregate", "--scores", file, "--unit", "user", "--baseline", "A", "--metrics", "latency_ms,nDCG@10"]
    assert cli.main([*arguments, "--output", str(tmp_path / "out"), "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "Contrasts, candidate - A, 95 % auto intervals, unit user (2)" in shown
    assert f"note: {file}: read as one row for each system and query." in shown
    assert not list((tmp_path / "out").glob(".*"))


# real data


@needs_data
def test_all_pairs_of_real_systems_have_the_p_values_of_a_paired_t_test(spark, tmp_path):
    from scipy import stats

    file = DATA / "score_matrices" / "web2012_ndcg20.csv"
    flags = {**QUICK, "inputs.scores": [str(file)], "aggregate.metrics": ["nDCG@20"], "aggregate.unit": "query_id"}
    flags |= {"aggregate.output": str(tmp_path / "out"), "aggregate.movers": 0}
    _, _, contrasts = pipeline.aggregate(spark, [], load(None, flags=flags), QUIET)
    values = {name: column.to_numpy() for name, column in zip(*columns_of(file), strict=True)}
    rows = contrasts.to_pylist()
    assert len(rows) == 48 * 47 / 2
    for row in rows:
        one, other = values[row["candidate"]], values[row["baseline"]]
        assert row["delta"] == pytest.approx((one - other).mean(), abs=1e-15)
        if (one != other).any():
            assert row["p_value"] == pytest.approx(stats.ttest_rel(one, other).pvalue, rel=1e-6)


def columns_of(file: Path) -> tuple[list[str], list[pa.ChunkedArray]]:
    table = pyarrow.csv.read_csv(file)
    return table.column_names, table.columns


@needs_data
def test_estimates_of_trec_eval_output_are_its_own_means(spark, tmp_path):
    source = DATA / "expected" / "cli" / "robust03.InexpC2.trec_eval-v10.0.q.txt.gz"
    content = source.read_bytes()
    described, estimates, _ = run(spark, tmp_path, {"InexpC2.txt.gz": content})
    own = [line.split() for line in gzip.decompress(content).decode().splitlines() if line.split()[1] == "all"]
    printed = {metric: float(value) for metric, _, value in own}
    names = {"map": "AP", "recip_rank": "RR", "P_10": "P@10", "ndcg_cut_20": "nDCG@20", "num_rel_ret": "NumRelRet"}
    found = means(estimates)
    for metric, name in names.items():
        assert found["InexpC2", name] == (pytest.approx(printed[metric], abs=1e-4), 100)
    assert '1 row of a query "all" left out: they are of means.' in described["notes"]
