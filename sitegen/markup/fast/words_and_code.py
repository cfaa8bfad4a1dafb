"""Turn Markdown that is nothing but words and `code`, as most cells of tables are, into HTML without tokens."""

from __future__ import annotations

from collections.abc import Iterable

from markdown_it.common.utils import escapeHtml

from sitegen.markup.words import join_units


def are_plain(source: str, marks: Iterable[str]) -> bool:
    """Return whether a text is words and code; all other constructs begin with one of `marks`.

    A search for one mark after another is faster than one regex for all of them.
    """
    text = _words_of(source) if "`" in source else source
    if text is None:
        return False
    for mark in marks:  # noqa: SIM110, a generator would be slower
        if mark in text:
            return False
    return True


def _words_of(source: str) -> str | None:
    """Return the text without its code; None where a backtick may mean something else."""
    parts = source.split("`")
    words, code = parts[::2], parts[1::2]
    if not len(parts) % 2 or not all(code) or not all(words[1:-1]) or any(map(_is_trimmed, code)):
        return None
    return "-".join(words)


def _is_trimmed(code: str) -> bool:
    """Return whether the HTML of code would have other blanks than its Markdown."""
    return code[0] in " \n" or code[-1] in " \n" or "\n" in code


def html_of(source: str) -> str:
    """Return the HTML of words and code."""
    if "`" not in source:
        return join_units(escapeHtml(source))
    parts = escapeHtml(source).split("`")
    parts[::2] = map(join_units, parts[::2])
    parts[1::2] = [f"<code>{code}</code>" for code in parts[1::2]]
    return "".join(parts)


def said(source: str) -> str:
    """Return the words and the code as a reader sees them."""
    return source.replace("`", "")
