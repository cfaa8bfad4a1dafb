"""Read a site of Hugo: the texts below `content/` with their addresses, and the shortcodes in them."""

from __future__ import annotations

import datetime as dt
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sitegen.importing.closed import closed
from sitegen.importing.folders.authors import author_names
from sitegen.importing.folders.containers import KINDS, callout, container
from sitegen.importing.folders.convert import Dialect, TextConversion
from sitegen.importing.folders.hugo_languages import Languages, Located, hugo_settings, languages_of
from sitegen.importing.folders.passages import Fence, Kept, code_span
from sitegen.importing.folders.placing import Found
from sitegen.importing.folders.shortcodes import Shortcode, replaced, without_shortcodes
from sitegen.importing.folders.source import Folder, FolderText, as_date, as_words
from sitegen.model.urls import is_external
from sitegen.write.scaffold import slug_of

_TEXTS = (".md", ".markdown", ".mdown")
_FEW = 20
"""Most words of the text of a list that is left out."""
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2})-(.+)")
_ATTRIBUTES = re.compile(r"^[ \t]*\{[.#][^{}\n]*\}[ \t]*\n?", re.MULTILINE)
_INLINE = closed(r"\\\\?\(", r"\\\\?\)", r"(?P<tex>(?:(?!\\\\?\)).)+?)")
_DISPLAY = closed(r"\\\\?\[", r"\\\\?\](?!\()", r"(?P<tex>(?:(?!\\\\?\]).)+?)")
_LISTINGS = frozenset({"highlight", "code", "code-toggle", "plaintext", "mermaid"})
_HTML = ".html"
_INCLUDES = frozenset({"include", "include-md", "includemd", "readfile", "snippet"})
_VIDEOS = {
    "youtube": "https://www.youtube.com/watch?v={}",
    "youtubelite": "https://www.youtube.com/watch?v={}",
    "vimeo": "https://vimeo.com/{}",
    "bilibili": "https://www.bilibili.com/video/{}",
    "instagram": "https://www.instagram.com/p/{}/",
}
_CALLOUTS = frozenset({*KINDS, "notice", "admonition", "callout", "alert", "info", "quote", "question", "example"})

DEEPEST = 20
"""Most shortcodes around another; of those further within only the text stays."""


def find(folder: Folder) -> Sequence[Found]:
    """Return the texts of every language; lists without a text are left out, with a warning."""
    config = hugo_settings(folder)
    languages = languages_of(config)
    found = list[Found]()
    for path in folder.files:
        located = languages.located(path) if path.lower().endswith((*_TEXTS, _HTML)) else None
        if located is None:
            continue
        text = folder.text(path)
        if path.lower().endswith(_HTML) and not text.head:
            continue
        if posixpath.basename(located.inner).startswith("_index.") and not _is_read(folder, text, located.inner):
            continue
        found.append(_found(text, located, languages, config))
        _note_names(folder, found[-1], located)
    return _dated(found)


def _is_read(folder: Folder, text: FolderText, inner: str) -> bool:
    words = len(re.findall(r"\w+", text.body))
    if 0 < words <= _FEW or (words and "/" not in inner):
        folder.warn("SG606", "the text of a list is left out", text.path, text.line, "lists are made without a text")
        return False
    return words > 0


def _dated(found: Sequence[Found]) -> Sequence[Found]:
    """Return the texts, each translation without a date with that of its original."""
    dates = {one.group: one.date for one in found if one.date and not one.lang}
    return [one if one.date or one.section != "posts" else replace(one, date=dates.get(one.group)) for one in found]


