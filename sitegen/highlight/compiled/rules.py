"""Turn a Pygments lexer class into its rules, state by state, read from its tables without compiling one of them.

A rule says what its match is called: one kind for the whole, or one part for each group.  A kind is a
string that the caller chooses: the class of a page, or the name of a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pygments.lexer import Lexer, RegexLexer, bygroups, this, using, words
from pygments.lexers.c_cpp import CFamilyLexer
from pygments.token import Keyword, Name, Text, _TokenType
from pygments.util import Future

from sitegen.highlight.compiled import sets, trees
from sitegen.highlight.compiled.loops import tightened
from sitegen.highlight.compiled.sets import Mask
from sitegen.highlight.compiled.trees import C, RegexTree

KindOf = Callable[[_TokenType], str]
Transition = int | str | tuple[str, ...] | None
"""The number of states to leave (negative), `#push`, or the states to enter; None stays in the state."""
NAME = "name?"
"""The kind of a name that a list of the lexer may know better (`Tables.known_names`)."""
_make: Any = bygroups
_BY_GROUPS = _make(Text).__code__
_make = using
_USING_THIS = _make(this).__code__


class Unsupported(Exception):
    """A lexer that does more than its tables say."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A part that the same lexer reads as a text of its own, beginning in `stack`."""

    stack: tuple[str, ...]


MatchPart = str | Nested | Callable[..., Any] | None
"""The kind of a match or of a group of it, or its reader; None leaves it out."""


@dataclass(eq=False)
class Rule:
    """A rule of a state; it has either `whole`, the part of the whole match, or `parts`, those of its groups."""

    source: str | Future | RegexTree
    flags: int
    whole: MatchPart
    parts: tuple[MatchPart, ...]
    target: Transition

    @cached_property
    def tree(self) -> RegexTree:
        source: Any = self.source
        if not isinstance(source, str) and hasattr(source, "get"):
            source = source.get()  # a list of words, which makes its regex
        return trees.parse(source, self.flags) if isinstance(source, str) else source

    @property
    def is_simple(self) -> bool:
        """True if the rule stays in its state and has one kind for all that it reads."""
        return isinstance(self.whole, str) and self.target is None

    @cached_property
    def listed(self) -> tuple[str, tuple[str, ...]] | None:
        """The character that no word of the rule's list may stand after, and the words; None without a list."""
        source = self.source
        if not isinstance(source, words) or source.suffix != r"\b" or self.flags & trees.IGNORE_CASE:
            return None
        prefix = trees.parse(source.prefix, 0)
        after = trees.not_after_what(prefix)
        letters = list(prefix)[1 if after else 0 :]
        if any(op is not C.LITERAL for op, _ in letters):
            return None
        text = "".join(chr(letter) for _, letter in letters)
        return after, tuple(text + word for word in source.words)

    def of_one(self, word: str) -> Rule:
        """Return the same rule for one word of its list."""
        after = f"(?<!{re.escape(self.listed[0])})" if self.listed and self.listed[0] else ""
        return Rule(rf"{after}{re.escape(word)}\b", self.flags, self.whole, self.parts, self.target)

    @cached_property
    def first(self) -> Mask:
        """The characters with which a match can begin; all characters, where the match can be empty."""
        mask, empty = self._first
        return sets.ALL if empty else mask

    @cached_property
    def empty(self) -> bool:
        return self._first[1]

    @cached_property
    def _first(self) -> tuple[Mask, bool]:
        if self.listed and all(self.listed[1]):
            return sets.mask_of(word[0] for word in self.listed[1]), False
        return sets.first(self.tree, self.tree.state.flags)

    @cached_property
    def tail(self) -> Mask:
        return sets.tail(self.tree, self.tree.state.flags)

    @cached_property
    def repeats(self) -> bool:
        """True if the rule reads characters of one set, as many as there are, and nothing else."""
        return trees.is_repeat(self.tree)

    @cached_property
    def surely(self) -> Mask:
        return sets.surely(self.tree, self.tree.state.flags)

    def second(self, begin: Mask) -> tuple[Mask, bool]:
        """Return the characters that can follow one of `begin`, and whether a match can end there."""
        if begin not in self._seconds:
            self._seconds[begin] = sets.second(self.tree, self.tree.state.flags, begin)
        return self._seconds[begin]

    @cached_property
    def _seconds(self) -> dict[Mask, tuple[Mask, bool]]:
        return {}

    @cached_property
    def at_line_start(self) -> bool:
        """True if the rule matches only at the beginning of a line."""
        return not self.listed and trees.begins_at(self.tree, C.AT_BEGINNING, C.AT_BEGINNING_STRING)

    @cached_property
    def at_text_start(self) -> bool:
        return self.at_line_start and trees.begins_at(self.tree, C.AT_BEGINNING_STRING)

    @cached_property
    def match(self) -> Callable[[str, int], re.Match[str] | None]:
        """The match function of the rule, compiled alone."""
        return trees.compiled(self.tree).match

    def is_plainly(self, kind: str) -> bool:
        """Return whether the rule only gives some characters this kind."""
        return self.whole == kind and self.target is None and not self.empty

    def nodes(self, into: trees.Numbering, keep_groups: bool = False) -> list[trees.RegexNode]:
        if keep_groups or self._refers:
            numbers: dict[int, int] = {}
            return [trees.with_flags(into.copy(self._in_groups, numbers), self.tree.state.flags)]
        return [self._bare]

    @cached_property
    def _refers(self) -> bool:
        return trees.refers(self.tree)

    @cached_property
    def _in_groups(self) -> RegexTree:
        return tightened(self.tree, self.tree.state.flags)

    @cached_property
    def _bare(self) -> trees.RegexNode:
        """The tree of the rule without its groups."""
        flags = self.tree.state.flags
        return trees.with_flags(tightened(trees.Numbering().copy(self.tree, None), flags), flags)


