"""What there is to choose from: metrics by family, what is true of each, presets and conventions."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import get_args, get_type_hints

from evalcore import METRICS, PRESETS, Conventions, Metric, MetricNameError, parameters
from evalcore.conventions import GEOMETRIC_FLOOR, TIES_BY_SCORE
from evalcore.metrics.base import Facts, HasBounds, HasElements
from evalcore.metrics.names import PARAMETERS
from evalcore.metrics.numbers import plain
from evalcore.metrics.spellings import ALIASES, TREC_CUT, TREC_NUMBER
from evalcore.scoring import MEANINGS, SIDES, has_value

BETTER = {True: "higher is better", False: "lower is better", None: "neither is better"}
STATISTICS = {
    "mean": "the mean, or what the convention mean says",
    "sum": "the sum",
    "ratio": "the ratio of two sums",
    "geometric": "the geometric mean",
}
NEEDS = {
    "scores": "scores, which every run has",
    "documents": "document ids",
    "subtopics": "subtopics: the second column of TREC judgments, or the Parquet column `subtopic`",
    "preferences": "groups of preferences: the second column of TREC judgments, or the Parquet column `subtopic`",
    "propensities": "propensities: the column `propensity` of Parquet judgments",
    "reference": "the ranking of another system: `--set score.reference=SYSTEM`",
}


def by_family() -> dict[str, list[str]]:
    """The names of all metrics, by the module that defines them."""
    found: dict[str, list[str]] = {}
    for family, metric in METRICS.items():
        found.setdefault(metric.__module__, []).append(family)
    return found


def heading(module: str) -> str:
    """The first line of the module's docstring, without its full stop."""
    return (sys.modules[module].__doc__ or module).splitlines()[0].removesuffix(".")


def signature(family: str) -> str:
    """The name with all that it can be given.

    >>> signature("nDCG"), signature("NumRet")
    ('nDCG(gain,discount,ideal,rel)@k', 'NumRet')
    """
    metric = METRICS[family]
    inside, at = ",".join(_keys(metric)), _at(metric)
    behind = ("@k" if at == "cutoff" else "@x") if at in _fields(metric) else ""
    return family + (f"({inside})" if inside else "") + behind


def _fields(metric: type[Metric]) -> list[str]:
    return [field.name for field in dataclasses.fields(metric)]  # type: ignore[arg-type]


def _at(metric: type[Metric]) -> str:
    """The field that the number behind @ sets, where there is one."""
    return str(getattr(metric, "AT", "cutoff"))


def _keys(metric: type[Metric]) -> list[str]:
    """What can stand in the brackets of its name."""
    keys = {parameter.field: key for key, parameter in PARAMETERS.items()}
    return [keys.get(field, field) for field in _fields(metric) if field != _at(metric)]


def _one(metric: type[Metric]) -> Metric:
    """With its defaults, and with 1 behind @ where that has none."""
    try:
        return metric()
    except MetricNameError:
        return metric(**{_at(metric): 1})


def first_line(metric: type[Metric]) -> str:
    """What it is, in a sentence."""
    return inspect.cleandoc(metric.__doc__ or "").partition("\n")[0]


def facts(family: str) -> dict[str, str]:
    """What is true of a metric, each under a word or two."""
    metric = METRICS[family]
    one, known = _one(metric), metric.FACTS
    elements = {"value": f"a vector: {', '.join(one.elements)}"} if isinstance(one, HasElements) else {}
    return elements | {
        "range": _range(known),
        "direction": BETTER[known.higher_is_better],
        "over queries": STATISTICS[known.statistic],
        "reads": _reads(known),
        "ties": _ties(one),
        "unjudged documents": (
            "bounds of the value: `--set score.diagnostics=[unjudged]`" if isinstance(one, HasBounds) else "no bounds"
        ),
        "empty ranking": _empty(known),
        "undefined": _undefined(metric),
        "parameters": ", ".join(f"{key}={value}" for key, value in _defaults(one).items()) or "none",
        "also read": ", ".join(_spelled(family)) or "no other name",
    }


def _defaults(one: Metric) -> dict[str, str]:
    return {key: parameters(one).get(key, "(not set)") for key in _keys(type(one))}


def _spelled(family: str) -> list[str]:
    return [theirs if "(" not in ours else f"{theirs} = {ours}" for theirs, ours in other_spellings(family).items()]


def _range(known: Facts) -> str:
    low, high = (plain(float(f"{end:.4g}")) if math.isfinite(end) else None for end in (known.low, known.high))
    if low is None or high is None:
        return f"from {low}" if low is not None else f"up to {high}" if high is not None else "any number"
    return f"{low} to {high}"


