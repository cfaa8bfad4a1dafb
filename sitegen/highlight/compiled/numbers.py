"""Turn the rules of a state into a look-up of numbers: most listings have few numbers, and each of them many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.highlight.compiled import sets, trees
from sitegen.highlight.compiled.rules import Rule
from sitegen.highlight.compiled.sets import Mask
from sitegen.highlight.compiled.trees import RegexNode

DIGITS = sets.mask_of("0123456789")
_BLANKS = sets.mask_of(" \n")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The kinds of numbers: texts of characters of `alphabet` that begin with a digit, as `rules` read them.

    No rule reads or looks at another character, so the text up to the first other character decides the kind.
    """

    rules: tuple[Rule, ...]
    alphabet: Mask

    def nodes(self) -> list[RegexNode]:
        return [sets.characters(DIGITS), trees.many(sets.characters(self.alphabet), 0)]

    def kind(self, text: str) -> str | None:
        """Return the kind of a number; None where a rule reads less than `text`, or does more than to name it."""
        for rule in self.rules:
            if match := rule.match(text, 0):
                return str(rule.whole) if rule.is_simple and match.end() == len(text) else None
        return None


def numbers(rules: Sequence[Rule]) -> Numbers | None:
    """Return the look-up of the rules that may match at a digit, in their order; None where it would save nothing."""
    items: list[Rule] = []
    alphabet = 0
    for rule in rules:
        characters = _alphabet(rule)
        if not characters:
            break
        items.append(rule)
        alphabet |= characters
    return Numbers(tuple(items), alphabet) if len(items) > 1 else None


def _alphabet(rule: Rule) -> Mask:
    """Return the characters that a rule may read; 0 where a match depends on others, or may have any."""
    if rule.empty or sets.looks_around(rule.tree):
        return 0
    alphabet = sets.alphabet(rule.tree, rule.tree.state.flags)
    return 0 if alphabet & _BLANKS else alphabet