class Tables:
    """The states of a lexer.  `kind_of` names tokens."""

    def __init__(self, lexer: type[Lexer], kind_of: KindOf) -> None:
        self._kind_of = kind_of
        self._known_names = _known_names(lexer)
        self.known_names = {word: kind_of(token) for word, token in self._known_names.items()}
        self.name = kind_of(Name)
        self._raw = _tables(lexer)
        self._made: dict[int, Rule] = {}

    def __getitem__(self, state: str) -> list[Rule]:
        return [self._rule(raw) for raw in self._raw[state]]

    def get(self, state: str) -> list[Rule]:
        """Return the rules of a state; none for `#pop` and `#push`, which are no states."""
        return self[state] if state in self._raw else []

    def entered(self, state: str) -> list[str]:
        """Return the states that the rules of `state` enter."""
        targets = [target for _, _, target in self._raw[state] if isinstance(target, tuple)]
        return list(dict.fromkeys(other for target in targets for other in target if other in self._raw))

    def kind(self, token: _TokenType, text: str) -> str:
        """Return the kind of a token that another lexer made."""
        return self.known_names.get(text, self.name) if token is Name else self._kind_of(token)

    def _rule(self, raw: tuple[Any, Any, Transition]) -> Rule:
        """Return the rule of a row of the table, which is one object, however many states include it."""
        if id(raw) not in self._made:
            self._made[id(raw)] = self._new_rule(*raw)
        return self._made[id(raw)]

    def _new_rule(self, regex: Any, action: Any, target: Transition) -> Rule:
        source, flags = regex if isinstance(regex, tuple) else ("", 0)  # `default(…)` has a method in place of a regex
        if getattr(action, "__code__", None) is not _BY_GROUPS:
            return Rule(source, flags, self._part(action), (), target)
        rule = Rule(source, flags, None, tuple(map(self._part, _closure(action)["args"])), target)
        kinds = set(rule.parts)
        if len(kinds) == 1 and isinstance(rule.parts[0], str) and trees.is_all_groups(rule.tree, len(rule.parts)):
            return Rule(source, flags, rule.parts[0], (), target)
        return rule

    def _part(self, action: Any) -> MatchPart:
        if isinstance(action, _TokenType):
            return NAME if action is Name and self._known_names else self._kind_of(action)
        if getattr(action, "__code__", None) is _USING_THIS and not _closure(action).get("kwargs"):
            return Nested(tuple(_closure(action)["gt_kwargs"].get("stack", ("root",))))
        part: MatchPart = action
        return part


def _tables(lexer: type[Lexer]) -> Mapping[str, Sequence[tuple[Any, Any, Transition]]]:
    """Return rows (regex with flags, action, target) by state; Pygments resolves includes and inheritance."""
    if not issubclass(lexer, RegexLexer) or hasattr(lexer, "token_variants"):
        raise Unsupported(lexer.__name__)
    if lexer.get_tokens is not Lexer.get_tokens or lexer.__init__ not in (Lexer.__init__, CFamilyLexer.__init__):
        raise Unsupported(lexer.__name__)
    uncompiled = {"_process_regex": staticmethod(lambda regex, flags, _state: (regex, flags))}
    make_class: Any = type(lexer)
    copy = make_class("_Copy", (lexer,), uncompiled)
    copy._all_tokens, copy._tmpname = {}, 0
    tables: Mapping[str, Sequence[tuple[Any, Any, Transition]]] = copy.process_tokendef("", copy.get_tokendefs())
    return tables


def _known_names(lexer: type[Lexer]) -> dict[str, _TokenType]:
    """Return the kinds that lexers of C's family give to names after their tables have read them."""
    from pygments.lexers.c_like import CudaLexer

    known: dict[str, _TokenType] = {}
    reads = lexer.get_tokens_unprocessed
    if reads is CudaLexer.get_tokens_unprocessed:
        cuda: Any = lexer
        known |= dict.fromkeys(cuda.functions, Name.Function)
        known |= dict.fromkeys(cuda.function_qualifiers, Keyword.Reserved)
        known |= dict.fromkeys(cuda.execution_confs, Keyword.Pseudo)
        known |= dict.fromkeys(cuda.variables, Name.Builtin)
        known |= dict.fromkeys(cuda.vector_types | cuda.variable_qualifiers, Keyword.Type)
    elif reads is not CFamilyLexer.get_tokens_unprocessed:
        if reads is not RegexLexer.get_tokens_unprocessed:
            raise Unsupported(lexer.__name__)
        return known
    family: Any = lexer
    types = family.stdlib_types | family.c99_types | family.c11_atomic_types | family.linux_types
    return known | dict.fromkeys(types, Keyword.Type)


def _closure(function: Any) -> dict[str, Any]:
    return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in function.__closure__), strict=True))
