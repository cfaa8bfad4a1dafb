"""Turn blank lines, quotes, headings, tables and paragraphs of kramdown into the same in MyST."""

from __future__ import annotations

import re

from sitegen.importing.jekyll.attributes import attribute_list, read_attributes, report_left_out
from sitegen.importing.jekyll.blocks.patterns import ATTRIBUTES, ENVIRONMENT, EXTENSION, FENCE, FORMULA
from sitegen.importing.jekyll.blocks.reader import BlockReader
from sitegen.importing.jekyll.definitions import is_comment
from sitegen.importing.jekyll.destinations import SiteSection
from sitegen.importing.jekyll.html import SPANS, TAG
from sitegen.importing.jekyll.inline import definition, is_definition
from sitegen.importing.jekyll.inserts import MARK
from sitegen.importing.jekyll.tables import github_table, is_table

NOTE = re.compile(r"[ ]{0,3}\[\^([^\]\s]+)\]:")
_LIST_ITEM = re.compile(r"([ \t]*)([-*+]|\d+[.)])([ \t]+)\S")
_LIST_ATTRIBUTES = re.compile(r"([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\{:([^{}\n]*)\}[ \t]*")
_QUOTE = re.compile(r"^[ ]{0,3}>[ ]?")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)$")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*")
_CLOSING_MARKS = re.compile(r"(?<![ \t])[ \t]++#++(?=[ \t]*+(?:\{#[^{}]*\})?$)")
_OWN_ID = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*#([\w:.-]+)[^{}]*\}$")
_LONE_TAG = re.compile(r"\A(?:[ ]{0,3}</?[A-Za-z][^<>\n]*>[ \t]*\n(?=[ \t]*\S))+")
"""Tags on lines of their own, below which Markdown would read the text as HTML."""
_ABBREVIATION = re.compile(r"[ ]{0,3}\*\[[^\]]+\]:")


def read_blank(reader: BlockReader) -> bool:
    """Read a blank line or `^`, which ends a block; text at the margin below it ends a list."""
    if reader.line.strip() and reader.line.strip() != "^":
        return False
    reader.kind = ""
    at = reader.closing_line(reader.at, r"\S")
    following = reader.lines[at] if at is not None else ""
    if following and not following.startswith((" ", "\t")) and not _LIST_ITEM.match(following):
        reader.column = None
    reader.gap()
    reader.at += 1
    return True


def read_line_of_comment(reader: BlockReader) -> bool:
    """Read a line such as `[//]: # words`, which no page shows, and write nothing."""
    if not is_comment(reader.line.lstrip()):
        return False
    reader.at += 1
    return True


def read_quote(reader: BlockReader) -> bool:
    """Read lines that begin with `>` and those right below them; they are converted as a text of their own."""
    if not _QUOTE.match(reader.line):
        return False
    end = reader.end_of_text()
    if not reader.may_nest():
        words = [line.lstrip("> ") for line in reader.lines[reader.at : end]]
        return reader.put("paragraph", reader.inline("\n".join(words)).split("\n"), end)
    inside = [_QUOTE.sub("", line, count=1) for line in reader.lines[reader.at : end]]
    inner = reader.nested(inside, reader.numbers[reader.at : end])
    return reader.put("quote", [f"> {line}".rstrip() for line in inner], end)


def read_heading(reader: BlockReader) -> bool:
    """Read a heading, and write the id that it had where its text alone would give it another one."""
    if match := _HEADING.fullmatch(reader.line):
        return _put_heading(reader, match[1], _CLOSING_MARKS.sub("", match[2].rstrip(" \t")), 1)
    if not reader.after_blank or reader.at + 1 >= len(reader.lines):
        return False
    underline = _UNDERLINE.fullmatch(reader.lines[reader.at + 1])
    if underline is None or not reader.line.strip() or _LIST_ITEM.match(reader.line) or "|" in reader.line:
        return False
    return _put_heading(reader, "#" if underline[0].startswith("=") else "##", reader.line.strip(), 2)


