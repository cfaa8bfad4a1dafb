"""Turn a rule that enters a string, and the rules of the string, into one rule for a whole string of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sitegen.highlight.compiled import trees
from sitegen.highlight.compiled.plain import none_of, plain_text
from sitegen.highlight.compiled.rules import Rule, Tables
from sitegen.highlight.compiled.sets import WORD_START

_MOST = 12
"""Most rules of a state that is tried as a string: a state with more rules holds code."""


def whole_strings(rules: Sequence[Rule], tables: Tables, plain: str) -> list[Rule]:
    """Return `rules`, with a rule for a whole simple string before each rule that begins such a string."""
    wholes = [(_whole_string(rule, tables) if rule.whole != plain else None, rule) for rule in rules]
    return [rule for pair in wholes for rule in pair if rule is not None]


@cache
def _whole_string(rule: Rule, tables: Tables) -> Rule | None:
    """Return the rule for a whole string of one kind with nothing else in it; None for other strings.

    Strings that begin with a letter are left out, too: words are looked up, and most words begin no string.
    """
    if not isinstance(rule.whole, str) or not isinstance(rule.target, tuple) or len(rule.target) != 1:
        return None
    if rule.empty or not rule.first & ~WORD_START:
        return None
    inside = tables.get(rule.target[0])
    end = next((at for at, other in enumerate(inside) if other.whole == rule.whole and other.target == -1), None)
    if end is None or inside[end].empty:
        return None
    into = trees.Numbering()
    text = plain_text(inside, rule.whole, False, None, into)
    if not text.nodes or (len(inside) > _MOST and not text.alone):
        return None
    rivals = [other for other, left in zip(inside[:end], text.left, strict=False) if left & inside[end].first]
    begun = trees.at_once([*rule.nodes(into), trees.at_once(text.nodes)])
    nodes = [begun, *none_of(rivals, into), *inside[end].nodes(into)]
    return Rule(into.pattern(nodes), 0, rule.whole, (), None)
