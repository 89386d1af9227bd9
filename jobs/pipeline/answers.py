"""What scoring and the audit share: the input as RANKINGS, watched on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from evalcore import Metric
from evalcore.errors import unknown
from evalcore.scoring import needs_of
from jobs import audit, rankings, summary
from jobs import queries as query_facts
from jobs import score as scoring
from jobs.checks import check_columns
from jobs.config import Config
from jobs.config_input import Levels
from jobs.errors import UsageError
from jobs.input_gates import Finding, findings
from jobs.pipeline.source import Source
from jobs.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Answers:
    """RANKINGS of a configuration's input, and what is known of them before anything runs.

    others      columns of QUERIES, without query_id
    judgments   one row for each judged document
    ranked      the rankings of all queries, also of those outside the universe
    how         what else ranks documents as they were ranked here
    """

    config: Config
    source: Source
    systems: list[str]
    qrel_counts: audit.QrelCounts
    queries: DataFrame | None
    others: list[str]
    watched: audit.Audit
    depth: int | None
    judgments: DataFrame
    ranked: DataFrame
    how: dict[str, Any]
    rankings: DataFrame

    def counts(self) -> dict[str, Any]:
        """All counts of the audit; call it when RANKINGS have been read."""
        counts: dict[str, Any] = {**asdict(self.qrel_counts), **self.source.counts, **self.watched.counts()}
        judged = counts["n_ok"] + counts["n_no_relevant"] + counts["n_unanswered"]
        if not self.source.unlabelled:
            counts["n_judged_unasked"] = counts["n_judged_queries"] - judged // len(self.systems)
        return counts

    def audited(self, counts: dict[str, Any], answered: Sequence[summary.Answers]) -> dict[str, Any]:
        """The three-way difference of queries, judgments and systems, and what every gate says."""
        of = self.watched.rankings_of(self.systems)
        return {
            "n_queries": counts[audit.N_SCORES] // len(self.systems),
            "n_judged_queries": counts.get("n_judged_queries", 0),
            "n_judged_unasked": counts.get("n_judged_unasked", 0),
            "systems": [
                {
                    "system": row["system"],
                    "answered": row["n_answered"] - row["n_answered_unjudged"],
                    "unanswered": row["n_unanswered"],
                    "unjudged": row["n_answered_unjudged"],
                    "outside": of[row["system"]] - row["n_answered"],
                }
                for row in answered
            ],
            "gates": self._findings(counts, answered),
        }

    def _findings(self, counts: dict[str, Any], answered: Sequence[summary.Answers]) -> list[Finding]:
        return findings(counts, answered, self.config.audit, n_systems=len(self.systems))


def answers(
    spark: SparkSession, config: Config, metrics: Sequence[Metric], progress: Progress, *, count_ties: bool = False
) -> Answers:
    """A plan for RANKINGS.  Runs a job over QRELS, one over the systems' names, and one over QUERIES.

    count_ties   whether to count tied documents, also where no gate asks for them

    Raises UsageError and DataRefused for what these show to be wrong.
    """
    chosen, conventions = config.score, config.score.resolved_conventions
    needs = needs_of(metrics, conventions, chosen.diagnostics)
    depth = scoring.depth_of(metrics, conventions, chosen.diagnostics)
    with progress.stage("looking at the input"):
        judged = any(metric.FACTS.judgments for metric in metrics)
        source = Source(spark, config, conventions, needs=needs, judged=judged)
        systems = source.systems()
        if chosen.reference not in (None, *systems):
            raise UsageError(unknown("system", str(chosen.reference), systems))
        qrel_counts = source.qrel_counts()
        queries = source.queries()
    others = [key for key in queries.columns if key != "query_id"] if queries is not None else []
    others += query_facts.of_judgments(config.queries, others)
    check_columns(metrics, others, chosen)
    count_ties = source.whole is None and (count_ties or config.audit.ties != Levels())
    removes_self = config.prepare.self_retrieval == "remove"
    watched = audit.Audit(conventions, needs, removes_self=removes_self, counts_ties=count_ties)
    known: dict[str, Any] = {
        "config": config,
        "source": source,
        "systems": systems,
        "qrel_counts": qrel_counts,
        "queries": queries,
        "others": others,
        "watched": watched,
        "depth": depth,
    }
    if source.whole is not None:
        ranked, complete = source.whole.rankings(watched, queries, depth=depth)
        complete = watched.rankings(query_facts.with_relevant(complete, config.queries), n_systems=len(systems))
        return Answers(**known, judgments=source.qrels, ranked=ranked, how={}, rankings=complete)
    repeated, several = config.judgments.repeated, qrel_counts.n_subtopic_names > 1
    judgments = rankings.judgments(source.qrels, needs=needs, repeated=repeated, several=several)
    how: dict[str, Any] = {"conventions": conventions, "collapse": config.prepare.separator is not None}
    kept = source.kept(watched.runs(source.needed_runs))
    ranked = rankings.ranked(kept, judgments, depth=depth, needs=needs, count_ties=count_ties, **how)
    reference = None
    if "reference" in needs:  # ranked by itself, so that nothing of the others is ranked twice
        reference = rankings.ranked(source.runs_of(chosen.reference), judgments, depth=depth, needs=needs, **how)
    of_queries = rankings.judged_queries(judgments, needs=needs)
    complete = rankings.complete(
        watched.ranked(ranked, systems),
        of_queries if source.unlabelled else watched.judged(of_queries),
        queries,
        systems=systems,
        needs=needs,
        reference=reference,
        unlabelled=source.unlabelled,
    )
    return Answers(
        **known,
        judgments=judgments,
        ranked=ranked,
        how=how,
        rankings=watched.rankings(query_facts.with_relevant(complete, config.queries), n_systems=len(systems)),
    )
