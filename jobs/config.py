"""The configuration: one class per section, one field per setting, every default.

`jobs.config_file` fills these from a YAML file, the environment and the command line;
`conf/base.yaml` shows every setting with its default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from evalcore.conventions import (
    Conventions,
    Duplicates,
    Mean,
    NegativeGrade,
    NonFiniteScore,
    NoRelevant,
    ScorePrecision,
    Ties,
    Unanswered,
    Unjudged,
    UnjudgedQuery,
)
from evalcore.errors import unknown
from evalcore.inference import INTERVALS, TESTS
from evalcore.presets import PRESETS, preset
from jobs.config_input import Audit, Judgments, Prepare, Queries
from jobs.config_section import Section


def _known(kind: str, names: Collection[str]) -> Callable[[str], str]:
    """A check of a setting that is one of many names: the message has the nearest."""

    def check(given: str) -> str:
        if given not in names:
            raise ValueError(unknown(kind, given, names))
        return given

    return check


def _two(columns: list[str]) -> list[str]:
    """A check of the two columns of a ratio."""
    if len(columns) != 2:
        raise ValueError(f"a ratio is of two columns, [above, below], not of {len(columns)}")
    return columns


def _names(given: object) -> object:
    """Names of columns: features have numbers."""
    return [str(each) if type(each) is int else each for each in given] if isinstance(given, list) else given


INPUT_COLUMNS = (
    "system", "query_id", "doc_id", "score", "rank", "relevance", "judged", "subtopic", "propensity", "position", "time"
)  # fmt: skip
"""What columns of runs and judgments can be for us."""


class Inputs(Section):
    """inputs:  the runs, judgments and queries to read."""

    runs: list[str] = Field(default=[], description="what systems returned: paths of files or directories")
    qrels: list[str] = Field(default=[], description="judgments: paths of files or directories")
    queries: str | None = Field(
        default=None, description="queries with their clusters, segments and weights; null = every judged query"
    )
    scores: list[str] = Field(
        default=[], description="values of queries from another tool, for aggregate: paths of Parquet or CSV files"
    )
    format: Literal["auto", "trec", "parquet", "orc", "csv", "tsv", "jsonl", "svmlight"] = Field(
        default="auto", description="how runs and judgments are written; auto looks at each path"
    )
    layout: Literal["auto", "long", "nested", "wide", "log"] = Field(
        default="auto", description="what a row of runs is; auto looks at the columns"
    )
    columns: dict[Annotated[str, AfterValidator(_known("column", INPUT_COLUMNS))], str] = Field(
        default={}, description="what columns of runs and judgments are called, where not as here"
    )
    systems: Annotated[list[str], BeforeValidator(_names)] = Field(
        default=[], description="the columns of scores where each system has one"
    )
    gaps: Literal["refuse", "close"] = Field(
        default="refuse", description="positions of a log that are not 1, 2, 3 …; close moves what is below up"
    )
    system_from: Literal["tag", "file"] = Field(
        default="tag", description="a system's name: the run tag inside the file, or the name of the file"
    )


class ConventionChoices(Section):
    """score.conventions:  single conventions that differ from the preset; null = the preset's value.

    The meaning of each value is written at `evalcore.conventions.Conventions`. A test keeps names and types equal.
    """

    ties: Ties | None = Field(default=None, description="which of two documents with the same score ranks first")
    score_precision: ScorePrecision | None = Field(default=None, description="digits of a score that count")
    unanswered: Unanswered | None = Field(
        default=None, description="a judged query for which a system returned nothing"
    )
    unjudged_query: UnjudgedQuery | None = Field(default=None, description="a query without any judgment")
    no_relevant: NoRelevant | None = Field(
        default=None, description="a metric that is undefined because no judged document is relevant"
    )
    unjudged: Unjudged | None = Field(default=None, description="a returned document without a judgment")
    negative_grade: NegativeGrade | None = Field(default=None, description="a grade below 0")
    duplicates: Duplicates | None = Field(
        default=None, description="a document that a system returned twice for a query"
    )
    non_finite_score: NonFiniteScore | None = Field(default=None, description="a score that is NaN or infinite")
    depth: Annotated[int, Field(ge=1)] | Literal["auto"] | None = Field(
        default=None, description="ranks kept of each ranking; auto is the least that changes no value"
    )
    mean: Mean | None = Field(default=None, description="how the values of queries become one number")
    rounding: Annotated[int, Field(ge=0, le=15)] | Literal["none"] | None = Field(
        default=None, description="decimals of the values of queries; none rounds nothing"
    )


class Score(Section):
    """score:  which metrics, and by which conventions."""

    metrics: list[str] = Field(
        default=["nDCG@10", "AP", "RR@10"], min_length=1, description="metric names, such as P(rel=2)@5"
    )
    preset: str = Field(
        default="default", description=f"a named set of conventions and metric parameters: {', '.join(PRESETS)}"
    )
    conventions: ConventionChoices = Field(
        default=ConventionChoices(), description="single conventions that differ from the preset"
    )
    diagnostics: list[Literal["ties", "unjudged", "random", "oracle"]] = Field(
        default=[],
        description="sanity checks to write beside the values: what ties and unjudged documents could change, "
        "a random order and the best one",
    )
    spread_at: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="also tell how the documents of so many ranks spread over the catalogue"
    )
    reference: str | None = Field(
        default=None, description="the system that metrics of two systems compare with, such as Overlap@10"
    )
    custom: dict[str, str] = Field(default={}, description="metrics of your own: a name for each package.module:Class")
    udf: Literal["auto", "arrow", "pandas"] = Field(
        default="auto", description="how Spark calls numpy; auto is arrow where Spark has it (4.1 and later)"
    )

    @field_validator("preset")
    @classmethod
    def _preset_exists(cls, name: str) -> str:
        preset(name)
        return name

    @property
    def resolved_conventions(self) -> Conventions:
        """The preset, with the conventions that were chosen singly."""
        return replace(preset(self.preset).conventions, **self.conventions.model_dump(exclude_none=True))


class Output(Section):
    """output:  where the evaluation goes."""

    dir: str | None = Field(default=None, description="the directory of this evaluation; must not exist")
    force: bool = Field(default=False, description="replace an evaluation that exists")


class Aggregate(Section):
    """aggregate:  how query values become estimates."""

    unit: str | None = Field(
        default=None,
        description="what resampling draws: query_id or a cluster column; no default: the answer changes the claim",
    )
    baseline: str | None = Field(default=None, description="the system that all others are compared with")
    name: str | None = Field(default=None, description="the name of this aggregation; null = the unit")
    output: str | None = Field(
        default=None, description="the directory of an aggregation of several evaluations or of inputs.scores"
    )
    systems: list[str] = Field(default=[], description="the systems to estimate and contrast; empty = all")
    metrics: list[str] = Field(default=[], description="the metrics to estimate; empty = all that the input has")
    same_system: Literal["refuse", "last", "both"] = Field(
        default="refuse", description="what becomes of a system that is in several of the evaluations"
    )
    columns: dict[str, str] = Field(
        default={}, description="of inputs.scores: which column holds the system, query_id, metric, value or a metric"
    )
    ratios: dict[str, Annotated[list[str], AfterValidator(_two)]] = Field(
        default={}, description="of inputs.scores: metrics that are the sum of a column over the sum of another"
    )
    lower_is_better: list[str] = Field(
        default=[], description="of inputs.scores: metrics whose lower value is the better one"
    )
    segments: list[str] = Field(default=[], description="columns of queries whose every value is estimated by itself")
    fewest_units: int = Field(default=10, ge=2, description="segments with fewer units are left out")
    crossed: str | None = Field(
        default=None, description="a second column that queries share, across units: adds intervals for both at once"
    )
    strata: str | None = Field(
        default=None, description="a column of queries whose values keep their share of the queries in every draw"
    )
    quantiles: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        default=[], description="levels of the values of queries to tell beside their mean, such as 0.5"
    )
    movers: int = Field(default=10, ge=0, description="queries that moved most to write of each contrast, each way")
    methods: list[Annotated[str, AfterValidator(_known("interval method", INTERVALS))]] = Field(
        default=["auto", "percentile"], min_length=1, description="interval methods, each a row of its own"
    )
    tests: list[Annotated[str, AfterValidator(_known("test", TESTS))]] = Field(
        default=["sign_flip"], description="p-values of contrasts beside Student's"
    )
    adjust: Literal["holm", "max_t", "tukey_hsd", "bonferroni", "benjamini_hochberg"] = Field(
        default="holm", description="how p-values allow for all contrasts of a metric"
    )
    margins: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default={}, description="the smallest delta that matters, by metric; else 0.5 % of the baseline"
    )
    replicates: int = Field(default=9_999, ge=99, description="bootstrap draws")
    confidence: float = Field(default=0.95, gt=0, lt=1, description="a fraction: 95 % is 0.95")
    seed: int = Field(default=0, ge=0, description="the same seed and inputs give the same intervals")


class Gate(Section):
    """gate:  when a candidate may replace aggregate.baseline."""

    candidate: str | None = Field(default=None, description="the system that is to pass; null = the only other one")
    guardrails: list[str] = Field(
        default=[], description="metrics that must not get worse; empty = all that have a better direction, at most 5"
    )
    strict: bool = Field(default=False, description="regressed only if the loss is known to be beyond the margin")
    level: float = Field(
        default=0.005, gt=0, lt=0.5, description="share of nights without a change that may be called regressed"
    )
    coverage: float = Field(
        default=0.999, ge=0, le=1, description="share of the baseline's queries that both must have, else invalid"
    )
    judged_drop: float = Field(
        default=0.02, ge=0, le=1, description="by how much Judged@k may fall where it is scored, else invalid"
    )


class Spark(Section):
    """spark:  the session that the job starts."""

    master: str | None = Field(
        default=None, description="where Spark runs; null = what spark-submit set, else local[*], all cores here"
    )
    settings: dict[str, str | int | bool] = Field(default={}, description="passed to Spark as they are")


class Demo(Section):
    """demo:  the size of the generated log."""

    queries: int = Field(default=2_000, ge=1, description="queries in the log")
    users: int = Field(default=300, ge=1, description="users who ask them")
    depth: int = Field(default=20, ge=1, description="documents each system returns for a query")
    seed: int = Field(default=7, ge=1, description="the same seed gives the same log")


class Config(Section):
    """Everything that can be set, by section."""

    inputs: Inputs = Field(default=Inputs(), description="the runs, judgments and queries to read")
    judgments: Judgments = Field(default=Judgments(), description="how labels become grades")
    queries: Queries = Field(default=Queries(), description="what is known of a query")
    prepare: Prepare = Field(default=Prepare(), description="what is done to the input of all systems alike")
    audit: Audit = Field(default=Audit(), description="gates on the input")
    score: Score = Field(default=Score(), description="which metrics, and by which conventions")
    output: Output = Field(default=Output(), description="where the evaluation goes")
    aggregate: Aggregate = Field(default=Aggregate(), description="how query values become estimates")
    gate: Gate = Field(default=Gate(), description="when a candidate may replace aggregate.baseline")
    spark: Spark = Field(default=Spark(), description="the session that the job starts")
    demo: Demo = Field(default=Demo(), description="the size of the generated log")


def dump(config: Config) -> dict[str, Any]:
    """Every setting with its value, in types that JSON has: for the manifest."""
    return config.model_dump(mode="json")


def config_hash(config: Config) -> str:
    """The sha256 of the settings as JSON with sorted keys: equal exactly where every setting is."""
    canonical = json.dumps(dump(config), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
