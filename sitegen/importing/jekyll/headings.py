"""Compute the ids that headings had in Jekyll: kramdown's own, or GitHub's where the input is GFM, as it is by default.

After lib/kramdown/parser/gfm.rb of kramdown/parser-gfm and lib/kramdown/converter/base.rb of gettalong/kramdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sitegen.markup.collected import slug

_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|`+|\*+|(?<!\w)_++|(?<!_)_++(?!\w)|<[^<>]*>|\$+")


@dataclass(slots=True)
class Headings:
    """The ids of one text so far, as Jekyll and as sitegen count them: an id that is used again gets a number."""

    gfm: bool
    seen: dict[str, int] = field(default_factory=dict)
    ours: dict[str, int] = field(default_factory=dict)

    def id_to_write(self, source: str, shown: str) -> str:
        """Return the id that the heading had in Jekyll; empty where sitegen gives it the same id."""
        text = _MARKUP.sub(lambda match: match[1] or "", source)
        had = _numbered(_github(text) if self.gfm else _kramdown(text), self.seen, 0)
        gets = _numbered(slug(_MARKUP.sub(lambda match: match[1] or "", shown)), self.ours, 1)
        return had if had != gets and re.fullmatch(r"[\w.-]+", had) else ""


def _numbered(name: str, seen: dict[str, int], first: int) -> str:
    """Return the id, with a number when it is used again: the second is `name-1` in Jekyll and `name-2` in sitegen."""
    count = seen.get(name, 0)
    seen[name] = count + 1
    return f"{name}-{count + first}" if count else name


def _github(text: str) -> str:
    return re.sub(r"[^\w\- \t]", "", text.lower()).replace(" ", "-").replace("\t", "-")


def _kramdown(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9 -]", "", re.sub(r"^[^a-zA-Z]+", "", text)).replace(" ", "-").lower() or "section"
