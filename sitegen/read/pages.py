"""Markdown files with front matter → posts, pages and terms."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import Page, Post, Term
from sitegen.read.languages import is_language
from sitegen.read.shape import Found, no_language, read_as, read_language
from sitegen.read.source import FrontMatter, no_front_matter, split_front_matter
from sitegen.read.yaml_nodes import Node, parse_yaml

POST_FILE = re.compile(r"content/posts/(?:([^/]+)|([^/]+)/index(?:\.([^/.]+))?)\.md")
"""Groups: the slug of a file, the slug of a folder, the language of a translation."""
_NOUN = "front matter key"


def parse_post(text: str, path: str, zone: dt.tzinfo = dt.UTC) -> tuple[Post, tuple[Diagnostic, ...]]:
    """`path` is `content/posts/<slug>.md`, `…/<slug>/index.md` or `…/<slug>/index.<lang>.md`."""
    flat, folder, language = _post_name(path)
    front, node, found = _front(text, path, "title", "date")
    given = {
        "slug": flat or folder,
        "body": front.body,
        "span": _title_span(node, path),
        "folder": f"content/posts/{folder}" if folder else "",
    }
    post = read_as(Post, node, found, given=given, noun=_NOUN, convert={"lang": read_language})
    post = replace(post, date=_zoned(post.date, zone), updated=post.updated and _zoned(post.updated, zone))
    if language and not is_language(language):
        found.append(no_language(language, Span(path)))
    return replace(post, lang=language or post.lang), tuple(found)


def parse_page(text: str, path: str) -> tuple[Page, tuple[Diagnostic, ...]]:
    given, node, found = _page_parts(text, path)
    page = read_as(Page, node, found, given=given, noun=_NOUN, convert={"lang": read_language})
    return page, tuple(found)


def parse_term(text: str, path: str) -> tuple[Term, tuple[Diagnostic, ...]]:
    given, node, found = _page_parts(text, path)
    return read_as(Term, node, found, given=given, noun=_NOUN), tuple(found)


def front_matter_span(text: str, path: str, key: str) -> Span:
    """Where the value of a key stands; read again only when there is a mistake to point at."""
    _, node, _ = _front(text, path)
    value = node.get(key) if node else None
    return value.span if value else Span(path)


def stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _page_parts(text: str, path: str) -> tuple[Mapping[str, Any], Node | None, Found]:
    front, node, found = _front(text, path, "title")
    return {"slug": stem(path), "body": front.body, "span": _title_span(node, path)}, node, found


def _post_name(path: str) -> tuple[str, str, str]:
    match = POST_FILE.fullmatch(path)
    flat, folder, language = match.groups("") if match else (stem(path), "", "")
    return flat, folder, language


def _front(text: str, path: str, *required: str) -> tuple[FrontMatter, Node | None, Found]:
    """The parts of a file; the node is None when there is no front matter or it is not YAML, which `found` tells."""
    front, unclosed = split_front_matter(text, path)
    if front.yaml is None:
        return front, None, list(unclosed or (no_front_matter(path, *required),))
    node, syntax = parse_yaml(front.yaml, path, first_line=front.yaml_line)
    return front, node, list(syntax)


def _title_span(node: Node | None, path: str) -> Span:
    title = node.get("title") if node else None
    return title.span if title else Span(path)


def _zoned(moment: dt.date | dt.datetime, zone: dt.tzinfo) -> dt.date | dt.datetime:
    """A time without an offset is the site's; so all times of a site can be compared."""
    if isinstance(moment, dt.datetime) and moment.tzinfo is None:
        return moment.replace(tzinfo=zone)
    return moment
