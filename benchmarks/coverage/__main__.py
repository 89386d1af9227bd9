"""How often each interval holds the true value, in settings where it is known: writes docs/coverage.md.

    make coverage                                10,000 data sets for each setting; 40 minutes on one core
    python -m benchmarks.coverage --quick        200 data sets; prints a line for each setting and writes nothing
    python -m benchmarks.coverage --resume       goes on where a run was stopped; new intervals alone are computed
    python -m benchmarks.coverage --only Zipf    settings whose name has that text again, the others as they are

Results come into out/coverage.json as they are found, and the page is made from that file. The exit status is 1 if
`auto` covers too little in a setting that has enough informative units.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.coverage import buckets
from benchmarks.coverage.page import page
from benchmarks.coverage.settings import DELTA, REFERENCE, SETTINGS
from benchmarks.coverage.simulation import COSTLY, simulate
from benchmarks.coverage.store import Results
from benchmarks.coverage.tables import short
from evalcore.inference import INTERVALS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
STORE = ROOT / "out" / "coverage.json"
QUICK = 200


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=10_000, help="for each setting")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--only", default="", help="text in the name of a setting")
    arguments = parser.parse_args()
    if arguments.quick:
        results = Results()
        run(results, data_sets=QUICK, seed=arguments.seed, only=arguments.only)
    else:
        results = Results.read(STORE) if arguments.resume or arguments.only else Results()
        if arguments.only:
            results.settings = {name: each for name, each in results.settings.items() if arguments.only not in name}
        run(results, data_sets=arguments.data_sets, seed=arguments.seed, only=arguments.only, store=STORE)
        compare(results, data_sets=arguments.data_sets, seed=arguments.seed)
        results.write(STORE)
        if results.settings.keys() >= {setting.name for setting in SETTINGS}:
            PAGE.write_text(page(results), encoding="utf-8")
    missed = short(results)
    print(f"auto covers too little in {len(missed)} settings: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def run(results: Results, *, data_sets: int, seed: int, only: str = "", store: Path | None = None) -> None:
    """Adds what is missing of the settings, and says so."""
    for fewer in sorted({1, *COSTLY.values()}):
        for setting in SETTINGS:
            before = results.settings.get(setting.name)
            known = before.intervals if before else {}
            methods = [method for method in INTERVALS if method not in known and COSTLY.get(method, 1) == fewer]
            if only not in setting.name or not methods:
                continue
            found = simulate(setting, data_sets=data_sets // fewer, seed=seed, methods=methods)
            results.settings[setting.name] = replace(before or found, intervals=known | found.intervals)
            first = found.intervals[methods[0]]
            told = f"{methods[0]} {100 * first.coverage:5.1f} ±{100 * first.error:.1f}"
            print(f"{told}  {found.seconds:4.0f} s  {setting.name}", flush=True)
            if store is not None:
                results.write(store)


def compare(results: Results, *, data_sets: int, seed: int) -> None:
    """What ignoring clusters does, and buckets beside units, from a fifth and a fiftieth of the data sets."""
    for setting in REFERENCE:
        if "ICC" in setting.name and setting.name not in results.ignoring:
            results.ignoring[setting.name] = simulate(
                setting, data_sets=data_sets // 5, seed=seed, methods=["t", "percentile"], ignoring_clusters=True
            )
    for number in buckets.BUCKETS:
        if number not in results.buckets:
            results.buckets[number] = buckets.compare(DELTA, buckets=number, data_sets=data_sets // 50, seed=seed)


if __name__ == "__main__":
    sys.exit(main())
