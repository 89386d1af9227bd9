"""How many pairs of real systems each method tells apart: writes docs/separation.md.

    python -m benchmarks.score_matrices        a minute of one core; needs ../shared/data/score_matrices

The matrices hold a value for each topic and system: TREC-8 ad hoc (129 systems) and Web 2012 (48), 50 topics each.
"""

from __future__ import annotations

import math
import os
import platform
import time
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import stats

from evalcore.inference import Inference, UnitSums, benjamini_hochberg, bonferroni, holm, infer

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "score_matrices"
PAGE = ROOT / "docs" / "separation.md"
MATRICES = {
    "adhoc8_ap": "TREC-8 AP",
    "adhoc8_p10": "TREC-8 P@10",
    "adhoc8_rr": "TREC-8 RR",
    "web2012_ndcg20": "Web 2012 nDCG@20",
    "web2012_err20": "Web 2012 ERR@20",
}
LEVEL = 0.05
ASKED = ("max_t", "sign_flip")
"""What the seconds are of, with `auto`."""
MORE_TESTS = ("tukey_hsd", "wilcoxon", "sign")
MORE_INTERVALS = ("hall", "percentile", "bca", "studentized", "normal", "basic")
ADJUSTED = {"bonferroni": bonferroni, "holm": holm, "benjamini_hochberg": benjamini_hochberg}
TEXT = """# How many pairs of real systems each method tells apart

Made by `python -m benchmarks.score_matrices`; do not edit.

All pairs of the systems of two TREC tracks, over 50 topics each; units are topics, 9,999 replicates, seed 0. A cell is
the share of pairs that are told apart at 5 %: by a p-value of at most 0.05, or by a 95 % interval without 0. The values
are the score matrices of Urbano, Lima and Hanjalic (2019, doi:10.1145/3331184.3331259).

{table}

What is adjusted for all pairs keeps the chance of any false separation at 5 %, except `benjamini_hochberg`, which keeps
the expected share of false ones among those that are told apart. `wilcoxon` and `sign` do not test the mean.

`auto` for all pairs, with `max_t` and `sign_flip`, takes {seconds}.

Published: over the pairs of TREC 3 and 5 to 8 whose p-values all are at least 0.0001, the root mean square of the
difference between the p-values of Student's test and of the randomisation test is {published} with 50 topics and
100,000 permutations (Smucker, Allan & Carterette 2009, doi:10.1145/1571941.1572050). Here, of `t` and `sign_flip`, over
those of TREC-8 AP: {found:.4f}, of which {noise:.4f} is the error of 9,999 random flips.

{versions}
"""
PUBLISHED = 0.007


@dataclass(frozen=True, slots=True)
class Separated:
    """All pairs of a matrix: the share that each method tells apart, CPU seconds, and p-values of two tests."""

    n_systems: int
    shares: dict[str, float]
    seconds: float
    t: np.ndarray
    sign_flip: np.ndarray


def read(name: str) -> np.ndarray:
    """(n_topics, n_systems)"""
    return np.genfromtxt(DATA / f"{name}.csv", delimiter=",", skip_header=1)


def pairs_of(values: np.ndarray) -> list[tuple[int, int]]:
    """All (later, earlier) pairs of systems."""
    return [(later, earlier) for earlier, later in combinations(range(values.shape[1]), 2)]


def inferred(values: np.ndarray, *, methods: tuple[str, ...], tests: tuple[str, ...]) -> Inference:
    """Every pair of systems, each topic a unit."""
    sums = UnitSums.from_values([f"{topic:03d}" for topic in range(len(values))], values)
    return infer(sums, contrasts=pairs_of(values), methods=methods, tests=tests)


def separated(values: np.ndarray) -> Separated:
    """Every method on one matrix."""
    started = time.process_time()
    found = inferred(values, methods=("auto",), tests=ASKED)
    seconds = time.process_time() - started
    more = inferred(values, methods=MORE_INTERVALS, tests=MORE_TESTS)
    t = np.array([contrast.p_value for contrast in found.contrasts])
    tests = {name: [contrast.p_values[name] for contrast in found.contrasts] for name in ASKED}
    tests |= {name: [contrast.p_values[name] for contrast in more.contrasts] for name in MORE_TESTS}
    sides = np.array(pairs_of(values)).T
    with np.errstate(invalid="ignore"):
        by_scipy = stats.ttest_rel(*(values[:, side] for side in sides)).pvalue
    shares = {
        "t": np.mean(t <= LEVEL),
        "`scipy.stats.ttest_rel`": np.mean(by_scipy <= LEVEL),
        "sign_flip": np.mean(np.array(tests["sign_flip"]) <= LEVEL),
        "wilcoxon": np.mean(np.array(tests["wilcoxon"]) <= LEVEL),
        "sign": np.mean(np.array(tests["sign"]) <= LEVEL),
    }
    for method, contrasts in [("auto", found.contrasts), *((each, more.contrasts) for each in MORE_INTERVALS)]:
        ends = [contrast.intervals[method] for contrast in contrasts]
        shares[f"interval {method}"] = np.mean([low > 0 or high < 0 for low, high in ends])
    for name, adjust in ADJUSTED.items():
        shares[f"{name}, adjusted"] = np.mean(adjust(t) <= LEVEL)
    for name in ("max_t", "tukey_hsd"):
        shares[f"{name}, adjusted"] = np.mean(np.array(tests[name]) <= LEVEL)
    told = {name: float(share) for name, share in shares.items()}
    return Separated(values.shape[1], told, seconds, t, np.array(tests["sign_flip"]))


def agreement(found: Separated, *, least: float = 1e-4) -> tuple[float, float]:
    """Root mean square of the difference of p-values that are at least that, and what random flips add to it."""
    known = (found.t >= least) & (found.sign_flip >= least)
    t, flipped = found.t[known], found.sign_flip[known]
    return math.sqrt(np.mean((t - flipped) ** 2)), math.sqrt(np.mean(t * (1 - t)) / 9_999)


def page(found: dict[str, Separated]) -> str:
    """docs/separation.md."""
    heads = [f"{MATRICES[name]} ({of.n_systems} systems)" for name, of in found.items()]
    rows = [f"| method | {' | '.join(heads)} |", "|---|" + "---:|" * len(found)]
    for method in next(iter(found.values())).shares:
        cells = " | ".join(f"{100 * of.shares[method]:.1f} %" for of in found.values())
        rows.append(
            f"| {method if method.startswith('`') else f'`{method}`'.replace(', adjusted`', '`, adjusted')} | {cells} |"
        )
    rms, noise = agreement(found["adhoc8_ap"])
    seconds = ", ".join(
        f"{of.seconds:.1f} s of CPU for the {len(of.t):,} of {MATRICES[name]}" for name, of in found.items()
    )
    versions = f"Python {platform.python_version()}, numpy {np.__version__}."
    return TEXT.format(
        table="\n".join(rows), seconds=seconds, published=PUBLISHED, found=rms, noise=noise, versions=versions
    )


def main() -> None:
    """Measure and write."""
    PAGE.write_text(page({name: separated(read(name)) for name in MATRICES}), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} is written")


if __name__ == "__main__":
    main()
