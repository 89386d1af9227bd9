"""Settings as YAML text."""

from __future__ import annotations

from collections.abc import Sequence

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from jobs.errors import UsageError


class _Constructor(SafeConstructor):
    """YAML 1.2 has no dates: 2026-01-31 is text."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def parse(text: str, place: str) -> object:
    """What the text says.  Raises UsageError, with the place, for what is no YAML."""
    yaml = YAML(typ="safe", pure=True)  # pure: the C parser is YAML 1.1, where `no` is false
    yaml.Constructor = _Constructor
    try:
        return yaml.load(text)
    except MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UsageError(f"{place}{line}: this is not valid YAML: {error.problem}") from None
    except (YAMLError, ValueError) as error:  # ValueError: `!!int x`
        raise UsageError(f"{place}: this is not valid YAML: {str(error).splitlines()[0]}") from None


def tree(text: str) -> Node:
    """The text as nodes, which know their lines."""
    found: Node = YAML(typ="safe", pure=True).compose(text)
    return found


def line_of(node: Node, path: Sequence[int | str]) -> int:
    """The line, from 1, of the setting or of the nearest thing around it."""
    mark = node.start_mark
    for part in path:
        if isinstance(node, MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == str(part)]
            if not pairs:  # it came in by a merge key, <<
                break
            key, node = pairs[0]
            mark = key.start_mark
        elif isinstance(node, SequenceNode):
            node = node.value[int(part)]
            mark = node.start_mark
    return int(mark.line) + 1
