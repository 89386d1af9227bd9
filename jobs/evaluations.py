"""Evaluations that `evaljob score` wrote, one or several, read as one where they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalcore.errors import EvalcoreError, unknown
from evalcore.metrics import name, parse, parse_list
from jobs import store
from jobs.config import Aggregate, Config
from jobs.config_input import Prepare
from jobs.custom import register_all
from jobs.errors import DataRefused, UsageError, number_of

LATE_CONVENTIONS = ("unanswered", "no_relevant", "mean")
"""Conventions that act when SCORES become sums: one score table serves all their values."""
Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluations:
    """Some evaluations, read as one.

    manifest   what one evaluation of all of them would say: its systems are those that were asked for, its columns
               of queries those that all have
    names      for each directory its systems that count, and what each is called
    notes      what a reader should know of how they fit together
    """

    directories: list[Path]
    manifests: list[Manifest]
    manifest: Manifest
    names: list[dict[str, str]]
    notes: list[str]

    @property
    def as_they_are(self) -> bool:
        """Whether SCORES are those of one evaluation, with all of its systems."""
        return len(self.directories) == 1 and list(self.names[0]) == self.manifests[0]["systems"]


def read(directories: Sequence[Path], config: Config) -> Evaluations:
    """The manifests of some evaluations.

    Raises UsageError for a directory given twice, a system or metric that there is not, and a system in several of
    them; DataRefused where one is damaged, or they differ in what makes values comparable.
    """
    if len({directory.resolve() for directory in directories}) < len(directories):
        raise UsageError(f"{' '.join(map(str, directories))}: name each evaluation once")
    manifests = [store.read_evaluation(directory) for directory in directories]
    for manifest in manifests:
        register_all(manifest["config"]["score"]["custom"])
    chosen = config.aggregate
    metrics = [_metrics(manifest, chosen.metrics) for manifest in manifests]
    labels = _labels(directories)
    for label, manifest, known in zip(labels[1:], manifests[1:], metrics[1:], strict=True):
        found = _differences((labels[0], manifests[0], metrics[0]), (label, manifest, known), config)
        if found:
            raise DataRefused(f"{labels[0]} and {label} cannot be compared: {'; '.join(found)}")
    names = _names(labels, manifests, chosen)
    merged = _merged(manifests, metrics[0], names)
    return Evaluations(
        directories=list(directories),
        manifests=manifests,
        manifest=merged,
        names=names,
        notes=[*_of_versions(labels, manifests), *_of_same(labels, names, manifests, chosen)],
    )


def _metrics(manifest: Manifest, asked: Sequence[str]) -> list[dict[str, str]]:
    """The metrics of an evaluation that are asked for, in the order of the question."""
    known = {metric["name"]: metric for metric in manifest["metrics"]}
    try:
        names = [name(metric) for metric in parse_list(asked)] if asked else list(known)
    except EvalcoreError as error:
        raise UsageError(str(error)) from None
    if absent := [each for each in names if each not in known]:
        raise UsageError(unknown("metric", absent[0], known))
    return [known[each] for each in names]


def _differences(
    one: tuple[str, Manifest, list[dict[str, str]]], other: tuple[str, Manifest, list[dict[str, str]]], config: Config
) -> list[str]:
    """What keeps values of two evaluations from being compared."""
    (label, manifest, metrics), (other_label, other_manifest, other_metrics) = one, other
    found = []
    chosen = config.score.conventions.model_dump(exclude_none=True)
    for key, value in manifest["conventions"].items():
        its = other_manifest["conventions"].get(key)
        if key not in chosen and its != value:
            hint = f" (choose with --set score.conventions.{key}=...)" if key in LATE_CONVENTIONS else ""
            found.append(f"{key} is {value} in {label} and {its} in {other_label}{hint}")
    found += _of_preparation(one[:2], other[:2])
    ours, theirs = ([metric["name"] for metric in each] for each in (metrics, other_metrics))
    for where, there, absent in ((label, ours, theirs), (other_label, theirs, ours)):
        if alone := [each for each in there if each not in absent]:
            found.append(f"{', '.join(alone)} only in {where} (choose what both have with --metrics)")
    found += _of_settings(one[:2], other[:2], [each for each in ours if each in theirs])
    counts, other_counts = manifest["counts"], other_manifest["counts"]
    fingerprints = [each.get("qrels_fingerprint") for each in (counts, other_counts)]
    if None in fingerprints:
        silent = (label, other_label)[fingerprints.index(None)]
        found.append(f"{silent} does not say which judgments it used; score again")
    elif fingerprints[0] != fingerprints[1]:
        rows = [number_of(each["n_qrel_rows"], "row") for each in (counts, other_counts)]
        found.append(f"judgments are not the same, of {rows[0]} in {label} and {rows[1]} in {other_label}")
    if manifest["n_queries"] != other_manifest["n_queries"]:
        queries = [number_of(each["n_queries"], "query") for each in (manifest, other_manifest)]
        found.append(f"{queries[0]} in {label} and {queries[1]} in {other_label}; score both with the same --queries")
    return found


def _of_preparation(one: tuple[str, Manifest], other: tuple[str, Manifest]) -> list[str]:
    """What was done to the input before it was scored; evaluations that do not say had the defaults."""
    (label, manifest), (other_label, other_manifest) = one, other
    settings, others = (each["config"].get("prepare", {}) for each in (manifest, other_manifest))
    found = [
        f"prepare.{key} is {settings.get(key, usual)} in {label} and {others.get(key, usual)} in {other_label}"
        for key, usual in Prepare().model_dump().items()
        if settings.get(key, usual) != others.get(key, usual)
    ]
    rules = [each["config"].get("judgments", {}).get("repeated", "error") for each in (manifest, other_manifest)]
    if rules[0] != rules[1] and "error" not in rules:  # where none was refused, all rules give the same grades
        found.append(f"judgments.repeated is {rules[0]} in {label} and {rules[1]} in {other_label}")
    return found


def _of_settings(one: tuple[str, Manifest], other: tuple[str, Manifest], metrics: Sequence[str]) -> list[str]:
    """Settings of scoring that are part of a metric's definition."""
    (label, manifest), (other_label, other_manifest) = one, other
    settings, others = (each["config"]["score"] for each in (manifest, other_manifest))
    found = [
        f"{family} is {place} in {label} and {others['custom'][family]} in {other_label}"
        for family, place in settings["custom"].items()
        if family in others["custom"] and others["custom"][family] != place
    ]
    comparing = [each for each in metrics if "reference" in parse(each).FACTS.needs]
    if comparing and settings["reference"] != others["reference"]:
        found.append(
            f"{', '.join(comparing)} compares with {settings['reference']} in {label} and with {others['reference']} "
            f"in {other_label}"
        )
    return found


