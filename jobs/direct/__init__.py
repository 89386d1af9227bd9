"""`evaljob eval`: from files to estimates and contrasts in one process, without Spark.

    sources.py     paths and standard input -> bytes, and the format that they are in
    trec.py        TREC lines -> parts             tables.py   Parquet, ORC, CSV, TSV, JSON lines -> parts
    ir_datasets.py judgments and runs by an id of that optional package
    parts.py       a file's rows as columns, and what is wrong with them
    rows.py        parts -> RUNS, QRELS, QUERIES
    checks.py      counts, and what is refused
    sums.py        values -> UNIT SUMS and pair counts, as jobs.unit_sums and jobs.pairs make them
    quantiles.py   values -> quantiles, as jobs.quantiles makes them
    evaluation.py  all of it, in order
    datasets.py    several data sets, and their mean
    formats.py     the answer as a table, CSV, Markdown, JSON; latex.py: for a paper
    trec_eval.py   the answer as trec_eval prints it

Everything is held in memory. The values are evalcore's and the statistics `jobs.aggregate`'s, so that the numbers are
those of `evaljob score` and `evaljob aggregate`, to the last bit.
"""
