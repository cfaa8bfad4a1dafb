"""Turn the texts of an HTML element that hold formulas or citations into Markdown: HTML source in, lines of MyST out.

MathJax and distill read formulas and `<d-cite>` in any HTML.  Here only Markdown has them, so such a text becomes a
paragraph of its own, with blank lines around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape, unescape

from sitegen.importing.jekyll.blocks.reader import BlockReader
from sitegen.importing.jekyll.formulas import formula_id
from sitegen.importing.jekyll.html import SPANS, TAG, block_html
from sitegen.importing.jekyll.inline import Ended
from sitegen.markup.rawhtml import VOID

_OPEN, _CLOSE, _BREAK = "\ue000", "\ue001", "\ue002"
"""The signs around the number of a piece that is held, and the sign between two paragraphs."""
_HELD = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_LONGEST = "{0,8000}?"
_PIECE = (
    r"(?P<pre><pre\b.*?</pre>)|(?P<code><code\b.*?</code>)|(?P<remark><!--.*?-->)|(?P<void><d-cite\b[^<>]*/>)"
    rf"|(?P<distill><(?P<d>d-cite|d-footnote|d-math)\b[^<>]*>.{_LONGEST}</(?P=d)\s*>)"
    rf"|\$\$(?P<dollars>.{_LONGEST})\$\$|\\\[(?P<square>.{_LONGEST})\\\]|\\\((?P<round>.{_LONGEST})\\\)"
    rf"|(?P<environment>\\begin\{{(?P<name>(?:equation|align|gather)\*?)\}}.{_LONGEST}\\end\{{(?P=name)\}})"
    r"|(?P<reference>\\(?:eq)?ref\{[^{}]+\})"
    r"|(?<![\\$\w])\$(?P<single>(?![\s\d$])(?:\\.|[^$\\<\n]|<(?![A-Za-z/!])|\n(?!\s*\n))+?(?<![\s\\])"
    r"|(?=[^$<\n]*[\\_^])(?:\\.|[^$\\<\n])+?)\$(?![\d$])"
    rf"|{TAG.pattern}"
)
_CLOSED = {
    "(?P<pre>": ("<pre", "</pre>"),
    "(?P<code>": ("<code", "</code>"),
    "(?P<remark>": ("<!--", "-->"),
    "(?P<distill>": ("<d-", "</d-"),
    r"\$\$(?P<dollars>": ("$$", "$$"),
    r"\\\[(?P<square>": ("\\[", "\\]"),
    r"\\\((?P<round>": ("\\(", "\\)"),
    "(?P<environment>": ("\\begin{", "\\end{"),
}
"""The constructs of `_PIECE` that may be long, by the start of their pattern: how they begin and end."""
_DEEPEST = 50
"""Most elements within the one that an end tag closes."""
_DISPLAYED = ("dollars", "square", "environment")
_SIGNS = re.compile(r"[\\`*_\[\]{}$@~]")
_MARKER = re.compile(r"\A(\d*)([#>+.)-])")
_PARAGRAPH_TAG = re.compile(r"</?p\b[^<>]*>", re.IGNORECASE)
_WITHOUT_PARAGRAPHS = frozenset({"summary", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "caption", "legend", "pre"})


@dataclass(frozen=True, slots=True)
class _Piece:
    """A formula or a citation: its source, and its Markdown within a line and on lines of its own."""

    source: str
    inline: str
    displayed: str = ""


def html_texts(reader: BlockReader, source: str) -> list[str] | None:
    """Return the lines of an element whose formulas and citations are Markdown; None for one that has none."""
    pieces: list[_Piece] = []

    written, at, ended = list[str](), 0, Ended(source, _CLOSED)
    while match := _pattern(ended.without_end(at)).search(source, at):
        piece = _piece(reader, match)
        pieces.extend([piece] if piece else [])
        held = f"{_OPEN}{len(pieces) - 1}{_CLOSE}" if piece else match[0]
        written += [source[at : match.start()], held]
        at = match.end()
    if not pieces:
        return None
    html = _PARAGRAPH_TAG.sub(_BREAK, block_html("".join([*written, source[at:]]), reader.number, reader.conversion))
    text = "".join(_written(html, pieces))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n").split("\n")


@cache
def _pattern(without_end: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a piece, except those that begin and do not end: each would read all the rest."""
    pattern = _PIECE
    for start in without_end:
        pattern = pattern.replace(start, f"(?!){start}")
    return re.compile(pattern, re.DOTALL)


