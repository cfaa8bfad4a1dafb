"""Turn the rules of a state into one look-up of identifiers, in place of all the lists that a lexer tries in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sitegen.highlight.compiled import sets, trees
from sitegen.highlight.compiled.rules import NAME, Rule, Tables
from sitegen.highlight.compiled.sets import ALL, OTHERS, WORD, WORD_START, Mask
from sitegen.highlight.compiled.trees import REPEATS, C, RegexNode, RegexTree

_NOT_IN_NAMES = sets.mask_of(" \t\n(){}[],;")
_MOST = 500
"""Most words with which a rule may begin; a rule with more words is not looked up."""
_OFTEN_FIRST = "tsinpocrmaxbdflegkwhyuvqjz_"
"""Letters in about the order in which names begin with them."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Endless(Exception):
    """A rule begins with words which cannot be listed."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A word of a list: it has the `kind`, unless it stands after the character `after`."""

    kind: str
    after: str = ""

    def rule(self, word: str) -> Rule:
        return Rule(rf"(?<!{re.escape(self.after)}){word}\b", 0, self.kind, (), None)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a word: `longer` are rules that may read more than the word, in their order; else it is a `kind`.

    The word is a plain name after the character `after`, as `max` in `x.max`, and before a character that is not in
    `before`, as `f` in `f(x)`.  Without a kind later rules decide.
    """

    kind: str | None
    longer: tuple[Rule, ...] = ()
    after: str = ""
    before: Mask = ALL


@dataclass(frozen=True, slots=True)
class Identifiers:
    """The meanings that the rules before index `end` give to words, except for rules that match only at line starts.

    At `end` is a rule for names, which makes a `kind` of a word without a meaning; or, without a kind, any other
    rule.  Where one of `no_end` follows a word, the rules must be tried in turn.
    """

    meanings: Mapping[str, Meaning]
    kind: str | None
    no_end: Mask
    end: int

    def nodes(self) -> list[RegexNode]:
        """Return the nodes that match a word: any of ASCII where there is a rule for names, or one with a meaning."""
        if self.kind is not None:
            return [sets.characters(WORD_START), *self._rest()]
        befores: dict[Mask, list[str]] = {}
        for word, meaning in self.meanings.items():
            befores.setdefault(meaning.before, []).append(word)
        no_end = WORD | self.no_end
        return trees.either([trees.sequence([*trees.trie(group), _end(at, no_end)]) for at, group in befores.items()])

    def odd_nodes(self) -> list[RegexNode]:
        """Return the nodes that look ahead to a word for which the rules must be tried in turn."""
        word = [sets.characters(WORD_START), trees.many(sets.characters(WORD), 0), sets.characters(self.no_end)]
        return [trees.followed_by(word)]

    def nodes_without_meaning(self) -> list[RegexNode]:
        """Return the nodes that match a word without a meaning: each first letter is tested for its words."""
        words: dict[str, list[str]] = {}
        for word in self.meanings:
            words.setdefault(word[0], []).append(word)
        others = WORD_START & ~sets.mask_of(words)
        letters = [trees.sequence([sets.characters(others)])] if others else []
        for letter in sorted(words, key=lambda letter: _OFTEN_FIRST.find(letter) % 128):
            with_meaning = trees.either(self._with_meaning(letter, words[letter]))
            letters.append(trees.sequence([(C.LITERAL, ord(letter)), trees.not_followed_by(with_meaning)]))
        return [*trees.either(letters), *self._rest()]

    def _with_meaning(self, letter: str, words: list[str]) -> list[RegexTree]:
        """Return the trees of the rest of `words` behind their first letter."""
        groups: dict[tuple[str, Mask], list[str]] = {}
        for word in words:
            groups.setdefault((self.meanings[word].after, self.meanings[word].before), []).append(word[1:])
        return [
            trees.sequence([*_not_after(after, letter), *trees.trie(group), _end(before)])
            for (after, before), group in groups.items()
        ]

    def _rest(self) -> list[RegexNode]:
        return [trees.many(sets.characters(WORD), 0), trees.not_followed_by([sets.characters(self.no_end)])]


def identifiers(rules: Sequence[Rule], tables: Tables, plain: str) -> Identifiers | None:
    """Return the look-up of words for the rules of a state; None where there is nothing to look up."""
    end, no_end = next(((at, mask) for at, rule in enumerate(rules) if (mask := _no_end(rule))), (len(rules), 0))
    by_name: dict[str, list[tuple[Rule | Listed, Mask]]] = {}
    for at, rule in enumerate(rules[:end]):
        try:
            for word, step, before in _listed_first_words(rule):
                if rule.at_line_start and word in by_name:
                    raise Endless
                if not rule.at_line_start:
                    _append(by_name.setdefault(word, []), step, before)
        except Endless:
            if by_name or not rule.at_line_start:
                end, no_end = at, 0
                break
    if no_end and rules[end].whole == NAME:
        for word, known in tables.known_names.items():
            if _IDENTIFIER.fullmatch(word):
                _append(by_name.setdefault(word, []), Listed(known), ALL)
    kind = _kind(rules[end], tables) if no_end else None
    meanings = {word: meaning for word, steps in by_name.items() if (meaning := _meaning(word, steps, kind, plain))}
    return Identifiers(meanings, kind, no_end or OTHERS, end) if meanings or no_end else None


def _kind(rule: Rule, tables: Tables) -> str:
    return tables.name if rule.whole == NAME else str(rule.whole)


def _append(steps: list[tuple[Rule | Listed, Mask]], step: Rule | Listed, before: Mask) -> None:
    """Append a step, unless an earlier list has the word without a condition: no later step is tried then."""
    last = steps[-1][0] if steps else None
    if not isinstance(last, Listed) or last.after:
        steps.append((step, before))


def _meaning(word: str, steps: list[tuple[Rule | Listed, Mask]], name: str | None, plain: str) -> Meaning | None:
    """Return the meaning of a word; None for a name like any other."""
    last, _ = steps[-1]
    kind = name
    if isinstance(last, Listed) and not last.after:
        kind = last.kind
        steps = steps[:-1]
    if not steps:
        return Meaning(kind) if kind != name else None
    first, before = steps[0]
    if len(steps) == 1 and isinstance(first, Listed) and kind == name == plain:
        return Meaning(first.kind, after=first.after)
    for _, mask in steps:
        before |= mask
    longer = tuple(step.rule(word) if isinstance(step, Listed) else step for step, _ in steps)
    return Meaning(kind, longer, before=before if kind == name else ALL)


@cache
def _listed_first_words(rule: Rule) -> list[tuple[str, Rule | Listed, Mask]]:
    return list(_first_words(rule))


def _first_words(rule: Rule) -> Iterator[tuple[str, Rule | Listed, Mask]]:
    """Yield each word with which a match of `rule` can begin, what the rule makes of it, and what must follow it."""
    if rule.listed:
        yield from _of_list(rule, *rule.listed)
    elif rule.empty:
        raise Endless
    elif rule.first & WORD_START:
        after, body = _parted(rule.tree)
        is_list = body is not None and _is_spelled(body) and rule.is_simple
        for word, before in sorted(_heads(rule.tree).items()):
            yield word, Listed(str(rule.whole), after) if is_list else rule, before


def _of_list(rule: Rule, after: str, members: Sequence[str]) -> Iterator[tuple[str, Rule | Listed, Mask]]:
    """Yield the words of a list; a member that is more than a word (`yield from`) becomes a rule at its first word."""
    for member in sorted(members, key=len, reverse=True):
        word = _IDENTIFIER.match(member)
        if word and word[0] == member:
            yield member, Listed(str(rule.whole), after) if rule.is_simple else rule, ALL
        elif word:
            yield word[0], rule.of_one(member), ALL


def _parted(tree: RegexTree) -> tuple[str, RegexTree | None]:
    r"""Return the character not to stand after, and what is before `\b` at the end; None without such an end."""
    after = trees.not_after_what(tree)
    ends = tree[-1] == (C.AT, C.AT_BOUNDARY)
    return after, tree[1 if after else 0 : -1] if ends else None


def _is_spelled(tree: RegexTree) -> bool:
    """Return whether a tree matches only words."""
    return len(tree) > 0 and all(
        (op in (C.LITERAL, C.IN) and not (sets.single((op, value), 0) or 0) & ~WORD)
        or (op is C.SUBPATTERN and not value[1] and _is_spelled(value[3]))
        or (op is C.BRANCH and all(map(_is_spelled, value[1])))
        or (op is C.MAX_REPEAT and value[1] == 1 and _is_spelled(value[2]))
        for op, value in tree.data
    )


def _heads(tree: RegexTree) -> dict[str, Mask]:
    """Return the words of ASCII with which a match can begin, and the characters that may follow each.

    Raises Endless also where a match can end within a word.
    """
    done: dict[str, Mask] = {}
    if any(_begin(tree, tree.state.flags, {""}, done)):
        raise Endless
    return done


def _begin(tree: RegexTree, flags: int, begun: set[str], done: dict[str, Mask]) -> set[str]:
    """Return the beginnings `begun`, lengthened by what `tree` reads; words that it ends are added to `done`."""
    for op, value in tree.data:
        if not begun:
            return begun
        one = sets.single((op, value), flags)
        if one is not None:
            begun = _lengthened(begun, one, done)
        elif op is C.AT:
            begun = _ended(begun, value, done)
        elif op is C.BRANCH:
            begun = set().union(*(_begin(branch, flags, begun, done) for branch in value[1]))
        elif op is C.SUBPATTERN:
            begun = _begin(value[3], (flags | value[1]) & ~value[2], begun, done)
        elif op is C.ATOMIC_GROUP:
            begun = _begin(value, flags, begun, done)
        elif op in REPEATS:
            begun = _repeated(value[2], flags, begun, done, value[0], value[1])
        elif op in (C.ASSERT, C.ASSERT_NOT):
            begun = _asked(begun, op, value, flags, done)
        else:
            raise Endless
        if len(begun) + len(done) > _MOST:
            raise Endless
    return begun


def _lengthened(begun: set[str], one: Mask, done: dict[str, Mask]) -> set[str]:
    if (one & WORD).bit_count() > 12:
        raise Endless
    letters = [chr(at) for at in range(128) if one & WORD & 1 << at]
    _finish(begun, one & ~WORD, done)
    starts = [letter for letter in letters if not letter.isdigit()]
    return {word + letter for word in begun for letter in (letters if word else starts)}


def _ended(begun: set[str], where: Any, done: dict[str, Mask]) -> set[str]:
    r"""Return the beginnings that a place leaves open: a word ends at `\b`.

    Before a word, neither `\b` nor the beginning of a line says anything.
    """
    if where is C.AT_BOUNDARY:
        _finish(begun, ALL & ~WORD, done)
        return begun & {""}
    if any(begun):
        raise Endless
    return begun


def _asked(begun: set[str], op: Any, value: Any, flags: int, done: dict[str, Mask]) -> set[str]:
    """Return the beginnings that a look-ahead leaves open: it ends a word where no character of a word may follow."""
    direction, tree = value
    mask, empty = sets.first(tree, flags)
    if direction < 0 or empty or len(tree) != 1:
        return begun
    if op is C.ASSERT and not mask & WORD:
        _finish(begun, mask, done)
    elif op is C.ASSERT_NOT and not WORD & ~sets.certain(tree[0], flags):
        _finish(begun, ALL & ~WORD, done)
    else:
        return begun
    return begun & {""}


def _finish(begun: set[str], before: Mask, done: dict[str, Mask]) -> None:
    for word in begun - {""} if before else ():
        done[word] = done.get(word, 0) | before


def _repeated(tree: RegexTree, flags: int, begun: set[str], done: dict[str, Mask], least: int, most: int) -> set[str]:
    """Return the beginnings after a repetition.  Raises Endless when it keeps making words longer."""
    reached = set() if least else set(begun)
    for count in range(1, 8):
        if not begun or count > most:
            return reached
        longer = _begin(tree, flags, begun, done)
        if longer == begun:
            return reached | longer
        begun = longer
        reached |= begun if count >= least else set()
    raise Endless


def _no_end(rule: Rule) -> Mask:
    """Return the characters that may continue a word of ASCII letters in a rule for names; 0 for any other rule."""
    flags = 0 if rule.listed else rule.tree.state.flags
    if not flags or flags & trees.IGNORE_CASE or not rule.is_simple:
        return 0
    nodes = list(rule.tree)
    if nodes[0][0] is C.ASSERT_NOT and nodes[0][1][0] == 1 and not sets.first(nodes[0][1][1], flags)[0] & WORD_START:
        nodes = nodes[1:]  # (?!\d)
    if len(nodes) == 2 and not WORD_START & ~_letters([nodes[0]], flags):
        nodes, least = nodes[1:], 0
    else:
        least = 1
    if len(nodes) != 1 or nodes[0][0] is not C.MAX_REPEAT or nodes[0][1][:2] != (least, C.MAXREPEAT):
        return 0
    body = nodes[0][1][2]
    no_end = sets.first(body, flags)[0] & ~WORD | OTHERS
    return 0 if WORD & ~_letters(body, flags) or no_end & _NOT_IN_NAMES else no_end


def _letters(nodes: Sequence[RegexNode], flags: int) -> Mask:
    """Return the characters that `nodes` take one at a time; 0 where they can begin with a letter and take more."""
    if len(nodes) != 1:
        return 0
    op, value = nodes[0]
    if op is C.SUBPATTERN and not value[1]:
        return _letters(value[3], flags)
    if op is not C.BRANCH:
        return sets.certain(nodes[0], flags)
    taken = 0
    for branch in value[1]:
        letters = _letters(branch, flags)
        if not letters and sets.first(branch, flags)[0] & WORD:
            return 0
        taken |= letters
    return taken


def _end(before: Mask, no_end: Mask = WORD) -> RegexNode:
    """Return the look-ahead at the end of a word: one of `before` follows, or any character but `no_end`."""
    if ALL & ~(before | WORD):
        return trees.followed_by([sets.characters(before)])
    return trees.not_followed_by([sets.characters(no_end)])


def _not_after(after: str, letter: str) -> list[RegexNode]:
    """Return the look-behind that refuses `letter`, just read, after the character `after`."""
    return [trees.not_after([(C.LITERAL, ord(after)), (C.LITERAL, ord(letter))])] if after else []
