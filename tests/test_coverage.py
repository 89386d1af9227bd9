"""Intervals hold the truth as often as they should: the quick form of the simulation behind docs/coverage.md."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage import __main__ as coverage
from benchmarks.coverage import buckets, reference
from benchmarks.coverage.datasets import DataSets, Values
from benchmarks.coverage.samplers import Queries, equal, lognormal_sizes
from benchmarks.coverage.settings import DELTA, OTHERS, REFERENCE, RR, SETTINGS, SKEWED
from benchmarks.coverage.simulation import COSTLY, HULLS, Found, covered, simulate
from benchmarks.coverage.store import Results
from benchmarks.coverage.tables import misses
from evalcore.inference import INTERVALS, Evidence, UnitSums
from evalcore.inference.influence import Statistic

PAGE = (Path(__file__).parents[1] / "docs" / "coverage.md").read_text(encoding="utf-8")
BY_NAME = {setting.name: setting for setting in SETTINGS}
FEW_SKEWED = "ndcg skewed (60% zeros), ICC 0.3, G=20"
FEW = "rr10 (35% zeros), ICC 0.3, G=20"
TIES = "delta rr10 (80% ties), N=50"
HARD = (FEW, FEW_SKEWED, TIES, "rr10 sparse (90% zeros), N=50", "ndcg skewed (60% zeros), N=50")


DATA_SETS = 1_000
QUICK = tuple(method for method in INTERVALS if method not in COSTLY)


@cache
def quick(name: str) -> Found:
    return simulate(BY_NAME[name], data_sets=DATA_SETS, methods=QUICK)


def errors_from_published(name: str, method: str, found: Found) -> float:
    """How many Monte-Carlo errors, of both programs together, lie between two figures of coverage."""
    expected = reference.PUBLISHED[name][method]
    error = math.sqrt(expected * (1 - expected) * (1 / found.data_sets + 1 / reference.DATA_SETS))
    return (found.intervals[method].coverage - expected) / error


# intervals


@pytest.mark.parametrize("name", HARD)
def test_auto_covers_what_it_should(name):
    assert not misses(quick(name).intervals["auto"])


@pytest.mark.parametrize("name", HARD)
def test_every_interval_covers_as_much_as_another_program_found(name):
    found = quick(name)
    known = reference.PUBLISHED[name].keys() & found.intervals.keys()
    gaps = {method: errors_from_published(name, method, found) for method in known}
    assert len(gaps) == 7
    assert {method: gap for method, gap in gaps.items() if abs(gap) > 3} == {}


def test_the_wild_bootstrap_covers_as_much_as_another_program_found():
    found = simulate(BY_NAME[FEW_SKEWED], data_sets=200, methods=["wild"])
    assert abs(errors_from_published(FEW_SKEWED, "wild", found)) < 3


def test_clusters_that_are_ignored_are_noticed():
    ignored = simulate(BY_NAME[FEW], data_sets=300, methods=["t", "percentile"], ignoring_clusters=True)
    for method, found in ignored.intervals.items():
        assert 0.38 < found.coverage < 0.55, method


def normal_instead_of_student(monkeypatch):
    monkeypatch.setattr(Evidence, "t_quantile", property(lambda self: stats.norm.ppf(self.tails[1])))


def as_many_degrees_of_freedom_as_units(monkeypatch):
    monkeypatch.setattr(Statistic, "degrees_of_freedom", property(lambda self: self.n_units - 1.0))


def usual_error_of_clusters(monkeypatch):
    monkeypatch.setitem(INTERVALS, "t", INTERVALS["cr1"])


@pytest.mark.parametrize(
    "fault", [normal_instead_of_student, as_many_degrees_of_freedom_as_units, usual_error_of_clusters]
)
def test_a_wrong_interval_would_be_noticed(fault, monkeypatch):
    fault(monkeypatch)
    found = simulate(BY_NAME[FEW], data_sets=DATA_SETS, methods=["t"])
    assert errors_from_published(FEW, "t", found) < -3.5


@pytest.mark.parametrize(
    ("name", "method"), [(FEW_SKEWED, "percentile"), ("ndcg skewed (60% zeros), N=50", "t"), (TIES, "studentized")]
)
def test_a_worse_rule_would_be_noticed(name, method):
    assert misses(quick(name).intervals[method])


@pytest.mark.parametrize("units", [50, 200])
def test_data_sets_that_say_nothing_are_flagged(units):
    found = simulate(BY_NAME[f"delta sparse (97% ties), N={units}"], data_sets=DATA_SETS, methods=["t"])
    expected = stats.binom(units, 0.03).cdf(9)
    assert found.informative == pytest.approx(0.03 * units, rel=0.2)
    assert found.flagged["insufficient"] == pytest.approx(
        expected, abs=3 * math.sqrt(expected * (1 - expected) / 1_000)
    )


def test_standard_errors_of_buckets_are_those_of_units_but_for_the_noise_of_grouping():
    found = buckets.compare(DELTA, buckets=256, data_sets=100)
    assert found.mean == pytest.approx(1, abs=3 * found.theory / 10)
    assert found.deviation == pytest.approx(found.theory, rel=0.25)
    assert found.within >= 0.97


# simulation


def pooled(drawn: DataSets) -> tuple[float, float]:
    """The estimate from all data sets as one, and its standard error from their differences."""
    sums = [np.bincount(c.at % drawn.n_sets, weights=c.values) for c in drawn.columns]
    counts = [np.bincount(c.at % drawn.n_sets) for c in drawn.columns]
    below = sums[1:] if drawn.kind == "ratio" else counts
    estimates = [above.sum() / under.sum() for above, under in zip(sums, below, strict=False)]
    rests = [(s - e * u) / u.mean() for s, e, u in zip(sums, estimates, below, strict=False)]
    estimate, rest = (parts[0] - parts[1] if drawn.kind == "contrast" else parts[0] for parts in (estimates, rests))
    error = rest.std() / math.sqrt(drawn.n_sets)
    return (math.exp(estimate), error * math.exp(estimate)) if drawn.kind == "geometric" else (estimate, error)


@pytest.mark.parametrize("setting", [*REFERENCE[18:], *OTHERS[:-2]], ids=lambda setting: setting.name)
def test_the_truth_is_what_many_data_sets_have_on_average(setting):
    estimate, error = pooled(setting.sampler.draw(np.random.default_rng(1), 50))
    assert estimate == pytest.approx(setting.sampler.truth, abs=4 * error)


@pytest.mark.parametrize(("law", "correlation"), [(RR, 0.3), (SKEWED, 0.5), (DELTA, 0.1)])
def test_values_of_a_cluster_correlate_as_asked(law, correlation):
    pairs = Queries(law=law, units=100_000, sizes=equal(2), correlation=correlation).draw(np.random.default_rng(2), 1)
    first, second = pairs.columns[0].values.reshape(-1, 2).T
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(correlation, abs=0.01)


def test_columns_of_data_sets_are_the_unit_sums_of_each():
    drawn = Queries(law=SKEWED, units=5, sizes=lognormal_sizes(3, 1), correlation=0.4).draw(np.random.default_rng(3), 4)
    together = drawn.sums()
    at, values = drawn.columns[0]
    for column in range(4):
        unit = at[at % 4 == column] // 4
        alone = UnitSums.from_values(
            [f"{u}" for u in unit], values[at % 4 == column][:, None], exponents=together.exponents[:1]
        )
        for name in ("n", "hi", "lo"):
            assert getattr(together, name)[:, column].tolist() == getattr(alone, name)[:, 0].tolist()
        assert together.products[column, column] == alone.products[0, 0]


def test_queries_of_ignored_clusters_are_units():
    drawn = DataSets(2, 2, "mean", (Values(np.array([0, 1, 1, 2, 3]), np.array([0.0, 0.25, 0.5, 0.75, 1.0])),))
    by_query = drawn.by_query()
    assert by_query.n_units == 3
    assert by_query.sums().n.tolist() == [[1, 1], [1, 1], [0, 1]]
    assert [by_query.sums().mean(column) for column in (0, 1)] == [0.375, 1.75 / 3]


def test_informative_units_are_those_away_from_the_usual_value():
    values = Values(np.arange(6), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.5]))  # data sets 0 0 1 and 1 1 0.5
    zeros = Values(values.at, np.zeros(6))
    assert DataSets(3, 2, "mean", (values,)).informative() == 1
    assert DataSets(3, 2, "contrast", (values, zeros)).informative() == 2  # 1 and 3 units differ from 0


def test_coverage_is_counted_by_side_and_its_error_comes_from_chunks():
    ends = np.array([[[0.0, 2.0], [1.5, 2.0]], [[0.0, 0.5], [0.0, 0.5]]])  # holds, truth below; truth above, twice
    found = covered(ends, truth=1.0, deviation=1.0)
    assert (found.coverage, found.below, found.above) == (0.25, 0.25, 0.5)
    assert found.error == pytest.approx(0.25)  # chunks cover 0.5 and 0: their deviation is sqrt(0.125)
    assert found.width == pytest.approx((2 + 0.5 + 0.5 + 0.5) / 4 / (2 * 1.959964))
    assert found.usual == pytest.approx(0.5 / (2 * 1.959964))
    assert covered(np.full((2, 2, 2), np.nan), truth=1.0, deviation=1.0).coverage == 0


def test_an_interval_has_the_same_coverage_whatever_is_asked_beside_it():
    alone = simulate(BY_NAME[TIES], data_sets=100, chunk=50, methods=["bca"])
    assert simulate(BY_NAME[TIES], data_sets=100, chunk=50, methods=QUICK).intervals["bca"] == alone.intervals["bca"]


def test_results_are_read_as_they_were_written(tmp_path):
    results = Results(
        settings={TIES: quick(TIES)}, buckets={64: buckets.Agreement(mean=1, deviation=0.1, theory=0.1, within=1)}
    )
    file = tmp_path / "out" / "coverage.json"
    assert Results.read(file) == Results()
    results.write(file)
    assert Results.read(file) == results


def test_a_run_that_was_stopped_goes_on_with_what_is_missing(monkeypatch):
    asked = []

    def noted(setting, *, methods, data_sets, **_):
        asked.append((setting.name, tuple(methods)))
        assert data_sets == (10 if methods == ["wild"] else 100)
        return replace(quick(TIES), intervals={method: quick(TIES).intervals["auto"] for method in methods})

    monkeypatch.setattr(coverage, "simulate", noted)
    known = {setting.name: quick(TIES) for setting in SETTINGS[1:]}
    coverage.run(Results(settings=known), data_sets=100, seed=0)
    assert asked == [(SETTINGS[0].name, QUICK), *((s.name, ("wild",)) for s in SETTINGS)]
    assert all(found.intervals.keys() - set(HULLS) == set(INTERVALS) for found in known.values())


# docs/coverage.md


def rows_under(heading: str) -> list[list[str]]:
    """The cells of the table rows between a heading and the next of the same level."""
    level = heading.split()[0]
    (section,) = re.findall(rf"^{re.escape(heading)}\n(.*?)(?=^{level} |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:2] == "| "]


def test_the_page_has_every_interval_and_every_rule():
    told = [row[0] for row in rows_under("## Every interval over all settings")[1:]]
    assert told == [*(f"`{method}`" for method in INTERVALS), *HULLS]


@pytest.mark.parametrize("heading", ["## Every interval in every setting", "## Misses on each side", "## Width"])
def test_the_page_has_every_setting(heading):
    head, *rows = rows_under(heading)
    assert [row[0] for row in rows] == [setting.name for setting in SETTINGS]
    assert {len(row) for row in rows} == {len(head)}


def test_the_page_has_every_interval_in_every_setting_with_its_error():
    head, *rows = rows_under("## Every interval in every setting")
    assert head[1:] == [f"`{method}`" for method in INTERVALS]
    assert all(re.fullmatch(r"\d+\.\d ±\d\.\d", cell) for row in rows for cell in row[1:])


def test_on_the_page_auto_covers_enough_wherever_there_are_ten_informative_units():
    rows = [row for row in rows_under("## `auto` in every setting") if "±" in row[2]]
    assert len(rows) == len(SETTINGS)
    for name, informative, told, *_ in rows:
        coverage, error = map(float, told.replace("*", "").split(" ±"))
        if float(informative.replace(",", "")) >= 10:
            assert coverage >= 93.5 - 2 * error - 0.15, name  # both are rounded


def test_the_page_is_made_from_ten_thousand_data_sets_of_each_setting():
    assert "10,000 times for each of\n69 settings" in PAGE
    assert len(SETTINGS) == 69
    assert len(OTHERS) >= 15
