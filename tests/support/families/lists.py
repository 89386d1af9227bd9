"""Lists as such."""

from __future__ import annotations

from evalcore.metrics import NumQ, ZeroResult

VALUES = {
    NumQ: lambda metric, retrieved, judged: 1.0,
    ZeroResult: lambda metric, retrieved, judged: 0.0 if retrieved else 1.0,
}
EXAMPLES = [NumQ(), ZeroResult()]
