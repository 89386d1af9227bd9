"""The page: what was simulated, tables, and what they say of the choice of an interval."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from platform import python_version

from benchmarks.coverage.buckets import QUERIES
from benchmarks.coverage.settings import OTHERS, REFERENCE, SETTINGS, Setting
from benchmarks.coverage.simulation import CHUNK, COSTLY, Found
from benchmarks.coverage.store import Results
from benchmarks.coverage.tables import beside, buckets, by_setting, enough, ignoring, of_auto, overall, points
from evalcore.inference import INTERVALS

MAIN = ("auto", "t", "hall", "studentized", "percentile", "bca")


def page(results: Results) -> str:
    """The text of docs/coverage.md."""
    found = results.settings
    data_sets = min(each.data_sets for each in found.values())
    costly = ", ".join(f"`{method}`" for method in COSTLY)
    return (
        "\n\n".join(
            [
                "# Coverage of the intervals",
                "Made by `make coverage`; do not edit.",
                ABOUT.format(
                    data_sets=data_sets, chunk=CHUNK, settings=len(SETTINGS), others=len(OTHERS), costly=costly
                ).strip(),
                "## Which interval to choose",
                _choice(found),
                "## Every interval over all settings",
                _overall(found),
                overall(found),
                "## `auto` in every setting",
                AUTO.strip(),
                "### Settings that chose it",
                of_auto(found, REFERENCE),
                "### Settings that check it",
                of_auto(found, OTHERS),
                "## Every interval in every setting",
                "Coverage in % ± its Monte-Carlo error.",
                by_setting(found, tuple(INTERVALS), lambda each: f"{points(each.coverage)} ±{points(each.error)}"),
                "## Misses on each side",
                MISSES.strip(),
                by_setting(found, MAIN, lambda each: f"{points(each.below)} / {points(each.above)}"),
                "## Width",
                WIDTH.strip(),
                by_setting(found, MAIN, lambda each: f"{each.usual:.2f}"),
                "## Clusters that are ignored",
                _ignored(results),
                ignoring(results),
                "## Buckets beside units",
                BUCKETS.format(queries=QUERIES).strip(),
                buckets(results),
                "## Beside another program",
                beside(found),
                f"Python {python_version()}, numpy {version('numpy')}.",
            ]
        )
        + "\n"
    )


ABOUT = """
An interval of 95 % should hold the true value in 95 of 100 evaluations. Whether it does can be tried where the true
value is known: values of queries are drawn from a distribution with a known mean, {data_sets:,} times for each of
{settings} settings, every interval is made with `evalcore.inference.infer`, and the share that hold the truth is
counted ({costly}, which takes long, on a tenth of them). All figures come from seeds, so they can be made again.
Intervals that resample have 1,999 replicates where queries are the units, and 999 for clusters and buckets.

A setting is a distribution of query values, a number of units and, for clusters, sizes and the correlation of
queries of a cluster (ICC):

* `rr10`: reciprocal ranks, 35 % of them 0; `rr10 sparse`: 90 %. `ndcg moderate` is spread over 0 to 1 with some 0 and
  1, `ndcg skewed` has 60 % zeros and few high values. `delta rr10` is the difference of two systems that agree on 80 %
  of the queries, `delta sparse` of two that agree on 97 %. The other names say what they are.
* N: independent queries. G: clusters of queries, such as users or sessions. *Uneven sizes* are lognormal: 13.7 queries
  on average, some clusters with more than 100; with *informative sizes* large clusters have other values than small
  ones. All settings with an ICC and no other word have uneven sizes.
* {others} of the settings were written down before `auto` was run on them, to check a rule that the others had chosen.

The *Monte-Carlo error* behind ± is the standard error that a figure has because the data sets are not endless in
number: differences of less than two or three of them say nothing. {chunk} data sets share the draws of a bootstrap,
which makes them depend on each other a little, so the error is taken from the spread between groups of {chunk}.
Intervals of one setting see the same data sets, so they compare better than that.

*Informative units* are those whose value is not the most common one: for a difference of two systems, the units
where they differ. With fewer than 10 no method can be relied on, and the flag `insufficient` says so.
"""
CHOICE = """
* `auto`, unless there is a reason against it. It covers {low} to {high} % in the {n_all} settings with 10 or more
  informative units, and {low_of_others} to {high_of_others} % in those {n_others} of them that did not serve to choose
  it. It is the hull of `t` and an interval that allows for skewness, which fail in opposite situations.
* `t` where an interval must be explained in a line or nothing may be drawn at random. For the difference of two
  systems over the same queries it is mostly as good as `auto` ({t_ties} with 50 queries and 80 % ties), unless a few
  queries lose much ({t_losses} where `auto` covers {auto_losses}). For skewed values of few queries it covers too
  little: {t_skewed} of `ndcg skewed` with 50 queries, where `auto` covers {auto_skewed}.
* From about 1,000 independent queries on, with 30 or more informative ones, the choice hardly matters: every interval
  of `rr10`, `ndcg moderate` and `delta rr10` covers {low_1000} to {high_1000} %.
* Clusters: with 20 of them and skewed values `cr1`, which most programs have, covers {cr1_few}, `percentile`
  {percentile_few}, `t` {t_few} and `auto` {auto_few}. The more uneven the sizes, the larger the differences.
