"""The columns of every table, written once.

    RUNS       system, query_id, doc_id, score, rank, place        one document that one system returned;
               score and rank null where there is none that can be read, place the row's place in the input
    QRELS      query_id, doc_id, relevance, subtopic, propensity   one judgment; subtopic is the group it belongs to,
               propensity the probability that the logged impression was looked at; null where there is none
    QUERIES    query_id, then cluster, segment and weight columns  what is known of a query
    RANKINGS   one system's answer to one query: `RANKING_COLUMNS`, and those of `EXTRAS` that something asks for
    SCORES     one system's values for one query: `SCORE_KEYS`, the columns of QUERIES, metrics, `SCORE_FACTS`
    UNIT SUMS  exact sums over the queries of one unit: `UNIT_SUMS`
    ESTIMATES, CONTRASTS   Arrow schemas below

Ids are strings. A null grade is an unjudged document; a null value is an undefined metric.
"""

from __future__ import annotations

import pyarrow as pa

from evalcore.inference import TESTS

RANKING_COLUMNS = (
    "system",
    "query_id",
    "grades",  # array<double> in rank order, null = unjudged; a null array if nothing was returned
    "judged",  # array<double>, grades of all judged documents, best first; null if there is none
    "n_retrieved",
    "n_relevant",
    "n_judged",
    "status",
)
EXTRAS: dict[str, tuple[str, ...]] = {
    "scores": ("scores",),  # array<double> in rank order
    "documents": ("doc_ids",),  # array<string> in rank order
    "propensities": ("propensities", "judged_propensities"),  # array<double>, aligned with grades and with judged
    "subtopics": ("entries",),  # array<struct<doc_id, group, value>>: every judgment of the query, by document
    "preferences": ("entries",),
    "reference": ("reference",),  # array<string>: what the reference system returned for the query, best first
}
"""What a metric, tie rule or diagnostic can ask for, and the columns of RANKINGS that hold it."""
AUDITED_JUDGMENTS = ("n_repeated", "n_contradictory", "n_subtopics")
"""Counts of judgments, for the audit, that ride along with a ranking as n_duplicates does."""
QRELS_SCHEMA = "query_id string, doc_id string, relevance double, subtopic string, propensity double"
SCORE_KEYS = ("system", "query_id")
SCORE_FACTS = ("n_retrieved", "n_relevant", "n_judged", "status")
RESERVED = {
    *RANKING_COLUMNS,
    *(column for columns in EXTRAS.values() for column in columns),
    *("documents", "values", "n_duplicates", "n_repeated", "n_contradictory", "given", "segment"),
}
"""What no column of QUERIES can be called: names of SCORES, and names in use on the way to sums."""

ALL = "all"
"""The segment that holds every query."""

UNIT_SUMS = ("segment", "stratum", "unit", "system", "given", "n_queries")
"""Followed by <column>_n, <column>_hi, <column>_lo and <column>_squares for each metric. `stratum` is null unless the
aggregation is stratified. `given` is null in the sums of all
counted queries; otherwise the sums are over the queries that the system named there answered too."""

MOVERS = ("candidate", "baseline", "metric", "place", "query_id", "candidate_value", "baseline_value", "delta")
"""`place` counts from 1, for deltas above 0 and below 0 by themselves."""

ESTIMATES = pa.schema(
    [
        ("segment", pa.string()),
        ("system", pa.string()),
        ("metric", pa.string()),
        ("statistic", pa.string()),
        ("estimate", pa.float64()),
        ("standard_error", pa.float64()),
        ("degrees_of_freedom", pa.float64()),
        ("method", pa.string()),
        ("confidence", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("end_error", pa.float64()),
        ("n_queries", pa.int64()),
        ("n_units", pa.int64()),
        ("n_undefined", pa.int64()),
        ("flags", pa.list_(pa.string())),
    ]
)
CONTRASTS = pa.schema(
    [
        ("segment", pa.string()),
        ("candidate", pa.string()),
        ("baseline", pa.string()),
        ("metric", pa.string()),
        ("statistic", pa.string()),
        ("delta", pa.float64()),
        ("relative_delta", pa.float64()),
        ("relative_low", pa.float64()),
        ("relative_high", pa.float64()),
        ("standard_error", pa.float64()),
        ("degrees_of_freedom", pa.float64()),
        ("method", pa.string()),
        ("confidence", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("end_error", pa.float64()),
        ("p_value", pa.float64()),
        ("p_adjusted", pa.float64()),
        *((f"p_{test}", pa.float64()) for test in TESTS),
        ("effect_size", pa.float64()),
        ("wins", pa.int64()),
        ("ties", pa.int64()),
        ("losses", pa.int64()),
        ("n_queries", pa.int64()),
        ("n_units", pa.int64()),
        ("margin", pa.float64()),
        ("verdict", pa.string()),
        ("flags", pa.list_(pa.string())),
    ]
)
