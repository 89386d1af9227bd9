"""How far evalcore's values are from those of other tools, query by query on real data: writes docs/parity.md.

    pip install -c deploy/constraints.txt -e '.[dev,bench]'
    python -m benchmarks.parity                   all tools that are installed; some minutes
    python -m benchmarks.parity --tools ranx      some of them, printed and not written

Every difference above 1e-9 is explained by an experiment: the data are changed in the way that a reason names, both
sides are computed again, and the reason holds if the difference is gone. A difference that no reason explains ends
the script with status 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from benchmarks.parity.cases import datasets
from benchmarks.parity.page import page
from benchmarks.parity.tools import TOOLS

PAGE = Path(__file__).parents[2] / "docs" / "parity.md"


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of real data")
    parser.add_argument("--tools", nargs="*", help="compare these alone, and write no page")
    parser.add_argument("--sets", nargs="*", help="of these data sets alone, and write no page")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"there is no folder {arguments.data}; name another with --data", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore")  # what other tools warn of
    tools = [tool for tool in TOOLS if not arguments.tools or tool.name in arguments.tools]
    data = {n: c for n, c in datasets(arguments.data).items() if not arguments.sets or n in arguments.sets}
    text, unexplained = page(tools, data)
    if arguments.tools or arguments.sets:
        print(text)
    else:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    print(json.dumps({"unexplained": unexplained}))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
