"""Read the shortcodes of Hugo and Quarto: `{{< name argument key="value" >}}`, alone or around a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sitegen.importing.closed import closed

_CODE = re.compile(
    r"\{\{[<%]\s*+(?P<close>/?)\s*+(?P<name>[\w./-]++)(?P<arguments>(?:(?!\{\{[<%]|[>%]\}\}).)*+)[>%]\}\}",
    re.DOTALL,
)
_ARGUMENT = re.compile(r"(?:([\w-]+)\s*=\s*)?(?:\"((?:[^\"\\]|\\.)*)\"|`([^`]*)`|'([^']*)'|([^\s\"']+))")
_ESCAPED = closed(r"\{\{([<%])/\*", r"\*/([>%])\}\}", "(.*?)")


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


def replaced(text: str, change: Callable[[Shortcode, str | None], str], only: Collection[str] = ()) -> str:
    """Return the text with each shortcode replaced; `change` gets it and the text that it stands around, or None.

    With `only` the shortcodes of other names are text.
    """
    codes = [code for code in _CODE.finditer(text) if not only or code["name"].lower() in only]
    ends = _ends(codes)
    out, at = [], 0
    for number, code in enumerate(codes):
        if code.start() < at:  # within a shortcode that is replaced already
            continue
        out.append(text[at : code.start()])
        at = code.end()
        if code["close"]:
            continue
        end = ends.get(number)
        inner = text[at : end.start()] if end else None
        at = end.end() if end else at
        out.append(change(_shortcode(code), inner))
    return _ESCAPED.replaced("".join([*out, text[at:]]), r"{{\1\2\3}}")


def without_shortcodes(text: str) -> str:
    """Return a text without its shortcodes; the text within them stays."""
    return _CODE.sub("", text)


def _ends(codes: Sequence[re.Match[str]]) -> dict[int, re.Match[str]]:
    """Return the end of each shortcode that has one, by its number: the end closes the last one of its name."""
    found, opened = dict[int, re.Match[str]](), dict[str, list[int]]()
    for number, code in enumerate(codes):
        if code["close"]:
            if waiting := opened.get(code["name"]):
                found[waiting.pop()] = code
        elif not code["arguments"].rstrip().endswith("/"):
            opened.setdefault(code["name"], []).append(number)
    return found


def _shortcode(match: re.Match[str]) -> Shortcode:
    arguments, values = list[str](), dict[str, str]()
    for name, *written in _ARGUMENT.findall(match["arguments"].rstrip().removesuffix("/")):
        value = next(filter(None, written), "").replace('\\"', '"')
        if name:
            values[name.lower()] = value
        else:
            arguments.append(value)
    return Shortcode(match["name"].lower(), tuple(arguments), values, match[0])
