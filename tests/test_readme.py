"""The README tells the truth: its table is complete, its code runs, its commands do, its transcript is real."""

from __future__ import annotations

import doctest
import gzip
import re
import shlex
from pathlib import Path

import pytest

from jobs.catalogue import by_family, heading

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKE_TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", README, flags=re.DOTALL)


def between(mark: str) -> str:
    return README.split(f"<!-- {mark} -->\n")[1].split(f"<!-- end of {mark} -->")[0]


def commands(start: str) -> list[list[str]]:
    lines = "".join(blocks("sh")).replace("\\\n", "").splitlines()
    return [shlex.split(line) for line in lines if line.startswith(start)]


def metric_table() -> str:
    families = [(", ".join(f"`{name}`" for name in names), module) for module, names in by_family().items()]
    rows = [f"| {names} | {heading(module)} |" for names, module in families]
    return "\n".join(["| metrics | what they tell |", "|---|---|", *rows]) + "\n"


def test_the_table_of_metrics_is_complete_and_says_what_the_modules_say():
    assert between("metrics") == metric_table()


def test_evalcore_alone_works_as_shown():
    found = [block for block in blocks("python") if ">>>" in block]
    assert len(found) == 2
    for block in found:
        test = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test).failed == 0


def test_every_make_target_that_is_named_exists():
    named = set(re.findall(r"`?make ([a-z]+)`?", README)) - {"sure"}
    assert {"setup", "demo", "test", "lint", "bench"} <= named <= MAKE_TARGETS


def test_every_linked_file_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_notebook_example_runs(spark):
    example = next(block for block in blocks("python") if "metric_udf" in block)
    frame = spark.createDataFrame(
        [("q1", [0.0, 1.0], [1.0, 0.0])], "query_id string, grades array<double>, judged array<double>"
    )
    body, last = example.strip().rsplit("\n", 1)
    names: dict = {"rankings": frame}
    exec(body, names)
    row = eval(last, names).first()
    assert (round(row.ndcg_at_10, 4), row.ap) == (0.6309, 0.5)


def test_the_commands_run_on_files_like_those_they_name(spark, tmp_path, monkeypatch, capsys):
    from jobs.cli import main

    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for system, best in (("bm25", "d1"), ("dense", "d2")):
        lines = [f"{query} Q0 {doc} 1 {1 + (doc == best)} {system}\n" for query in range(20) for doc in ("d1", "d2")]
        Path(f"runs/{system}.gz").write_bytes(gzip.compress("".join(lines).encode()))
    Path("qrels.txt").write_text("".join(f"{query} 0 d{1 + query % 2} 1\n" for query in range(20)))
    given = commands("evaljob")
    assert [command[1] for command in given] == ["eval", "score", "aggregate"]
    for command in given:
        assert main(command[1:]) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert "Contrasts, candidate - bm25" in shown
    for path in (
        "scores",
        "manifest.json",
        "aggregates/query_id/estimates.parquet",
        "aggregates/query_id/contrasts.parquet",
    ):
        assert Path("my-evaluation", path).exists()


def test_the_transcript_is_what_the_demo_prints(spark, tmp_path, monkeypatch, capsys):
    from jobs.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert between("demo") == f"```text\n{printed.strip()}\n```\n"


@pytest.mark.parametrize("name", ["CHANGELOG.md", "deploy/README.md"])
def test_other_documents_name_only_files_that_are_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in links if not ((ROOT / name).parent / link).exists()] == []
