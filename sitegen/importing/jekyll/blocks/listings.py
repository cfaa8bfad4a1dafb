"""Turn a fence or indented lines into a listing."""

from __future__ import annotations

import re

from sitegen.highlight.lines import is_known
from sitegen.importing.jekyll.blocks.patterns import FENCE
from sitegen.importing.jekyll.blocks.reader import BlockReader, dedented
from sitegen.importing.jekyll.inserts import fenced
from sitegen.markup.drawn.diagram import KINDS


def read_fence(reader: BlockReader) -> bool:
    """Read a fence, indented or not; the lines between its marks stay as they are."""
    match = FENCE.match(reader.line)
    if match is None:
        return False
    marks = match["marks"]
    end = reader.closing_line(reader.at + 1, rf"^[ \t]*{marks[0]}{{{len(marks)},}}[ \t]*$")
    if end is None:
        return False
    language = _language(reader, reader.conversion.inserts.verbatim(match["info"]).strip())
    first = f"{match['lead']}{marks}{language}"
    return reader.put("listing", [first, *reader.verbatim(reader.at + 1, end), reader.lines[end]], end + 1)


def _language(reader: BlockReader, info: str) -> str:
    """Return the language alone: no listing of a Jekyll site is a directive, which `{word}` would be here."""
    language, _, rest = info.partition(" ")
    plain = language.strip("{}.") if language.startswith("{") else language.partition("?")[0].partition("{")[0]
    if rest.strip() or plain != language:
        reader.warn("SG605", f"`{info}` after a fence: only the language is known", info, f"it is `{plain}` now")
    known = is_known(plain.lower()) or _is_diagram(reader, plain)
    if not known:
        reader.warn("SG605", f"unknown language `{plain}`", plain, "the listing is shown as plain text")
    return plain if known else ""


def _is_diagram(reader: BlockReader, language: str) -> bool:
    """Tell whether a fence holds a diagram of Mermaid that is drawn here."""
    at = reader.closing_line(reader.at + 1, r"\S") if language.lower() == "mermaid" else None
    return at is not None and reader.verbatim(at, at + 1)[0].split()[0] in KINDS


def read_indented(reader: BlockReader) -> bool:
    """Read lines that are indented by four columns more than the text around them."""
    least = (reader.column or 0) + 4
    if not reader.after_blank or _indent(reader.line) < least:
        return False
    end = reader.first_line(reader.at, lambda line: line.strip() and _indent(line) < least)
    end = len(reader.lines) if end is None else end
    while not reader.lines[end - 1].strip():
        end -= 1
    return reader.put("listing", reader.verbatim(reader.at, end), end)


def _indent(line: str) -> int:
    """Return the indentation of a line in columns."""
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def name_language(reader: BlockReader, language: str) -> None:
    """Add the language to the last block, a listing; indented lines become a fence first."""
    if not reader.out[reader.start].lstrip().startswith(("```", "~~~")):
        reader.out[reader.start :] = fenced(dedented(reader.out[reader.start :])).split("\n")
    if is_known(language.lower()) and not re.search(r"[`~]\w", reader.out[reader.start]):
        reader.out[reader.start] += language
