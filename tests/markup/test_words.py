"""Words are counted as a reader would."""

from __future__ import annotations

import pytest

from sitegen.markup import parse
from sitegen.markup.parse import parse_document
from sitegen.model.markdown import Markdown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("One two.\nthree\n\n- four\n- `five six`\n", 6),
        ("| a | b c |\n|---|---|\n|  |  |\n", 3),
        ("커널은 빠르다\n", 2),
        ("核は速い\n", 2),
    ],
)
def test_words_of_a_text(text: str, words: int) -> None:
    assert parse_document(Markdown(text, "content/pages/a.md"))[0].words == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It takes 4 µs, or 1.98 GHz.", "It takes 4\u00a0µs, or 1.98\u00a0GHz."),
        ("33 % of *64 MB* and 8 × 8 × 8", "33\u00a0% of <em>64\u00a0MB</em> and 8\u00a0×\u00a08\u00a0×\u00a08"),
        ("5 sums, 12 bytes, version 3 s", "5 sums, 12\u00a0bytes, version 3\u00a0s"),
        ("1 byte or 8 bits in 4 cycles, 4 bytewise", "1\u00a0byte or 8\u00a0bits in 4\u00a0cycles, 4 bytewise"),
        ("2 · 2 · 8 bytes · 3 · all", "2\u00a0·\u00a02\u00a0·\u00a08\u00a0bytes · 3 · all"),
        ("`wait 4 µs`, then 4 µs", "<code>wait 4 µs</code>, then 4\u00a0µs"),
        ("a {spec}`65 536 registers` file", "65\u00a0536\u00a0registers</span> file"),
        ("a {given}`10 % of 4 TB/s; a guess` rate", "10\u00a0% of 4\u00a0TB/s</span> rate"),
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_a_number_and_its_unit_stand_on_one_line(
    monkeypatch: pytest.MonkeyPatch, text: str, shown: str, fast: bool
) -> None:
    parser = parse.text_parser(fast=fast)
    monkeypatch.setattr(parse, "text_parser", lambda: parser)
    for whole in (text, f"- {text}\n", f"| a |\n|---|\n| {text} |\n"):
        assert shown in parse.parse_document(Markdown(whole, "content/pages/a.md"))[0].html
