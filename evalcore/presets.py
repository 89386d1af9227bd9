"""Named sets of choices that reproduce the numbers of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evalcore.conventions import Conventions
from evalcore.errors import ConventionError, unknown

Short = Mapping[str, Mapping[str, str]]
"""What a short metric name stands for: family, or family@ where it has a cutoff, to parameters as they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How a tool computes: the conventions, and what its short metric names mean.

    short   parameters that a name gets where it does not give them itself, for the family ("AP"), or only where
            the name has a cutoff ("AP@"); only those that differ from evalcore's defaults
    limits  what the tool does that the preset does not reproduce, and why
    """

    conventions: Conventions = field(default_factory=Conventions)
    short: Short = field(default_factory=dict)
    limits: str = ""


TREC_EVAL = Conventions(score_precision="float32", unanswered="skip")

PRESETS: dict[str, Preset] = {
    "default": Preset(),
    # trec_eval 9.0.8 without flags: 32-bit scores, means over the queries that the run answered
    "trec_eval": Preset(conventions=TREC_EVAL),
    "trec_eval10": Preset(conventions=replace(TREC_EVAL, score_precision="float64", unanswered="zero")),
}


def preset(name: str) -> Preset:
    """The preset of this name.  Raises ConventionError with the known names."""
    if name not in PRESETS:
        raise ConventionError(unknown("preset", name, PRESETS))
    return PRESETS[name]
