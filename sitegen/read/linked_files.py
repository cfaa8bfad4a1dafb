"""Find why a file that a text links to must not be published: a browser would run what it holds as a page of this site.

Names and first bytes go in.  A browser shows a file as a page by its type, which servers take from any end of its name
(`a.html.gz`), and some guess from the content.  XML and HTML without such a name begin with `<`.
"""

from __future__ import annotations

import contextlib
import zlib

from sitegen.model.image import BrokenImage

START = 2**16
"""The number of bytes at the beginning of a file that are looked at."""
_TEXTS = frozenset(["txt", "md", "markdown", "log", "csv", "tsv", "diff", "patch"])
"""Ends of the names of files that every server sends as text, whatever they hold."""
_HTML = ["html", "htm", "shtml", "xhtml", "xht", "mht", "mhtml", "php", "phtml", "asp", "aspx", "jsp"]
_XML = ["xml", "xsl", "xslt", "svgz", "rdf", "rss", "atom", "mathml", "mml", "xspf", "xul", "wsdl"]
_PAGES = frozenset([*_HTML, *_XML])
"""Parts of names by which servers send a file as HTML or XML, or run it themselves."""
_BEFORE_MARKUP = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n\f\v"
"""Bytes that can stand before the first `<`: marks of the encoding, zeros of UTF-16, white space."""
_PAGE = BrokenImage("is a page of its own, whose scripts could run as those of this site", "put it into a .zip file")


def fault_of_linked(path: str, start: bytes) -> BrokenImage | None:
    """Return the reason against publishing a file, or None; `start` are its first `START` bytes."""
    ends = path.rpartition("/")[2].lower().split(".")[1:]
    if ends and ends[-1] in _TEXTS:
        return None
    if not _PAGES.isdisjoint(ends) or "svg" in ends[:-1]:
        return _PAGE
    return _PAGE if _is_markup(start) or _is_markup(_unpacked(start)) else None


def _is_markup(start: bytes) -> bool:
    """Return whether a file begins as XML and HTML do, or with more white space than a page of text has."""
    text = start.lstrip(_BEFORE_MARKUP)
    return text.startswith(b"<") or (not text and len(start) >= START)


def _unpacked(start: bytes) -> bytes:
    """Return the beginning of what gzip packed; empty for another file.  Browsers unpack such a file by themselves."""
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(31).decompress(start, START)
    return b""
