"""The pages of docs/ tell the truth: the catalogue is current, code gives what is shown, names can be written."""

from __future__ import annotations

import dataclasses
import doctest
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalcore import METRICS, PRESETS, Conventions, JudgedRankings, name, parse, parse_list
from evalcore.inference import INTERVALS, TESTS
from evalcore.scoring import SIDES
from jobs import catalogue, cli, pages
from jobs.cli import commands
from jobs.config_file import load
from jobs.console.aggregates import FLAGS
from tests.support.evaluations import aggregate, score, write_trec

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
CHOOSING, OWN = PAGES["choosing-a-metric.md"], PAGES["own-metrics.md"]
OF_CODE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def blocks(page: str, kind: str) -> list[str]:
    return [block for of_kind, block in OF_CODE.findall(page) if of_kind == kind]


def run_examples(page: str, **names: object) -> None:
    """Every example gives what is shown below it; names go on from block to block."""
    for number, block in enumerate(blocks(page, "python")):
        if not block.startswith(">>>"):
            continue
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        assert runner.run(test, clear_globs=False).failed == 0
        assert test.examples
        names = test.globs


@pytest.fixture
def my_package(tmp_path, monkeypatch) -> Iterator[Path]:
    """The package of own-metrics.md, where Python finds it; its metric is unknown again afterwards."""
    folder = tmp_path / "my_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "metrics.py").write_text(next(block for block in blocks(OWN, "python") if "class Hub" in block))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield tmp_path
    METRICS.pop("Hub", None)
    for module in ("my_package.metrics", "my_package"):
        sys.modules.pop(module, None)


# statistics.md


def test_the_examples_of_statistics_give_what_is_shown():
    run_examples(PAGES["statistics.md"])


def test_the_page_of_statistics_tells_every_interval_test_and_flag():
    page = PAGES["statistics.md"]
    assert [name for name in (*INTERVALS, *FLAGS) if f"`{name}`" not in page] == []
    assert [test for test in TESTS if f"`p_{test}`" not in page] == []


# metrics.md


def test_the_page_of_metrics_is_what_the_catalogue_writes():
    assert PAGES["metrics.md"] == pages.markdown(), "write it anew: make docs"


def test_every_metric_and_preset_is_listed_once_on_a_line_of_its_own():
    families = [family for of_module in catalogue.by_family().values() for family in of_module]
    rows = [line.split()[0] for line in pages.listing(None) if line.startswith("  ")]
    assert rows == [*map(catalogue.signature, families), *PRESETS]
    assert sorted(families) == sorted(METRICS)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_list_fits_the_terminal_unless_a_name_does_not(width):
    longest = max(len(catalogue.signature(family)) for family in METRICS) + 2
    assert max(map(len, pages.listing(width))) <= max(width, 2 * pages.COLUMN, longest)


@pytest.mark.parametrize("family", METRICS)
def test_all_of_a_metric_is_explained(family):
    told = "\n".join(pages.explained(family, 80))
    assert told.startswith(catalogue.signature(family) + "\n")
    assert {"range", "direction", "reads", "ties", "undefined", "parameters"} <= catalogue.facts(family).keys()
    assert ">>>" not in told
    assert "`" not in told
    of_code = [each for each in re.findall(r"\b[A-Z]+_[A-Z]+\b", told) if not each.endswith(("_IA", "_EXT", "_MIN"))]
    assert not of_code, "constants of the code say nothing to a reader"


def test_facts_are_told_in_words():
    told = catalogue.facts("SNIPS")
    assert told["reads"] == (
        "judgments, as relevant or not; propensities: the column `propensity` of Parquet judgments"
    )
    assert told["over queries"] == "the ratio of two sums"
    assert catalogue.facts("RBO")["reads"].startswith("no judgments; ")
    assert catalogue.facts("RR")["range"] == "0 to 1"
    assert catalogue.facts("NumRet")["range"] == "from 0"
    assert catalogue.facts("CG")["range"] == "any number"
    assert catalogue.facts("alpha_nDCG")["range"] == "0 to 1.582"
    assert catalogue.facts("GMBpref")["range"] == "0.00001 to 1"
    assert catalogue.facts("Judged")["empty ranking"] == "undefined"
    assert catalogue.facts("ZeroResult")["direction"] == "lower is better"
    assert catalogue.facts("ClickWeights")["value"] == "a vector: weights, squares, clicks, clipped"


def test_other_spellings_are_read_as_is_told():
    told = {theirs: ours for family in METRICS for theirs, ours in catalogue.other_spellings(family).items()}
    assert told.keys() >= {"ndcg_cut_10", "MRR", "iprec_at_recall"}
    assert [theirs for theirs, ours in told.items() if parse(theirs) != parse(ours)] == []
    assert catalogue.facts("AP")["also read"] == "MAP, map, map_cut_10"


def test_a_metric_is_explained_by_any_of_its_names(capsys):
    shown = []
    for wanted in ("nDCG", "NDCG", "ndcg_cut_10", "nDCG(gain=exp2)@5"):
        assert cli.main(["metrics", wanted]) == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1


