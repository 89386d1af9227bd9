"""The verdict of one night: `verdict.json` from the sums of an aggregation, without Spark."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evalcore.errors import unknown
from evalcore.verdict import MOST_URGENT_FIRST, Answer, answer_of_gate
from jobs.aggregations import Aggregation
from jobs.config import Config
from jobs.errors import DataRefused, UsageError, number_of
from jobs.guardrails import Asked, compared, missing
from jobs.known_guardrails import IN, parted
from jobs.measures import Measure

VERDICT = "verdict.json"
SCHEMA = 1
"""Version of the layout of verdict.json."""
EXIT_CODES: dict[Answer, int] = {"passed": 0, "regressed": 3, "invalid": 4, "inconclusive": 5}
MOST_BY_DEFAULT = 5
"""Guardrails where nobody names any: with more, an upper bound for all of them shows little."""


def gate(directory: Path, config: Config) -> tuple[dict[str, Any], Path]:
    """The verdict on an evaluation and its file: the one that exists, or a new one, which is written.

    Raises UsageError for settings that cannot work, or where a verdict exists that was made with others or from
    other sums and is not to be replaced; DataRefused for damaged files.
    """
    aggregation = Aggregation.of(directory, config)
    asked = _asked(aggregation, config)
    path, inputs = aggregation.directory / VERDICT, aggregation.sha256()
    if path.exists() and not config.output.force:
        return _known(path, asked, inputs), path
    verdict = _verdict(aggregation, asked, inputs)
    _write(path, verdict)
    return verdict, path


def _asked(aggregation: Aggregation, config: Config) -> Asked:
    made, chosen = aggregation.settings(config), config.gate
    if (baseline := made["baseline"]) is None:
        raise UsageError("compared with which system? Give --baseline SYSTEM")
    others = [system for system in aggregation.manifest["systems"] if system != baseline]
    if chosen.candidate is None and not others:
        raise DataRefused(f"{aggregation.directory} has no system but {baseline}: is the candidate's run missing?")
    if chosen.candidate is None and len(others) > 1:
        raise UsageError(f"which system is to pass? Give --candidate SYSTEM, one of: {', '.join(others)}")
    candidate = chosen.candidate or others[0]
    if candidate == baseline:
        raise UsageError(f"candidate and baseline are both {baseline}; a gate compares two systems")
    if strange := [metric for metric in made["margins"] if metric not in aggregation.measures]:
        raise UsageError(f"a margin: {unknown('metric', strange[0], aggregation.measures)}")
    return Asked(
        baseline=baseline,
        candidate=candidate,
        guardrails=_guardrails(aggregation, chosen.guardrails),
        margins=made["margins"],
        strict=chosen.strict,
        level=chosen.level,
        coverage=chosen.coverage,
        judged_drop=chosen.judged_drop,
        replicates=made["replicates"],
        seed=made["seed"],
    )


def _guardrails(aggregation: Aggregation, given: Sequence[str]) -> list[str]:
    """The names of the guardrails: those that are given, else all measures that can be one."""
    able = [measure.name for measure in aggregation.measures.values() if _problem(measure) is None]
    names = [name.strip() for text in given for name in re.split(r",(?![^(]*\))", text)]  # commas outside brackets
    named = [_named(aggregation, *parted(name)) for name in names if name]
    if not named and not 1 <= len(able) <= MOST_BY_DEFAULT:
        raise UsageError(
            f'which metrics must not get worse? Name a few with --guardrails "METRIC,METRIC", of: {", ".join(able)}'
            if able
            else "no metric of this evaluation has a better direction; score one that has, such as nDCG@10"
        )
    for metric in (parted(name)[0] for name in named):
        if metric in aggregation.measures and (problem := _problem(aggregation.measures[metric])):
            raise UsageError(f"{metric} cannot be a guardrail: {problem}")
    return list(dict.fromkeys(named)) or able


def _named(aggregation: Aggregation, metric: str, segment: str | None) -> str:
    """The name of a guardrail, its metric's as it is written here."""
    name = aggregation.canonical(metric)
    return name if segment is None else f"{name}{IN}{segment}"


def _problem(measure: Measure) -> str | None:
    """Why a measure cannot be a guardrail."""
    if measure.higher_is_better is None:
        return "neither direction of it is better"
    return "a difference of medians has no interval; use another mean" if measure.statistic == "median" else None


def _known(path: Path, asked: Asked, inputs: str) -> dict[str, Any]:
    """The verdict that exists, if it answers what is asked."""
    try:
        verdict = dict(json.loads(path.read_text(encoding="utf-8")))
        schema, settings, found = verdict["schema"], dict(verdict["settings"]), verdict["inputs"]["sha256"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataRefused(f"{path} is damaged ({error!r}); judge anew with --force") from None
    if schema != SCHEMA:
        raise UsageError(f"{path} has schema {schema}, and this version writes {SCHEMA}; judge anew with --force")
    if found != inputs:
        raise UsageError(f"{path} was made from other sums than are there now; judge anew with --force")
    now = asdict(asked)
    if differing := [f"{key} {settings.get(key)}, now {now[key]}" for key in now if settings.get(key) != now[key]]:
        raise UsageError(f"{path} was made with {'; '.join(differing)}: judge anew with --force, or ask as before")
    return verdict


def _verdict(aggregation: Aggregation, asked: Asked, inputs: str) -> dict[str, Any]:
    problems = missing(aggregation, asked)
    rows: list[dict[str, Any]] = []
    if not problems:
        rows, problems = compared(aggregation, asked)
    answer: Answer = "invalid" if problems else answer_of_gate([row["answer"] for row in rows])
    by_urgency = sorted(rows, key=lambda row: MOST_URGENT_FIRST.index(row["answer"]))
    reasons = [*problems, *(row["reason"] for row in by_urgency)]
    if undecided := [row for row in rows if row["answer"] == "inconclusive" and row["units_to_pass"]]:
        most = max(undecided, key=lambda row: row["units_to_pass"] / row["n_units"])
        units, needed = number_of(most["n_units"], "unit"), f"{most['units_to_pass']:,.0f}"
        reasons.append(f"{units} cannot tell; with about {needed} a candidate that is the same passes 9 times in 10")
    return {
        "schema": SCHEMA,
        "answer": answer,
        "exit_code": EXIT_CODES[answer],
        "reasons": reasons,
        "baseline": asked.baseline,
        "candidate": asked.candidate,
        "unit": aggregation.manifest["unit"],
        "bucketed": aggregation.manifest["bucketed"],
        "guardrails": rows,
        "settings": asdict(asked),
        "inputs": {"aggregation": aggregation.directory.name, "sha256": inputs},
        "version": version("evaljob"),
    }


def _write(path: Path, verdict: Mapping[str, Any]) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_text(json.dumps(verdict, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
