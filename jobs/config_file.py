"""Where settings come from. Each source is checked by itself; where two set the same thing, the later wins.

defaults  <  YAML file  <  EVALJOB__SECTION__KEY=value  <  --set section.key=value  <  flags
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from evalcore.errors import unknown
from jobs.config import Config
from jobs.errors import UsageError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

KeyPath: TypeAlias = tuple[int | str, ...]

ENVIRONMENT_PREFIX = "EVALJOB__"
OPEN_MAPPING = "spark.settings."  # its keys contain dots themselves

WANTED = {
    "string_type": "text (in quotes if it looks like something else)",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list, such as [a, b]",
    "too_short": "a list of at least one",
    "string_too_short": "text of at least one character",
    "dict_type": "settings, each as name: value",
    "model_type": "settings, each as name: value",
}
"""What a setting should be, by pydantic's type of error; for other types pydantic's own words do."""


def load(
    path: str | None,
    *,
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] = {},
    flags: Mapping[str, object] = {},
    defaults: Mapping[str, object] = {},
) -> Config:
    """The configuration from all sources.

    path         a YAML file; what it leaves out keeps its default
    overrides    "section.key=value", the value in YAML: score.metrics=[AP, P@5]
    environment  variables; those named EVALJOB__SECTION__KEY count, their values in YAML
    flags        section.key -> value; None = not given
    defaults     section.key -> value, where a command has other defaults than the configuration

    Raises UsageError, one for all problems, a line each: place, what was found, what was wanted.
    """
    sources = [_single("defaults", key, value) for key, value in defaults.items()]
    if path is not None:
        sources.append(_read(path))
    for name, text in sorted(environment.items()):
        if name.startswith(ENVIRONMENT_PREFIX):
            key = name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
            sources.append(_single(name, key, _parse(text, name)))
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals:
            raise UsageError(f"--set {override}: there is no value; write section.key=value")
        sources.append(_single(f"--set {override}", key.strip(), _parse(text, f"--set {override}")))
    sources += [_single("command line", key, value) for key, value in flags.items() if value is not None]

    merged: dict[str, Any] = {}
    problems: list[str] = []
    for source in sources:
        try:
            given = Config.model_validate(source.settings)
        except ValidationError as error:
            problems += _explain(error, source)
        else:
            merged = _merge(merged, given.model_dump(exclude_unset=True))
    if problems:
        raise UsageError("\n".join(problems))
    return Config.model_validate(merged)


@dataclass(frozen=True, slots=True)
class _Source:
    """Settings and where they were found; a file has its YAML tree, which knows line numbers."""

    name: str
    settings: object
    tree: Node | None = None

    def line(self, path: KeyPath) -> int:
        """The line, from 1, of the setting or of the nearest thing around it; 0 without a file."""
        if self.tree is None:
            return 0
        from jobs.config_yaml import line_of

        return line_of(self.tree, path)

    def place(self, path: KeyPath) -> str:
        return f"{self.name} line {self.line(path)}" if self.tree else self.name


def _read(path: str) -> _Source:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # -sig: editors on Windows write a byte-order mark
    except OSError as error:
        raise UsageError(f"{path}: the configuration cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    from jobs.config_yaml import tree

    return _Source(path, _parse(text, path), tree(text))


def _single(place: str, key: str, value: object) -> _Source:
    """One setting from outside a file: its dotted key becomes sections."""
    parts = key.split(".", maxsplit=2 if key.startswith(OPEN_MAPPING) else -1)
    for part in reversed(parts):
        value = {part: value}
    return _Source(place, value)


def _parse(text: str, place: str) -> object:
    from jobs.config_yaml import parse  # a thirtieth of a second, which a command without settings does not pay

    return parse(text, place)


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Both, section by section; a list is replaced whole."""
    merged = dict(below)
    for key, value in above.items():
        merged[key] = _merge(below.get(key, {}), value) if isinstance(value, dict) else value
    return merged


def _explain(error: ValidationError, source: _Source) -> list[str]:
    """One line for each setting that is wrong, in the order of the file."""
    messages: dict[KeyPath, str] = {}
    for detail in error.errors(include_url=False):
        kind, loc = detail["type"], detail["loc"]
        path = _present(source.settings, loc)
        name = ".".join(map(str, path)) or "the configuration"
        wanted = WANTED.get(kind, detail["msg"].removeprefix("Input should be "))
        if kind in ("extra_forbidden", "invalid_key"):
            messages[loc] = _no_setting(loc)
        elif kind == "value_error":
            messages[path] = f"{name}: {detail['ctx']['error']}"
        elif path in messages:  # another type that the setting may have
            messages[path] += f" or {wanted}"
        else:
            messages[path] = f"{name} is {_shown(detail['input'])}; it should be {wanted}"
    in_order = sorted(messages.items(), key=lambda item: source.line(item[0]))
    return [f"{source.place(path)}: {message}" for path, message in in_order]


def _present(settings: object, loc: KeyPath) -> KeyPath:
    """The part of pydantic's location that names a setting; what follows names a type or a validator."""
    value: Any = settings
    for depth, part in enumerate(loc):
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return loc[:depth]
    return loc


def _no_setting(loc: KeyPath) -> str:
    section: Any = Config
    for part in loc[:-1]:
        section = section.model_fields[part].annotation
    owner, kind = (".".join(map(str, loc[:-1])), "setting") if loc[:-1] else ("the configuration", "section")
    sentence = unknown(kind, str(loc[-1]), sorted(section.model_fields))
    return f"{owner} has no {sentence.removeprefix('unknown ')}"


def _shown(value: object, *, width: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= width else f"{text[:width]}…"
