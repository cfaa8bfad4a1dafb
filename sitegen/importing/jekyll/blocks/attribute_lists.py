"""`{: #id .class}` on a line of its own → the id and the classes of the block that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sitegen.importing.jekyll.attributes import Attributes, attribute_list, read_attributes, report_left_out
from sitegen.importing.jekyll.blocks.listings import name_language
from sitegen.importing.jekyll.blocks.patterns import ATTRIBUTES
from sitegen.importing.jekyll.blocks.reader import BlockReader
from sitegen.markup.directives.callouts import KINDS

_NAMED_LIST = re.compile(r"[ ]{0,3}\{:([\w-]+):([^{}\n]*)\}[ \t]*")
_CALLOUT = re.compile(rf"(?:block|prompt|notice|alert|callout)?-{{0,2}}({'|'.join(KINDS)}|info)", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_ID = re.compile(r" \{#[^{}]*\}$")


def read_attribute_list(reader: BlockReader) -> bool:
    """Read a list of attributes, which belongs to the block above it, else to the one below, or the name of one."""
    if match := _NAMED_LIST.fullmatch(reader.line):
        reader.conversion.lists[match[1]] = match[2]
    elif match := ATTRIBUTES.fullmatch(reader.line):
        attributes = read_attributes(match["list"], reader.conversion)
        report_left_out(attributes, reader.conversion, reader.number, reader.line)
        _apply(reader, attributes)
    else:
        return False
    reader.at += 1
    return True


def _apply(reader: BlockReader, attributes: Attributes) -> None:
    """Change the last block as the attributes say, or write those that a text may have."""
    kept = attribute_list(attributes)
    if "toc" in attributes.others and reader.kind == "paragraph":
        del reader.out[reader.start :]  # kramdown puts the contents in the place of this list; here they stand beside
    elif reader.kind == "listing" and (style := _language_class(attributes)):
        name_language(reader, style.removeprefix("language-"))
    elif reader.kind == "quote" and (callout := _callout_of(attributes.classes)):
        reader.out[reader.start :] = _alert(reader.out[reader.start :], callout)
    elif reader.kind == "heading" and attributes.id:
        reader.out[reader.start] = _ID.sub("", reader.out[reader.start]) + f" {{#{attributes.id}}}"
    elif kept and reader.kind not in ("heading", "html", "listing"):
        indent = reader.line[: len(reader.line) - len(reader.line.lstrip())]
        reader.out.insert(reader.start if reader.kind else len(reader.out), indent + kept)


def _language_class(attributes: Attributes) -> str:
    return next((name for name in attributes.classes if name.startswith("language-")), "")


def _callout_of(classes: Sequence[str]) -> str:
    """Return the kind of callout that one of the classes names; empty where none does."""
    match = next(filter(None, map(_CALLOUT.fullmatch, classes)), None)
    return "" if match is None else {"info": "note"}.get(match[1].lower(), match[1].lower())


def _alert(quote: Sequence[str], kind: str) -> list[str]:
    """Return the quote as a callout; a heading that begins the quote becomes its title, unless it says the kind."""
    lines = list(quote)
    heading = _HEADING.fullmatch(_ID.sub("", lines[0].removeprefix("> ")))
    title = ""
    if heading:
        title = "" if heading[1].strip().lower() == kind else heading[1].strip()
        lines = lines[1:]
        while lines and lines[0].strip() == ">":
            lines = lines[1:]
    return [f"> [!{kind.upper()}] {title}".rstrip(), *lines]
