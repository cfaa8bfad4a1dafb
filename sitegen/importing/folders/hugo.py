"""Read a site of Hugo: the texts below `content/` with their addresses, and the shortcodes in them."""

from __future__ import annotations

import datetime as dt
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sitegen.importing.closed import closed
from sitegen.importing.folders.authors import author_names
from sitegen.importing.folders.containers import KINDS, callout, container
from sitegen.importing.folders.convert import Dialect, TextConversion
from sitegen.importing.folders.passages import Fence, Kept
from sitegen.importing.folders.placing import Found
from sitegen.importing.folders.shortcodes import Shortcode, replaced, without_shortcodes
from sitegen.importing.folders.source import Folder, FolderText, as_date, as_words
from sitegen.model.urls import is_external
from sitegen.write.scaffold import slug_of

_TEXTS = (".md", ".markdown", ".mdown")
_CONFIGS = tuple(
    f"{folder}{name}.{suffix}"
    for folder in ("", "config/_default/")
    for name in ("hugo", "config")
    for suffix in ("toml", "yaml", "yml", "json")
)
_FEW = 20
"""Most words of the text of a list that is left out."""
_TRANSLATION = re.compile(r"\.([a-z]{2}(?:-[a-z]{2,4})?)\.(?:md|markdown|mdown)$", re.IGNORECASE)
_DATED = re.compile(r"(\d{4}-\d{2}-\d{2})-(.+)")
_ATTRIBUTES = re.compile(r"^[ \t]*\{[.#][^{}\n]*\}[ \t]*\n?", re.MULTILINE)
_INLINE = closed(r"\\\\?\(", r"\\\\?\)", r"(?P<tex>(?:(?!\\\\?\)).)+?)")
_DISPLAY = closed(r"\\\\?\[", r"\\\\?\]", r"(?P<tex>(?:(?!\\\\?\]).)+?)")
_LISTINGS = frozenset({"highlight", "code", "plaintext", "mermaid"})
_VIDEOS = {
    "youtube": "https://www.youtube.com/watch?v={}",
    "youtubelite": "https://www.youtube.com/watch?v={}",
    "vimeo": "https://vimeo.com/{}",
    "bilibili": "https://www.bilibili.com/video/{}",
    "instagram": "https://www.instagram.com/p/{}/",
}
_CALLOUTS = frozenset({*KINDS, "notice", "admonition", "callout", "alert", "info", "quote", "question", "example"})
_CONTENT = "content/"
DEEPEST = 20
"""Most shortcodes around another; of those further within only the text stays."""


def find(folder: Folder) -> Sequence[Found]:
    """Return the texts below content/; lists and translations are left out, with a warning."""
    config = folder.settings(*_CONFIGS)
    found, translations = list[Found](), list[str]()
    for path in folder.files:
        if not path.startswith(_CONTENT) or not path.endswith(_TEXTS):
            continue
        if _TRANSLATION.search(path):
            translations.append(path)
            continue
        text = folder.text(path)
        if posixpath.basename(path).startswith("_index.") and not _is_read(folder, text):
            continue
        found.append(_found(text, config))
    if translations:
        said = f"{len(translations)} translations are left out"
        folder.warn("SG606", said, translations[0], 1, "put each beside its text as `index.<language>.md`")
    return found


def _is_read(folder: Folder, text: FolderText) -> bool:
    words = len(re.findall(r"\w+", text.body))
    if 0 < words <= _FEW or text.path == f"{_CONTENT}_index.md":
        folder.warn("SG606", "the text of a list is left out", text.path, text.line, "lists are made without a text")
        return False
    return words > 0


def _found(text: FolderText, config: Mapping[str, Any]) -> Found:
    front = {key.lower(): value for key, value in text.front.items()}
    inner = text.path.removeprefix(_CONTENT)
    name = re.sub(r"(?:^|/)_?index$", "", inner.rpartition(".")[0]) or "home"
    stem, section = posixpath.basename(name), name.partition("/")[0] if "/" in inner else ""
    dated = _DATED.fullmatch(stem)
    date = as_date(front.get("date") or front.get("publishdate")) or (as_date(dated[1]) if dated else None)
    top = "/" not in name or section in ("page", "pages") or "/_index." in text.path
    slug = str(front.get("slug") or (dated[2] if dated else stem))
    return Found(
        text if text.title else _titled(text, stem),
        _url(front, name, section, slug, date, config),
        date,
        "pages" if top and (date is None or section in ("page", "pages", "")) else "posts",
        slug,
        front.get("draft") is True,
        tuple(as_words(front.get("tags"))),
        tuple(as_words(front.get("aliases"))),
        {
            "authors": author_names(front),
            "description": front.get("description") or front.get("summary") or front.get("subtitle"),
            "category": next(iter(as_words(front.get("categories"))), ""),
            "updated": _later(front.get("lastmod"), date),
        },
    )


