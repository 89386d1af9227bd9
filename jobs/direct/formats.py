"""The answer for a person, a spreadsheet, a page, a paper or a program."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from jobs import figures
from jobs.direct.evaluation import Inferred
from jobs.errors import number_of
from jobs.figures import figure, p_value
from jobs.flags import ADJUSTED, FLAGS
from jobs.inferred import WOODRUFF

Row = dict[str, Any]
OF_CONTRAST = ("delta", "low", "high", "p_value", "p_adjusted", "wins", "ties", "losses", "verdict")


OF_DELTA = ("delta", "interval", "p", "adjusted", "win/tie/loss", "verdict")
"""What the columns of a contrast are called."""


def rows_of(found: Inferred) -> tuple[list[Row], list[Row]]:
    """ESTIMATES and CONTRASTS of the first interval method."""
    shown = (found.settings.methods[0], WOODRUFF)
    estimates, contrasts = (
        [row for row in rows if row["method"] in shown] for rows in (found.estimates, found.contrasts)
    )
    return estimates, contrasts


def named(row: Row) -> str:
    """The metric and, of a quantile, its level."""
    return f"{row['metric']} {row['statistic']}" if is_quantile(row) else str(row["metric"])


def is_quantile(row: Row) -> bool:
    """Whether it is one that was asked for beside the usual estimate."""
    return bool(row["statistic"].startswith("quantile"))


def per_query_of(found: Inferred) -> list[Row]:
    """The value of every system, query and metric, None where undefined; an element of a vector is one."""
    rows = []
    for system, its in found.values.found.items():
        for measure in found.measures:
            column = its.columns[measure.source]
            column = column if measure.element is None else column[:, measure.element]
            for query, value in zip(its.queries, column.tolist(), strict=True):
                told = None if math.isnan(value) else value
                rows.append({"system": system, "query_id": query, "metric": measure.name, "value": told})
    return rows


def as_json(found: Inferred) -> str:
    """Estimates, contrasts, values of queries and counts of the input."""
    estimates, contrasts = rows_of(found)
    told = {
        "estimates": [
            {"system": row["system"], "metric": named(row), "n": row["n_queries"]}
            | {key: row[key] for key in ("estimate", "low", "high")}
            for row in estimates
        ],
        "contrasts": [
            {
                **{key: row[key] for key in ("candidate", "baseline", "metric")},
                "n": row["n_queries"],
                **{key: row[key] for key in (*OF_CONTRAST, "flags")},
            }
            for row in contrasts
        ],
        "per_query": per_query_of(found),
        "audit": found.values.counts,
    }
    return figures.as_json(told) + "\n"


def as_csv(found: Inferred, *, per_query: bool) -> str:
    """A row for each metric and system, and beside it each contrast of which it is the candidate."""
    if per_query:
        return _csv(per_query_of(found))
    rows = []
    estimates, contrasts = rows_of(found)
    for row in estimates:
        told = {
            **{key: row[key] for key in ("metric", "system", "statistic", *("estimate", "low", "high"))},
            **{key: row[key] for key in ("n_queries", "n_undefined")},
            "baseline": None,
            **{_header(key): None for key in OF_CONTRAST},
            "flags": " ".join(row["flags"]),
        }
        mine = [
            each
            for each in contrasts
            if all(each[key] == row[key] for key in ("metric", "statistic")) and each["candidate"] == row["system"]
        ]
        for contrast in mine:
            rows.append(
                {
                    **told,
                    "baseline": contrast["baseline"],
                    **{_header(key): contrast[key] for key in OF_CONTRAST},
                    "flags": " ".join(dict.fromkeys([*row["flags"], *contrast["flags"]])),
                }
            )
        if not mine:
            rows.append(told)
    return _csv(rows)


def _header(key: str) -> str:
    return f"delta_{key}" if key in ("low", "high") else key


def _csv(rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_table(found: Inferred, *, per_query: bool) -> str:
    """Estimates with intervals, deltas with intervals, p-values, verdicts and flags, and what they mean."""
    parts = []
    if per_query:
        parts += [_aligned(_query_cells(found)), ""]
    estimates, contrasts = rows_of(found)
    cells, title = _cells(found, estimates, contrasts)
    parts += [title, "", _aligned(cells)]
    if cells_of_pairs := _pair_cells(contrasts):
        parts += ["", "Contrasts, candidate - baseline", "", _aligned(cells_of_pairs)]
    parts += ["", *_explained(found, estimates, contrasts)]
    return "\n".join(parts).rstrip() + "\n"


def as_markdown(found: Inferred, *, per_query: bool) -> str:
    """The same tables in Markdown."""
    parts = [_piped(_query_cells(found)), ""] if per_query else []
    estimates, contrasts = rows_of(found)
    cells, title = _cells(found, estimates, contrasts)
    parts += [f"{title}.", "", _piped(cells)]
    if cells_of_pairs := _pair_cells(contrasts):
        parts += ["", "Contrasts, candidate - baseline:", "", _piped(cells_of_pairs)]
    explained = _explained(found, estimates, contrasts)
    parts += ["", *(f"* {line}" for line in explained)]
    return "\n".join(parts).rstrip() + "\n"


def _piped(rows: Sequence[Sequence[str]]) -> str:
    header, *body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    rule = "|" + "|".join("---" if key in LEFT else "---:" for key in rows[0]) + "|"
    return "\n".join([header, rule, *body])


def _cells(found: Inferred, estimates: Sequence[Row], contrasts: Sequence[Row]) -> tuple[list[list[str]], str]:
    """The table of estimates, with the contrasts where all are with one baseline; and its title."""
    baselines = list(dict.fromkeys(row["baseline"] for row in contrasts))
    level = f"{found.settings.confidence * 100:g} % interval"
    undefined, doubted = (any(row[key] for row in estimates) for key in ("n_undefined", "flags"))
    one, of_deltas = len(baselines) == 1, any(row["flags"] for row in contrasts)
    header = ["metric", "system", "estimate", level, *(["undefined"] * undefined), *(["flags"] * doubted)]
    header += [*OF_DELTA, *(["flags"] * of_deltas)] if one else []
    by_key = {(row["candidate"], row["metric"]): row for row in contrasts}
    cells = [header]
    for row in estimates:
        line = [named(row), row["system"], figure(row["estimate"]), _interval(row)]
        line += [f"{row['n_undefined']:,}" if row["n_undefined"] else ""] * undefined
        line += [", ".join(row["flags"])] * doubted
        if one:
            contrast = None if is_quantile(row) else by_key.get((row["system"], row["metric"]))
            line += _contrast_cells(contrast) if contrast else [""] * len(OF_DELTA)
            line += [", ".join(contrast["flags"]) if contrast else ""] * of_deltas
        cells.append(line)
    n = number_of(max((row["n_queries"] for row in estimates), default=0), "query")
    unit = "" if found.unit == "query_id" else f", unit {found.unit} ({found.summed.n_units:,})"
    mean = found.values.conventions.mean
    how = "" if mean == "queries" else f", mean: {mean}"
    against = f", deltas against {baselines[0]}" if one else ""
    against += ", the first by name: --baseline names another" if one and found.settings.baseline is None else ""
    return cells, f"{n}{unit}{how}{against}"


def _pair_cells(contrasts: Sequence[Row]) -> list[list[str]]:
    """The table of contrasts where they are not all with one baseline."""
    if len({row["baseline"] for row in contrasts}) < 2:
        return []
    flags = any(row["flags"] for row in contrasts)
    header = ["metric", "candidate", "baseline", *OF_DELTA]
    return [
        [*header, *(["flags"] if flags else [])],
        *(
            [
                *(row[key] for key in ("metric", "candidate", "baseline")),
                *_contrast_cells(row),
                *([", ".join(row["flags"])] if flags else []),
            ]
            for row in contrasts
        ),
    ]


def _contrast_cells(row: Row) -> list[str]:
    counted = f"{row['wins']}/{row['ties']}/{row['losses']}"
    return [
        figure(row["delta"], sign="+"),
        _interval(row, sign="+"),
        p_value(row["p_value"]),
        p_value(row["p_adjusted"]),
        counted,
        (row["delta"] is not None and row["verdict"]) or "",
    ]


def _query_cells(found: Inferred) -> list[list[str]]:
    """A row for each query and system, a column for each metric."""
    header = ["query", "system", *(measure.name for measure in found.measures)]
    cells = [header]
    for place, query in enumerate(found.values.asked):
        for system, its in found.values.found.items():
            row = [query, system]
            for measure in found.measures:
                column = its.columns[measure.source][place]
                value = float(column if measure.element is None else column[measure.element])
                row.append(figure(None if math.isnan(value) else value))
            cells.append(row)
    return cells


def _explained(found: Inferred, estimates: Sequence[Row], contrasts: Sequence[Row]) -> list[str]:
    lines = []
    if any(row["n_undefined"] for row in estimates):
        convention = found.values.conventions.no_relevant
        lines.append(f"undefined: for want of a relevant document, and then no_relevant: {convention}; else left out.")
    if contrasts:
        how = ADJUSTED.get(found.settings.adjust, "")
        margin = "the margin that is set, else 0.5 %" if found.settings.margins else "a margin of 0.5 %"
        lines += [
            f"p: two-sided t test; adjusted: {how}, over the contrasts of a metric;",
            f"verdict: the interval against 0 and, to be equivalent, inside {margin} of the baseline, at least 0.0005.",
        ]
    seen = {flag for row in (*estimates, *contrasts) for flag in row["flags"]}
    lines += [f"{flag}: {FLAGS[flag]}" for flag in FLAGS if flag in seen]
    return [*lines, *(f"note: {note}" for note in found.notes)]


LEFT = {"metric", "system", "query", "candidate", "baseline", "verdict", "flags"}


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    header = rows[0]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if key in LEFT else cell.rjust(width)
            for cell, width, key in zip(row, widths, header, strict=True)
        ).rstrip()
        for row in rows
    )


def _interval(row: Mapping[str, Any], *, sign: str = "") -> str:
    return f"{figure(row['low'], sign=sign)} to {figure(row['high'], sign=sign)}"