def _reads(known: Facts) -> str:
    judgments = "judgments, as relevant or not" if known.binary else "judgments"
    kept = [text for need, text in NEEDS.items() if need in known.needs]
    return "; ".join([judgments if known.judgments else "no judgments", *kept])


def _ties(one: Metric) -> str:
    without = [rule for rule in ("average", "average_rank") if not has_value(one, rule)]
    return f"no value under {' and '.join(without)}" if without else "a value under every rule"


def _empty(known: Facts) -> str:
    if known.empty is None:
        return "depends on the query"
    return "undefined" if math.isnan(known.empty) else plain(known.empty)


def _undefined(metric: type[Metric]) -> str:
    if metric.FACTS.needs_relevant:
        return "where the judgments hold nothing that counts; what then, says the convention no_relevant"
    told = re.search(r"\bundefined\b", metric.__doc__ or "", flags=re.IGNORECASE)
    empty = metric.FACTS.empty is not None and math.isnan(metric.FACTS.empty)
    return "as said above; such queries are in no mean" if told or empty else "never"


def other_spellings(family: str) -> dict[str, str]:
    """Names that are read as this metric -> what they are read as.

    >>> other_spellings("AP")
    {'MAP': 'AP', 'map': 'AP', 'map_cut_10': 'AP@10'}
    """
    cut = {f"{theirs}_10": f"{ours}@10" for theirs, ours in TREC_CUT.items()}
    numbered = {f"{theirs}_1": ours.format(1) for theirs, ours in TREC_NUMBER.items()}
    return {
        theirs: ours
        for theirs, ours in (ALIASES | cut | numbered).items()
        if ours.partition("(")[0].partition("@")[0] == family
    }


def choices(preset: str) -> str:
    """What a preset sets: conventions that differ from the default ones, and what short names mean.

    >>> choices("lightgbm")
    'ties=input_order, no_relevant=one; AP@k is AP(denominator=min(R,k,n))@k; nDCG is nDCG(gain=exp2,ideal=retrieved)'
    """
    chosen, default = PRESETS[preset].conventions, Conventions()
    conventions = [
        f"{field.name}={value}"
        for field in dataclasses.fields(chosen)
        if (value := getattr(chosen, field.name)) != getattr(default, field.name)
    ]
    short = [_meaning(name, given) for name, given in PRESETS[preset].short.items()]
    return "; ".join([", ".join(conventions) or "the default conventions", *short])


def _meaning(name: str, given: Mapping[str, str]) -> str:
    family, at, _ = name.partition("@")
    behind = "@k" if at else ""
    inside = ",".join(f"{key}={value}" for key, value in given.items())
    return f"{family}{behind} is {family}({inside}){behind}"


def conventions() -> Iterator[tuple[str, list[str], str]]:
    """Each convention: its name, its values with the default first, and what it means.

    >>> [(name, values) for name, values, _ in conventions()][1:3]
    [('score_precision', ['float64', 'float32']), ('unanswered', ['zero', 'skip', 'error'])]
    """
    entries = re.findall(r"^(\w+)  +(.*(?:\n  +.*)*)", inspect.getdoc(Conventions) or "", flags=re.MULTILINE)
    meanings = {name: " ".join(told.split()) for name, told in entries}
    hints = get_type_hints(Conventions)
    for field in dataclasses.fields(Conventions):
        default = str(field.default)
        yield (
            field.name,
            [default, *(value for value in _values(hints[field.name]) if value != default)],
            meanings[field.name],
        )


def _values(hint: object) -> list[str]:
    """What a type of words and whole numbers allows."""
    if hint is int:
        return ["a whole number"]
    return [value for each in get_args(hint) for value in ([each] if isinstance(each, str) else _values(each))]


def diagnostics() -> Iterator[tuple[str, list[str], str]]:
    """Each diagnostic: its name, what its columns end in, and what they tell."""
    for diagnostic, sides in SIDES.items():
        yield diagnostic, [f"_{side}" for side in sides], MEANINGS[diagnostic]


def limits() -> Iterator[str]:
    """What metrics ask of conventions: which of them have no value under a tie rule, and the floors of means."""
    for rule in TIES_BY_SCORE:
        refused = [family for family, metric in METRICS.items() if not has_value(_one(metric), rule)]
        yield f"`ties: {rule}` is refused with {', '.join(refused)}."
    floored = [family for family, metric in METRICS.items() if "floor" in _fields(metric)]
    yield (
        f"A geometric mean raises values below {plain(GEOMETRIC_FLOOR)} to it, so that one query of 0 does not make it "
        f"0; {', '.join(floored)} takes another floor as its parameter."
    )
