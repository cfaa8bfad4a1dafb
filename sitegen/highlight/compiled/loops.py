"""Rewrite a rule's tree so that a loop gives nothing back where that cannot help; the tree matches the same.

A loop gives back what it has read only if what follows could begin with it.  A rule's end is final: Pygments takes the
first match of a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sitegen.highlight.compiled import sets, trees
from sitegen.highlight.compiled.sets import ALL, Mask
from sitegen.highlight.compiled.trees import C, RegexNode, RegexTree


def tightened(tree: RegexTree, flags: int, follow: Mask = 0) -> RegexTree:
    """Return the rewritten tree; `follow` are the characters with which the text after `tree` can begin."""
    nodes: list[RegexNode] = []
    for node in reversed(tree.data):
        nodes.append(_tightened(node, flags, follow))
        follow = _first_or(node, flags, follow)
    return trees.like(tree, reversed(nodes))


def _first_or(node: RegexNode, flags: int, follow: Mask) -> Mask:
    """Return the characters with which `node` and what follows can begin; all for a node that tests more."""
    op, value = node
    if op is C.ASSERT and value[0] > 0:
        mask, empty = sets.first(value[1], flags)
        return ALL if empty else mask
    if op in (C.AT, C.ASSERT, C.ASSERT_NOT):
        return ALL
    mask, empty = sets.first(trees.sequence([node]), flags)
    return mask | follow if empty else mask


def _tightened(node: RegexNode, flags: int, follow: Mask) -> RegexNode:
    op, value = node
    if op is C.SUBPATTERN:
        group, added, removed, tree = value
        return (op, (group, added, removed, tightened(tree, (flags | added) & ~removed, follow)))
    if op is C.IN and not flags & trees.IGNORE_CASE:
        return (op, trees.arranged(value))
    if op is C.BRANCH:
        return (op, (None, [tightened(tree, flags, follow) for tree in value[1]]))
    if op is C.MAX_REPEAT:
        return _loop(value, flags, follow)
    if op in (C.ASSERT, C.ASSERT_NOT) and value[0] > 0:
        return (op, (value[0], tightened(value[1], flags)))
    return (op, value)


def _loop(value: Any, flags: int, follow: Mask) -> RegexNode:
    least, most, body = value
    one = sets.single(body[0], flags) if len(body) == 1 else None
    if one is not None:
        inside = trees.sequence([_tightened(body[0], flags, follow)])
        return (C.MAX_REPEAT if one & follow else C.POSSESSIVE_REPEAT, (least, most, inside))
    inside = tightened(body, flags, follow | sets.first(body, flags)[0])
    if least < 2 and most is C.MAXREPEAT and len(body) == 1 and body[0][0] is C.BRANCH:
        inside = trees.sequence([(C.BRANCH, (None, _rounds(inside[0][1][1], flags, follow)))])
    return (C.MAX_REPEAT, (least, most, inside))


def _rounds(branches: Sequence[RegexTree], flags: int, follow: Mask) -> list[RegexTree]:
    """Return the alternatives of a loop; one reads many characters a round if no other can read any of them."""
    firsts = [sets.first(branch, flags) for branch in branches]
    rounds = list(branches)
    for at, branch in enumerate(branches):
        one = sets.single(branch[0], flags) if len(branch) == 1 else None
        others = [ALL if empty else mask for other, (mask, empty) in enumerate(firsts) if other != at]
        if one is not None and not one & follow and not any(one & mask for mask in others):
            rounds[at] = trees.sequence([trees.many(branch[0])])
    return rounds
