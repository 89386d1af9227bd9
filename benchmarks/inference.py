"""What inference costs beside scipy and arch, in CPU seconds of one run.

    make bench                                    some minutes: scipy's and arch's BCa take most of them
    python benchmarks/inference.py --quick        a minute, without them and up to a million queries

Prints tables and writes out/inference.json. Figures are medians of runs in turn (A B C, A B C ...) in one process,
and CPU time of one thread, because machines are noisy and shared. Peak memory is that of a process of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from evalcore.inference import UnitSums, infer
from evalcore.inference.buckets import BUCKETS, fold

QUERIES, REPLICATES = 100_000, 2_000
METRICS, SYSTEMS, UNITS = 20, 10, 4_096
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
AT_ONCE = 1_000_000
LIMITS = {
    "scipy percentile / evalcore percentile": ("at least", 10.0),
    "scipy BCa / evalcore BCa": ("at least", 200.0),
    "CPU seconds of 900 contrasts, one thread": ("at most", 3.0),
    "MiB of 900 contrasts above import": ("at most", 300.0),
}


def pairs_of_ranks(n: int, *, seed: int = 7) -> np.ndarray:
    """Reciprocal ranks of two systems that agree on four queries of five.  (n, 2)"""
    random = np.random.Generator(np.random.Philox(seed))
    ranks = random.geometric(0.35, (2, n))
    values = np.where(ranks <= 10, 1 / ranks, 0.0)
    return np.column_stack([np.where(random.random(n) < 0.8, values[0], values[1]), values[0]])


def medians(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """CPU seconds of each task, after a round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds + 1):
        for name, task in tasks.items():
            seconds[name].append(cpu(task))
    return {name: float(np.median(taken[1:])) for name, taken in seconds.items()}


def cpu(task: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    task()
    return time.process_time() - started


def one_metric(*, rounds: int, everything: bool) -> dict[str, float]:
    """One contrast of 100,000 paired queries: percentile and BCa intervals of 2,000 replicates."""
    from arch.bootstrap import IIDBootstrap
    from scipy import stats

    values = pairs_of_ranks(QUERIES)
    ids = [f"q{i}" for i in range(QUERIES)]
    folded = fold(ids)
    ends: dict[str, tuple[float, float]] = {}

    def ours(method: str, units: Callable[[], np.ndarray]) -> None:
        sums = UnitSums.from_values(units(), values)
        found = infer(sums, contrasts=[(0, 1)], methods=[method], replicates=REPLICATES)
        ends[f"evalcore {method}"] = found.contrasts[0].intervals[method]

    def scipys(method: str) -> None:
        found = stats.bootstrap(
            tuple(values.T), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis), paired=True, vectorized=True,
            n_resamples=REPLICATES, method=method, batch=50, rng=np.random.default_rng(1),
        )  # fmt: skip
        ends[f"scipy {method}"] = tuple(found.confidence_interval)

    def archs(method: str) -> None:
        sample = IIDBootstrap(*values.T, seed=np.random.default_rng(1))
        found = sample.conf_int(lambda a, b: a.mean() - b.mean(), REPLICATES, method=method)
        ends[f"arch {method}"] = tuple(found[:, 0])

    tasks: dict[str, Callable[[], object]] = {
        "evalcore percentile": lambda: ours("percentile", lambda: fold(ids)),
        "evalcore percentile, ids folded before": lambda: ours("percentile", lambda: folded),
        "evalcore BCa": lambda: ours("bca", lambda: fold(ids)),
        "evalcore auto": lambda: ours("auto", lambda: fold(ids)),
        "scipy percentile": lambda: scipys("percentile"),
        "arch percentile": lambda: archs("percentile"),
    }
    seconds = medians(tasks, rounds)
    if everything:  # quadratic in the number of queries, so once
        seconds |= {"scipy BCa": cpu(lambda: scipys("BCa")), "arch BCa": cpu(lambda: archs("bca"))}
    print(f"\nOne contrast of {QUERIES:,} paired queries, {REPLICATES:,} replicates")
    for name, taken in seconds.items():
        print(f"{taken:9.3f} s  {name}")
    for name, (low, high) in ends.items():
        print(f"  {name:20} {low:+.6f} {high:+.6f}")
    return seconds


def table(n_units: int, n_columns: int, *, queries: int = 24) -> UnitSums:
    """Sums of units with about as many queries each."""
    random = np.random.Generator(np.random.Philox(5))
    n = np.repeat(random.poisson(queries, (n_units, 1)).astype(np.int64), n_columns, axis=1)
    hi = (n * random.random(n.shape) * 2**30).astype(np.int64)
    lo = (n * random.random(n.shape) * 2**30).astype(np.int64)
    names = np.char.mod("%04d", np.arange(n_units))
    return UnitSums(names, n, hi, lo, np.zeros(n_columns, dtype=np.int64))


