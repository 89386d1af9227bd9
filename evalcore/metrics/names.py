"""Metric names: one grammar, a reader and a printer that are inverses.

    name    = family [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    nDCG    nDCG@10    P(rel=2)@5    F(beta=2)@10    nDCG(gain={1:3.5,2:9},discount=ln)@20

The canonical name leaves out parameters that have their default. trec_eval's names are read too.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalcore.errors import MetricNameError, unknown
from evalcore.metrics.base import Metric
from evalcore.metrics.discounts import Discount
from evalcore.metrics.gains import Gain
from evalcore.metrics.numbers import number, plain
from evalcore.metrics.registry import METRICS


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
    "discount": Parameter("discount", Discount.parse),
    "gain": Parameter("gain", Gain.parse),
    "rel": Parameter("min_grade", number),
}

ALIASES = {
    "Hits": "NumRelRet",
    "HR": "Success",
    "Hit": "Success",
    "HitRate": "Success",
    "MAP": "AP",
    "MRR": "RR",
    "NDCG": "nDCG",
    "Precision": "P",
    "RPrec": "Rprec",
    "Recall": "R",
    "precision": "P",
    "recall": "R",
    "SetF": "F",
    "SetP": "P",
    "SetR": "R",
    # trec_eval's names
    "map": "AP",
    "ndcg": "nDCG",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet",
    "recip_rank": "RR",
    "set_F": "F",
    "set_P": "P",
    "set_recall": "R",
}
TREC_CUT = {"P": "P", "map_cut": "AP", "ndcg_cut": "nDCG", "recall": "R", "success": "Success"}


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
    known = {field.name for field in dataclasses.fields(metric)}  # type: ignore[arg-type]
    return {name: parameter for name, parameter in PARAMETERS.items() if parameter.field in known}


def _expand_trec(text: str) -> str:
    cut = re.fullmatch(r"(P|map_cut|ndcg_cut|recall|success)[_.]([0-9]+)", text)
    return f"{TREC_CUT[cut[1]]}@{cut[2]}" if cut else text


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
    form = NAME.fullmatch(_expand_trec(text.strip()))
    if form is None:
        raise MetricNameError(f'"{text}" is not a metric name; write it like nDCG@10 or P(rel=2)@5')
    family, inside, cutoff = form.groups()
    family = ALIASES.get(family, family)
    if family not in METRICS:
        raise MetricNameError(unknown("metric", family, METRICS, also=ALIASES))
    metric = METRICS[family]
    allowed = _parameters(metric)
    given: dict[str, Any] = {}
    for part in _split(inside) if inside else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
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
    texts = [part for given in ([text] if isinstance(text, str) else text) for part in _split(given) if part]
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
    given = [
        f"{key}={value}"
        for key, value in parameters(metric).items()
        if getattr(metric, PARAMETERS[key].field) != defaults[PARAMETERS[key].field]
    ]
    inside = f"({','.join(given)})" if given else ""
    at = _at(type(metric))
    depth = getattr(metric, at) if at else None
    return f"{family}{inside}" + (f"@{plain(depth)}" if depth is not None else "")


def parameters(metric: Metric) -> dict[str, str]:
    """What can stand in the brackets of its name, with the values it has.

    >>> parameters(parse("nDCG@10"))
    {'discount': 'log2', 'gain': 'linear'}
    """
    values = {key: getattr(metric, parameter.field) for key, parameter in _parameters(type(metric)).items()}
    return {key: plain(value) if isinstance(value, (int, float)) else str(value) for key, value in values.items()}


def column_name(metric: Metric) -> str:
    """The name as a column of a table: lower case, no character that SQL would want quoted.

    >>> column_name(parse("nDCG(gain=exp2)@10")), column_name(parse("F(beta=0.5)"))
    ('ndcg_gain_exp2_at_10', 'f_beta_0p5')
    """
    spelled = name(metric).replace("@", "_at_").replace("-", "m").replace(".", "p").lower()
    return re.sub(r"[^a-z0-9]+", "_", spelled).strip("_")
