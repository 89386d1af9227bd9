"""Spark jobs around evalcore: score every query of every system, then estimate and contrast.

    cli.py              the command line            pipeline.py   the only place where stages meet
    config*.py          settings                    session.py, java.py, doctor.py   the machine
    tables.py           every table's columns       store.py      evaluation directories
    readers/            files -> RUNS, QRELS, QUERIES
    rankings.py         RUNS + QRELS -> RANKINGS    score.py      RANKINGS -> SCORES (udfs.py)
    audit.py            counts and refusals         unit_sums.py, pairs.py   SCORES -> sums
    aggregate.py        sums -> ESTIMATES, CONTRASTS (no Spark)

Data goes one way, from table to table, and a stage knows no other stage.
"""
