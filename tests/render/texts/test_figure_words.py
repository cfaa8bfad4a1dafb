"""Words of tables and charts in a text of another language."""

import pytest

from sitegen.model.vocabulary import Vocabulary
from sitegen.render.texts.figure_words import in_its_language

KOREAN = Vocabulary(
    "ko",
    {
        "copy": "복사",
        "time, µs": "시간, µs",
        "noise {share}": "잡음 {share}",
        "{day} {month} {year}": "{year}년 {month} {day}일",
        "copy of the same bytes": "같은 바이트의 복사",
    },
)


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        ("", ""),
        ("<code>copy</code>", "<code>copy</code>"),
        ("<pre><span>copy</span></pre>", "<pre><span>copy</span></pre>"),
        ("<em>copy</em> <td>copy</td>", "<em>copy</em> <td>복사</td>"),
        ('<th scope="row">copy</th>', '<th scope="row">copy</th>'),
        ('<th scope="row">copy <small>copy</small></th>', '<th scope="row">copy <small>복사</small></th>'),
        ('<th scope="row">copy of the same bytes</th>', '<th scope="row">같은 바이트의 복사</th>'),
        ('<th scope="col">time, µs</th>', '<th scope="col">시간, µs</th>'),
        ("<text> noise\N{NO-BREAK SPACE}0.10\N{NO-BREAK SPACE}% </text>", "<text> 잡음 0.10 % </text>"),
        ("<td>copying</td>", "<td>copying</td>"),
        ("<p>행마다 스레드 256개짜리 블록 하나가 맡는다.</p>", "<p>행마다 스레드 256개짜리 블록 하나가 맡는다.</p>"),
    ],
)
def test_what_the_catalogue_has_is_translated_but_no_name(english: str, korean: str) -> None:
    assert in_its_language(english, KOREAN) == korean


def test_without_a_catalogue_everything_stays() -> None:
    assert in_its_language("<td>copy</td>", Vocabulary("fr")) == "<td>copy</td>"