* `hall` and `studentized` are right where skewness is real ({hall_skewed} of `ndcg skewed`, N=50) and wrong where it
  is noise, as in differences with many ties ({hall_ties} and {studentized_ties} with 50 queries).
* `percentile`, `basic`, `normal` and `bca` are there for comparison with other programs. `basic` covers {basic_skewed}
  of `ndcg skewed`, N=50, and `bca` {bca_ties} of differences with many ties.
* `wild` takes by far the longest and covers no more than `t`: it is there for its p-values.
* With fewer than 10 informative units, none: of data sets of `delta sparse` with 50 and 200 queries {flagged} are
  flagged `insufficient`, and even `auto` covers {auto_sparse}. More queries are needed.
"""
OVERALL = """
Over the settings with 10 or more informative units. *Too low*: in how many of them less than 93.5 % is covered, less
two Monte-Carlo errors. *Shortfall*: how far coverage is below 95 %, in points, on average (above 95 % counts as 0).
*Width*: the mean over settings of what is in the table of widths.
The last rows are no choices of `infer`: the least interval that holds two others, the same two in every setting.
`t + hall`, which needs no resampling, covers as much as `auto` but is far wider for few clusters of uneven sizes: its
mean width is {hall_wide} where that of `auto` is {auto_wide} ({wide}).
"""
AUTO = """
*Width*: the median, *mean width*: the mean, over that of an interval with the true standard error.
*Flagged*: the share of data sets with a flag; those flagged `insufficient` or `few_clusters` should not be decided on.
"""
MISSES = """
Truth below the interval / above it, in % of the data sets; 2.5 / 2.5 would be right. For skewed values of few units or
clusters most misses are on the side of the long tail, so a bound on that side alone holds less than it says.
"""
WIDTH = """
The median width over that of estimate ± 1.96 true standard errors. The true one is the standard deviation of the
estimates over all data sets of the setting. Medians, because `studentized` is sometimes wider than any bound where
few units differ: its replicates then have standard errors near 0.
"""
IGNORED = """
Data sets of the same settings with every query as a unit of its own, as if there were no clusters: intervals of 95 %
cover {low} to {high} %. Where queries of a user or a session resemble each other, that column is the `unit`.
"""
BUCKETS = """
Above 32,768 units job 2 puts units into 4,096 buckets by a hash of their ids, and a bucket is the unit. Below, the
standard error by buckets over that by units, for {queries:,} independent queries of `delta rr10`. Theory: random
groups give a standard error a relative deviation of 1 / √(2 (buckets - 1)).
"""


def _overall(found: dict[str, Found]) -> str:
    wide = "rr10 (35% zeros), ICC 0.3, informative sizes, G=20"
    widths = {method: f"{found[wide].intervals[method].width:.1f}" for method in ("auto", "t + hall")}
    return OVERALL.format(hall_wide=widths["t + hall"], auto_wide=widths["auto"], wide=wide).strip()


def _ignored(results: Results) -> str:
    coverage = [each.coverage for found in results.ignoring.values() for each in found.intervals.values()]
    return IGNORED.format(low=points(min(coverage)), high=points(max(coverage))).strip()


def _choice(found: dict[str, Found]) -> str:
    def covers(setting: str, method: str) -> str:
        return f"{points(found[setting].intervals[method].coverage)} %"

    def extent(settings: Iterable[Setting]) -> tuple[int, str, str]:
        coverage = [found[s.name].intervals["auto"].coverage for s in settings if enough(found[s.name])]
        return len(coverage), points(min(coverage)), points(max(coverage))

    n_all, low, high = extent(SETTINGS)
    n_others, low_of_others, high_of_others = extent(OTHERS)
    few = "ndcg skewed (60% zeros), ICC 0.3, G=20"
    skewed = "ndcg skewed (60% zeros), N=50"
    ties = "delta rr10 (80% ties), N=50"
    losses = "delta with rare losses (85% ties), N=400"
    usual = ("rr10 (35% zeros), N=1000", "ndcg moderate, N=1000", "delta rr10 (80% ties), N=1000")
    quick = [method for method in INTERVALS if method not in COSTLY]
    at_1000 = [found[name].intervals[method].coverage for name in usual for method in quick]
    sparse = [f"delta sparse (97% ties), N={units}" for units in (50, 200)]
    flagged = " and ".join(f"{100 * found[name].flagged['insufficient']:.0f} %" for name in sparse)
    return CHOICE.format(
        n_all=n_all, low=low, high=high, n_others=n_others, low_of_others=low_of_others, high_of_others=high_of_others,
        t_ties=covers(ties, "t"), auto_ties=covers(ties, "auto"), bca_ties=covers(ties, "bca"),
        studentized_ties=covers(ties, "studentized"), hall_ties=covers(ties, "hall"),
        t_losses=covers(losses, "t"), auto_losses=covers(losses, "auto"), t_skewed=covers(skewed, "t"),
        hall_skewed=covers(skewed, "hall"), auto_skewed=covers(skewed, "auto"),
        basic_skewed=covers(skewed, "basic"),
        low_1000=points(min(at_1000)), high_1000=points(max(at_1000)),
        cr1_few=covers(few, "cr1"), t_few=covers(few, "t"), percentile_few=covers(few, "percentile"),
        auto_few=covers(few, "auto"), flagged=flagged, auto_sparse=" and ".join(covers(n, "auto") for n in sparse),
    ).strip()  # fmt: skip
