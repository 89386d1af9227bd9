"""Measures of values that another tool computed, from the names that it gives them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evalcore import METRICS, Conventions, EvalcoreError, Metric, name, parse
from evalcore.errors import unknown
from evalcore.metrics.base import HasElements, HasParts
from jobs.errors import UsageError
from jobs.measures import Measure, Statistic, measures_of

IN_COLUMNS = re.compile(r"(?:m_)?([a-z0-9_]+?)(?:_at_([0-9]+))?")


def metric_of(text: str) -> Metric | None:
    """The metric of a name, as this or another tool spells it, or as a column of SCORES; None for a name of its own.

    >>> name(metric_of("ndcg_cut_10")), name(metric_of("ndcg_at_10")), metric_of("latency_ms")
    ('nDCG@10', 'nDCG@10', None)
    """
    for spelled in (text, *_spelled_as_column(text)):
        try:
            return parse(spelled)
        except EvalcoreError:
            continue
    return None


def _spelled_as_column(text: str) -> list[str]:
    form = IN_COLUMNS.fullmatch(text)
    if form is None:
        return []
    family, cutoff = form.groups()
    alike = [known for known in METRICS if known.casefold() == family]
    return [f"{known}@{cutoff}" if cutoff else known for known in alike]


def canonical(text: str) -> str:
    """The name that stands in tables: our own of a metric that is known.

    >>> canonical("recip_rank"), canonical("latency_ms")
    ('RR', 'latency_ms')
    """
    metric = metric_of(text)
    return text if metric is None else name(metric)


def check_margins(margins: Iterable[str], names: Collection[str]) -> None:
    """Raises UsageError for a margin of a metric that is not among `names`."""
    for metric in margins:
        if metric not in names and canonical(metric) not in names:
            raise UsageError(f"a margin: {unknown('metric', metric, names)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A number for each query that a table of scores holds.

    slots   what it is made of in the table: its own value, or what is above and what is below
    """

    name: str
    slots: tuple[str, ...]
    metric: Metric | None = None

    def is_of(self, measure: Measure) -> bool:
        """Whether a measure is of it, or of one of its elements."""
        return self.name == (measure.name if measure.element is None else measure.name.rpartition("[")[0])


def wanted(
    found: Sequence[str], *, metrics: Sequence[str], ratios: Mapping[str, Sequence[str]], where: str
) -> list[Named]:
    """What is estimated of the values that a table holds, in the order of `metrics`, or of the table.

    Raises UsageError for a name that there is not, or two of one metric.
    """
    slots: dict[str, str] = {}
    ratios = {canonical(each): parts for each, parts in ratios.items()}
    for slot in found:
        if (other := slots.setdefault(canonical(slot), slot)) != slot:
            raise UsageError(f"{where}: {other} and {slot} are both {canonical(slot)}; name one of them with --metrics")
    if absent := [part for parts in ratios.values() for part in parts if part not in found]:
        raise UsageError(f"{where}: aggregate.ratios: {unknown('column', absent[0], found)}")
    parts = {part for both in ratios.values() for part in both}
    names = [canonical(each) for each in metrics]
    names = names or list(dict.fromkeys([*(each for each, slot in slots.items() if slot not in parts), *ratios]))
    if absent := [each for each in names if each not in slots and each not in ratios]:
        raise UsageError(f"{where}: {unknown('metric', absent[0], [*slots, *ratios])}")
    return [
        Named(name=each, slots=tuple(ratios[each]) if each in ratios else (slots[each],), metric=metric_of(each))
        for each in names
    ]


def measures(
    named: Sequence[Named],
    conventions: Conventions,
    *,
    lower_is_better: Collection[str] = (),
    taken: Collection[str] = (),
    vectors: Collection[str] = (),
    ours: bool = False,
) -> list[Measure]:
    """What is estimated of each system.  Nothing is bounded: the values are those of others.

    A value that is null is left out, and may be there for another system. Of `ours`, tables that `evaljob score`
    wrote, a null is what the metric and the conventions say.

    taken     columns that have other names
    vectors   slots that hold arrays

    Raises UsageError for a name in `lower_is_better` that is none of them.
    """
    lower = {canonical(each) for each in lower_is_better}
    if absent := sorted(lower - {each.name for each in named}):
        raise UsageError(f"aggregate.lower_is_better: {unknown('metric', absent[0], [each.name for each in named])}")
    made: list[Measure] = []
    for each in named:
        chosen: Statistic = "mean" if conventions.mean == "queries" else conventions.mean
        if each.metric is not None and _fits(each, each.metric, vectors):
            found = measures_of([each.metric], conventions)
            if len(each.slots) == 1 and found[0].statistic == "ratio":
                found = [replace(found[0], statistic=chosen)]
            if not ours:
                found = [replace(one, needs_relevant=False, undefined_by_system=True) for one in found]
        else:
            column = _column(each.name, {*taken, *(measure.column for measure in made)})
            statistic: Statistic = "ratio" if len(each.slots) == 2 else chosen
            own = Measure(name=each.name, source=column, column=column, statistic=statistic)
            found = [replace(own, undefined_by_system=True)]
        made += [
            replace(one, bounded=False, higher_is_better=False if each.name in lower else one.higher_is_better)
            for one in found
        ]
    if twice := {measure.column for measure in made} & set(taken):
        raise UsageError(f"a metric has a column called {', '.join(sorted(twice))}, and so has the table; rename one")
    return made


def _fits(each: Named, metric: Metric, vectors: Collection[str]) -> bool:
    """Whether the table holds what the metric of that name is: a vector, the parts of a ratio, or a number."""
    if len(each.slots) == 2:
        return isinstance(metric, HasParts)
    return (each.slots[0] in vectors) == isinstance(metric, HasElements)


def _column(name: str, taken: Collection[str]) -> str:
    """A column's name of letters, digits and _ that no metric of ours has."""
    slug = "x_" + (re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") or "metric")
    number = 2
    free = slug
    while free in taken:
        free, number = f"{slug}_{number}", number + 1
    return free
