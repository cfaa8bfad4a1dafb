"""Replace the Liquid of one document by marks, and keep the line of the file that each line came from.

Tags of Jekyll, of the al-folio theme and of jekyll-scholar are known; unknown Liquid stays as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any
from urllib.parse import quote

from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.data import page_variables, site_variables
from sitegen.importing.jekyll.definitions import UNKNOWN, split_definitions
from sitegen.importing.jekyll.filters import FILTERS, shown, size_of, unique, where
from sitegen.importing.jekyll.includes import convert_include, given_values, included_path, included_text
from sitegen.importing.jekyll.inline import cite_key
from sitegen.importing.jekyll.inserts import Insert, fenced, unknown_liquid
from sitegen.importing.jekyll.liquid import Token, block_ends, tokens
from sitegen.importing.jekyll.logic import DEEPEST, LOGIC, STEP_CHARACTERS, Block, Stop
from sitegen.importing.jekyll.not_understood import NotUnderstood
from sitegen.importing.jekyll.site import SharedInclude
from sitegen.importing.jekyll.values import COMPUTED, value_of
from sitegen.importing.jekyll.words import has_words
from sitegen.model.urls import is_external

_POST = re.compile(r"/?(?:(.+)/)?(\d{2,4}-\d{1,2}-\d{1,2}-[^/]*)")
_HIGHLIGHT = re.compile(r"([\w.+#-]+)(.*)", re.DOTALL)
_MARKED = re.compile(r"mark_lines\s*=\s*\"([\d\s]+)\"")
_OPTION = re.compile(r"(?:^|\s)(--?[A-Za-z_]+)(?:\s+(\"[^\"]*\"|'[^']*'|[^\s-]\S*(?:\s*&\s*\S+)?))?")
_LABELS = {"chapter": "chap.", "page": "p.", "section": "sec.", "figure": "fig.", "verse": "verse", "line": "line"}
DEEPEST_INCLUDE = 10
"""Most included files around an included file."""
_TEMPLATE = frozenset({"tablerow"})


@dataclass(slots=True)
class NumberedText:
    """A text that grows, with the line of the file that each of its lines came from."""

    parts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def add(self, text: str, line: int, *, made: bool = False) -> None:
        """Append a text that begins on `line` of the file; all lines of a replacement (`made`) came from that line."""
        if not self.numbers:
            self.numbers.append(line)
        self.parts.append(text)
        self.numbers += [line if made else line + row for row in range(1, text.count("\n") + 1)]

    @property
    def text(self) -> str:
        return "".join(self.parts)


def replace_liquid(text: str, first_line: int, conversion: Conversion) -> NumberedText:
    """Return the text with marks for its Liquid; it begins on `first_line` of its file."""
    if conversion.source.text("render_with_liquid") == "false" or ("{%" not in text and "{{" not in text):
        lines = NumberedText()
        lines.add(text, first_line)
        return lines
    return _Liquid(conversion, text, first_line).run()


class _Liquid:
    """The evaluation of one document's Liquid: its variables, its filters, and the text that was written so far."""

    def __init__(
        self, conversion: Conversion, text: str, first_line: int, variables: dict[str, Any] | None = None
    ) -> None:
        self.conversion, self.text, self.first_line = conversion, text, first_line
        self.line_feeds = [match.start() for match in re.finditer("\n", text)]
        self.out, self.depth, self.logic_depth = NumberedText(), 0, 0
        self.variables = _variables(conversion) if variables is None else variables
        self.included: tuple[str, ...] = ()
        self.filters: Mapping[str, Callable[..., Any]] = {
            **FILTERS,
            "relative_url": lambda path: _url(conversion.site.config.baseurl, path),
            "uniq": lambda value: unique(value, self.spend),
            "where": lambda value, *arguments: where(value, *arguments, spend=self.spend),
            "absolute_url": lambda path: _url(conversion.site.config.base_url.rstrip("/"), path),
        }

    def run(self) -> NumberedText:
        self.out.numbers.append(self.first_line)
        try:
            self.pieces(list(tokens(self.text)))
        except Stop as stop:  # of a loop around an included file, whose text so far would be lost
            raise NotUnderstood from stop
        return self.out

    def line(self, token: Token) -> int:
        return self.first_line + bisect_left(self.line_feeds, token.start)

    def pieces(self, pieces: Sequence[Token]) -> None:
        self.stretch(pieces, block_ends(pieces), 0, len(pieces))

    def stretch(self, pieces: Sequence[Token], ends: Mapping[int, int], start: int, stop: int) -> None:
        at = start
        while at < stop:
            at = self.piece(pieces, at, ends)

    def captured(self, pieces: Sequence[Token], ends: Mapping[int, int], start: int, stop: int) -> str:
        written, self.out = self.out, NumberedText([], [self.line(pieces[start])])
        try:
            self.stretch(pieces, ends, start, stop)
            return self.out.text
        finally:
            self.out = written

    def piece(self, pieces: Sequence[Token], at: int, ends: Mapping[int, int]) -> int:
        """Write one token, or a block of tokens, and return the index of the next."""
        token = pieces[at]
        if token.kind == "text":
            self.plain(pieces, at)
        elif token.kind == "raw":
            self.add(token.markup, self.line(token))
        elif token.kind == "comment":
            self.comment(token)
        elif token.kind == "output":
            self.put(token, token.source, "" if _has_baseurl_twice(pieces, at) else self.value(token.markup))
        elif token.name in LOGIC:
            return self.logic(pieces, at, ends)
        elif token.name in BLOCKS or token.name in _TEMPLATE:
            return self.block(pieces, at, ends.get(at))
        elif token.name in ("break", "continue") and self.logic_depth:
            raise Stop(ends_loop=token.name == "break")
        else:
            known = TAGS.get(token.name)
            self.put(token, token.source, known(self, token) if known else None)
        return at + 1

    def value(self, expression: str) -> str | None:
        """Return the text that an output prints; None where it is not known, or is `nil` outside of a block."""
        try:
            value = value_of(expression, self.variables, self.filters, self.spend)
            is_lost = (value is None or value == []) and not self.logic_depth and not expression.startswith("include.")
            self.spend(size_of(value))
            return None if is_lost or not self.has_room_for(value) else shown(value)
        except (NotUnderstood, RecursionError):
            return None

    def has_room_for(self, value: Any) -> bool:
        """Count a text that stands outside of logic, and tell whether the document has room for it."""
        is_counted = isinstance(value, str | list | tuple) and not self.logic_depth
        return not is_counted or self.conversion.included_so_far.takes(len(shown(value)))

    def comment(self, token: Token) -> None:
        if not self.logic_depth:
            self.add(f"<!--{token.markup}-->" if "--" not in token.markup else "", self.line(token))

    def add(self, text: str, line: int) -> None:
        """Write text of the file; within logic its lines count as the line of the block."""
        self.spend(len(text))
        self.out.add(text, line, made=bool(self.logic_depth))

    def spend(self, characters: int) -> None:
        if self.logic_depth and not self.conversion.included_so_far.takes(characters):
            raise NotUnderstood

    def plain(self, pieces: Sequence[Token], at: int) -> None:
        """Write text without the white space that a neighbouring token removes."""
        token = pieces[at]
        text, line = token.source, self.line(token)
        if at and pieces[at - 1].trims[1]:
            line += (len(text) - len(text.lstrip())) and text[: len(text) - len(text.lstrip())].count("\n")
            text = text.lstrip()
        if at + 1 < len(pieces) and pieces[at + 1].trims[0]:
            text = text.rstrip()
        self.add(text, line)

    def logic(self, pieces: Sequence[Token], at: int, ends: Mapping[int, int]) -> int:
        """Write what a block of logic makes; a block that is not understood as a whole stays as it is."""
        token, end = pieces[at], ends.get(at)
        if end is None or self.logic_depth >= DEEPEST:
            return self.block(pieces, at, None)
        if self.logic_depth:
            self.spend(STEP_CHARACTERS)
            self.within_logic(token.name, (pieces, ends, at, end))
            return end + 1
        conversion, variables = self.conversion, dict(self.variables)
        said, assets = len(conversion.site.report.diagnostics), dict(conversion.assets)
        written, self.out = self.out, NumberedText([], [self.line(token)])
        try:
            self.within_logic(token.name, (pieces, ends, at, end))
            written.add(self.out.text, self.line(token), made=True)
            self.out = written
        except (NotUnderstood, Stop, RecursionError):
            self.out, self.variables, conversion.assets = written, variables, assets
            del conversion.site.report.diagnostics[said:]
            return self.block(pieces, at, end)
        return end + 1

    def within_logic(self, name: str, block: Block) -> None:
        self.logic_depth += 1
        try:
            LOGIC[name](self, block)
        finally:
            self.logic_depth -= 1

    def block(self, pieces: Sequence[Token], at: int, end: int | None) -> int:
        token = pieces[at]
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
            if self.logic_depth:
                raise NotUnderstood
            hint = "it stays in the text as it is"
            self.conversion.warn("SG601", "this Liquid is not understood", token.source, line, hint)
            value = unknown_liquid(source)
        self.spend(STEP_CHARACTERS + len(value if isinstance(value, str) else value.block + value.html))
        written = value if isinstance(value, str) else self.conversion.inserts.mark(value)
        self.out.add(written, line, made=True)

    def inner(self, pieces: Sequence[Token]) -> str:
        """Return the content of a block as text: outputs are replaced by their values, tags stay as they were."""
        shown = []
        for token in pieces:
            value = token.markup if token.kind == "raw" else None
            if token.kind == "output":
                value = self.value(token.markup)
            shown.append(token.source if value is None else value)
        return "".join(shown)

    def listing(self, token: Token, pieces: Sequence[Token]) -> str:
        """Return the content of a block without the indentation of its tag and the blank lines around it."""
        before = self.text[self.text.rfind("\n", 0, token.start) + 1 : token.start]
        indent = len(before) if not before.strip() else 0
        lines = self.inner(pieces).split("\n")
        return "\n".join(line[indent:] if not line[:indent].strip() else line for line in lines).strip("\n")


