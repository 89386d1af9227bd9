import itertools
import math

import numpy as np
import pytest
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference import INTERVALS, TESTS, Measure, UnitSums, infer
from evalcore.inference.bootstrap import Replicates
from evalcore.inference.draws import counts
from evalcore.inference.strata import Strata, stream_of
from tests.evalcore.inference.support import sums_of

SIZES = {"head": 30, "tail": 12, "torso": 20}
LABELS = np.repeat(list(SIZES), list(SIZES.values()))
WEIGHTS = {"head": 3.0, "tail": 6.0, "torso": 1.0}
MEAN = Measure(column=0)


@pytest.fixture
def rng():
    return np.random.default_rng(43)


@pytest.fixture
def values(rng):
    """Strata of different levels and spreads, one query a unit."""
    level = np.repeat([0.8, 0.2, 0.5], list(SIZES.values()))
    return np.clip(level + rng.normal(0, 0.1, len(level)) * (1 + 2 * (LABELS == "tail")), 0, 1)


def by_label(values):
    return {label: values[label == LABELS] for label in SIZES}


def in_plain_loops(values, weights, replicate, seed=0):
    """A replicate of the weighted mean: each stratum drawn by itself, with the stream of its label."""
    total = 0.0
    for label, of_stratum in by_label(values).items():
        drawn = counts(len(of_stratum), seed=seed, start=replicate, stop=replicate + 1, stream=stream_of(label))[0]
        total += weights[label] * (drawn @ of_stratum) / drawn.sum()
    return total


def test_strata_change_the_error_of_an_estimate_and_not_the_estimate(values):
    plain, stratified = (infer(sums_of(values), methods=["t"], strata=s).estimates[0] for s in (None, LABELS))
    assert stratified.estimate == plain.estimate
    # by hand: the root of the sum of pi_h**2 s_h**2 / n_h, and Satterthwaite's degrees (Cochran 1977, equation 5.16)
    parts = [((len(x) / 62) ** 2 * x.var(ddof=1) / len(x), len(x) - 1) for x in by_label(values).values()]
    variance = sum(part for part, _ in parts)
    assert stratified.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert stratified.degrees_of_freedom == pytest.approx(variance**2 / sum(v**2 / df for v, df in parts), rel=1e-12)
    reach = stats.t.ppf(0.975, stratified.degrees_of_freedom) * stratified.standard_error
    assert stratified.intervals["t"] == pytest.approx((values.mean() - reach, values.mean() + reach), rel=1e-12)
    assert stratified.standard_error < plain.standard_error / 1.5


def test_weights_take_the_place_of_the_shares_of_queries(values):
    found = infer(sums_of(values), methods=["t"], strata=LABELS, stratum_weights=WEIGHTS).estimates[0]
    assert found.estimate == pytest.approx(sum(WEIGHTS[h] / 10 * x.mean() for h, x in by_label(values).items()))
    variance = sum((WEIGHTS[h] / 10) ** 2 * stats.sem(x) ** 2 for h, x in by_label(values).items())
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_a_replicate_draws_each_stratum_by_itself(values, weights):
    drawn = Replicates(Strata.of(sums_of(values), LABELS, weights), [MEAN], replicates=30, seed=7).measure(0)
    shares = {h: (SIZES[h] / 62 if weights is None else weights[h] / 10) for h in SIZES}
    expected = [in_plain_loops(values, shares, replicate, seed=7) for replicate in range(30)]
    assert drawn == pytest.approx(expected, rel=1e-13)


def test_replicates_are_spread_as_those_of_another_generator(rng, values):
    found = Replicates(Strata.of(sums_of(values), LABELS), [MEAN], replicates=4_000, seed=1).measure(0)
    resampled = sum(len(x) / 62 * rng.choice(x, size=(4_000, len(x))).mean(axis=1) for x in by_label(values).values())
    assert stats.ks_2samp(found, resampled).pvalue > 1e-3
    plain = math.sqrt(sum((len(x) / 62) ** 2 * x.var() / len(x) for x in by_label(values).values()))
    assert found.std() == pytest.approx(plain, rel=4 / math.sqrt(2 * 4_000))


