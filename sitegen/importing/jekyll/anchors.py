"""Replace the anchors and aliases of YAML by their values: YAML in, YAML with the same keys on the same lines out.

sitegen reads no anchors.  `_config.yml` and the front matter of Jekyll sites have some.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import yaml

MOST_VALUES = 10_000
"""Most values that one key of a document has after every alias is replaced."""
MOST_CHARACTERS = 2**20
"""Most characters of these values."""


_SIGN = re.compile(r"(?:^|[\s\[{,])[&*]\S")


class _TooMuchError(Exception):
    """The aliases of a document stand for too many values, or for themselves."""


def without_anchors(text: str) -> str:
    """Return YAML in which each key of the document with an anchor or an alias has its value written out.

    YAML that cannot be read stays, and so does YAML whose aliases stand for too much.
    """
    if not _SIGN.search(text):
        return text
    try:
        marked = _marked_lines(text)
        root = yaml.compose(text, yaml.SafeLoader) if marked else None
        return _written_out(text, root, marked) if isinstance(root, yaml.MappingNode) else text
    except (yaml.YAMLError, ValueError, RecursionError, _TooMuchError):
        return text


def _marked_lines(text: str) -> list[int]:
    """Return the number of each line, from 0, on which an anchor or an alias stands."""
    events = yaml.parse(text, yaml.SafeLoader)
    marks = (event.start_mark for event in events if getattr(event, "anchor", None))
    return [mark.line for mark in marks if mark]


def _written_out(text: str, root: yaml.MappingNode, marked: list[int]) -> str:
    """Return the text with one line for each key that has a marked line, and blank lines behind it."""
    lines, budget = text.split("\n"), _Budget()
    firsts = [key.start_mark.line for key, _ in root.value]
    for (key, value), first, following in zip(root.value, firsts, [*firsts[1:], len(lines)], strict=True):
        if any(first <= line < following for line in marked) and following > first:
            written = f"{budget.flow(key)}: {budget.flow(value)}"
            lines[first:following] = [written, *[""] * (following - first - 1)]
    return "\n".join(lines)


class _Budget:
    """Writes values in the flow style of YAML until they are too many."""

    def __init__(self) -> None:
        self.values, self.characters = MOST_VALUES, MOST_CHARACTERS

    def flow(self, node: yaml.Node) -> str:
        """Return a value on one line.  Raises _TooMuchError; also RecursionError for an alias of itself."""
        self.values -= 1
        if self.values < 0 or self.characters < 0:
            raise _TooMuchError
        if isinstance(node, yaml.MappingNode):
            pairs = (f"{self.flow(key)}: {self.flow(value)}" for key, value in _merged(node))
            return f"{{{', '.join(pairs)}}}"
        if isinstance(node, yaml.SequenceNode):
            return f"[{', '.join(map(self.flow, node.value))}]"
        self.characters -= len(node.value)
        is_text = node.tag == "tag:yaml.org,2002:str" or not node.value
        return json.dumps(node.value, ensure_ascii=False) if is_text else str(node.value)


def _merged(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yield the pairs of a mapping, its own before those of the mappings that `<<` merges into it."""
    own = [(key, value) for key, value in node.value if key.value != "<<"]
    seen = {str(key.value) for key, _ in own}
    yield from own
    for key, value in node.value:
        for one in (value.value if isinstance(value, yaml.SequenceNode) else [value]) if key.value == "<<" else ():
            for pair in _merged(one) if isinstance(one, yaml.MappingNode) else ():
                if str(pair[0].value) not in seen:
                    seen.add(str(pair[0].value))
                    yield pair
