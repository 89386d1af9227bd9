"""`evaljob eval` with trec_eval's flags prints what trec_eval prints, line for line."""

from __future__ import annotations

import gzip
import json

import pytest

from jobs import cli
from tests.support.data import DATA, needs_data

pytestmark = needs_data
FOLDER = DATA / "trec_eval"
RUN = ("qrels.test", "results.test")
TRUNCATED = ("qrels.test", "results.trunc")
PARAMETERS = (
    *("-m", "iprec_at_recall..10,.20,.25,.75,.50", "-m", "P.5,7,3", "-m", "recall.20,2000"),
    *("-m", "Rprec_mult.5.0,0.2,0.35", "-m", "utility.2,-1,0,0", "-m", "11pt_avg..25,.5,.75"),
    *("-m", "ndcg.1=3,2=9,4=4.5", "-m", "ndcg_cut.10,20,23", "-m", "success.2,5,20"),
)
NEW = ("rbp", "rbp_resid", "unj", "dcg", "ideal_dcg", "yaap", "ndcg_p", "relstring")
"""Measures of version 10 alone, and the one that is no number."""


def printed(capsys, *words: str) -> list[str]:
    assert cli.main(["eval", *words]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("file", "files", "flags"),
    [
        ("out.test", RUN, ["-m", "official"]),
        ("out.test.a", RUN, ["-m", "all_trec"]),
        ("out.test.aq", RUN, ["-q", "-m", "all_trec"]),
        ("out.test.aqc", TRUNCATED, ["-qc", "-m", "all_trec"]),
        ("out.test.aqcM", TRUNCATED, ["-q", "-c", "-M", "100", "-m", "all_trec"]),
        ("out.test.aql", ("qrels.rel_level", "results.test"), ["-q", "-l2", "-m", "all_trec"]),
        ("out.test.meas_params", RUN, ["-q", *PARAMETERS]),
    ],
)
def test_its_own_tests_have_these_lines(capsys, file, files, flags):
    wanted = (FOLDER / "v9.0.8_expected" / file).read_text().splitlines()
    found = printed(capsys, *flags, *(str(FOLDER / each) for each in files))
    assert found == [line for line in wanted if not line.startswith("relstring")]


@pytest.mark.parametrize(("file", "files"), [("out.test.aq", RUN), ("out.test.aqc", TRUNCATED)])
def test_version_10_tells_of_queries_without_an_answer(capsys, file, files):
    wanted = (FOLDER / file).read_text().splitlines()
    flags = ["-q", "-c", "-m", "all_trec", "--preset", "trec_eval10"]
    found = printed(capsys, *flags, *(str(FOLDER / each) for each in files))
    assert found == [line for line in wanted if not line.startswith(NEW)]


@pytest.mark.parametrize("run", ["InexpC2", "rutcor03100"])
@pytest.mark.parametrize(("version", "preset"), [("9.0.8", "trec_eval"), ("10.0", "trec_eval10")])
def test_a_run_of_100_queries_has_the_lines_of_both_versions(capsys, run, version, preset):
    path = DATA / "expected" / "cli" / f"robust03.{run}.trec_eval-v{version}.q.txt.gz"
    wanted = gzip.decompress(path.read_bytes()).decode().splitlines()
    measures = [line.split()[0] for line in wanted if line.split()[1] == "all"]
    named = [word for measure in measures for word in ("-m", measure)]
    folder = DATA / "robust03"
    found = printed(
        capsys, "-q", "--preset", preset, *named, str(folder / "qrels.robust03.txt"), str(folder / f"input.{run}.gz")
    )
    assert found == wanted


def test_n_leaves_the_lines_of_all_queries_out(capsys):
    found = printed(capsys, "-q", "-n", "-m", "map", *(str(FOLDER / each) for each in RUN))
    assert [line.split()[:2] for line in found] == [["map", "301"], ["map", "302"], ["map", "303"]]


def test_judged_documents_alone_have_the_values_of_its_library(capsys):
    wanted = json.loads((DATA / "expected" / "trec_eval.judged_only_J.agg.json").read_text())
    lines = printed(capsys, "-J", "-m", "all_trec", *(str(FOLDER / each) for each in RUN))
    found = {name: float(value) for name, _, value in map(str.split, lines) if name != "runid"}
    values = {name: value for name, value in wanted["aggregated_intersection"].items() if name in found}
    assert len(values) >= 60
    assert {name: found[name] for name in values} == pytest.approx(values, abs=5.1e-5)
