"""The import rule: who may import whom, read from the source, and what is needed at run time, tried out."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STAGES = {
    f"jobs.{name}"
    for name in (
        *("audit", "judgments", "prepare", "queries", "rankings", "nested", "score", "spread", "summary"),
        *("unit_sums", "pairs", "whole_queries", "quantiles", "segments"),
    )
}
PARTS = STAGES | {"jobs.readers", "jobs.sinks"}
ENTRANCES = {"jobs.cli", "jobs.api", "jobs.__main__"}
TO_COME = {"jobs.sinks"}
# module: the only ones that may import it
ONLY = {
    **{stage: {"jobs.pipeline"} for stage in STAGES},
    "jobs.pipeline": ENTRANCES | {"jobs.pipeline"},
    "jobs.session": ENTRANCES | {"jobs.doctor"},
    "jobs.cli": {"jobs.cli", "jobs.__main__"},
}


def may_import(importer: str, imported: str) -> bool:
    """The rule, for one module and one name that it imports."""
    if within(importer, "evalcore"):
        return imported.partition(".")[0] in {"evalcore", "numpy"} | sys.stdlib_module_names
    if importer == "jobs.udfs" and within(imported, "jobs"):
        return imported == "jobs" or within(imported, "jobs.tables")
    if any(within(importer, part) and within(imported, other) for part in PARTS for other in PARTS - {part}):
        return False
    guards = [importers for module, importers in ONLY.items() if within(imported, module)]
    return all(any(within(importer, allowed) for allowed in importers) for importers in guards)


def within(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def imports(source: str) -> Iterator[str]:
    """All that a module imports, at its top or inside a function; `from a import b` counts as a and as a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the two packages: its dotted name and its file."""
    for package in ("evalcore", "jobs"):
        for file in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), file


def test_every_import_keeps_the_rule():
    broken = [
        f"{importer} imports {imported}"
        for importer, file in modules()
        for imported in imports(file.read_text(encoding="utf-8"))
        if imported.startswith(".") or not may_import(importer, imported)
    ]
    assert broken == []


def test_the_modules_that_the_rule_names_exist():
    named = PARTS | ENTRANCES | set(ONLY) | {"jobs.udfs", "jobs.tables"}
    assert named - {name for name, _ in modules()} == TO_COME


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("evalcore.metrics.gain", "import pandas as pd"),
        ("evalcore.metrics.gain", "from scipy import stats"),
        ("evalcore.verdict", "def f():\n    from jobs import tables"),
        ("jobs.score", "from jobs.rankings import rankings"),
        ("jobs.score", "from jobs import readers"),
        ("jobs.readers.trec", "from jobs.audit import audit"),
        ("jobs.readers.trec", "import jobs.sinks.json"),
        ("jobs.sinks.json", "from jobs.readers.trec import read"),
        ("jobs.demo", "from jobs import score"),
        ("jobs.score", "from jobs.pipeline import run"),
        ("jobs.pipeline", "from jobs.session import session"),
        ("jobs.api", "from jobs import cli"),
        ("jobs.udfs", "from jobs.config import Score"),
    ],
)
def test_the_rule_refuses(importer, source):
    assert not all(may_import(importer, imported) for imported in imports(source))


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("evalcore.metrics.gain", "import numpy.typing as npt"),
        ("jobs.score", "from jobs import tables, udfs"),
        ("jobs.readers", "from jobs.readers import trec"),
        ("jobs.pipeline", "from jobs import readers, score"),
        ("jobs.doctor", "def f():\n    from jobs.session import session"),
        ("jobs.udfs", "from jobs import tables"),
        ("jobs.scoreboard", "import jobs.tables"),
    ],
)
def test_the_rule_allows(importer, source):
    assert all(may_import(importer, imported) for imported in imports(source))


ONLY_THESE = """
import importlib, pkgutil, sys
allowed = sys.stdlib_module_names | {allowed}
class Refuse:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in allowed and not name.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"{{name}} is refused")
sys.meta_path.insert(0, Refuse)
module = importlib.import_module({module!r})
for found in pkgutil.walk_packages(getattr(module, "__path__", []), {module!r} + "."):
    importlib.import_module(found.name)
    print(found.name)
"""


def test_all_of_evalcore_works_with_numpy_alone():
    assert "evalcore.metrics" in import_with_only("evalcore", {"evalcore", "numpy"})


def test_what_runs_on_executors_needs_numpy_and_pyarrow_alone():
    pytest.importorskip("pyspark")
    import_with_only("jobs.udfs", {"jobs", "evalcore", "numpy", "pyarrow", "pyspark", "py4j"})


def import_with_only(module: str, allowed: set[str]) -> list[str]:
    """Import a module and all below it where nothing but these packages can be imported; the names found."""
    program = ONLY_THESE.format(module=module, allowed=allowed)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_refusal_of_other_packages_works():
    with pytest.raises(AssertionError, match="pytest is refused"):
        import_with_only("pytest", {"numpy"})