def _found(text: FolderText, located: Located, languages: Languages, config: Mapping[str, Any]) -> Found:
    front, inner, before = _small(text.front), located.inner, languages.prefix(located.key)
    is_list = posixpath.basename(inner).startswith("_index.")
    name = _stem(inner) or "home"
    stem, section = posixpath.basename(name), name.partition("/")[0] if "/" in inner else ""
    dated = _DATED.fullmatch(stem)
    date = as_date(front.get("date") or front.get("publishdate")) or (as_date(dated[1]) if dated else None)
    top = "/" not in name or section in ("page", "pages") or is_list
    slug = str(front.get("slug") or (dated[2] if dated else stem))
    own, title = str(front.get("url") or ""), text.title or slug
    url = (
        own
        if own.startswith("/")
        else f"{before}/{own}"
        if own
        else before + _url(name, section, slug, title, date, {} if is_list else config)
    )
    return Found(
        text if text.title else _titled(text, stem),
        url,
        date,
        "pages" if top and (date is None or section in ("page", "pages", "")) else "posts",
        slug,
        front.get("draft") is True,
        tuple(as_words(front.get("tags"))),
        tuple(posixpath.join(posixpath.dirname(url.rstrip("/")), alias) for alias in as_words(front.get("aliases"))),
        {
            "authors": author_names(front),
            "description": front.get("description") or front.get("summary") or front.get("subtitle"),
            "category": next(iter(as_words(front.get("categories"))), ""),
            "updated": _later(front.get("lastmod"), date),
        },
        languages.tag(located.key),
        str(front.get("translationkey") or name),
    )


def _titled(text: FolderText, stem: str) -> FolderText:
    title = stem.replace("-", " ").replace("_", " ").capitalize()
    return FolderText(text.path, {**text.front, "title": title}, text.head, text.body, text.line)


def _later(value: Any, date: dt.date | dt.datetime | None) -> str:
    moment = as_date(value)
    return moment.isoformat() if moment and date and moment.isoformat()[:10] > date.isoformat()[:10] else ""


def _url(
    name: str,
    section: str,
    slug: str,
    title: str,
    date: dt.date | dt.datetime | None,
    config: Mapping[str, Any],
) -> str:
    """Return the address that Hugo gives a text, without its language."""
    patterns = _mapping(config.get("permalinks"))
    pattern = {**patterns, **_mapping(patterns.get("page"))}.get(section)
    folder = name.rpartition("/")[0]
    ugly = config.get("uglyurls")
    is_file = (ugly.get(section) if isinstance(ugly, dict) else ugly) is True
    if not isinstance(pattern, str):
        path = f"/{folder}/{slug}".replace("//", "/").lower()
        return f"{path}.html" if is_file else f"{path}/"
    values = {
        "year": f"{date:%Y}" if date else "",
        "month": f"{date:%m}" if date else "",
        "day": f"{date:%d}" if date else "",
        "title": slug_of(title),
        "section": section,
        "sections": folder,
    }
    url = re.sub(r":(\w+)(?:\[[^\]]*\])?", lambda match: values.get(match[1].lower(), slug), pattern)
    url = url if config.get("disablepathtolower") is True else url.lower()
    return f"{url.rstrip('/')}.html" if is_file else url


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _small(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key.lower(): value for key, value in values.items()}


def write(conversion: TextConversion, body: str) -> str:
    """Return a text in the Markdown of sitegen."""
    if conversion.found.text.path.lower().endswith(_HTML):
        return _html(conversion, body)
    kept = Kept()
    text = replaced(body, partial(_listing, kept), only=_LISTINGS)
    text = kept.fences(text, _fence)
    text = kept.spans(text)
    text = _INLINE.replaced(text, lambda match: kept.keep(f"${match['tex'].strip()}$"))
    text = _DISPLAY.replaced(text, lambda match: kept.keep(f"$$\n{match['tex'].strip()}\n$$"))
    text = kept.formulas(text)
    text = replaced(text, partial(_shortcode, conversion, kept, 1))
    return conversion.finished(_ATTRIBUTES.sub("", text), kept)


