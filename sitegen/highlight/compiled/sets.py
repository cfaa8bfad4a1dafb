"""Compute from a parse tree, as masks, the characters with which a match can begin and those that can follow.

A mask has one bit for each character of ASCII and four for all others: blanks, digits, other letters, the rest.  Each
answer errs on one side only: `first`, `second` and `alphabet` may name too many characters, `surely` too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from sitegen.highlight.compiled import trees
from sitegen.highlight.compiled.trees import (
    DOT_ALL,
    IGNORE_CASE,
    ONLY_ASCII,
    REPEATS,
    SINGLES,
    C,
    Letters,
    RegexNode,
    RegexTree,
)

Mask = int
_BLANKS, _DIGITS, _LETTERS, _REST = (1 << at for at in range(128, 132))
OTHERS = _BLANKS | _DIGITS | _LETTERS | _REST
"""The set of all characters that are not ASCII."""
ASCII = (1 << 128) - 1
ALL = ASCII | OTHERS
_OTHERS_OF = {"d": _DIGITS, "s": _BLANKS, "w": _DIGITS | _LETTERS}
_IN_TWO_CASES_OUTSIDE = "iksIKS"
"""ASCII letters that are another case of a letter outside ASCII."""


def bit(letter: str) -> Mask:
    if letter.isascii():
        return 1 << ord(letter)
    if letter.isspace():
        return _BLANKS
    return (_DIGITS if letter.isdecimal() else _LETTERS) if letter.isalnum() else _REST


def mask_of(letters: Iterable[str]) -> Mask:
    mask = 0
    for letter in letters:
        mask |= bit(letter)
    return mask


NEWLINE = mask_of("\n")
_SMALL, _LARGE = mask_of(map(chr, range(97, 123))), mask_of(map(chr, range(65, 91)))
WORD_START = _SMALL | _LARGE | mask_of("_")
WORD = WORD_START | mask_of("0123456789")


def exactly(mask: Mask) -> Mask:
    """Return the part of `mask` that a regex can test: beyond ASCII all characters or none."""
    return mask if mask & OTHERS == OTHERS else mask & ASCII


@cache
def characters(mask: Mask) -> RegexNode:
    """Return the node that matches one character of `mask`; one bit for others stands for all of them."""
    if mask & ASCII == ASCII and mask & OTHERS:
        return (C.IN, [(C.CATEGORY, C.CATEGORY_SPACE), (C.CATEGORY, C.CATEGORY_NOT_SPACE)])
    return trees.characters(ASCII & ~mask if mask & OTHERS else mask, negated=bool(mask & OTHERS))


def first(tree: RegexTree, flags: int) -> tuple[Mask, bool]:
    """Return the characters with which a match can begin, and whether it can be empty."""
    mask = 0
    for op, value in tree.data:
        one = single((op, value), flags)
        if one is not None:
            return mask | one, False
        if op in (C.AT, C.ASSERT, C.ASSERT_NOT):
            continue
        inner = _parts(op, value, flags)
        if inner is None:
            return ALL, True
        empty = op in REPEATS and value[0] == 0
        for part, inner_flags in inner:
            part_mask, part_empty = first(part, inner_flags)
            mask, empty = mask | part_mask, empty or part_empty
        if not empty:
            return mask, False
    return mask, True


def second(tree: RegexTree, flags: int, begin: Mask) -> tuple[Mask, bool]:
    """Return the characters that can follow one of `begin` when a match begins, and whether it can end there."""
    mask, ends = 0, False
    for at, (op, value) in enumerate(tree.data):
        one = single((op, value), flags)
        if one is not None:
            inner, after_one = 0, bool(one & begin)
        elif op in (C.AT, C.ASSERT, C.ASSERT_NOT):
            continue
        else:
            parts = _parts(op, value, flags)
            if parts is None:
                return ALL, True
            inner, after_one = _second_of_parts(parts, begin, op in REPEATS and value[1] > 1)
        mask |= inner
        if after_one:
            rest, empty = first(tree[at + 1 :], flags)
            mask, ends = mask | rest, ends or empty
        if not first(tree[at : at + 1], flags)[1]:
            return mask, ends
    return mask, ends


def _second_of_parts(parts: list[tuple[RegexTree, int]], begin: Mask, again: bool) -> tuple[Mask, bool]:
    mask, ends = 0, False
    for part, flags in parts:
        inner, ends_there = second(part, flags, begin)
        mask, ends = mask | inner, ends or ends_there
        if ends_there and again:
            mask |= first(part, flags)[0]
    return mask, ends


def alphabet(tree: RegexTree, flags: int) -> Mask:
    """Return the characters that can be in a match."""
    mask = 0
    for op, value in tree.data:
        one = single((op, value), flags)
        if one is not None:
            mask |= one
        elif op not in (C.AT, C.ASSERT, C.ASSERT_NOT):
            inner = _parts(op, value, flags)
            if inner is None:
                return ALL
            for part, inner_flags in inner:
                mask |= alphabet(part, inner_flags)
    return mask


def looks_around(tree: RegexTree) -> bool:
    """Return whether a match may depend on more than its first and later characters: on its place, on earlier text."""
    parts = [_parts(op, value, 0) for op, value in tree.data if op not in SINGLES]
    return any(inner is None or any(looks_around(part) for part, _ in inner) for inner in parts)


def tail(tree: RegexTree, flags: int) -> Mask:
    """Return the characters that can be in a match after its first."""
    if len(tree) == 0 or single(tree[0], flags) is not None:
        return alphabet(tree[1:], flags)
    op, value = tree[0]
    if op not in (C.BRANCH, C.SUBPATTERN) or first(tree[:1], flags)[1]:
        return alphabet(tree, flags)
    mask = alphabet(tree[1:], flags)
    for part, inner_flags in _parts(op, value, flags) or ():
        mask |= tail(part, inner_flags)
    return mask


def surely(tree: RegexTree, flags: int) -> Mask:
    """Return the characters at which the tree matches, whatever follows them."""
    if len(tree) != 1:
        return 0
    op, value = tree[0]
    if op in REPEATS:
        return surely(value[2], flags) if value[0] <= 1 else 0
    if op in (C.BRANCH, C.SUBPATTERN):
        mask = 0
        for part, inner_flags in _parts(op, value, flags) or ():
            mask |= surely(part, inner_flags)
        return mask
    return certain(tree[0], flags)


def single(node: RegexNode, flags: int) -> Mask | None:
    """Return the characters that a node for one character takes; None for any other node."""
    return _bounds(node, flags)[1] if node[0] in SINGLES else None


def certain(node: RegexNode, flags: int) -> Mask:
    """Return the characters that a node for one character certainly takes; 0 for any other node."""
    return _bounds(node, flags)[0] if node[0] in SINGLES else 0


def _bounds(node: RegexNode, flags: int) -> tuple[Mask, Mask]:
    """Return the characters that a node certainly takes, and those that it may take."""
    op, value = node
    if op is C.ANY:
        return (ALL, ALL) if flags & DOT_ALL else (ALL & ~NEWLINE, ALL & ~NEWLINE)
    if op is C.IN:
        return _of_members(tuple(value.written if isinstance(value, Letters) else value), flags)
    if op is C.LITERAL and value < 128 and not flags & IGNORE_CASE:
        return 1 << value, 1 << value
    return _of_members((*([(C.NEGATE, None)] if op is C.NOT_LITERAL else []), (C.LITERAL, value)), flags)


@cache
def _of_members(members: tuple[RegexNode, ...], flags: int) -> tuple[Mask, Mask]:
    least = most = 0
    for op, value in members:
        few, many = _member(op, value, flags)
        least, most = least | few, most | many
    if flags & IGNORE_CASE:
        least, most = _in_both_cases(least, most)
    return (ALL & ~most, ALL & ~least) if members[0][0] is C.NEGATE else (least, most)


def _member(op: Any, value: Any, flags: int) -> tuple[Mask, Mask]:
    if op is C.NEGATE:
        return 0, 0
    if op is C.LITERAL:
        return bit(chr(value)) & ASCII, bit(chr(value))
    if op is C.RANGE:
        low, high = value
        mask = (1 << min(high, 127) + 1) - (1 << low) if low < 128 else 0
        return mask, mask | (OTHERS if high > 127 else 0)
    if op is C.CATEGORY:
        mask = _category(str(value))
        return (mask & ASCII, mask | OTHERS) if flags & ONLY_ASCII else (mask, mask)
    if op is C.CHARSET:
        mask = sum(word << 32 * at for at, word in enumerate(value))
        return mask & ASCII, mask & ASCII | (OTHERS if mask & ~ASCII else 0)
    return 0, ALL


def _in_both_cases(least: Mask, most: Mask) -> tuple[Mask, Mask]:
    least, most = (mask | (mask & _SMALL) >> 32 | (mask & _LARGE) << 32 for mask in (least, most))
    if most & OTHERS:
        most |= mask_of(_IN_TWO_CASES_OUTSIDE)
    return least & ASCII, most | (OTHERS if most & mask_of(_IN_TWO_CASES_OUTSIDE) else 0)


def _parts(op: Any, value: Any, flags: int) -> list[tuple[RegexTree, int]] | None:
    """Return the trees inside a node, each with its flags; None where it is not known what the node takes."""
    if op is C.BRANCH:
        return [(tree, flags) for tree in value[1]]
    if op is C.SUBPATTERN:
        return [(value[3], (flags | value[1]) & ~value[2])]
    if op is C.ATOMIC_GROUP:
        return [(value, flags)]
    if op in REPEATS:
        return [(value[2], flags)]
    return None


@cache
def _category(name: str) -> Mask:
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.rpartition("_")[2]]
    mask = mask_of(re.findall(rf"\{letter}", "".join(map(chr, range(128))))) | _OTHERS_OF[letter]
    return ALL & ~mask if "_NOT_" in name else mask
