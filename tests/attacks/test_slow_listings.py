"""Listings at the bound of what is highlighted: no lexer that the program loads takes long, whatever the text.

`console` took 90 s for a line of 100,000 letters, and JavaScript, YAML and makefiles minutes for 60,000 characters.
"""

from __future__ import annotations

import time

import pytest
from pygments.lexers import get_all_lexers

from sitegen.highlight.lines import OWN, VERIFIED, _most_characters, highlighted_lines, limit_passed
from tests.processor_time import within

SECONDS = 2.0
ALL = sorted({aliases[0]: name for name, aliases, _, _ in get_all_lexers(plugins=False) if aliases}.items())
LINES = {"letters": "a\n", "comments": "/*\n", "blank ends": "a \n", "long lines": "a" * 999 + "\n"}
MORE = {
    "open brackets": "(" * 999 + "\n",
    "members": "a." * 499 + "\n",
    "strings": '"\n',
    "tags": "<a ",
    "blanks": " " * 199 + "a\n",
    "empty lines": "\n" * 199 + "a",
    "variables": "${",
    "escapes": "\\\n",
    "backticks": "`\n",
    "keys": "a:\n",
}
TAKES_LONG = ["bash", "c", "cpp", "css", "cuda", "go", "html", "ini", "js", "python", "rust", "toml", "ts", *OWN]


def seconds(language: str, name: str, part: str) -> float:
    """Return the processor time for the longest listing of equal parts that is highlighted."""
    code = part * (_most_characters(name) // len(part))
    began = time.process_time()
    highlighted_lines.__wrapped__(code[: _most_characters(name)], language)
    return time.process_time() - began


@pytest.mark.parametrize("at", range(0, len(ALL), 50))
def test_every_lexer_at_its_bound(at: int) -> None:
    slow = [
        (language, kind, took)
        for language, name in ALL[at : at + 50]
        if name not in VERIFIED
        for kind, part in LINES.items()
        if not within(took := seconds(language, name, part), SECONDS)
    ]
    assert not slow


@pytest.mark.parametrize("language", ["console", "yaml", "make", "json", "cmake", "diff", "llvm", "xml", "md"])
@pytest.mark.parametrize("kind", MORE)
def test_other_texts_in_languages_of_such_sites(language: str, kind: str) -> None:
    assert within(seconds(language, "", MORE[kind]), SECONDS)


@pytest.mark.parametrize("language", TAKES_LONG)
@pytest.mark.parametrize("kind", LINES | MORE)
def test_verified_lexers_at_their_bound(language: str, kind: str) -> None:
    assert within(seconds(language, "CUDA", (LINES | MORE)[kind]), SECONDS)


@pytest.mark.parametrize(
    ("code", "language", "reason"),
    [
        ("a" * 100_000, "console", "has more than 5,000 characters"),
        ("a.\n" * 40_000, "js", "has more than 50,000 characters"),
        ("a\n" * 600, "csharp", "has more than 1,000 characters"),
        ("a" * 1001, "js", "has a line of more than 1,000 characters"),
        ("a" + " " * 200, "python", "has 200 blanks in one place"),
        ("\n".join(["a" * 1000] * 49), "python", ""),
        ("a" * 100_000, "text", ""),
    ],
)
def test_listing_that_is_too_long_is_plain(code: str, language: str, reason: str) -> None:
    assert limit_passed(code, language) == reason
    if reason:
        assert "".join(highlighted_lines(code, language)) == code.replace("\n", "")
