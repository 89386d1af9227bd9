"""Intervals beside those of scipy and arch from the same draws, and beside published examples."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from arch.bootstrap import IIDBootstrap
from numpy.typing import ArrayLike
from scipy import stats

from evalcore.inference import Inference, Measure, UnitSums, infer
from tests.evalcore.inference.support import SameDraws, sums_of

REPLICATES = 9_999


@dataclass
class Case:
    """A statistic in the project's words, and as a function of columns of one number for each unit."""

    sums: UnitSums
    arguments: dict
    columns: tuple
    statistic: object
    error: object  # the standard error of resampled columns, given their statistic

    def inference(self, **more) -> Inference:
        return infer(self.sums, replicates=REPLICATES, **self.arguments | more)

    def ours(self, method, **more):
        found = self.inference(methods=[method], **more)
        return (found.contrasts or found.estimates)[0].intervals[method]


def ratio(above: ArrayLike, below: ArrayLike, axis=-1):
    return np.sum(above, axis=axis) / np.sum(below, axis=axis)


def error_of_ratio(theta, above, below):
    """By linearisation: the root of the sum of squared residuals over the sum below."""
    return math.sqrt(((above - theta * below) ** 2).sum()) / below.sum()


def single_queries() -> Case:
    values = np.round(np.random.default_rng(31).exponential(size=60), 3)
    return Case(
        sums_of(values),
        {},
        (values,),
        lambda x, axis=-1: np.mean(x, axis=axis),
        lambda theta, x: x.std() / len(x) ** 0.5,
    )


def clusters_of_unequal_size() -> Case:
    sizes = np.random.default_rng(32).integers(1, 12, size=25)
    units = np.repeat([f"u{g:02d}" for g in range(25)], sizes)
    values = np.random.default_rng(33).exponential(size=len(units)) + np.repeat(np.linspace(0, 2, 25), sizes)
    totals = np.array([values[units == unit].sum() for unit in np.unique(units)])
    return Case(sums_of(values, units=units), {}, (totals, sizes.astype(float)), ratio, error_of_ratio)


def paired_contrast() -> Case:
    rng = np.random.default_rng(34)
    baseline = rng.random(40)
    deltas = np.where(rng.random(40) < 0.5, 0.0, rng.exponential(size=40) - 0.3)
    return Case(
        sums_of(baseline + deltas, baseline),
        {"contrasts": [(0, 1)]},
        (deltas,),
        lambda x, axis=-1: np.mean(x, axis=axis),
        lambda theta, x: x.std() / len(x) ** 0.5,
    )


def ratio_of_sums() -> Case:
    # Population of 10 cities of the United States in 1920 and 1930: R package boot, data set city;
    # Davison & Hinkley 1997, Bootstrap Methods and their Application, table 2.1
    u = np.array([138.0, 93, 61, 179, 48, 37, 29, 23, 30, 2])
    x = np.array([143.0, 104, 69, 260, 75, 63, 50, 48, 111, 50])
    measure = Measure(column=0, below=1, kind="ratio")
    return Case(sums_of(x, u), {"measures": [measure]}, (x, u), ratio, error_of_ratio)


CASES = [single_queries, clusters_of_unequal_size, paired_contrast, ratio_of_sums]
every_case = pytest.mark.parametrize("case", [case() for case in CASES], ids=[case.__name__ for case in CASES])


@every_case
@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")])
@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_from_the_same_draws_scipy_makes_the_same_interval(case, ours, theirs, confidence):
    expected = stats.bootstrap(
        case.columns, case.statistic, paired=True, n_resamples=REPLICATES, method=theirs, batch=3_333,
        rng=SameDraws(), confidence_level=confidence,
    )  # fmt: skip
    # a quantile is at rank (B + 1) p here and 1 + (B - 1) p there: of 9,999 less than one replicate apart
    assert case.ours(ours, confidence=confidence) == pytest.approx(
        tuple(expected.confidence_interval), abs=0.01 * expected.standard_error
    )


@every_case
def test_from_the_same_draws_scipy_finds_the_same_standard_error_of_the_replicates(case):
    expected = stats.bootstrap(case.columns, case.statistic, paired=True, n_resamples=REPLICATES, rng=SameDraws(),
                               method="percentile", batch=3_333)  # fmt: skip
    low, high = case.ours("normal")
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * expected.standard_error, rel=1e-9)


