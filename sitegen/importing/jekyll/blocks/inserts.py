"""Turn a piece of Liquid or an extension of kramdown on a line of its own into its block in MyST."""

from __future__ import annotations

from sitegen.importing.jekyll.blocks.patterns import EXTENSION
from sitegen.importing.jekyll.blocks.reader import BlockReader
from sitegen.importing.jekyll.inserts import code_span


def read_extension(reader: BlockReader) -> bool:
    """Read `{::comment}`, `{::nomarkdown}` or `{::options /}`."""
    match = EXTENSION.fullmatch(reader.line)
    if match is None or not reader.line.lstrip().startswith(("{::", "{:/")):
        return False
    end = reader.closing_line(reader.at + 1, rf"^[ ]{{0,3}}\{{:/(?:{match[2]})?\}}[ \t]*$")
    if match[2] == "comment" and end is not None:
        return reader.put("html", ["<!--", *reader.lines[reader.at + 1 : end], "-->"], end + 1)
    if match[2] == "nomarkdown" or match[1]:
        reader.at += 1
        return True
    source = reader.line.strip()
    reader.warn("SG605", f"`{source}` is not understood", reader.line, "it stays in the text as it is")
    return reader.put("paragraph", [code_span(source)], reader.at + 1)


def read_insert(reader: BlockReader) -> bool:
    """Read a line that is nothing but a piece of Liquid."""
    block = reader.conversion.inserts.block(reader.line)
    if block is None:
        return False
    many = "\n" in block or block.startswith("<")
    if many and not reader.after_blank and reader.column is None:
        reader.gap()
    reader.put("insert", block.split("\n"), reader.at + 1)
    if many and reader.at < len(reader.lines) and reader.line.strip() and block.startswith("<"):
        reader.out.append("")
    return True
