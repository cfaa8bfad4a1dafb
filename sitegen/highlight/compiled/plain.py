"""Turn the rules of a state into nodes that skip plain text: blanks, operators and names in any order, in one match.

A round of the skipping reads what the first rule that matches would read, and no more than plain text.  So the other
rules of the state can begin wherever it ends.  If it ends too early, that costs time and changes nothing.  Rules that
match only where a line begins are tried there, once a line, and need not be tried elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sitegen.highlight.compiled import sets, trees
from sitegen.highlight.compiled.rules import Rule
from sitegen.highlight.compiled.sets import ALL, ASCII, NEWLINE, WORD, Mask
from sitegen.highlight.compiled.trees import C, Numbering, RegexNode, RegexTree
from sitegen.highlight.compiled.words import Identifiers

_RIVALS = 4
"""Most rivals of a rule that is tried in each round; a rule with more is left to the alternatives of its state."""
LINE_START = trees.with_flags(trees.sequence([(C.AT, C.AT_BEGINNING)]), trees.BY_LINES)


@dataclass(frozen=True, slots=True)
class Plain:
    """`nodes` skip plain text, perhaps none; `left` are the characters at which each rule may match after that."""

    nodes: list[RegexNode]
    left: list[Mask]
    alone: Mask


def plain_text(
    rules: Sequence[Rule], plain: str, error_is_plain: bool, words: Identifiers | None, into: Numbering
) -> Plain:
    others = [rule for rule in rules if not rule.at_line_start]
    no_line_rule = none_of([rule for rule in rules if rule.at_line_start and not rule.at_text_start], into)
    alone = _alone(others, plain, error_is_plain, bool(no_line_rule))
    before = _before_others(others, plain, error_is_plain, alone)
    rounds = _character_rounds(alone, before, no_line_rule)
    if words and words.kind is not None and words.kind == plain:
        rounds.insert(1, trees.sequence(words.nodes_without_meaning()))
    left = [_left(at, rule, rules, alone) for at, rule in enumerate(rules)]
    unread = ASCII & ~(alone | sum(before.values()) | (WORD if words and words.kind is not None else 0))
    rounds += _rule_rounds(rules, plain, left, unread, no_line_rule, into)
    start = none_of([rule for rule in rules if rule.at_line_start], into)
    return Plain(_skipping(rounds, alone, start, no_line_rule), left, alone)


def _alone(others: Sequence[Rule], plain: str, error_is_plain: bool, asks_at_lines: bool) -> Mask:
    """Return the characters that are plain one by one, whatever stands beside them."""
    unsettled, refused, earlier = ALL, 0, 0
    tails = []
    for rule in others:
        begins = rule.first & unsettled
        if not rule.is_plainly(plain) or (asks_at_lines and rule.tail & NEWLINE):
            refused |= begins
        else:
            tails.append((begins, rule.tail & earlier if rule.repeats else rule.tail))
        if rule.is_plainly(plain):
            unsettled &= ~rule.surely
        earlier |= rule.first
    refused |= unsettled & NEWLINE if error_is_plain else unsettled
    alone = ALL & ~refused
    return _closed(sets.exactly(alone), tails)


def _closed(alone: Mask, tails: Iterable[tuple[Mask, Mask]]) -> Mask:
    """Return `alone` without the characters at which a rule begins that goes on with other characters."""
    beyond = 0
    for begins, tail in tails:
        if tail & ~alone:
            beyond |= begins
    return _closed(alone & ~beyond, tails) if alone & beyond else alone


def _before_others(others: Sequence[Rule], plain: str, error_is_plain: bool, alone: Mask) -> dict[Mask, Mask]:
    """Return the characters that are plain unless certain others follow, by these: a point before no digit."""
    groups: dict[Mask, Mask] = {}
    for at in range(128):
        begin = 1 << at
        if begin & ~(alone | NEWLINE | WORD):
            follow = _follow(others, plain, error_is_plain, alone, begin)
            if follow is not None and follow != ALL:
                groups[follow] = groups.get(follow, 0) | begin
    return groups


def _follow(others: Sequence[Rule], plain: str, error_is_plain: bool, alone: Mask, begin: Mask) -> Mask | None:
    """The characters before which `begin` may be more than plain; None where it may be whatever follows."""
    follow = 0
    for rule in others:
        if not rule.first & begin:
            continue
        if rule.is_plainly(plain):
            if rule.tail & ~(alone & ~NEWLINE):
                return None
            if rule.surely & begin:
                return follow
        else:
            mask, ends = rule.second(begin)
            if ends or rule.empty:
                return None
            follow |= mask
    return follow if error_is_plain else None


def _character_rounds(alone: Mask, before: dict[Mask, Mask], no_line_rule: list[RegexNode]) -> list[RegexTree]:
    rounds = []
    within = alone & ~NEWLINE if no_line_rule else alone
    if within:
        rounds.append([trees.many(sets.characters(within))])
    if alone & NEWLINE and no_line_rule:
        rounds.append([sets.characters(NEWLINE), *no_line_rule])
    for follow, begin in before.items():
        rounds.append([sets.characters(begin), trees.not_followed_by([sets.characters(follow)])])
    return [trees.sequence(nodes) for nodes in rounds]


def _left(at: int, rule: Rule, rules: Sequence[Rule], alone: Mask) -> Mask:
    """The characters at which `rule` may match where no round of single characters goes on.

    Among them are those at which a line rule after it might match.
    """
    return rule.first if rule.at_line_start else rule.first & (~alone | _first_of_line_rules(rules[at:]))


def _first_of_line_rules(rules: Iterable[Rule]) -> Mask:
    return _first_of(rule for rule in rules if rule.at_line_start)


def _first_of(rules: Iterable[Rule]) -> Mask:
    mask = 0
    for rule in rules:
        mask |= rule.first
    return mask


def _rule_rounds(
    rules: Sequence[Rule], plain: str, left: list[Mask], unread: Mask, no_line_rule: list[RegexNode], into: Numbering
) -> Iterator[RegexTree]:
    """Yield rounds that read all that a rule reads; the characters of such a rule are removed from `left`."""
    for at, rule in enumerate(rules):
        if not rule.is_plainly(plain) or not left[at] & unread:
            continue
        rivals = [r for r, mask in zip(rules[:at], left, strict=False) if mask & rule.first and not r.at_line_start]
        free = sets.exactly(left[at] & ~_first_of(rivals))
        after = no_line_rule if (rule.first | rule.tail) & NEWLINE else []
        read = 0
        if free & unread:
            read |= free
            ahead = trees.followed_by([sets.characters(free)])
            yield trees.sequence([ahead, trees.at_once(rule.nodes(into)), *after])
        if left[at] & unread & ~free and len(rivals) <= _RIVALS:
            read = left[at]
            ahead = trees.followed_by([sets.characters(left[at])])
            yield trees.sequence([ahead, *none_of(rivals, into), trees.at_once(rule.nodes(into)), *after])
        if not after:
            left[at] &= ~read | _first_of_line_rules(rules[at:])


def _skipping(
    rounds: list[RegexTree], alone: Mask, start: list[RegexNode], no_line_rule: list[RegexNode]
) -> list[RegexNode]:
    if not rounds:
        return []
    skipping = [*start, trees.again_and_again(trees.either(rounds))]
    if no_line_rule and alone & NEWLINE:
        skipping.append(trees.many(sets.characters(NEWLINE), 0, 1))
    return trees.either([trees.sequence(skipping), trees.sequence([])]) if start else skipping


def none_of(rules: Sequence[Rule], into: Numbering) -> list[RegexNode]:
    if not rules:
        return []
    rivals = trees.either([trees.sequence(rule.nodes(into)) for rule in rules])
    line = [LINE_START] if all(rule.at_line_start for rule in rules) else []
    return [trees.not_followed_by([*line, *rivals])]
