"""Confidence intervals: each is one function of the evidence and one line of INTERVALS."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from evalcore.errors import EvalcoreError, unknown
from evalcore.inference.distributions import student_t_quantile
from evalcore.inference.evidence import Evidence, Interval, acceleration, quantile, replicate_deviation, share_below
from evalcore.inference.influence import Statistic
from evalcore.inference.ordered import ordered_sum


def t(evidence: Evidence) -> Interval:
    """Student's interval; for clusters with the standard error CR2 and the degrees of freedom that go with it.

        estimate +- q * standard error      q the quantile of Student's t at the upper tail

    Source: Student 1908, doi:10.1093/biomet/6.1.1; Imbens & Kolesar 2016, doi:10.1162/REST_a_00552.
    """
    reach = evidence.t_quantile * evidence.statistic.standard_error
    return Interval(evidence.estimate - reach, evidence.estimate + reach)


def cr1(evidence: Evidence) -> Interval:
    """Student's interval with the standard error that most programs have for clusters, and G - 1 degrees of freedom.

        CR1 = root of G / (G - 1) * sum of u_g**2        strata: squares of each added, G - 1 degrees for each

    Too short for few clusters of unequal size.  Source: Cameron & Miller 2015, doi:10.3368/jhr.50.2.317.
    """
    return _student(
        evidence, [math.sqrt(part.n_units / (part.n_units - 1)) * part.plain_error for part in _apart(evidence)]
    )


def cr3(evidence: Evidence) -> Interval:
    """Student's interval with the standard error of the jackknife over units, and G - 1 degrees of freedom.

        CR3 = root of (G - 1) / G * sum of deletion_g**2

    Source: MacKinnon, Nielsen & Webb 2023, doi:10.1002/jae.2990.
    """
    squares = [(part.n_units - 1) / part.n_units * ordered_sum(part.deletion**2) for part in _apart(evidence)]
    return _student(evidence, [math.sqrt(square) for square in squares])


def _apart(evidence: Evidence) -> list[Statistic]:
    return evidence.statistic.counted_parts or [evidence.statistic]


def _student(evidence: Evidence, errors: list[float]) -> Interval:
    """Of the errors of independent parts, strata: each of them takes a degree of freedom."""
    df = evidence.statistic.n_units - len(errors)
    reach = student_t_quantile(evidence.tails[1], df) * math.hypot(*errors)
    return Interval(evidence.estimate - reach, evidence.estimate + reach)


def hall(evidence: Evidence) -> Interval:
    """Student's interval, corrected for the skewness of the influence; no resampling.

        estimate - s g(q / sqrt(G)), estimate - s g(-q / sqrt(G))        s = standard error * sqrt(G), q as in `t`
        g(x) = 3 / k ((1 + k (x - k / (6 G)))**(1/3) - 1)                k the skewness, 6 a sqrt(G), a as in `bca`

    Source: Hall 1992, doi:10.1111/j.2517-6161.1992.tb01876.x.
    """
    root = math.sqrt(evidence.statistic.n_units)
    skewness = 6 * acceleration(evidence.statistic) * root
    scale = evidence.statistic.standard_error * root

    def g(x: float) -> float:
        if abs(skewness) < 1e-8:
            return x
        return 3 / skewness * (math.cbrt(1 + skewness * (x - skewness / (6 * root**2))) - 1)

    reach = evidence.t_quantile / root
    return Interval(evidence.estimate - scale * g(reach), evidence.estimate - scale * g(-reach))


def percentile(evidence: Evidence) -> Interval:
    """The quantiles of the replicates at the two tails.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    low, high = evidence.tails
    return Interval(quantile(evidence.replicates, low), quantile(evidence.replicates, high))


def basic(evidence: Evidence) -> Interval:
    """The percentile interval mirrored at the estimate: covers least of all for skewed values, known from elsewhere.

    Source: Davison & Hinkley 1997, Bootstrap Methods and their Application, section 5.2.
    """
    mirrored = percentile(evidence)
    return Interval(2 * evidence.estimate - mirrored.high, 2 * evidence.estimate - mirrored.low)


def normal(evidence: Evidence) -> Interval:
    """The estimate and the standard deviation of the replicates, as if they were normal.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 13.2.
    """
    reach = NormalDist().inv_cdf(evidence.tails[1]) * replicate_deviation(evidence.replicates)
    return Interval(evidence.estimate - reach, evidence.estimate + reach)