def test_units_of_one_label_are_no_strata_to_the_last_bit(rng):
    units = np.repeat([f"u{i:02d}" for i in range(30)], rng.integers(1, 6, 30))
    sums = UnitSums.from_values(units, rng.random((len(units), 2)), contrasts=[(0, 1)])
    settings = {"contrasts": [(0, 1)], "methods": [*INTERVALS], "tests": [*TESTS], "replicates": 199}
    plain, stratified = (infer(sums, strata=s, **settings) for s in (None, ["all"] * 30))
    assert repr((plain.estimates, plain.contrasts)) == repr((stratified.estimates, stratified.contrasts))


def test_the_draws_of_a_stratum_do_not_depend_on_the_others(rng, values):
    weights = {"head": 0, "tail": 1, "torso": 0}
    others = np.append(np.where(LABELS == "tail", values, rng.random(62)), rng.random(5))
    one, two = (
        infer(sums_of(x), strata=labels, stratum_weights=given, methods=["percentile"]).estimates[0]
        for x, labels, given in [
            (values, LABELS, weights),
            (others, np.append(LABELS, ["other"] * 5), weights | {"other": 0}),
        ]
    )
    assert one.intervals == two.intervals


def test_studentized_replicates_are_over_the_error_of_the_replicate_s_strata(values):
    found = infer(sums_of(values), methods=["studentized"], strata=LABELS, replicates=199, seed=3).estimates[0]
    expected = []
    for replicate in range(199):
        square = moved = 0.0
        for label, x in by_label(values).items():
            drawn = counts(len(x), seed=3, start=replicate, stop=replicate + 1, stream=stream_of(label))[0]
            mean = drawn @ x / len(x)
            moved += len(x) / 62 * (mean - x.mean())
            square += (len(x) / 62) ** 2 * (drawn @ (x - mean) ** 2) / len(x) ** 2
        expected.append(moved / math.sqrt(square))
    error = math.sqrt(sum((len(x) / 62) ** 2 * x.var() / len(x) for x in by_label(values).values()))
    low, high = np.quantile(expected, [0.025, 0.975], method="weibull")
    assert found.intervals["studentized"] == pytest.approx((values.mean() - high * error, values.mean() - low * error))


def test_cr3_is_the_jackknife_of_strata(rng):
    # Rust & Rao 1996, doi:10.1177/096228029600500305 (JKn): sum over h of (G_h - 1) / G_h sum of (deleted - whole)**2
    sizes = rng.integers(1, 5, 24)
    units, strata = np.repeat(np.arange(24), sizes), np.repeat(["a", "b"], 12)
    x = rng.random(len(units))
    of_query = strata[units]

    def weighted(kept):
        return sum((of_query == h).mean() * x[kept & (of_query == h)].mean() for h in "ab")

    square = sum(11 / 12 * (weighted(units != unit) - x.mean()) ** 2 for unit in range(24))
    found = infer(sums_of(x, units=[f"u{i:02d}" for i in units]), strata=strata, methods=["cr3"]).estimates[0]
    reach = stats.t.ppf(0.975, 22) * math.sqrt(square)
    assert found.intervals["cr3"] == pytest.approx((x.mean() - reach, x.mean() + reach), rel=1e-9)


def test_cr1_has_a_correction_for_each_stratum(values):
    square = sum((len(x) / 62) ** 2 * stats.sem(x) ** 2 for x in by_label(values).values())
    found = infer(sums_of(values), strata=LABELS, methods=["cr1"]).estimates[0]
    reach = stats.t.ppf(0.975, 62 - 3) * math.sqrt(square)
    assert found.intervals["cr1"] == pytest.approx((values.mean() - reach, values.mean() + reach), rel=1e-12)


