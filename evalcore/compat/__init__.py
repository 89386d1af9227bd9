"""Stand-ins for other tools: the same calls and names, the values of evalcore.

    pytrec_eval.py   RelevanceEvaluator, for trec_eval's measures
    trec_eval.py     its measures by name, for pytrec_eval.py and for `evaljob eval`
    mllib.py         RankingMetrics, over a list
    ranx.py          Qrels, Run, evaluate

Each takes plain Python data, so that a program can change tools by changing an import.
"""
