"""Turn `{% include figure.liquid path="…" %}` and other known includes into a figure, a callout or a link.

The names and parameters are those of al-folio's _includes and of the same includes in other themes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.filters import shown
from sitegen.importing.jekyll.html import link_to_image
from sitegen.importing.jekyll.inserts import Insert, without_marks
from sitegen.importing.jekyll.liquid import Token, parameters
from sitegen.importing.jekyll.not_understood import NotUnderstood
from sitegen.importing.jekyll.values import Variables, operand
from sitegen.importing.jekyll.words import has_words
from sitegen.markup.directives.callouts import KINDS

_TAGS = re.compile(r"<[^>]+>")
_WHERE = ("path", "src", "url", "file", "image", "image_path", "img")
_CALLOUTS = {kind: kind for kind in KINDS} | {"info": "note", "alert": "warning", "callout": "note", "error": "danger"}
_TEXTS = (".md", ".markdown", ".html", ".txt", ".svg")
_ANY_SUFFIX = re.compile(r"\.(?:html|liquid|md)$")


def convert_include(conversion: Conversion, token: Token, variables: Variables, line: int) -> Insert | str | None:
    """Return what replaces an include; None for an unknown one."""
    words = token.markup.split(None, 1)
    if not words:
        return None
    name = _ANY_SUFFIX.sub("", words[0]).rpartition("/")[2].lower()
    given = _given_texts(token, variables)
    if name in _CALLOUTS:
        return _callout(_CALLOUTS[name], given, token)
    if name in ("figure", "image", "img"):
        return figure(conversion, given, token, line)
    known = INCLUDES.get(name)
    return known(conversion, given, token) if known else None


def figure(conversion: Conversion, given: Mapping[str, str], token: Token, line: int) -> Insert | None:
    """Return a figure for a line of its own and an image for within a line; None without a path."""
    if not _where(given).strip("/"):
        return None
    alt = " ".join((given.get("alt") or given.get("title") or "").split())
    source = conversion.image(_where(given))
    if not source:
        address = link_to_image(_where(given), line, conversion)
        return _link(address, {"title": alt or given.get("caption", "")}, token)
    caption = given.get("caption", "").strip()
    lines = [f"```{{figure}} {source}", *([f":alt: {alt}"] if alt else []), *([caption] if caption else []), "```"]
    text = f"<figcaption>{caption}</figcaption>" if caption else ""
    html = f'<figure><img src="{escape(source)}" alt="{escape(alt)}" loading="lazy">{text}</figure>'
    inline = f"![{alt.replace('[', '').replace(']', '')}]({source})"
    return Insert("\n".join(lines), inline, html, token.source)


def _where(given: Mapping[str, str]) -> str:
    """Return the path of a file; in al-folio it is from the root, with or without a slash."""
    path = next((given[key] for key in _WHERE if given.get(key)), "")
    return path if "://" in path or path.startswith("/") else f"/{path}"


def _media(name: str) -> Callable[[Conversion, Mapping[str, str], Token], Insert | None]:
    def insert(conversion: Conversion, given: Mapping[str, str], token: Token) -> Insert | None:
        target = conversion.target(_where(given))
        if not target.file:
            return _link(target.address, given, token) if "://" in _where(given) else None
        caption = given.get("caption", "").strip()
        text = f"<figcaption>{caption}</figcaption>" if caption else ""
        html = f'<figure><{name} src="{escape(target.address)}" controls></{name}>{text}</figure>'
        return Insert(html, f'<{name} src="{escape(target.address)}" controls></{name}>', html, token.source)

    return insert


def _video_of(start: str) -> Callable[[Conversion, Mapping[str, str], Token], Insert | None]:
    def insert(conversion: Conversion, given: Mapping[str, str], token: Token) -> Insert | None:
        name = given.get("id") or given.get("video_id") or ""
        return _link(start + name, given, token) if name else None

    return insert


def _link(url: str, given: Mapping[str, str], token: Token) -> Insert:
    words = " ".join((given.get("caption") or given.get("title") or url).split())
    link = f"[{words}]({url})"
    return Insert(link, link, f'<a href="{escape(url)}">{escape(words, quote=False)}</a>', token.source)


def _callout(kind: str, given: Mapping[str, str], token: Token) -> Insert | None:
    text = next((given[key] for key in ("content", "text", "message") if given.get(key)), "").strip()
    if not text:
        return None
    title = given.get("title", "").strip()
    block = f":::{{{kind}}} {title}".rstrip() + f"\n{text}\n:::"
    return Insert(block, _TAGS.sub("", text), f"<p>{text}</p>", token.source)


def _toc(conversion: Conversion, given: Mapping[str, str], token: Token) -> str:
    """Return an empty text: every page has its table of contents beside the text."""
    return ""


def included_path(conversion: Conversion, token: Token) -> str:
    """Return the path of the file that a tag includes, from the Jekyll folder; empty where no such file has a text.

    The conversion keeps whether the file was looked for beside the text.
    """
    is_beside = token.name == "include_relative"
    conversion.includes_beside |= is_beside
    folder = conversion.source.path.rpartition("/")[0] if is_beside else "_includes"
    path = f"{folder}/{next(iter(token.markup.split()), '')}".lstrip("/")
    return path if path in conversion.site.files and path.endswith(_TEXTS) else ""


def included_text(conversion: Conversion, path: str, *, in_loop: bool) -> str | None:
    """Return the content of an included file.

    None for one that is little more than a script, or beyond the bound on a document's files; in a loop only the
    characters are counted.
    """
    text = conversion.site.read(path)
    is_script = "<script" in text.lower() and not has_words(text)
    so_far = conversion.included_so_far
    if is_script or not (so_far.takes(len(text)) if in_loop else so_far.has_room(text)):
        return None
    return without_marks(text.strip("\n"))


def given_values(token: Token, variables: Variables) -> dict[str, Any]:
    """Return the parameters of an include by name; the name of a variable stands for its value."""
    return {name: _given(value, variables) if is_bare else value for name, value, is_bare in parameters(token.markup)}


def _given(word: str, variables: Variables) -> Any:
    try:
        return operand(word, variables)
    except NotUnderstood:
        return word


def _given_texts(token: Token, variables: Variables) -> dict[str, str]:
    """Return the parameters of an include as texts; one that is a list or a mapping stands as its name."""
    given = given_values(token, variables)
    written = {name: value for name, value, _ in parameters(token.markup)}
    return {
        name: written[name] if isinstance(value, list | tuple | Mapping) else shown(value)
        for name, value in given.items()
    }


INCLUDES: Mapping[str, Callable[[Conversion, Mapping[str, str], Token], Insert | str | None]] = {
    "audio": _media("audio"),
    "toc": _toc,
    "video": _media("video"),
    "vimeo": _video_of("https://vimeo.com/"),
    "youtube": _video_of("https://www.youtube.com/watch?v="),
}
