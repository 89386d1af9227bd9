"""Definitions of ranking metrics and of the statistics on top, in plain numpy.

    segments.py      kernels over many short lists laid end to end
    rankings.py      JudgedRankings: all that a metric may see
    ordering.py      rank order from scores under a tie rule
    entries.py       rows of a query that name documents, where metrics ask for them
    metrics/         the metrics, their names, METRICS
    catalogue.py     statistics of a whole run, which are no means over queries
    statuses.py      what is known of a system's answer to a query
    scoring.py       metrics under conventions, and sanity checks beside them
    conventions.py   the choices that change a number; presets.py: named sets of them
    evaluation.py    values of runs in one call; evaluated.py: what it returns
      reading.py     what callers give, mappings and tables alike
      plain.py       mappings as rows; given.py: their ids and numbers
      tables.py      tables as rows; arrow.py: those that speak its C interface
      listed.py      rows, query by query; ranked.py, judged.py: in rank order, with what is judged
      ids.py, texts.py   columns of ids as codes
    compat/          other tools' calls and names, with these values
    inference/       estimates and paired contrasts with bootstrap intervals
    verdict.py       what an interval says
    gate.py          whether a candidate may replace the baseline

No files, no clock, no Spark, no logging: arrays in, arrays out.
"""

from evalcore.conventions import Conventions
from evalcore.errors import ConventionError, DataError, EvalcoreError, MetricNameError
from evalcore.evaluated import Evaluation
from evalcore.evaluation import evaluate, evaluate_runs
from evalcore.metrics import METRICS, Metric, column_name, name, parameters, parse, parse_list
from evalcore.ordering import rank_order
from evalcore.presets import PRESETS, Preset, preset
from evalcore.rankings import Grades, JudgedRankings

__all__ = [
    "METRICS", "PRESETS", "ConventionError", "Conventions", "DataError", "EvalcoreError", "Evaluation", "Grades",
    "JudgedRankings", "Metric", "MetricNameError", "Preset", "column_name", "evaluate", "evaluate_runs", "name",
    "parameters", "parse", "parse_list", "preset", "rank_order",
]  # fmt: skip
