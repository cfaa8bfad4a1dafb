"""Join parse trees of `re` into larger trees, and compile these into one regex.

Rules are joined as trees and not as text: flags stay with their rule, and no back-reference can be misread.
The parser and the compiler are Python's own, but not public; whoever meets an exception here takes Pygments instead.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from pygments import unistring

_parser: Any = importlib.import_module("re._parser")
_compiler: Any = importlib.import_module("re._compiler")
C: Any = importlib.import_module("re._constants")
"""The names of operations: C.IN, C.BRANCH, …"""

RegexTree = Any
"""`re._parser.SubPattern`: a sequence of nodes."""
RegexNode = tuple[Any, Any]
SINGLES = (C.LITERAL, C.NOT_LITERAL, C.IN, C.ANY)
"""The nodes for one character."""
REPEATS = (C.MAX_REPEAT, C.MIN_REPEAT, C.POSSESSIVE_REPEAT)
IGNORE_CASE, BY_LINES, DOT_ALL, ONLY_ASCII = map(int, (re.IGNORECASE, re.MULTILINE, re.DOTALL, re.ASCII))
_KEPT = IGNORE_CASE | BY_LINES | DOT_ALL | ONLY_ASCII
POSSESSIVE = re.compile("(?:ab?c)*+").match("aca", 0).end() == 2  # type: ignore[union-attr]
"""True if possessive repeats are right; early versions of Python 3.11 keep what the last, failed round has read."""
_LETTERS = {"\U000f0000": unistring.xid_start, "\U000f0001": unistring.xid_continue}
"""Pairs of a class of thousands of letters and the stand-in for it while a rule is parsed."""


_NO_GROUPS: Any = _parser.State()


class Letters(list[RegexNode]):
    """The members of a large class, in the form that the compiler wants and as they were written."""

    written: list[RegexNode]


@cache
def parse(source: str, flags: int) -> RegexTree:
    """Return the tree of a regex.

    Large classes are parsed and arranged once for all rules, because that takes longer than all other work.
    """
    for stand_in, letters in _LETTERS.items():
        source = source.replace(f"[{letters}]", stand_in)
    tree = _parser.parse(source, int(flags))
    if tree.state.flags & ~(_KEPT | int(re.VERBOSE | re.UNICODE)):
        raise ValueError(f"flags of {source!r}")
    if not source.isascii():
        _put_letters(tree)
    return tree


def compiled(tree: RegexTree) -> re.Pattern[str]:
    pattern: re.Pattern[str] = _compiler.compile(tree, int(re.UNICODE))
    return pattern


def characters(codes: int, negated: bool) -> RegexNode:
    """Return the node for a character whose bit is set, or for any other, in the form that compiles fastest."""
    if codes & (codes - 1) == 0:
        return (C.NOT_LITERAL if negated else C.LITERAL, codes.bit_length() - 1)
    bitmap = _compiler._mk_bitmap(bytes(codes >> at & 1 for at in range(256)))
    return (C.IN, [*([(C.NEGATE, None)] if negated else []), (C.CHARSET, tuple(bitmap))])


def arranged(members: list[RegexNode]) -> list[RegexNode]:
    """Return the members of a class in the form that compiles fastest."""
    if isinstance(members, Letters):
        return members
    known = _compiler._optimize_charset(members)[0]
    return [(op, tuple(value) if op in (C.CHARSET, C.BIGCHARSET) else value) for op, value in known]


def sequence(nodes: Iterable[RegexNode]) -> RegexTree:
    return _parser.SubPattern(_NO_GROUPS, list(nodes))


def like(tree: RegexTree, nodes: Iterable[RegexNode]) -> RegexTree:
    """Return a tree of `nodes` that has the groups of `tree`."""
    return _parser.SubPattern(tree.state, list(nodes))


def either(trees: Sequence[RegexTree]) -> list[RegexNode]:
    """Return the nodes that match the first of `trees` that matches."""
    return list(trees[0]) if len(trees) == 1 else [(C.BRANCH, (None, list(trees)))]


def with_flags(tree: RegexTree, flags: int) -> RegexNode:
    return (C.SUBPATTERN, (None, flags & _KEPT, 0, tree))


def followed_by(nodes: Iterable[RegexNode]) -> RegexNode:
    return (C.ASSERT, (1, sequence(nodes)))


def not_followed_by(nodes: Iterable[RegexNode]) -> RegexNode:
    return (C.ASSERT_NOT, (1, sequence(nodes)))


def not_after(nodes: Iterable[RegexNode]) -> RegexNode:
    return (C.ASSERT_NOT, (-1, sequence(nodes)))


def many(characters: RegexNode, least: int = 1, most: int = C.MAXREPEAT) -> RegexNode:
    """Return a loop over as many characters of a set as there are, which gives none of them back."""
    return (C.POSSESSIVE_REPEAT, (least, most, sequence([characters])))


def at_once(nodes: Iterable[RegexNode]) -> RegexNode:
    """Return a group in which `nodes` match once: nothing behind the group can make them match otherwise."""
    return (C.ATOMIC_GROUP, sequence(nodes))


def again_and_again(nodes: Iterable[RegexNode]) -> RegexNode:
    """Return a loop that matches `nodes` as often as possible and gives nothing back."""
    if POSSESSIVE:
        return (C.POSSESSIVE_REPEAT, (0, C.MAXREPEAT, sequence(nodes)))
    return at_once([(C.MAX_REPEAT, (0, C.MAXREPEAT, sequence(nodes)))])


def trie(words: Iterable[str]) -> list[RegexNode]:
    """Return the nodes that match the longest of `words` and look at each letter once."""
    return _trie(tuple(sorted(set(words), reverse=True)))


@cache
def _trie(words: tuple[str, ...]) -> list[RegexNode]:
    if len(words) == 1:
        return [(C.LITERAL, ord(letter)) for letter in words[0]]
    branches = []
    for letter, group in groupby(words, itemgetter(slice(1))):
        rest = _trie(tuple(word[1:] for word in group)) if letter else []
        branches.append(sequence([(C.LITERAL, ord(letter)), *rest] if letter else []))
    return either(branches)


def refers(tree: RegexTree) -> bool:
    """Return whether the tree refers to a group, so that groups must be kept."""
    return tree.state.groups > 1 and "GROUPREF" in repr(tree)


class Numbering:
    """Copies trees into one pattern, whose groups it numbers from 1."""

    def __init__(self) -> None:
        self._state: Any = _parser.State()

    def pattern(self, nodes: Iterable[RegexNode]) -> RegexTree:
        return _parser.SubPattern(self._state, list(nodes))

    @property
    def groups(self) -> int:
        """The number that the next group gets."""
        count: int = self._state.groups
        return count

    def open(self) -> int:
        number: int = self._state.opengroup()
        return number

    def close(self, number: int, nodes: Iterable[RegexNode]) -> RegexNode:
        tree = self.pattern(nodes)
        self._state.closegroup(number, tree)
        return (C.SUBPATTERN, (number, 0, 0, tree))

    def copy(self, tree: RegexTree, numbers: dict[int, int] | None) -> RegexTree:
        """Return a copy of a tree.

        `numbers` receives the new number of each group; without it, groups are left out.
        """
        return self.pattern(node for old in tree.data for node in self._copied(old, numbers))

    def _copied(self, node: RegexNode, numbers: dict[int, int] | None) -> list[RegexNode]:
        op, value = node
        if op is C.SUBPATTERN:
            return self._copied_group(value, numbers)
        if op is C.BRANCH:
            return [(op, (None, [self.copy(tree, numbers) for tree in value[1]]))]
        if op in REPEATS:
            return [(op, (*value[:2], self.copy(value[2], numbers)))]
        if op in (C.ASSERT, C.ASSERT_NOT):
            return [(op, (value[0], self.copy(value[1], numbers)))]
        if op is C.ATOMIC_GROUP:
            return [(op, self.copy(value, numbers))]
        if op is C.GROUPREF:
            return [(op, value if numbers is None else numbers[value])]
        if op is C.GROUPREF_EXISTS:
            raise ValueError("a condition on a group")
        return [(op, value)]

    def _copied_group(self, value: Any, numbers: dict[int, int] | None) -> list[RegexNode]:
        old, flags, without, tree = value
        if old is not None and numbers is not None:
            numbers[old] = self.open()
            return [self.close(numbers[old], self.copy(tree, numbers))]
        inside = self.copy(tree, numbers)
        return [(C.SUBPATTERN, (None, flags, without, inside))] if flags or without else list(inside)


@cache
def _letters(stand_in: str) -> Letters:
    written = _parser.parse(f"[{_LETTERS[stand_in]}]")[0][1]
    letters = Letters(_compiler._optimize_charset(written)[0])
    letters.written = written
    return letters


def _put_letters(tree: RegexTree) -> None:
    for at, (op, value) in enumerate(tree.data):
        if op is C.LITERAL and chr(value) in _LETTERS:
            tree[at] = (C.IN, _letters(chr(value)))
        for part in value if isinstance(value, (tuple, list)) else [value]:
            for inner in part if op is C.BRANCH and isinstance(part, list) else [part]:
                if isinstance(inner, _parser.SubPattern):
                    _put_letters(inner)


def begins_at(tree: RegexTree, *places: Any) -> bool:
    """Return whether a match can begin only at one of `places`."""
    if len(tree) == 0:
        return False
    op, value = tree[0]
    if op in (C.SUBPATTERN, C.ATOMIC_GROUP):
        return begins_at(value[3] if op is C.SUBPATTERN else value, *places)
    return op is C.AT and value in places


def not_after_what(tree: RegexTree) -> str:
    """Return the character of a look-behind `(?<!x)` with which a tree begins; empty where it begins otherwise."""
    if len(tree) == 0 or tree[0][0] is not C.ASSERT_NOT:
        return ""
    direction, inside = tree[0][1]
    return chr(inside[0][1]) if direction < 0 and len(inside) == 1 and inside[0][0] is C.LITERAL else ""


def is_repeat(tree: RegexTree) -> bool:
    """Return whether the tree is one or more characters of one set."""
    if len(tree) != 1 or tree[0][0] not in (C.MAX_REPEAT, C.POSSESSIVE_REPEAT):
        return False
    least, most, body = tree[0][1]
    return least == 1 and most is C.MAXREPEAT and len(body) == 1 and body[0][0] in SINGLES


def is_all_groups(tree: RegexTree, count: int) -> bool:
    """Return whether the tree is its groups 1 to `count` in order, so that no part of a match is outside them."""
    return [_group_of(node) for node in tree.data] == list(range(1, count + 1))


def _group_of(node: RegexNode) -> Any:
    """Return the number of the group that a node is, also of one that may be missing."""
    op, value = node
    if op is C.MAX_REPEAT and value[1] == 1 and len(value[2]) == 1:
        return _group_of(value[2][0])
    return value[0] if op is C.SUBPATTERN else None
