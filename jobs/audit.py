"""What is wrong with the input: counted while the scores are written, refused before they are published.

Counting costs no pass of its own: `Audit` watches three tables of the one plan that scores. When a
count refuses, a second look finds the places and ids for the message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from evalcore import Conventions
from evalcore.statuses import NO_RELEVANT, OK, UNANSWERED, UNJUDGED
from jobs.ids import blank

OF_SYSTEM = "n_rankings_of_"
N_SCORES = "n_scores"
"""Rows of SCORES; counted in the stage that writes them, so that it must equal the rows found there."""


@dataclass(frozen=True, slots=True)
class QrelCounts:
    """What one cheap pass over the judgments tells before anything is scored.

    lowest_gain  the lowest grade above 0, null if there is none
    best_grade   the highest grade
    n_subtopic_names   how many subtopics or groups there are, none being one of several: 0, 1, or 2 for more
    qrels_fingerprint  of all judgments, in any order: equal where they are; empty without any
    """

    n_qrel_rows: int
    n_unusable_qrel_rows: int
    n_negative_grades: int
    n_odd_grades: int
    lowest_gain: float | None
    best_grade: float | None
    n_subtopic_names: int
    qrels_fingerprint: str


def count_qrels(qrels: DataFrame, *, expected: Sequence[float] = ()) -> QrelCounts:
    """Runs one job over QRELS.

    expected   the lowest and the highest grade that there should be; empty for any
    """
    unusable = blank("query_id") | blank("doc_id") | F.col("relevance").isNull() | F.isnan("relevance")
    infinite = F.abs("relevance") == float("inf")
    # parts of 22 bits: their sums know no order, and stay within 64 bits up to 2**41 rows
    hashed = F.xxhash64("query_id", "doc_id", "relevance", "subtopic", "propensity")
    parts = (F.shiftrightunsigned(hashed, shift).bitwiseAND(2**22 - 1) for shift in (0, 22, 44))
    row = qrels.agg(
        F.count("*"),
        F.count_if(unusable | infinite),
        F.count_if(F.col("relevance") < 0),
        F.count_if(~F.col("relevance").between(*expected)) if expected else F.lit(0),
        F.min(F.when(F.col("relevance") > 0, F.col("relevance"))),
        F.max("relevance"),
        F.when((F.min("subtopic") < F.max("subtopic")) | (F.count("subtopic").between(1, F.count("*") - 1)), 2)
        .when(F.count("subtopic") > 0, 1)
        .otherwise(0),
        F.concat_ws("-", *(F.sum(part).cast("string") for part in parts)),
    ).collect()[0]
    return QrelCounts(*row)


@dataclass(frozen=True)
class Audit:
    """Counts of RUNS, of rankings before the universe is applied, and of RANKINGS.

    removes_self   whether documents that are their own query are counted, to be removed
    counts_ties    whether rankings have the number of their tied documents
    """

    conventions: Conventions
    needs: frozenset[str] = frozenset()
    removes_self: bool = False
    counts_ties: bool = False
    _seen: dict[str, Observation] = field(default_factory=dict)

    def _watch(self, name: str, table: DataFrame, counts: Mapping[str, Column]) -> DataFrame:
        self._seen[name] = Observation(name)
        return table.observe(self._seen[name], *(count.cast("long").alias(key) for key, count in counts.items()))

    def runs(self, runs: DataFrame) -> DataFrame:
        """RUNS, watched."""
        order = "rank" if self.conventions.ties == "rank_column" else "score"
        unusable = blank("system") | blank("query_id") | blank("doc_id") | F.col(order).isNull()
        if "scores" in self.needs:
            unusable = unusable | F.col("score").isNull()
        not_finite = (F.isnan("score") | (F.abs("score") == float("inf"))) & F.lit(order == "score")
        flaws = {"n_unusable_run_rows": unusable, "n_non_finite_scores": not_finite & ~unusable}
        if self.removes_self:
            flaws["n_self_retrieved"] = (F.col("doc_id") == F.col("query_id")) & ~unusable & ~not_finite
        # what is observed is interpreted row by row: all it does here is to see whether there is something
        flawed = runs.withColumns({key: F.when(flaw, 1) for key, flaw in flaws.items()})
        watched = self._watch("runs", flawed, {"n_run_rows": F.count("*"), **{key: F.count(key) for key in flaws}})
        return watched.drop(*flaws)

    def ranked(self, ranked: DataFrame, systems: Sequence[str]) -> DataFrame:
        """Rankings of all queries, also of those outside the universe, watched."""
        sums = {key: F.sum(key) for key in ("n_duplicates", "n_collapsed", "n_misordered")}
        if self.counts_ties:
            sums["n_tied"] = F.sum("n_tied")
        sums["n_documents"] = F.sum("n_retrieved")
        some = F.col("n_retrieved") > 0  # rows of the input may be rankings without a document
        of_systems = {
            f"{OF_SYSTEM}{index}": F.count_if(some & (F.col("system") == each)) for index, each in enumerate(systems)
        }
        return self._watch("ranked", ranked, {"n_rankings": F.count_if(some), **sums, **of_systems})

    def judged(self, judged: DataFrame) -> DataFrame:
        """The judgments of each query, also of those outside the universe, watched."""
        return self._watch("judged", judged, {"n_judged_queries": F.count("*")})

    def rankings(self, rankings: DataFrame, *, n_systems: int) -> DataFrame:
        """RANKINGS, watched.  What belongs to a query is counted in it once for each system."""
        status = F.col("status")
        counts = {
            N_SCORES: F.count("*"),
            "n_answered": F.count_if(F.col("n_retrieved") > 0),
            "n_only_judged": F.count_if((F.col("n_retrieved") > 0) & (F.col("n_retrieved") == F.col("n_judged"))),
            **{f"n_{value}": F.count_if(status == value) for value in (OK, UNANSWERED, NO_RELEVANT, UNJUDGED)},
            **{key: F.sum(key) / n_systems for key in ("n_repeated", "n_contradictory", "n_subtopics")},
        }
        return self._watch("rankings", rankings, counts)

    def counts(self) -> dict[str, int]:
        """All counts; call it when the scores are written."""
        found: dict[str, int] = {}
        for seen in self._seen.values():
            found.update({key: int(count or 0) for key, count in seen.get.items() if not key.startswith(OF_SYSTEM)})
        found["n_rankings_outside_universe"] = found["n_rankings"] - found["n_answered"]
        return found

    def rankings_of(self, systems: Sequence[str]) -> dict[str, int]:
        """How many rankings each system has, also of queries outside the universe; call it as `counts`."""
        seen = self._seen["ranked"].get
        return {system: int(seen[f"{OF_SYSTEM}{index}"] or 0) for index, system in enumerate(systems)}
