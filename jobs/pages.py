"""The catalogue as text for a terminal and as Markdown: `python -m jobs.pages > docs/metrics.md`."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby

from evalcore import METRICS, PRESETS, parse
from jobs.catalogue import by_family, choices, conventions, diagnostics, facts, first_line, heading, limits, signature

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
