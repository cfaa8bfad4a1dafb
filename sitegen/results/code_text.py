"""The text of a source file → its code: the text without comments, docstrings and other strings that are statements.

Two texts with the same code make the same program.  A text that cannot be split into tokens is its own code, and so is
one that may read its docstrings, its text or the numbers of its lines.  The code of a text is the same in every version
of Python: syntax that Python 3.11 cannot read counts as unreadable in later versions too.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from sitegen.read.python import NOT_PARSED

JOINED = "\0"
"""Stands for a line end within a literal, or one that a backslash joins: it is no place to drop blanks."""
_NOT_CUT = ("__LINE__", "__doc__", "getsource", "??/", JOINED)
"""Words of programs that may read their own text, a backslash in another spelling, and the mark itself."""
_OLDEST = (3, 11)
"""The Python whose syntax counts."""

_CUDA = re.compile(
    r"""(?P<unclear>(?:__has_)?include\w*[ \t(]*<[^>\n]*/[/*]|(?<=["'])(?:u8|[uUL])?R")"""
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<tag>[^\s()\\"]{0,16})\(.*?\)(?P=tag)")'
    r"""|(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')"""
    r"|(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)"
    r"""|(?P<unreadable>(?:u8|[uUL])?R"|["']|/\*|\\[ \t]+\n|(?<=\S)\\\n(?=\S))"""
    r"|(?P<joined>\\\n)"
    r"|(?P<word>[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|'?\w|\.)*)",
    re.DOTALL,
)
"""Tokens of C++ in which a mark of a comment could stand, or that could hide one."""
_UNCLEAR_END = re.compile(r"\\[ \t]+\n|\\[ \t]+\Z|\*\\\n")
"""A comment of which compilers may disagree where it ends."""

_FORMATTED = re.compile(r"[rR]?[fFtT]")
_F_STRING = re.compile(
    r"""(?:f|rf|fr)(?:(?P<triple>'''|\"{3})(?:(?!(?P=triple))[^\\]|\\.)*(?P=triple)"""
    r"""|(?P<single>['"])(?:(?!(?P=single))[^\\\n]|\\.)*(?P=single))""",
    re.DOTALL | re.IGNORECASE,
)
"""An f-string of Python 3.11: its quotes do not occur within."""
_FIELD = re.compile(r"\{([^{}]*)\}")
_ENCODING = re.compile(r"coding[:=]")

Spans = Sequence[tuple[int, int]]
"""Places in a text: start and end."""


class UnreadableSourceError(ValueError):
    """A text that cannot be split into tokens with certainty."""


@lru_cache(maxsize=256)
def code_of(path: str, text: str) -> str:
    """Return the code of a text with LF line ends: Python when its path ends in `.py`, otherwise CUDA C++."""
    if any(word in text for word in _NOT_CUT):
        return text
    try:
        code = _python_code(text) if path.endswith(".py") else _cuda_code(text)
    except (*NOT_PARSED, tokenize.TokenError):  # also UnreadableSourceError
        return text
    lines = (line.rstrip(" \t\f\v") for line in code.split("\n"))
    return "\n".join(line for line in lines if line)


def _cuda_code(text: str) -> str:
    return _CUDA.sub(_cuda_token, text)


def _cuda_token(token: re.Match[str]) -> str:
    """Return what a token of C++ is in the code: a comment is a space."""
    match token.lastgroup:
        case "comment" if not _UNCLEAR_END.search(token[0]):
            return " "
        case "comment" | "unclear" | "unreadable":
            raise UnreadableSourceError
        case "joined":
            return JOINED
        case _:
            return token[0].replace("\n", JOINED)


def _python_code(text: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, feature_version=_OLDEST)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    literals = list(_literals(text, tokens, starts))
    characters = list(text)
    for start, end in literals:
        characters[start:end] = [JOINED if one == "\n" else one for one in characters[start:end]]
    for start, end in (*_comments(tokens, starts, literals), *_docstrings(tree, lines, starts)):
        characters[start:end] = [""] * (end - start)
    return "".join(characters).replace("\\\n", JOINED)


def _comments(
    tokens: Sequence[tokenize.TokenInfo], starts: Sequence[int], literals: Spans
) -> Iterator[tuple[int, int]]:
    """Yield the places of comments, except one that names the encoding of the file."""
    for token in tokens:
        if token.type == tokenize.COMMENT:
            place = _span(token, token, starts)
            if any(start < place[0] < end for start, end in literals):
                raise UnreadableSourceError
            if token.start[0] > 2 or not _ENCODING.search(token.string):
                yield place


def _literals(text: str, tokens: Sequence[tokenize.TokenInfo], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the places of strings.  Python 3.12 and later split an f-string into several tokens."""
    opened: list[tokenize.TokenInfo] = []
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if name.endswith("STRING_START"):
            opened.append(token)
        if name.endswith("STRING_END") or name == "STRING":
            first = opened.pop() if name != "STRING" else token
            start, end = _span(first, token, starts)
            if not opened:
                _refuse_later_syntax(text[start:end])
                yield start, end


def _refuse_later_syntax(literal: str) -> None:
    """Raise UnreadableSourceError for an f-string that Python 3.11 cannot read."""
    if not _FORMATTED.match(literal):
        return
    if not _F_STRING.fullmatch(literal):
        raise UnreadableSourceError
    rest = literal.replace("{{", "")
    for _ in range(2):
        if any(_is_later_field(field) for field in _FIELD.findall(rest)):
            raise UnreadableSourceError
        rest = _FIELD.sub("", rest)
    if "{" in rest:
        raise UnreadableSourceError


def _is_later_field(field: str) -> bool:
    """Tell whether a field has a backslash, or a `#` that may stand in its expression and not in its format."""
    expression, _, form = field.partition(":")
    return "\\" in field or "#" in expression or ("#" in form and ("'" in field or '"' in field))


def _docstrings(tree: ast.Module, lines: Sequence[str], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the places of strings that are statements: docstrings, and texts below a constant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(one := node.value, ast.Constant) and type(one.value) is str:
            end_line, end_byte = one.end_lineno or one.lineno, one.end_col_offset or 0
            yield _offset(one.lineno, one.col_offset, lines, starts), _offset(end_line, end_byte, lines, starts)


def _offset(line: int, byte: int, lines: Sequence[str], starts: Sequence[int]) -> int:
    """Return the place in the text of a position of `ast`, whose columns are bytes of UTF-8."""
    return starts[line - 1] + len(lines[line - 1].encode()[:byte].decode())


def _span(first: tokenize.TokenInfo, last: tokenize.TokenInfo, starts: Sequence[int]) -> tuple[int, int]:
    return starts[first.start[0] - 1] + first.start[1], starts[last.end[0] - 1] + last.end[1]
