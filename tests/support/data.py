"""Real judgments, runs and other programs' values, kept outside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data is not there")
