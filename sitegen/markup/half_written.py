"""Find links and roles that Markdown shows as text since a sign is missing: tokens in, a warning for each out.

Such are `[the guide][hopper]` without a line `[hopper]: …`, an address that is never closed, and `{term}[warp]`.  The
worklog has rules of its own (`sitegen/read/worklog_links.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.markup.collected import Collected, collected

_LINK = re.compile(
    r"\[(?<![\w\]]\[)(?![@^])(?P<words>[^\[\]\n]{2,200})\]"
    r"(?:(?P<label>\[(?=[^\[\]\n]*[A-Za-z])[^\[\]\n@^]{1,200}\])|(?P<open>\((?![\s()]))|(?P<space> \((?:$|https?://)))"
)
"""The head of a link in words; behind a word or a bracket, as in `a[i][j]`, it is none.

The regex begins with a bracket, so that `re` goes from bracket to bracket.
"""
_SPACED = re.compile(r"([^()<>\"'\n]*[^()<>\"'\s] [^()<>\"'\s][^()<>\"'\n]*)\)")
"""The address of a link, with a space in it."""
_MOST_CHARACTERS = 100_000
"""The longest piece of text in which they are looked for."""
_WORKLOG = "content/worklog/"


def half_written_plugin(md: MarkdownIt, roles: Iterable[str]) -> None:
    role = re.compile(rf"(?P<name>\{{(?:{'|'.join(map(re.escape, roles))})\}})(?:[\[('\"\w]| ?$)")

    def warn(state: StateCore) -> None:
        into = collected(state.env)
        for block in state.tokens:
            if block.type == "inline" and block.map and ("[" in block.content or "{" in block.content):
                _read(block, role, into)

    md.core.ruler.after("text_join", "half_written", warn)


def _read(block: Token, role: re.Pattern[str], into: Collected) -> None:
    children = block.children or []
    for at, piece in enumerate(children, start=1):
        text = piece.content
        if piece.type == "text" and ("[" in text or "{" in text) and len(text) < _MOST_CHARACTERS:
            behind = children[at] if at < len(children) else None
            _warn_of_links(text, behind, block, into)
            _warn_of_roles(text, behind, role, block, into)


def _warn_of_links(text: str, behind: Token | None, block: Token, into: Collected) -> None:
    if into.path.startswith(_WORKLOG):
        return
    for match in _LINK.finditer(text):
        before_address = match.end() < len(text) or (behind is not None and behind.info == "auto")
        if not match["space"] or before_address:
            address = _SPACED.match(text, match.end()) if match["open"] else None
            is_image = text[: match.start()].endswith("!")
            what = "image" if is_image else "link"
            hint = _hint_of_spaces(match["words"], address[1], is_image) if address else _hint(match)
            _warn(block, match[0], match[0], f"this {what} is read as text", hint, into)


def _hint_of_spaces(words: str, address: str, is_image: bool) -> str:
    sign = "!" if is_image else ""
    return f"an address with a space stands in angle brackets: write `{sign}[{words}](<{address}>)`, or rename the file"


def _hint(match: re.Match[str]) -> str:
    words = match["words"]
    if match["label"]:
        return f"add a line `{match['label']}: https://…`, or write `[{words}](https://…)`"
    if match["space"]:
        return f"write `[{words}](https://…)`, without a space between `]` and `(`"
    return f"write `[{words}](…)`: the address has no space in it and ends with `)`"


def _warn_of_roles(text: str, behind: Token | None, role: re.Pattern[str], block: Token, into: Collected) -> None:
    for match in role.finditer(text):
        at_end = match.end() == len(text)
        is_code = behind is not None and behind.type == "code_inline"
        if not at_end or is_code or match[0][-1].isalnum():
            name, written = match["name"], match[0] + "`" * (at_end and is_code)
            hint = f"write {name}`…`: its text stands in backquotes, without a space before them"
            _warn(block, name, written, f"the role `{name}` is read as text", hint, into)


def _warn(block: Token, marked: str, written: str, message: str, hint: str, into: Collected) -> None:
    """Warn of what is written so in the lines of a block; behind a backslash it is meant as text."""
    first, last = block.map or (0, 0)
    for number in range(first, min(last, len(into.lines))):
        col = into.lines[number].find(written)
        if col >= 0 and into.lines[number][col - 1 : col] != "\\":
            into.warning("SG144", message, into.span(number, col, len(marked)), hint)
            return
