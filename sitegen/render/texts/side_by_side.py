"""Change the HTML of a text so that several texts can stand on one page: ids get a prefix, headings go down one level.

Links to a text that stands on the same page become links within the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup

_TAG = re.compile(r"<[a-zA-Z][^>]*>")
_IDS = re.compile(r'(?<=\s)(id|name|for|headers|aria-labelledby|aria-describedby|aria-controls)="([^"]*)"')
_HREF = re.compile(r'(?<=\s)((?:xlink:)?href)="([^"#]*)(?:#([^"]*))?"')
_PAINT = re.compile(r"url\(#")
_LANDMARK = re.compile(r'(<(?:aside|section)\b[^>]*?) aria-labelledby="[^"]*"')
_HEADING = re.compile(r"(</?h)([2-5])\b")


def with_prefix(html: str, prefix: str, places: Mapping[str, str]) -> Markup:
    """Return the HTML with `prefix.` before each of its ids and each reference to one.

    `places` has the prefix of each text on the page by its relative href; a link to one of these texts leads to its
    place on the page.
    """
    return Markup(_TAG.sub(lambda tag: _tag(tag[0], prefix, places), str(html)))


def one_level_lower(html: str) -> str:
    """Return the HTML with `h3` in the place of `h2`, and so on; `h6` stays."""
    return _HEADING.sub(lambda heading: f"{heading[1]}{int(heading[2]) + 1}", str(html))


def without_landmarks(html: str) -> str:
    """Return the HTML whose sections and asides have no names: those of several texts have the same, `References`."""
    return _LANDMARK.sub(r"\1", str(html))  # a Markup would escape what it joins


def _tag(tag: str, prefix: str, places: Mapping[str, str]) -> str:
    tag = _IDS.sub(lambda found: f'{found[1]}="{_prefixed(found[2], prefix)}"', tag)
    tag = _PAINT.sub(f"url(#{prefix}.", tag)
    return _HREF.sub(lambda found: _link(found, {"": prefix, **places}), tag)


def _prefixed(ids: str, prefix: str) -> str:
    return " ".join(f"{prefix}.{one}" for one in ids.split())


def _link(found: re.Match[str], places: Mapping[str, str]) -> str:
    attribute, page, place = found.groups()
    if page not in places:
        return found[0]
    return f'{attribute}="#{places[page]}{f".{place}" if place else ""}"'
