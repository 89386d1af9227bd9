"""Random queries, batches of them, their values, and the settings under which properties run."""

from __future__ import annotations

from dataclasses import dataclass, fields

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from hypothesis import settings

from evalcore.metrics import Metric
from evalcore.rankings import JudgedRankings
from tests.support.extras import Extras, extras_of

GRADES = [-2.0, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0]


def seeded(max_examples: int) -> settings:
    """The same examples in every run, however slow the machine."""
    return settings(deadline=None, derandomize=True, max_examples=max_examples)


@dataclass(frozen=True)
class Query:
    """One query: the grades of its ranking, None = unjudged, and of all its judged documents."""

    retrieved: list[float | None]
    judged: list[float]

    @property
    def extras(self) -> Extras:
        """What only some metrics read, made up from places alone."""
        return extras_of(self.retrieved, self.judged)


@st.composite
def queries(draw, grades=GRADES) -> Query:
    """Some judged documents; a ranking of a part of them, with unjudged documents between."""
    judged = draw(st.lists(st.sampled_from(grades), max_size=8))
    shuffled = draw(st.permutations([*judged, *[None] * draw(st.integers(0, 4))]))
    return Query(shuffled[: draw(st.integers(0, len(shuffled)))], judged)


def batches(max_size: int = 8) -> st.SearchStrategy[list[Query]]:
    """Several queries that are evaluated together."""
    return st.lists(queries(), max_size=max_size)


def rankings_of(batch: list[Query]) -> JudgedRankings:
    """The queries as metrics take them."""
    extras = [query.extras for query in batch]
    return JudgedRankings.from_lists(
        retrieved=[query.retrieved for query in batch],
        judged=[query.judged for query in batch],
        **{field.name: [getattr(each, field.name) for each in extras] for field in fields(Extras)},
    )


def value_of(metric: Metric, query: Query) -> float:
    """The metric of one query, evaluated alone."""
    return float(metric.per_query(rankings_of([query]))[0])


def same_bits(left: npt.ArrayLike, right: npt.ArrayLike) -> bool:
    """Whether two arrays of numbers are equal to the last bit, NaN included."""
    return np.asarray(left, dtype=np.float64).tobytes() == np.asarray(right, dtype=np.float64).tobytes()


def random_batch(n_queries: int, *, depth: int, seed: int) -> list[Query]:
    """Queries of up to this depth, drawn with numpy: many, and the same ones for a seed."""
    rng = np.random.default_rng(seed)
    batch = []
    for _ in range(n_queries):
        judged = rng.choice(GRADES, size=rng.integers(0, depth)).tolist()
        pool = [*judged, *[None] * int(rng.integers(0, depth))]
        order = rng.permutation(len(pool))[: rng.integers(0, depth + 1)]
        batch.append(Query([pool[i] for i in order], judged))
    return batch
