"""Turn HTML in a Jekyll text into HTML that sitegen allows; of other elements stays a link, code or nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from html import escape, unescape

from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.inserts import Insert
from sitegen.markup.rawhtml import ALLOWED, VOID

_VALUE = r"(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'=<>`]++)"
TAG = re.compile(rf"<(/?)([A-Za-z][\w-]*)((?:\s++[^\s\"'<>/=]++(?:\s*+=\s*+{_VALUE})?+)*+)\s*+(/?)>")
_ANY_TAG = re.compile(rf"{TAG.pattern}|<(/?)([A-Za-z][\w-]*)\b[^<>]*?(/?)>")
ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?")
SPANS = frozenset(
    re.findall(
        r"[\w-]+",
        "a abbr acronym b big bdo br button cite code del dfn em font i img input ins kbd label mark option q rb rbc "
        "rp rt rtc ruby s samp select small span strike strong sub sup textarea time tt u var d-cite d-footnote d-math",
    )
)
"""Elements with which kramdown begins no block of HTML."""
_RENAMED: Mapping[str, str] = {
    "acronym": "abbr",
    "big": "span",
    "center": "div",
    "font": "span",
    "h1": "h2",
    "image": "img",
    "strike": "s",
    "tt": "code",
}
_OF_FORMS: Mapping[str, str] = {"button": "span", "fieldset": "div", "input": "", "label": "span", "legend": "span"}
"""Elements of forms, and what stands around their text; an input has none."""
_SECTIONS = frozenset(re.findall(r"\w+", "address article body footer head header hgroup html main nav"))
_SHOWN = frozenset(
    re.findall(
        r"\w+",
        "applet canvas embed form iframe link math meta noscript object option script select style template textarea",
    )
)
_OF_HEAD = frozenset({"link", "meta"})
"""Elements without content that belong in the head of a page."""
_LEFT_OUT = _OF_HEAD | {"script", "style"}
"""Elements of `_SHOWN` of which a browser shows nothing."""
_GIST = re.compile(r"<script\b[^<>]*\bsrc=[\"']?(https://gist\.github\.com/[\w/-]+)\.js\b", re.IGNORECASE)
_PRE = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL | re.IGNORECASE)
_PRE_ENDS = re.compile(r"</pre>", re.IGNORECASE)


def element_end(text: str, start: int) -> int | None:
    """Return the end of the element that begins at `start`; None where nothing closes it."""
    opening = TAG.match(text, start)
    if opening is None:
        return None
    name = opening[2].lower()
    if opening[4] or name in VOID | _OF_HEAD or opening[1]:
        return opening.end()
    return _element_ends(text).get(start)


@lru_cache(maxsize=8)
def _element_ends(text: str) -> Mapping[int, int]:
    """Return the end of each element of a text that is closed, by its start.

    One pass reads all elements: a search for the end of each would take time in the square of their number.
    """
    ends: dict[int, int] = {}
    begun: dict[str, list[int]] = {}
    for tag in _ANY_TAG.finditer(text):
        closing, name, empty = tag[1] or tag[5], (tag[2] or tag[6]).lower(), tag[4] or tag[7]
        if not closing and not empty:
            begun.setdefault(name, []).append(tag.start())
        elif closing and begun.get(name):
            ends[begun[name].pop()] = tag.end()
    return ends


def block_html(text: str, line: int, conversion: Conversion) -> str:
    """Return the HTML of a block without blank lines, which would end it.  Marks in it become HTML."""
    text = _without_refused(text, line, conversion)
    feeds = _line_feeds(text)
    text = TAG.sub(lambda tag: tag_html(tag, line + bisect_left(feeds, tag.start()), conversion), text)
    text = conversion.inserts.html(text)
    last = max((end.end() for end in _PRE_ENDS.finditer(text)), default=0)
    pieces = [*_PRE.split(text[:last]), "", text[last:]]  # every start before the last end has an end
    return "".join(
        re.sub(r"\n(?=[ \t]*\n)", "\n<!-- -->", piece) if at % 2 else re.sub(r"\n[ \t]*+(?=\n)", "", piece)
        for at, piece in enumerate(pieces)
    ).strip("\n")


def tag_html(tag: re.Match[str], line: int, conversion: Conversion) -> str:
    """Return one tag with the element name, attributes and addresses that it has in sitegen."""
    closing, name, attributes, empty = tag[1], tag[2].lower(), tag[3], tag[4]
    name = _RENAMED.get(name, name)
    if name in _OF_FORMS:
        return _of_form(name, tag, line, conversion)
    if name not in ALLOWED:
        if not name.startswith("d-") and name not in _SECTIONS:
            conversion.warn("SG604", f"`<{name}>` cannot stand in a text", tag[0], line, "it is shown as it is written")
            return escape(tag[0], quote=False)
        name = "div"
    if closing:
        return f"</{name}>" if name not in VOID else ""
    if name == "a" and "id=" not in attributes:
        attributes = re.sub(r"\sname=", " id=", attributes)  # old HTML marks an anchor by `name`
    written = "".join(_attribute(name, match, tag[0], line, conversion) for match in ATTRIBUTE.finditer(attributes))
    if name == "img" and "alt=" not in attributes:
        written += ' alt=""'
    if name == "img" and " src=" not in written:
        return _image_elsewhere(attributes, line, conversion)
    return f"<{name}{written}{'' if not empty or name in VOID else f'></{name}'}>"


def _of_form(name: str, tag: re.Match[str], line: int, conversion: Conversion) -> str:
    """Return a tag without attributes around the text of an element of a form, and report the element."""
    if not tag[1]:
        conversion.warn("SG604", f"`<{name}>` cannot stand in a text", tag[0], line, "its text stays")
    shown = _OF_FORMS[name]
    return f"<{tag[1]}{shown}>" if shown else ""


def attributes_by_name(attributes: str) -> dict[str, str]:
    """Return the values of a tag's attributes by name."""
    matches = ATTRIBUTE.finditer(attributes)
    return {match[1].lower(): unescape(match[2] or match[3] or match[4] or "") for match in matches}


