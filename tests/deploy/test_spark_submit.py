import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "deploy" / "spark-submit"
SUBMIT = SCRIPTS / "submit.sh"
JOB = ["--", "score", "--metrics", "nDCG@10,AP"]


@pytest.fixture
def checkout(tmp_path):
    """A project with the scripts, a Python that knows a Spark whose jobs exit with 3, and no package yet."""
    shutil.copytree(SCRIPTS, tmp_path / "deploy" / "spark-submit")
    write_script(tmp_path / ".venv" / "bin" / "python", f'echo "{tmp_path}/pyspark"')
    write_script(tmp_path / "pyspark" / "bin" / "spark-submit", "exit 3")
    return tmp_path


def write_script(file: Path, line: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)


def submit(checkout: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "EVALJOB"))}
    return subprocess.run(
        [checkout / "deploy" / "spark-submit" / "submit.sh", *arguments],
        env={**inherited, "JAVA_HOME": "/jdk", **variables},
        capture_output=True,
        text=True,
    )


def dry_run(checkout: Path, *arguments: str, **variables: str) -> list[str]:
    done = submit(checkout, "--dry-run", *arguments, *JOB, **variables)
    assert done.returncode == 0, done.stderr
    return shlex.split(done.stdout)


def make_package(checkout: Path, name: str) -> Path:
    file = checkout / "out" / "package" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    return file


def expected(checkout: Path, url: str, *options: str, mode: str = "client", main: str | None = None) -> list[str]:
    spark_submit = str(checkout / "pyspark" / "bin" / "spark-submit")
    main = main or str(checkout / "deploy" / "spark-submit" / "main.py")
    return [spark_submit, "--master", url, "--deploy-mode", mode, *options, main, *JOB[1:]]


def conf(*settings: str) -> list[str]:
    return [part for setting in settings for part in ("--conf", setting)]


@pytest.mark.parametrize(
    ("arguments", "url"),
    [((), "local[*]"), (("--master", "local"), "local[*]"), (("--master", "local-cluster"), "local-cluster[2,1,1024]")],
)
def test_on_this_machine_driver_and_executors_use_one_python(checkout, arguments, url):
    python = checkout / ".venv" / "bin" / "python"
    options = conf(f"spark.pyspark.python={python}", f"spark.pyspark.driver.python={python}")
    assert dry_run(checkout, *arguments) == expected(checkout, url, *options)


def test_a_standalone_cluster_gets_the_zip(checkout):
    package = make_package(checkout, "evaljob.zip")
    driver = conf(f"spark.pyspark.driver.python={checkout / '.venv' / 'bin' / 'python'}")
    assert dry_run(checkout, "--master", "spark://head:7077") == expected(
        checkout, "spark://head:7077", "--py-files", str(package), *driver
    )


@pytest.mark.parametrize("master", ["local-cluster", "spark://head:7077", "k8s://https://head:6443"])
def test_an_archive_brings_the_python_of_the_executors(checkout, master):
    archive = make_package(checkout, "mine.tar.gz")
    url = "local-cluster[2,1,1024]" if master == "local-cluster" else master
    options = ["--archives", f"{archive}#environment", *conf("spark.pyspark.python=./environment/bin/python")]
    driver = conf(f"spark.pyspark.driver.python={checkout / '.venv' / 'bin' / 'python'}")
    assert dry_run(checkout, "--master", master, "--archive", str(archive)) == expected(
        checkout, url, *options, *driver
    )


def test_yarn_in_cluster_mode_runs_the_driver_from_the_archive_and_only_once(checkout):
    archive = make_package(checkout, "evaljob-env.tar.gz")
    options = [
        *conf("spark.yarn.maxAppAttempts=1"),
        *("--archives", f"{archive}#environment"),
        *conf("spark.pyspark.python=./environment/bin/python"),
    ]
    assert dry_run(checkout, "--master", "yarn", "--deploy-mode", "cluster") == expected(
        checkout, "yarn", *options, mode="cluster"
    )


def test_kubernetes_in_cluster_mode_runs_the_file_inside_the_image(checkout):
    url, image = "k8s://https://head:6443", conf("spark.kubernetes.container.image=evaljob:1")
    assert dry_run(checkout, "--master", url, "--deploy-mode", "cluster", *image) == expected(
        checkout, url, *image, mode="cluster", main="local:///opt/evaljob/main.py"
    )


def test_settings_come_last_so_that_they_win_and_keep_their_spaces(checkout):
    mine = conf("spark.pyspark.python=mine", "spark.driver.extraJavaOptions=-Da -Db")
    command = dry_run(checkout, *mine)
    assert command[: command.index("score") - 1][-4:] == mine