def _html(conversion: TextConversion, body: str) -> str:
    """Return a text in HTML as one block, which no blank line ends; of its shortcodes the text within stays."""
    text = conversion.finished(without_shortcodes(body), Kept())
    pieces = re.split(r"(<pre\b.*?</pre>)", text, flags=re.DOTALL | re.IGNORECASE)
    plain = (
        re.sub(r"\n(?=[ \t]*\n)", "\n<!-- -->", piece) if at % 2 else re.sub(r"\n(?:[ \t]*\n)+", "\n", piece)
        for at, piece in enumerate(pieces)
    )
    return f"<div>\n{''.join(plain).strip()}\n</div>\n"


def _listing(kept: Kept, code: Shortcode, inner: str | None) -> str:
    """Return the listing of a shortcode of code; one without an end stays as it was."""
    if inner is None:
        return code.source
    if re.search(r"hl_inline\s*=\s*\"?true", code.source):
        return kept.keep(code_span(" ".join(inner.split())))
    own = {"mermaid": "mermaid", "code-toggle": "toml"}
    language = own.get(code.name) or code.get("lang", "language", at=0) or "text"
    return kept.keep(f"```{language.lower()}\n{inner.strip(chr(10))}\n```")


def _fence(fence: Fence) -> str:
    """Return a fence with its language and, of its options, the marked lines."""
    language = re.match(r"[\w+#.-]*", fence.info)
    marked = re.search(r"hl_lines\s*=\s*\[?\"?([\d\s,\"-]+)", fence.info)
    lines = f" hl={','.join(re.findall(r'[0-9]+(?:-[0-9]+)?', marked[1]))}" if marked else ""
    return str(Fence(f"{language[0].lower() if language else ''}{lines}", fence.code, fence.marks))


def _shortcode(conversion: TextConversion, kept: Kept, depth: int, code: Shortcode, inner: str | None) -> str:
    """Return what stands here for a shortcode; the text within it is converted, too."""
    if depth > DEEPEST:
        conversion.note(f"shortcodes within {DEEPEST} others")
        return without_shortcodes(inner or "")
    within = partial(replaced, change=partial(_shortcode, conversion, kept, depth + 1))
    known: Mapping[str, Callable[[], str]] = {
        "figure": lambda: _figure(conversion, code, within(inner or "")),
        "img": lambda: _figure(conversion, code, within(inner or "")),
        "image": lambda: _figure(conversion, code, within(inner or "")),
        "ref": lambda: _reference(conversion, code),
        "relref": lambda: _reference(conversion, code),
        "tweet": lambda: f"<https://x.com/{code.get('user', at=0)}/status/{code.get('id', at=1)}>",
        "x": lambda: f"<https://x.com/{code.get('user', at=0)}/status/{code.get('id', at=1)}>",
        "gist": lambda: f"<https://gist.github.com/{code.get(at=0)}/{code.get(at=1)}>",
        "math": lambda: f"$$\n{inner.strip()}\n$$" if inner else code.get(at=0),
        "katex": lambda: kept.keep(_between("$$" if "display" in code.source else "$", inner)),
        "comment": lambda: "",
        "tabs": lambda: container(kept, "tab-set", "", within(inner or "")),
        "tab": lambda: container(
            kept, "tab-item", code.get("title", "name", "header", at=0) or "Tab", within(inner or "")
        ),
    }
    if code.name in ("details", "expand", "collapse"):
        title = code.get("summary", "title", at=0) or "Details"
        return container(kept, "dropdown", title, within(inner or ""))
    if code.name in _CALLOUTS and inner is not None:
        kind = code.get("type", "kind", at=0) if code.name not in KINDS else code.name
        title = code.get("title", at=0 if code.name in KINDS else 1)
        return f"\n{callout(kept, kind or code.name, title, within(inner))}\n"
    if code.name in _VIDEOS:
        return f"<{_VIDEOS[code.name].format(code.get('id', at=0))}>"
    if code.name in known:
        return known[code.name]()
    if code.name in _INCLUDES and (path := _included(conversion, code)):
        with conversion.within(path):
            return conversion.inner(conversion.folder.text(path).body, write)
    conversion.note(f"the shortcode `{code.name}`")
    return kept.keep(f"`{' '.join(code.source.split())}`") if inner is None else within(inner)