class _IncludedLiquid(_Liquid):
    """The evaluation of an included file: it tells whether its Liquid was understood, and leaves out comments."""

    def __init__(self, outer: _Liquid, token: Token, path: str, text: str) -> None:
        own = {"include": given_values(token, outer.variables)}
        super().__init__(outer.conversion, text, outer.line(token), outer.variables | own)
        self.line_feeds.clear()  # the diagnostics name the line of the include
        self.included, self.understood = (*outer.included, path), True
        self.logic_depth = outer.logic_depth

    def comment(self, token: Token) -> None:
        pass

    def put(self, token: Token, source: str, value: str | Insert | None) -> None:
        self.understood &= value is not None
        super().put(token, source, UNKNOWN if value is None and not self.logic_depth else value)


def _variables(conversion: Conversion) -> dict[str, Any]:
    site, source = conversion.site, conversion.source
    return {
        "site": site_variables(site),
        "page": page_variables(site, source),
        "jekyll": {"environment": "production"},
        "layout": COMPUTED,
    }


def _has_baseurl_twice(pieces: Sequence[Token], at: int) -> bool:
    """Tell whether an output is the baseurl in front of a tag that has the baseurl in it since Jekyll 4."""
    following = pieces[at + 1] if at + 1 < len(pieces) else None
    is_address = following is not None and following.kind == "tag" and following.name in ("link", "post_url")
    return is_address and pieces[at].markup.strip() == "site.baseurl"


