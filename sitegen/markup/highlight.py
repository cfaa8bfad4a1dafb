"""Source code → the inner HTML of a listing: one span a line, tokens in six classes, no style.

The classes are the theme's: k keyword, kt type and register, s string, m number, f function, c comment.
Everything else is text, which keeps pages small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from html import escape
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, get_all_lexers
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from sitegen.markup.lexers import PtxLexer, SassLexer, TritonLexer

PLAIN = frozenset({"", "text", "txt", "plain", "plaintext", "output", "none"})
OWN: dict[str, type[Lexer]] = {"triton": TritonLexer, "ptx": PtxLexer, "nvsass": SassLexer, "sass": SassLexer}
"""`sass` is NVIDIA's here; Pygments knows the style sheets of that name."""
NAMES = {"cuda": "CUDA C++", "cu": "CUDA C++", "python": "Python", "py": "Python", "ptx": "PTX", "c++": "C++"}

CLASSES: dict[Any, str] = {
    Comment: "c",
    Comment.Preproc: "k",
    Comment.PreprocFile: "s",
    Generic.Deleted: "kt",
    Generic.Heading: "f",
    Generic.Inserted: "s",
    Generic.Output: "c",
    Generic.Prompt: "c",
    Generic.Subheading: "f",
    Keyword: "k",
    Keyword.Type: "kt",
    Name.Attribute: "f",
    Name.Builtin: "kt",
    Name.Class: "f",
    Name.Decorator: "f",
    Name.Exception: "kt",
    Name.Function: "f",
    Name.Label: "f",
    Name.Tag: "k",
    Name.Variable: "kt",
    Number: "m",
    Operator.Word: "k",
    String: "s",
}


def highlight(code: str, language: str, highlighted: Collection[int] = ()) -> str:
    """The lines of a listing; `highlighted` are line numbers from 1.  An unknown language is shown as text."""
    return "".join(
        f'<span class="ln{" hl" if number in highlighted else ""}">{line}\n</span>'
        for number, line in enumerate(highlighted_lines(code, language), start=1)
    )


@lru_cache(maxsize=4096)
def highlighted_lines(code: str, language: str) -> tuple[str, ...]:
    """The HTML of each line, without the line's own span."""
    lines: list[list[str]] = [[]]
    for kind, text in _merged(code.rstrip("\n"), language):
        for number, piece in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if piece:
                shown = escape(piece, quote=False)
                lines[-1].append(f'<span class="{kind}">{shown}</span>' if kind and piece.strip() else shown)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()  # the newline that Pygments adds, so that a preprocessor line at the end is one
    return tuple("".join(line) for line in lines)


def language_name(language: str) -> str:
    """As a reader calls it: `CUDA C++`; empty for plain text."""
    if language in PLAIN:
        return ""
    if language in NAMES:
        return NAMES[language]
    found = _lexer_class(language)
    return str(found.name) if found else language


def is_known(language: str) -> bool:
    return language in PLAIN or _lexer_class(language) is not None


@lru_cache(maxsize=1)
def known_languages() -> tuple[str, ...]:
    names = {alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}
    return tuple(sorted(names | set(OWN) | PLAIN - {""}))


@lru_cache(maxsize=64)
def _lexer_class(language: str) -> type[Lexer] | None:
    if language in OWN:
        return OWN[language]
    try:
        return find_lexer_class_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    found = None if language in PLAIN else _lexer_class(language)
    return found(stripnl=False) if found else None


def _merged(code: str, language: str) -> Iterator[tuple[str, str]]:
    """(class, text) with neighbours of one class joined."""
    lexer = _lexer(language)
    if lexer is None:
        yield "", code
        return
    last, held = "", ""
    for token, text in lexer.get_tokens(code):
        kind = _class_of(token)
        if kind != last and held:
            yield last, held
            held = ""
        last, held = kind, held + text
    if held:
        yield last, held


@lru_cache(maxsize=512)
def _class_of(token: _TokenType) -> str:
    while token not in CLASSES:
        if token.parent is None:
            return ""
        token = token.parent
    return CLASSES[token]