def studentized(evidence: Evidence) -> Interval:
    """The quantiles of the replicates in units of their own standard errors, from the other side (bootstrap-t).

        estimate - q(upper tail) s, estimate - q(lower tail) s        s = root of the sum of u_g**2

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 12.5.
    """
    low, high = (quantile(evidence.studentized, p) for p in evidence.tails)
    error = evidence.statistic.plain_error
    return Interval(evidence.estimate - high * error, evidence.estimate - low * error)


def wild(evidence: Evidence) -> Interval:
    """The values that the restricted wild cluster bootstrap does not reject, to 1e-6 of a standard error.

        p-value(low) = p-value(high) = 1 - confidence        (wild.py)

    NaN where no value is far enough to be rejected, as with two or three units.
    """
    below, above = (evidence.wild.reach(side, evidence.confidence) for side in (-1, 1))
    if math.isinf(below) or math.isinf(above):
        return Interval(math.nan, math.nan)
    return Interval(evidence.estimate - below, evidence.estimate + above)


def auto(evidence: Evidence) -> Interval:
    """The least interval that holds two which fail in opposite situations: `t` and one that allows for skewness.

    The other is `hall` where all units have the same share or more than 1,000 are effective, else `studentized`.
    Student's interval covers too little where skewness is real, the others where it is noise, as it is for
    differences with many ties. Coverage of all: docs/coverage.md.
    """
    other = studentized if resamples("auto", evidence.statistic) else hall
    ends = [t(evidence), other(evidence)]
    return Interval(min(low for low, _ in ends), max(high for _, high in ends))


def bca(evidence: Evidence) -> Interval:
    """Quantiles of the replicates at levels corrected for bias and for a standard error that varies.

        level(p) = Phi(z0 + (z0 + z_p) / (1 - a (z0 + z_p)))       z_p = Phi^-1(p), p the two tails
        z0 = Phi^-1(share of replicates below the estimate, those equal to it counted half)
        a  = sum of L_g**3 / (6 (sum of L_g**2)**1.5)       L_g = deletion less its mean over the units

    a is the jackknife's acceleration, without its loop. The share is kept half a replicate away from 0 and 1.

    Source: Efron 1987, doi:10.1080/01621459.1987.10478410.
    """
    law = NormalDist()
    z0, a = law.inv_cdf(share_below(evidence)), acceleration(evidence.statistic)

    def level(p: float) -> float:
        z = z0 + law.inv_cdf(p)
        shrink = 1 - a * z
        return law.cdf(z0 + z / shrink if shrink > 0 else math.copysign(math.inf, z))

    low, high = evidence.tails
    return Interval(quantile(evidence.replicates, level(low)), quantile(evidence.replicates, level(high)))


INTERVALS: dict[str, Callable[[Evidence], Interval]] = {
    "auto": auto,
    "t": t,
    "hall": hall,
    "cr1": cr1,
    "cr3": cr3,
    "percentile": percentile,
    "basic": basic,
    "normal": normal,
    "bca": bca,
    "studentized": studentized,
    "wild": wild,
}
RESAMPLING = frozenset({"percentile", "basic", "normal", "bca"})
"""The methods that need replicates."""
MANY_UNITS = 1_000
"""Effective units from which skewness is no longer noise, and `auto` draws nothing."""


def resamples(method: str, statistic: Statistic) -> bool:
    """Whether a method needs studentized replicates of this statistic."""
    few_clusters = not statistic.units_alike and statistic.effective_units <= MANY_UNITS
    return method == "studentized" or (method == "auto" and few_clusters)


def interval(method: str, evidence: Evidence) -> Interval:
    """The interval by one of INTERVALS; the estimate twice if no unit has influence, NaN without a standard error.

    Raises EvalcoreError for a method that does not exist.
    """
    if method not in INTERVALS:
        raise EvalcoreError(unknown("interval method", method, INTERVALS))
    if math.isnan(evidence.statistic.standard_error):
        return Interval(math.nan, math.nan)
    if not evidence.statistic.influence.any():
        return Interval(evidence.estimate, evidence.estimate)
    return INTERVALS[method](evidence)
