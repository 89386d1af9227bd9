"""What is known of another program, and evalcore's values under a preset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.parity.cases import Case
from evalcore import evaluate
from evalcore.presets import preset

Values = dict[str, dict[str, float]]
"""measure -> query -> value"""


@dataclass(frozen=True)
class Tool:
    """Another program.

    package    whose version is named
    measures   what rows of the table are called
    theirs     (case, measures) -> values of the tool
    ours       likewise of evalcore
    prepared   what the tool can be given of a case
    about      what the table's readers must know
    """

    name: str
    package: str
    measures: Sequence[str]
    theirs: Callable[[Case, Sequence[str]], Values]
    ours: Callable[[Case, Sequence[str]], Values]
    about: str
    prepared: Callable[[Case], Case] = lambda given: given


def under(of: str, names: Mapping[str, str], **changed: str) -> Callable[[Case, Sequence[str]], Values]:
    """Values of evalcore under a preset; names: measure -> metric."""
    conventions = replace(preset(of).conventions, **changed)

    def values(given: Case, measures: Sequence[str]) -> Values:
        asked = [names[measure] for measure in measures]
        found = evaluate(given.run, given.qrels, asked, preset=of, conventions=conventions)
        columns = [found.counted(metric).tolist() for metric in found.metrics]
        return {
            measure: dict(zip(found.queries, column, strict=True))
            for measure, column in zip(measures, columns, strict=True)
        }

    return values
