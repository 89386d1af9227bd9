"""Job 2: from an evaluation to published estimates and contrasts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from evalcore import Conventions, Metric
from evalcore.inference import scale_exponent
from jobs import aggregate as inference
from jobs import (
    notes,
    pairs,
    quantiles,
    scored,
    scored_files,
    segments,
    store,
    sum_refusals,
    unit_sums,
    whole_queries,
)
from jobs.buckets import buckets_of
from jobs.checks import check_aggregate
from jobs.config import Aggregate, Config, dump
from jobs.inferred import Quantile, QuantileKey, Settings
from jobs.measures import Measure, measures_of
from jobs.named import check_margins
from jobs.progress import Progress
from jobs.spark_errors import told
from jobs.sums import Sums

CROSSED = "crossed unit"
"""The column of counted SCORES that holds the other kind of unit, or pairs of both."""


def aggregate(
    spark: SparkSession, directories: Path | Sequence[Path], config: Config, progress: Progress
) -> tuple[dict[str, Any], pa.Table, pa.Table]:
    """Job 2: sums by unit in Spark, then estimates and contrasts.  Returns (manifest, ESTIMATES, CONTRASTS).

    directories   evaluations; none where `inputs.scores` is read
    """
    plan = check_aggregate(directories, config)
    with store.publish(plan.target, replace=plan.replace) as staging, told():
        scratch = staging / ".scores"
        if plan.evaluations is not None and plan.evaluations.as_they_are:
            given = scored.of_evaluations(spark, plan.evaluations, config)
        else:
            with progress.stage("looking at the input"):
                given = (
                    scored.of_evaluations(spark, plan.evaluations, config)
                    if plan.evaluations is not None
                    else scored_files.of_files(spark, plan, config, scratch=scratch)
                )
        check_margins(config.aggregate.margins, [measure.name for measure in given.measures])
        job = _Job(
            given.scores,
            unit=plan.unit,
            systems=given.systems,
            measures=given.measures,
            conventions=given.conventions,
            chosen=config.aggregate.model_copy(update={"strata": "system"}) if given.arms else config.aggregate,
            tie_ranges=_tie_ranges(given.diagnostics),
        )
        with progress.stage(f"summing by {plan.unit}"):
            job.sum(staging, apart=given.apart, unpaired=given.unpaired)
            crossed = job.cross(staging)
        with progress.stage(f"{config.aggregate.replicates:,} bootstrap replicates"):
            files = {part: store.part_files(staging / part, under=staging) for part in ("unit_sums", "pairs")}
            estimates, contrasts = inference.aggregate(
                pq.read_table(staging / "unit_sums"),
                pq.read_table(staging / "pairs"),
                systems=job.systems,
                measures=job.measures,
                exponents=job.exponents,
                settings=job.settings(buckets=job.buckets),
                crossed=crossed,
            )
        pq.write_table(estimates, staging / "estimates.parquet")
        pq.write_table(contrasts, staging / "contrasts.parquet")
        sizes = None
        if config.aggregate.segments:
            with progress.stage(f"segments by {', '.join(config.aggregate.segments)}"):
                sizes = job.segments(spark, staging)
        described = {
            "kind": "aggregate",
            "unit": plan.unit,
            "n_units": job.facts.n_units,
            "bucketed": job.buckets > 0,
            "buckets": job.buckets,
            "restricted": job.restricted,
            "systems": job.systems,
            "measures": [asdict(measure) for measure in job.measures],
            "exponents": job.exponents,
            "segments": asdict(sizes) if sizes else None,
            "tie_ranges": [[*key, value] for key, value in _tie_ranges(given.diagnostics).items()],
            "notes": [
                *given.notes,
                *_notes(estimates, contrasts, given.metrics, given.conventions, config.aggregate.methods[0]),
            ],
            **given.described,
            "config": dump(config)["aggregate"],
            "files": files,
        }
        shutil.rmtree(scratch, ignore_errors=True)
        store.write_manifest(staging, described)
    return {**described, "directory": str(plan.target)}, estimates, contrasts


class _Job:
    """The Spark side of job 2: counted SCORES and the sums made of them."""

    def __init__(
        self,
        scores: DataFrame,
        *,
        unit: str,
        systems: Sequence[str],
        measures: Sequence[Measure],
        conventions: Conventions,
        chosen: Aggregate,
        tie_ranges: Mapping[tuple[str, str], float],
    ) -> None:
        self._tie_ranges = tie_ranges
        self.systems, self.measures = list(systems), list(measures)
        self._unit, self._chosen, self._conventions = unit, chosen, conventions
        self._counted = unit_sums.counted(scores, measures=measures, conventions=conventions)
        self._values = unit_sums.values(scores, measures=measures, conventions=conventions)

    def sum(self, staging: Path, *, apart: bool, unpaired: bool) -> None:
        """Write UNIT SUMS, pair counts and MOVERS.  Raises DataRefused for values that cannot be summed.

        apart      whether two systems may count different queries
        unpaired   whether no query is of two systems
        """
        counted, measures, chosen = self._counted, self.measures, self._chosen
        facts = unit_sums.facts(counted, self._unit, measures, stratum=chosen.strata)
        rows = {"undefined": unit_sums.undefined(measures), "negative": unit_sums.negative_below(measures)}
        sum_refusals.of_sums(facts, counted, self._unit, self._conventions, **rows)
        self.facts = facts
        self.exponents = {column: scale_exponent(largest) for column, largest in facts.largest.items()}
        self.buckets = buckets_of(facts.n_units, n_strata=facts.n_strata)
        # where two systems may count different queries, contrasts need sums over those that both count
        self.restricted = not unpaired and (facts.n_by_system > 0 or apart)
        self._summed(counted, buckets=self.buckets).write.parquet(store.uri(staging / "unit_sums"))
        self._pair(staging)
        self._quantiles = self._find_quantiles(staging)

    def _pair(self, staging: Path) -> None:
        """Write pair counts and MOVERS: of the queries that lie together in one pass, of the others by a join."""
        measures, chosen = self.measures, self._chosen
        found = whole_queries.scan(
            self._values,
            systems=self.systems,
            pairs=inference.pairs_of(self.systems, chosen.baseline),
            measures=measures,
            exponents=self.exponents,
            most=chosen.movers,
        )
        raw = staging / ".pairs"
        found.write.parquet(store.uri(raw))
        found = found.sparkSession.read.schema(found.schema).parquet(store.uri(raw))
        whole = {kind: found.where(F.col(kind).isNotNull()).select(f"{kind}.*") for kind in found.columns}
        apart = pairs.paired(whole["apart"], measures=measures, baseline=chosen.baseline)
        counts = pairs.pair_counts(apart, measures=measures, exponents=self.exponents)
        pairs.added(whole["counts"].unionByName(counts)).write.parquet(store.uri(staging / "pairs"))
        if chosen.movers:
            moved = whole["mover"].unionByName(pairs.moved(apart, measures=measures))
            movers = pairs.movers(moved, most=chosen.movers).coalesce(1)
            movers = movers.sortWithinPartitions("candidate", "baseline", "metric", "place")
            movers.write.parquet(store.uri(staging / "movers"))
            store.part_files(staging / "movers", under=staging)
        shutil.rmtree(raw)

    def cross(self, staging: Path) -> tuple[pa.Table, pa.Table] | None:
        """Write UNIT SUMS by the column that crosses the units, and by both; they are summed as those by unit are."""
        column = self._chosen.crossed
        if column is None:
            return None
        tables = []
        for name, parts in (("crossed", [column]), ("both", [self._unit, column])):
            unit = F.concat_ws("\x1f", *(F.col(f"`{part}`").cast("string") for part in parts))
            rows = self._counted.withColumn(CROSSED, unit)
            n_units, n_without = rows.agg(
                F.count_distinct(CROSSED), F.count_if(F.col(f"`{column}`").isNull())
            ).collect()[0]
            sum_refusals.of_crossed(n_without, column)
            folder = staging / f"{name}_sums"
            self._summed(rows, unit=CROSSED, buckets=buckets_of(n_units)).write.parquet(store.uri(folder))
            store.part_files(folder, under=staging)
            tables.append(pq.read_table(folder))
        return tables[0], tables[1]

    def _find_quantiles(self, staging: Path) -> Mapping[QuantileKey, Quantile]:
        """Quantiles of the values of systems, where they are asked for."""
        wanted = quantiles.wanted(self.measures, self._chosen.quantiles)
        values = quantiles.values(self._counted, wanted) if wanted else {}
        if not values:
            return {}
        indicators = [each.indicator for each in wanted]
        exponents = {indicator.column: 0 for indicator in indicators}
        marked = unit_sums.unit_sums(
            quantiles.up_to(self._counted, wanted, values),
            measures=indicators,
            exponents=exponents,
            unit_name=self._unit,
            buckets=self.buckets,
            stratum=self._chosen.strata,
        )
        folder = staging / ".quantiles"
        marked.write.parquet(store.uri(folder))
        sums = Sums.of(
            pq.read_table(folder),
            pa.table({}),
            systems=self.systems,
            pairs=[],
            measures=indicators,
            exponents=exponents,
        )
        shutil.rmtree(folder)
        return quantiles.with_intervals(self._counted, wanted, values, sums, confidence=self._chosen.confidence)

    def _summed(self, counted: DataFrame, *, buckets: Column | int, unit: str | None = None) -> DataFrame:
        summing: dict[str, Any] = {
            "measures": self.measures,
            "exponents": self.exponents,
            "unit_name": unit or self._unit,
            "buckets": buckets,
            "stratum": self._chosen.strata,
        }
        sums = unit_sums.unit_sums(counted, **summing)
        if not self.restricted:
            return sums
        shared = unit_sums.given_others(counted, measures=self.measures, baseline=self._chosen.baseline)
        return sums.unionByName(unit_sums.unit_sums(shared, **summing))

    def settings(self, *, buckets: int, whole: bool = True) -> Settings:
        """How intervals are made, of the whole or of a segment."""
        return Settings.of(
            self._chosen,
            bucketed=buckets > 0,
            restricted=self.restricted,
            quantiles=self._quantiles if whole else {},
            tie_ranges=self._tie_ranges,
        )

    def segments(self, spark: SparkSession, staging: Path) -> segments.Sizes:
        """Write ESTIMATES and CONTRASTS of every segment that has enough units."""
        columns, chosen = self._chosen.segments, self._chosen
        units = segments.units_of(self._counted, columns, self._unit)
        sizes = segments.sizes(units, fewest_units=chosen.fewest_units, n_systems=len(self.systems))
        sum_refusals.of_segments(sizes.n_shown, columns, most=segments.MOST_SEGMENTS)
        shown = units.where(F.col("n_units") >= chosen.fewest_units)
        large = F.when(F.col("n_units") > sizes.buckets, F.lit(sizes.buckets)).otherwise(F.lit(0))
        shown = shown.select("segment", large.alias("buckets"))
        sums = self._summed(segments.exploded(self._counted, columns, shown), buckets=F.col("buckets"))
        paired = pairs.paired(self._counted, measures=self.measures, baseline=chosen.baseline, others=columns)
        counts = pairs.pair_counts(
            segments.exploded(paired, columns, shown), measures=self.measures, exponents=self.exponents
        )
        found = segments.inferred(
            sums,
            counts,
            shown,
            systems=self.systems,
            measures=self.measures,
            exponents=self.exponents,
            settings=self.settings(buckets=0, whole=False),
        )
        raw = staging / ".segments"
        found.write.parquet(store.uri(raw))
        once = spark.read.parquet(store.uri(raw))
        for part, table in (("estimates", segments.estimates(once)), ("contrasts", segments.contrasts(once))):
            folder = staging / f"segment_{part}"
            table.write.parquet(store.uri(folder))
            store.part_files(folder, under=staging)
        shutil.rmtree(raw)
        return sizes


def _tie_ranges(diagnostics: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> dict[tuple[str, str], float]:
    """How far ties can move each mean, by system and metric, from an evaluation's diagnostics."""
    return {
        (system, metric): float(sides["ties_high"] or 0.0) - float(sides["ties_low"] or 0.0)
        for system, metrics in diagnostics.items()
        for metric, sides in metrics.items()
        if "ties_low" in sides
    }


def _notes(
    estimates: pa.Table, contrasts: pa.Table, metrics: Sequence[Metric], conventions: Conventions, method: str
) -> list[str]:
    by_name = {measure.name: metric for metric in metrics for measure in measures_of([metric], conventions)}
    of_method = [[row for row in table.to_pylist() if row["method"] == method] for table in (estimates, contrasts)]
    return [*notes.of_calibration(of_method[0], by_name), *notes.of_contrasts(of_method[1], by_name)]