def test_clusters_within_strata_have_the_degrees_of_freedom_of_all_strata_together(rng):
    # two strata that are copies: each has the degrees of the copy alone, and equal errors add theirs
    units = np.repeat([f"u{i}" for i in range(9)], [1, 1, 2, 2, 3, 4, 6, 8, 12])
    x = np.repeat(rng.random(9), [1, 1, 2, 2, 3, 4, 6, 8, 12]) / 2 + rng.random(len(units)) / 2
    alone = infer(sums_of(x, units=units), methods=["t"]).estimates[0]
    twice = np.append(x, x)
    table = sums_of(twice, twice / 2, units=np.append(np.char.add("a", units), np.char.add("b", units)))
    both = infer(table, strata=np.repeat(["a", "b"], 9), contrasts=[(0, 1)], methods=["t"])
    found, contrast = both.estimates[0], both.contrasts[0]
    assert found.degrees_of_freedom == pytest.approx(2 * alone.degrees_of_freedom, rel=1e-3)
    assert found.standard_error == pytest.approx(alone.standard_error / math.sqrt(2), rel=1e-12)
    assert contrast.degrees_of_freedom == pytest.approx(found.degrees_of_freedom, rel=1e-2)


def test_a_contrast_is_paired_within_strata(rng, values):
    other = np.clip(values + rng.normal(0.02, 0.02, len(values)), 0, 1)
    settings = {"strata": LABELS, "stratum_weights": WEIGHTS, "replicates": 199, "methods": ["auto", "percentile"]}
    of_pair = infer(sums_of(other, values), contrasts=[(0, 1)], **settings)
    of_deltas = infer(sums_of(other - values), **settings).estimates[0]
    contrast = of_pair.contrasts[0]
    assert contrast.delta == pytest.approx(of_deltas.estimate, rel=1e-12)
    assert contrast.standard_error == pytest.approx(of_deltas.standard_error, rel=1e-12)
    assert contrast.degrees_of_freedom == pytest.approx(of_deltas.degrees_of_freedom, rel=1e-9)
    for method in ("auto", "percentile"):
        assert contrast.intervals[method] == pytest.approx(of_deltas.intervals[method], rel=1e-9)


def test_a_system_and_its_copy_do_not_differ_in_any_replicate(values):
    strata = Strata.of(sums_of(values, values), LABELS, WEIGHTS)
    replicates = Replicates(strata, [MEAN, Measure(column=1)], replicates=99, seed=0)
    assert not replicates.difference(0, 1).any()


def test_sides_that_count_other_queries_have_shares_of_their_own(rng, values):
    fewer = np.where(rng.random(len(values)) < 0.3, np.nan, values + 0.01)
    found = infer(sums_of(fewer, values), contrasts=[(0, 1)], strata=LABELS, methods=["t", "percentile"]).contrasts[0]
    assert found.delta == pytest.approx(np.nanmean(fewer) - values.mean(), rel=1e-12)
    low, high = found.intervals["percentile"]
    assert low < found.delta < high


def test_a_ratio_has_the_shares_of_what_it_divides_by(rng):
    shown = rng.integers(1, 9, 62).astype(float)
    clicks = rng.binomial(shown.astype(int), 0.3).astype(float)
    ratio = Measure(column=0, below=1, kind="ratio")
    found = infer(sums_of(clicks, shown), measures=[ratio], strata=LABELS, methods=["t"]).estimates[0]
    assert found.estimate == clicks.sum() / shown.sum()
    square = 0.0
    for label in SIZES:
        a, b = clicks[label == LABELS], shown[label == LABELS]
        excess = a - a.sum() / b.sum() * b
        square += (b.sum() / shown.sum()) ** 2 * (excess**2 / (1 - b / b.sum())).sum() / b.sum() ** 2
    assert found.standard_error == pytest.approx(math.sqrt(square), rel=1e-12)


def test_a_geometric_mean_is_stratified_as_its_logarithm(values):
    measures = [Measure(column=0, kind="geometric"), MEAN]
    logarithms = np.log(np.maximum(values, 1e-5))
    settings = {"strata": LABELS, "stratum_weights": WEIGHTS, "methods": ["auto", "percentile"], "replicates": 199}
    geometric, mean = infer(sums_of(logarithms), measures=measures, **settings).estimates
    assert geometric.estimate == math.exp(mean.estimate)
    for method in ("auto", "percentile"):
        assert np.log(geometric.intervals[method]) == pytest.approx(mean.intervals[method], rel=1e-9)


