"""Turn source code into the HTML of each of its lines: tokens in six classes, no style.

The classes are the theme's: k keyword, kt type and register, s string, m number, f function, c comment.
Everything else is text, which keeps pages small.

The tokens are those of Pygments.  `compiled` reads the languages in `VERIFIED`, Pygments itself reads all others.  Both
are imported by the first listing, because an edited text has most of its listings from the build before.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pygments
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, get_all_lexers
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType

from sitegen.highlight.listing import lines, show

if TYPE_CHECKING:
    from sitegen.highlight.compiled import CompiledLexer

PLAIN = frozenset({"", "text", "txt", "plain", "plaintext", "output", "none"})
OWN = {"triton": "TritonLexer", "ptx": "PtxLexer", "nvsass": "SassLexer", "sass": "SassLexer"}
"""`sass` is NVIDIA's here; Pygments knows the style sheets of that name."""
NAMES = {"cuda": "CUDA C++", "cu": "CUDA C++", "triton": "Triton", "ptx": "PTX", "nvsass": "SASS", "sass": "SASS"}
VERIFIED = frozenset(
    {"Bash", "C", "C++", "CSS", "CUDA", "Go", "HTML", "INI", "JavaScript", "PTX", "Python", "Rust", "SASS"}
    | {"TOML", "Triton", "TypeScript"}
)
"""Names of lexers that can be compiled from their tables alone: the tests compare every token with Pygments'."""

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


KEPT = 4096
"""The number of listings whose HTML is remembered."""
MOST_IN_LINE = 1000
"""The most characters of a line, in a listing that is highlighted."""
_MOST_BLANK = re.compile(r"\s{200}")
"""More white space than a listing has in one place: many lexers look for its end from each of its characters."""
_MOST_VERIFIED, _MOST_OF_OTHERS, _MOST_OF_SLOW = 50_000, 5_000, 1_000
"""The most characters of a listing that is highlighted: by a verified lexer, by others, and by those in `_SLOW`.  A
lexer may look at the rest of the listing again from each place."""
_SLOW = frozenset({"AspectJ", "C#", "Fantom", "Nemerle", "X++", "autohotkey"})
"""Names of lexers that need more than the square of the length."""
_MOST_UNCLOSED = 200
"""The most raw strings of C++ (`R"`), and the most comments (`/*`) without an end, in a listing that is highlighted:
the lexer looks for the end of each in the whole rest of the listing."""


@lru_cache(maxsize=KEPT)
def highlighted_lines(code: str, language: str) -> tuple[str, ...]:
    """Return the HTML of each line, without the line's own span.  The null character cannot be in a page."""
    shown = lines(_pieces(code.rstrip("\n").replace("\0", "\ufffd"), language))
    if len(shown) > 1 and not shown[-1]:
        shown.pop()  # the newline that Pygments adds, so that a preprocessor line at the end is one
    return tuple(shown)


def limit_passed(code: str, language: str) -> str:
    """Return why a listing is too long to be highlighted, so that it is shown as plain text; empty if it is not."""
    lexer = _lexer_class(language)
    if lexer is None:
        return ""
    most = _most_characters(lexer.name)
    if len(code) > most:
        return f"has more than {most:,} characters"
    if any(len(line) > MOST_IN_LINE for line in code.split("\n")):
        return f"has a line of more than {MOST_IN_LINE:,} characters"
    return "has 200 blanks in one place" if _MOST_BLANK.search(code) else ""


def _most_characters(name: str) -> int:
    return _MOST_VERIFIED if name in VERIFIED else _MOST_OF_SLOW if name in _SLOW else _MOST_OF_OTHERS


def language_name(language: str) -> str:
    """Return what a reader calls a language, `CUDA C++`; it is empty for plain text."""
    return "" if language in PLAIN else NAMES.get(language) or _names().get(language.lower()) or language


def is_known(language: str) -> bool:
    return language in PLAIN or language in OWN or language.lower() in _names()


@cache
def known_languages() -> tuple[str, ...]:
    return tuple(sorted(_names().keys() | OWN.keys() | PLAIN - {""}))


def warm(languages: Iterable[str]) -> None:
    """Compile the lexers of these languages; a process does that before it forks."""
    for lexer in filter(None, map(_lexer_class, languages)):
        if compiled := _compiled_lexer(lexer):
            compiled.warm()


@cache
def fingerprint() -> str:
    """Return a digest of the programs that the HTML of a listing depends on besides its code and language."""
    package = Path(__file__).parent
    sources = sorted(
        [Path(__file__), package / "lexers.py", package / "listing.py", *(package / "compiled").glob("*.py")]
    )
    code = sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()
    return f"{code[:16]} pygments {pygments.__version__}"


@cache
def _names() -> dict[str, str]:
    """Return the names of the lexers of Pygments by alias, without loading one; plug-ins, which vary, are left out."""
    return {alias: name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


def _pieces(code: str, language: str) -> list[str]:
    """Return plain text at even places and the HTML of a token after each."""
    lexer = _lexer_class(language)
    if lexer is None or _has_many_unclosed(code) or limit_passed(code, language):
        return [code, ""]
    try:
        if compiled := _compiled_lexer(lexer):
            return compiled.pieces(code)
    except Exception as mistake:  # a private part of Python or Pygments has changed, or the compiler has a bug
        _NOT_COMPILED.add(lexer)
        warnings.warn(f"{lexer.name} listings are read slowly, by Pygments itself: {mistake!r}", stacklevel=2)
    tokens = _lexer(lexer).get_tokens(code)
    return [piece for token, text in tokens for piece in ("", show(_class_of(token), text))]


def _has_many_unclosed(code: str) -> bool:
    return code.count('R"') > _MOST_UNCLOSED or code.count("/*") - code.count("*/") > _MOST_UNCLOSED


@lru_cache(maxsize=64)
def _lexer_class(language: str) -> type[Lexer] | None:
    """Return the lexer of a language, or None for plain text and for an unknown name."""
    if language in OWN:
        from sitegen.highlight import lexers

        own: type[Lexer] = getattr(lexers, OWN[language])
        return own
    return find_lexer_class_by_name(language) if language not in PLAIN and language.lower() in _names() else None


@cache
def _lexer(lexer: type[Lexer]) -> Lexer:
    return lexer(stripnl=False)


_NOT_COMPILED: set[type[Lexer]] = set()
"""The lexers whose compiled form failed once in this process; a warning names each."""


def _compiled_lexer(lexer: type[Lexer]) -> CompiledLexer | None:
    return _made_compiled(lexer) if lexer.name in VERIFIED and lexer not in _NOT_COMPILED else None


@cache
def _made_compiled(lexer: type[Lexer]) -> CompiledLexer:
    from sitegen.highlight.compiled import CompiledLexer

    return CompiledLexer(lexer, _class_of, show)


@lru_cache(maxsize=512)
def _class_of(token: _TokenType) -> str:
    while token not in CLASSES:
        if token.parent is None:
            return ""
        token = token.parent
    return CLASSES[token]
