"""Aggregations that `evaljob aggregate` wrote, read again without Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from evalcore.errors import MetricNameError, unknown
from evalcore.metrics import name, parse
from jobs import store
from jobs.config import Config, dump
from jobs.errors import DataRefused, UsageError
from jobs.measures import Measure
from jobs.sums import Sums
from jobs.tables import ALL

NEEDED = ("unit", "n_units", "bucketed", "restricted", "systems", "measures", "exponents", "config")


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregation's directory, its manifest, and what it estimates, by name."""

    directory: Path
    manifest: dict[str, Any]
    measures: dict[str, Measure]

    @classmethod
    def of(cls, directory: Path, config: Config) -> Aggregation:
        """The aggregation of an evaluation that the configuration names, or its only one, or that of the directory.

        Raises UsageError where there is none or it must be named, DataRefused for a damaged one.
        """
        manifest, folder = store.read_manifest(directory), directory
        if manifest.get("kind") != "aggregate":
            folder = directory / "aggregates" / _name(directory, config.aggregate.name or config.aggregate.unit)
            manifest = store.read_manifest(folder)
        if lacking := [key for key in NEEDED if key not in manifest]:
            raise DataRefused(f"{folder / store.MANIFEST} is damaged (it lacks {', '.join(lacking)}); aggregate again")
        measures = [Measure(**fields) for fields in manifest["measures"]]
        return cls(folder, manifest, {measure.name: measure for measure in measures})

    def settings(self, config: Config) -> dict[str, Any]:
        """The settings of the section `aggregate` that it was made with, but for what the configuration gives."""
        given = config.aggregate.model_dump(mode="json", exclude_unset=True)
        made = {**dump(Config())["aggregate"], **self.manifest["config"]}
        margins = {**made["margins"], **given.get("margins", {})}
        return {**made, **given, "margins": {self.canonical(name): margin for name, margin in margins.items()}}

    def canonical(self, text: str) -> str:
        """A metric's name as it is written here; as it was given where it is no metric of this evaluation."""
        if text in self.measures:
            return text
        try:
            return name(parse(text))
        except MetricNameError:
            return text

    def n_units(self, counted: int) -> int:
        """How many units there are where inference counted so many: it takes buckets for units."""
        return int(self.manifest["n_units"]) if self.manifest["bucketed"] else counted

    def known_system(self, system: str | None) -> str:
        """The system that contrasts are with.  Raises UsageError where none is named or there is none of that name."""
        if system is None:
            known = ", ".join(self.manifest["systems"])
            raise UsageError(f"compared with which system? Give --baseline SYSTEM. Known: {known}.")
        if system not in self.manifest["systems"]:
            raise UsageError(unknown("system", system, self.manifest["systems"]))
        return system

    def sums(self, systems: Sequence[str], measures: Sequence[Measure], *, baseline: str) -> Sums:
        """The sums of these systems, for contrasts with the baseline.

        Raises DataRefused for files that are gone or damaged, and UsageError where the aggregation has another
        baseline and no sums over the queries that both of a pair count.
        """
        pairs = [(system, baseline) for system in systems if system != baseline]
        made_for = self.manifest["config"]["baseline"]
        if self.manifest["restricted"] and made_for is not None and any(made_for not in pair for pair in pairs):
            raise UsageError(
                f"systems count different queries, and {self.directory.name} was aggregated for contrasts with "
                f"{made_for} alone; aggregate again with --baseline {baseline}"
            )
        given, of_pair = ds.field("given"), (ds.field("given") == baseline) | (ds.field("system") == baseline)
        ours = ds.field("system").isin(systems) & (given.is_null() | (given.isin(systems) & of_pair))
        rows = self.read("unit_sums", (ds.field("segment") == ALL) & ours)
        counts = self.read("pairs", ds.field("candidate").isin(systems) & ds.field("baseline").isin(systems))
        return Sums.of(
            rows,
            counts,
            systems=systems,
            pairs=pairs if self.manifest["restricted"] else [],
            measures=measures,
            exponents=self.manifest["exponents"],
        )

    def read(self, table: str, wanted: ds.Expression) -> pa.Table:
        """The rows of one of its tables that are wanted.  Raises DataRefused for files that are gone or damaged."""
        try:
            return pq.read_table(self.directory / table, filters=wanted)
        except (pa.ArrowException, OSError) as error:
            raise DataRefused(f"{self.directory / table} is damaged ({error}); aggregate again") from None

    def sha256(self) -> str:
        """Of the manifest and every table."""
        files = [self.directory / store.MANIFEST, *sorted(self.directory.rglob("*.parquet"))]
        digest = hashlib.sha256()
        for file in files:
            digest.update(file.read_bytes())
        return digest.hexdigest()


def _name(directory: Path, wanted: str | None) -> str:
    """The name of the aggregation that is wanted, or of the only one."""
    manifests = (directory / "aggregates").glob(f"*/{store.MANIFEST}")
    known = sorted(path.parent.name for path in manifests if not path.parent.name.startswith("."))
    if not known:
        raise UsageError(f"{directory} has no aggregation; `evaljob aggregate {directory} --unit ...` makes one")
    if wanted is None and len(known) > 1:
        raise UsageError(f"{directory} has several aggregations: {', '.join(known)}; choose one with --name")
    if wanted is not None and wanted not in known:
        raise UsageError(unknown("aggregation", wanted, known))
    return wanted or known[0]
