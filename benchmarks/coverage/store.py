"""out/coverage.json: results as they come, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.coverage.buckets import Agreement
from benchmarks.coverage.simulation import Coverage, Found


@dataclass
class Results:
    """What was found: by setting, by setting with its clusters ignored, by number of buckets."""

    settings: dict[str, Found] = field(default_factory=dict)
    ignoring: dict[str, Found] = field(default_factory=dict)
    buckets: dict[int, Agreement] = field(default_factory=dict)

    def write(self, file: Path) -> None:
        """Replaces the file at once."""
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        part.replace(file)

    @classmethod
    def read(cls, file: Path) -> Results:
        """What the file has; nothing if there is none."""
        if not file.exists():
            return cls()
        stored = json.loads(file.read_text(encoding="utf-8"))
        return cls(
            settings={name: _found(each) for name, each in stored["settings"].items()},
            ignoring={name: _found(each) for name, each in stored["ignoring"].items()},
            buckets={int(buckets): Agreement(**each) for buckets, each in stored["buckets"].items()},
        )


def _found(stored: dict) -> Found:
    return Found(**{**stored, "intervals": {name: Coverage(**each) for name, each in stored["intervals"].items()}})
