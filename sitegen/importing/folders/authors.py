"""Read the authors of imported texts, and write them as `authors:` of site.yaml."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sitegen.importing.folders.placing import Found
from sitegen.importing.jekyll.yaml_text import entry
from sitegen.write.scaffold import slug_of


def author_names(front: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names in `author` or `authors`: a text, a list, or mappings with a `name`."""
    given = front.get("authors") or front.get("author") or ()
    listed = given if isinstance(given, list | tuple) else [given]
    names = (name for one in listed for name in _names(one))
    return tuple(dict.fromkeys(name for name in names if name))


def _names(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        name = value.get("name")
        value = " ".join(map(str, name.values())) if isinstance(name, dict) else name
    words = " ".join(str(value or "").split())
    return () if "://" in words or words.startswith("[") else re.split(r",\s*and\s+|\s+and\s+|,\s*|\s*&\s*", words)


def site_authors(found: Sequence[Found]) -> Mapping[str, str]:
    """Return the id of each author by name, who wrote most first.

    There are none when several people wrote and a post names nobody: that post would get the first of them.
    """
    posts = [one for one in found if one.section == "posts"]
    counts = Counter(name for one in posts for name in one.more.get("authors") or ())
    if len(counts) > 1 and not all(one.more.get("authors") for one in posts):
        return {}
    ids = {name: slug_of(name) or f"author-{number}" for number, (name, _) in enumerate(counts.most_common(), 1)}
    return ids if len(set(ids.values())) == len(ids) else {}


def authors_yaml(ids: Mapping[str, str]) -> str:
    """Return the lines of site.yaml; empty where there are no authors."""
    lines = "".join(f"  {id}:\n    {entry('name', name)}" for name, id in ids.items())
    return f"authors:\n{lines}" if lines else ""
