"""Front matter of a Jekyll document → that of a post or a page; what has no place here stays in it as comments."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping

from sitegen.importing.jekyll.config import language_of
from sitegen.importing.jekyll.dates import in_zone, read_date
from sitegen.importing.jekyll.places import Room
from sitegen.importing.jekyll.report import Placeless
from sitegen.importing.jekyll.site import Kind, as_list, words_of
from sitegen.importing.jekyll.work import Work
from sitegen.importing.jekyll.yaml_text import entries, entry
from sitegen.read.yaml_nodes import Node

_DESCRIPTIONS = ("description", "excerpt", "summary", "subtitle")
_UPDATES = ("last_modified_at", "last_modified", "modified_date", "last_updated", "updated", "lastmod")
_FALSE = ("false", "no", "off")
_READ = frozenset(
    re.findall(
        r"\w+",
        "title date categories category tags tag permalink redirect_from published draft slug lang locale layout "
        "render_with_liquid ext bibliography",
    )
)
_SO_ANYHOW = frozenset({"layout", "math", "mathjax", "use_math", "katex", "mermaid", "toc", "excerpt_separator"})
"""What these switch on is on in every text, or is the theme's."""


def post_front_matter(work: Work, bibliography: str, placeless: Placeless) -> str:
    """`bibliography` is the name of the post's own, or nothing."""
    source, place, zone = work.source, work.place, work.site.config.zone
    assert source.date is not None
    lines = [entry("title", source.title), f"date: {written_date(source.date)}\n"]
    description = next((name for name in _DESCRIPTIONS if source.text(name)), "")
    lines += [entry("description", source.text(description))] if description else []
    tags = list(dict.fromkeys([*(as_list(source.front["tag"]) if "tag" in source.front else _tags(work))]))
    tags += [name for name in source.categories[1:] if name not in tags]
    lines += [entries("tags", tags)] if tags else []
    lines += [entry("category", source.categories[0])] if source.categories else []
    updated = next((name for name in _UPDATES if source.text(name) and read_date(source.text(name), zone)), "")
    moment = read_date(source.text(updated), zone) if updated else None
    if moment is not None and in_zone(moment, zone) >= in_zone(source.date, zone):
        lines.append(f"updated: {written_date(moment)}\n")
    lines += [entry("permalink", place.permalink)] if place.permalink else []
    lines += [entries("aliases", place.aliases)] if place.aliases else []
    lines += _language(work)
    lines += [entry("bibliography", bibliography)] if bibliography else []
    lines += ["draft: true\n"] if is_draft(work) else []
    return _fenced(lines, work, {description, updated}, placeless)


def page_front_matter(work: Work, placeless: Placeless) -> str:
    source, place = work.source, work.place
    lines = [entry("title", source.title)]
    description = next((name for name in _DESCRIPTIONS if source.text(name)), "")
    lines += [entry("description", source.text(description))] if description else []
    lines += [entries("aliases", place.aliases)] if place.aliases else []
    return _fenced(lines, work, {description}, placeless)


def is_draft(work: Work) -> bool:
    source = work.source
    hidden = source.text("published").lower() in _FALSE or source.text("draft").lower() in ("true", "yes", "on")
    return hidden or source.kind is Kind.DRAFT


def written_date(moment: dt.date | dt.datetime) -> str:
    return moment.isoformat()


def _tags(work: Work) -> list[str]:
    return words_of(work.source.front.get("tags"))


def _language(work: Work) -> list[str]:
    config, source = work.site.config, work.source
    own = language_of(source.front.get("lang") or source.front.get("locale"))
    site = language_of(config.values.get("lang") or config.values.get("locale")) or "en"
    return [entry("lang", own)] if own and own != site else []


def _fenced(lines: list[str], work: Work, used: set[str], placeless: Placeless) -> str:
    return "".join(["---\n", *lines, *_comments(work, used, placeless), "---\n"])


def _comments(work: Work, used: set[str], placeless: Placeless) -> Iterator[str]:
    """The lines of every key that is not read, as they were."""
    source = work.source
    yaml = source.yaml.split("\n")
    own = [(key, node) for key, node in source.front.items() if node.at.path == source.path]
    own.sort(key=lambda item: item[1].at.line)
    unread_in_page = {"date", "category", "categories", "tags", "tag"} if work.place.room is Room.PAGES else set()
    for at, (key, node) in enumerate(own):
        read = key in used or key in _SO_ANYHOW or (key in _READ and key not in unread_in_page)
        if read or not _says(node):
            continue
        first = node.at.line - source.yaml_line
        last = own[at + 1][1].at.line - source.yaml_line if at + 1 < len(own) else len(yaml)
        placeless.add(key, node.at)
        yield from (f"# {line}".rstrip() + "\n" for line in yaml[first:last] if line.strip() and line[:1] != "#")


def _says(node: Node) -> bool:
    return bool(node.text.strip()) or isinstance(node.value, tuple | Mapping)
