"""UNIT SUMS -> ESTIMATES, CONTRASTS: numpy and Arrow on the driver, without a JVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from jobs.infer import inferred_rows, pairs_of
from jobs.inferred import Settings
from jobs.measures import Measure
from jobs.sums import Sums
from jobs.tables import ALL, CONTRASTS, ESTIMATES

__all__ = ["aggregate", "pairs_of"]


def aggregate(
    sums: pa.Table,
    pair_counts: pa.Table,
    *,
    systems: Sequence[str],
    measures: Sequence[Measure],
    exponents: Mapping[str, int],
    settings: Settings,
    segment: str = ALL,
    crossed: tuple[pa.Table, pa.Table] | None = None,
) -> tuple[pa.Table, pa.Table]:
    """UNIT SUMS and pair counts of a segment -> (ESTIMATES, CONTRASTS), a row for each interval method.

    crossed   UNIT SUMS by a second kind of unit and by pairs of both kinds: adds rows of the method two_way
    """
    shape: dict[str, Any] = {
        "systems": systems,
        "pairs": pairs_of(systems, settings.baseline) if settings.restricted else [],
        "measures": measures,
        "exponents": exponents,
    }
    others = [Sums.of(table, pair_counts, **shape).table for table in crossed or ()]
    estimates, contrasts = inferred_rows(
        Sums.of(sums, pair_counts, **shape),
        pair_counts.to_pylist(),
        systems=systems,
        measures=measures,
        settings=settings,
        segment=segment,
        whole=segment == ALL,
        crossed=(others[0], others[1]) if others else None,
    )
    return pa.Table.from_pylist(estimates, ESTIMATES), pa.Table.from_pylist(contrasts, CONTRASTS)
