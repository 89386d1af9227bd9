import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from evalcore.errors import DataError
from evalcore.inference import UnitSums, scale_exponent, to_limbs
from tests.evalcore.inference.support import sums_of

IN_RANGE = st.floats(-1, 1, allow_subnormal=False)


def as_fraction(hi, lo, exponent=0) -> Fraction:
    return (Fraction(int(hi)) * 2**30 + int(lo)) * Fraction(2) ** (exponent - 60)


def same(a: UnitSums, b: UnitSums) -> bool:
    return all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in ("units", "n", "hi", "lo", "exponents")
    )


@given(st.floats(2.0**-7, 1) | st.floats(-1, -(2.0**-7)) | st.just(0.0))
def test_limbs_keep_every_bit_of_a_value_from_a_128th_up(value):
    hi, lo = to_limbs(np.array([value]))
    assert as_fraction(hi[0], lo[0]) == Fraction(value)


@given(IN_RANGE, st.integers(0, 40))
def test_limbs_are_within_half_of_their_last_bit(value, exponent):
    scaled = math.ldexp(value, exponent)
    hi, lo = to_limbs(np.array([scaled]), exponent=exponent)
    assert abs(as_fraction(hi[0], lo[0], exponent) - Fraction(scaled)) <= Fraction(2) ** (exponent - 61)
    assert abs(int(hi[0])) <= 2**30
    assert 0 <= lo[0] <= 2**30


