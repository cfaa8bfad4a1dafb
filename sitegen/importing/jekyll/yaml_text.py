"""Write values as lines of YAML that sitegen reads back unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from sitegen.read.yaml_nodes import parse_yaml


def entry(key: str, value: str) -> str:
    """Return the line `key: value`."""
    return f"{key}: {scalar(value)}\n"


def entries(key: str, values: Iterable[str]) -> str:
    """Return the line `key: [value, value]`."""
    return f"{key}: [{', '.join(scalar(value, inside_list=True) for value in values)}]\n"


_TAG = re.compile(r"</?(?:em|strong|b|i|br|code|span|sub|sup|a|small|u|mark)\b[^<>]*>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)((?:(?!\*\*).)+?)(?<=\S)\*\*(?!\w)")


def plain_words(text: str) -> str:
    """Return a title or a description, which is plain text here, without tags, signs of bold text and addresses."""
    return " ".join(_BOLD.sub(r"\1", _LINK.sub(r"\1", _TAG.sub("", text))).split())


def scalar(value: str, *, inside_list: bool = False) -> str:
    """Return the value bare where YAML reads it back as the same text, else in double quotes."""
    written = f"[{value}]" if inside_list else value
    node, mistakes = parse_yaml(f"key: {written}\n", "")
    child = node.get("key") if node else None
    if inside_list and child is not None:
        child = child.value[0] if isinstance(child.value, tuple) and len(child.value) == 1 else None
    same = child is not None and child.value == value and child.text == value
    return value if value and same and not mistakes and "\n" not in value else json.dumps(value, ensure_ascii=False)
