import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from evalcore.errors import DataError
from evalcore.inference.draws import blocks, counts

M64 = 2**64 - 1


def philox(key: tuple[int, int], n_words: int, stream: int = 0) -> list[int]:
    """Philox 4x64-10 as in Salmon et al. 2011, table 2, in plain Python. numpy counts up before each block."""
    words: list[int] = []
    for counter in range(1, -(-n_words // 4) + 1):
        x = [counter, 0, 0, stream]
        k = list(key)
        for _ in range(10):
            a, b = 0xD2E7470EE14C6C93 * x[0], 0xCA5A826395121157 * x[2]
            x = [(b >> 64) ^ x[1] ^ k[0], b & M64, (a >> 64) ^ x[3] ^ k[1], a & M64]
            k = [(k[0] + 0x9E3779B97F4A7C15) & M64, (k[1] + 0xBB67AE8584CAA73B) & M64]
        words += x
    return words[:n_words]


@pytest.mark.parametrize("n_units", [1, 2, 7, 50, 501])
@pytest.mark.parametrize(("seed", "replicate", "stream"), [(0, 0, 0), (7, 3, 2**63 + 5), (2**64 - 1, 9_998, 1)])
def test_draws_are_the_halves_of_philox_words_low_half_first(n_units, seed, replicate, stream):
    expected = [0] * n_units
    halves = [half for word in philox((seed, replicate), n_units, stream) for half in (word % 2**32, word >> 32)]
    for half in halves[:n_units]:
        expected[half * n_units >> 32] += 1
    assert counts(n_units, seed=seed, start=replicate, stop=replicate + 1, stream=stream).tolist() == [expected]


def test_the_first_draws_are_pinned():
    # Computed once by the plain Python above: a change of these numbers changes every published interval.
    assert counts(8, seed=0, start=0, stop=3).tolist() == [
        [3, 2, 1, 0, 2, 0, 0, 0],
        [1, 0, 1, 1, 0, 1, 2, 2],
        [0, 0, 2, 1, 2, 0, 2, 1],
    ]


def test_block_boundaries_do_not_show():
    whole = counts(37, seed=5, start=0, stop=30)
    parts = [counts(37, seed=5, start=a, stop=b) for a, b in [(0, 1), (1, 13), (13, 30)]]
    assert_array_equal(np.vstack(parts), whole)


@pytest.mark.parametrize("cells", [1, 100, 37 * 30, 10_000])
def test_blocks_hold_the_counts_of_all_replicates_whoever_asked_before(cells):
    for seed, stream in [(5, 0), (6, 0), (5, 1), (5, 0)]:
        found = np.full((30, 37), np.nan)
        for block, drawn in blocks(37, replicates=30, seed=seed, stream=stream, cells=cells):
            assert drawn.size <= max(cells, 37)
            found[block] = drawn
        assert_array_equal(found, counts(37, seed=seed, start=0, stop=30, stream=stream))


def test_a_replicate_draws_as_many_units_as_there_are():
    assert_array_equal(counts(32_768, seed=1, start=0, stop=4).sum(axis=1), 32_768)


def test_every_unit_is_drawn_equally_often():
    drawn = counts(50, seed=11, start=0, stop=4_000).sum(axis=0)
    assert stats.chisquare(drawn).pvalue > 1e-4


def test_a_unit_is_drawn_a_binomial_number_of_times():
    n = 20
    drawn = counts(n, seed=3, start=0, stop=8_000)[:, 6]
    expected = stats.binom(n, 1 / n).pmf(np.arange(5))
    observed = np.bincount(np.minimum(drawn, 5).astype(int), minlength=6)
    assert stats.chisquare(observed, 8_000 * np.append(expected, 1 - expected.sum())).pvalue > 1e-4


def test_another_seed_or_replicate_draws_otherwise():
    drawn = [counts(100, seed=s, start=r, stop=r + 1).tobytes() for s in range(3) for r in range(3)]
    assert len(set(drawn)) == 9


@pytest.mark.parametrize("n_units", [0, 32_769])
def test_a_number_of_units_that_cannot_be_drawn_is_refused(n_units):
    with pytest.raises(DataError, match=f"{n_units} units"):
        counts(n_units, seed=0, start=0, stop=1)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(DataError, match="seed"):
        counts(3, seed=seed, start=0, stop=1)
