"""Text in a wrong encoding is found; it is mended only when every byte of it is there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.read.mojibake import mojibake


def found(line: str) -> list[tuple[int, str | None, str]]:
    return [(one.span.col, one.fix, one.hint) for one in mojibake(line, "log.md")]


@pytest.mark.parametrize("letter", ["ﬃ", "’", "“", "—", "é", "ü", "→", "ć", "🙂"])
def test_a_character_that_was_read_as_windows_1252_comes_back(letter: str) -> None:
    broken = "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in letter.encode())
    assert found(f"E{broken}cient") == [(2, letter, f"write `{letter}`")]


def test_what_was_read_wrongly_twice_comes_back_at_once() -> None:
    twice = "é".encode().decode("cp1252").encode().decode("cp1252")
    assert found(f"caf{twice}") == [(4, "é", "write `é`")]


@pytest.mark.parametrize(("broken", "suggested"), [("an â€ end", "”"), ("one \u0e42 two", "—"), ("IRMÃ” ok", "Ô")])
def test_what_cannot_be_reversed_is_only_suggested(broken: str, suggested: str) -> None:
    assert [(fix, hint) for _, fix, hint in found(broken)] == [(None, f"was it `{suggested}`?")]


@pytest.mark.parametrize(
    "line",
    ["naïve Über façade", "zu Fuß“ „Äpfel“", "Gordić – ↔ ’quoted’", "日本語の文", "โลกนี้", "ÀÉÎ", "`â€™` in code"],
)
def test_words_of_other_languages_are_left_alone(line: str) -> None:
    assert found(line) == []


@given(st.text(st.characters(min_codepoint=0x80, max_codepoint=0x2122), max_size=12))
def test_what_was_mended_has_nothing_left_to_mend(line: str) -> None:
    once = line
    for one in reversed(list(mojibake(line, "log.md"))):
        if one.fix is not None:
            once = once[: one.span.col - 1] + one.fix + once[one.span.col - 1 + one.span.length :]
    assert [one.fix for one in mojibake(once, "log.md") if one.fix is not None] == []
