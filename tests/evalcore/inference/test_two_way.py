import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import OLS

from evalcore.errors import DataError
from evalcore.inference import Measure, UnitSums, infer
from evalcore.inference.two_way import two_way


@pytest.fixture
def rng():
    return np.random.default_rng(44)


def tables(users, texts, *columns):
    """Sums by user, by text, and by both."""
    values = np.column_stack(columns)
    pairs = [(0, column) for column in range(1, len(columns))]
    of_users, of_texts = np.char.mod("u%03d", users), np.char.mod("t%03d", texts)
    both = np.char.add(of_users, of_texts)
    return [UnitSums.from_values(ids, values, contrasts=pairs) for ids in (of_users, of_texts, both)]


def crossed(rng, n_users, n_texts):
    """Every user asks every text once; values depend on both."""
    users, texts = np.divmod(np.arange(n_users * n_texts), n_texts)
    effect = rng.normal(0, 0.5, n_users)[users] + rng.normal(0, 0.7, n_texts)[texts]
    return users, texts, effect + rng.normal(0, 1, len(users))


def test_units_of_one_size_have_the_standard_error_of_statsmodels(rng):
    users, texts, x = crossed(rng, 12, 15)
    y = x / 2 + crossed(rng, 12, 15)[2]
    (of_x, _), (delta,) = two_way(*tables(users, texts, x, y), contrasts=[(0, 1)])
    for found, values, estimate in [(of_x, x, of_x.estimate), (delta, x - y, delta.delta)]:
        # CR2 is CR1 where all units have one size
        groups = {"groups": np.column_stack([users, texts])}
        expected = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds=groups)
        assert estimate == pytest.approx(expected.params[0], rel=1e-9)
        assert found.standard_error == pytest.approx(expected.bse[0], rel=1e-9)
        assert (found.degrees_of_freedom, found.n_units) == (11, 12)
        reach = stats.t.ppf(0.975, 11) * expected.bse[0]
        assert found.intervals == {"two_way": pytest.approx((estimate - reach, estimate + reach), rel=1e-9)}
    t = abs(delta.delta) / delta.standard_error
    assert delta.p_value == pytest.approx(2 * stats.t.sf(t, 11), rel=1e-9)


def test_units_of_other_sizes_add_three_variances(rng):
    users, texts = rng.integers(0, 9, 200) ** 2 // 8, rng.integers(0, 20, 200)
    x = rng.normal(0, 1, 9)[users] + rng.normal(0, 1, 20)[texts] + rng.normal(0, 1, 200)

    def cr2(groups):
        total = 0.0
        for group in set(groups):
            mine = np.array([each == group for each in groups])
            total += (x[mine] - x.mean()).sum() ** 2 / (1 - mine.mean())
        return total / 200**2

    variance = cr2(users.tolist()) + cr2(texts.tolist()) - cr2([*zip(users.tolist(), texts.tolist(), strict=True)])
    assert variance > max(cr2(users.tolist()), cr2(texts.tolist()))
    by_user, by_text, both = tables(users, texts, x)
    found = two_way(by_user, by_text, both)[0][0]
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9)
    alone = [infer(sums, methods=["t"]).estimates[0].degrees_of_freedom for sums in (by_user, by_text)]
    assert found.degrees_of_freedom == min(alone)


def test_one_kind_of_unit_twice_is_that_kind_alone(rng):
    users = rng.integers(0, 12, 90)
    x, y = rng.random((2, 90))
    by_user, again, both = tables(users, users, x, y)
    alone = infer(by_user, contrasts=[(0, 1)], methods=["t"])
    (found, _), (delta,) = two_way(by_user, again, both, contrasts=[(0, 1)])
    assert found.intervals["two_way"] == pytest.approx(alone.estimates[0].intervals["t"], rel=1e-12)
    assert delta.intervals["two_way"] == pytest.approx(alone.contrasts[0].intervals["t"], rel=1e-12)
    assert delta.p_value == pytest.approx(alone.contrasts[0].p_value, rel=1e-9)


