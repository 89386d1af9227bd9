"""From unit sums to estimates and paired contrasts, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalcore.errors import DataError, EvalcoreError, unknown
from evalcore.inference import influence
from evalcore.inference.distributions import student_t_cdf
from evalcore.inference.drawing import Drawing
from evalcore.inference.end_errors import EndErrors, end_errors
from evalcore.inference.evidence import Evidence, Interval, replicate_deviation
from evalcore.inference.fieller import relative_interval
from evalcore.inference.influence import Statistic
from evalcore.inference.intervals import INTERVALS, RESAMPLING, interval
from evalcore.inference.joint import Joint
from evalcore.inference.measures import Measure
from evalcore.inference.strata import Labels, Strata
from evalcore.inference.sums import UnitSums
from evalcore.inference.tests import TESTS

FEWEST_REPLICATES = 99
FEWEST_INFORMATIVE_UNITS = 10
FEWEST_EFFECTIVE_UNITS = 10
FEWEST_UNITS_OF_A_STRATUM = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measure over its counted queries, in the metric's unit; NaN if there is none.

    standard_error is CR2 over the units, with its degrees_of_freedom (`influence.Statistic`). n_units counts
    the units with a counted query. end_errors tell how far the less certain end of each interval would move with
    another seed, as a standard deviation: 0 where nothing is drawn, NaN without an interval (end_errors.py).

    flags   one_unit       less than 2 such units, on a side or in a stratum: no standard error and no interval (NaN)
            degenerate     no unit has influence: the interval is the estimate twice
            insufficient   fewer than 10 units whose value is not the most common one: intervals cover too little
            few_clusters   N**2 / sum of n_g**2 is below 10, n_g the queries of a unit and N their sum
            small_strata   a stratum has fewer than 10 such units: its replicates spread too little, by 1 / units of
                           its variance; t, hall, cr3 and auto allow for it
            errors_disagree   the replicates spread less or more than the units say, by more than 3 of the errors
                           that both have: look for a value that no other comes near
    """

    estimate: float
    standard_error: float
    degrees_of_freedom: float
    n_queries: int
    n_units: int
    flags: tuple[str, ...]
    intervals: dict[str, Interval]
    end_errors: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How much higher the candidate's measure is than the baseline's, over the same units.

        delta = candidate - baseline     relative_delta = delta / baseline (NaN for a baseline of 0)
        relative_interval                 of relative_delta (fieller.py)
        p_value   two-sided, t = delta / standard_error with degrees_of_freedom
        effect_size = delta / standard deviation of the units' deltas = delta / (standard_error sqrt(n_units)),
                      of sides without a unit in common delta / root of the mean of their two variances

    p_values are those of the other tests that were asked for (`TESTS`), by name.

    p_value is 1 if no delta differs from 0, never 0, and NaN for less than 2 units. Where all units have the
    same delta, which leaves no error to divide by, it is 2**(1 - n_units), that of sign flips. effect_size is NaN for
    a standard error of 0. n_queries are those that both sides count. Flags as in Estimate, with
    `insufficient` for fewer than 10 units whose delta differs from 0 (`influence.Statistic.informative_units`),
    and

            weak_baseline  the baseline's estimate is not told from 0: no relative_interval
    """

    delta: float
    relative_delta: float
    relative_interval: Interval
    standard_error: float
    degrees_of_freedom: float
    p_value: float
    p_values: dict[str, float]
    effect_size: float
    n_queries: int
    n_units: int
    flags: tuple[str, ...]
    intervals: dict[str, Interval]
    end_errors: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """One Estimate for each measure, one Contrast for each pair asked for, in their order; `joint`: the contrasts."""

    estimates: list[Estimate]
    contrasts: list[Contrast]
    joint: Joint


def infer(
    sums: UnitSums,
    *,
    measures: Sequence[Measure] | None = None,
    contrasts: Sequence[tuple[int, int]] = (),
    methods: Sequence[str] = ("auto",),
    tests: Sequence[str] = (),
    families: Sequence[int] | None = None,
    strata: Labels | None = None,
    stratum_weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    replicates: int = 9_999,
    seed: int = 0,
) -> Inference:
    """Every measure and every (candidate, baseline) pair's difference of measures, each with its intervals.

    measures   what to estimate; default: the mean of each column
    contrasts  pairs of places in `measures`
    methods    names in INTERVALS
    tests      names in TESTS: p-values of the contrasts beside Student's
    families   a number for each contrast; those of one number are a family to tests of several questions at once.
               Default: one family
    strata     (n_units,) a label for each unit: the share of each label's queries is fixed (strata.py)
    stratum_weights   by label, instead of those shares

    Units are taken as independent; the queries of one unit may depend on each other in any way. Replicates
    are drawn only if a method needs them, the same for all columns. Those that drew no query of a column
    say nothing of it and are left out.  Raises EvalcoreError for an unknown method, and DataError for a
    confidence, number of replicates or column that cannot be.

    >>> sums = UnitSums.from_values(["q1", "q2", "q3"], np.array([[0.5, 0.25], [1.0, 0.5], [0.0, 0.0]]))
    >>> found = infer(sums, contrasts=[(0, 1)], methods=["t"])
    >>> found.estimates[0].estimate, found.contrasts[0].delta, found.contrasts[0].flags
    (0.5, 0.25, ('insufficient', 'few_clusters', 'weak_baseline'))
    """
    if measures is None:
        measures = [Measure(column=column) for column in range(len(sums.exponents))]
    _check(measures, contrasts, methods, tests, confidence, replicates)
    if not 0 <= seed < 2**64:
        raise DataError(f"seed {seed} is not from 0 to 2**64 - 1")
    # of a geometric mean the logarithm is nearer to normal: its interval is made there
    design = Strata.of(sums, strata, stratum_weights)
    logarithms = [design.statistic(measure) for measure in measures]
    columns = [
        influence.of_geometric(statistic) if measure.kind == "geometric" else statistic
        for statistic, measure in zip(logarithms, measures, strict=True)
    ]
    pairs = [
        design.contrast((measures[candidate], measures[baseline]), (columns[candidate], columns[baseline]))
        for candidate, baseline in contrasts
    ]
    drawing = Drawing(design, measures, contrasts, seed=seed, replicates=replicates)
    of_columns = drawing.evidence(logarithms, drawing.of_measure, methods, confidence)
    of_pairs = drawing.evidence(pairs, drawing.of_contrast, methods, confidence)
    joint = Joint(
        sums=sums,
        measures=measures,
        contrasts=contrasts,
        statistics=pairs,
        p_values=[_p_value(pair) for pair in pairs],
        families=np.zeros(len(pairs), dtype=np.int64) if families is None else np.asarray(families, dtype=np.int64),
        replicates=drawing.of_contrast,
        evidence=lambda: drawing.evidence(pairs, drawing.of_contrast, ("auto",), confidence),
        n_replicates=replicates,
        seed=seed,
    )
    p_values = {test: TESTS[test](joint) for test in tests}
    return Inference(
        estimates=[
            _estimate(column, evidence, measure, methods)
            for column, evidence, measure in zip(columns, of_columns, measures, strict=True)
        ],
        contrasts=[
            _contrast(
                evidence,
                columns[baseline],
                {method: interval(method, evidence) for method in methods},
                {test: float(values[place]) for test, values in p_values.items()},
            )
            for place, (evidence, (_, baseline)) in enumerate(zip(of_pairs, contrasts, strict=True))
        ],
        joint=joint,
    )


def _estimate(column: Statistic, evidence: Evidence, measure: Measure, methods: Sequence[str]) -> Estimate:
    intervals = {method: interval(method, evidence) for method in methods}
    errors = {method: end_errors(method, evidence) for method in methods}
    if measure.kind == "geometric":
        intervals = {method: Interval(exponential(low), exponential(high)) for method, (low, high) in intervals.items()}
        errors = {
            method: EndErrors(*(error * end for error, end in zip(errors[method], ends, strict=True)))
            for method, ends in intervals.items()
        }
    return Estimate(
        estimate=column.estimate,
        standard_error=column.standard_error,
        degrees_of_freedom=column.degrees_of_freedom,
        n_queries=column.n_queries,
        n_units=column.n_units,
        flags=_flags(evidence),
        intervals=intervals,
        end_errors={method: max(both) for method, both in errors.items()},
    )


def _contrast(
    evidence: Evidence, baseline: Statistic, intervals: dict[str, Interval], p_values: dict[str, float]
) -> Contrast:
    pair = evidence.statistic
    relative = relative_interval(pair, baseline, confidence=evidence.confidence)
    weak = math.isnan(relative.low) and not math.isnan(pair.standard_error)
    error = pair.standard_error
    return Contrast(
        delta=pair.estimate,
        relative_delta=pair.estimate / baseline.estimate if baseline.estimate else math.nan,
        relative_interval=relative,
        standard_error=error,
        degrees_of_freedom=pair.degrees_of_freedom,
        p_value=_p_value(pair),
        p_values=p_values,
        effect_size=pair.estimate / pair.deviation if error > 0 else math.nan,
        n_queries=pair.n_queries,
        n_units=pair.n_units,
        flags=(*_flags(evidence), *(["weak_baseline"] if weak else [])),
        intervals=intervals,
        end_errors={method: max(end_errors(method, evidence)) for method in intervals},
    )


def exponential(logarithm: float) -> float:
    """Its power of e; infinite where a double has no room, as an end far off of an interval of few units may be."""
    return math.inf if logarithm >= 709 else math.exp(logarithm)


def _p_value(pair: Statistic) -> float:
    error = pair.standard_error
    if math.isnan(error):
        return math.nan
    if error == 0 and abs(pair.estimate) <= pair.resolution:
        return 1.0
    if error == 0:
        return max(2.0 ** (1 - pair.n_units), math.ulp(0.0))
    return max(2 * student_t_cdf(-abs(pair.estimate) / error, pair.degrees_of_freedom), math.ulp(0.0))


def _flags(evidence: Evidence) -> tuple[str, ...]:
    """The flags of Estimate that hold, in its order."""
    statistic = evidence.statistic
    one_unit = math.isnan(statistic.standard_error)
    raised = {
        "one_unit": one_unit,
        "degenerate": not one_unit and not statistic.influence.any(),
        "insufficient": statistic.informative_units < FEWEST_INFORMATIVE_UNITS,
        "few_clusters": statistic.effective_units < FEWEST_EFFECTIVE_UNITS,
        "small_strata": any(part.n_units < FEWEST_UNITS_OF_A_STRATUM for part in statistic.counted_parts),
        "errors_disagree": _errors_disagree(evidence),
    }
    return tuple(flag for flag, holds in raised.items() if holds)


def _errors_disagree(evidence: Evidence) -> bool:
    """Whether the replicates spread otherwise than the influence says."""
    expected = evidence.statistic.plain_error
    if not len(evidence.replicates) or not expected > 0:
        return False
    noise = math.sqrt(1 / (2 * len(evidence.replicates)) + 1 / (2 * evidence.statistic.effective_units))
    return abs(replicate_deviation(evidence.replicates) / expected - 1) > 3 * noise


def _check(
    measures: Sequence[Measure],
    contrasts: Sequence[tuple[int, int]],
    methods: Sequence[str],
    tests: Sequence[str],
    confidence: float,
    replicates: int,
) -> None:
    for kind, asked, known in (("interval method", methods, INTERVALS), ("test", tests, TESTS)):
        for name in asked:
            if name not in known:
                raise EvalcoreError(unknown(kind, name, known))
    if not 0 < confidence < 1:
        raise DataError(f"confidence {confidence} is not a fraction between 0 and 1; 95 % is 0.95")
    if replicates < FEWEST_REPLICATES and (tests or {"auto", "studentized", "wild", *RESAMPLING}.intersection(methods)):
        raise DataError(f"{replicates} replicates; at least {FEWEST_REPLICATES} are needed")
    for pair in contrasts:
        if not all(0 <= place < len(measures) for place in pair):
            raise DataError(f"contrast {pair} names a column that does not exist; there are {len(measures)}, from 0")
