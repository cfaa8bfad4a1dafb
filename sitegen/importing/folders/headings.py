"""Find the ids that other programs give the headings of a text, and the ids that they have here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from sitegen.importing.mending.places import FENCE
from sitegen.markup.collected import slug

_HEADING = re.compile(
    r"^[ \t]{0,3}#{1,6}[ \t]+(?P<title>[^\n{]*+(?:\{(?![^{}\n]*\}[ \t]*$)[^\n{]*+)*+)"
    r"(?:\{(?P<attributes>[^{}\n]*)\}[ \t]*)?$",
    re.MULTILINE,
)
_OWN = re.compile(r"(?:^|\s)#([\w:.-]+)")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\n]*\)|\[[^\[\]\n]*\])")
_MARKUP = re.compile(r"\{\{[<%][^{}\n]*[>%]\}\}|\{[\w:-]+\}(?=`)|[*`]|<[^<>]*>|(?<!\w)_|_(?!\w)|\\(?=[^\w\s])")


def heading_ids(text: str) -> Mapping[str, str]:
    """Return the id here of each heading, by the ids that GitHub, Hugo and Pandoc make of its words.

    A heading with an id of its own (`{#id}`) keeps it.
    """
    ids, seen = dict[str, str](), Counter[str]()
    for heading in _HEADING.finditer(FENCE.sub("", text)):
        own = _OWN.search(heading["attributes"] or "")
        title = _MARKUP.sub("", _LINK.sub(r"\1", heading["title"].rstrip(" \t").rstrip("#"))).strip()
        name = own[1] if own else slug(title)
        seen[name] += 1
        here = name if seen[name] == 1 else f"{name}-{seen[name]}"
        for old in (own[1],) if own else (github_id(title), pandoc_id(title)):
            ids.setdefault(old if seen[name] == 1 else f"{old}-{seen[name] - 1}", here)
    return ids


def github_id(title: str) -> str:
    """Return the id that GitHub and Hugo make: signs are left out, each blank is a hyphen."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def pandoc_id(title: str) -> str:
    """Return the id that Pandoc and Quarto make: points stay, and it begins with a letter."""
    plain = re.sub(r"[^\w\-. ]", "", title.lower())
    return re.sub(r"^[\W\d_]+", "", "-".join(plain.split()))