def _labels(directories: Sequence[Path]) -> list[str]:
    """What each directory is called: its name, or its whole path where others have that name."""
    names = [directory.resolve().name for directory in directories]
    return [name if names.count(name) == 1 else str(path) for name, path in zip(names, directories, strict=True)]


def _names(labels: Sequence[str], manifests: Sequence[Manifest], chosen: Aggregate) -> list[dict[str, str]]:
    """For each evaluation its systems that count, and what each is called."""
    holders: dict[str, list[int]] = {}
    for place, manifest in enumerate(manifests):
        for system in manifest["systems"]:
            holders.setdefault(system, []).append(place)
    several = [system for system, places in holders.items() if len(places) > 1]
    wanted = set(chosen.systems)
    clash = [system for system in several if not wanted or system in wanted]
    if chosen.same_system == "refuse" and clash:
        system, where = clash[0], [labels[place] for place in holders[clash[0]]]
        raise UsageError(
            f'system "{system}" is in {" and ".join(where)}; take it from the last with --same-system last, or '
            f"compare them with --same-system both, as {' and '.join(f'{system}@{label}' for label in where)}"
        )
    names: list[dict[str, str]] = [{} for _ in manifests]
    for system, places in holders.items():
        for place in places if chosen.same_system == "both" else places[-1:]:
            renamed = chosen.same_system == "both" and len(places) > 1
            names[place][system] = f"{system}@{labels[place]}" if renamed else system
    known = sorted(name for each in names for name in each.values())
    if absent := sorted(wanted - set(known)):
        raise UsageError(unknown("system", absent[0], known))
    if twice := [name for name in known if known.count(name) > 1]:
        raise UsageError(f'two systems would be called "{twice[0]}"; rename one of the directories')
    return [{system: name for system, name in sorted(each.items()) if not wanted or name in wanted} for each in names]


def _merged(
    manifests: Sequence[Manifest], metrics: list[dict[str, str]], names: Sequence[Mapping[str, str]]
) -> Manifest:
    diagnostics = {
        name: manifest.get("diagnostics", {}).get(system, {})
        for manifest, each in zip(manifests, names, strict=True)
        for system, name in each.items()
    }
    answers = [
        {**row, "system": each[row["system"]]}
        for manifest, each in zip(manifests, names, strict=True)
        for row in manifest.get("answers", [])
        if row["system"] in each
    ]
    first = manifests[0]
    custom = {family: place for each in manifests for family, place in each["config"]["score"]["custom"].items()}
    n_unanswered = sum(manifest["counts"]["n_unanswered"] for manifest in manifests)
    return {
        **first,
        "systems": sorted(name for each in names for name in each.values()),
        "metrics": metrics,
        "query_columns": [
            column for column in first["query_columns"] if all(column in each["query_columns"] for each in manifests)
        ],
        "counts": {**first["counts"], "n_unanswered": n_unanswered},
        "answers": sorted(answers, key=lambda row: str(row["system"])),
        "diagnostics": diagnostics,
        "config": {**first["config"], "score": {**first["config"]["score"], "custom": custom}},
    }


def _of_versions(labels: Sequence[str], manifests: Sequence[Manifest]) -> list[str]:
    versions = {label: each["versions"]["evaljob"] for label, each in zip(labels, manifests, strict=True)}
    if len(set(versions.values())) == 1:
        return []
    told = ", ".join(f"{label} by {version}" for label, version in versions.items())
    return [f"Scored by different versions of evaljob ({told}); the changelog says whether a number changed between."]


def _of_same(
    labels: Sequence[str], names: Sequence[Mapping[str, str]], manifests: Sequence[Manifest], chosen: Aggregate
) -> list[str]:
    if chosen.same_system != "last":
        return []
    held = [system for manifest in manifests for system in manifest["systems"]]
    taken = [
        f"{system} from {label}"
        for label, each in zip(labels, names, strict=True)
        for system in each
        if held.count(system) > 1
    ]
    return [f"In several evaluations, and taken from the last that has it: {', '.join(taken)}."] if taken else []