def test_limbs_follow_the_definition_by_hand():
    # 1/3 = 0.0101.. in binary: its first 30 bits are (2^30 - 1)/3, the rest of the double ends at bit 54
    hi, lo = to_limbs(np.array([1 / 3, -0.25, 1.0, -1.0]))
    assert hi.tolist() == [(2**30 - 1) // 3, -(2**28), 2**30, -(2**30)]
    assert lo.tolist() == [(2**24 - 1) // 3 * 2**6, 0, 0, 0]


@pytest.mark.parametrize("value", [1.5, -1.0000000001, math.inf, math.nan])
def test_limbs_refuse_what_the_exponent_does_not_hold(value):
    with pytest.raises(DataError, match="scale_exponent"):
        to_limbs(np.array([0.5, value]))


@pytest.mark.parametrize(
    ("largest", "exponent"),
    [(0.0, 0), (0.3, 0), (1.0, 0), (math.nextafter(1, 2), 1), (2.0, 1), (2.5, 2), (1024.0, 10), (1025.0, 11)],
)  # fmt: skip
def test_the_exponent_is_the_smallest_that_holds_the_largest_value(largest, exponent):
    assert scale_exponent(largest) == exponent


@pytest.mark.parametrize("largest", [-1.0, math.inf, math.nan, 2.0**501])
def test_the_exponent_of_an_impossible_magnitude_is_refused(largest):
    with pytest.raises(DataError, match=r"2\*\*500"):
        scale_exponent(largest)


@given(st.lists(st.floats(2.0**-7, 1), min_size=1, max_size=40))
def test_a_mean_is_the_exact_mean_rounded_once(values):
    assert sums_of(values).mean(0) == float(sum(map(Fraction, values)) / len(values))


def test_a_mean_keeps_what_a_running_sum_of_doubles_loses():
    values = [1e16, 1.0, -1e16, 1.0]  # 1e16 + 1 is 1e16 in doubles
    assert sums_of(values).mean(0) == 0.5


@given(st.lists(st.tuples(st.sampled_from("abc"), IN_RANGE | st.just(math.nan)), min_size=1), st.randoms())
def test_the_order_of_the_queries_does_not_change_a_bit(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (sums_of([v for _, v in order], units=[u for u, _ in order]) for order in (rows, shuffled))
    assert same(first, second)


@given(st.lists(IN_RANGE, min_size=7), st.integers(1, 5))
def test_sums_of_parts_add_up_to_the_sums_of_the_whole(values, n_parts):
    units = [f"u{i % 4}" for i in range(len(values))]
    whole = sums_of(values, units=units)
    n, hi, lo = (np.zeros_like(whole.n) for _ in range(3))
    for part in range(n_parts):
        if units[part::n_parts]:
            some = sums_of(values[part::n_parts], units=units[part::n_parts])
            at = np.searchsorted(whole.units, some.units)
            n[at] += some.n
            hi[at] += some.hi
            lo[at] += some.lo
    assert same(whole, UnitSums(whole.units, n, hi, lo, whole.exponents))


def test_an_undefined_value_is_not_counted_and_its_unit_stays():
    sums = UnitSums.from_values(["b", "a", "b"], np.array([[0.5, np.nan], [np.nan, np.nan], [0.25, np.nan]]))
    assert sums.units.tolist() == ["a", "b"]
    assert sums.n.tolist() == [[0, 0], [2, 0]]
    assert sums.mean(0) == 0.375
    assert math.isnan(sums.mean(1))
    assert math.isnan(sums.mean_difference(0, 1))


def test_each_column_has_the_scale_of_its_own_largest_value():
    sums = UnitSums.from_values(["a", "b"], np.array([[0.5, -100.0], [1.0, 28.0]]))
    assert sums.exponents.tolist() == [0, 7]
    assert sums.mean(1) == -36.0
    assert_array_equal(sums.unit_totals(1), [-100.0, 28.0])


def test_a_difference_of_means_is_rounded_once():
    sums = UnitSums.from_values(["a", "b", "c"], np.array([[1.0, 0.25], [0.5, 0.5], [0.0, np.nan]]))
    assert sums.mean_difference(0, 1) == 0.5 - 0.375
    thirds = UnitSums.from_values(["a", "b", "c"], np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    assert thirds.mean_difference(0, 1) == 1 / 3  # 2/3 - 1/3 of doubles is the next double below


def test_a_table_without_units_is_legal_and_has_no_mean():
    sums = UnitSums.from_values([], np.empty((0, 2)))
    assert sums.n.shape == (0, 2)
    assert math.isnan(sums.mean(0))


def table(**changes) -> UnitSums:
    parts = {
        "units": np.array(["a", "b"]),
        "n": np.ones((2, 1), dtype=np.int64),
        "hi": np.zeros((2, 1), dtype=np.int64),
        "lo": np.zeros((2, 1), dtype=np.int64),
        "exponents": np.zeros(1, dtype=np.int64),
    }
    return UnitSums(**parts | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"units": np.array(["b", "a"])}, '"b" is followed by "a"'),
        ({"units": np.array(["a", "a"])}, '"a" is followed by "a"'),
        ({"units": np.array([1, 2])}, "strings"),
        ({"units": np.array([["a", "b"]])}, "one list"),
        ({"n": np.ones((2, 2), dtype=np.int64)}, r"n must be int64 of shape \(2, 1\)"),
        ({"hi": np.zeros((2, 1))}, "hi must be int64 .* not float64"),
        ({"exponents": np.zeros((1, 1), dtype=np.int64)}, "exponents must be"),
        ({"exponents": np.array([501])}, "exponents within 500"),
        ({"n": np.full((2, 1), -1)}, "counts from 0"),
        ({"n": np.full((2, 1), 2**31 + 1)}, r"counts from 0 to 2\*\*32"),
        ({"hi": np.array([[0], [2**30 + 1]])}, 'unit "b", column 0: limbs 1073741825, 0 cannot be sums over 1 queries'),
        ({"hi": np.array([[-(2**30) - 1], [0]])}, 'unit "a"'),
        ({"lo": np.array([[0], [2**30 + 1]])}, 'unit "b"'),
        ({"lo": np.array([[-1], [0]])}, 'unit "a"'),
    ],
)
def test_a_table_that_cannot_be_sums_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        table(**changes)


def test_a_table_without_columns_is_refused():
    with pytest.raises(DataError, match="there must be a column"):
        UnitSums.from_values(["a"], np.empty((1, 0)))


@pytest.mark.parametrize("ids", [[1, 2], np.array(["a", None], dtype=object)])
def test_ids_that_are_not_strings_are_refused(ids):
    with pytest.raises((DataError, TypeError), match=r"strings|not supported"):
        UnitSums.from_values(ids, np.zeros((2, 1)))


def test_an_id_for_each_query_is_needed():
    with pytest.raises(DataError, match="one id for each row"):
        UnitSums.from_values(["a"], np.zeros((2, 1)))


def test_an_infinite_value_is_refused():
    with pytest.raises(DataError, match="largest magnitude is inf"):
        sums_of([0.5, -math.inf])


def test_the_most_queries_that_fit_do_not_overflow():
    n = np.full((2, 1), 2**31)
    sums = table(n=n, hi=n << 30, lo=n << 30)  # each query the largest that limbs can hold: 1 + 2^-30
    assert sums.mean(0) == 1 + 2.0**-30