def test_texts_that_each_belong_to_one_user_leave_the_users(rng):
    texts = rng.integers(0, 60, 300)
    users = texts // 5
    x = rng.normal(0, 1, 12)[users] + rng.random(300)
    by_user, by_text, both = tables(users, texts, x)
    found, alone = two_way(by_user, by_text, both)[0][0], infer(by_user, methods=["t"]).estimates[0]
    assert found.standard_error == pytest.approx(alone.standard_error, rel=1e-12)
    assert found.degrees_of_freedom == alone.degrees_of_freedom


def test_the_variance_is_not_below_that_of_one_kind_of_unit():
    # deltas that cancel within each text: of texts alone there is no variance, so the sum would be below that of users
    users, texts = np.repeat(np.arange(10), 2), np.tile([0, 1], 10)
    x = np.where((users + texts) % 2, 1.0, -1.0)
    by_user, by_text, both = tables(users, texts, x)
    found = two_way(by_user, by_text, both)[0][0]
    one_way = [infer(sums, methods=["t"]).estimates[0].standard_error for sums in (by_user, by_text)]
    assert found.standard_error == max(one_way)


def test_a_geometric_mean_has_its_interval_in_logarithms(rng):
    users, texts, x = crossed(rng, 8, 9)
    measures = [Measure(column=0, kind="geometric"), Measure(column=0)]
    geometric, mean = two_way(*tables(users, texts, x), measures=measures)[0]
    assert np.log(geometric.intervals["two_way"]) == pytest.approx(mean.intervals["two_way"], rel=1e-9)


def test_a_flag_of_either_kind_holds_for_both(rng):
    users, texts, x = crossed(rng, 4, 40)
    found = two_way(*tables(users, texts, x))[0][0]
    assert found.flags == ("insufficient", "few_clusters")


@pytest.mark.parametrize("x", [[0.5, 0.5, 0.5, 0.5], [0.5, math.nan, math.nan, math.nan], [math.nan] * 4])
def test_values_without_spread_or_units_are_flagged_and_no_crash(x):
    found = two_way(
        *tables(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array(x), np.array(x)), contrasts=[(0, 1)]
    )
    assert {"degenerate", "one_unit"} & {*found[0][0].flags}
    p_value = found[1][0].p_value
    assert p_value == 1.0 or math.isnan(p_value)


def test_intervals_cover_where_those_of_one_kind_do_not(rng):
    covered = np.zeros(3)
    for _ in range(300):
        users, texts, x = crossed(rng, 15, 20)
        three = tables(users, texts, x)
        ways = [two_way(*three)[0][0].intervals["two_way"]]
        ways += [infer(sums, methods=["t"]).estimates[0].intervals["t"] for sums in three[:2]]
        covered += [low <= 0 <= high for low, high in ways]
    both, by_user, by_text = covered / 300
    assert both > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 300)
    assert max(by_user, by_text) < 0.9


@pytest.mark.parametrize("changed", ["query", "value", "column"])
def test_tables_of_other_queries_are_refused(rng, changed):
    users, texts, x = crossed(rng, 5, 6)
    by_user, by_text, both = tables(users, texts, x)
    if changed == "query":
        by_text = tables(users[1:], texts[1:], x[1:])[1]
    if changed == "value":
        by_text = tables(users, texts, np.append(x[:-1], 0.0))[1]
    if changed == "column":
        by_text = tables(users, texts, x, x)[1]
    message = {"column": "1 columns by one unit, 2"}.get(changed, "the same queries")
    with pytest.raises(DataError, match=message):
        two_way(by_user, by_text, both)


def test_an_end_of_a_geometric_mean_beyond_the_largest_double_is_infinite():
    logarithms = np.array([-300.0, 300.0, -300.0, 300.0])
    by_each = tables(np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0]), logarithms)
    found = two_way(*by_each, measures=[Measure(column=0, kind="geometric")])[0][0]
    assert found.intervals["two_way"] == (0.0, np.inf)
