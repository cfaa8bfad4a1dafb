"""Read the shortcodes of Hugo and Quarto: `{{< name argument key="value" >}}`, alone or around a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_CODE = re.compile(
    r"\{\{[<%]\s*(?P<close>/?)\s*(?P<name>[\w./-]+)(?P<arguments>.*?)(?P<alone>/?)\s*[>%]\}\}", re.DOTALL
)
_ARGUMENT = re.compile(r"(?:([\w-]+)\s*=\s*)?(?:\"((?:[^\"\\]|\\.)*)\"|`([^`]*)`|'([^']*)'|([^\s\"']+))")
_ESCAPED = re.compile(r"\{\{([<%])/\*(.*?)\*/([>%])\}\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shortcode:
    """A shortcode without the text around which it stands."""

    name: str
    arguments: tuple[str, ...]
    """The arguments without a name, in order."""
    values: Mapping[str, str]
    source: str

    def get(self, *keys: str, at: int = -1) -> str:
        """Return the value of the first key that is given, else the argument at a place; empty where neither is."""
        for key in keys:
            if self.values.get(key):
                return self.values[key]
        return self.arguments[at] if 0 <= at < len(self.arguments) else ""


def replaced(text: str, change: Callable[[Shortcode, str | None], str]) -> str:
    """Return the text with each shortcode replaced; `change` gets it and the text that it stands around, or None."""
    out, at = [], 0
    while match := _CODE.search(text, at):
        out.append(text[at : match.start()])
        at = match.end()
        if match["close"]:
            continue
        end = None if match["alone"] else _closing(text, match)
        inner = text[match.end() : end.start()] if end else None
        at = end.end() if end else at
        out.append(change(_shortcode(match), inner))
    text = "".join([*out, text[at:]])
    return _ESCAPED.sub(r"{{\1\2\3}}", text)


def _closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    depth = 0
    for match in _CODE.finditer(text, opening.end()):
        if match["name"] != opening["name"] or match["alone"]:
            continue
        if match["close"] and depth == 0:
            return match
        depth += -1 if match["close"] else 1
    return None


def _shortcode(match: re.Match[str]) -> Shortcode:
    arguments, values = list[str](), dict[str, str]()
    for name, *written in _ARGUMENT.findall(match["arguments"]):
        value = next(filter(None, written), "").replace('\\"', '"')
        if name:
            values[name.lower()] = value
        else:
            arguments.append(value)
    return Shortcode(match["name"].lower(), tuple(arguments), values, match[0])
