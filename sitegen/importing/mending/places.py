"""Find what stands around a place of a Markdown text: a link, a tag, a formula, a fence, an option, a block."""

from __future__ import annotations

import re

LINK = re.compile(
    r"(?P<image>!?)(?<!\\)\[(?P<words>(?:[^\[\]\\]++|\\.|\[[^\[\]]*+\])*+)\]"
    r"\((?P<target><[^<>\n]*+>|(?:[^()\s]++|\([^()\s]*+\))*+)"
    r"(?P<title>\s++(?:\"(?:[^\"\\]++|\\.)*+\"|'[^']*+'))?\s*+\)"
    r"(?P<attributes>\{[^{}\n]*\})?"
)
TAG = re.compile(
    r"<(?P<slash>/?)(?P<name>[A-Za-z][\w-]*)(?=[\s/>])(?P<attributes>(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)>"
)
FENCE = re.compile(
    r"^(?P<indent>[ \t>]*+)(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^\n`]*+)\n(?P<code>.*?)"
    r"(?:^[ \t>]*(?P=marks)[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(r"(?<!`)(`++)(?:[^`\n]|\n(?![ \t]*\n)|(?!(?<!`)\1(?!`))`)+?(?<!`)\1(?!`)")
_FORMULA = re.compile(
    r"\$\$(?:(?!\$\$).)+\$\$(?:[ \t]*\{#[^}\n]*\}|[ \t]*\([\w-]+\))?"
    r"|(?<![\\$])\$(?:\\.|[^$\\\n]|\n(?![ \t]*\n))+\$",
    re.DOTALL,
)
_ROLE = re.compile(r"\{[\w:-]+\}(`++)(?:(?!\1).)+\1", re.DOTALL)


def offset_of(text: str, line: int, col: int) -> int:
    """Return the offset of a line and a column that count from 1."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return min(at + col - 1, len(text))


def around(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    """Return the match of a pattern that holds the place; of several, the one that begins last."""
    found = None
    for match in pattern.finditer(text):
        if match.start() > at:
            break
        found = match if at < match.end() else found
    return found


def fence_around(text: str, at: int) -> re.Match[str] | None:
    """Return the innermost fence of backquotes or tildes that holds the place."""
    found, start = None, 0
    while match := FENCE.search(text, start):
        if match.start() > at:
            break
        inside = match.start("code") <= at < match.end()
        found = match if match.start() <= at < match.end() else found
        start = match.start("code") if inside and match["info"].startswith("{") else match.end()
    return found


def formula_around(text: str, at: int) -> re.Match[str] | None:
    """Return the formula between dollar signs, or the role with a formula, that holds the place."""
    plain = without_code(text)
    return around(_FORMULA, plain, at) or around(_ROLE, text, at)


def without_code(text: str) -> str:
    """Return a text of the same length with blanks in the place of code."""
    return _CODE.sub(_blank, FENCE.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def line_around(text: str, at: int) -> tuple[int, int]:
    """Return the start and the end of a line; the end is behind its line feed."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end + 1


def block_around(text: str, at: int, first: int) -> tuple[int, int]:
    """Return the start and the end of the lines around a place up to a blank line, or of the fence around it.

    The text begins at the offset `first`, below its front matter.
    """
    if (fence := fence_around(text, at)) and fence.start() >= first:
        return fence.start(), fence.end()
    start, end = line_around(text, at)
    while start > first and text[text.rfind("\n", 0, start - 1) + 1 : start].strip():
        start = max(first, text.rfind("\n", 0, start - 1) + 1)
    while end < len(text) and text[slice(*line_around(text, end))].strip():
        end = line_around(text, end)[1]
    return start, end
