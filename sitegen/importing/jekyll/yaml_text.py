"""Write values as lines of YAML that sitegen reads back unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from sitegen.read.yaml_nodes import parse_yaml

_ANCHOR = re.compile(
    r"(?P<before>(?:^|[:\-])[ \t]+)&(?P<name>[\w-]+)[ \t]+(?P<value>[^\s#&*][^\n]*?)[ \t]*$", re.MULTILINE
)
_ALIAS = re.compile(r"(?P<before>[:\-][ \t]+)\*(?P<name>[\w-]+)[ \t]*$", re.MULTILINE)


def without_anchors(yaml: str) -> str:
    """Return YAML with the value of each anchor in the place of its aliases: `b: x` for `a: &n x` and `b: *n`.

    An anchor of several lines stays, and is reported when the YAML is read.
    """
    values = {match["name"]: match["value"] for match in _ANCHOR.finditer(yaml)}
    if not values:
        return yaml
    plain = _ANCHOR.sub(lambda match: match["before"] + match["value"], yaml)
    return _ALIAS.sub(lambda match: match["before"] + values.get(match["name"], f"*{match['name']}"), plain)


def entry(key: str, value: str) -> str:
    """Return the line `key: value`."""
    return f"{key}: {scalar(value)}\n"


def entries(key: str, values: Iterable[str]) -> str:
    """Return the line `key: [value, value]`."""
    return f"{key}: [{', '.join(scalar(value, inside_list=True) for value in values)}]\n"


def scalar(value: str, *, inside_list: bool = False) -> str:
    """Return the value bare where YAML reads it back as the same text, else in double quotes."""
    written = f"[{value}]" if inside_list else value
    node, mistakes = parse_yaml(f"key: {written}\n", "")
    child = node.get("key") if node else None
    if inside_list and child is not None:
        child = child.value[0] if isinstance(child.value, tuple) and len(child.value) == 1 else None
    same = child is not None and child.value == value and child.text == value
    return value if value and same and not mistakes and "\n" not in value else json.dumps(value, ensure_ascii=False)
