"""How often a gate is right, in simulated nights whose truth is known.

    python -m benchmarks.gate             3,000 nights where false alarms are counted, 500 in other settings; prints a
                                          table and puts it into docs/gate.md; half an hour on one core
    python -m benchmarks.gate --quick     a twentieth of the nights; prints the table alone

A night is two systems that order ten documents for each of its queries, scored with five metrics by evalcore. The exit
status is 1 if a share is worse than it should be by more than two Monte-Carlo errors.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from evalcore import JudgedRankings, parse_list
from evalcore.arrays import FloatArray
from evalcore.gate import LEVEL, Guardrail, judge
from evalcore.inference import Measure, UnitSums
from evalcore.rankings import Grades
from evalcore.verdict import Answer, answer_of_gate

PAGE = Path(__file__).parents[1] / "docs" / "gate.md"
METRICS = ("nDCG@10", "AP", "RR@10", "P@5", "Success@1")
DEPTH = 10
NIGHTS = 500
REPLICATES = 999
"""Fewer than a gate draws, so that its bounds are noisier here."""
MOST_FALSE, LEAST_FOUND = LEVEL, 0.9
"""Shares of nights: called regressed without a change, and called regressed after a drop."""
FEWEST_USERS = 300
"""With fewer a standard error is too uncertain to show a drop of 4.5 of it so often; false alarms stay as rare."""


@dataclass(frozen=True)
class Setting:
    """A kind of night.

    users      who ask the queries; None = each query is a unit of its own. The first ask most
    changed    share of queries that the two systems order by different signals; the others are the same
    drop       the metric that falls by 1.5 margins, if any: on some queries the candidate's value is 0
    ratio      margin / standard error of the delta
    pilot      nights before the first, from which standard errors are known
    """

    queries: int
    ratio: float
    users: int | None = None
    changed: float = 0.3
    drop: str | None = None
    pilot: int = 400

    @property
    def name(self) -> str:
        """In words."""
        unit = f"{self.users:,} users of {self.queries:,} queries" if self.users else f"{self.queries:,} queries"
        return f"{unit}, {self.changed:.0%} of them ordered anew"

    @property
    def what(self) -> str:
        """What happens, in words."""
        return f"{self.drop} falls by 1.5 margins" if self.drop else "no change"

    @property
    def held(self) -> bool:
        """Whether a drop must be found so often."""
        return self.users is None or self.users >= FEWEST_USERS

    @property
    def nights(self) -> int:
        """How many are simulated: more where what is counted is rare."""
        return 6 * NIGHTS if self.ratio == 1 else NIGHTS

    @cached_property
    def units(self) -> list[str]:
        """The unit of each query."""
        if self.users is None:
            return [f"q{query:05d}" for query in range(self.queries)]
        sizes = 1 / np.arange(1, self.users + 1) ** 0.5
        per_user = 1 + np.floor((self.queries - self.users) * sizes / sizes.sum()).astype(int)
        per_user[: self.queries - per_user.sum()] += 1
        return [f"u{user:05d}" for user in np.repeat(np.arange(self.users), per_user)]

    def values(self, night: int, *, lost: float = 0.0) -> FloatArray:
        """(n_queries, 2 x 5) the baseline's metrics, then the candidate's, whose `drop` is 0 on a share `lost`."""
        generator = np.random.Generator(np.random.Philox(key=np.array([self.queries, night], dtype=np.uint64)))
        of_user = np.unique(self.units, return_inverse=True)[1]
        hard = generator.normal(0, 0.6, of_user[-1] + 1)[of_user]
        grades = (generator.random((self.queries, DEPTH)) < 0.2) * generator.integers(1, 4, (self.queries, DEPTH))
        anew = generator.random(self.queries) < self.changed
        signals = generator.normal(0, 1, (2, self.queries, DEPTH))
        tastes = generator.normal(0.7, 0.3, (2, of_user[-1] + 1))[:, of_user]  # a system suits a user more or less
        signals[1], tastes[1] = np.where(anew[:, None], signals[1], signals[0]), np.where(anew, tastes[1], tastes[0])
        scores = (tastes - hard)[:, :, None] * grades + signals
        found = np.column_stack([_metrics(grades, each) for each in scores])
        if self.drop is not None:
            column = len(METRICS) + METRICS.index(self.drop)
            found[generator.random(self.queries) < lost, column] = 0.0
        return found

    @cached_property
    def truth(self) -> tuple[FloatArray, float]:
        """The margins of the metrics, and the share of queries on which `drop` must be 0 to fall by 1.5 of its own."""
        lost = 0.0
        for _ in range(4 if self.drop else 1):  # what is lost adds to the standard error, and so to the margin
            nights = np.array([self.values(night, lost=lost).mean(axis=0) for night in range(self.pilot)])
            baseline, candidate = nights[:, : len(METRICS)], nights[:, len(METRICS) :]
            margins = self.ratio * (candidate - baseline).std(axis=0, ddof=1)
            if self.drop:
                place = METRICS.index(self.drop)
                lost = float(1.5 * margins[place] / baseline[:, place].mean())
        return margins, lost

    def answer(self, night: int, *, replicates: int) -> Answer:
        """What the gate makes of a night. Its seed is the night's, so that no luck of one seed is in all nights."""
        margins, lost = self.truth
        columns = range(len(METRICS))
        sums = UnitSums.from_values(
            self.units,
            self.values(self.pilot + night, lost=lost),
            contrasts=[(each, each + len(METRICS)) for each in columns],
        )
        guardrails = [
            Guardrail(candidate=len(METRICS) + each, baseline=each, margin=float(margins[each])) for each in columns
        ]
        measures = [Measure(column=column) for column in range(2 * len(METRICS))]
        found = judge(sums, measures=measures, guardrails=guardrails, replicates=replicates, seed=night)
        return answer_of_gate([each.answer for each in found])


