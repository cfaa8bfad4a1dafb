"""Addresses in text → links, as the library linkify-it finds them, but only in a text that has few of them.

The library's search takes time by the square of the number of addresses: three thousand in one paragraph took it
seconds.  A paragraph with more than `MOST` is left without links.
"""

from __future__ import annotations

from functools import lru_cache

from linkify_it import LinkifyIt
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.linkify import linkify

MOST = 300
"""The most `//` of a text in which addresses are sought."""
_ONLY_WHOLE_ADDRESSES = {"fuzzy_link": False, "fuzzy_email": False}
"""Options of the search: only addresses with a scheme are linked, because `fused.py` is a file."""

_FOOTNOTE = "[^"
"""The beginning of a footnote's mark, which ends an address: the library takes brackets for a part of it."""


def autolinks_plugin(md: MarkdownIt) -> None:
    """Link the addresses in the texts of a parser."""
    md.enable("linkify")
    md.linkify = search = LinkifyIt(options=_ONLY_WHOLE_ADDRESSES)
    may_hold_address = search.pretest
    search.pretest = lambda text: has_few_addresses(text) and may_hold_address(text)
    matched = search.match_at_start
    search.match_at_start = lambda text: matched(text.partition(_FOOTNOTE)[0])
    md.inline.ruler.at("linkify", _at_address)


def has_few_addresses(text: str) -> bool:
    """Return whether addresses are sought in a text."""
    return text.count("//") <= MOST


_has_few_addresses = lru_cache(maxsize=1)(has_few_addresses)  # the same text is asked for at each of its addresses


def _at_address(state: StateInline, silent: bool) -> bool:
    return _has_few_addresses(state.src) and linkify(state, silent)
