"""Results as a person reads them on a terminal.

terminal.py   the terminal, tables, numbers     scores.py   after `evaljob score`
others.py     metrics, the machine, the demo    aggregates.py   after `evaljob aggregate`
gates.py      a gate's verdict, planning        designs.py  several data sets, many candidates
audits.py     after `evaljob audit`           sources.py  after `evaljob inspect`
"""

from jobs.console.aggregates import show_aggregate
from jobs.console.audits import show_audit
from jobs.console.designs import show_datasets, show_selection
from jobs.console.gates import show_gate, show_power
from jobs.console.others import show_demo, show_findings, show_metrics
from jobs.console.scores import show_score
from jobs.console.sources import show_sources

__all__ = [
    "show_aggregate", "show_audit", "show_datasets", "show_demo", "show_findings", "show_gate", "show_metrics",
    "show_power", "show_score", "show_selection", "show_sources",
]  # fmt: skip
