"""Evaluations with an aggregation, written from values of queries without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evalcore import Conventions, parse_list
from evalcore.inference import UnitSums, scale_exponent
from evalcore.inference.sums import product_factor
from jobs import store
from jobs.config import Config, dump
from jobs.measures import measures_of
from jobs.tables import ALL

Values = Mapping[str, Mapping[str, Sequence[float]]]
"""metric -> system -> the value of each query"""


def write_aggregation(
    directory: Path,
    values: Values,
    *,
    units: Sequence[str] | None = None,
    name: str = "query_id",
    answers: Mapping[str, int] | None = None,
    settings: Mapping[str, Any] | None = None,
    conventions: Conventions = Conventions(),  # noqa: B008
    **manifest: Any,
) -> Path:
    """The directory of an evaluation whose aggregation holds exactly these values.

    answers    how many queries each system answered; default: all
    settings   of the section `aggregate`; manifest: what the manifest of the aggregation says otherwise
    """
    systems = sorted(next(iter(values.values())))
    measures = measures_of(parse_list(",".join(values)), conventions)
    keys = [(system, measure) for system in systems for measure in measures]
    columns = np.column_stack([np.asarray(values[measure.name][system], dtype=float) for system, measure in keys])
    ids = [f"q{i:05d}" for i in range(len(columns))] if units is None else list(units)
    pairs = [(one, other) for one in systems for other in systems if one > other]
    place = {(system, measure.name): at for at, (system, measure) in enumerate(keys)}
    largest = {
        m.column: max(np.nanmax(np.abs(columns[:, place[system, m.name]])) for system in systems) for m in measures
    }
    exponents = {column: scale_exponent(float(most)) for column, most in largest.items()}
    scale = np.array([exponents[measure.column] for _, measure in keys])
    sums = UnitSums.from_values(ids, columns, exponents=scale)
    factors = product_factor(np.nan_to_num(columns), exponent=scale)
    products = factors.T @ factors
    folder = directory / "aggregates" / name
    rows = [_row(sums, unit, system, measures, place) for system in systems for unit in range(len(sums.units))]
    for row in rows[:: len(sums.units)]:  # squares are added up over units: all of them may be in the first
        for measure in measures:
            at = place[row["system"], measure.name]
            row[f"{measure.column}_squares"] = int(products[at, at])
    counted = [
        {"candidate": one, "baseline": other}
        | {f"{m.column}_products": int(products[place[one, m.name], place[other, m.name]]) for m in measures}
        for one, other in pairs
    ]
    for table, content in (("unit_sums", _typed(rows)), ("pairs", pa.Table.from_pylist(counted))):
        (folder / table).mkdir(parents=True)
        pq.write_table(content, folder / table / "part-0.parquet")
    answered = [
        {"system": system, "n_answered": (answers or {}).get(system, len(ids)), "n_longest": 10} for system in systems
    ]
    described = {
        "kind": "aggregate", "answers": answered, "unit": name, "n_units": len(sums.units),
        "bucketed": False, "restricted": False, "systems": systems, "exponents": exponents,
        "measures": [asdict(measure) for measure in measures], "conventions": asdict(conventions),
        "config": dump(Config())["aggregate"] | (settings or {}),
    }  # fmt: skip
    store.write_manifest(folder, described | manifest)
    evaluation = {
        "kind": "evaluation", "systems": systems, "metrics": [], "query_columns": [], "conventions": {}, "counts": {},
        "files": [],
    }  # fmt: skip
    store.write_manifest(directory, evaluation)
    return directory


def _row(sums: UnitSums, unit: int, system: str, measures: Sequence[Any], place: Mapping[Any, int]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "segment": ALL, "stratum": None, "unit": str(sums.units[unit]), "system": system, "given": None, "n_queries": 1
    }  # fmt: skip
    for measure in measures:
        at = place[system, measure.name]
        for part in ("n", "hi", "lo"):
            row[f"{measure.column}_{part}"] = int(getattr(sums, part)[unit, at])
        row[f"{measure.column}_undefined"] = 0
        row[f"{measure.column}_squares"] = 0
    return row


def _typed(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    texts = ("segment", "stratum", "unit", "system", "given")
    fields = [(key, pa.string() if key in texts else pa.int64()) for key in rows[0]]
    return pa.Table.from_pylist(list(rows), pa.schema(fields))