def _url(before: str, path: str) -> str:
    """Return the address of a path; spaces and letters outside of ASCII are percent-encoded unless it has a host."""
    return path if is_external(path) else quote(f"{before}/{path.lstrip('/')}", safe="/%:?#[]@!$&'()*+,;=~")


def _assign(liquid: _Liquid, token: Token) -> str | None:
    name, _, expression = token.markup.partition("=")
    try:
        value = value_of(expression, liquid.variables, liquid.filters, liquid.spend)
    except NotUnderstood:
        value = COMPUTED
    is_too_much = isinstance(value, str) and "|" in expression and not liquid.has_room_for(value)
    if is_too_much or (value is None and not liquid.logic_depth):
        value = COMPUTED
    liquid.variables[name.strip()] = value
    return None if value is COMPUTED else ""


def _post_url(liquid: _Liquid, token: Token) -> str | None:
    """Return the old address of a post; the link around the tag turns it into the new one."""
    match = _POST.fullmatch(token.markup.strip("\"' "))
    if not match:
        return None
    folder, name = match[1] or "", match[2]
    for source in liquid.conversion.site.sources:
        stem = source.path.rpartition(".")[0]
        inside = stem.replace("_posts/", "", 1)
        if source.collection == "posts" and (inside == f"{folder}/{name}".lstrip("/") or stem.endswith(f"/{name}")):
            return liquid.conversion.site.config.baseurl + source.url
    return None


