"""An interval of a relative delta, also where the baseline is hardly told from 0."""

from __future__ import annotations

import math

from evalcore.inference.distributions import student_t_quantile
from evalcore.inference.evidence import Interval
from evalcore.inference.influence import Statistic
from evalcore.inference.ordered import ordered_sum


def relative_interval(contrast: Statistic, baseline: Statistic, *, confidence: float) -> Interval:
    """Of delta / baseline, as a fraction: all ratios that Student's test does not reject.

        (r - ratio)**2 <= q**2 (V_dd - 2 ratio V_db + ratio**2 V_bb)
        ends = (m -+ root) / a       a = 1 - q**2 V_bb       m = r - q**2 V_db
        root**2 = q**2 (V_dd - 2 r V_db + r**2 V_bb - q**2 (V_dd V_bb - V_db**2))

    r is delta over the baseline's estimate, V are sums over units of products of `adjusted` (influence.py) over that
    estimate, q is Student's quantile with the fewer degrees of freedom of the two. Far from 0 the ends are those of
    the delta method. NaN for a baseline within q standard errors of 0: the ratio can then be anything. NaN as well
    without a standard error.

    Source: Fieller 1954, doi:10.1111/j.2517-6161.1954.tb00159.x.
    """
    if math.isnan(contrast.standard_error) or math.isnan(baseline.standard_error):
        return Interval(math.nan, math.nan)
    q = student_t_quantile((1 + confidence) / 2, min(contrast.degrees_of_freedom, baseline.degrees_of_freedom))
    if abs(baseline.estimate) <= q * baseline.standard_error:
        return Interval(math.nan, math.nan)
    r = contrast.estimate / baseline.estimate
    d, b = (statistic.adjusted / baseline.estimate for statistic in (contrast, baseline))
    dd, db, bb = ordered_sum(d * d), ordered_sum(d * b), ordered_sum(b * b)
    a, m = 1 - q * q * bb, r - q * q * db
    root = q * math.sqrt(max(0.0, dd - 2 * r * db + r * r * bb - q * q * (dd * bb - db * db)))
    return Interval((m - root) / a, (m + root) / a)