def _titled(text: FolderText, stem: str) -> FolderText:
    title = stem.replace("-", " ").replace("_", " ").capitalize()
    return FolderText(text.path, {**text.front, "title": title}, text.head, text.body, text.line)


def _later(value: Any, date: dt.date | dt.datetime | None) -> str:
    moment = as_date(value)
    return moment.isoformat() if moment and date and moment.isoformat()[:10] > date.isoformat()[:10] else ""


def _url(
    front: Mapping[str, Any],
    name: str,
    section: str,
    slug: str,
    date: dt.date | dt.datetime | None,
    config: Mapping[str, Any],
) -> str:
    """Return the address that Hugo gives a text."""
    if own := front.get("url"):
        return str(own)
    patterns = _mapping(config.get("permalinks"))
    pattern = {**patterns, **_mapping(patterns.get("page"))}.get(section)
    folder = name.rpartition("/")[0]
    if not isinstance(pattern, str):
        return f"/{folder}/{slug}/".replace("//", "/").lower()
    values = {
        "year": f"{date:%Y}" if date else "",
        "month": f"{date:%m}" if date else "",
        "day": f"{date:%d}" if date else "",
        "title": slug_of(str(front.get("title") or slug)),
        "section": section,
        "sections": folder,
    }
    return re.sub(r":(\w+)(?:\[[^\]]*\])?", lambda match: values.get(match[1].lower(), slug), pattern)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def write(conversion: TextConversion, body: str) -> str:
    """Return a text in the Markdown of sitegen."""
    kept = Kept()
    text = replaced(body, partial(_listing, kept), only=_LISTINGS)
    text = kept.fences(text, _fence)
    text = kept.spans(text)
    text = _INLINE.replaced(text, lambda match: kept.keep(f"${match['tex'].strip()}$"))
    text = _DISPLAY.replaced(text, lambda match: kept.keep(f"$$\n{match['tex'].strip()}\n$$"))
    text = kept.formulas(text)
    text = replaced(text, partial(_shortcode, conversion, kept, 1))
    return conversion.finished(_ATTRIBUTES.sub("", text), kept)


def _listing(kept: Kept, code: Shortcode, inner: str | None) -> str:
    """Return the listing of a shortcode of code; one without an end stays as it was."""
    if inner is None:
        return code.source
    language = code.name if code.name == "mermaid" else code.get("lang", "language", at=0) or "text"
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
    conversion.note(f"the shortcode `{code.name}`")
    return kept.keep(f"`{' '.join(code.source.split())}`") if inner is None else within(inner)


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
    plain = re.sub(r"[\[\]*_`]|\(\S+\)", "", words)
    image = f"![{plain}]({source})"
    return f"{image}\n\n*{caption}*\n" if caption and caption != words else image


def _reference(conversion: TextConversion, code: Shortcode) -> str:
    """Return the path of the text that a reference names, for the link around it."""
    written, _, anchor = code.get("path", at=0).partition("#")
    book, here = conversion.links.book, posixpath.dirname(conversion.found.text.path)
    name = written.strip("/")
    wanted = [f"{_CONTENT}{name}", f"{here}/{name}"]
    path = next((path for path in book.places if path in wanted or path.rpartition(".")[0] in wanted), "")
    path = path or next((path for path in book.places if _stem(path) == _stem(name)), "")
    address = book.places[path].address if path else f"/{name}/" if name else ""
    return address + (f"#{anchor}" if anchor else "")


def _stem(path: str) -> str:
    return re.sub(r"(?:/_?index)?\.(?:md|markdown)$", "", path).rpartition("/")[2]


HUGO = Dialect(
    "Hugo",
    find,
    write,
    lambda folder: str(folder.settings(*_CONFIGS).get("title") or ""),
    lambda folder: str(_insensitive(folder.settings(*_CONFIGS)).get("baseurl") or ""),
    lambda folder: ("", "static/", "assets/", _CONTENT),
)


def _insensitive(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key.lower(): value for key, value in settings.items()}
