"""Several data sets with the same systems: what each of them says, and the means over them; without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalcore.errors import unknown
from jobs import aggregate as inference
from jobs import means
from jobs.added_sums import added
from jobs.aggregate import pairs_of
from jobs.aggregations import Aggregation
from jobs.config import Aggregate, Config
from jobs.errors import DataRefused, JobError, UsageError, number_of
from jobs.inferred import Settings
from jobs.known_guardrails import TWO_WAY
from jobs.means import OF_CONTRAST, OF_ESTIMATE, Row
from jobs.measures import Measure
from jobs.nights import night_of

DEFINITION = ("statistic", "higher_is_better", "floor")
"""What two measures of one name must share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """An aggregation under the name of its data set.

    chosen     the settings that it was made with, but for what is given now
    measures   those whose mean over data sets has an interval: numbers that are no medians
    """

    name: str
    aggregation: Aggregation
    chosen: Aggregate
    measures: Mapping[str, Measure]

    @property
    def crossed(self) -> bool:
        """Whether queries share units of two kinds."""
        return self.aggregation.manifest["config"].get("crossed") is not None

    @property
    def method(self) -> str:
        """Of its intervals."""
        return TWO_WAY if self.crossed else self.chosen.methods[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """Of a data set a row for each metric and system, and each metric and pair, in the same order for all data sets.

    units   their names, none where they share buckets
    """

    estimates: Sequence[Row]
    contrasts: Sequence[Row]
    units: frozenset[str]


def datasets(given: Sequence[str], config: Config) -> dict[str, Any]:
    """Estimates and contrasts of each data set, given as NAME=DIR, and their means, each data set with one vote.

    Intervals of data sets are by the first method of their aggregations, or two-way where units of two kinds cross;
    those of means are Student's. p_adjusted is Holm's over the contrasts of a metric.

    Raises UsageError for names and settings that cannot work, DataRefused for data sets that do not agree.
    """
    sets = _named(given, config)
    held = {each.name: each.aggregation.manifest["systems"] for each in sets}
    systems, lonely = shared("system", held, config.aggregate.systems)
    wanted = [sets[0].aggregation.canonical(metric) for metric in config.aggregate.metrics]
    metrics, unshared = shared("metric", {each.name: list(each.measures) for each in sets}, wanted)
    _check_definitions(sets, metrics)
    baseline = _agreed("baseline", {each.name: each.chosen.baseline for each in sets}, "--baseline SYSTEM")
    if baseline is not None and baseline not in systems:
        raise UsageError(f"the baseline: {unknown('system', baseline, systems)}")
    confidences = {each.name: each.chosen.confidence for each in sets}
    confidence = _agreed("confidence", confidences, "--set aggregate.confidence=0.95")
    found = [_inferred(each, systems, metrics, baseline) for each in sets]
    over = means.over(
        [each.estimates for each in found],
        [each.contrasts for each in found],
        better={metric: sets[0].measures[metric].higher_is_better for metric in metrics},
        restricted=any(each.aggregation.manifest["restricted"] for each in sets),
        confidence=confidence,
    )
    return {
        "data_sets": [
            {"name": each.name, "directory": str(each.aggregation.directory)}
            | {key: each.aggregation.manifest[key] for key in ("unit", "n_units", "bucketed")}
            for each in sets
        ],
        "systems": systems,
        "metrics": metrics,
        "baseline": baseline,
        "methods": list(dict.fromkeys(each.method for each in sets)),
        "confidence": confidence,
        **over,
        "notes": [*lonely, *unshared, *_of_measures(sets), *of_units([each.units for each in found])],
    }


def _named(given: Sequence[str], config: Config) -> list[DataSet]:
    sets: dict[str, DataSet] = {}
    for text in given:
        name, _, path = text.partition("=")
        if not name or not path:
            raise UsageError(f"{text}: write the data set's name and its evaluation, such as robust04=out/robust04")
        if name in sets:
            raise UsageError(f"two data sets are called {name}")
        try:
            aggregation = Aggregation.of(Path(path), config)
        except JobError as error:
            raise type(error)(f"{name}: {error}") from None
        for other in sets.values():
            if other.aggregation.directory.resolve() == aggregation.directory.resolve():
                raise UsageError(f"{other.name} and {name} are one evaluation: its queries would count twice")
        every = aggregation.measures.items()
        sets[name] = DataSet(
            name=name,
            aggregation=aggregation,
            chosen=Aggregate.model_validate(aggregation.settings(config)),
            measures={key: each for key, each in every if each.element is None and each.statistic != "median"},
        )
    if len(sets) < 2:
        raise UsageError("name two data sets or more, such as robust04=out/robust04 web12=out/web12")
    return list(sets.values())


def shared(kind: str, held: Mapping[str, Sequence[str]], asked: Sequence[str]) -> tuple[list[str], list[str]]:
    """What all data sets hold of what is asked for, or of everything, and a note of what is left out."""
    everything = list(dict.fromkeys(name for names in held.values() for name in names))
    lacking = {name: [each for each, names in held.items() if name not in names] for name in everything}
    for name in asked:
        if name not in lacking:
            raise UsageError(unknown(kind, name, everything))
        if lacking[name]:
            raise UsageError(f"the {kind} {name} is asked for and not in {', '.join(lacking[name])}")
    shared = [name for name in everything if not lacking[name]]
    if not shared:
        told = "; ".join(f"{each} has {', '.join(names) or 'none'}" for each, names in held.items())
        raise DataRefused(f"no {kind} is in all data sets: {told}")
    if asked:
        return [name for name in shared if name in asked], []
    left = [f"{name} (not in {', '.join(without)})" for name, without in lacking.items() if without]
    return shared, [f"left out, for not all data sets have the {kind}: {', '.join(left)}"] if left else []


def _check_definitions(sets: Sequence[DataSet], metrics: Sequence[str]) -> None:
    """Raises DataRefused, with every difference, unless values of all data sets mean the same."""
    first = sets[0]
    for other in sets[1:]:
        ours, theirs = (each.aggregation.manifest["conventions"] for each in (first, other))
        stated = {key: [each.get(key, "not stated") for each in (ours, theirs)] for key in {**ours, **theirs}}
        for metric in metrics:
            both = [each.measures[metric] for each in (first, other)]
            stated |= {f"{part} of {metric}": [getattr(each, part) for each in both] for part in DEFINITION}
        if found := [f"{key} is {one} and {another}" for key, (one, another) in stated.items() if one != another]:
            raise DataRefused(f"{first.name} and {other.name} do not measure the same: {'; '.join(found)}")


def _agreed(setting: str, held: Mapping[str, Any], hint: str) -> Any:  # noqa: ANN401
    """The value of a setting that all data sets must share.  Raises UsageError."""
    if len(set(held.values())) > 1:
        told = ", ".join(f"{'none' if value is None else value} in {name}" for name, value in held.items())
        raise UsageError(f"aggregate.{setting} is {told}; give one for all with {hint}")
    return next(iter(held.values()))


def _inferred(given: DataSet, systems: Sequence[str], metrics: Sequence[str], baseline: str | None) -> Inferred:
    chosen, pairs = given.chosen, pairs_of(systems, baseline)
    measures = [given.measures[metric] for metric in metrics]
    sums, counts, exponents, buckets = added([night_of(given.aggregation, systems, pairs)], measures, pairs=pairs)
    crossed = [
        night_of(given.aggregation, systems, pairs, table=table).sums
        for table in ("crossed_sums", "both_sums")
        if given.crossed
    ]
    tables = inference.aggregate(
        sums,
        counts,
        systems=systems,
        measures=measures,
        exponents=exponents,
        settings=Settings.of(
            chosen,
            methods=chosen.methods[:1],
            baseline=baseline,
            bucketed=buckets > 0,
            restricted=given.aggregation.manifest["restricted"],
            tests=(),
        ),
        crossed=(crossed[0], crossed[1]) if crossed else None,
    )
    estimates, contrasts = (
        [
            {"data_set": given.name} | {key: row[key] for key in kept}
            for row in table.to_pylist()
            if row["method"] == given.method
        ]
        for table, kept in zip(tables, (OF_ESTIMATE, OF_CONTRAST), strict=True)
    )
    units = frozenset() if buckets else frozenset(sums["unit"].to_pylist())
    return Inferred(estimates=estimates, contrasts=contrasts, units=units)


def _of_measures(sets: Sequence[DataSet]) -> list[str]:
    every = dict.fromkeys(name for each in sets for name in each.aggregation.measures if name not in each.measures)
    return [f"left out, for a mean of vectors or medians has no interval: {', '.join(every)}"] if every else []


def of_units(units: Sequence[frozenset[str]]) -> list[str]:
    """A note where units may be the same ones."""
    times = Counter(name for names in units for name in names)
    if not (again := sum(count > 1 for count in times.values())):
        return []
    return [
        f"{number_of(again, 'unit')} of the same name in several data sets: if they are the same users or queries, "
        "intervals of means may be too narrow, for data sets are taken as independent"
    ]
