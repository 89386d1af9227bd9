"""What is known of a query: columns of a file or of the runs, and segments derived from numbers.

The text of a query is personal data: where a column holds it, its length takes its place, and no table, message or
log sees more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from evalcore.errors import unknown
from jobs.config_input import Queries
from jobs.errors import UsageError
from jobs.numbers import number

TEXTS = {"query", "text", "query_text", "querytext", "search_term", "search_terms", "keywords", "utterance"}
"""Names of columns that hold what people typed, in lower case."""
LENGTHS = ("n_words", "n_characters")
OF_JUDGMENTS = "n_relevant"
"""What a band can be of that is no column of QUERIES: known only when judgments are."""


def of_runs(rows: DataFrame, settings: Queries) -> DataFrame:
    """QUERIES from the rows of runs or of a log: columns of theirs, and how many different requests a query had.

    rows   query_id, and the columns that the settings name

    Moves each query once. A query with two values of a column has two rows, and is refused as any that is there twice.
    """
    kept = [
        _name(key) for key in dict.fromkeys([*(settings.columns or []), *([settings.text] if settings.text else [])])
    ]
    rows = rows.where(F.col("query_id").isNotNull())
    if settings.weight is None:
        return rows.select("query_id", *kept).distinct()
    return rows.groupBy("query_id", *kept).agg(F.count_distinct(_name(settings.weight)).cast("double").alias("weight"))


def described(queries: DataFrame, settings: Queries, *, where: str) -> DataFrame:
    """QUERIES with the columns that are to be kept, lengths for the text, and bands.

    where   the source, for messages

    Builds a plan and moves nothing. Raises UsageError for columns that are not there, names that clash, and for a
    column that seems to hold the text of queries and is not said to.
    """
    names = [key for key in queries.columns if key != "query_id"]
    _check(names, settings, where=where)
    if settings.text is not None:
        text = F.col(_name(settings.text)).cast("string")
        words = F.filter(F.split(text, r"\s+"), lambda word: word != "")
        queries = queries.withColumns({"n_words": F.size(words), "n_characters": F.char_length(F.trim(text))})
        queries = queries.withColumns({key: F.when(text.isNotNull(), F.col(key)) for key in LENGTHS})
        names = [key for key in names if key != settings.text]
    if settings.columns is not None:
        names = [key for key in names if key in settings.columns or key == "weight"]
    lengths = LENGTHS if settings.text is not None else ()
    bands = {key: bounds for key, bounds in settings.bands.items() if key != OF_JUDGMENTS}
    made = {f"{key}_band": band(_as_number(queries, key), bounds) for key, bounds in bands.items()}
    return queries.withColumns(made).select("query_id", *(_name(key) for key in (*names, *lengths, *made)))


def of_judgments(settings: Queries, known: Sequence[str]) -> list[str]:
    """The columns that `with_relevant` adds.

    known   the columns of QUERIES

    Raises UsageError for bands of numbers that are not there.
    """
    made = {key.removesuffix("_band") for key in known if key.endswith("_band")}
    if absent := set(settings.bands) - made - {OF_JUDGMENTS}:
        raise UsageError(f"queries.bands: {', '.join(sorted(absent))}: known of no query without --queries FILE")
    return [f"{OF_JUDGMENTS}_band"] if OF_JUDGMENTS in settings.bands else []


def with_relevant(rankings: DataFrame, settings: Queries) -> DataFrame:
    """RANKINGS with the band of the number of relevant documents, null for a query without judgments."""
    if OF_JUDGMENTS not in settings.bands:
        return rankings
    judged = F.when(F.col("judged").isNotNull(), F.col(OF_JUDGMENTS))
    return rankings.withColumn(f"{OF_JUDGMENTS}_band", band(judged, settings.bands[OF_JUDGMENTS]))


def band(value: Column, bounds: Mapping[str, float]) -> Column:
    """The name of the greatest bound that a number reaches; null where there is no number.

    {tail: 0, torso: 10, head: 1000}        9 tail | 10 torso | 999 torso | 1000 head | -1 below 0
    """
    in_order = sorted(bounds.items(), key=lambda item: item[1])
    found = F.lit(f"below {in_order[0][1]:g}")
    for name, bound in in_order:
        found = F.when(value >= bound, name).otherwise(found)
    return F.when(value.isNotNull() & ~F.isnan(value.cast("double")), found)


def _check(names: Sequence[str], settings: Queries, *, where: str) -> None:
    problems = []
    wanted = [*(settings.columns or []), *([settings.text] if settings.text is not None else [])]
    if absent := [key for key in wanted if key not in names]:
        problems.append(f"{where}: {unknown('column', absent[0], names)}")
    derived = LENGTHS if settings.text is not None else ()
    known = [*names, *derived, OF_JUDGMENTS]
    if absent := [key for key in settings.bands if key not in known]:
        problems.append(f"queries.bands: {unknown('number of a query', absent[0], known)}")
    made = [*derived, *(f"{key}_band" for key in settings.bands)]
    if taken := [key for key in made if key in names and key != settings.text]:
        problems.append(f"{where}: there is a column called {taken[0]} already, which would be made; rename it")
    said = {settings.text, *(settings.columns or [])}
    if settings.columns is None and (texts := [key for key in names if key.casefold() in TEXTS and key not in said]):
        problems.append(
            f'{where}: column "{texts[0]}" seems to be the text of queries, which is personal: keep its length alone '
            f"with --set queries.text={texts[0]}, or name the columns to keep with --set queries.columns=[...]"
        )
    if problems:
        raise UsageError("\n".join(problems))


def _as_number(queries: DataFrame, key: str) -> Column:
    cell = F.col(_name(key))
    return number(cell) if isinstance(queries.schema[key].dataType, T.StringType) else cell.cast("double")


def _name(key: str) -> str:
    """A column as Spark is told its name."""
    return f"`{key}`"
