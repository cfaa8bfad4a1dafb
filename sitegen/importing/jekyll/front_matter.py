"""Turn the front matter of a Jekyll document into that of a post or a page; unknown keys stay as comments."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence

from sitegen.importing.jekyll.config import language_of
from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.dates import in_zone, read_date
from sitegen.importing.jekyll.destinations import SiteSection
from sitegen.importing.jekyll.report import UnknownKeys
from sitegen.importing.jekyll.site import DocumentKind, as_list, words_of
from sitegen.importing.jekyll.yaml_text import entries, entry, plain_words
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
_ALWAYS_ON = frozenset({"layout", "math", "mathjax", "use_math", "katex", "mermaid", "toc", "excerpt_separator"})
"""Keys of features that every text has here, or of the theme."""


def post_front_matter(
    conversion: Conversion, bibliography: str, authors: Sequence[str], unknown_keys: UnknownKeys
) -> str:
    """Return the front matter of a post.

    `bibliography` is the name of the post's own file, or empty; `authors` has the ids of its authors.
    """
    source, destination, zone = conversion.source, conversion.destination, conversion.site.config.zone
    assert source.date is not None
    lines = [entry("title", plain_words(source.title)), f"date: {written_date(source.date)}\n"]
    description = next((name for name in _DESCRIPTIONS if source.text(name)), "")
    lines += [entry("description", plain_words(source.text(description)))] if description else []
    tags = list(dict.fromkeys([*(as_list(source.front["tag"]) if "tag" in source.front else _tags(conversion))]))
    tags += [name for name in source.categories[1:] if name not in tags]
    lines += [entries("authors", authors)] if authors else []
    lines += [entries("tags", tags)] if tags else []
    lines += [entry("category", source.categories[0])] if source.categories else []
    updated = next((name for name in _UPDATES if source.text(name) and read_date(source.text(name), zone)), "")
    moment = read_date(source.text(updated), zone) if updated else None
    if moment is not None and in_zone(moment, zone) >= in_zone(source.date, zone):
        lines.append(f"updated: {written_date(moment)}\n")
    lines += [entry("permalink", destination.permalink)] if destination.permalink else []
    lines += [entries("aliases", destination.aliases)] if destination.aliases else []
    lines += _language(conversion)
    lines += [entry("bibliography", bibliography)] if bibliography else []
    lines += ["draft: true\n"] if is_draft(conversion) else []
    used = {description, updated, *(("author", "authors") if authors else ())}
    return _fenced(lines, conversion, used, unknown_keys)


def page_front_matter(conversion: Conversion, unknown_keys: UnknownKeys) -> str:
    """Return the front matter of a page."""
    source, destination = conversion.source, conversion.destination
    lines = [entry("title", plain_words(source.title))]
    description = next((name for name in _DESCRIPTIONS if source.text(name)), "")
    lines += [entry("description", plain_words(source.text(description)))] if description else []
    lines += [entries("aliases", destination.aliases)] if destination.aliases else []
    return _fenced(lines, conversion, {description}, unknown_keys)


def is_draft(conversion: Conversion) -> bool:
    source = conversion.source
    hidden = source.text("published").lower() in _FALSE or source.text("draft").lower() in ("true", "yes", "on")
    return hidden or source.kind is DocumentKind.DRAFT


def written_date(moment: dt.date | dt.datetime) -> str:
    return moment.isoformat()


def _tags(conversion: Conversion) -> list[str]:
    return words_of(conversion.source.front.get("tags"))


def _language(conversion: Conversion) -> list[str]:
    config, source = conversion.site.config, conversion.source
    own = language_of(source.front.get("lang") or source.front.get("locale"))
    site = language_of(config.values.get("lang") or config.values.get("locale")) or "en"
    return [entry("lang", own)] if own and own != site else []


def _fenced(lines: list[str], conversion: Conversion, used: set[str], unknown_keys: UnknownKeys) -> str:
    return "".join(["---\n", *lines, *_comments(conversion, used, unknown_keys), "---\n"])


def _comments(conversion: Conversion, used: set[str], unknown_keys: UnknownKeys) -> Iterator[str]:
    """Yield the lines of every key that is not read, as comments, and record the key."""
    source = conversion.source
    yaml = source.yaml.split("\n")
    own = [(key, node) for key, node in source.front.items() if node.at.path == source.path]
    own.sort(key=lambda item: item[1].at.line)
    unread_in_page = (
        {"date", "category", "categories", "tags", "tag"}
        if conversion.destination.section is SiteSection.PAGES
        else set()
    )
    for at, (key, node) in enumerate(own):
        read = key in used or key in _ALWAYS_ON or (key in _READ and key not in unread_in_page)
        if read or not _has_value(node):
            continue
        first = node.at.line - source.yaml_line
        last = own[at + 1][1].at.line - source.yaml_line if at + 1 < len(own) else len(yaml)
        unknown_keys.add(key, node.at)
        yield from (f"# {line}".rstrip() + "\n" for line in yaml[first:last] if line.strip() and line[:1] != "#")


def _has_value(node: Node) -> bool:
    return bool(node.text.strip()) or isinstance(node.value, tuple | Mapping)
