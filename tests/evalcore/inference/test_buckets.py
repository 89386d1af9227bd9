from collections import Counter

import numpy as np
import pytest

from evalcore.inference import UnitSums, infer
from evalcore.inference.buckets import BUCKETS, fold

# printf 'evaljob:q1' | md5sum, first 8 digits: e84603e5, and 0xe84603e5 % 4096 = 997
BY_MD5SUM = {"q1": 997, "q2": 631, "": 1553, "naïve": 2916, "a b/ü": 193}


def test_a_bucket_is_that_of_the_md5_of_the_salted_id():
    assert fold(list(BY_MD5SUM)).tolist() == [f"{bucket:04d}" for bucket in BY_MD5SUM.values()]
    assert fold(np.array(list(BY_MD5SUM))).tolist() == fold(list(BY_MD5SUM)).tolist()


def test_no_units_have_no_buckets():
    assert fold([]).tolist() == []


def test_fewer_buckets_fold_those_of_more():
    ids = [f"user {i}" for i in range(500)]
    assert [int(bucket) % 64 for bucket in fold(ids)] == [int(bucket) for bucket in fold(ids, buckets=64)]


def test_ids_spread_evenly_over_the_buckets():
    sizes = np.array(list(Counter(fold([f"q{i}" for i in range(100_000)]).tolist()).values()))
    assert len(sizes) == BUCKETS
    # Poisson: the variance is the mean, and that of BUCKETS sizes is known to 1 / sqrt(BUCKETS / 2) = 2.2 %
    assert sizes.var() / sizes.mean() == pytest.approx(1, abs=0.1)


def test_an_estimate_is_that_of_the_queries_and_its_error_nearly():
    values = np.random.default_rng(8).beta(0.5, 2, size=(60_000, 1))
    ids = [f"q{i:05d}" for i in range(len(values))]
    queries = infer(UnitSums.from_values(ids, values), methods=["t"]).estimates[0]
    buckets = infer(UnitSums.from_values(fold(ids), values), methods=["t"]).estimates[0]
    assert buckets.estimate == queries.estimate
    assert buckets.standard_error == pytest.approx(queries.standard_error, rel=0.05)  # 4.5 times its noise of 1.1 %