def _metrics(grades: FloatArray, scores: FloatArray) -> FloatArray:
    """(n_queries, 5)"""
    ordered = np.take_along_axis(grades, np.argsort(-scores, axis=1, kind="stable"), axis=1).astype(np.float64)
    best = -np.sort(-grades, axis=1).astype(np.float64)
    offsets = np.arange(0, grades.size + 1, DEPTH)
    rankings = JudgedRankings(Grades(ordered.ravel(), offsets), Grades(best.ravel(), offsets))
    values = np.column_stack([metric.per_query(rankings) for metric in parse_list(",".join(METRICS))])
    return np.nan_to_num(values)  # a query without a relevant document counts as 0


DESIGNS = (
    {"queries": 400},
    {"queries": 2_000},
    {"queries": 2_000, "changed": 0.05},
    {"queries": 2_000, "users": 500},
    {"queries": 1_500, "users": 150},
)
SETTINGS = [
    Setting(**design, ratio=ratio, drop=drop)  # type: ignore[arg-type]
    for design in DESIGNS
    for ratio, drop in ((1.0, None), (3.0, None), (3.0, "nDCG@10"), (3.0, "Success@1"))
]


@dataclass(frozen=True)
class Result:
    """Shares of nights, by answer."""

    setting: Setting
    nights: int
    shares: dict[Answer, float]

    def error(self, answer: Answer) -> float:
        """The Monte-Carlo error of a share; of one that is 0 that of half a night."""
        share = max(self.shares[answer], 0.5 / self.nights)
        return math.sqrt(share * (1 - share) / self.nights)

    @property
    def missed(self) -> bool:
        """Whether `regressed` is worse than it should be, by more than two errors."""
        share, twice = self.shares["regressed"], 2 * self.error("regressed")
        if self.setting.drop is None:
            return share > MOST_FALSE + twice
        return self.setting.held and share < LEAST_FOUND - twice

    @property
    def row(self) -> str:
        """Of the table."""
        cells = [
            f"{self.shares[each]:.2%} ± {self.error(each):.2%}" for each in ("passed", "regressed", "inconclusive")
        ]
        return f"| {self.setting.name} | {self.setting.what} | {self.setting.ratio:g} | {' | '.join(cells)} |"


def simulate(setting: Setting, *, nights: int, replicates: int) -> Result:
    """The answers of so many nights."""
    answers = [setting.answer(night, replicates=replicates) for night in range(nights)]
    kinds: tuple[Answer, ...] = ("passed", "regressed", "inconclusive", "invalid")
    return Result(setting, nights, {kind: answers.count(kind) / nights for kind in kinds})


HEAD = "| a night | what happens | margin / se | passed | regressed | inconclusive |\n|---|---|---|---|---|---|"


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    results = []
    print(HEAD)
    for setting in SETTINGS:
        nights = setting.nights // 20 if arguments.quick else setting.nights
        results.append(simulate(setting, nights=nights, replicates=REPLICATES))
        print(results[-1].row, flush=True)
    if not arguments.quick:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- simulation -->\n")
        after = rest.partition("<!-- end of simulation -->")[2]
        table = "\n".join([HEAD, *(result.row for result in results)])
        whole = f"{before}<!-- simulation -->\n{table}\n<!-- end of simulation -->{after}"
        PAGE.write_text(whole, encoding="utf-8")
    return int(any(result.missed for result in results))


if __name__ == "__main__":
    sys.exit(main())
