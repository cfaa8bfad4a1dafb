"""Find the words of the links in the HTML of a text whose slots are not filled."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINK = re.compile(r'<a href="\0(\d+)\0"[^>]*>(.*?)</a>', re.DOTALL)
_NOT_WORDS = re.compile(r"<[^>]*>|\0\d+\0")


def link_words(html: str) -> Mapping[int, str]:
    """Return the words of each link, as HTML without tags, by the index of its slot."""
    return {int(link[1]): " ".join(_NOT_WORDS.sub("", link[2]).split()) for link in _LINK.finditer(html)}
