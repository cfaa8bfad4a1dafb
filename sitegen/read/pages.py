"""Read Markdown files with front matter into posts, pages and terms."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.dates import day_of
from sitegen.model.site import Page, Post, Term
from sitegen.read.foreign_keys import KEYS_OF_OTHER_POSTS
from sitegen.read.languages import is_language, mistaken_language
from sitegen.read.shape import Diagnostics, read_as, read_language, unknown_language
from sitegen.read.site_look import read_licence
from sitegen.read.source import FrontMatter, no_front_matter, split_front_matter
from sitegen.read.yaml_nodes import Node, parse_yaml

POST_FILE = re.compile(r"content/posts/(?:([^/]+)\.md|([^/]+)/index(?:\.([^/.]+))?\.(?:md|ipynb))")
"""Pattern of a post's path, with groups for the slug of a file, the slug of a folder, the language of a translation."""
_NOUN = "front matter key"


def parse_post(text: str, path: str, zone: dt.tzinfo = dt.UTC) -> tuple[Post, tuple[Diagnostic, ...]]:
    """Return the post and its mistakes.

    `path` is `content/posts/<slug>.md`, `…/<slug>/index.md`, `…/<slug>/index.<lang>.md`, or one of the latter two with
    `.ipynb`.
    """
    flat, folder, language = _post_name(path)
    front, node, diagnostics = _read_front_matter(text, path, "title", "date")
    given = {
        "slug": flat or folder,
        "body": front.body,
        "span": _title_span(node, path),
        "folder": f"content/posts/{folder}" if folder else "",
    }
    convert = {"lang": read_language, "licence": read_licence}
    post = read_as(Post, node, diagnostics, given=given, noun=_NOUN, convert=convert, foreign=KEYS_OF_OTHER_POSTS)
    post = replace(post, date=_with_zone(post.date, zone), updated=post.updated and _with_zone(post.updated, zone))
    diagnostics += _early_update(post, node, zone)
    if language and not is_language(language):
        diagnostics.append(unknown_language(language, Span(path)))
    diagnostics += _wrong_letters(language or post.lang, post, node)
    if post.discuss and not post.discuss.startswith(("https://", "http://")):
        place = value.span if node and (value := node.get("discuss")) else Span(path)
        diagnostics.append(Diagnostic("SG014", "`discuss` is no address", place, "write it as `https://…`"))
    return replace(post, lang=language or post.lang), tuple(diagnostics)


def parse_page(text: str, path: str) -> tuple[Page, tuple[Diagnostic, ...]]:
    """Return the page and its mistakes."""
    given, node, diagnostics = page_parts(text, path)
    page = read_as(Page, node, diagnostics, given=given, noun=_NOUN, convert={"lang": read_language})
    diagnostics += _wrong_letters(page.lang, page, node)
    return page, tuple(diagnostics)


def parse_term(text: str, path: str) -> tuple[Term, tuple[Diagnostic, ...]]:
    """Return the glossary entry and its mistakes."""
    given, node, diagnostics = page_parts(text, path)
    return read_as(Term, node, diagnostics, given=given, noun=_NOUN), tuple(diagnostics)


def _wrong_letters(tag: str, text: Post | Page, node: Node | None) -> Iterator[Diagnostic]:
    """Yield a warning for a text in the letters of another language than the one whose code it has."""
    if mistaken := mistaken_language(tag, f"{text.title}{text.body.text}"):
        lang, path = node.get("lang") if node else None, text.body.path
        _, _, of_file = _post_name(path)
        message = f"`{tag}` is the code of {mistaken.language}, and this text has {mistaken.meant} letters"
        rename = f": rename the file to `index.{mistaken.tag}.{path.rpartition('.')[2]}`" if of_file else ""
        hint = f"the code of {mistaken.meant} is `{mistaken.tag}`{rename}"
        place = lang.span if lang and not of_file else Span(path)
        yield Diagnostic("SG018", message, place, hint, Severity.WARNING)


def _early_update(post: Post, node: Node | None, zone: dt.tzinfo) -> Iterator[Diagnostic]:
    """Yield a diagnostic when the last change of a post is earlier than its publication, which a draft has ahead."""
    changed, published = (node.get("updated"), node.get("date")) if node else (None, None)
    if not changed or not published or not post.updated or post.draft:
        return
    if _is_before(post.updated, post.date, zone):
        message = f"the last change, {changed.text}, is before the publication, {published.text}"
        hint = "correct `updated` or `date`, or leave `updated` out"
        yield Diagnostic("SG013", message, changed.span, hint)


def _is_before(one: dt.date | dt.datetime, other: dt.date | dt.datetime, zone: dt.tzinfo) -> bool:
    """Tell whether one moment is before another; a date without a time is compared with the day of the other one."""
    if isinstance(one, dt.datetime) and isinstance(other, dt.datetime):
        return one < other
    return day_of(one, zone) < day_of(other, zone)


def front_matter_span(text: str, path: str, key: str) -> Span:
    """Return the place of a key's value; the front matter is parsed again, only when there is a mistake to show."""
    _, node, _ = _read_front_matter(text, path)
    value = node.get(key) if node else None
    return value.span if value else Span(path)


def stem(path: str) -> str:
    """Return the name of a file without its folder and its last suffix."""
    return path.rpartition("/")[2].rpartition(".")[0]


def page_parts(text: str, path: str) -> tuple[Mapping[str, Any], Node | None, Diagnostics]:
    """Return the slug, body and title's span of a text with a title, its front matter as a tree, and its mistakes."""
    front, node, diagnostics = _read_front_matter(text, path, "title")
    return {"slug": stem(path), "body": front.body, "span": _title_span(node, path)}, node, diagnostics


def _post_name(path: str) -> tuple[str, str, str]:
    match = POST_FILE.fullmatch(path)
    flat, folder, language = match.groups("") if match else (stem(path), "", "")
    return flat, folder, language


def _read_front_matter(text: str, path: str, *required: str) -> tuple[FrontMatter, Node | None, Diagnostics]:
    """Return the front matter as text and as a tree, and the mistakes.

    The tree is None when there is no front matter or it is not YAML, which a diagnostic says.
    """
    front, unclosed = split_front_matter(text, path)
    if front.yaml is None:
        return front, None, list(unclosed or (no_front_matter(path, text, *required),))
    node, syntax = parse_yaml(front.yaml, path, first_line=front.yaml_line)
    return front, node, list(syntax)


def _title_span(node: Node | None, path: str) -> Span:
    title = node.get("title") if node else None
    return title.span if title else Span(path)


def _with_zone(moment: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.date | dt.datetime:
    """Return a time without an offset as one in the site's zone, so that all times of a site can be compared."""
    if isinstance(moment, dt.datetime) and moment.tzinfo is None:
        return moment.replace(tzinfo=zone)
    return moment
