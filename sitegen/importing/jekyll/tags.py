"""Liquid of one document → text with marks where a construct stands, and the line that each line came from.

Tags of Jekyll, of the al-folio theme and of jekyll-scholar are known; what is not known stays as it was written.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from sitegen.importing.jekyll.dates import in_zone
from sitegen.importing.jekyll.includes import included
from sitegen.importing.jekyll.inline import cite_key
from sitegen.importing.jekyll.inserts import Insert, fenced, kept
from sitegen.importing.jekyll.liquid import Token, block_end, text_filters, tokens, value_of
from sitegen.importing.jekyll.work import Work
from sitegen.model.urls import is_external

_POST = re.compile(r"/?(?:(.+)/)?(\d{2,4}-\d{1,2}-\d{1,2}-[^/]*)")
_HIGHLIGHT = re.compile(r"([\w.+#-]+)(.*)", re.DOTALL)
_MARKED = re.compile(r"mark_lines\s*=\s*\"([\d\s]+)\"")
_OPTION = re.compile(r"(?:^|\s)(--?[A-Za-z_]+)(?:\s+(\"[^\"]*\"|'[^']*'|[^\s-]\S*(?:\s*&\s*\S+)?))?")
_LABELS = {"chapter": "chap.", "page": "p.", "section": "sec.", "figure": "fig.", "verse": "verse", "line": "line"}
_TEMPLATE = frozenset({"for", "if", "unless", "case", "capture", "tablerow"})


@dataclass(slots=True)
class Lines:
    """Text that grows, and for each of its lines the line of the file that it came from."""

    parts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def add(self, text: str, line: int, *, made: bool = False) -> None:
        """`text` stands at `line` in the file; what was `made` there has that number on all its lines."""
        if not self.numbers:
            self.numbers.append(line)
        self.parts.append(text)
        self.numbers += [line if made else line + row for row in range(1, text.count("\n") + 1)]

    @property
    def text(self) -> str:
        return "".join(self.parts)


def without_liquid(text: str, first_line: int, work: Work) -> Lines:
    """`first_line` is that of the text in its file."""
    if work.source.text("render_with_liquid") == "false" or ("{%" not in text and "{{" not in text):
        lines = Lines()
        lines.add(text, first_line)
        return lines
    return _Liquid(work, text, first_line).run()


class _Liquid:
    def __init__(self, work: Work, text: str, first_line: int) -> None:
        self.work, self.text, self.first_line = work, text, first_line
        self.out = Lines()
        self.variables = _variables(work)
        self.filters: dict[str, Callable[..., str]] = text_filters() | {
            "relative_url": lambda path: _url(work.site.config.baseurl, path),
            "absolute_url": lambda path: _url(work.site.config.base_url.rstrip("/"), path),
            "date": lambda text, form: _shown_date(text, form),
        }

    def run(self) -> Lines:
        self.out.numbers.append(self.first_line)
        self.pieces(list(tokens(self.text)))
        return self.out

    def line(self, token: Token) -> int:
        return self.first_line + self.text.count("\n", 0, token.start)

    def pieces(self, pieces: Sequence[Token]) -> None:
        at = 0
        while at < len(pieces):
            at = self.piece(pieces, at)

    def piece(self, pieces: Sequence[Token], at: int) -> int:
        """Writes one piece, or a block of them; the index of the next."""
        token = pieces[at]
        if token.kind == "text":
            self.plain(pieces, at)
        elif token.kind == "raw":
            self.out.add(token.markup, self.line(token))
        elif token.kind == "comment":
            self.out.add(f"<!--{token.markup}-->" if "--" not in token.markup else "", self.line(token))
        elif token.kind == "output":
            value = value_of(token.markup, self.variables, self.filters)
            self.put(token, token.source, value)
        elif token.name in BLOCKS or token.name in _TEMPLATE:
            return self.block(pieces, at)
        else:
            known = TAGS.get(token.name)
            self.put(token, token.source, known(self, token) if known else None)
        return at + 1

    def plain(self, pieces: Sequence[Token], at: int) -> None:
        """Text, less the white space that a neighbour takes away."""
        token = pieces[at]
        text, line = token.source, self.line(token)
        if at and pieces[at - 1].trims[1]:
            line += (len(text) - len(text.lstrip())) and text[: len(text) - len(text.lstrip())].count("\n")
            text = text.lstrip()
        if at + 1 < len(pieces) and pieces[at + 1].trims[0]:
            text = text.rstrip()
        self.out.add(text, line)

    def block(self, pieces: Sequence[Token], at: int) -> int:
        token, end = pieces[at], block_end(pieces, at)
        if end is None:
            self.put(token, token.source, None)
            return at + 1
        source = self.text[token.start : pieces[end].start + len(pieces[end].source)]
        known = BLOCKS.get(token.name)
        self.put(token, source, known(self, token, pieces[at + 1 : end]) if known else None)
        return end + 1

    def put(self, token: Token, source: str, value: str | Insert | None) -> None:
        line = self.line(token)
        if value is None:
            hint = "it stays in the text as it is"
            self.work.warn("SG601", "this Liquid is not understood", token.source, line, hint)
            value = kept(source)
        self.out.add(value if isinstance(value, str) else self.work.inserts.mark(value), line, made=True)

    def inner(self, pieces: Sequence[Token]) -> str:
        """What a block holds, as text: tags in it that print text are replaced, all else is as it was."""
        shown = []
        for token in pieces:
            value = token.markup if token.kind == "raw" else None
            if token.kind == "output":
                value = value_of(token.markup, self.variables, self.filters)
            shown.append(token.source if value is None else value)
        return "".join(shown)

    def listing(self, token: Token, pieces: Sequence[Token]) -> str:
        """What a block holds, without the indentation that its tag has, and the empty lines around it."""
        before = self.text[self.text.rfind("\n", 0, token.start) + 1 : token.start]
        indent = len(before) if not before.strip() else 0
        lines = self.inner(pieces).split("\n")
        return "\n".join(line[indent:] if not line[:indent].strip() else line for line in lines).strip("\n")


def _variables(work: Work) -> dict[str, str]:
    config, source = work.site.config, work.source
    found = {f"site.{key}": config.text(key) for key, node in config.values.items() if node.text}
    found |= {"site.baseurl": config.baseurl, "site.url": config.text("url").rstrip("/")}
    found |= {f"page.{key}": source.text(key) for key in source.front if source.text(key)}
    found |= {"page.title": source.title, "page.url": source.url, "page.path": source.path}
    if source.date:
        found["page.date"] = in_zone(source.date, config.zone).isoformat()
    return found


def _url(before: str, path: str) -> str:
    """An address with a host stays; in another, spaces and letters outside of ASCII are percent-encoded."""
    return path if is_external(path) else quote(f"{before}/{path.lstrip('/')}", safe="/%:?#[]@!$&'()*+,;=~")


def _shown_date(text: str, form: str) -> str:
    return dt.datetime.fromisoformat(text).strftime(form)


def _assign(liquid: _Liquid, token: Token) -> str | None:
    name, _, expression = token.markup.partition("=")
    value = value_of(expression, liquid.variables, liquid.filters)
    if value is None:
        return None
    liquid.variables[name.strip()] = value
    return ""


def _post_url(liquid: _Liquid, token: Token) -> str | None:
    """The old address of a post, which the links around it are read with."""
    found = _POST.fullmatch(token.markup.strip("\"' "))
    if not found:
        return None
    folder, name = found[1] or "", found[2]
    for source in liquid.work.site.sources:
        stem = source.path.rpartition(".")[0]
        inside = stem.replace("_posts/", "", 1)
        if source.collection == "posts" and (inside == f"{folder}/{name}".lstrip("/") or stem.endswith(f"/{name}")):
            return liquid.work.site.config.baseurl + source.url
    return None


def _link(liquid: _Liquid, token: Token) -> str | None:
    site = liquid.work.site
    path = value_of(token.markup[2:-2], liquid.variables, liquid.filters) if "{{" in token.markup else token.markup
    path = (path or "").strip("\"' ").lstrip("/")
    if path in site.by_path:
        return site.config.baseurl + site.by_path[path].url
    return f"{site.config.baseurl}/{path}" if path in site.files else None


def _cite(liquid: _Liquid, token: Token) -> Insert | None:
    """`{% cite a b --locator 3 %}` → `[@a, p. 3; @b]`."""
    options = _OPTION.findall(token.markup)
    keys = _OPTION.sub(" ", token.markup).split()
    if not keys or any(name in ("--file", "-f") for name, _ in options):
        return None
    locators = [value.strip("\"'") for name, value in options if name in ("--locator", "-l")]
    labels = [value.strip("\"'") for name, value in options if name in ("--label", "-L")]
    sign = "-@" if any(name in ("--suppress_author", "-A") for name, _ in options) else "@"
    if not liquid.work.keys.issuperset(keys):
        return None
    liquid.work.cites = True
    parts = [f"{sign}{cite_key(key)}{_locator(at, locators, labels)}" for at, key in enumerate(keys)]
    shown = f"[{'; '.join(parts)}]"
    return Insert(shown, shown, escape(shown), token.source)


def _locator(at: int, locators: Sequence[str], labels: Sequence[str]) -> str:
    if at >= len(locators):
        return ""
    label = labels[at] if at < len(labels) else "page"
    return f", {_LABELS.get(label, label)} {locators[at]}"


def _bibliography(liquid: _Liquid, token: Token) -> str | None:
    """The list of what is cited stands at the end of every text that cites."""
    rest = {name for name, _ in _OPTION.findall(token.markup)}
    cites = liquid.work.cites or "{% cite" in liquid.text or "<d-cite" in liquid.text
    if not cites or not rest <= {"--cited", "-c", "--cited_in_order", "-C", "--prefix", "-p"}:
        return None
    liquid.work.lists_works = True
    return ""


def _gist(liquid: _Liquid, token: Token) -> Insert | None:
    return _address(f"https://gist.github.com/{token.markup.split()[0]}", token) if token.markup else None


def _youtube(liquid: _Liquid, token: Token) -> Insert | None:
    name = token.markup.strip("\"' ")
    return _address(name if "://" in name else f"https://www.youtube.com/watch?v={name}", token) if name else None


def _tweet(liquid: _Liquid, token: Token) -> Insert | None:
    words = token.markup.split()
    return _address(words[0], token) if words and words[0].startswith("https://") else None


def _address(url: str, token: Token) -> Insert:
    """What another host would have shown within the page is a link: a page loads nothing from elsewhere."""
    return Insert(f"<{url}>", f"<{url}>", f'<a href="{escape(url)}">{escape(url)}</a>', token.source)


def _include(liquid: _Liquid, token: Token) -> Insert | str | None:
    return included(liquid.work, token, liquid.variables, liquid.line(token))


def _highlight(liquid: _Liquid, token: Token, inside: Sequence[Token]) -> Insert | None:
    found = _HIGHLIGHT.fullmatch(token.markup)
    if not found:
        return None
    code = liquid.listing(token, inside)
    marked = _MARKED.search(found[2])
    lines = f" hl={','.join(marked[1].split())}" if marked else ""
    language = found[1].lower()
    return Insert(
        fenced(code, f"{language}{lines}"),
        fenced(code, language),
        f"<pre><code>{escape(code, quote=False)}</code></pre>",
        code,
    )


def _details(liquid: _Liquid, token: Token, inside: Sequence[Token]) -> str:
    """A box that opens; what it holds is Markdown."""
    title = escape(token.markup.strip("\"' "), quote=False) or "Details"
    start = liquid.out
    liquid.out = Lines([], [liquid.line(token)])
    liquid.pieces(inside)
    text, liquid.out = liquid.out.text, start
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{text.strip(chr(10))}\n\n</details>\n'


def _mermaid(liquid: _Liquid, token: Token, inside: Sequence[Token]) -> Insert:
    code = liquid.listing(token, inside)
    return Insert(fenced(code, "mermaid"), code, f"<pre><code>{escape(code, quote=False)}</code></pre>", code)


def _katex(liquid: _Liquid, token: Token, inside: Sequence[Token]) -> Insert:
    source = liquid.inner(inside).strip()
    if "display" in token.markup:
        return Insert(f"$$\n{source}\n$$", f"{{math}}`{source}`", escape(source), source)
    return Insert(f"{{math}}`{source}`", f"{{math}}`{source}`", escape(source), source)


TAGS: dict[str, Callable[[_Liquid, Token], str | Insert | None]] = {
    "assign": _assign,
    "bibliography": _bibliography,
    "cite": _cite,
    "gist": _gist,
    "include": _include,
    "include_relative": _include,
    "link": _link,
    "post_url": _post_url,
    "toc": lambda liquid, token: "",
    "twitter": _tweet,
    "youtube": _youtube,
}
BLOCKS: dict[str, Callable[[_Liquid, Token, Sequence[Token]], str | Insert | None]] = {
    "details": _details,
    "highlight": _highlight,
    "katex": _katex,
    "mermaid": _mermaid,
}
