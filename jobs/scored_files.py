"""Values of queries that another tool computed -> what job 2 needs: read, gathered by query, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from evalcore import Conventions
from evalcore.errors import unknown
from evalcore.metrics.base import HasElements, HasParts
from evalcore.statuses import OK, UNANSWERED
from jobs import named, store
from jobs.checks import Plan
from jobs.config import Aggregate, Config
from jobs.errors import UsageError, number_of
from jobs.evaluations import LATE_CONVENTIONS
from jobs.measures import WEIGHT, Measure
from jobs.named import Named, canonical, metric_of
from jobs.readers import score_columns, score_rows, scores
from jobs.readers.score_columns import Asked, Columns
from jobs.readers.scores import SUMMARY, Table
from jobs.scored import Scored
from jobs.scored_checks import Gathered
from jobs.tables import RESERVED, SCORE_FACTS

MOST_TOLD = 8


def of_files(spark: SparkSession, plan: Plan, config: Config, *, scratch: Path) -> Scored:
    """SCORES of the tables that `inputs.scores` names, gathered in a Parquet table at `scratch`.

    A null value is left out of that system's estimates, as is a query for which it has no row. Moves every row once.

    Raises UsageError where the columns cannot be told, DataRefused for values that cannot be used.
    """
    chosen, paths = config.aggregate, config.inputs.scores
    where = f"--scores {', '.join(paths)}"
    late = config.score.conventions.model_dump(exclude_none=True)
    conventions = Conventions(**{key: value for key, value in late.items() if key in LATE_CONVENTIONS})
    kept = _kept(plan.unit, chosen, conventions, where)
    table = scores.table(spark, paths, known=lambda text: metric_of(text) is not None)
    asked = Asked(
        columns=chosen.columns,
        metrics=chosen.metrics,
        kept=kept,
        parts=[part for parts in chosen.ratios.values() for part in parts],
        by_file=config.inputs.system_from == "file",
    )
    columns = score_columns.assign(table.header, asked, where=where)
    ours = columns.kind == "wide" and set(SCORE_FACTS) <= set(table.header)
    slots = _slots(table, columns, chosen, ours=ours, where=where)
    found = named.wanted(list(slots), metrics=chosen.metrics, ratios={**_parted(slots), **chosen.ratios}, where=where)
    measures = named.measures(
        found, conventions, lower_is_better=chosen.lower_is_better, taken=kept, vectors=table.arrays, ours=ours
    )
    slots = {slot: slots[slot] for each in found for slot in each.slots}
    score_rows.gathered(table, columns, slots, ours=ours).write.parquet(store.uri(scratch))
    gathered = Gathered(
        rows=spark.read.parquet(store.uri(scratch)),
        slots=list(slots),
        kept=list(columns.kept),
        unit=plan.unit,
        where=where,
        unread=table.flaws,
    )
    by_system = gathered.by_system(complete=not ours)
    for system in (*chosen.systems, *([chosen.baseline] if chosen.baseline is not None else [])):
        if system not in by_system:
            raise UsageError(unknown("system", system, by_system))
    systems = [system for system in by_system if not chosen.systems or system in chosen.systems]
    n_queries, n_rows = gathered.by_query(systems)
    unpaired = len(systems) > 1 and n_rows == n_queries
    n_absent = 0 if unpaired else len(systems) * n_queries - n_rows
    return Scored(
        scores=_scores(gathered, systems, found, measures, ours=ours),
        systems=systems,
        measures=measures,
        metrics=[each.metric for each in found if each.metric is not None],
        conventions=conventions,
        apart=n_absent > 0 or (ours and conventions.unanswered == "skip" and gathered.is_any(UNANSWERED)),
        unpaired=unpaired,
        arms=unpaired and chosen.strata is None and not gathered.n_crossing(systems),
        notes=[
            f"{', '.join(paths)}: read as {columns.told}.",
            *_of_names(slots, found, chosen, columns, table),
            *_of_ranges(found, gathered.slots, by_system),
            *_of_rows(gathered.n_summaries, n_absent, len(systems) * n_queries, unpaired=unpaired),
        ],
        described={
            "scores": store.fingerprint(paths),
            "n_queries": n_queries,
            "conventions": {key: getattr(conventions, key) for key in LATE_CONVENTIONS},
        },
    )


def _kept(unit: str, chosen: Aggregate, conventions: Conventions, where: str) -> list[str]:
    """The columns of queries that are asked for.  Raises UsageError for a name that job 2 has a column of."""
    named = [each for each in (chosen.strata, chosen.crossed) if each is not None]
    weight = [WEIGHT] if conventions.mean == "weighted" else []
    kept = [each for each in dict.fromkeys([unit, *chosen.segments, *named, *weight]) if each != "query_id"]
    if taken := [each for each in kept if each in RESERVED]:
        raise UsageError(
            f'{where}: "{taken[0]}" has a meaning of its own here; give the column another name with '
            f"--set aggregate.columns.NAME={taken[0]}"
        )
    return kept


def _slots(table: Table, columns: Columns, chosen: Aggregate, *, ours: bool, where: str) -> dict[str, str]:
    """The values that are there, by our name, and what holds them.  Raises UsageError where that cannot be told."""
    if columns.kind == "long":
        there = scores.metrics_of(table, columns)
        return {columns.renamed.get(theirs, theirs): theirs for theirs in there}
    if columns.kind == "matrix":
        return {chosen.metrics[0]: ""}
    wanted = {canonical(each) for each in chosen.metrics}
    parts = {part for both in chosen.ratios.values() for part in both}

    def is_metric(slot: str, column: str) -> bool:
        metric = metric_of(slot)
        return metric is not None and (column in table.arrays) == isinstance(metric, HasElements)

    known = {*map(canonical, columns.values), *map(canonical, chosen.ratios)}
    if absent := [each for each in wanted if each not in known]:
        raise UsageError(f"{where}: {unknown('metric', absent[0], [*columns.values, *chosen.ratios])}")
    if wanted or ours:
        asked = {
            slot: column
            for slot, column in columns.values.items()
            if (canonical(slot) in wanted if wanted else is_metric(slot, column)) or slot in parts
        }
        halves = {f"{slot}_{half}" for slot in asked for half in ("above", "below")}
        return {slot: column for slot, column in columns.values.items() if slot in asked or slot in halves}
    whole, mixed = scores.numeric_of(table, list(columns.values.values()))
    if mixed:
        told = ", ".join(f'{column} ("{text}")' for column, text in mixed.items())
        raise UsageError(
            f"{where}: {told}: numbers and other text; mend what is no number, or say which columns are metrics with "
            "--metrics"
        )
    return {slot: column for slot, column in columns.values.items() if column in whole or is_metric(slot, column)}


def _parted(slots: Mapping[str, str]) -> dict[str, list[str]]:
    """The metrics that are ratios by definition and whose parts are there."""
    halves = {slot: [f"{slot}_{half}" for half in ("above", "below")] for slot in slots}
    return {
        slot: both
        for slot, both in halves.items()
        if isinstance(metric_of(slot), HasParts) and all(half in slots for half in both)
    }


def _scores(
    gathered: Gathered, systems: Sequence[str], found: Sequence[Named], measures: Sequence[Measure], *, ours: bool
) -> DataFrame:
    """SCORES, from the gathered rows."""
    values = {}
    for each in found:
        source = next(measure.source for measure in measures if each.is_of(measure))
        slots = [F.col(f"s{gathered.slots.index(slot)}") for slot in each.slots]
        values[source] = slots[0] if len(slots) == 1 else F.try_divide(*slots)
        if len(slots) == 2:
            whole = slots[0].isNotNull() & slots[1].isNotNull()
            halves = zip(("above", "below"), slots, strict=True)
            values |= {f"{source}_{half}": F.when(whole, slot) for half, slot in halves}
    status = F.col("status") if ours else F.lit(OK)
    return gathered.values.where(F.col("system").isin(list(systems))).select(
        "system",
        "query_id",
        status.alias("status"),
        *(gathered.column(kept).alias(kept) for kept in gathered.kept),
        *(value.alias(column) for column, value in values.items()),
    )


def _of_names(
    slots: Mapping[str, str], found: Sequence[Named], chosen: Aggregate, columns: Columns, table: Table
) -> list[str]:
    """What names of metrics are taken for, and which columns for none."""
    alone = [(each.slots[0], each.name) for each in found if len(each.slots) == 1]
    renamed = [f"{slot} as {name}" for slot, name in alone if slot != name]
    lower = {canonical(each) for each in chosen.lower_is_better}
    own = [each.name for each in found if each.metric is None and each.name not in lower]
    left = [slot for slot, column in columns.values.items() if column not in slots.values()]
    notes = []
    if renamed:
        more = f" and {len(renamed) - MOST_TOLD} more" if len(renamed) > MOST_TOLD else ""
        told = ", ".join(renamed[:MOST_TOLD])
        notes.append(f"Read {told}{more}; for a metric of another definition give a name of its own.")
    if own:
        notes.append(
            f"Not known here: {', '.join(own)}; a higher value is taken as better. If a lower one is, say so with "
            f"--set aggregate.lower_is_better=[{own[0]}]."
        )
    if left and columns.kind == "wide" and not chosen.metrics:
        notes.append(f"Columns that are not read: {', '.join(left)}.")
    return notes


def _of_ranges(found: Sequence[Named], slots: Sequence[str], by_system: Mapping[str, Row]) -> list[str]:
    """Values that the metric of that name cannot have."""
    notes = []
    for each in found:
        if each.metric is None or len(each.slots) > 1:
            continue
        facts = each.metric.FACTS
        place = slots.index(each.slots[0])
        lows, highs = ([row[key][place] for row in by_system.values()] for key in ("lows", "highs"))
        wanted = f"{facts.low:g} to {facts.high:g}"
        low = min((value for value in lows if value is not None), default=facts.low)
        high = max((value for value in highs if value is not None), default=facts.low)
        if low < facts.low or high > facts.high:
            notes.append(
                f"{each.name} goes from {low:g} to {high:g}, and by definition from {wanted}: is it in percent, or "
                "another metric?"
            )
    return notes


def _of_rows(n_summaries: int, n_absent: int, n_pairs: int, *, unpaired: bool) -> list[str]:
    notes = []
    if n_summaries:
        notes.append(f'{number_of(n_summaries, "row")} of a query "{SUMMARY}" left out: they are of means.')
    if n_absent:
        notes.append(
            f"{n_absent:,} of {n_pairs:,} answers are not there; a contrast is over the queries that both systems have."
        )
    if unpaired:
        notes.append("No query is of two systems: contrasts are of two samples, and not paired.")
    return notes
