"""Metric names: one grammar, a reader and a printer that are inverses.

    name    = family [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    nDCG    nDCG@10    P(rel=2)@5    F(beta=2)@10    nDCG(gain={1:3.5,2:9},discount=ln)@20

The canonical name leaves out parameters that have their default. Other tools' names, those of
`evalcore.metrics.spellings`, are read too.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import Facts, Metric
from evalcore.metrics.clicks import read_clip
from evalcore.metrics.discounts import Discount
from evalcore.metrics.gain import IDEALS
from evalcore.metrics.gains import Gain
from evalcore.metrics.numbers import number, plain
from evalcore.metrics.registry import METRICS
from evalcore.metrics.spellings import ALIASES, KEYS, SPELLINGS, expand_trec


@dataclass(frozen=True, slots=True)
class Parameter:
    """How a parameter of a name maps to a field of a metric."""

    field: str
    parse: Callable[[str], Any]


def choice(*known: str) -> Callable[[str], str]:
    """A reader of one of these words."""

    def read(text: str) -> str:
        if text not in known:
            raise MetricNameError(unknown("value", text, known))
        return text

    return read


PARAMETERS = {
    "beta": Parameter("beta", number),
    "bins": Parameter("bins", number),
    "clip": Parameter("clip", read_clip),
    "denominator": Parameter("denominator", lambda text: text.replace(" ", "")),
    "discount": Parameter("discount", Discount.parse),
    "form": Parameter("form", choice("ext", "min")),
    "gain": Parameter("gain", Gain.parse),
    "ideal": Parameter("ideal", choice(*IDEALS)),
    "max": Parameter("max_grade", number),
    "mu": Parameter("mu", number),
    "of": Parameter("of", lambda text: parse(text)),
    "p": Parameter("persistence", number),
    "rel": Parameter("min_grade", number),
    "ties": Parameter("ties", choice("half", "wrong")),
    "variant": Parameter("variant", choice("b", "a")),
}


def _split(text: str) -> list[str]:
    """At commas outside brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "({") - (char in ")}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _parameters(metric: type[Metric]) -> dict[str, Parameter]:
    fields = {field.name: field.default for field in dataclasses.fields(metric)}  # type: ignore[arg-type]
    fields.pop(getattr(metric, "AT", "cutoff"), None)
    named = {name: parameter for name, parameter in PARAMETERS.items() if parameter.field in fields}
    for parameter in named.values():
        fields.pop(parameter.field, None)
    own = {field: Parameter(field, str if isinstance(default, str) else number) for field, default in fields.items()}
    return named | own


def _at(metric: type[Metric]) -> str | None:
    """The field that the number behind @ sets, if there is one."""
    field = getattr(metric, "AT", "cutoff")
    return field if field in {each.name for each in dataclasses.fields(metric)} else None  # type: ignore[arg-type]


NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9_]*)(?:\((.*)\))?(?:@(-?[0-9]{1,18}(?:\.[0-9]{1,18})?))?")


def parse(text: str, *, short: Mapping[str, Mapping[str, str]] | None = None) -> Metric:
    """The metric of this name.

    short   a preset's parameters for names that do not give them themselves: see `evalcore.presets.Preset`

    Raises MetricNameError, which says what is wrong with the name and what is known.

    >>> name(parse("nDCG@10")), name(parse("recall_100")), name(parse("P(rel=1)@5"))
    ('nDCG@10', 'R@100', 'P@5')
    """
    form = NAME.fullmatch(expand_trec(text.strip()))
    if form is None:
        raise MetricNameError(f'"{text}" is not a metric name; write it like nDCG@10 or P(rel=2)@5')
    family, inside, cutoff = form.groups()
    family, _, implied = ALIASES.get(family, family).partition("(")
    inside = ",".join(part for part in (implied.removesuffix(")"), inside) if part)
    if family not in METRICS:
        raise MetricNameError(unknown("metric", family, METRICS, also=ALIASES))
    metric = METRICS[family]
    allowed = _parameters(metric)
    given: dict[str, Any] = {}
    for part in _split(inside) if inside else []:
        part = SPELLINGS.get(re.sub(r"['\" ]", "", part), part)
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = key if key in allowed else KEYS.get(key, key)
        if not equals or key not in allowed:
            known = ", ".join(allowed) or "none"
            raise MetricNameError(f'{text.strip()}: {family} has no parameter "{part}". Known: {known}.')
        if allowed[key].field in given:
            raise MetricNameError(f'{text.strip()}: parameter "{key}" is given twice')
        try:
            given[allowed[key].field] = allowed[key].parse(value)
        except MetricNameError as error:
            raise MetricNameError(f"{text.strip()}: {key}: {error}") from None
    for short_name in (f"{family}@", family) if cutoff is not None else (family,):
        for key, value in (short or {}).get(short_name, {}).items():
            given.setdefault(allowed[key].field, allowed[key].parse(value))
    if cutoff is not None:
        at = _at(metric)
        if at is None:
            raise MetricNameError(f"{text.strip()}: {family} takes no cutoff")
        if at == "cutoff" and "." in cutoff:
            raise MetricNameError(f"{text.strip()}: cutoff is {cutoff}; it must be a whole number from 1")
        given[at] = int(cutoff) if at == "cutoff" else number(cutoff)
    try:
        return metric(**given)
    except MetricNameError as error:
        raise MetricNameError(f"{text.strip()}: {error}") from None