def peak_mib() -> float:
    """The most memory that this process has had; getrusage would tell that of the process which started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def many_contrasts(method: str) -> None:
    """4,096 units, 201 columns, 9,999 replicates, all 900 pairs within 20 metrics; printed as JSON."""
    imported = peak_mib()
    sums = table(UNITS, METRICS * SYSTEMS + 1)
    asked = [(m * SYSTEMS + b, m * SYSTEMS + a) for m in range(METRICS) for a, b in combinations(range(SYSTEMS), 2)]
    families = [place // (len(asked) // METRICS) for place in range(len(asked))]
    started, used = time.perf_counter(), time.process_time()
    found = infer(sums, contrasts=asked, methods=[method], tests=["max_t"], families=families)
    told = {
        "wall": time.perf_counter() - started,
        "cpu": time.process_time() - used,
        "mib": peak_mib() - imported,
        "sha256": hashlib.sha256(repr((found.estimates, found.contrasts)).encode()).hexdigest()[:16],
    }
    print(json.dumps(told))


def many(rounds: int) -> dict[str, dict[str, float]]:
    """`many_contrasts` in processes of their own, with 1 and 2 threads of BLAS."""
    found: dict[str, dict[str, float]] = {}
    print("\n4,096 units x 201 columns x 9,999 replicates, 900 contrasts with max-T")
    for method in ("auto", "percentile"):
        for threads in ("1", "2"):
            environment = os.environ | {"OPENBLAS_NUM_THREADS": threads}
            command = [sys.executable, __file__, "--many", method]
            runs = [json.loads(subprocess.check_output(command, env=environment)) for _ in range(rounds)]
            assert len({run["sha256"] for run in runs}) == 1
            name = f"{method}, {threads} BLAS thread{'s' if threads == '2' else ''}"
            found[name] = {key: float(np.median([run[key] for run in runs])) for key in ("wall", "cpu", "mib")}
            row = found[name]
            print(
                f"{row['wall']:7.2f} s  {row['cpu']:6.2f} s of CPU  {row['mib']:5.0f} MiB  {name}  "
                f"sha256 {runs[0]['sha256']}"
            )
    return found


def sizes(largest: int) -> dict[str, dict[str, float]]:
    """CPU seconds against the number of queries, each its own unit, in memory: two systems and five metrics."""
    print("\nTwo systems x five metrics, every query a unit, CPU seconds")
    print(f"{'queries':>14} {'md5':>8} {'sums':>8} {'inference':>10}")
    found: dict[str, dict[str, float]] = {}
    for n in [size for size in SIZES if size <= largest]:
        spent = dict.fromkeys(("md5", "sums", "inference"), 0.0)
        whole: UnitSums | None = None
        for start in range(0, n, AT_ONCE):
            stop = min(start + AT_ONCE, n)
            values = np.hstack([pairs_of_ranks(stop - start, seed=start + metric) for metric in range(5)])
            ids = [f"q{i}" for i in range(start, stop)]
            clock = time.process_time()
            units = fold(ids) if n > 32_768 else np.array(ids)
            spent["md5"] += time.process_time() - clock
            clock = time.process_time()
            part = UnitSums.from_values(units, values, exponents=np.zeros(10, dtype=np.int64))
            # tables over the same units add; a million queries leave no bucket empty
            whole = part if whole is None else UnitSums(
                part.units, whole.n + part.n, whole.hi + part.hi, whole.lo + part.lo, part.exponents
            )  # fmt: skip
            spent["sums"] += time.process_time() - clock
        assert whole is not None
        asked = [(2 * metric, 2 * metric + 1) for metric in range(5)]
        sums = whole
        spent["inference"] = cpu(lambda: infer(sums, contrasts=asked, methods=["auto", "percentile"]))  # noqa: B023
        found[f"{n}"] = spent
        print(f"{n:14,} {spent['md5']:8.2f} {spent['sums']:8.2f} {spent['inference']:10.2f}")
    each = {part: found[f"{largest}"][part] / largest for part in ("md5", "sums")}
    hours = sum(each.values()) * 1e9 / 3600
    print(
        f"{1_000_000_000:14,} {each['md5'] * 1e9:8.0f} {each['sums'] * 1e9:8.0f} "
        f"{found[f'{largest}']['inference']:10.2f}  extrapolated: {hours:.2f} core-hours\n"
        f"  It assumes that folding and summing cost the same for every query ({each['md5'] * 1e6:.2f} and "
        f"{each['sums'] * 1e6:.2f} microseconds\n  for ten columns), on one core, values in memory; and that inference "
        f"sees {BUCKETS:,} buckets whatever the number of queries.\n  In job 2 Spark folds and sums, on all cores."
    )
    return found


def main() -> None:
    """Measure, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--many", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("out"))
    given = parser.parse_args()
    if given.many:
        many_contrasts(given.many)
        return
    seconds = one_metric(rounds=given.rounds, everything=not given.quick)
    contrasts = many(given.rounds)
    costs = sizes(SIZES[-2 if given.quick else -1])
    ratios = {"scipy percentile / evalcore percentile": seconds["scipy percentile"] / seconds["evalcore percentile"]}
    if not given.quick:
        ratios["scipy BCa / evalcore BCa"] = seconds["scipy BCa"] / seconds["evalcore BCa"]
    ratios["CPU seconds of 900 contrasts, one thread"] = max(
        row["cpu"] for name, row in contrasts.items() if "1 BLAS" in name
    )
    ratios["MiB of 900 contrasts above import"] = max(row["mib"] for row in contrasts.values())
    print()
    for name, ratio in ratios.items():
        sense, limit = LIMITS[name]
        kept = ratio <= limit if sense == "at most" else ratio >= limit
        print(f"{ratio:8.2f}  {name} ({sense} {limit:g}){'' if kept else '  MISSED'}")
    told = {"seconds": seconds, "contrasts": contrasts, "sizes": costs, "ratios": ratios, "limits": LIMITS}
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "inference.json").write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
