"""What an input seems to be: shown with ids masked, and a configuration that works as it is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs import cli
from jobs.config_file import load
from jobs.inspect import configuration
from tests.support.data import DATA

RECS = "Algorithm,user,rank,item,score\nUU,0971,1,50,6.5\nUU,0971,2,7,6.25\nII,0971,1,7,3\n"
TRUTH = "user,item,rating\n0971,7,5.0\n"
LOG = "\n".join(
    json.dumps({"request_id": f"secret-{n}", "shown": [{"item_id": f"i{k}", "clicked": int(k == n)} for k in range(3)]})
    for n in range(3)
)


@pytest.fixture
def folder(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jobs.session.session", lambda **_: spark)
    (tmp_path / "recs.csv").write_text(RECS)
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "log.jsonl").write_text(LOG)
    return tmp_path


def inspected(capsys, *sources):
    assert cli.main(["inspect", *map(str, sources), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


CLICKS = """variant,search_id,session_id,item_id,position,clicked
A,s1,u1,i1,1,0
A,s1,u1,i2,2,1
B,s1,u1,i1,1,1
B,s1,u1,i2,2,0
A,s2,u1,i1,1,1
B,s2,u1,i1,1,0
"""
NESTED = "\n".join(
    json.dumps(
        {"model": model, "request": {"id": n, "user": "u"}, "hits": [{"doc": "a", "score": 1.0, "label": n % 2}]}
    )
    for n in range(3)
    for model in ("x", "y")
)


def test_what_is_proposed_for_a_log_of_clicks_works_where_systems_were_clicked_differently(folder, capsys):
    (folder / "clicks.csv").write_text(CLICKS)
    found = inspected(capsys, folder / "clicks.csv")
    assert "#   columns: [session_id] # units and segments" in found["configuration"]
    (folder / "my.yaml").write_text(found["configuration"])
    assert cli.main(["score", "--config", "my.yaml", "--quiet"]) == 0
    manifest = json.loads((folder / "my-evaluation" / "manifest.json").read_text())
    assert (manifest["counts"]["n_ok"], manifest["counts"]["n_contradictory"]) == (4, 3)


def test_the_id_of_a_request_is_a_query_rather_than_its_user(folder, capsys):
    (folder / "nested.jsonl").write_text(NESTED)
    assert inspected(capsys, folder / "nested.jsonl")["sources"][0]["mapping"]["query_id"] == "request.id"


@pytest.mark.parametrize("sources", [["recs.csv", "truth.csv"], ["log.jsonl"]])
def test_the_printed_configuration_works_as_it_is(folder, capsys, sources):
    (folder / "my.yaml").write_text(inspected(capsys, *(folder / name for name in sources))["configuration"])
    assert cli.main(["score", "--config", "my.yaml", "--quiet"]) == 0
    manifest = json.loads((folder / "my-evaluation" / "manifest.json").read_text())
    assert manifest["counts"]["n_ok"] == (2 if len(sources) == 2 else 3)


def test_columns_are_recognised_and_ids_are_masked(folder, capsys):
    assert cli.main(["inspect", str(folder / "recs.csv"), str(folder / "log.jsonl"), "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "recs.csv: csv, runs, a row for each document" in shown
    assert "log.jsonl: jsonl, runs, a row for each ranking" in shown
    assert "secret" not in shown
    assert "0971" not in shown
    assert "s…(8)" in shown
    found = inspected(capsys, folder / "recs.csv")["sources"][0]
    assert found["mapping"] == {"system": "Algorithm", "query_id": "user", "doc_id": "item"}


def test_the_command_of_the_page_about_input_works_on_its_example(folder, capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "input.md").read_text()
    (folder / "my-log.jsonl").write_text(page.split("```json\n")[1].split("```")[0])
    command = page.split("```sh\nevaljob ")[1].split("\n")[0]
    assert cli.main([*command.split(), "--quiet"]) == 0
    assert "my-log.jsonl: jsonl, runs, a row for each ranking" in capsys.readouterr().out


@pytest.mark.skipif(not (DATA / "obd").is_dir(), reason="the folder ../shared/data is not there")
def test_a_real_log_of_clicks_is_recognised(folder, capsys):
    found = inspected(capsys, DATA / "obd" / "bts.men.men.csv.gz")["sources"][0]
    assert (found["layout"], found["gaps"], found["by_file"]) == ("log", True, True)
    assert found["mapping"] == {
        "query_id": "_c0",
        "doc_id": "item_id",
        "relevance": "click",
        "propensity": "propensity_score",
        "time": "timestamp",
    }


def test_what_cannot_be_looked_at_is_told(folder, capsys):
    (folder / "rank.txt").write_text("2 1:0.74 6:0.87 8:0.75 9:0.80 11:0.88\n")
    (folder / "empty.csv").write_text("query_id,doc_id\n")
    for words, code, message in [
        ([], 2, "name what to look at: evaljob inspect SOURCE ..."),
        ([str(folder / "no.csv")], 2, f"--runs: no such file or folder: {folder}/no.csv"),
        ([str(folder / "rank.txt")], 2, f"there is no {folder}/rank.txt.query; write the number of lines"),
        ([str(folder / "rank.txt"), "--format", "trec"], 4, "lines of 6 words are no TREC file"),
        ([str(folder / "empty.csv")], 4, "there is no row in"),
    ]:
        assert cli.main(["inspect", *words, "--quiet"]) == code
        assert message in capsys.readouterr().err


def test_names_that_yaml_or_json_would_read_as_something_else_stay_as_they_are(tmp_path):
    names = ["True", "NULL", "off", "no", "1", "", 'say "hello" all', "a: b", "#x", "\\", "é", "x.y"]
    found = {"paths": names, "format": "csv", "layout": "wide", "kind": "runs", "mapping": {"doc_id": "Null"}}
    nothing = dict.fromkeys(("by_file", "by_rank", "gaps", "words", "labelled"), False)
    (tmp_path / "my.yaml").write_text(configuration([{**found, **nothing, "systems": names}]), encoding="utf-8")
    inputs = load(tmp_path / "my.yaml").inputs
    assert (list(inputs.runs), list(inputs.systems), inputs.columns) == (names, names, {"doc_id": "Null"})
