"""Write the front matter of an imported text; keys that mean nothing here stay as comments."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping

from sitegen.importing.folders.placing import Found, Place
from sitegen.importing.folders.source import FolderText
from sitegen.importing.jekyll.yaml_text import entries, entry, plain_words

_READ = frozenset(
    re.findall(
        r"\w+",
        "title date updated description summary tags categories category draft slug url permalink aliases lastmod "
        "type layout math katex mathjax mermaid toc format jupyter jupytext kernelspec execute engine publish created "
        "keywords label date_modified subtitle bibliography translationkey",
    )
)
"""Keys that are read, and keys of features that every text has here."""


def front_matter(
    found: Found,
    place: Place,
    today: dt.date,
    unknown: dict[str, list[tuple[str, int]]],
    authors: Mapping[str, str],
) -> str:
    """Return the front matter; each key without a place here is noted in `unknown` with its file and line.

    `authors` has the ids of the authors of the site by name.
    """
    if place.section == "worklog":
        return ""
    lines = [entry("title", plain_words(found.text.title) or place.slug)]
    if place.section == "posts":
        lines.append(f"date: {(found.date or today).isoformat()}\n")
    lines += [entry(key, plain_words(str(value))) for key, value in _more(found, place).items() if value]
    own = [authors[name] for name in found.more.get("authors") or () if name in authors]
    lines += [entries("authors", own)] if own and place.section == "posts" else []
    lines += [entries("tags", found.tags)] if found.tags and place.section == "posts" else []
    lines += [entry("lang", place.lang)] if place.lang and place.section == "pages" else []
    lines += [entry("permalink", place.permalink)] if place.permalink else []
    lines += [entries("aliases", place.aliases)] if place.aliases else []
    lines += ["draft: true\n"] if found.draft and place.section == "posts" else []
    read = _READ | {"author", "authors"} if own else _READ
    return "".join(["---\n", *lines, *_comments(found.text, unknown, read), "---\n"])


def _more(found: Found, place: Place) -> Mapping[str, object]:
    given = {key: value for key, value in found.more.items() if key != "authors"}
    return given if place.section == "posts" else {"description": given.get("description")}


def _comments(text: FolderText, unknown: dict[str, list[tuple[str, int]]], read: frozenset[str]) -> Iterator[str]:
    """Yield the lines of each key that is not read, as comments."""
    key, first = "", text.line - 1 - text.head.count("\n")
    for number, line in enumerate(text.head.split("\n"), first):
        if match := re.match(r"\[*([\w-]+)\]*\s*(?:[:=]|$)", line):
            key = match[1].lower()
            if key not in read:
                unknown.setdefault(key, []).append((text.path, number))
        if key and key not in read and line.strip():
            yield f"# {line}".rstrip() + "\n"
