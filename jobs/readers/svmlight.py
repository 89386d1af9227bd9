"""SVMlight files, as data for learning to rank are written: a document a line, with its label and its features.

    2 qid:7 1:0.5 12:0.8 # docid = d1    with its query, and perhaps the document in a comment (LETOR, MSLR, Yahoo)
    2 1:0.5 12:0.8                       with the sizes of queries in FILE.query (LightGBM) or FILE.group (XGBoost)

A file becomes a table: query_id, doc_id, relevance, and a column for each feature, called by its number (or its name:
`bm25:3.1` is read too). A feature that a line does not have is 0. A document is called by its docid where every line
has one, else by the number of its line in its file; queries of a file with sizes are numbered from 1. Empty lines and
lines that start with # are passed over and not counted: document n has the n-th of a file of predictions.

Opening reads everything once, for the names of features. Numbering sorts the lines of a file by their place in one
task, which may spill to disk: a file may be larger than memory, plain or gzip, and be split as Spark likes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F

from jobs.errors import DataRefused, UsageError, address, number_of
from jobs.numbers import NUMBER
from jobs.readers.paths import located
from jobs.readers.places import first_flawed

NAME = "(?:0|[1-9][0-9]*|[A-Za-z][A-Za-z0-9_.-]*)"
VALUE = rf"(?:{NUMBER.strip('^$')}|[+-]?(?i:infinity|inf|nan))"
FEATURE = rf"[ \t]+(?!qid:){NAME}:{VALUE}(?=[ \t]|$)"
QID = "[ \t]+qid:([^ \t:]+)"
COMMENT = "#.*?docid[ \t]*=[ \t]*([^ \t]+)"
ANY, BROKEN, NAMED = " line", " broken", " docid"
"""What is counted of lines beside their features, which have no space in their names."""
SIZES = (".query", ".group")
MOST_FEATURES = 10_000
FEW = 20


def rows(spark: SparkSession, paths: Sequence[str], *, option: str, file: str, place: str) -> DataFrame:
    """A row for each line, all columns of text.

    file, place   what to call a column of the file, and one that orders rows

    Raises UsageError for files without queries, DataRefused for lines that cannot be divided, for queries that some
    lines name and some do not, and for sizes that do not fit.
    """
    lines = _lines(spark, paths)
    seen = _seen(lines, option=option)
    if ANY not in seen:
        raise DataRefused(f"--{option}: there is no line in {', '.join(paths)}")
    if BROKEN in seen:
        raise DataRefused(_told(lines, _broken(), seen[BROKEN], option))
    n_lines, found = seen[ANY], _numbered(lines)
    if "qid" not in seen:
        found = _grouped(found, _sizes(spark, lines, n_lines, option=option))
    elif seen["qid"] < n_lines:
        raise DataRefused(_told(lines, ~F.col("data").rlike(QID), n_lines - seen["qid"], option))
    all_named = seen.get(NAMED) == n_lines
    query = F.regexp_extract("data", QID, 1) if "qid" in seen else F.col("group").cast("string")
    document = F.regexp_extract("line", COMMENT, 1) if all_named else F.col("number").cast("string")
    cells = F.str_to_map(F.regexp_replace("data", "^[^ \t]+[ \t]*", ""), F.lit("[ \t]+"), F.lit(":"))
    label, at = F.regexp_extract("data", "^[^ \t]+", 0), F.struct("file", "number")
    divided = found.select(
        *(query.alias("query_id"), document.alias("doc_id"), label.alias("relevance")),
        *(cells.alias("cells"), F.col("file").alias(file), at.alias(place)),
    )
    # as text, since hundreds of columns made one by one take seconds
    features = [f"coalesce(try_element_at(cells, '{name}'), '0') AS `{name}`" for name in _ordered(seen)]
    return divided.selectExpr("query_id", "doc_id", "relevance", *features, file, place)


def _lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """`line`, and of it what is no comment as `data`: empty for a line that is passed over."""
    line = F.btrim(F.col("value"), F.lit("\ufeff \t\r"))
    data = F.btrim(F.substring_index(line, "#", 1), F.lit(" \t"))
    return spark.read.text(located(paths)).select("_metadata", line.alias("line"), data.alias("data"))


def _names() -> Column:
    return F.regexp_extract_all("data", F.lit("[ \t]([^ \t:]+):"), 1)


def _left() -> Column:
    """A line without its features: of a whole line its label and its query."""
    return F.regexp_replace("data", FEATURE, "")


def _broken() -> Column:
    repeated = F.size(F.array_distinct(_names())) < F.size(_names())
    return (F.col("data") != "") & (~_left().rlike(rf"^[^ \t:]+({QID})?$") | repeated)


def _seen(lines: DataFrame, *, option: str) -> Mapping[str, int]:
    """For each feature, `qid`, and what else is counted: the number of lines."""
    named = F.when(F.col("line").rlike(COMMENT), F.lit(NAMED))
    marks = F.array_compact(F.array(F.lit(ANY), F.when(_broken(), F.lit(BROKEN)), named))
    keys = lines.where("data != ''").select(F.explode(F.concat(_names(), marks)).alias("key"))
    counts = keys.groupBy("key").agg(F.count("*").alias("n"))
    found = counts.orderBy("key").limit(MOST_FEATURES + FEW).collect()
    if len(found) == MOST_FEATURES + FEW:
        raise DataRefused(f"--{option}: more than {MOST_FEATURES:,} features; keep those that are systems")
    return {row.key: row.n for row in found}


def _ordered(seen: Mapping[str, int]) -> list[str]:
    """The features: numbers in their order, then names."""
    names = [key for key in seen if not key.startswith(" ") and key != "qid"]
    return sorted(names, key=lambda name: (0, int(name), "") if name.isdigit() else (1, 0, name))


def _numbered(lines: DataFrame) -> DataFrame:
    """The rows that are not passed over or empty, with their `file` and their `number` in it, from 1."""
    placed = lines.select(
        "*",
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("id"),
    )
    number = F.row_number().over(Window.partitionBy("file").orderBy("block", "id"))
    return placed.where("data != ''").drop("_metadata").withColumn("number", number)


def _grouped(found: DataFrame, sizes: DataFrame) -> DataFrame:
    """The rows with the number of their `group`."""
    last = F.sum("size").over(Window.partitionBy("file").orderBy("number"))
    of_line = sizes.select(F.col("number").alias("group"), "size", last.alias("last")).where("size > 0")
    at = F.explode(F.sequence(F.expr("last - size + 1"), "last")).alias("at")
    return found.join(of_line.select("group", at), F.col("number") == F.col("at"), how="inner")


def _sizes(spark: SparkSession, lines: DataFrame, n_lines: int, *, option: str) -> DataFrame:
    """The `size` of each group, and its `number` from 1.

    Raises UsageError where there is no one file of sizes, DataRefused where it does not fit.
    """
    file = F.col("_metadata.file_path")
    files = lines.where("data != ''").agg(F.min(file).alias("first"), F.max(file).alias("last")).collect()[0]
    data, how = address(files.first), "write the number of lines of each query into it, or qid:QUERY after every label"
    if files.first != files.last:
        raise UsageError(
            f"--{option}: no line of {data} or {address(files.last)} has a qid, and queries of several files would "
            "have the same numbers; give one file, or write qid:QUERY after every label"
        )
    given = None
    for path in (f"{stem}{ending}" for stem in dict.fromkeys((data, data.removesuffix(".gz"))) for ending in SIZES):
        if (given := _text(spark, path)) is not None:
            break
    if given is None:
        raise UsageError(f"--{option}: no line of {data} has a qid, and there is no {data}{SIZES[0]}; {how}")
    each = given.select("_metadata", F.trim("value").alias("data"))
    flawed = (F.col("data") != "") & ~F.col("data").rlike("^[0-9]{1,9}$")
    if wrong := first_flawed(each, flawed, F.col("data")):
        told = "; ".join(f'{where}: "{row["data"]}" is no number of lines' for where, row in wrong)
        raise DataRefused(f"--{option}: {told}; {how}")
    sizes = _numbered(each).withColumn("size", F.col("data").cast("int"))
    total = sizes.agg(F.sum("size").alias("total")).collect()[0].total or 0
    if total != n_lines:
        raise DataRefused(
            f"--{option}: {data} has {number_of(n_lines, 'line')}, and the sizes of {path} sum to {total:,}; {how}"
        )
    return sizes


def _text(spark: SparkSession, path: str) -> DataFrame | None:
    try:
        return spark.read.text(located([path]))
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None


def _told(lines: DataFrame, flawed: Column, number: int, option: str) -> str:
    """The message for lines that cannot be used."""
    found = first_flawed(
        lines, (F.col("data") != "") & flawed, F.col("data"), _left().alias("left"), _names().alias("names")
    )
    told = "; ".join(f"{where}: {_flaw(row)}" for where, row in found)
    return f"--{option}: {number_of(number, 'row')} cannot be used: {told}; mend them or leave them out"


def _flaw(row: Row) -> str:
    label, *others = row.left.split()
    if ":" in label or len(row.data) == 0:
        return f'begins with "{label[:60]}", and not with a label'
    wrong = [word for word in others if not re.fullmatch("qid:[^:]+", word)]
    if wrong:
        return f'"{wrong[0][:60]}" is no feature, such as 12:0.5'
    twice = next((name for name in row["names"] if row["names"].count(name) > 1), None)
    return f"{twice} is there twice" if twice else "no qid, and other lines have one"
