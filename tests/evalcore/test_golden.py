"""Each row of tests/golden is one query whose value is worked out by hand.

metric, retrieved, judged, expected arithmetic, why. "-" is an empty list, "." an unjudged document.
"""

import ast
import math
import operator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalcore.metrics import METRICS, parse
from evalcore.rankings import JudgedRankings
from tests.support import reference

GOLDEN = Path(__file__).parents[1] / "golden"

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
FUNCTIONS = {"log": math.log, "log2": math.log2}


def arithmetic(text: str) -> float:
    """The number that this arithmetic gives; nothing but arithmetic is evaluated."""

    def number(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float()):
                return node.value
            case ast.Name(id="nan"):
                return math.nan
            case ast.UnaryOp():
                return OPERATORS[type(node.op)](number(node.operand))
            case ast.BinOp():
                return OPERATORS[type(node.op)](number(node.left), number(node.right))
            case ast.Call(func=ast.Name(), args=[argument], keywords=[]):
                return FUNCTIONS[node.func.id](number(argument))
        raise ValueError(f"not arithmetic: {ast.unparse(node)}")

    return number(ast.parse(text, mode="eval").body)


@dataclass(frozen=True)
class Row:
    metric: str
    retrieved: list[float | None]
    judged: list[float]
    expected: float
    label: str


def takes_grades_alone(metric) -> bool:
    """Metrics of more than grades, and those whose value is a vector, have hand-worked cases in tests of their own."""
    return not metric.FACTS.needs and not hasattr(metric, "elements")


def grades(text: str) -> list[float | None]:
    return [] if text == "-" else [None if part == "." else float(part) for part in text.split()]


def rows() -> list[Row]:
    found = []
    for path in sorted(GOLDEN.glob("*.tsv")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if not line.startswith("#"):
                metric, retrieved, judged, expected, why = line.split("\t")
                label = f"{path.stem}:{number} {metric} {why}"
                found.append(Row(metric, grades(retrieved), grades(judged), arithmetic(expected), label))
    return found


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_the_value_is_the_one_worked_out_by_hand(row):
    rankings = JudgedRankings.from_lists(retrieved=[row.retrieved], judged=[row.judged])
    assert parse(row.metric).per_query(rankings) == pytest.approx([row.expected], abs=1e-12, rel=0, nan_ok=True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_the_twin_agrees_with_the_value_worked_out_by_hand(row):
    value = reference.value(parse(row.metric), row.retrieved, row.judged)
    assert value == pytest.approx(row.expected, abs=1e-12, rel=0, nan_ok=True)


@pytest.mark.parametrize("stem", sorted({row.label.partition(":")[0] for row in ROWS}))
def test_all_rows_of_a_metric_in_one_batch_have_the_values_they_have_alone(stem):
    for metric in {row.metric for row in ROWS}:
        rows = [row for row in ROWS if row.label.startswith(f"{stem}:") and row.metric == metric]
        retrieved, judged = [row.retrieved for row in rows], [row.judged for row in rows]
        values = parse(metric).per_query(JudgedRankings.from_lists(retrieved=retrieved, judged=judged))
        assert values == pytest.approx([row.expected for row in rows], abs=1e-12, rel=0, nan_ok=True)


@pytest.mark.parametrize("family", [family for family, metric in METRICS.items() if takes_grades_alone(metric)])
def test_every_metric_has_rows_for_an_empty_ranking_an_unjudged_document_and_nothing_relevant(family):
    of_family = [row for row in ROWS if type(parse(row.metric)) is METRICS[family]]
    assert any(not row.retrieved for row in of_family)
    assert any(None in row.retrieved for row in of_family)
    assert any(not any(grade >= 1 for grade in row.judged) for row in of_family)


@pytest.mark.parametrize("text", ["__import__('os')", "open('x')", "1 if 1 else 2", "'a'", "log(1, 2)", "x", "1 // 2"])
def test_the_expected_column_holds_nothing_but_arithmetic(text):
    with pytest.raises((ValueError, KeyError)):
        arithmetic(text)
