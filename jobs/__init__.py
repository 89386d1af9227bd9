"""Spark jobs around evalcore: score every query of every system, then estimate and contrast.

    cli.py              the command line            pipeline.py   the only place where stages meet
    checks.py           what is refused before Spark starts
    config*.py          settings                    session.py, java.py, doctor.py   the machine
    tables.py           every table's columns       store.py      evaluation directories
    errors.py, spark_errors.py   exit codes         console/, progress.py   what a person sees
    readers/            files -> RUNS, QRELS, QUERIES
    rankings.py         RUNS + QRELS -> RANKINGS    score.py      RANKINGS -> SCORES (udfs.py)
    audit.py            counts, on the way          refusals.py   the message for each that is not allowed
    measures.py         what is estimated of each system; custom.py: metrics of a user's own package
    summary.py          SCORES -> what each system answered, means of sanity checks
    unit_sums.py, pairs.py   SCORES -> sums         spread.py     RANKINGS -> coverage of the catalogue
    aggregate.py        sums -> ESTIMATES, CONTRASTS (no Spark)
    aggregations.py     what job 2 wrote, read again: for gate.py, guardrails.py, known_guardrails.py, judgements.py,
                        the verdict of a night, and power.py, how small a change can be shown (no Spark)
    notes.py            what a reader should know   catalogue.py  metrics and presets; pages.py: as text and Markdown
    demo.py             a generated log

Data goes one way, from table to table, and a stage knows no other stage.
"""
