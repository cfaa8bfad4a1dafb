"""Turn the HTML of this site's pages into Markdown with the same content: headings, lists, tables, code, links.

Programs read this Markdown.  A drawing becomes its label, because the table beside a chart has its numbers.  Tables are
those of the theme: a header of one row, and no cell over several rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from itertools import count, repeat
from string import ascii_uppercase
from urllib.parse import urljoin

from sitegen.model.markdown_text import as_words, code_span
from sitegen.render.outputs.formula_text import FormulaText

_HIDDEN = frozenset({"svg", "script", "style", "head", "button", "template"})
_VOID = frozenset({"br", "img", "hr", "meta", "link", "input", "col", "wbr"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "header", "footer", "figure", "figcaption", "details", "summary", "dl"}
    | {"nav", "aside", "main", "caption", "blockquote", "ol", "ul"}
)
_CODE = frozenset({"code", "samp", "kbd"})
_UNSEEN = frozenset({"vh", "mk", "legend"})
"""The classes of elements that a reader does not see (`vh`), of the numbers of notes in code (`mk`), and of a drawing's
legend.
"""
_MARKS = {"b": "**", "strong": "**", "em": "*", "i": "*", "del": "~~"}
_SPACE = re.compile(r"[ \t\r\n]+")


def to_markdown(html: str, url: str) -> str:
    """Return HTML as Markdown that ends with a newline.  `url` is the absolute URL of the page, to which links are
    joined.
    """
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    reader.end_block()
    return "\n\n".join(filter(None, reader.blocks)) + "\n"


def _marks(tag: str, kind: str) -> Iterator[str]:
    """Return the marks of the entries of a list: numbers, letters for a list of type `A`, or bullets."""
    if tag == "ul":
        return repeat("- ")
    return (f"{letter}. " for letter in ascii_uppercase) if kind == "A" else (f"{number}. " for number in count(1))


def _language(given: Mapping[str, str]) -> str:
    """Return the language that the class of an element names, `cuda` of `language-cuda`; else empty."""
    before, _, language = given.get("class", "").partition("language-")
    return "" if before else language


class _Reader(HTMLParser):
    """A parser that gathers inline text until a block ends."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._url = url
        self._text: list[str] = []
        self._codes: list[int] = []
        """The number of pieces of text before each open element of code."""
        self._hidden: list[str] = []
        self._links: list[str] = []
        self._lists: list[Iterator[str]] = []
        """The marks of the entries that follow in each open list."""
        self._prefix = ""
        self._pre: list[str] | None = None
        self._language = ""
        """The language of the code in the open `pre`; `text` where it names none."""
        self._rows: list[list[str]] | None = None
        self._cells: list[str] | None = None
        self._width = 1
        self._after_span = False
        self._formula: FormulaText | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "span" and self._after_span:
            self._text.append(" · ")  # the style sheet separates facts on one line
        self._after_span = False
        if self._hidden or tag in _HIDDEN or given.get("class") in _UNSEEN:
            self._hide(tag, given)
        elif tag in _VOID:
            self._void(tag, given)
        elif tag == "math":
            self._formula = FormulaText()
        elif self._formula:
            self._formula.start()
        elif tag == "pre":
            self.end_block()
            self._pre, self._language = [], "text"
        elif self._pre is not None:
            self._language = _language(given) or self._language
        elif tag == "table":
            self.end_block()
            self._rows = []
        elif tag == "tr" and self._rows is not None:
            self._cells = []
        elif tag in ("td", "th") and self._cells is not None:
            self._text, self._width = [], int(given.get("colspan") or 1)
        else:
            self._inline_or_block(tag, given)

    def _inline_or_block(self, tag: str, given: dict[str, str]) -> None:
        if tag == "a":
            self._links.append(urljoin(self._url, given["href"]) if given.get("href") else "")
            self._text.append("[" if self._links[-1] else "")
        elif tag in _MARKS:
            self._text.append(_MARKS[tag])
        elif tag in _CODE:
            self._codes.append(len(self._text))
        elif tag in ("ol", "ul"):
            self.end_block()
            self._lists.append(_marks(tag, given.get("type", "")))
        elif tag == "li":
            self.end_block()
            self._prefix = next(self._lists[-1]) if self._lists else "- "
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.end_block()
            self._prefix = "#" * int(tag[1]) + " "
        elif tag == "dt":
            self.end_block()
        elif tag == "dd":
            self._text.append(": " if self._text else "")
        elif tag in _BLOCKS and self._cells is None:
            self.end_block()
        elif tag in ("div", "p", "br"):
            self._text.append(" ")

    def _hide(self, tag: str, given: dict[str, str]) -> None:
        if not self._hidden and tag == "svg" and given.get("aria-label"):
            self._text.append(f"[{as_words(given['aria-label'])}]")
        if tag not in _VOID:
            self._hidden.append(tag)

    def _void(self, tag: str, given: dict[str, str]) -> None:
        if tag == "img":
            self._text.append(f"![{as_words(given.get('alt', ''))}]({urljoin(self._url, given.get('src', ''))})")
        elif tag == "br":
            self._text.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._hidden and tag in _VOID:
            self._void(tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            self._unhide(tag)
        elif self._formula:
            self._end_in_formula(self._formula, tag)
        elif tag == "pre" and self._pre is not None:
            code = "".join(self._pre).strip("\n")
            self._pre = None
            self.blocks.append(fenced(code, self._language))
        elif self._pre is not None:
            pass
        elif tag == "span":
            self._after_span = True
        elif tag == "a" and self._links:
            href = self._links.pop()
            self._text.append(f"]({href})" if href else "")
        elif tag in _MARKS:
            self._text.append(_MARKS[tag])
        elif tag in _CODE and self._codes:
            at = self._codes.pop()
            self._text[at:] = [code_span("".join(self._text[at:]))] if self._text[at:] else []
        elif tag in ("td", "th") and self._cells is not None:
            self._cells += [self._taken().replace("|", "\\|"), *[""] * (self._width - 1)]
        elif tag == "tr" and self._cells is not None and self._rows is not None:
            self._rows.append(self._cells)
            self._cells = None
        elif tag == "table" and self._rows is not None:
            self.blocks.append(table(self._rows))
            self._rows = None
        elif tag in ("ol", "ul") and self._lists:
            self.end_block()
            self._lists.pop()
        elif tag in _BLOCKS or tag in ("li", "dd") or (len(tag) == 2 and tag[0] == "h"):
            self.end_block()

    def _end_in_formula(self, formula: FormulaText, tag: str) -> None:
        if tag == "math":
            self._text.append(as_words(formula.text))
            self._formula = None
        else:
            formula.end(tag)

    def _unhide(self, tag: str) -> None:
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self._after_span = self._after_span and not data.strip()
        if self._hidden:
            if self._hidden[0] == "svg" and self._hidden[1:] in (["title"], ["desc"]):
                self._text.append(f"[{as_words(data)}] ")
        elif self._formula:
            self._formula.add(data)
        elif self._pre is not None:
            self._pre.append(data)
        elif self._codes:
            self._text.append(data)
        else:
            self._text.append(as_words(data, self._text[-1] if self._text else ""))

    def end_block(self) -> None:
        """Add the gathered text as a paragraph, a heading or a line of a list.  In a cell the text waits for the end of
        the cell.
        """
        if self._cells is not None:
            return
        if text := self._taken():
            self.blocks.append(self._prefix + text)
            self._prefix = ""

    def _taken(self) -> str:
        text = _SPACE.sub(" ", "".join(self._text)).strip()
        self._text, self._codes = [], []
        return text


def table(rows: list[list[str]]) -> str:
    """Return a table whose first row is the header.  Columns without text, such as bars, are left out."""
    width = max(map(len, rows), default=0)
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [at for at in range(width) if any(row[at] for row in full)]
    lines = ["| " + " | ".join(row[at] for at in kept) + " |" for row in full if any(row)]
    return "\n".join([*lines[:1], "|" + " --- |" * len(kept), *lines[1:]]) if kept else ""


def fenced(code: str, language: str) -> str:
    """Return code in a fence that is longer than any fence in the code."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"