def parse_list(text: str | Sequence[str], *, short: Mapping[str, Mapping[str, str]] | None = None) -> list[Metric]:
    """The metrics of a list of names, given as one comma-separated text or several.

    short   as in `parse`

    Raises MetricNameError for an empty list, a name given twice, or two names with the same column.

    >>> [name(metric) for metric in parse_list("nDCG@10, F(beta=2,rel=2)@5")]
    ['nDCG@10', 'F(beta=2,rel=2)@5']
    """
    texts: list[str] = []
    for part in (part for given in ([text] if isinstance(text, str) else text) for part in _split(given) if part):
        if texts and re.fullmatch(r"-?[0-9]+=[0-9.]+", part):  # more gains of trec_eval's ndcg.1=3.5,2=9
            texts[-1] += f",{part}"
        else:
            texts.append(part)
    if not texts:
        raise MetricNameError("no metric is named; for example: nDCG@10,AP,RR@10")
    metrics: dict[str, Metric] = {}
    for part in texts:
        metric = parse(part, short=short)
        column = column_name(metric)
        if column in metrics:
            raise MetricNameError(f'"{part}" and "{name(metrics[column])}" are the same metric; name it once')
        metrics[column] = metric
    return list(metrics.values())


def name(metric: Metric) -> str:
    """The canonical name: ``parse(name(metric)) == metric``."""
    family = next(family for family, known in METRICS.items() if type(metric) is known)
    defaults = {field.name: field.default for field in dataclasses.fields(metric)}  # type: ignore[arg-type]
    known = _parameters(type(metric))
    given = [
        f"{key}={value}"
        for key, value in parameters(metric).items()
        if getattr(metric, known[key].field) != defaults[known[key].field]
    ]
    inside = f"({','.join(given)})" if given else ""
    at = _at(type(metric))
    depth = getattr(metric, at) if at else None
    return f"{family}{inside}" + (f"@{plain(depth)}" if depth is not None else "")


def parameters(metric: Metric) -> dict[str, str]:
    """What can stand in the brackets of its name, with the values it has; without those that are not set.

    >>> parameters(parse("nDCG@10"))
    {'discount': 'log2', 'gain': 'linear', 'ideal': 'judged'}
    """
    values = {key: getattr(metric, parameter.field) for key, parameter in _parameters(type(metric)).items()}
    return {
        key: plain(value) if isinstance(value, (int, float)) else name(value) if hasattr(value, "FACTS") else str(value)
        for key, value in values.items()
        if value is not None
    }


def column_name(metric: Metric) -> str:
    """The name as a column of a table: lower case, no character that SQL would want quoted.

    >>> column_name(parse("nDCG(gain=exp2)@10")), column_name(parse("F(beta=0.5)"))
    ('ndcg_gain_exp2_at_10', 'f_beta_0p5')
    """
    spelled = name(metric).replace("@", "_at_").replace("-", "m").replace(".", "p").lower()
    spelled = re.sub(r"[^a-z0-9]+", "_", spelled).strip("_")
    return f"m_{spelled}" if spelled[0].isdigit() else spelled


def register(family: str, metric: type[Metric]) -> None:
    """Make a metric known by the name of its family, for `parse` and all that follows from it.

    The class is a frozen dataclass with FACTS and per_query, as every class of this package is, and every field
    has a default. A field called cutoff is set by @, the others in brackets: numbers, or words.

    Raises MetricNameError for a name that cannot be written or is taken, or a class that is no metric.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", family):
        raise MetricNameError(f'"{family}" cannot be the name of a metric; use letters, digits and _')
    if METRICS.get(family, metric) is not metric or family in ALIASES or expand_trec(family) != family:
        raise MetricNameError(f'"{family}" is the name of another metric')
    if other := [known for known, each in METRICS.items() if each is metric and known != family]:
        raise MetricNameError(f'{metric.__name__} is known as "{other[0]}" already')
    frozen = dataclasses.is_dataclass(metric) and metric.__dataclass_params__.frozen
    if not (frozen and isinstance(getattr(metric, "FACTS", None), Facts) and callable(getattr(metric, "per_query", 0))):
        raise MetricNameError(f"{metric!r} is not a metric: a frozen dataclass with FACTS and per_query")
    if any(field.default is dataclasses.MISSING for field in dataclasses.fields(metric)):  # type: ignore[arg-type]
        raise MetricNameError(f"{metric.__name__} has a field without a default")
    METRICS[family] = metric
