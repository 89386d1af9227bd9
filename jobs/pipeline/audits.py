"""The audit by itself: the input is read and ranked as for scoring, and nothing is computed or written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from jobs import summary
from jobs.checks import check_input
from jobs.config import Config
from jobs.errors import DataRefused
from jobs.examples import Looked, of_gates
from jobs.input_gates import Finding, sentence
from jobs.pipeline.answers import Answers, answers
from jobs.progress import Progress
from jobs.spark_errors import told


def audit(spark: SparkSession, config: Config, progress: Progress) -> dict[str, Any]:
    """All counts, gates and differences of the input of a scoring run, and what would be refused.

    One pass over the input, and one more where a gate warns or refuses, to find examples. Raises UsageError, and
    DataRefused for input that cannot be ranked at all.
    """
    metrics = check_input(config)
    with told():
        found = answers(spark, config, metrics, progress, count_ties=True)
        with progress.stage("auditing the input"):
            answered = summary.answers(found.rankings)
            counts = found.counts()
            audited = found.audited(counts, answered)
        with progress.stage("looking for examples"):
            gates = with_examples(audited["gates"], found, found.rankings, only=("warned", "refused"))
            asked_for_all = found.queries is None
            refusals = found.source.refusals(counts, found.rankings, metrics, asked_for_all=asked_for_all)
    refusals += [sentence(each) for each in gates if each["outcome"] == "refused"]
    outcomes = {each["outcome"] for each in gates}
    outcome = "refused" if refusals else "warned" if "warned" in outcomes else "passed"
    return {"outcome": outcome, **audited, "gates": gates, "refusals": refusals, "counts": counts}


def with_examples(
    gates: Sequence[Finding], found: Answers, scores: DataFrame, *, only: Collection[str]
) -> list[Finding]:
    """The findings, those of the outcomes `only` with examples.  Runs one job for all of them."""
    source = found.source
    looked = Looked(
        runs=source.kept(source.needed_runs),
        ranked=found.ranked,
        qrels=source.qrels,
        scores=scores,
        universe=(source.qrels if found.queries is None else found.queries).select("query_id").distinct(),
        grades=found.config.audit.grades,
    )
    chosen = [gate for gate in gates if gate["outcome"] in only]
    examples = iter(of_gates([(gate["gate"], gate["where"]) for gate in chosen], looked))
    return [{**gate, "examples": next(examples)} if gate["outcome"] in only else gate for gate in gates]


def refuse(gates: Sequence[Finding]) -> None:
    """Raises DataRefused with all gates that refuse."""
    if refused := [sentence(gate) for gate in gates if gate["outcome"] == "refused"]:
        raise DataRefused("\n".join(f"the audit refuses: {each}" for each in refused))
