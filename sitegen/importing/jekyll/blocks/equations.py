"""Turn a formula on lines of its own into a formula between lines of dollar signs."""

from __future__ import annotations

import re

from sitegen.importing.jekyll.blocks.patterns import ENVIRONMENT, FORMULA
from sitegen.importing.jekyll.blocks.reader import BlockReader
from sitegen.importing.jekyll.formulas import formula_id

_ESCAPED = re.compile(r"\\(\\\\|[*_])")
"""The escapes that kramdown reads in an environment, which is text to it: `\\*` is a star, four backslashes are two."""


def read_formula(reader: BlockReader) -> bool:
    """Read a formula whose two dollar signs begin a line and end one, which may be the same line."""
    match = FORMULA.match(reader.line)
    if match is None:
        return False
    text, start = reader.text, reader.offset + match.end()
    end = text.find("$$", start)
    if end < 0:
        return False
    count = text.count("\n", start, end) + 1
    if text[end + 2 : reader.offsets[reader.at + count] - 1].strip():
        return False
    if count == 1 and not (reader.after_blank and reader.ends_block(reader.at + 1)):
        return False
    if match[1].strip() and text[start:end].lstrip(" \t")[:1] != "\n":
        return False
    return reader.put("formula", _display(reader, text[start:end], match[1]), reader.at + count)


def read_environment(reader: BlockReader) -> bool:
    """Read `\\begin{equation}`, which MathJax looks for in the text and of which kramdown knows nothing."""
    match = ENVIRONMENT.match(reader.line)
    if match is None:
        return False
    closing = f"\\end{{{match[1]}{match[2]}}}"
    end = reader.closing_line(reader.at, re.escape(closing))
    if end is None or reader.lines[end].partition(closing)[2].strip():
        return False
    source = _ESCAPED.sub(r"\1", "\n".join(reader.lines[reader.at : end + 1]).strip())
    if match[1] == "equation":
        source = source.removeprefix(match[0].strip()).removesuffix(closing)
    return reader.put("formula", _display(reader, source, ""), end + 1)


def _display(reader: BlockReader, source: str, indent: str) -> list[str]:
    """Return the formula between lines of dollar signs; a `\\label` numbers the whole formula."""
    tex = reader.conversion.inserts.verbatim(source)
    if reader.conversion.formulas.only_defines(tex):
        return []
    tex, label = reader.conversion.formulas.displayed(tex)
    below = " " * len(indent) if indent.strip() else indent
    lines = [f"{below}{line.strip()}" for line in tex.strip("\n").split("\n") if line.strip()]
    name = f" ({formula_id(label)})" if label else ""
    before = [] if reader.after_blank else [""]
    after = [] if reader.ends_block(reader.at + source.count("\n") + 1) else [""]
    return [*before, f"{indent}$$", *lines, f"{below}$${name}", *after]
