"""Gain functions: what a document of a grade is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.errors import DataError, MetricNameError, unknown
from evalcore.metrics.numbers import number, plain

DEEPEST_EXPONENT = 1_000  # 2**1023 is the largest power that float64 holds, and gains are summed


def _exp2(grades: FloatArray) -> FloatArray:
    if grades.size and grades.max() > DEEPEST_EXPONENT:
        raise DataError(f"gain=exp2 of grade {grades.max():g} is beyond float64; use gain=linear or a table")
    return np.exp2(np.maximum(grades, 0)) - 1


FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda grades: np.maximum(grades, 0),
    "exp2": _exp2,
    "binary": lambda grades: (grades >= 1).astype(np.float64),
    "signed": lambda grades: grades,
}


@dataclass(frozen=True, slots=True)
class Gain:
    """A function of the grade; grades of 0 and less gain nothing, unless a table or ``signed`` says so.

    linear   the grade
    exp2     2**grade - 1
    binary   1 for a grade of at least 1
    signed   the grade, below 0 too: a loss (scikit-learn's dcg_score); no metric that is a share of the best has it
    {1:3.5,2:9}   a table; a grade that it does not list has its linear gain

    >>> Gain.parse("{1:3.5,2:9}")(np.array([0.0, 1.0, 2.0, 3.0]))
    array([0. , 3.5, 9. , 3. ])
    """

    name: str
    table: tuple[tuple[float, float], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Gain:
        """The gain of this name.  Raises MetricNameError."""
        if text in FUNCTIONS:
            return cls(text)
        if not (text.startswith("{") and text.endswith("}")):
            raise MetricNameError(unknown("gain", text, [*FUNCTIONS, "{grade:gain,...}"]))
        pairs = [pair.partition(":") for pair in text[1:-1].split(",")]
        try:
            table = dict(sorted((number(grade), number(gain)) for grade, _, gain in pairs))
        except MetricNameError:
            table = {}
        if not table or len(table) != len(pairs) or min(table.values()) < 0:
            raise MetricNameError(
                f'gain table "{text}" is not {{grade:gain,...}} with each grade once and no negative gain'
            )
        spelled = ",".join(f"{plain(grade)}:{plain(gain)}" for grade, gain in table.items())
        return cls(f"{{{spelled}}}", tuple(table.items()))

    def __post_init__(self) -> None:
        if not self.table and self.name not in FUNCTIONS:
            raise MetricNameError(unknown("gain", self.name, [*FUNCTIONS, "{grade:gain,...}"]))

    def __str__(self) -> str:
        return self.name

    @property
    def of_any_grade(self) -> bool:
        """Whether a grade of 0 or less can count too."""
        return bool(self.table) or self.name == "signed"

    def greatest(self, best_grade: float, min_grade: float | None) -> float:
        """The most that a document of a grade from 0 to the best can gain."""
        grades = np.array([best_grade, *(grade for grade, _ in self.table if 0 <= grade <= best_grade)])
        if min_grade is not None:
            grades = grades[grades >= min_grade]
        found = self(grades).max(initial=0)
        # a table may give the best grade less than its neighbours below have
        return float(max(found, best_grade if self.table and len(grades) else 0))

    def __call__(self, grades: FloatArray) -> FloatArray:
        """(n,) grades, none NaN -> (n,) gains."""
        if not self.table:
            return FUNCTIONS[self.name](grades)
        gains = FUNCTIONS["linear"](grades)
        for grade, gain in self.table:
            gains[grades == grade] = gain
        return gains


LINEAR = Gain("linear")
EXP2 = Gain("exp2")
