"""Turn an element of HTML that begins a line into HTML that a text may hold, with the Markdown in it converted."""

from __future__ import annotations

import re

from sitegen.importing.jekyll.blocks.html_texts import html_texts
from sitegen.importing.jekyll.blocks.reader import BlockReader, dedented
from sitegen.importing.jekyll.html import SPANS, TAG, block_html, element_end, is_refused, show_refused, tag_html
from sitegen.importing.jekyll.inserts import fenced

_HAS_MARKDOWN = re.compile(r"<[^<>]+\bmarkdown=(?![\"']?0)")
_SUMMARY = re.compile(r"\s*(<summary\b[^>]*>.*?</summary>)", re.DOTALL)
_ITEM = re.compile(r"[ ]{0,3}(?:[-*+]|\d{1,9}[.)])[ ]+(?=<[A-Za-z])")
_BLANK_LINE = re.compile(r"\n[ \t]*\n|\Z")


def read_html(reader: BlockReader) -> bool:
    """Read a comment or an element; the text in it is no Markdown unless an attribute says so."""
    text = reader.line.lstrip(" ")
    if len(reader.line) - len(text) > 3 or not text.startswith("<"):
        return False
    if text.startswith("<!--"):
        return _read_comment(reader)
    tag = TAG.match(reader.text, reader.offset + len(reader.line) - len(text))
    if tag is None or tag[2].lower() in SPANS:
        return False
    return _read_element(reader, tag)


def read_item_of_html(reader: BlockReader) -> bool:
    """Read an item of a list that is an element with Markdown in it, such as `- <details markdown="1">`."""
    item = _ITEM.match(reader.line)
    tag = TAG.match(reader.text, reader.offset + item.end()) if item else None
    if not item or not tag or not tag[2] or tag[2].lower() in SPANS or not _HAS_MARKDOWN.match(tag[0]):
        return False
    end = element_end(reader.text, tag.start())
    if end is None or reader.text[end : end + 1] not in ("", "\n") or not reader.may_nest():
        return False
    lines = reader.text[tag.start() : end].split("\n")
    upto, column = reader.at + len(lines), item.end()
    inside = [lines[0], *dedented(lines[1:]).split("\n")] if lines[1:] else lines
    first, *others = reader.nested(inside, reader.numbers[reader.at : upto])
    reader.gap()
    indented = [f"{' ' * column}{line}" if line else "" for line in others]
    return reader.put("html", [item[0] + first, *indented, ""], upto)


def _read_comment(reader: BlockReader) -> bool:
    end = reader.closing_line(reader.at, "-->")
    return end is not None and reader.put("html", reader.verbatim(reader.at, end + 1), end + 1)


def _read_element(reader: BlockReader, tag: re.Match[str]) -> bool:
    """Read the element that `tag` begins; text behind its end is a paragraph."""
    text = reader.text
    end = element_end(text, tag.start())
    if end is None:  # nothing closes it: the block ends at a blank line
        blank = _BLANK_LINE.search(text, reader.offset)
        assert blank is not None
        end = blank.start()
    upto = reader.at + text.count("\n", reader.offset, end) + 1
    after = text[end : reader.offsets[upto] - 1].strip()
    before = [] if reader.after_blank else [""]
    lines = _element(reader, text[tag.start() : end], tag)
    paragraph = ["", reader.inline(after, upto - 1)] if after else []
    ends = upto >= len(reader.lines) or not reader.lines[upto].strip()
    return reader.put("html", [*before, *lines, *paragraph, *([] if ends or not (lines or paragraph) else [""])], upto)


def _element(reader: BlockReader, source: str, tag: re.Match[str]) -> list[str]:
    name = tag[2].lower()
    if is_refused(name) and not tag[1]:
        html = show_refused(source, name, reader.number, reader.conversion)
        if not html or html.startswith("<a "):
            return [html] if html else []
        return fenced(reader.conversion.inserts.verbatim(source), "html").split("\n")
    if "markdown=" in source and _HAS_MARKDOWN.search(source) and reader.may_nest():
        return _with_markdown(reader, source, tag)
    with_pieces = html_texts(reader, source)
    if with_pieces is not None:
        return with_pieces
    reader.conversion.numbers = reader.numbers[reader.at : reader.at + source.count("\n") + 1]
    html = block_html(source, reader.number, reader.conversion)
    reader.conversion.numbers = ()
    return html.split("\n")


def _with_markdown(reader: BlockReader, source: str, tag: re.Match[str]) -> list[str]:
    """Return the tags on lines of their own, with blank lines around the Markdown between them."""
    closing = re.search(rf"</{tag[2]}\s*>\s*$", source, re.IGNORECASE)
    body = source[len(tag[0]) : closing.start() if closing else len(source)]
    first = reader.at + tag[0].count("\n")
    lines = [tag_html(tag, reader.number, reader.conversion)]
    if summary := _SUMMARY.match(body):
        lines.append(block_html(summary[1], reader.number, reader.conversion))
        first += body.count("\n", 0, summary.end())
        body = body[summary.end() :]
    inside = dedented(body.split("\n")).split("\n")
    inner = reader.nested(inside, reader.numbers[first : first + len(inside)] or reader.numbers[-1:])
    closing_tag = TAG.match(closing[0].strip()) if closing else None
    end = [tag_html(closing_tag, reader.number, reader.conversion)] if closing_tag else []
    return [*lines, "", *inner, "", *end]