def _included(conversion: TextConversion, code: Shortcode) -> str:
    """Return the path of the text that a shortcode such as `include` stands for; empty where there is none."""
    name = code.get("file", "path", "src", at=0).strip("/")
    here = posixpath.dirname(conversion.found.text.path)
    folders = (here, *languages_of(hugo_settings(conversion.folder)).folders, "")
    candidates = (
        posixpath.normpath(posixpath.join(f, f"{name}{end}")) for f in folders for end in ("", ".md", "/index.md")
    )
    path = next((one for one in candidates if one in conversion.folder.files and one.endswith(".md")), "")
    if not path or path in conversion.included or not conversion.may_include(conversion.folder.read(path)):
        return ""
    return path


def _between(marks: str, tex: str | None) -> str:
    return f"{marks}{(tex or '').strip()}{marks}"


def _figure(conversion: TextConversion, code: Shortcode, inner: str) -> str:
    """Return an image, with its caption where it has one."""
    source = code.get("src", "link", "image", at=0)
    words = " ".join((code.get("alt") or code.get("caption", "title", at=1)).split())
    caption = code.get("caption", "title").strip() or inner.strip()
    if not source:
        return caption
    if is_external(source):
        conversion.links.remote_images += 1
        return f"[{words or 'an image'}]({source})" + (f"\n\n{caption}\n" if caption and caption != words else "")
    plain = re.sub(r"[\[\]*_`]|\([^\s()]++\)", "", words)
    image = f"![{plain}]({source})"
    return f"{image}\n\n*{caption}*\n" if caption and caption != words else image


def _reference(conversion: TextConversion, code: Shortcode) -> str:
    """Return the address of the text that a reference names, for the link around it: in its language if it is there."""
    written, _, anchor = code.get("path", at=0).partition("#")
    name, found = _stem(written.strip("/")), conversion.found
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(found.text.path), name))
    names, last = conversion.folder.names, f"*/{posixpath.basename(name)}"
    keys = (f"{lang}:{one}".lower() for one in (beside, name, last) for lang in (found.lang, ""))
    path = next((names[key] for key in keys if key in names), "")
    address = conversion.links.book.places[path].address if path else f"/{name}/" if name else ""
    return address + (f"#{anchor}" if anchor else "")


def _note_names(folder: Folder, one: Found, located: Located) -> None:
    """Note the names by which references mean a text: its paths, and its last part where no other text has it."""
    name = _stem(located.inner)
    for key in (name, f"{located.root}{name}", f"*/{posixpath.basename(name)}"):
        folder.names.setdefault(f"{one.lang}:{key}".lower(), one.text.path)


def _stem(path: str) -> str:
    return re.sub(r"(?:^|/)_?index$", "", re.sub(r"\.(?:md|markdown|mdown|html)$", "", path))


def _title(folder: Folder) -> str:
    settings = hugo_settings(folder)
    own = settings["languages"].get(languages_of(settings).default) or {}
    return str(settings.get("title") or own.get("title") or "")


def _roots(folder: Folder) -> Sequence[str]:
    settings = hugo_settings(folder)
    themes = [f"themes/{theme}/static/" for theme in as_words(settings.get("theme"))]
    return ("", "static/", "assets/", *languages_of(settings).folders, *themes)


def _language(folder: Folder) -> str:
    languages = languages_of(hugo_settings(folder))
    return languages.tags[languages.default]


HUGO = Dialect(
    "Hugo",
    find,
    write,
    _title,
    lambda folder: str(hugo_settings(folder).get("baseurl") or ""),
    _language,
    _roots,
    made=frozenset({"public", "resources"}),
)
