"""What a selection comes to, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobs.figures import figure

MOST_NAMED = 10
"""Systems that a sentence names."""


def reasons(found: Mapping[str, Any]) -> list[str]:
    """Which candidate is chosen and what it is worth, which others may be as good, and which were out and why."""
    chosen = _of_the_chosen(found) if found["chosen"] else ["no candidate is admissible, so none is chosen"]
    return [*chosen, *_of_the_inadmissible(found["candidates"])]


def _of_the_chosen(found: Mapping[str, Any]) -> Iterator[str]:
    chosen, baseline, confidence = found["chosen"], found["baseline"], f"{found['confidence'] * 100:g} %"
    row = next(row for row in found["candidates"] if row["system"] == chosen["system"])
    signed = "+" if baseline else ""
    against = f", {figure(row['delta'], sign='+')} against {baseline}" if baseline else ""
    of_many = "" if chosen["among"] == 1 else f" of {chosen['among']:,}"
    yield f"{row['system']} is the best{of_many} by {found['metric']}: {figure(row['estimate'])}{against}"
    if chosen["among"] > 1 and chosen["corrected"] is not None:
        corrected = figure(chosen["corrected"], sign=signed)
        yield f"the best of many is lucky as well: corrected for the choice it is {corrected}"
    if baseline:
        between = f"between {figure(row['low'], sign='+')} and {figure(row['high'], sign='+')}"
        yield f"it {VERDICTS[row['verdict']].format(baseline)}: {between}, at {confidence} for all candidates together"
    others = [each for each in found["candidates"] if each["less_chosen"]]
    level = [each["system"] for each in others if not each["told_from_chosen"]]
    if level:
        yield f"at {confidence} it cannot be told from {_names(level)}"
    elif others:
        yield f"at {confidence} it is better than every other{' admissible' * bool(found['auxiliary'])} candidate"


VERDICTS = {
    "improved": "is better than {}",
    "regressed": "is worse than {}",
    "equivalent": "differs from {} by less than the margin",
    "inconclusive": "is not shown to be better than {}",
}


def _of_the_inadmissible(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Who is out, and for which metrics: those that got worse, and if none did those that may have."""
    told: dict[str, list[str]] = {"regressed": [], "inconclusive": []}
    for row in rows:
        for answer, named in told.items():
            if metrics := [each["metric"] for each in row["auxiliary"] if each["answer"] == answer]:
                named.append(f"{row['system']} ({', '.join(metrics)})")
                break
    for worse, named in zip(("got worse", "may be worse by the margin"), told.values(), strict=True):
        if named:
            yield f"out, for a metric that {worse}: {_names(named)}"


def _names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