def test_signs_are_flipped_of_what_each_unit_adds_to_the_weighted_delta(rng):
    deltas = rng.normal(0.3, 0.5, 9)
    added = deltas * np.repeat([0.9 / 4, 0.1 / 5], [4, 5])
    sums = [abs(np.dot(signs, added)) for signs in itertools.product([1, -1], repeat=9)]
    expected = np.mean(np.array(sums) >= abs(added.sum()) - 1e-12)
    found = infer(
        sums_of(deltas, np.zeros(9)), contrasts=[(0, 1)], tests=["sign_flip"], methods=["t"],
        strata=np.repeat(["a", "b"], [4, 5]), stratum_weights={"a": 0.9, "b": 0.1},
    ).contrasts[0]  # fmt: skip
    assert found.p_values["sign_flip"] == expected


def test_two_arms_are_two_strata(rng):
    # an A/B test by user: nobody is in both arms
    a, b = rng.random(25), rng.random(40) ** 2
    sums = sums_of(np.append(a, [np.nan] * 40), np.append([np.nan] * 25, b))
    labels = np.repeat(["a", "b"], [25, 40])
    settings = {"methods": ["t", "percentile"], "tests": ["sign_flip"]}
    found = infer(sums, contrasts=[(0, 1)], strata=labels, **settings).contrasts[0]
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    ends = expected.confidence_interval()
    assert found.intervals["t"] == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert math.isnan(found.p_values["sign_flip"])
    resampled = stats.bootstrap(
        (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), method="percentile", n_resamples=9_999, rng=rng
    ).confidence_interval
    assert found.intervals["percentile"] == pytest.approx((resampled.low, resampled.high), abs=0.005)


def test_few_units_of_a_stratum_are_flagged(rng):
    found = infer(sums_of(rng.random(29)), strata=np.repeat(["a", "b"], [20, 9]), methods=["t"]).estimates[0]
    assert found.flags == ("small_strata",)


def test_a_column_with_one_counted_unit_of_a_stratum_has_no_interval(rng):
    x = rng.random((2, 20))
    x[0, 11:] = np.nan
    found = infer(sums_of(*x), strata=np.repeat(["a", "b"], 10), contrasts=[(0, 1)], replicates=199)
    assert "one_unit" in found.estimates[0].flags
    assert math.isnan(found.estimates[0].intervals["auto"].low)
    assert "one_unit" not in found.estimates[1].flags


@pytest.mark.parametrize("weights", [None, {"a": 1, "b": 1}])
def test_a_column_without_queries_of_a_stratum(rng, weights):
    x = np.append(rng.random(15), [np.nan] * 15)
    labels = np.repeat(["a", "b"], 15)
    settings = {"methods": ["t", "bca"], "replicates": 199}
    found = infer(sums_of(x, rng.random(30)), strata=labels, stratum_weights=weights, **settings).estimates[0]
    if weights is None:  # all its queries are in the other one
        assert found.standard_error == pytest.approx(stats.sem(x[:15]), rel=1e-12)
    else:
        assert math.isnan(found.estimate)
        assert math.isnan(found.intervals["bca"].low)


@pytest.mark.parametrize(
    ("labels", "weights", "message"),
    [
        (["a", "a", "a", "b"], None, 'stratum "b" has one unit, "q00003"'),
        (["a", "a", "b"], None, "one for each of the 4 units"),
        ([1, 1, 2, 2], None, "list of strings"),
        (["a", "a", "b", "b"], {"a": 1}, '"b" is not both'),
        (["a", "a", "b", "b"], {"a": 1, "b": 1, "c": 1}, '"c" is not both'),
        (["a", "a", "b", "b"], {"a": 1, "b": -1}, "not negative"),
        (["a", "a", "b", "b"], {"a": 1, "b": math.nan}, "finite"),
        (["a", "a", "b", "b"], {"a": 0, "b": 0}, "not all 0"),
    ],
)
def test_strata_that_cannot_be_are_refused(labels, weights, message):
    with pytest.raises(DataError, match=message):
        infer(sums_of([0.1, 0.2, 0.3, 0.4]), strata=labels, stratum_weights=weights)
