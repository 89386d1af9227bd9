"""The same results whatever the number of threads, the kernels of BLAS and the vector instructions of numpy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import evalcore

ROOT = Path(evalcore.__file__).parents[1]
INFER = """
import hashlib
import numpy as np
from evalcore.inference import INTERVALS, TESTS, Measure, UnitSums, infer

random = np.random.Generator(np.random.Philox(5))
units = np.repeat([f"u{i:04d}" for i in range(400)], random.integers(1, 9, 400))
values = random.random((len(units), 6))
values[random.random(values.shape) < 0.05] = np.nan
values[:, 4:] = random.random((len(units), 2)) + 0.5
pairs = [(0, 1), (2, 1), (3, 0)]
sums = UnitSums.from_values(units, values, contrasts=pairs)
means = [Measure(column=column) for column in range(5)]

def numbers(last_measure):
    found = infer(
        sums, measures=[*means, last_measure], contrasts=[*pairs, (5, 4)], methods=[*INTERVALS], tests=[*TESTS],
        replicates=999,
    )
    for row in [*found.estimates, *found.contrasts]:
        for field in row.__slots__:
            value = getattr(row, field)
            for each in value.values() if isinstance(value, dict) else [value]:
                yield from each if isinstance(each, tuple) else [each]

def digest(rows):
    print(hashlib.sha256(repr(rows).encode()).hexdigest())

digest([*numbers(Measure(column=4, below=5, kind="ratio"))])
digest([f"{each:.11e}" if isinstance(each, float) else each for each in numbers(Measure(column=5, kind="geometric"))])
"""
VECTORS = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
SETTINGS = {
    "one thread": {"OPENBLAS_NUM_THREADS": "1"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
    "no fused multiply-add in BLAS": {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Nehalem"},
    "no vector instructions in numpy": {"OPENBLAS_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": " ".join(VECTORS)},
}


def test_results_have_one_sha256_and_where_there_are_exponentials_one_to_12_digits():
    # exponentials differ in their last bit without vector instructions
    started = {
        name: subprocess.Popen(
            [sys.executable, "-c", INFER], env=os.environ | setting, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        for name, setting in SETTINGS.items()
    }
    found = {name: process.communicate()[0].split() for name, process in started.items()}
    assert not any(process.returncode for process in started.values())
    assert [len(digest) for digest in found["one thread"]] == [64, 64]
    assert found == dict.fromkeys(found, found["one thread"])
