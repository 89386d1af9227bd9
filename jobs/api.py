"""Both jobs on DataFrames, for notebooks.

    from jobs import api

    found = api.score(runs, qrels, "nDCG@10,AP", queries=queries)
    found.scores                                                   a DataFrame, one row per system and query
    found.aggregate(unit="user_id", baseline="bm25").contrasts     pandas

These are the jobs of the command line, with the same checks, settings and files. Needs pandas only where a result is
turned into pandas.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import reduce
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs import pipeline, store
from jobs.config import Config
from jobs.config_file import load
from jobs.console import show_aggregate
from jobs.console.scores import show_answers
from jobs.errors import JobError, UsageError
from jobs.progress import Progress
from jobs.session import REQUIRED

if TYPE_CHECKING:
    import pandas as pd


class _Shown:
    """What a notebook shows as text that is laid out already."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


@dataclass(frozen=True, repr=False)
class Evaluation(_Shown):
    """The values of every system for every query.

    directory  where they are; a temporary one is removed with the last reference to this
    manifest   what was evaluated and how, and counts of all that was not as it should be
    """

    directory: Path
    manifest: Mapping[str, Any]
    _spark: SparkSession

    @property
    def scores(self) -> DataFrame:
        """SCORES: a column for each metric, null where it is undefined."""
        return self._spark.read.parquet(*store.score_files(self.directory, self.manifest))

    def aggregate(self, *, unit: str, baseline: str | None = None, **settings: object) -> Aggregation:
        """Estimates and contrasts, as `evaljob aggregate` gives them.

        unit      query_id, or the column of queries that holds what queries share, such as a user
        baseline  the system that all others are compared with; None compares all pairs
        settings  of the section ``aggregate``: ``methods=["auto"]``, ``segments=["country"]``

        Runs Spark jobs over SCORES. Raises UsageError or DataRefused.
        """
        config = _config("aggregate", {"unit": unit, "baseline": baseline, **settings}, {})
        with _required(self._spark):
            described, estimates, contrasts = pipeline.aggregate(
                self._spark, self.directory, config, Progress(quiet=True)
            )
        return Aggregation(described, estimates, contrasts)

    def __repr__(self) -> str:
        return _printed(lambda: show_answers(str(self.directory), self.manifest))


@dataclass(frozen=True, repr=False)
class Aggregation(_Shown):
    """ESTIMATES and CONTRASTS, a row for each interval method.

    described   the manifest
    estimated, contrasted   the two as Arrow tables
    """

    described: Mapping[str, Any]
    estimated: pa.Table
    contrasted: pa.Table

    @property
    def estimates(self) -> pd.DataFrame:
        """One row for each system, metric and interval method."""
        found: pd.DataFrame = self.estimated.to_pandas()
        return found

    @property
    def contrasts(self) -> pd.DataFrame:
        """One row for each two systems, metric and interval method."""
        found: pd.DataFrame = self.contrasted.to_pandas()
        return found

    def __repr__(self) -> str:
        return _printed(lambda: show_aggregate(self.described, self.estimated, self.contrasted))


def score(
    runs: DataFrame | Mapping[str, DataFrame],
    qrels: DataFrame | None,
    metrics: str | Sequence[str],
    *,
    queries: DataFrame | None = None,
    output: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
    **of_score: object,
) -> Evaluation:
    """Every metric for every query of every system, as `evaljob score` computes it.

    runs      system, query_id, doc_id, score or rank; or system -> a DataFrame without the column ``system``
    qrels     query_id, doc_id, relevance, and perhaps subtopic, propensity; None where no metric reads judgments
    metrics   their names
    queries   query_id, and the columns to group by; None evaluates every judged query
    output    the directory of the evaluation, which must not exist and which the executors must see; None takes a
              temporary one, which works where Spark runs on this machine
    settings  of any section, by their full names: ``{"inputs.columns.score": "bm25_score"}``
    of_score  settings of the section ``score``: ``preset="trec_eval"``, ``conventions={"ties": "average"}``

    Runs Spark jobs: values are computed once, and read from their files afterwards. Settings of the session that the
    jobs rely on are set while they run. Raises UsageError or DataRefused, as the command line tells them.
    """
    frame = _one_frame(runs)
    spark = frame.sparkSession
    kept = tempfile.mkdtemp(prefix="evaljob-") if output is None else None
    directory = Path(output or kept or "") / ("evaluation" if kept else "")
    scratch = directory.parent / f"evaljob-queries-{uuid.uuid4().hex}"
    frames = {"runs": frame, **({} if qrels is None else {"qrels": qrels})}
    try:
        with _required(spark), _views(spark, frames) as views:
            named: dict[str, object] = {option: [f"table:{view}"] for option, view in views.items()}
            if queries is not None:
                queries.write.parquet(store.uri(scratch))
                named["queries"] = str(scratch)
            chosen = {"metrics": [metrics] if isinstance(metrics, str) else list(metrics), **of_score}
            inputs = {f"inputs.{option}": value for option, value in named.items()}
            config = _config("score", chosen, {**(settings or {}), **inputs, "output.dir": str(directory)})
            names = {f"--{option} table:{view}": option for option, view in views.items()}
            manifest = _scored(spark, config, names | {f"--{option}:": f"{option}:" for option in named})
    except BaseException:
        shutil.rmtree(kept or scratch, ignore_errors=True)
        raise
    shutil.rmtree(scratch, ignore_errors=True)
    found = Evaluation(directory, manifest, spark)
    if kept is not None:
        weakref.finalize(found, shutil.rmtree, kept, ignore_errors=True)
    return found


def _scored(spark: SparkSession, config: Config, names: Mapping[str, str]) -> dict[str, Any]:
    """The manifest.  Messages call the input by these names."""
    try:
        return pipeline.score(spark, config, Progress(quiet=True))
    except JobError as error:
        told = reduce(lambda text, name: text.replace(*name), names.items(), str(error))
        raise type(error)(told) from error


def _one_frame(runs: DataFrame | Mapping[str, DataFrame]) -> DataFrame:
    """With the system in a column."""
    if not isinstance(runs, Mapping):
        return runs
    if not runs:
        raise UsageError("no runs given; give a DataFrame, or a mapping from each system to one")
    named = [frame.withColumn("system", F.lit(system)) for system, frame in runs.items()]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), named)


def _config(section: str, chosen: Mapping[str, object], others: Mapping[str, object]) -> Config:
    """Settings of one section, and others by their full names."""
    try:
        return load(None, flags={**{f"{section}.{key}": value for key, value in chosen.items()}, **others})
    except UsageError as error:
        raise UsageError(str(error).replace("command line: ", "")) from None


@contextmanager
def _views(spark: SparkSession, frames: Mapping[str, DataFrame]) -> Iterator[dict[str, str]]:
    """Names under which the readers find the frames, for as long as the block runs."""
    views = {option: f"evaljob_{option}_{uuid.uuid4().hex}" for option in frames}
    try:
        for option, view in views.items():
            frames[option].createTempView(view)
        yield views
    finally:
        for view in views.values():
            spark.catalog.dropTempView(view)


@contextmanager
def _required(spark: SparkSession) -> Iterator[None]:
    """The settings that the jobs rely on, and those of before afterwards: the session is the notebook's."""
    before = {key: spark.conf.get(key, None) for key in REQUIRED}
    try:
        for key, value in REQUIRED.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, known in before.items():
            if known is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, known)


def _printed(show: Callable[[], None]) -> str:
    """What the command line would print."""
    with redirect_stdout(io.StringIO()) as printed:
        show()
    return printed.getvalue().rstrip()
