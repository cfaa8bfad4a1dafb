"""Turn the rules of a state into its program: one regex, and the meaning of each of its alternatives.

The regex skips plain text, in group 1; then one alternative has the next token, in a group of its own, by whose number
it is known.  Alternatives keep the order of the rules, except that those which share no first character may change
places and stand behind one look at that character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from sitegen.highlight.compiled import sets, trees
from sitegen.highlight.compiled.numbers import DIGITS, Numbers, numbers
from sitegen.highlight.compiled.plain import LINE_START, plain_text
from sitegen.highlight.compiled.rules import Rule, Tables
from sitegen.highlight.compiled.sets import ALL, WORD_START, Mask
from sitegen.highlight.compiled.strings import whole_strings
from sitegen.highlight.compiled.trees import Numbering, RegexNode, RegexTree
from sitegen.highlight.compiled.words import Identifiers, identifiers


@dataclass(frozen=True, slots=True)
class InTurn:
    """The rules are to be tried one after another, as Pygments does, where `ahead` is true or nothing else matched."""

    ahead: list[RegexNode]


Act = Rule | Identifiers | Numbers | InTurn
_FREQUENT = "%;{}\"'0#/$"


@dataclass(frozen=True, slots=True)
class Program:
    """The regex of a state; `acts` has the meaning of each group, None for group 1 and for groups within a token."""

    regex: re.Pattern[str]
    acts: Sequence[Act | None]
    rules: Sequence[Rule]


@dataclass(frozen=True, slots=True)
class _Alternative:
    """A branch of the regex, which begins only with characters of `first`."""

    first: Mask
    act: Act

    @property
    def at_line_start(self) -> bool:
        return isinstance(self.act, Rule) and self.act.at_line_start

    def nodes(self, into: Numbering) -> list[RegexNode]:
        if isinstance(self.act, Rule):
            return self.act.nodes(into, keep_groups=bool(self.act.parts))
        return self.act.ahead if isinstance(self.act, InTurn) else self.act.nodes()


def program_of(state: str, tables: Tables, plain: str, error_is_plain: bool) -> Program:
    rules = whole_strings(tables[state], tables, plain)
    words = identifiers(rules, tables, plain)
    into = Numbering()
    number = into.open()
    text = plain_text(rules, plain, error_is_plain, words, into)
    skipped = into.close(number, text.nodes)
    acts: list[Act | None] = [None, None]
    branches = _ordered(_alternatives(rules, words, text.left), into, acts)
    return Program(trees.compiled(into.pattern([skipped, *trees.either(branches)])), acts, rules)


def _alternatives(rules: Sequence[Rule], words: Identifiers | None, left: Sequence[Mask]) -> list[_Alternative]:
    """Return the branches in an order that keeps the lexer's where two can begin alike; the last always matches.

    Words that rules before the rule for names read are looked up first, except for rules of line starts.
    """
    alternatives = []
    after_lines = 0
    for at, (rule, first) in enumerate(zip(rules, left, strict=True)):
        looked_up = words is not None and at < words.end
        is_for_names = words is not None and words.kind is not None and at == words.end
        if is_for_names or (looked_up and not rule.at_line_start):
            first &= ~WORD_START
        if first and is_for_names:
            alternatives.append(_Alternative(first, InTurn([trees.followed_by([sets.characters(first)])])))
        elif first:
            alternatives.append(_Alternative(first, rule))
        if looked_up and rule.at_line_start:
            after_lines = len(alternatives)
    if words:
        both = [_Alternative(WORD_START, words), _Alternative(WORD_START, InTurn(words.odd_nodes()))]
        alternatives[after_lines:after_lines] = both
    return [*_with_numbers(alternatives), _Alternative(ALL, InTurn([]))]


def _with_numbers(alternatives: list[_Alternative]) -> list[_Alternative]:
    """Return the branches with one for all numbers in place of the first that can begin with a digit.

    No later branch has to begin with a digit then.  Rules of line starts are tried before it.
    """
    places = (at for at, alternative in enumerate(alternatives) if alternative.first & DIGITS)
    at_digits = list(dropwhile(lambda at: alternatives[at].at_line_start, places))
    looked_up = numbers([act for at in at_digits if isinstance(act := alternatives[at].act, Rule)])
    if looked_up is None:
        return alternatives
    first = at_digits[0]
    later = [_not_at_digits(other) for other in alternatives[first:] if other.first & ~DIGITS]
    return [*alternatives[:first], _Alternative(DIGITS, looked_up), *later]


def _not_at_digits(alternative: _Alternative) -> _Alternative:
    """Return the branch without digits as first characters; one that may match an empty text stays as it is."""
    return alternative if alternative.first == ALL else replace(alternative, first=alternative.first & ~DIGITS)


def _ordered(alternatives: Sequence[_Alternative], into: Numbering, acts: list[Act | None]) -> list[RegexTree]:
    """Return the branches with frequent ones early: branches that share no first character may change places."""
    for at, alternative in enumerate(alternatives):
        if alternative.first == ALL:
            before = _ordered(alternatives[:at], into, acts)
            alone = into.pattern([_numbered(alternative, into, acts)])
            return [*before, alone, *_ordered(alternatives[at + 1 :], into, acts)]
    lines = _lines_first(alternatives)
    others = [alternative for alternative in alternatives if alternative not in lines]
    items = [into.pattern([LINE_START, *_guarded(lines, [lines], into, acts)])] if lines else []
    for group in sorted(_apart(others), key=_rank):
        items.append(into.pattern(_guarded(group, _sections(group), into, acts)))
    return items


def _lines_first(alternatives: Sequence[_Alternative]) -> list[_Alternative]:
    """Return the branches that match only where a line begins, unless an earlier branch can begin alike."""
    lines: list[_Alternative] = []
    others = 0
    for alternative in alternatives:
        if alternative.at_line_start and not others & alternative.first:
            lines.append(alternative)
        else:
            others |= alternative.first
    return lines


def _apart(alternatives: Sequence[_Alternative]) -> list[list[_Alternative]]:
    """Return groups of alternatives; no two groups share a first character."""
    groups: list[list[int]] = []
    for at, alternative in enumerate(alternatives):
        shared = [group for group in groups if any(alternatives[other].first & alternative.first for other in group)]
        groups = [group for group in groups if group not in shared] + [sorted(sum(shared, [at]))]
    return [[alternatives[at] for at in group] for group in groups]


def _sections(group: Sequence[_Alternative]) -> list[list[_Alternative]]:
    """Return the parts of a group of which no two share a first character, in an order that keeps the group's.

    A new section begins where an alternative would join two parts.
    """
    done: list[list[_Alternative]] = []
    section: list[list[_Alternative]] = []
    for alternative in group:
        shared = [part for part in section if any(other.first & alternative.first for other in part)]
        if len(shared) > 1:
            done, section, shared = done + section, [], []
        if shared:
            shared[0].append(alternative)
        else:
            section.append([alternative])
    return done + section


def _rank(group: list[_Alternative]) -> int:
    """Return the rank of a group: words come first, then the groups with characters that are frequent in code."""
    if any(isinstance(alternative.act, Identifiers) for alternative in group):
        return -1
    first = _first_of(group)
    return next((rank for rank, letter in enumerate(_FREQUENT) if sets.bit(letter) & first), len(_FREQUENT))


def _first_of(group: Iterable[_Alternative]) -> Mask:
    mask = 0
    for alternative in group:
        mask |= alternative.first
    return mask


def _guarded(
    group: list[_Alternative], parts: list[list[_Alternative]], into: Numbering, acts: list[Act | None]
) -> list[RegexNode]:
    """Return the nodes of a group's alternatives, in parts, behind one look at the first character."""
    if len(group) == 1:
        return [_numbered(group[0], into, acts)]
    guard = trees.followed_by([sets.characters(_first_of(group))])
    if len(parts) == 1:
        return [guard, *trees.either([into.pattern([_numbered(part, into, acts)]) for part in group])]
    return [guard, *trees.either([into.pattern(_guarded(part, [part], into, acts)) for part in parts])]


def _numbered(alternative: _Alternative, into: Numbering, acts: list[Act | None]) -> RegexNode:
    number = into.open()
    acts.append(alternative.act)
    node = into.close(number, alternative.nodes(into))
    acts.extend([None] * (into.groups - len(acts)))
    return node