def _attribute(name: str, match: re.Match[str], tag: str, line: int, conversion: Conversion) -> str:
    key = match[1].lower()
    if match[2] is match[3] is match[4] is None:
        return f" {key}" if re.fullmatch(r"[a-z][\w-]*", key) and key != "markdown" else ""
    value = unescape(match[2] or match[3] or match[4] or "")
    if key == "markdown":
        return ""
    if key == "style" or key.startswith("on") or key in ("srcdoc", "formaction"):
        conversion.warn(
            "SG604", f"the attribute `{key}` is left out: `{value}`", match[0], line, "style is the theme's"
        )
        return ""
    value = conversion.inserts.verbatim(value)
    if key == "href" and name == "a":
        return f' href="{escape(link(value, line, conversion))}"'
    if key == "src" and name == "img":
        source = conversion.image(value)
        return f' src="{escape(source)}"' if source else ""
    if key in ("src", "poster"):
        return f' {key}="{escape(conversion.target(value).address)}"'
    if key in ("width", "height") and not value.isdigit():
        return ""
    if key in ("srcset", "sizes", "target", "rel", "loading", "align", "border", "valign", "bgcolor", "color", "face"):
        return ""
    return f' {key}="{escape(value)}"'


def link(written: str, line: int, conversion: Conversion) -> str:
    """Return the new address of a link; a link to a page that was not imported is written in full, and reported."""
    target = conversion.target(conversion.inserts.verbatim(written))
    if not target.known:
        hint = f"it is written as {target.address}"
        conversion.warn("SG603", f"`{written}` is nothing that was imported", written, line, hint)
    return target.address


def _image_elsewhere(attributes: str, line: int, conversion: Conversion) -> str:
    given = attributes_by_name(attributes)
    url = link_to_image(given.get("src", ""), line, conversion)
    words = given.get("alt") or given.get("src", "")
    return f'<a href="{escape(url)}">{escape(words, quote=False)}</a>'


def link_to_image(written: str, line: int, conversion: Conversion) -> str:
    """Return the address of an image that is not in the Jekyll folder, and report it: a link takes its place."""
    target = conversion.target(conversion.inserts.verbatim(written))
    hint = "a link stands in its place; put the file beside the text"
    conversion.warn("SG603", f"the image `{written}` is not in this folder", written, line, hint)
    return target.address


def _without_refused(text: str, line: int, conversion: Conversion) -> str:
    """Return the text with a mark in place of each element that sitegen refuses, its content included."""
    out, at, feeds = [], 0, _line_feeds(text)
    for tag in TAG.finditer(text):
        name = tag[2].lower()
        if tag.start() < at or not is_refused(name) or tag[1]:
            continue
        end = element_end(text, tag.start()) or tag.end()
        html = show_refused(text[tag.start() : end], name, line + bisect_left(feeds, tag.start()), conversion)
        out.append(text[at : tag.start()] + conversion.inserts.mark(Insert("", "", html, "")))
        at = end
    return "".join([*out, text[at:]])


def show_refused(source: str, name: str, line: int, conversion: Conversion) -> str:
    """Return a refused element as HTML: a link to its source where it has one, nothing for a style, else its code."""
    source = conversion.inserts.verbatim(source)
    opening = TAG.match(source)
    if name in _LEFT_OUT and element_end(source, 0) is not None:
        return _left_out(source, name, line, conversion)
    url = attributes_by_name(opening[3]).get("src", "") if opening and name in ("iframe", "embed") else ""
    if url:
        conversion.warn("SG604", f"`<{name}>` cannot stand in a text", f"<{name}", line, "a link stands in its place")
        address = conversion.target(url).address
        return f'<a href="{escape(address)}">{escape(url, quote=False)}</a>'
    conversion.warn("SG604", f"`<{name}>` cannot stand in a text", f"<{name}", line, "it is shown as code")
    return f"<pre><code>{escape(source, quote=False)}</code></pre>"


def _left_out(source: str, name: str, line: int, conversion: Conversion) -> str:
    """Return nothing for an element that a reader never saw, such as a style; a link for the script of a gist."""
    message = f"`<{name}>` cannot stand in a text"
    if gist := _GIST.match(source):
        conversion.warn("SG604", message, f"<{name}", line, "a link to the gist stands in its place")
        return f'<a href="{gist[1]}">{gist[1]}</a>'
    conversion.warn(
        "SG604", message, f"<{name}", line, "it is left out" + ("" if name in _OF_HEAD else " with its content")
    )
    return ""


def _line_feeds(text: str) -> list[int]:
    return [feed.start() for feed in re.finditer("\n", text)]


def is_refused(name: str) -> bool:
    """Return whether an element and its content may not stand in a text."""
    return name in _SHOWN
