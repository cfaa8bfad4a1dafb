"""Shortcuts through markdown-it: the same HTML in less time.

`shortcuts` is the one switch: a parser without it reads every text the same, as the tests hold.  Each module says in
its docstring what it gains: the additional processor time without it, as a share of that of a cold build of the corpus
of 1,000 posts in one process.  Gains below 10 % were measured by parsing the corpus alone, because whole builds differ
by 2 % from run to run.  `quick_token`, `renderer` and the rule for null characters gain less than 3 % each, and 4 %
together.
"""

from __future__ import annotations

from markdown_it import MarkdownIt

from sitegen.markup.collected import add_rules
from sitegen.markup.fast.addresses import quick_addresses
from sitegen.markup.fast.core import quick_core
from sitegen.markup.fast.renderer import QuickRenderer
from sitegen.markup.fast.rules_by_character import rules_by_first_character
from sitegen.markup.fast.tables import render_rows


def shortcuts(md: MarkdownIt) -> None:
    """Add the shortcuts to a parser that has all its rules."""
    rules = md.renderer.rules  # type: ignore[attr-defined]
    md.renderer = QuickRenderer(md)
    add_rules(md, {**rules, "table_rows": render_rows})
    quick_addresses(md)
    quick_core(md)
    rules_by_first_character(md)