def _put_heading(reader: BlockReader, marks: str, text: str, count: int) -> bool:
    """Write the heading of `count` lines with its id."""
    own = _OWN_ID.search(text)
    plain = text[: own.start()] if own else text
    converted = reader.inline(plain)
    # A heading of a worklog may be a day, and is nothing but its date then.
    in_worklog = reader.conversion.destination.section is SiteSection.WORKLOG
    kept = "" if in_worklog else reader.headings.id_to_write(plain, converted)
    name = own[1] if own else kept
    reader.column = None
    suffix = f" {{#{name}}}" if name else ""
    return reader.put("heading", [f"{marks} {converted}{suffix}"], reader.at + count)


def read_table(reader: BlockReader) -> bool:
    """Read a table, which stands between blank lines."""
    if not reader.after_blank or reader.line.startswith(("    ", "\t")):
        return False
    end = reader.end_of_text()
    if not is_table(reader.lines[reader.at : end]):
        return False
    rows = github_table(reader.lines[reader.at : end])
    return reader.put("table", [reader.inline(row) for row in rows], end)


def read_paragraph(reader: BlockReader) -> bool:
    """Read the lines up to a blank one, or to one that begins another block."""
    if item := _LIST_ITEM.match(reader.line):
        reader.column = len(item[0].expandtabs(4)) - 1
    elif NOTE.match(reader.line):
        reader.column = 4
    if (defined := definition(reader.line, reader.number, reader.conversion)) is not None:
        if reader.kind == "insert":  # right below code, Markdown would read the definition as text
            reader.gap()
        return reader.put("paragraph", [defined], reader.at + 1)
    if _ABBREVIATION.match(reader.line):
        reader.warn("SG605", "abbreviations are not known here", reader.line, "the line stays in the text as it is")
        return reader.put("paragraph", [f"\\{reader.line.lstrip()}"], reader.at + 1)
    end = reader.first_line(reader.at + 1, _begins_block)
    end = len(reader.lines) if end is None else end
    text = "\n".join(_without_item_attributes(reader, at) for at in range(reader.at, end))
    converted = _LONE_TAG.sub(lambda tags: " ".join(tags[0].split("\n")), reader.inline(text))
    if converted.startswith(":::"):
        converted = f"\\{converted}"
    return reader.put("paragraph", converted.split("\n"), end)


def _without_item_attributes(reader: BlockReader, at: int) -> str:
    """Return the line without the attributes behind the marker of a list item; what cannot be kept is reported."""
    line = reader.lines[at]
    match = _LIST_ATTRIBUTES.match(line)
    if match is None:
        return line
    attributes = read_attributes(match[2], reader.conversion)
    report_left_out(attributes, reader.conversion, reader.numbers[at], line)
    if kept := attribute_list(attributes):
        hint = "a list item has no attributes here"
        reader.conversion.warn("SG605", f"`{kept}` is left out", match[2].strip(), reader.numbers[at], hint)
    return match[1] + line[match.end() :]


def _begins_block(line: str) -> bool:
    """Return whether a line below a paragraph ends the paragraph."""
    if not line.strip() or line.strip() == "^" or ATTRIBUTES.fullmatch(line) or FENCE.match(line):
        return True
    if _QUOTE.match(line) or _HEADING.fullmatch(line) or MARK.fullmatch(line.strip()):
        return True
    if FORMULA.match(line) and line.strip() == "$$":
        return True
    if _LIST_ITEM.match(line) or ENVIRONMENT.match(line) or EXTENSION.fullmatch(line) or is_definition(line):
        return True
    if is_comment(line):
        return True
    tag = TAG.match(line.lstrip(" "))
    return tag is not None and tag[2].lower() not in SPANS and len(line) - len(line.lstrip(" ")) < 4