def _link(liquid: _Liquid, token: Token) -> str | None:
    site = liquid.conversion.site
    path = liquid.value(token.markup[2:-2]) if "{{" in token.markup else token.markup
    path = (path or "").strip("\"' ").lstrip("/")
    if path in site.by_path:
        return site.config.baseurl + site.by_path[path].url
    return f"{site.config.baseurl}/{path}" if path in site.files else None


def _cite(liquid: _Liquid, token: Token) -> Insert | None:
    """Return `[@a, p. 3; @b]` for `{% cite a b --locator 3 %}`."""
    options = _OPTION.findall(token.markup)
    keys = _OPTION.sub(" ", token.markup).split()
    if not keys or any(name in ("--file", "-f") for name, _ in options):
        return None
    locators = [value.strip("\"'") for name, value in options if name in ("--locator", "-l")]
    labels = [value.strip("\"'") for name, value in options if name in ("--label", "-L")]
    sign = "-@" if any(name in ("--suppress_author", "-A") for name, _ in options) else "@"
    if not liquid.conversion.keys.issuperset(keys):
        return None
    liquid.conversion.cites = True
    parts = [f"{sign}{cite_key(key)}{_locator(at, locators, labels)}" for at, key in enumerate(keys)]
    shown = f"[{'; '.join(parts)}]"
    return Insert(shown, shown, escape(shown), token.source)


def _locator(at: int, locators: Sequence[str], labels: Sequence[str]) -> str:
    if at >= len(locators):
        return ""
    label = labels[at] if at < len(labels) else "page"
    return f", {_LABELS.get(label, label)} {locators[at]}"


def _bibliography(liquid: _Liquid, token: Token) -> str | None:
    """Return an empty text: the list of cited works stands at the end of every text that cites."""
    rest = {name for name, _ in _OPTION.findall(token.markup)}
    cites = liquid.conversion.cites or "{% cite" in liquid.text or "<d-cite" in liquid.text
    if not cites or not rest <= {"--cited", "-c", "--cited_in_order", "-C", "--prefix", "-p"}:
        return None
    liquid.conversion.lists_works = True
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
    """Return a link in place of content of another host: a page loads nothing from other hosts."""
    return Insert(f"<{url}>", f"<{url}>", f'<a href="{escape(url)}">{escape(url)}</a>', token.source)


def _include(liquid: _Liquid, token: Token) -> Insert | str | None:
    known = convert_include(liquid.conversion, token, liquid.variables, liquid.line(token))
    return _included(liquid, token) if known is None else known


def _included(liquid: _Liquid, token: Token) -> str | None:
    """Return the text of an included file; None for a template, that is one of few words with Liquid that is not
    understood.

    The conversion keeps the link definitions of the file, also those beside such Liquid.
    """
    conversion = liquid.conversion
    path = included_path(conversion, token)
    if not path or path in liquid.included or len(liquid.included) > DEEPEST_INCLUDE:
        return None
    if (source := included_text(conversion, path, in_loop=bool(liquid.logic_depth))) is None:
        return None
    shared = _shared(liquid, token, path, source)
    return _placed(liquid, token, shared) if shared else _run_included(liquid, token, path, source)


