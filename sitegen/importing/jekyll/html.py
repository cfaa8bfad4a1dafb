"""HTML in a Jekyll text → HTML that a text of sitegen may hold; what it may not hold is shown as code, and reported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape, unescape

from sitegen.importing.jekyll.inserts import Insert
from sitegen.importing.jekyll.work import Work
from sitegen.markup.rawhtml import ALLOWED, VOID

_VALUE = r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+)"
TAG = re.compile(rf"<(/?)([A-Za-z][\w-]*)((?:\s+[^\s\"'<>/=]+(?:\s*=\s*{_VALUE})?)*)\s*(/?)>")
ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?")
SPANS = frozenset(
    re.findall(
        r"[\w-]+",
        "a abbr acronym b big bdo br button cite code del dfn em font i img input ins kbd label mark option q rb rbc "
        "rp rt rtc ruby s samp select small span strike strong sub sup textarea time tt u var d-cite d-footnote d-math",
    )
)
"""kramdown begins no block of HTML with these."""
_RENAMED: Mapping[str, str] = {
    "acronym": "abbr",
    "big": "span",
    "center": "div",
    "font": "span",
    "h1": "h2",
    "strike": "s",
    "tt": "code",
}
_SECTIONS = frozenset(re.findall(r"\w+", "address article body footer head header hgroup html main nav"))
_SHOWN = frozenset(
    re.findall(
        r"\w+",
        "applet button canvas embed fieldset form iframe label legend link math meta noscript object option script "
        "select style template textarea",
    )
)
_PRE = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL | re.IGNORECASE)


def element_end(text: str, start: int) -> int | None:
    """Where the element that begins at `start` ends; None where nothing closes it."""
    opening = TAG.match(text, start)
    if opening is None:
        return None
    name = opening[2].lower()
    if opening[4] or name in VOID or opening[1]:
        return opening.end()
    depth = 0
    for tag in re.finditer(rf"<(/?){re.escape(name)}\b[^>]*?(/?)>", text[start:], re.IGNORECASE):
        depth += -1 if tag[1] else 0 if tag[2] else 1
        if depth == 0:
            return start + tag.end()
    return None


def block_html(text: str, line: int, work: Work) -> str:
    """Elements of a block; without blank lines, which would end it.  Marks in it become HTML."""
    text = _without_refused(text, line, work)
    text = TAG.sub(lambda tag: tag_html(tag, line + text.count("\n", 0, tag.start()), work), text)
    text = work.inserts.html(text)
    pieces = _PRE.split(text)
    return "".join(
        re.sub(r"\n(?=[ \t]*\n)", "\n<!-- -->", piece) if at % 2 else re.sub(r"\n[ \t]*(?=\n)", "", piece)
        for at, piece in enumerate(pieces)
    ).strip("\n")


def tag_html(tag: re.Match[str], line: int, work: Work) -> str:
    """One tag, with the names and addresses that it has here."""
    closing, name, attributes, empty = tag[1], tag[2].lower(), tag[3], tag[4]
    name = _RENAMED.get(name, name)
    if name not in ALLOWED:
        if not name.startswith("d-") and name not in _SECTIONS:
            work.warn("SG604", f"`<{name}>` cannot stand in a text", tag[0], line, "it is shown as it is written")
            return escape(tag[0], quote=False)
        name = "div"
    if closing:
        return f"</{name}>" if name not in VOID else ""
    if name == "a" and "id=" not in attributes:
        attributes = re.sub(r"\sname=", " id=", attributes)  # which was how an anchor was written once
    written = "".join(_attribute(name, found, tag[0], line, work) for found in ATTRIBUTE.finditer(attributes))
    if name == "img" and "alt=" not in attributes:
        written += ' alt=""'
    if name == "img" and " src=" not in written:
        return _image_elsewhere(attributes, line, work)
    return f"<{name}{written}{'' if not empty or name in VOID else f'></{name}'}>"


def addresses(attributes: str) -> dict[str, str]:
    """Attributes by name."""
    found = ATTRIBUTE.finditer(attributes)
    return {one[1].lower(): unescape(one[2] or one[3] or one[4] or "") for one in found}


def _attribute(name: str, found: re.Match[str], tag: str, line: int, work: Work) -> str:
    key = found[1].lower()
    if found[2] is found[3] is found[4] is None:
        return f" {key}" if re.fullmatch(r"[a-z][\w-]*", key) and key != "markdown" else ""
    value = unescape(found[2] or found[3] or found[4] or "")
    if key == "markdown":
        return ""
    if key == "style" or key.startswith("on") or key in ("srcdoc", "formaction"):
        work.warn("SG604", f"the attribute `{key}` is left out: `{value}`", found[0], line, "style is the theme's")
        return ""
    value = work.inserts.verbatim(value)
    if key == "href" and name == "a":
        return f' href="{escape(link(value, line, work))}"'
    if key == "src" and name == "img":
        source = work.image(value)
        return f' src="{escape(source)}"' if source else ""
    if key in ("src", "poster"):
        return f' {key}="{escape(work.target(value).address)}"'
    if key in ("width", "height") and not value.isdigit():
        return ""
    if key in ("srcset", "sizes", "target", "rel", "loading", "align", "border", "valign", "bgcolor", "color", "face"):
        return ""
    return f' {key}="{escape(value)}"'


def link(written: str, line: int, work: Work) -> str:
    """Where a link leads now; one to what was not imported is written in full, and reported."""
    target = work.target(work.inserts.verbatim(written))
    if not target.known:
        hint = f"it is written as {target.address}"
        work.warn("SG603", f"`{written}` is nothing that was imported", written, line, hint)
    return target.address


def _image_elsewhere(attributes: str, line: int, work: Work) -> str:
    given = addresses(attributes)
    url = link_to_image(given.get("src", ""), line, work)
    words = given.get("alt") or given.get("src", "")
    return f'<a href="{escape(url)}">{escape(words, quote=False)}</a>'


def link_to_image(written: str, line: int, work: Work) -> str:
    """Of an image that is not in the Jekyll folder: a link takes its place."""
    target = work.target(work.inserts.verbatim(written))
    hint = "a link stands in its place; put the file beside the text"
    work.warn("SG603", f"the image `{written}` is not in this folder", written, line, hint)
    return target.address


def _without_refused(text: str, line: int, work: Work) -> str:
    """Elements that cannot stand here, with what is in them, become marks."""
    out, at = [], 0
    for tag in TAG.finditer(text):
        name = tag[2].lower()
        if tag.start() < at or not is_refused(name) or tag[1]:
            continue
        end = element_end(text, tag.start()) or tag.end()
        html = shown(text[tag.start() : end], name, line + text.count("\n", 0, tag.start()), work)
        out.append(text[at : tag.start()] + work.inserts.mark(Insert("", "", html, "")))
        at = end
    return "".join([*out, text[at:]])


def shown(source: str, name: str, line: int, work: Work) -> str:
    """An element that cannot stand here, as HTML."""
    source = work.inserts.verbatim(source)
    opening = TAG.match(source)
    url = addresses(opening[3]).get("src", "") if opening and name in ("iframe", "embed") else ""
    if url:
        work.warn("SG604", f"`<{name}>` cannot stand in a text", f"<{name}", line, "a link stands in its place")
        address = work.target(url).address
        return f'<a href="{escape(address)}">{escape(url, quote=False)}</a>'
    work.warn("SG604", f"`<{name}>` cannot stand in a text", f"<{name}", line, "it is shown as code")
    return f"<pre><code>{escape(source, quote=False)}</code></pre>"


def is_refused(name: str) -> bool:
    return name in _SHOWN