def test_spark_home_is_preferred_to_the_environments_spark(checkout):
    write_script(checkout / "spark" / "bin" / "spark-submit", "exit 4")
    assert submit(checkout, *JOB, SPARK_HOME=str(checkout / "spark")).returncode == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mster", "local", *JOB], 'unknown option "--mster"; known: --master'),
        (["score"], 'unknown option "score"'),
        (["--master"], "--master needs a value"),
        (["--dry-run"], "nothing to run"),
        (["--master", "mesos://head", *JOB], 'unknown master "mesos://head"; known: local,'),
        (["--deploy-mode", "clster", *JOB], 'unknown deploy mode "clster"; known: client, cluster'),
        (["--deploy-mode", "cluster", *JOB], "Spark runs no Python driver inside local"),
        (["--archive", "a.tar.gz", *JOB], "--archive is for clusters"),
        (["--master", "spark://head:7077", *JOB], "evaljob.zip; build it with deploy/spark-submit/package.sh"),
        (["--master", "yarn", *JOB], "evaljob-env.tar.gz; build it with deploy/spark-submit/package.sh"),
        (["--master", "yarn", "--archive", "gone.tar.gz", *JOB], "there is no gone.tar.gz; build it"),
    ],
)
def test_what_cannot_work_is_refused_with_exit_code_2(checkout, arguments, message):
    done = submit(checkout, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_without_an_environment_the_message_says_how_to_make_it(checkout):
    shutil.rmtree(checkout / ".venv")
    done = submit(checkout, *JOB)
    assert done.returncode == 2
    assert done.stderr.endswith("/.venv/bin/python; run make setup, or set EVALJOB_PYTHON\n")


def test_an_environment_without_spark_is_named(checkout):
    write_script(checkout / ".venv" / "bin" / "python", "exit 1")
    done = submit(checkout, *JOB)
    assert done.returncode == 2
    assert done.stderr.endswith("python has no pyspark; run make setup, or set SPARK_HOME\n")


def test_the_exit_code_of_spark_submit_comes_through(checkout):
    assert submit(checkout, *JOB).returncode == 3


def test_packaging_refuses_an_unknown_option():
    done = subprocess.run([SCRIPTS / "package.sh", "--noenv"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, 'package.sh: unknown option "--noenv"; known: --no-env\n')


@pytest.fixture
def here(monkeypatch):
    """The environment of the running Python, as submit.sh is told of it."""
    pytest.importorskip("pyspark")
    monkeypatch.setenv("EVALJOB_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    for name in ("SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.spark
def test_the_exit_code_of_a_job_comes_through_spark(here, tmp_path, monkeypatch):
    main = tmp_path / "main.py"
    main.write_text("import sys\nprint(*sys.argv[1:], sep='|')\nsys.exit(5)\n")
    monkeypatch.setenv("EVALJOB_MAIN", str(main))
    done = subprocess.run([SUBMIT, "--", "score", "a b", "*"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (5, ["score|a b|*"]), done.stderr


@pytest.mark.spark
def test_executors_of_their_own_give_the_same_values_as_one_process(here, tmp_path):
    runs, qrels = write_trec(tmp_path)
    score = ["score", "--runs", runs, "--qrels", qrels, "--metrics", "nDCG@10,AP", "--output"]
    commands = {"cluster": [SUBMIT, "--master", "local-cluster", "--"], "local": [sys.executable, "-m", "jobs"]}
    for name, command in commands.items():
        run([*command, *score, tmp_path / name])
        run([*command, "aggregate", tmp_path / name, "--unit", "query_id"])
    assert read(tmp_path / "cluster", "scores") == read(tmp_path / "local", "scores")
    for table in ("estimates", "contrasts"):
        name = f"aggregates/query_id/{table}.parquet"
        assert read(tmp_path / "cluster", name) == read(tmp_path / "local", name)


def run(command: list[object]) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr  # spark-submit sends both to stdout


def read(evaluation: Path, table: str) -> list[str]:
    """The rows of a table in an order of their own; text, so that NaN equals NaN and every digit counts."""
    import pyarrow.parquet as pq

    rows = sorted(map(repr, pq.read_table(evaluation / table).to_pylist()))
    assert rows
    return rows


def write_trec(folder: Path) -> tuple[Path, Path]:
    """Two systems, 20 queries, 12 documents each, of which about half are judged."""
    random_ = random.Random(7)
    runs, qrels = folder / "runs.txt", folder / "qrels.txt"
    documents = [(f"q{query}", f"d{document}") for query in range(20) for document in range(12)]
    qrels.write_text(
        "".join(f"{query} 0 {doc} {random_.randrange(3)}\n" for query, doc in documents if random_.random() < 0.5)
    )
    runs.write_text(
        "".join(
            f"{query} Q0 {doc} 0 {random_.randrange(100)} {system}\n"
            for system in ("bm25", "dense")
            for query, doc in documents
        )
    )
    return runs, qrels
