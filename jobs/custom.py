"""A user's own metrics: classes of their packages, by the names that the configuration gives them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping

from evalcore.errors import MetricNameError
from evalcore.metrics.names import register
from jobs.errors import UsageError


def register_all(custom: Mapping[str, str]) -> None:
    """Make each name of the mapping known as the metric class at `package.module:Class`.  Raises UsageError."""
    for name, place in custom.items():
        where = f"score.custom.{name}"
        if not re.fullmatch(r"[\w.]+:\w+", place):
            raise UsageError(f'{where}: "{place}" is not written like my_package.metrics:MyMetric')
        module, _, class_name = place.partition(":")
        try:
            found = getattr(importlib.import_module(module), class_name)
        except ImportError as error:
            raise UsageError(
                f"{where}: {module} cannot be imported: {error}; install its package here and on every executor, "
                "or put its folder on PYTHONPATH"
            ) from None
        except AttributeError:
            raise UsageError(f"{where}: there is no {class_name} in {module}") from None
        try:
            register(name, found)
        except MetricNameError as error:
            raise UsageError(f"{where}: {error}") from None
