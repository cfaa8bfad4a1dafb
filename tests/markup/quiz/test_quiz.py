"""A quiz shows its question and folds its answer away."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.markup.parse import parse_document
from sitegen.model.document import Document
from sitegen.model.quiz import QUIZZES, Quiz
from sitegen.model.site import Markdown
from sitegen.model.vocabulary import Vocabulary

QUIZ = """# Access

:::{quiz} How many *sectors* does a warp move at `stride` 1?
:choices: [4, 8, 32 of them]
:answer: 4
:label: quiz-sectors

Each lane reads 4 bytes, so that 32 lanes read **128** bytes:

- four sectors of 32 bytes.
:::

After it.
"""


def parsed(markdown: str, spoken: Vocabulary | None = None) -> Document:
    document, mistakes = parse_document(Markdown(markdown, "a.md"), spoken=spoken or Vocabulary())
    assert mistakes == ()
    return document


def mistakes(markdown: str) -> list[tuple[str, int, str, str]]:
    found = parse_document(Markdown(markdown, "a.md"))[1]
    return [(mistake.code, mistake.span.line, mistake.message, mistake.hint) for mistake in found]


def test_the_question_stands_open_and_the_answer_with_its_reason_is_folded() -> None:
    page = LexborHTMLParser(parsed(QUIZ).html)
    quiz = page.css_first("aside.callout.quiz")
    assert quiz.attributes["aria-labelledby"] == quiz.css_first("h3").id == "quiz-sectors"
    assert quiz.css_first("h3").text() == "Question 1"
    assert quiz.css_first("h3 + p").inner_html == "How many <em>sectors</em> does a warp move at <code>stride</code> 1?"
    assert [li.text() for li in quiz.css("ol[type=A] > li")] == ["4", "8", "32 of them"]
    answer = quiz.css_first("details.fold")
    assert "open" not in answer.attributes
    assert answer.css_first("summary").text() == "Answer"
    assert answer.css_first("summary + p").text() == "A. 4"
    assert answer.css_first("ul > li").text() == "four sectors of 32\u00a0bytes."
    assert page.css_first("aside + p").text() == "After it."


def test_without_choices_the_answer_is_free_text() -> None:
    page = LexborHTMLParser(parsed("```{quiz} Why?\n:answer: Because of `x`.\n```\n").html)
    assert page.css_first("ol") is None
    assert page.css_first("details > p").inner_html == "Because of <code>x</code>."


def test_it_speaks_the_language_of_its_text() -> None:
    page = LexborHTMLParser(parsed(QUIZ, Vocabulary("ko")).html)
    assert (page.css_first("h3").text(), page.css_first("summary").text()) == ("문제 1", "정답")


def test_the_questions_of_a_text_have_different_names() -> None:
    page = LexborHTMLParser(parsed(QUIZ + "\n```{quiz} Why?\n:answer: So.\n```\n").html)
    assert [heading.text() for heading in page.css("aside h3")] == ["Question 1", "Question 2"]


def test_every_quiz_of_a_text_is_kept_for_other_pages() -> None:
    document = parsed(QUIZ + "\n```{quiz} Why?\n:answer: So.\n```\n")
    question = "How many *sectors* does a warp move at `stride` 1?"
    assert list(document.kept[QUIZZES]) == [
        Quiz("quiz-sectors", question, ("4", "8", "32 of them"), "4"),
        Quiz("quiz-2", "Why?", (), "So."),
    ]
    assert document.ids == ("access", "quiz-sectors", "quiz-2")


def test_links_and_footnotes_within_it_are_those_of_the_text() -> None:
    document = parsed("::::{quiz} See [b](b.md)?\n:answer: Yes.[^n]\n\n:::{note}\nMore.\n:::\n::::\n\n[^n]: Note.\n")
    assert [slot.target for slot in document.slots] == ["b.md"]
    assert [slot.span.line for slot in document.slots] == [1]
    assert LexborHTMLParser(document.html).css_first("details aside.callout h3").text() == "Note"


@pytest.mark.parametrize(
    ("markdown", "code", "line", "message", "hint"),
    [
        ("```{quiz}\n:answer: a\n```\n", "SG111", 1, "needs a question", "`{quiz} How many"),
        (
            "a\n\n```{quiz} a?\n:label: q\n:choices: [No., 'Yes, it does']\nSo.\n```\n",
            "SG111",
            3,
            "needs an answer",
            "add `:answer: …` below line 3, with the right one of its choices, word for word: `No.`, `Yes, it does`",
        ),
        ("```{quiz} a?\n```\n", "SG111", 1, "needs an answer", "`:answer: …` below line 1, with the right answer"),
        ("::::{quiz} a?\nSo.\n:::{quiz} b?\n:answer: c\n:::\n::::\n", "SG111", 1, "needs an answer", "`:answer: …`"),
        (
            "x\n\n```{quiz} a?\nSo.\n:choices: [b, c]\n:answer: b\n```\n",
            "SG111",
            6,
            "this `:answer:` is text, because it stands below the text of `{quiz}`",
            "move `:choices:`, `:answer:` to the top, below the question",
        ),
        ("```{quiz} a?\n\n:answer: b\n```\n", "SG111", 3, "this `:answer:` is text", "move `:answer:` to the top"),
        ("```{quiz} a?\n:choices: [yes, no]\n:answer: yess\n```\n", "SG105", 3, "unknown choice `yess`", "`yes`"),
        ("```{quiz} a?\n:choices: [yes]\n:answer: yes\n```\n", "SG105", 2, "expected from 2 to 26 choices", ""),
        (
            "```{quiz} a?\n:answers: b\n:answer: b\n```\n",
            "SG103",
            2,
            "unknown option of `{quiz}` `answers`",
            "`answer`",
        ),
        ("```{quizz} a?\n:answer: b\n```\n", "SG101", 1, "unknown directive `quizz`", "`quiz`"),
    ],
)
def test_mistakes_have_their_place(markdown: str, code: str, line: int, message: str, hint: str) -> None:
    (found,) = mistakes(markdown)
    assert found[:2] == (code, line)
    assert message in found[2] and hint in found[3]
