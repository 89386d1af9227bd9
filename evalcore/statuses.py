"""What is known of a system's answer to a query, and whether it counts."""

from __future__ import annotations

from evalcore.conventions import Conventions

OK = "ok"
UNANSWERED = "unanswered"  # judged, but the system returned nothing
NO_RELEVANT = "no_relevant"  # judged, but nothing with a grade of at least 1
UNJUDGED = "unjudged"  # no judgment at all: every metric is undefined

RELEVANT_GRADE = 1.0
"""What the status counts as relevant; a metric's own bar is its parameter `rel`."""


def left_out(conventions: Conventions) -> tuple[str, ...]:
    """The statuses of which no estimate counts anything.

    >>> left_out(Conventions(unanswered="skip"))
    ('unjudged', 'unanswered')
    """
    return (UNJUDGED, UNANSWERED) if conventions.unanswered == "skip" else (UNJUDGED,)
