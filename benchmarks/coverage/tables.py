"""The tables of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from benchmarks.coverage import reference
from benchmarks.coverage.settings import REFERENCE, SETTINGS, Setting
from benchmarks.coverage.simulation import HULLS, Coverage, Found
from benchmarks.coverage.store import Results
from evalcore.inference import INTERVALS

LEAST = 0.935
NOMINAL = 0.95
INFORMATIVE = 10


def short(results: Results) -> list[str]:
    """Settings with enough informative units where `auto` covers less than 93.5 %, less two Monte-Carlo errors."""
    return [name for name, found in results.settings.items() if enough(found) and misses(found.intervals["auto"])]


def enough(found: Found) -> bool:
    """Whether a method can be asked for: 10 or more informative units."""
    return found.informative >= INFORMATIVE


def misses(coverage: Coverage) -> bool:
    """Whether less than 93.5 % is covered, less two Monte-Carlo errors."""
    return coverage.coverage < LEAST - 2 * coverage.error


def points(share: float) -> str:
    """A share in % with one decimal."""
    return f"{100 * share:.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: Sequence[int] = (0,)) -> str:
    """Markdown; numbers are to the right but for the columns of words."""
    rule = ["---" if column in words else "---:" for column in range(len(head))]
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])


def overall(found: dict[str, Found]) -> str:
    """A row for each interval and each rule."""
    counted = {name: each for name, each in found.items() if enough(each)}
    rows = []
    for method in (*INTERVALS, *HULLS):
        of_method = {name: each.intervals[method] for name, each in counted.items() if method in each.intervals}
        worst = min(of_method, key=lambda name: of_method[name].coverage)
        too_low = sum(misses(each) for each in of_method.values())
        shortfall = _mean(max(0.0, NOMINAL - each.coverage) for each in of_method.values())
        rows.append([
            f"`{method}`" if method in INTERVALS else method,
            f"{too_low} of {len(of_method)}",
            points(of_method[worst].coverage),
            worst,
            f"{100 * shortfall:.2f}",
            f"{_mean(each.usual for each in of_method.values()):.2f}",
        ])  # fmt: skip
    return table(["interval", "too low", "lowest", "where", "shortfall", "width"], rows, words=(0, 3))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed)


def of_auto(found: dict[str, Found], settings: Sequence[Setting]) -> str:
    """All that is known of `auto`, a row for each setting."""
    rows = []
    for setting in settings:
        each = found[setting.name]
        auto = each.intervals["auto"]
        told = f"{points(auto.coverage)} ±{points(auto.error)}"
        rows.append([
            setting.name,
            f"{each.informative:,.0f}" if each.informative >= 10 else f"{each.informative:.1f}",
            f"**{told}**" if enough(each) and misses(auto) else told,
            f"{points(auto.below)} / {points(auto.above)}",
            f"{auto.usual:.2f}",
            f"{auto.width:.2f}",
            ", ".join(f"{flag} {100 * share:.0f} %" for flag, share in each.flagged.items() if share >= 0.005),
        ])  # fmt: skip
    head = ["setting", "informative units", "coverage", "truth below / above", "width", "mean width", "flagged"]
    return table(head, rows, words=(0, 6))


def by_setting(found: dict[str, Found], methods: Sequence[str], cell: Callable[[Coverage], str]) -> str:
    """A row for each setting, a column for each interval."""
    rows = [[s.name, *(cell(found[s.name].intervals[method]) for method in methods)] for s in SETTINGS]
    return table(["setting", *(f"`{method}`" for method in methods)], rows)


def ignoring(results: Results) -> str:
    """Coverage with clusters as units and with queries as units."""
    rows = []
    for name, each in results.ignoring.items():
        alone = [f"{points(c.coverage)} ±{points(c.error)}" for c in each.intervals.values()]
        rows.append([name, points(results.settings[name].intervals["auto"].coverage), *alone])
    methods = next(iter(results.ignoring.values())).intervals
    return table(["setting", "`auto` by cluster", *(f"`{method}` by query" for method in methods)], rows)


def buckets(results: Results) -> str:
    """How far standard errors by buckets are from those by units."""
    rows = [
        [f"{number:,}", f"{each.mean:.4f}", f"{each.deviation:.4f}", f"{each.theory:.4f}", points(each.within)]
        for number, each in results.buckets.items()
    ]
    within = "within 3 / √(2 buckets) of 1, %"
    return table(["buckets", "mean ratio", "deviation of the ratio", "theory", within], rows)


def beside(found: dict[str, Found]) -> str:
    """How far coverage is from what another program found."""
    gaps, errors = {}, {}
    for name, of_methods in reference.PUBLISHED.items():
        for method, coverage in of_methods.items():
            ours = found[name].intervals[method]
            gaps[name, method] = ours.coverage - coverage
            errors[name, method] = math.hypot(ours.error, math.sqrt(coverage * (1 - coverage) / reference.DATA_SETS))
    (name, method), largest = max(gaps.items(), key=lambda each: abs(each[1]))
    far = [key for key, gap in gaps.items() if abs(gap) > 0.015]
    beyond = sum(abs(gap) > 3 * errors[key] for key, gap in gaps.items())
    return (
        f"An independent simulation of the {len(REFERENCE)} settings that chose `auto`, with its own formulae and "
        f"{reference.DATA_SETS:,} data sets each, has {len(gaps)} figures that this page has too. They differ by "
        f"{100 * math.sqrt(_mean(gap * gap for gap in gaps.values())):.2f} points (root mean square), at most by "
        f"{100 * abs(largest):.1f} (`{method}`, {name}). {len(far)} differ by more than 1.5 points"
        + (f", of these settings: {'; '.join(dict.fromkeys(name for name, _ in far))}" if far else "")
        + f". {beyond} differ by more than 3 Monte-Carlo errors of both together."
    )
