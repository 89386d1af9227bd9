"""UNIT SUMS of aggregations -> new estimates and contrasts, without SCORES and without a JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs import aggregate as inference
from jobs import nights as given
from jobs import notes, store
from jobs.added_sums import added
from jobs.aggregate import pairs_of
from jobs.aggregations import Aggregation
from jobs.config import Aggregate, Config, dump
from jobs.errors import UsageError
from jobs.inferred import MEDIAN, WOODRUFF, Quantile, QuantileKey, Settings
from jobs.named import check_margins, metric_of
from jobs.tables import ALL


def reaggregate(directories: Sequence[Path], config: Config) -> tuple[dict[str, Any], pa.Table, pa.Table]:
    """Estimates and contrasts of all queries of some aggregations together, by other settings.

    What the configuration does not say is as the first of them has it. Several must be of different queries, as
    those of several nights. Returns (manifest, ESTIMATES, CONTRASTS).

    Raises UsageError for settings that need SCORES, DataRefused for aggregations that cannot be added.
    """
    if not directories:
        raise UsageError("name an aggregation, or several to add")
    target = store.free_for_aggregation(config.aggregate.output, replace=config.output.force)
    nights = [Aggregation.of(directory, config) for directory in directories]
    if len({night.directory.resolve() for night in nights}) < len(nights):
        raise UsageError("an aggregation is named twice: its queries would count twice")
    first = nights[0]
    chosen = Aggregate.model_validate(first.settings(config))
    if chosen.unit != first.manifest["unit"]:
        raise UsageError(
            f"the sums of {first.directory} are by {first.manifest['unit']}; for another unit aggregate again"
        )
    _check_settings(first, config)
    check_margins(chosen.margins, first.measures)
    measures, systems = given.measures_of(first, chosen), given.systems_of(first, chosen)
    given.check_same(nights, measures, systems, chosen)
    pairs = pairs_of(systems, chosen.baseline)
    sums, counts, exponents, buckets = added(
        [given.night_of(night, systems, pairs) for night in nights], measures, pairs=pairs
    )
    crossed = given.crossed_of(nights, chosen, systems, pairs)
    restricted = any(night.manifest["restricted"] for night in nights)
    ties = _tie_ranges(nights)
    estimates, contrasts = inference.aggregate(
        sums,
        counts,
        systems=systems,
        measures=measures,
        exponents=exponents,
        settings=Settings.of(
            chosen,
            bucketed=buckets > 0,
            restricted=restricted,
            quantiles=_quantiles(first, chosen) if len(nights) == 1 else {},
            tie_ranges=ties,
        ),
        crossed=(crossed["crossed_sums"], crossed["both_sums"]) if crossed else None,
    )
    least_units = max(night.manifest["n_units"] for night in nights)
    with store.publish(target, replace=config.output.force) as staging:
        for part, table in {"unit_sums": sums, "pairs": counts, **crossed}.items():
            (staging / part).mkdir()
            pq.write_table(table, staging / part / "part-0.parquet")
        pq.write_table(estimates, staging / "estimates.parquet")
        pq.write_table(contrasts, staging / "contrasts.parquet")
        described = {
            "kind": "aggregate",
            "unit": chosen.unit,
            "n_units": least_units if buckets else pc.count_distinct(sums["unit"]).as_py(),
            "bucketed": buckets > 0,
            "buckets": buckets,
            "restricted": restricted,
            "systems": systems,
            "measures": [asdict(measure) for measure in measures],
            "exponents": exponents,
            "segments": None,
            "tie_ranges": [[*key, value] for key, value in ties.items()],
            "notes": [*_of_sums(nights, chosen, buckets), *_of_tables(first, chosen, estimates, contrasts)],
            "aggregations": [
                {"directory": str(night.directory), "created": night.manifest["created"], "sha256": night.sha256()}
                for night in nights
            ],
            "conventions": first.manifest["conventions"],
            **_answers(nights, systems),
            "config": dump(Config(aggregate=chosen))["aggregate"],
            "files": {part: store.part_files(staging / part, under=staging) for part in ("unit_sums", "pairs")},
        }
        store.write_manifest(staging, described)
    return {**described, "directory": str(target)}, estimates, contrasts


def _answers(nights: Sequence[Aggregation], systems: Sequence[str]) -> dict[str, Any]:
    """How many queries each system answered on all nights together; nothing where a night does not say."""
    told = [{row["system"]: row for row in night.manifest.get("answers", [])} for night in nights]
    if not all(system in rows for rows in told for system in systems):
        return {}
    return {
        "answers": [
            {
                "system": system,
                "n_answered": sum(rows[system]["n_answered"] for rows in told),
                "n_longest": max(rows[system]["n_longest"] for rows in told),
            }
            for system in systems
        ]
    }


NEED_SCORES = (
    "segments", "fewest_units", "strata", "quantiles", "movers", "columns", "ratios", "lower_is_better"
)  # fmt: skip
"""Settings that act on SCORES, which are not read here."""


def _check_settings(night: Aggregation, config: Config) -> None:
    """Raises UsageError for settings that need SCORES and are not those that the sums were made with."""
    made = {**dump(Config())["aggregate"], **night.manifest["config"]}
    asked = config.aggregate.model_dump(mode="json", exclude_unset=True)
    changed = [f"aggregate.{key}" for key in NEED_SCORES if key in asked and asked[key] != made[key]]
    conventions = config.score.conventions.model_dump(exclude_none=True)
    known = night.manifest.get("conventions", {})
    changed += [f"score.conventions.{key}" for key, value in conventions.items() if known.get(key) != value]
    if changed:
        raise UsageError(f"{', '.join(changed)}: the sums are made otherwise; aggregate the scores again")


def _quantiles(night: Aggregation, chosen: Aggregate) -> dict[QuantileKey, Quantile]:
    """The quantiles of values, which no sums tell; with their intervals, if the confidence is what it was."""
    same = chosen.confidence == night.manifest["config"]["confidence"]
    found = {}
    for row in pq.read_table(night.directory / "estimates.parquet").to_pylist():
        if row["method"] == WOODRUFF and row["segment"] == ALL:
            level = MEDIAN if row["statistic"] == "median" else float(row["statistic"].split()[-1])
            ends = (row["low"], row["high"]) if same else (None, None)
            found[row["system"], night.measures[row["metric"]].column, level] = Quantile(row["estimate"], *ends)
    return found


def _tie_ranges(nights: Sequence[Aggregation]) -> dict[tuple[str, str], float]:
    """How far ties can move each mean: over all nights no further than on the worst of them."""
    found: dict[tuple[str, str], float] = {}
    for night in nights:
        for system, metric, value in night.manifest.get("tie_ranges", []):
            found[system, metric] = max(value, found.get((system, metric), 0.0))
    return found


def _of_sums(nights: Sequence[Aggregation], chosen: Aggregate, buckets: int) -> list[str]:
    """What a reader should know of the sums."""
    told = []
    if chosen.segments:
        told.append("Segments are not made again: that needs the scores.")
    if len(nights) > 1 and buckets:
        told.append(
            f"How many values of {chosen.unit} there are cannot be told from buckets; as many as in the largest."
        )
    scales = [night.manifest["exponents"] for night in nights]
    if moved := [column for column in scales[0] if len({scale[column] for scale in scales}) > 1]:
        told.append(
            f"The sums of {', '.join(moved)} have different scales; to add them, some were rounded to the largest."
        )
    return told


def _of_tables(night: Aggregation, chosen: Aggregate, estimates: pa.Table, contrasts: pa.Table) -> list[str]:
    """What a reader should know of the numbers."""
    metrics = {name: metric for name in night.measures if (metric := metric_of(name.partition("[")[0])) is not None}
    of_method = [
        [row for row in table.to_pylist() if row["method"] == chosen.methods[0]] for table in (estimates, contrasts)
    ]
    return [*notes.of_calibration(of_method[0], metrics), *notes.of_contrasts(of_method[1], metrics)]
