"""TOOLS: the programs that evalcore is compared with, a module for each."""

from benchmarks.parity.tools import ir_measures, lightgbm, mllib, pytrec_eval, ranx, sklearn

TOOLS = [pytrec_eval.TOOL, ir_measures.TOOL, ranx.TOOL, sklearn.TOOL, lightgbm.TOOL, mllib.TOOL]