def test_a_preset_is_explained_with_its_limits(capsys):
    assert cli.main(["metrics", "lightgbm"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith("lightgbm Sets ties=input_order, no_relevant=one; AP@k is AP(denominator=min(R,k,n))@k")
    assert " ".join(PRESETS["lightgbm"].limits.split()) in told


def test_every_value_of_every_convention_is_told_the_default_first():
    told = {name: (values, meaning) for name, values, meaning in catalogue.conventions()}
    assert list(told) == [field.name for field in dataclasses.fields(Conventions)]
    for convention, (values, meaning) in told.items():
        assert values[0] == getattr(Conventions(), convention)
        for value in values:
            Conventions(**{convention: 5 if value == "a whole number" else value})
        assert meaning


def test_conventions_and_diagnostics_are_explained(capsys):
    assert cli.main(["metrics", "conventions"]) == 0
    told = capsys.readouterr().out
    assert "`" not in told
    assert "ties: average is refused with GMAP, " in " ".join(told.split())
    for each in (*(field.name for field in dataclasses.fields(Conventions)), *SIDES):
        assert f"\n{each}: " in told
        assert f"\n| `{each}` | " in PAGES["metrics.md"]


def test_the_list_ends_with_how_to_write_a_name(capsys):
    assert cli.main(["metrics"]) == 0
    assert "evaljob metrics nDCG" in capsys.readouterr().out.splitlines()[-1]


# choosing-a-metric.md


def test_every_example_of_choosing_gives_what_is_shown():
    run_examples(CHOOSING)


def test_every_metric_of_the_table_of_choosing_exists():
    rows = [line for line in CHOOSING.splitlines() if line.startswith("| ") and "`" in line]
    named = [each for row in rows for cell in row.split("|")[2:] for each in re.findall(r"`([^`]+)`", cell)]
    assert len(named) > len(rows)
    assert len(parse_list(sorted(set(named)))) == len(set(named))


def test_what_the_text_of_choosing_says_of_its_numbers_is_so():
    metrics = parse_list("P@10,R(cap=k)@10,Rprec,nDCG@10")
    for n_relevant in (3, 30):
        best = JudgedRankings.from_lists(retrieved=[n_relevant * [1]], judged=[n_relevant * [1]])
        values = {name(metric): metric.per_query(best)[0] for metric in metrics}
        assert values.pop("P@10") == min(1, n_relevant / 10)
        assert set(values.values()) == {1.0}


def test_the_presets_that_leave_queries_out_are_those_of_the_text_of_choosing():
    (told,) = re.findall(r"`unanswered: skip` leaves it out, as the\s+presets (.*?) do\.", CHOOSING, flags=re.DOTALL)
    skipping = {preset for preset in PRESETS if PRESETS[preset].conventions.unanswered == "skip"}
    assert set(re.findall(r"`(\w+)`", told)) == skipping


# own-metrics.md


def test_the_command_that_explains_does_not_know_an_own_metric(capsys):
    assert "`evaljob metrics Hub` does not know it" in OWN
    assert cli.main(["metrics", "Hub"]) == 2


def test_every_example_of_own_metrics_gives_what_is_shown(my_package):
    run_examples(OWN)


def test_an_own_metric_is_scored_and_aggregated(spark, my_package, monkeypatch):
    workers = spark.sparkContext.environment
    monkeypatch.setitem(workers, "PYTHONPATH", str(my_package))
    settings = write_trec(
        my_package / "in",
        runs={"A": ["q1 d1 3", "q1 d2 2", "q2 d9 1"], "B": ["q1 d2 2", "q2 d1 1"]},
        qrels=["q1 d1 1", "q2 d1 2"],
    )
    file = my_package / "hub.yaml"
    file.write_text(blocks(OWN, "yaml")[0])
    chosen = load(str(file)).score
    column = "hub_weight_2_at_10"
    assert f"`{column}`" in OWN
    output = my_package / "out"
    rows = score(spark, output, ",".join(chosen.metrics), {**settings, "score.custom": chosen.custom})
    assert [row[column] for row in rows] == [2 / 11, 0, 0, 2 / 11]
    METRICS.pop("Hub")
    estimates, contrasts = aggregate(spark, output, unit="query_id", methods=["t"])
    assert [row["estimate"] for row in estimates.to_pylist() if row["metric"] == "Hub(weight=2)@10"] == [1 / 11, 1 / 11]
    assert "Hub(weight=2)@10" in contrasts["metric"].to_pylist()


def test_the_commands_of_own_metrics_have_options_that_exist():
    lines = [shlex.split(line) for line in "".join(blocks(OWN, "sh")).splitlines() if line.startswith("evaljob")]
    assert [line[1] for line in lines] == ["score", "aggregate"]
    for line in lines:
        command, bound, *_ = commands.app.parse_args(line[1:], exit_on_error=False, print_error=False)
        assert command is commands.app[line[1]].default_command
        assert bound.arguments


# all pages


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_or_a_heading(page):
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        file, _, heading = target.partition("#")
        assert (DOCS / file).exists(), target
        assert not heading or heading in anchors_of(PAGES[file or page]), target


def anchors_of(page: str) -> set[str]:
    headings = [line.lstrip("#") for line in OF_CODE.sub("", page).splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


# python.md


ON_SPARK = "## On Spark DataFrames"


def test_the_examples_of_python_give_what_is_shown():
    run_examples(PAGES["python.md"].partition(ON_SPARK)[0])


def test_the_examples_of_python_on_spark_give_what_is_shown(spark):
    run_examples(PAGES["python.md"].partition(ON_SPARK)[2], spark=spark)
