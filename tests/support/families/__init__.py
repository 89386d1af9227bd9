"""A module for each family of metrics: its twins (VALUES) and its examples (EXAMPLES).

VALUES    metric class -> twin(metric, retrieved, judged), and with a fourth argument `extras` where the
          metric's FACTS.needs is not empty
EXAMPLES  metrics with and without a cutoff, and every parameter at several settings
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def modules() -> Iterator[ModuleType]:
    """All of them."""
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        yield importlib.import_module(found.name)
