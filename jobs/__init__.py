"""Spark jobs around evalcore: score every query of every system, then estimate and contrast.

    cli/                the command line            pipeline/     the two jobs: the only place where stages meet
    api.py              the jobs on DataFrames
    checks.py           what is refused before Spark starts
    config*.py          settings                    session.py, java.py, doctor.py   the machine
    tables.py           every table's columns       store.py      evaluation directories
    errors.py, spark_errors.py   exit codes         console/, progress.py, figures.py   what a person sees
    demo.py             a generated log             notes.py, flags.py   what a reader should know

Job 1, from files to SCORES:

    readers/            files -> RUNS, QRELS, QUERIES
    judgments.py        labels -> QRELS, by tables  numbers.py    numbers in text, read strictly
    queries.py          columns, weights and segments of queries, and never their text
    prepare.py          a sample of queries, passages as their documents, no document for itself   ids.py
    rankings.py         RUNS + QRELS -> RANKINGS    score.py      RANKINGS -> SCORES (udfs.py)
    inspect.py          what an input seems to be, and a configuration of it
    nested.py           rows that hold whole rankings -> RANKINGS, without moving a document
    audit.py            counts, on the way          refusals.py   the message for each that is not allowed
    input_gates.py      levels of these counts      examples.py   up to three rows of each
    summary.py          SCORES -> what each system answered, means of sanity checks
    spread.py           RANKINGS -> coverage of the catalogue
    catalogue.py, pages.py   metrics and presets, as text and Markdown; custom.py: metrics of a user's own package

Job 2, from SCORES to ESTIMATES and CONTRASTS:

    evaluations.py, scored*.py, named.py   what is aggregated: evaluations, or another tool's table
    measures.py         what is estimated of each system; columns.py: the same in Spark SQL
    unit_sums.py, sum_refusals.py   SCORES -> exact sums by unit (buckets.py), and what cannot be summed
    whole_queries.py, pairs.py   SCORES -> what needs both systems of a query: in one pass, by a join
    (wanted_)quantiles.py, segments.py   SCORES -> quantiles; sums -> tables of every segment, on the executors
    sums.py             UNIT SUMS as evalcore takes them
    aggregate.py, infer.py, inferred.py   sums -> ESTIMATES, CONTRASTS, without Spark

What reads an aggregation again, without Spark:

    aggregations.py     its directory               reaggregate.py, added_sums.py, nights.py   other settings, nights
    gate.py, guardrails.py, judgements.py   verdict.json; power.py: how small a change shows
    selection*.py       the best of many            datasets.py, means.py   several data sets and their mean

Both jobs on small files, without Spark: direct/ (`evaljob eval`).

Data goes one way, from table to table, and a stage knows no other stage.
"""