def _piece(reader: BlockReader, match: re.Match[str]) -> _Piece | None:
    """Return a formula, a citation or a reference; None for code, tags, and dollar signs that are money."""
    names = (*_DISPLAYED, "round", "single", "distill", "void", "reference")
    found = next((name for name in names if match[name]), "")
    if not found or (found == "single" and not reader.conversion.has_math):
        return None
    if found in ("distill", "void", "reference"):
        return _Piece(match[0], reader.inline(match[0]))
    tex = unescape(reader.conversion.inserts.verbatim(match[found]))
    return _Piece(match[0], reader.inline(f"$${tex}$$"), _displayed(reader, tex) if found in _DISPLAYED else "")


def _displayed(reader: BlockReader, tex: str) -> str:
    """Return a formula between lines of dollar signs; nothing for one that only defines macros."""
    if reader.conversion.formulas.only_defines(tex):
        return ""
    plain = re.sub(r"\\(?:begin|end)\{equation\*?\}", "", tex)
    complete, label = reader.conversion.formulas.displayed(plain)
    lines = [line.strip() for line in complete.split("\n") if line.strip()]
    return "\n".join(["$$", *lines, f"$$ ({formula_id(label)})" if label else "$$"])


def _written(html: str, pieces: Sequence[_Piece]) -> Iterator[str]:
    """Yield the tags of blocks as they are, and the texts between them."""
    around, at = [""], 0
    for tag in TAG.finditer(html):
        name = tag[2].lower()
        if name in SPANS:
            continue
        yield _text(html[at : tag.start()], around[-1], pieces)
        yield tag[0]
        at = tag.end()
        if tag[1]:
            _leave(around, name)
        elif not tag[1] and not tag[4] and name not in VOID:
            around.append(name)
    yield _text(html[at:], around[-1], pieces)


def _leave(around: list[str], name: str) -> None:
    """Leave the innermost element of this name, and those within it."""
    last = len(around) - 1
    for at in range(last, max(last - _DEEPEST, 0), -1):
        if around[at] == name:
            del around[at:]
            return


def _text(text: str, around: str, pieces: Sequence[_Piece]) -> str:
    """Return the text between two tags of blocks: as paragraphs where it has a piece, else as it is."""
    if around in _WITHOUT_PARAGRAPHS:
        plain = _HELD.sub(lambda held: escape(pieces[int(held[1])].source, quote=False), text)
        return plain.replace(_BREAK, " ")
    if _OPEN not in text and _BREAK not in text:
        return re.sub(r"\n[ \t]+", "\n", text)
    paragraphs = (one for part in text.split(_BREAK) for one in _paragraphs(part, pieces))
    return "\n\n" + "".join(f"{one}\n\n" for one in paragraphs)


def _paragraphs(part: str, pieces: Sequence[_Piece]) -> Iterator[str]:
    """Yield the paragraphs of a text; a displayed formula is one unless it stands within a mark such as `<b>`."""
    written, depth = list[str](), 0
    for number, stretch in enumerate(_HELD.split(part)):
        piece = pieces[int(stretch)] if number % 2 else None
        depth += 0 if piece else _opened(stretch)
        if piece and piece.displayed and depth == 0:
            yield from _begun("".join(written))
            yield piece.displayed
            written = []
        else:
            written.append(piece.inline if piece else _escaped(stretch))
    yield from _begun("".join(written))


def _begun(written: str) -> Iterator[str]:
    text = _MARKER.sub(r"\1\\\2", " ".join(written.split()))
    yield from [text] if text else []


def _opened(text: str) -> int:
    """Return how many more marks begin in a text than end in it."""
    tags = [tag for tag in TAG.finditer(text) if not tag[4] and tag[2].lower() not in VOID]
    return sum(-1 if tag[1] else 1 for tag in tags)


def _escaped(text: str) -> str:
    """Return the text of HTML as Markdown: its tags stay, and signs that Markdown reads have a backslash."""
    out, at = [], 0
    for tag in TAG.finditer(text):
        out += [_SIGNS.sub(r"\\\g<0>", text[at : tag.start()]), tag[0]]
        at = tag.end()
    return "".join([*out, _SIGNS.sub(r"\\\g<0>", text[at:])])
