"""The commands of docs/eval.md run on files like those they name, and the README's transcript is what is printed."""

from __future__ import annotations

import gzip
import random
import re
import shlex
from pathlib import Path

import pytest

from jobs import cli

ROOT = Path(__file__).parents[2]
PAGE, README = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/eval.md", "README.md"))


def commands(text: str) -> list[list[str]]:
    """The words of every `evaljob eval`, after evaljob."""
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("evaljob eval")]


@pytest.fixture
def files(tmp_path, monkeypatch) -> None:
    """Judgments of 50 queries, and two runs of which dense knows more of what is relevant."""
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    rng = random.Random(1)
    documents = [f"d{number:03}" for number in range(200)]
    grades = {
        query: {each: rng.choice([0, 0, 0, 0, 0, 0, 1, 2]) for each in rng.sample(documents, 40)} for query in range(50)
    }
    judged = [f"{query} 0 {each} {grade}\n" for query, its in grades.items() for each, grade in its.items()]
    for name in ("qrels.txt", "web-qrels.txt"):
        Path(name).write_text("".join(judged))
    for system, knowledge in (("bm25", 0.15), ("dense", 0.25)):
        lines = []
        for query, its in grades.items():
            scores = {each: rng.random() + knowledge * its.get(each, 0) for each in rng.sample(documents, 100)}
            best = sorted(scores, key=scores.__getitem__, reverse=True)
            lines += [f"{query} Q0 {each} {rank} {scores[each]:.4f} {system}\n" for rank, each in enumerate(best, 1)]
        for name in (f"{system}.run", f"web-{system}.run"):
            Path(name).write_text("".join(lines))
        Path(f"runs/{system}.gz").write_bytes(gzip.compress("".join(lines).encode()))


@pytest.mark.parametrize("words", commands(PAGE), ids=" ".join)
def test_every_command_of_the_page_runs(files, capsys, words):
    assert cli.main(words) == 0
    assert len(capsys.readouterr().out.splitlines()) > 5


def test_the_transcript_of_the_readme_is_what_is_printed(files, capsys):
    (words,) = commands(README)
    assert cli.main(words) == 0
    shown = README.split("<!-- eval -->\n")[1].split("<!-- end of eval -->")[0]
    assert shown == f"```text\n{capsys.readouterr().out}```\n"


def test_the_command_in_the_text_of_the_readme_runs(files, capsys):
    (text,) = re.findall(r"`evaljob (eval -q[^`]*)`", README)
    assert cli.main(shlex.split(text)) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("ndcg_cut_10           \tall\t0.")