@every_case
def test_from_the_same_draws_arch_makes_the_same_studentized_interval(case):
    bootstrap = IIDBootstrap(*case.columns, seed=SameDraws())
    settings = {"func": lambda *columns: case.statistic(*columns), "reps": REPLICATES, "size": 0.9}
    theirs = bootstrap.conf_int(**settings, method="studentized", std_err_func=case.error).ravel()
    normal = bootstrap.conf_int(**settings, method="norm", reuse=True).ravel()
    # theirs is in units of the replicates' standard deviation, ours of the standard error by formula
    estimate = case.statistic(*case.columns)
    deviation = (normal[1] - estimate) / stats.norm.ppf(0.95)
    error = case.error(estimate, *case.columns)
    expected = estimate + (theirs - estimate) / deviation * error
    assert case.ours("studentized", confidence=0.9) == pytest.approx(tuple(expected), abs=0.02 * error)


# Student's sleep data (Student 1908; R data set sleep): hours of sleep gained with each of two drugs, ten patients
SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
NOTHING = [math.nan] * 10


def test_the_paired_sleep_data_give_what_r_prints():
    # R: with(sleep, t.test(extra[group == 1], extra[group == 2], paired = TRUE))
    # t = -4.0621, df = 9, p-value = 0.002833, 95 percent confidence interval -2.4598858 -0.7001142, mean -1.58
    found = infer(sums_of(*SLEEP), contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    assert found.delta == pytest.approx(-1.58)
    assert found.delta / found.standard_error == pytest.approx(-4.0621, abs=5e-5)
    assert found.degrees_of_freedom == 9
    assert found.p_value == pytest.approx(0.002833, abs=5e-7)
    assert found.intervals["t"] == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


def test_the_sleep_data_of_two_groups_give_what_r_prints():
    # R: t.test(extra ~ group, data = sleep), the example of ?t.test
    # t = -1.8608, df = 17.776, p-value = 0.07939, 95 percent confidence interval -3.3654832 0.2054832
    apart = sums_of(SLEEP[0] + NOTHING, NOTHING + SLEEP[1])
    found = infer(apart, contrasts=[(0, 1)], methods=["t"]).contrasts[0]
    assert found.delta / found.standard_error == pytest.approx(-1.8608, abs=5e-5)
    assert found.degrees_of_freedom == pytest.approx(17.776, abs=5e-4)
    assert found.p_value == pytest.approx(0.07939, abs=5e-6)
    assert found.intervals["t"] == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)


# Efron & Tibshirani 1993, An Introduction to the Bootstrap, table 2.1: days that 16 mice survived
TREATED, CONTROL = [94, 197, 16, 38, 99, 141, 23], [52, 104, 146, 10, 51, 30, 40, 27, 46]


def test_the_mouse_data_have_the_standard_errors_of_the_book():
    # table 2.1: means 86.86 and 56.22, difference 30.63; estimated standard errors 25.24, 14.14 and 28.93
    apart = sums_of(TREATED + [math.nan] * 9, [math.nan] * 7 + CONTROL)
    found = infer(apart, contrasts=[(0, 1)], methods=["t"])
    assert [one.estimate for one in found.estimates] == pytest.approx([86.86, 56.22], abs=0.005)
    assert found.contrasts[0].delta == pytest.approx(30.63, abs=0.005)
    errors = [one.standard_error for one in [*found.estimates, *found.contrasts]]
    assert errors == pytest.approx([25.24, 14.14, 28.93], abs=0.02)


def test_the_control_mice_have_the_bootstrap_t_interval_of_the_book():
    # section 12.5, 1,000 replicates: the 5 % and 95 % points of t* are -4.53 and 1.53, the interval (35.82, 116.74)
    found = infer(sums_of(CONTROL), methods=["studentized"], confidence=0.9, replicates=9_999).estimates[0]
    assert found.intervals["studentized"] == pytest.approx((35.82, 116.74), abs=3 * 0.25 * 13.3)  # noise of their ends


def test_the_ratio_of_city_populations_is_that_of_the_boot_package():
    # R: boot(city, ratio, R = 999, stype = "w") prints original 1.520313
    assert ratio_of_sums().inference(methods=["t"]).estimates[0].estimate == pytest.approx(1.520313, abs=1e-6)
