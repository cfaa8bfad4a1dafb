"""Read YAML and TOML of other programs into plain values whose size is bounded.

A short text can stand for very much: ten aliases, each of a list of ten aliases, and so on; a key of 20,000 parts in
TOML, of which the reader makes a table for every beginning.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

MOST_VALUES = 100_000
"""Most values of a text after every alias is replaced by what it stands for."""
MOST_PARTS = 100
"""Most parts of a key in TOML, such as the three of `a.b.c`."""
_PART = r"(?:(?<![\w-])[\w-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')"
_LONG_KEY = re.compile(rf"(?:{_PART}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}")


def yaml_values(text: str) -> Any:
    """Return the values of YAML.  Raises YAMLError, ValueError or RecursionError."""
    found = yaml.safe_load(text)
    waiting, number = [found], 0
    while waiting:
        one = waiting.pop()
        inner = [*one.keys(), *one.values()] if isinstance(one, dict) else one if isinstance(one, list | tuple) else ()
        number += 1 + len(inner)
        if number > MOST_VALUES:
            raise ValueError(f"its aliases stand for more than {MOST_VALUES:,} values")
        waiting += inner
    return found


def toml_values(text: str) -> dict[str, Any]:
    """Return the values of TOML.  Raises ValueError or RecursionError."""
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise ValueError(f"the key on line {line} has more than {MOST_PARTS} parts between points")
    return tomllib.loads(text)
