"""Turn a text into pieces of HTML, each token in the HTML of its kind, by the programs of a lexer's states.

The tokens are those of Pygments, also where a text is wrong: this module follows `RegexLexer.get_tokens_unprocessed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from pygments.lexer import Lexer, _PseudoMatch
from pygments.token import Error, Whitespace, _TokenType

from sitegen.highlight.compiled.numbers import Numbers
from sitegen.highlight.compiled.program import Act, program_of
from sitegen.highlight.compiled.rules import NAME, KindOf, MatchPart, Nested, Rule, Tables, Transition
from sitegen.highlight.compiled.sets import bit
from sitegen.highlight.compiled.words import Identifiers, Meaning

_LONG = 60
"""Number of characters above which the HTML of a text is not remembered, because long texts seldom come twice."""
_MOST = 20_000

Show = Callable[[str, str], str]
"""A function from (kind, text) to HTML; for an empty text it returns no HTML."""


class Memo(dict[str, Any]):
    """A map from the texts of one kind to their HTML; None where the text alone does not decide the kind."""

    __slots__ = ("_show",)

    def __init__(self, show: Callable[[str], str | None]) -> None:
        self._show = show

    def __missing__(self, text: str) -> str | None:
        html = self._show(text)
        if len(text) < _LONG:
            if len(self) > _MOST:
                self.clear()
            self[text] = html
        return html


class _Unsaid(dict[str, Any]):
    """A memo without an entry, for a rule that does more than to name its match."""

    def __missing__(self, text: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class _MatchStep:
    """The step after a match of a rule: groups with memos of their texts, groups with their readers, the next states.

    A rule is its own reader if its action needs a match of the rule alone.
    """

    named: tuple[tuple[int, Memo], ...]
    read: tuple[tuple[int, MatchPart | Rule], ...]
    target: Transition


@dataclass(frozen=True, slots=True)
class _LexerState:
    """A program that is ready to run; `memos` and `steps` are indexed by the number of the group that matched."""

    scanner: Callable[[str, int], Any]
    memos: list[dict[str, Any]]
    steps: list[Any]
    rules: Sequence[Rule]


class CompiledLexer:
    """A lexer that runs the compiled programs of a Pygments lexer.

    Construction and use raise any exception when the lexer has something that cannot be compiled; the caller then uses
    Pygments.
    """

    def __init__(self, lexer: type[Lexer], kind_of: KindOf, show: Show, plain: str = "") -> None:
        self._lexer = lexer
        self._plain = plain
        self._error = kind_of(Error)
        self._newline = kind_of(Whitespace)
        self._show = show
        self._memos: dict[str, Memo] = {}
        self._states: dict[str, _LexerState] = {}
        self._steps: dict[Rule, _MatchStep] = {}
        self.tables = Tables(lexer, kind_of)

    def pieces(self, text: str) -> list[str]:
        """Return plain text at even indexes, as it stands in `text`, and the HTML of the next token at odd ones."""
        out: list[str] = []
        _TextReader(self, ["root"], out).read(_prepared(text))
        return out

    def warm(self) -> None:
        """Compile the first state and all states that it enters, which is all that most texts need."""
        for state in ["root", *self.tables.entered("root")]:
            self.state(state)

    def state(self, name: str) -> _LexerState:
        if name not in self._states:
            program = program_of(name, self.tables, self._plain, self._error == self._plain)
            acts = list(enumerate(program.acts))
            steps = [self.step(act, number) if isinstance(act, Rule) else act for number, act in acts]
            scanner: Any = program.regex
            self._states[name] = _LexerState(
                scanner.scanner, [self._memo_of(act) for _, act in acts], steps, program.rules
            )
        return self._states[name]

    def step(self, rule: Rule, number: int) -> _MatchStep:
        """Return the step of a rule; `number` is that of the group of the whole match."""
        if callable(rule.whole):
            return _MatchStep((), ((number, rule),), rule.target)
        parts = tuple(enumerate(rule.parts, number + 1)) or ((number, rule.whole),)
        named = tuple((group, self._memo(part)) for group, part in parts if isinstance(part, str))
        if len(named) < sum(part is not None for _, part in parts):
            return _MatchStep((), parts, rule.target)
        return _MatchStep(named, (), rule.target)

    def step_alone(self, rule: Rule) -> _MatchStep:
        """Return the step of a rule that is matched alone, its whole match being group 0."""
        if rule not in self._steps:
            self._steps[rule] = self.step(rule, 0)
        return self._steps[rule]

    def shown(self, kind: str, text: str) -> str:
        return str(self._memo(kind)[text])

    def shown_tokens(self, tokens: Iterable[tuple[int, _TokenType, str]]) -> str:
        """Return the HTML of the tokens that a function among the actions made."""
        return "".join(self.shown(self.tables.kind(token, text), text) for _, token, text in tokens)

    def unmatched(self, letter: str) -> str:
        return self.shown(self._newline if letter == "\n" else self._error, letter)

    @cached_property
    def instance(self) -> Lexer:
        """The lexer that functions among the actions receive; Pygments compiles all tables of the lexer for it."""
        return self._lexer(stripnl=False)

    def _memo_of(self, act: Act | None) -> dict[str, Any]:
        if isinstance(act, Identifiers):
            return Memo(partial(self._shown_word, act))
        if isinstance(act, Numbers):
            return Memo(partial(self._shown_number, act))
        if isinstance(act, Rule) and isinstance(act.whole, str) and act.target is None and not act.empty:
            return self._memo(act.whole)
        return _Unsaid()

    def _memo(self, kind: str) -> Memo:
        if kind not in self._memos:
            self._memos[kind] = Memo(self._shown_name if kind == NAME else partial(self._show, kind))
        return self._memos[kind]

    def _shown_name(self, text: str) -> str:
        return self._show(self.tables.known_names.get(text, self.tables.name), text)

    def _shown_number(self, numbers: Numbers, text: str) -> str | None:
        kind = numbers.kind(text)
        return None if kind is None else self.shown(kind, text)

    def _shown_word(self, words: Identifiers, word: str) -> str | None:
        meaning = words.meanings.get(word, Meaning(words.kind))
        return None if meaning.kind is None or meaning.longer else self.shown(meaning.kind, word)


@dataclass(slots=True)
class _TextReader:
    """A reader of one text, which is in the state on top of `stack`, and writes into `out`."""

    lexer: CompiledLexer
    stack: list[str]
    out: list[str]

    def read(self, text: str) -> None:
        add, stack = self.out.append, self.stack
        at, end = 0, len(text)
        while at < end:
            state = self.lexer.state(stack[-1])
            memos, steps = state.memos, state.steps
            for match in iter(state.scanner(text, at).match, None):
                number = match.lastindex
                html = memos[number][match[number]]
                add(match[1])
                if html is not None:
                    add(html)
                    continue
                step = steps[number]
                if step.__class__ is not _MatchStep:
                    add("")
                    at = self._look_up(step, match, number, state.rules)
                    break
                self._take(step, match)
                if step.target is not None:
                    at = match.end()
                    _go(step.target, stack)
                    break

    def _take(self, step: _MatchStep, match: re.Match[str]) -> None:
        """Append one piece of HTML, and the pieces of the parts that have readers of their own."""
        html = ""
        for group, memo in step.named:
            html += memo[match[group] or ""]
        self.out.append(html)
        for group, part in step.read:
            if match[group]:
                self._read_part(part, match, group)

    def _read_part(self, part: MatchPart | Rule, match: re.Match[str], group: int) -> None:
        lexer, text, start = self.lexer, match[group], match.start(group)
        if isinstance(part, Nested):
            _TextReader(lexer, list(part.stack), self.out).read(text)
        elif isinstance(part, str):
            self.out += ("", lexer.shown(part, text))
        elif isinstance(part, Rule):
            action: Any = part.whole
            self.out += ("", lexer.shown_tokens(action(lexer.instance, part.match(match.string, start))))
        elif part is not None:
            self.out += ("", lexer.shown_tokens(part(lexer.instance, _PseudoMatch(start, text), None)))

    def _look_up(self, words: Any, match: re.Match[str], number: int, rules: Sequence[Rule]) -> int:
        """Read a word that has longer rules, or a place where rules are tried in turn, and return where to read on."""
        at = match.start(number)
        if not isinstance(words, Identifiers):
            return self._in_turn(rules, match.string, at)
        meaning = words.meanings[match[number]]
        for rule in meaning.longer:
            longer = rule.match(match.string, at)
            if longer:
                return self._taken(rule, longer)
        if meaning.kind is None:
            return self._in_turn(rules, match.string, at)
        self.out += ("", self.lexer.shown(meaning.kind, match[number]))
        return match.end()

    def _in_turn(self, rules: Sequence[Rule], text: str, at: int) -> int:
        """Read one token as Pygments does."""
        if at == len(text):
            return at
        begins = bit(text[at])
        for rule in rules:
            match = rule.match(text, at) if rule.first & begins else None
            if match:
                return self._taken(rule, match)
        if text[at] == "\n":
            self.stack[:] = ["root"]
        self.out += ("", self.lexer.unmatched(text[at]))
        return at + 1

    def _taken(self, rule: Rule, match: re.Match[str]) -> int:
        self.out.append("")
        self._take(self.lexer.step_alone(rule), match)
        if rule.target is not None:
            _go(rule.target, self.stack)
        return match.end()


def _go(target: Transition, stack: list[str]) -> None:
    """Change the stack of states as the target says; the last state is never left."""
    if isinstance(target, int):
        del stack[max(1, len(stack) + target) :]
    elif isinstance(target, tuple):
        for state in target:
            if state == "#pop":
                del stack[max(1, len(stack) - 1) :]
            else:
                stack.append(stack[-1] if state == "#push" else state)
    else:
        stack.append(stack[-1])


def _prepared(text: str) -> str:
    """Return the text as Pygments prepares it before it reads."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text if text.endswith("\n") else text + "\n"
