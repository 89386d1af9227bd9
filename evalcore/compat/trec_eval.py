"""trec_eval's measures: their names in its order, what each is made of, and how it prints their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from evalcore.arrays import FloatArray
from evalcore.conventions import GEOMETRIC_FLOOR
from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import Metric
from evalcore.metrics.names import parse
from evalcore.metrics.numbers import plain
from evalcore.metrics.spellings import TREC_GAINS

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
FIFTHS = tuple(f"{fifth / 5:.2f}" for fifth in range(1, 11))


@dataclass(frozen=True, slots=True)
class Measure:
    """What a measure is made of.

    metrics   names of evalcore, {} for the parameter
    values    from the values of the metrics, in their order
    defaults  the parameters that stand in the measure's names; none if its name has no parameter
    level     whether relevance_level decides which documents are relevant to it
    """

    metrics: tuple[str, ...] = ()
    values: Callable[..., FloatArray] = lambda values: values
    defaults: tuple[str, ...] = ()
    level: bool = True


def _logarithm(values: FloatArray) -> FloatArray:
    return np.log(np.maximum(values, GEOMETRIC_FLOOR))


def _zero(*, plus: float = 0.0) -> Measure:
    return Measure(("NumRet",), lambda values: np.zeros_like(values) + plus)


MEASURES: dict[str, Measure] = {
    "runid": _zero(),
    "num_q": _zero(plus=1.0),
    "num_ret": Measure(("NumRet",)),
    "num_rel": Measure(("NumRel",)),
    "num_rel_ret": Measure(("NumRelRet",)),
    "map": Measure(("AP",)),
    "gm_map": Measure(("AP",), _logarithm),
    "Rprec": Measure(("Rprec",)),
    "bpref": Measure(("Bpref",)),
    "recip_rank": Measure(("RR",)),
    "iprec_at_recall": Measure(("IPrec(point=trec_eval9)@{}",), defaults=TENTHS),
    "P": Measure(("P@{}",), defaults=CUTOFFS),
    "relstring": _zero(),
    "recall": Measure(("R@{}",), defaults=CUTOFFS),
    "infAP": Measure(("infAP",)),
    "gm_bpref": Measure(("Bpref",), _logarithm),
    "Rprec_mult": Measure(("Rprec(mult={})",), defaults=FIFTHS),
    "utility": Measure(("Utility",)),
    "11pt_avg": Measure(("11ptAP(point=trec_eval9)",)),
    "binG": Measure(("binG",)),
    "G": Measure(("G",), level=False),
    "ndcg": Measure(("nDCG",), level=False),
    "ndcg_rel": Measure(("ndcg_rel",)),
    "Rndcg": Measure(("Rndcg", "NumRel"), lambda values, relevant: np.where(relevant > 0, values, 0.0)),
    "ndcg_cut": Measure(("nDCG@{}",), defaults=CUTOFFS, level=False),
    "map_cut": Measure(("AP@{}",), defaults=CUTOFFS),
    "relative_P": Measure(("RelativeP@{}",), defaults=CUTOFFS),
    "success": Measure(("Success@{}",), defaults=("1", "5", "10")),
    "set_P": Measure(("P",)),
    "set_relative_P": Measure(("set_relative_P",)),
    "set_recall": Measure(("R",)),
    "set_map": Measure(("set_map",)),
    "set_F": Measure(("F",)),
    "num_nonrel_judged_ret": Measure(("num_nonrel_judged_ret",)),
}


COUNTED = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
OFFICIAL = ("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
OF_SETS = ("utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F")
NICKNAMES = {"official": (*COUNTED, *OFFICIAL), "set": (*COUNTED, *OF_SETS), "all_trec": tuple(MEASURES)}


@dataclass(frozen=True, slots=True)
class Row:
    """One number of the answer.

    values   of its metrics, in their order, where undefined is 0 -> the number
    """

    name: str
    metrics: tuple[Metric, ...]
    values: Callable[..., FloatArray]


def rows(asked: Iterable[str], level: float, *, version: int = 9) -> Iterator[Row]:
    """What is asked for, in the order of `MEASURES`.  Raises MetricNameError.

    asked     names as trec_eval takes them: "map", "P_10", "ndcg_cut.5,10", "recall" (its usual cutoffs), "official"
    level     from which grade a document is relevant
    version   of trec_eval, 9 or 10: they count the relevant documents of a level of recall otherwise
    """
    parameters: dict[str, set[str]] = {}
    others: dict[str, list[Row]] = {}
    for text in asked:
        if text in NICKNAMES:
            for measure in NICKNAMES[text]:
                parameters.setdefault(measure, set())
        elif other := _other(text, level, version=version):
            others.setdefault(other.name.rpartition("_")[0], []).append(other)
        else:
            measure, given = _split(text)
            parameters.setdefault(measure, set()).update(given)
    for measure, recipe in MEASURES.items():
        yield from others.get(measure, ())
        if measure not in parameters:
            continue
        for parameter in sorted(parameters[measure] or recipe.defaults or [""], key=lambda text: float(text or 0)):
            number = plain(float(parameter)) if parameter else ""
            metrics = _parsed((each.format(number) for each in recipe.metrics), recipe, level, version=version)
            written = f"{float(parameter):.2f}" if "." in (recipe.defaults or "-")[0] else parameter
            yield Row(f"{measure}_{written}" if recipe.defaults else measure, metrics, recipe.values)


def _other(text: str, level: float, *, version: int) -> Row | None:
    """A measure with parameters of another kind than cutoffs: worths of utility, points of 11pt_avg, gains by grade."""
    measure, _, given = text.partition(".")
    parts = given.split(",") if given else []
    if measure == "utility" and parts:
        named = ", ".join(f"{key}={part}" for key, part in zip(WORTHS, parts, strict=False))
        return Row(f"utility_{given}", _parsed([f"Utility({named})"], Measure(), level, version=version), _alone)
    if measure == "11pt_avg" and parts:
        points = [f"IPrec(point=trec_eval9)@{plain(float(part))}" for part in parts]
        return Row(f"11pt_avg_{given}", _parsed(points, Measure(), level, version=version), _average)
    if measure in TREC_GAINS and "=" in given:
        return Row(f"{measure}_{given}", (parse(text),), _alone)
    return None


WORTHS = ("relret", "nonrelret", "relnotret", "nonrelnotret")


def _alone(values: FloatArray) -> FloatArray:
    return values


def _average(*values: FloatArray) -> FloatArray:
    return np.mean(values, axis=0)  # type: ignore[no-any-return]


def _split(text: str) -> tuple[str, list[str]]:
    """A measure and the parameters behind it: P_5, P.5, P.5,10.  Raises MetricNameError."""
    if text in MEASURES:
        return text, []
    form = re.fullmatch(r"(.+?)[._]([0-9]*\.?[0-9]+(?:,[0-9]*\.?[0-9]+)*)", text)
    if form is None or form[1] not in MEASURES:
        raise MetricNameError(unknown("measure", text, MEASURES))
    if not MEASURES[form[1]].defaults:
        raise MetricNameError(f"{text}: {form[1]} has no parameter here")
    return form[1], form[2].split(",")


def _parsed(names: Iterable[str], recipe: Measure, level: float, *, version: int) -> tuple[Metric, ...]:
    """Metrics by these names, at the level and of the version."""
    metrics = [parse(name.replace("trec_eval9", f"trec_eval{version}")) for name in names]
    return tuple(
        replace(metric, min_grade=level) if recipe.level and hasattr(metric, "min_grade") else metric  # type: ignore[type-var]
        for metric in metrics
    )
