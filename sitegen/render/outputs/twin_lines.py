"""Write the lines of an author's text as its Markdown twin has them: with whole addresses, and without roles.

What goes in: the lines, the Markdown of each directive by its first line, and the words that a line shows otherwise.
The module imports nothing that prints, because the twin of an edited post is made with it before the site is linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.document import FileSlot, ImageSlot, LinkSlot, Slot, TermSlot
from sitegen.model.site import Markdown
from sitegen.model.urls import kernel_url

FENCE = re.compile(r"([ \t>]*)(`{3,}|~{3,}|:{3,})")
_ROLE = re.compile(r"\{(\w[\w-]*)\}(`+)(.+?)(?<!`)\2(?!`)")
_DEFINITION = re.compile(r"(\s{0,3}\[[^\]^][^\]]*\]:\s*<?)([^\s>]+)(.*)")
_OTHER_WORDS = re.compile(r"(.+?)\s*<(.+)>", re.DOTALL)
_AS_CODE = ("kernel", "kbd")
_LINKED = ("kernel", "term")


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """A place in a line where the twin shows other words than the author wrote."""

    col: int
    written: str
    shown: str


def lines_of_twin(
    lines: Sequence[str], blocks: Mapping[int, str], words: Mapping[int, Sequence[ChangedWord]]
) -> Iterator[str]:
    """Yield the lines of a twin.  `blocks` is the Markdown of a directive by the line where it begins, and `words` are
    the changes of each line, the rightmost first.
    """
    defined = {word.written: word.shown for line in words.values() for word in line}
    code, at = "", 0
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        if at in blocks and fence:
            yield from (f"{fence[1]}{one}".rstrip() for one in blocks[at].split("\n"))
            at = end_of_fence(lines, at, fence)
        else:
            code = _open_fence(code, fence)
            yield line if code else line_of_twin(line, words.get(at, ()), defined)
        at += 1


def end_of_fence(lines: Sequence[str], at: int, opened: re.Match[str]) -> int:
    """Return the line that closes the fence which line `at` opens."""
    for number in range(at + 1, len(lines)):
        closing = FENCE.match(lines[number])
        if closing and closing[2].startswith(opened[2]) and not lines[number][closing.end() :].strip(" `~:"):
            return number
    return len(lines) - 1


def line_of_twin(line: str, words: Sequence[ChangedWord], defined: Mapping[str, str]) -> str:
    """Return one line; `defined` are the addresses of link definitions by what the author wrote."""
    if definition := _DEFINITION.fullmatch(line):
        return f"{definition[1]}{defined.get(definition[2], definition[2])}{definition[3]}"
    for word in words:
        if line.startswith(word.written, word.col) and not _in_role(line, word.col):
            line = line[: word.col] + word.shown + line[word.col + len(word.written) :]
    return _ROLE.sub(lambda role: _role_as_markdown(role, {word.written.lower(): word.shown for word in words}), line)


def changed_targets(slots: Sequence[Slot], first: int, shown: Sequence[str]) -> dict[int, list[ChangedWord]]:
    """Return the changes of links, images, files and terms, by line of a text that begins on line `first` of its file;
    `shown` is the whole address of each slot.
    """
    changes: dict[int, list[ChangedWord]] = {}
    for slot, address in zip(slots, shown, strict=True):
        if isinstance(slot, LinkSlot | ImageSlot | FileSlot | TermSlot):
            written = slot.name if isinstance(slot, TermSlot) else slot.target
            word = ChangedWord(slot.span.col - 1, written, address)
            changes.setdefault(slot.span.line - first, []).append(word)
    return changes


def in_order(changes: Mapping[int, Sequence[ChangedWord]]) -> dict[int, list[ChangedWord]]:
    """Return the changes of each line, the rightmost first."""
    return {line: sorted(words, key=lambda word: -word.col) for line, words in changes.items()}


def twin_of_plain_text(head: str, body: Markdown, slots: Sequence[Slot], shown: Sequence[str]) -> str:
    """Return the twin of a text of which all slots are links, images, files and terms; `head` stands above it."""
    changes = in_order(changed_targets(slots, body.first_line, shown))
    text = "\n".join(lines_of_twin(body.text.split("\n"), {}, changes)).strip("\n")
    return joined(head, text)


def joined(*parts: str) -> str:
    """Return the parts of a twin, with an empty line between them."""
    return "\n\n".join(filter(None, parts)) + "\n"


def _open_fence(code: str, fence: re.Match[str] | None) -> str:
    """Return the fence of the code that a line is in, given that of the line before; empty outside of code."""
    if not fence or fence[2].startswith(":"):
        return code
    if not code:
        return fence[2]
    return "" if fence[2].startswith(code) else code


def _in_role(line: str, col: int) -> bool:
    """Return whether the place is inside a role, whose words are its text and its target at once."""
    return any(role.start() < col < role.end() for role in _ROLE.finditer(line))


def _role_as_markdown(role: re.Match[str], links: Mapping[str, str]) -> str:
    """Return a role as Markdown.  `{kernel}` and `{term}` become links where there is such a page."""
    name, text = role[1], role[3].strip()
    other = _OTHER_WORDS.fullmatch(text) if name == "term" else None
    text, wanted = (other[1], other[2].lower()) if other else (text, text.lower())
    if name == "given":
        text = text.partition(";")[0].strip() or text
    if name == "kernel":
        wanted = f"/{kernel_url(text.split('/')[0])}"
    shown = f"`{text}`" if name in _AS_CODE else f"${text}$" if name == "math" else text
    return f"[{shown}]({links[wanted]})" if name in _LINKED and wanted in links else shown
