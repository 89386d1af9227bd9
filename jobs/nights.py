"""Aggregations whose sums are put together: what they must share, and which of their rows count."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.dataset as ds

from evalcore.errors import unknown
from evalcore.inference.buckets import BUCKETS
from jobs.added_sums import SIDES, Night
from jobs.aggregate import pairs_of
from jobs.aggregations import Aggregation
from jobs.config import Aggregate
from jobs.errors import DataRefused, UsageError
from jobs.measures import Measure
from jobs.tables import ALL

CROSSED = ("crossed_sums", "both_sums")
"""UNIT SUMS by a second kind of unit, and by pairs of both kinds."""


def measures_of(night: Aggregation, chosen: Aggregate) -> list[Measure]:
    """The measures that are asked for, a vector with all of its elements.  Raises UsageError."""
    named = [(_whole(measure), measure) for measure in night.measures.values()]
    wanted = [night.canonical(each) for each in chosen.metrics] or list(dict.fromkeys(name for name, _ in named))
    known = {name for name, _ in named}
    if absent := [each for each in wanted if each not in known]:
        raise UsageError(unknown("metric", absent[0], sorted(known)))
    return [measure for each in wanted for name, measure in named if name == each]


def _whole(measure: Measure) -> str:
    return measure.name if measure.element is None else measure.name.rpartition("[")[0]


def systems_of(night: Aggregation, chosen: Aggregate) -> list[str]:
    """The systems that are asked for.  Raises UsageError."""
    known = night.manifest["systems"]
    baseline = [] if chosen.baseline is None else [chosen.baseline]
    for system in (*chosen.systems, *baseline):
        if system not in known:
            raise UsageError(unknown("system", system, known))
    systems = [system for system in known if not chosen.systems or system in chosen.systems]
    if absent := [system for system in baseline if system not in systems]:
        raise UsageError(f"the baseline {absent[0]} is none of --systems {' '.join(systems)}")
    return systems


def check_same(
    nights: Sequence[Aggregation], measures: Sequence[Measure], systems: Sequence[str], chosen: Aggregate
) -> None:
    """Raises DataRefused, with every difference, for aggregations whose sums do not add."""
    first = nights[0]
    for night in nights[1:]:
        both = (first, night)
        stated = {
            "unit": [each.manifest["unit"] for each in both],
            "strata": [each.manifest["config"].get("strata") for each in both],
            **{
                key: [each.manifest["conventions"].get(key) for each in both]
                for key in dict.fromkeys(key for each in both for key in each.manifest["conventions"])
            },
        }
        found = [f"{key} is {one} and {other}" for key, (one, other) in stated.items() if one != other]
        for measure in measures:
            theirs = night.measures.get(measure.name)
            if theirs is None:
                found.append(f"{measure.name} is only in the first (choose what both have with --metrics)")
            elif theirs != measure:
                found.append(f"{measure.name} is not the same")
        held = [set(each.manifest["systems"]) for each in both]
        alone = sorted(set(systems) - held[1] if chosen.systems else held[0] ^ held[1])
        if alone:
            found.append(f"{', '.join(alone)} only in one of them (choose what both have with --systems)")
        if found:
            raise DataRefused(f"{first.directory} and {night.directory} cannot be added: {'; '.join(found)}")


def night_of(
    night: Aggregation, systems: Sequence[str], pairs: Sequence[tuple[str, str]], *, table: str = "unit_sums"
) -> Night:
    """The sums of these systems, in one of its tables of sums.

    Raises UsageError where contrasts of the pairs need others than there are, DataRefused for damaged files.
    """
    manifest = night.manifest
    asked = pairs_of(manifest["systems"], manifest["config"]["baseline"])
    strange = [pair for pair in pairs if pair not in asked and pair[::-1] not in asked]
    if manifest["restricted"] and strange:
        raise UsageError(
            f"systems count different queries, and {night.directory} has no sums over those that both {strange[0][0]} "
            f"and {strange[0][1]} count, only for contrasts with {manifest['config']['baseline']}: aggregate again"
        )
    given = ds.field("given")
    ours = ds.field("system").isin(systems) & (given.is_null() | given.isin(systems))
    sums = night.read(table, (ds.field("segment") == ALL) & ours)
    of_pair = {(one, other) for both in pairs for one, other in (both, both[::-1])}
    sides = zip(sums["system"].to_pylist(), sums["given"].to_pylist(), strict=True)
    wanted = [theirs is None or (system, theirs) in of_pair for system, theirs in sides]
    return Night(
        sums=sums.filter(pa.array(wanted, pa.bool_())),
        pairs=night.read("pairs", ds.field(SIDES[0]).isin(systems) & ds.field(SIDES[1]).isin(systems)),
        asked=asked,
        exponents=manifest["exponents"],
        buckets=manifest.get("buckets", BUCKETS if manifest["bucketed"] else 0),
        restricted=manifest["restricted"],
    )


def crossed_of(
    nights: Sequence[Aggregation], chosen: Aggregate, systems: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> dict[str, pa.Table]:
    """The sums by the kind of unit that crosses the first, and by both kinds, where they are asked for.

    Raises UsageError where they are not there, and for several nights.
    """
    if chosen.crossed is None:
        return {}
    made = nights[0].manifest["config"].get("crossed")
    if made != chosen.crossed or len(nights) > 1:
        what = (
            "do not add over several aggregations" if made == chosen.crossed else f"by {chosen.crossed} are not there"
        )
        raise UsageError(
            f"sums that allow for a second kind of unit {what}; aggregate again, or leave it out with "
            "--set aggregate.crossed=null"
        )
    return {table: night_of(nights[0], systems, pairs, table=table).sums for table in CROSSED}