def _placed(liquid: _Liquid, token: Token, shared: SharedInclude) -> str | None:
    """Return the text of a shared file in this text; None where the text has no room for it."""
    conversion = liquid.conversion
    if not conversion.included_so_far.takes(len(shared.text)):
        return None
    here = {key: replace(one, line=liquid.line(token)) for key, one in shared.definitions.items()}
    conversion.definitions = here | conversion.definitions
    liquid.variables |= shared.variables
    return shared.text


def _run_included(liquid: _Liquid, token: Token, path: str, source: str) -> str | None:
    """Return the text of a file that is run for this text alone."""
    conversion = liquid.conversion
    assets, said = dict(conversion.assets), len(conversion.site.report.diagnostics)
    inner = _IncludedLiquid(liquid, token, path, source)
    text = inner.run().text
    liquid.variables |= {name: value for name, value in inner.variables.items() if name != "include"}
    if isinstance(liquid, _IncludedLiquid):
        liquid.understood &= inner.understood
        return text
    if not conversion.source.is_html:
        text, found = split_definitions(text, liquid.line(token))
        conversion.definitions = found | conversion.definitions
    if inner.understood:
        return text.strip("\n")
    del conversion.site.report.diagnostics[said:]
    if has_words(text):
        hint = "it is left out; the rest of the file stands here"
        conversion.warn("SG601", "Liquid of this file is not understood", token.source, liquid.line(token), hint)
        return text.replace(UNKNOWN, "").strip("\n")
    conversion.assets = assets
    return None


def _shared(liquid: _Liquid, token: Token, path: str, source: str) -> SharedInclude | None:
    """Return an included file that is the same in each text, such as a list of links; None for any other.

    A site of two thousand texts may include one in all of them.  The file is run once, without the variables of a text.
    """
    conversion = liquid.conversion
    within = liquid.included or liquid.logic_depth or conversion.source.is_html
    if within or token.name != "include" or "=" in token.markup:
        return None
    known = conversion.site.shared
    if path not in known:
        of_site = {"site": site_variables(conversion.site), **dict.fromkeys(("page", "layout", "include"), COMPUTED)}
        known[path] = _run_alone(conversion, token, path, source, of_site)
    return known[path]


def _run_alone(
    conversion: Conversion, token: Token, path: str, source: str, variables: dict[str, Any]
) -> SharedInclude | None:
    alone = Conversion(conversion.site, conversion.source, conversion.destinations)
    report, before = conversion.site.report, dict(variables)
    said = len(report.diagnostics)
    inner = _IncludedLiquid(_Liquid(alone, "", 1, variables), token, path, source)
    inner.variables["include"] = COMPUTED
    text, found = split_definitions(inner.run().text, 1)
    is_of_text = bool(alone.inserts.all or alone.assets or alone.includes_beside)
    is_same = inner.understood and len(report.diagnostics) == said and not is_of_text
    del report.diagnostics[said:]
    changed = {name: value for name, value in inner.variables.items() if name not in before}
    return SharedInclude(text.strip("\n"), found, changed) if is_same else None


def _highlight(liquid: _Liquid, token: Token, inside: Sequence[Token]) -> Insert | None:
    match = _HIGHLIGHT.fullmatch(token.markup)
    if not match:
        return None
    code = liquid.listing(token, inside)
    marked = _MARKED.search(match[2])
    lines = f" hl={','.join(marked[1].split())}" if marked else ""
    language = match[1].lower()
    return Insert(
        fenced(code, f"{language}{lines}"),
        fenced(code, language),
        f"<pre><code>{escape(code, quote=False)}</code></pre>",
        code,
    )


def _details(liquid: _Liquid, token: Token, inside: Sequence[Token]) -> str | None:
    """Return a `<details>` element; its content is Markdown.  None where it stands within `DEEPEST` others."""
    if liquid.depth >= DEEPEST:
        return None
    title = escape(token.markup.strip("\"' "), quote=False) or "Details"
    start = liquid.out
    liquid.out, liquid.depth = NumberedText([], [liquid.line(token)]), liquid.depth + 1
    try:
        liquid.pieces(inside)
        text = liquid.out.text
    except Stop as stop:  # the text so far would be lost: it stands in the inner text only
        raise NotUnderstood from stop
    finally:
        liquid.out, liquid.depth = start, liquid.depth - 1
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
