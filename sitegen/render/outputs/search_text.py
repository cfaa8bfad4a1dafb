"""Take the words out of the HTML of a page: its title, and the text of each of its sections, for search.

The HTML is that of this program, so regular expressions are enough.  They take a few milliseconds for a page, and a
parser would be one more package to install.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from html import unescape


@dataclass(frozen=True, slots=True)
class Section:
    anchor: str
    """The `id` of its heading; empty for the text above the first heading."""
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class PageText:
    title: str
    sections: tuple[Section, ...]


def _opening(tags: str, classes: str, other: str = "") -> re.Pattern[str]:
    """Return the pattern of an opening tag of one of these names, with one of these classes, or with an attribute."""
    named = rf'class="(?:[^">]* )?(?:{classes})[ "]'
    attributes = rf"\s(?:{named}{'|' if other else ''}{other})"
    return re.compile(rf"<(?:({tags})\b|(\w+)\b(?=[^>]*?{attributes}))[^>]*>")


_WITHOUT_SENTENCES = _opening(
    "head|nav|svg|button|script|style|annotation",
    "skip|masthead|colophon|eyebrow|meta|plate|prov|turn|toc|figures|sources|no|mk|back|facts|numbers",
    'aria-labelledby="used"',
)
"""The parts of a page that surround its text, or would stand as a chain of words in what a reader sees of it."""
_INSIDE = (
    (
        _opening("(?!)", "data"),
        re.compile(r'<(?:(thead)\b|(td)\b(?![^>]*\sclass="(?:[^"]* )?l[ "])|(th)\b(?=[^>]*\sscope="row"))[^>]*>'),
    ),
    (_opening("(?!)", "ladder"), re.compile(r"<(figure)\b[^>]*>")),
    (_opening("(?!)", "claim"), re.compile(r"<(details)\b[^>]*>")),
)
"""Elements, and the parts within them that have no sentences.  Of a table of data, cells with words have the class `l`
and stay.
"""
_BLOCK = re.compile(
    r"<(?=/?(?:p|div|section|article|header|footer|main|aside|h[1-6]|[uod]l|li|d[td]|table|tr|t[dh]|pre|blockquote|figure"
    r"|figcaption|details|summary|br|hr|math)\b)"
)
"""The start of a tag that ends a word."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"<h1\b[^>]*>(.*?)</h1>", re.DOTALL)
_HEADING = re.compile(r'<h[2-6]\b[^>]*?\sid="([^"]*)"[^>]*>(.*?)</h[2-6]>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NEVER_CLOSED = frozenset(("area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"))


def page_text(html: str) -> PageText:
    """Return the words of a page."""
    html = _COMMENT.sub("", html)
    for around, part in _INSIDE:
        html = _mapped(html, around, partial(_without, part))
    html = _without(_WITHOUT_SENTENCES, html)
    title = _TITLE.search(html)
    html = _TITLE.sub(" ", html)
    return PageText(_words(title[1]) if title else "", tuple(_sections(html)))


def text_as_json(text: PageText) -> bytes:
    """Return the words of a page as the browser and the next build read them."""
    sections = [(one.anchor, one.heading, one.text) for one in text.sections]
    shown = {"title": text.title, "sections": sections}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


def text_from_json(data: bytes) -> PageText:
    """Return what `text_as_json` wrote."""
    shown = json.loads(data)
    return PageText(shown["title"], tuple(Section(*one) for one in shown["sections"]))


def _sections(html: str) -> Iterator[Section]:
    """Yield the text above the first heading with an address, if there is any, and each section below one."""
    above, *parts = _HEADING.split(html)
    if text := _words(above):
        yield Section("", "", text)
    for at in range(0, len(parts), 3):
        anchor, heading, text = parts[at : at + 3]
        yield Section(unescape(anchor), _words(heading), _words(text))


def _words(html: str) -> str:
    """Return the text of HTML on one line."""
    return " ".join(unescape(_TAG.sub("", _BLOCK.sub(" <", html))).split())


def _without(opening: re.Pattern[str], html: str) -> str:
    return _mapped(html, opening, lambda element: "")


def _mapped(html: str, opening: re.Pattern[str], change: Callable[[str], str]) -> str:
    """Return the HTML with each outermost element of a pattern changed.  An element that is never closed stays."""
    parts, at = list[str](), 0
    while found := opening.search(html, at):
        end = _end(html, next(filter(None, found.groups())), found.end())
        parts += html[at : found.start()], change(html[found.start() : end]) if end else found[0]
        at = end or found.end()
    return "".join((*parts, html[at:]))


def _end(html: str, name: str, at: int) -> int:
    """Return the place behind the element of which the opening tag ends at `at`; 0 when it is never closed."""
    depth = 0 if name in _NEVER_CLOSED else 1
    for tag in _tags(name).finditer(html, at) if depth else ():
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.end()
    return 0


@cache
def _tags(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}\b[^>]*>")
