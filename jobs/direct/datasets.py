"""Several data sets in one call: what each says, and the means over them, as `evaljob datasets` has them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evalcore.errors import unknown
from jobs import means
from jobs.config import Config
from jobs.datasets import of_units, shared
from jobs.direct.evaluation import Inferred, inferred, metrics_of, values
from jobs.direct.formats import rows_of
from jobs.errors import JobError, UsageError
from jobs.means import OF_CONTRAST, OF_ESTIMATE


def datasets(given: Sequence[Sequence[str]], config: Config) -> dict[str, Any]:
    """What `jobs.datasets.datasets` tells, of data sets given as (name, judgments, run, ...).

    Raises UsageError and DataRefused, with the name of the data set.
    """
    metrics = metrics_of(config.score)
    found = {}
    for name, *files in given:
        if len(files) < 2 or name in found:
            what = "two data sets are called so" if name in found else "name its judgments and at least one run"
            raise UsageError(f"--dataset {name}: {what}: --dataset NAME QRELS RUN [RUN ...]")
        paths = config.inputs.model_copy(update={"qrels": files[:1], "runs": files[1:]})
        try:
            found[name] = values(config.model_copy(update={"inputs": paths}), metrics)
        except JobError as error:
            raise type(error)(f"{name}: {error}") from None
    if len(found) < 2:
        raise UsageError("name two data sets or more, each with --dataset NAME QRELS RUN [RUN ...]")
    systems, lonely = shared("system", {name: list(each.found) for name, each in found.items()}, [])
    baseline = config.aggregate.baseline
    if baseline is not None and baseline not in systems:
        raise UsageError(f"the baseline: {unknown('system', baseline, systems)}")
    of_each = {
        name: inferred(replace(each, found={system: each.found[system] for system in systems}), config)
        for name, each in found.items()
    }
    measures = [each for each in next(iter(of_each.values())).measures if each.element is None]
    rows = [_rows(name, each, [measure.name for measure in measures]) for name, each in of_each.items()]
    units = [
        frozenset(each.summed.sums["unit"]) if not each.summed.buckets else frozenset() for each in of_each.values()
    ]
    return {
        "data_sets": [
            {"name": name, "unit": each.unit, "n_units": each.summed.n_units, "bucketed": each.summed.buckets > 0}
            for name, each in of_each.items()
        ],
        "systems": systems,
        "metrics": [measure.name for measure in measures],
        "baseline": baseline,
        "methods": config.aggregate.methods[:1],
        "confidence": config.aggregate.confidence,
        **means.over(
            [estimates for estimates, _ in rows],
            [contrasts for _, contrasts in rows],
            better={measure.name: measure.higher_is_better for measure in measures},
            restricted=any(each.summed.restricted for each in of_each.values()),
            confidence=config.aggregate.confidence,
        ),
        "notes": [*lonely, *of_units(units)],
    }


def _rows(name: str, found: Inferred, metrics: Sequence[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    estimates, contrasts = (
        [{"data_set": name} | {key: row[key] for key in kept} for row in rows if row["metric"] in metrics]
        for rows, kept in zip(rows_of(found), (OF_ESTIMATE, OF_CONTRAST), strict=True)
    )
    return estimates, contrasts


def as_csv(found: dict[str, Any]) -> str:
    """A row for each data set, metric and system, and for their means, whose data set is empty."""
    rows = [*found["estimates"], *({"data_set": None, **row} for row in found["mean_estimates"])]
    out = io.StringIO()
    writer = csv.DictWriter(out, ["data_set", *OF_ESTIMATE], lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({**row, "flags": " ".join(row["flags"])} for row in rows)
    return out.getvalue()
