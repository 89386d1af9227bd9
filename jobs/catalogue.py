"""What there is to choose from: metrics by family, what is true of each, and presets.

`python -m jobs.catalogue > docs/metrics.md` writes the page of metrics.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import get_args, get_type_hints

from evalcore import METRICS, PRESETS, ConventionError, Conventions, Metric, MetricNameError, parameters, parse
from evalcore.conventions import GEOMETRIC_FLOOR, TIES_BY_SCORE
from evalcore.metrics.base import Facts, HasBounds, HasElements
from evalcore.metrics.names import ALIASES, PARAMETERS, TREC_CUT, TREC_NUMBER
from evalcore.metrics.numbers import plain
from evalcore.scoring import SIDES, check_ties

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
DIAGNOSTICS = {
    "ties": "the least and the greatest value over the orders of tied documents",
    "unjudged": "the least and the greatest value over the grades that unjudged documents could have",
    "random": "the mean over all orders of the returned documents",
    "oracle": "the value of the best ranking of all judged documents",
}
HOW_TO_SET = (
    "Conventions say how everything is treated that the name of a metric leaves open; the first value is the default. "
    "One is set by `--set score.conventions.ties=average`, or under `score: conventions:` in the file that `--config` "
    "names, and differs then from the preset. In Python `evaluate(..., conventions=Conventions(ties='average'))` sets "
    "all of them, whatever the preset."
)
HOW_TO_DIAGNOSE = (
    "Diagnostics add columns beside those metrics that can have them: `--set score.diagnostics=[ties,unjudged]`, or "
    "`evaluate(..., diagnostics=['ties'])`."
)
HOW_TO_WRITE = (
    "`@k` cuts rankings after k documents, and may be left out; parameters stand in brackets, in any order: "
    "`P(rel=2)@5`, `nDCG(gain=exp2,discount=ln)`."
)
COLUMN = 32
"""Where the sentences of the list begin; a longer name pushes its own."""
LONGEST_LINE = 100
"""Of running text on a wide terminal."""


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
    without = [rule for rule in ("average", "average_rank") if not _has_value(one, rule)]
    return f"no value under {' and '.join(without)}" if without else "a value under every rule"


def _has_value(one: Metric, rule: str) -> bool:
    try:
        check_ties([one], Conventions(ties=rule))  # type: ignore[arg-type]
    except ConventionError:
        return False
    return True


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
        yield diagnostic, [f"_{side}" for side in sides], DIAGNOSTICS[diagnostic]


def limits() -> Iterator[str]:
    """What metrics ask of conventions: which of them have no value under a tie rule, and the floors of means."""
    for rule in TIES_BY_SCORE:
        refused = [family for family, metric in METRICS.items() if not _has_value(_one(metric), rule)]
        yield f"`ties: {rule}` is refused with {', '.join(refused)}."
    floored = [family for family, metric in METRICS.items() if "floor" in _fields(metric)]
    yield (
        f"A geometric mean raises values below {plain(GEOMETRIC_FLOOR)} to it, so that one query of 0 does not make it "
        f"0; {', '.join(floored)} takes another floor as its parameter."
    )


def blocks(docstring: str | None) -> Iterator[tuple[bool, str]]:
    """The paragraphs of a docstring, without its examples: whether it keeps its lines (a formula, a table), and it.

    >>> list(blocks(METRICS["CG"].__doc__))[1]
    (True, '    CG@c = sum over ranks r <= c of gain(grade at r)')
    """
    for paragraph in inspect.cleandoc(docstring or "").split("\n\n"):
        if not paragraph.startswith(">>>"):
            for kept, lines in groupby(paragraph.splitlines(), key=lambda line: line.startswith("    ")):
                yield kept, "\n".join(lines)


def listing(width: int | None) -> Iterator[str]:
    """The lines of the list, all but headings indented; None folds nothing."""
    for module, families in by_family().items():
        yield from _folded(heading(module), width) if width else [heading(module)]
        for family in families:
            yield from _row(signature(family), first_line(METRICS[family]), width)
        yield ""
    yield "Presets, to reproduce another program's numbers"
    for preset in PRESETS:
        yield from _row(preset, choices(preset), width)
    yield ""
    yield "Conventions and diagnostics: evaljob metrics conventions"


def _row(name: str, told: str, width: int | None) -> list[str]:
    row = f"  {name:<{COLUMN}}  {told}"
    return [row] if width is None else textwrap.wrap(row, max(width, 2 * COLUMN), subsequent_indent=(COLUMN + 4) * " ")


def _folded(paragraph: str, width: int | None) -> list[str]:
    return textwrap.wrap(
        paragraph, min(width or LONGEST_LINE, LONGEST_LINE), break_on_hyphens=False, break_long_words=False
    )


def _explained_conventions(width: int | None) -> Iterator[str]:
    def rows(described: Iterator[tuple[str, list[str], str]]) -> Iterator[str]:
        for name, values, told in described:
            yield from _folded(f"{name}: {', '.join(values)}", width)
            yield from textwrap.wrap(
                told.replace("`", ""),
                min(width or LONGEST_LINE, LONGEST_LINE),
                initial_indent="    ",
                subsequent_indent="    ",
            )

    yield "conventions"
    yield from _folded(HOW_TO_SET.replace("`", ""), width)
    yield ""
    yield from rows(conventions())
    for paragraph in limits():
        yield ""
        yield from _folded(paragraph.replace("`", ""), width)
    yield ""
    yield from _folded(HOW_TO_DIAGNOSE.replace("`", ""), width)
    yield ""
    yield from rows(diagnostics())


def explained(wanted: str, width: int | None) -> Iterator[str]:
    """The lines of all that is said of one metric, of one preset, or of conventions.  Raises MetricNameError."""
    if wanted == "conventions":
        yield from _explained_conventions(width)
        return
    if wanted in PRESETS:
        yield wanted
        for paragraph in (f"Sets {choices(wanted)}.", PRESETS[wanted].limits):
            yield from _folded(paragraph, width)
            yield ""
        return
    metric = METRICS[wanted] if wanted in METRICS else type(parse(wanted))
    family = next(family for family, known in METRICS.items() if known is metric)
    yield signature(family)
    _, *about = blocks(sys.modules[METRICS[family].__module__].__doc__)
    for kept, block in (*blocks(METRICS[family].__doc__), *about):
        yield from block.splitlines() if kept else _folded(block.replace("`", ""), width)
        yield ""
    for what, told in facts(family).items():
        lead = f"{what:<18}  "
        yield from textwrap.wrap(
            lead + told.replace("`", ""), min(width or LONGEST_LINE, LONGEST_LINE), subsequent_indent=" " * len(lead)
        )


def markdown() -> str:
    """docs/metrics.md."""
    parts = [
        "# Metrics",
        "This page is written by `make docs` from the docstrings of `evalcore.metrics`; `evaljob metrics` prints the "
        "same. [choosing-a-metric.md](choosing-a-metric.md) says which metric answers which question, "
        "[own-metrics.md](own-metrics.md) how to add one of your own.",
        f"{HOW_TO_WRITE} An undefined value is null, and never a silent 0.",
    ]
    for module, families in by_family().items():
        rows = [f"| [`{family}`](#{family.lower()}) | {_escaped(first_line(METRICS[family]))} |" for family in families]
        parts += [f"**{heading(module)}**", _table("metric", "what it is", rows=rows)]
    parts += [
        "[Conventions](#conventions) say what a metric's name leaves open, [presets](#presets) reproduce the numbers "
        "of other programs."
    ]
    for module, families in by_family().items():
        _, *about = blocks(sys.modules[module].__doc__)
        parts += [f"## {heading(module)}", *(_block(kept, block) for kept, block in about)]
        for family in families:
            parts += [f"### {family}", f"`{signature(family)}`"]
            parts += [_block(kept, block) for kept, block in blocks(METRICS[family].__doc__)]
            parts += ["\n".join(f"* {what}: {_marked(what, told)}" for what, told in facts(family).items())]
    parts += [
        "## Conventions",
        HOW_TO_SET,
        _table("convention", "values", "meaning", rows=_described(conventions())),
        "\n".join(f"* {_escaped(limit)}" for limit in limits()),
        HOW_TO_DIAGNOSE,
        _table("diagnostic", "columns end in", "what they tell", rows=_described(diagnostics())),
    ]
    rows = [f"| `{name}` | {_escaped(choices(name))} | {_escaped(PRESETS[name].limits)} |" for name in PRESETS]
    parts += [
        "## Presets",
        "[Conventions](#conventions), and what short names mean, that together reproduce another program: "
        "`--preset trec_eval`.",
        _table("preset", "what it sets", "what it does not reproduce", rows=rows),
    ]
    return "\n\n".join(parts) + "\n"


def _described(described: Iterator[tuple[str, list[str], str]]) -> list[str]:
    return [
        f"| `{name}` | {', '.join(f'`{value}`' if ' ' not in value else value for value in values)} "
        f"| {_escaped(told.replace('``', '`'))} |"
        for name, values, told in described
    ]


def _table(*headers: str, rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(headers)} |", "|---" * len(headers) + "|", *rows])


def _block(kept: bool, block: str) -> str:  # noqa: FBT001 (what `blocks` yields)
    return f"```text\n{textwrap.dedent(block)}\n```" if kept else _escaped(block.replace("``", "`"))


def _escaped(text: str) -> str:
    """Stars are stars."""
    return text.replace("*", "\\*")


def _marked(what: str, told: str) -> str:
    """Names to be written are code."""
    coded = what in ("parameters", "also read") and told not in ("none", "no other name")
    return f"`{told}`" if coded else told


if __name__ == "__main__":
    print(markdown(), end="")
