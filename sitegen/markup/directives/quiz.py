"""Turn `{quiz} How many sectors?` with `:choices:` and `:answer:` into a question whose answer is folded away.

The questions of a text are numbered, so that each has a name of its own for a screen reader.  The content of the fence
is the reason for the answer.  Without choices the reader thinks of an answer.  The fold needs no script, and a printed
page shows everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import takewhile
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup import options as o
from sitegen.markup.collected import add_rules, collected
from sitegen.markup.directive import Container, Directive
from sitegen.model.quiz import QUIZZES, Quiz

_LATE = re.compile(r"\s*:(choices|answer|label):")
_FENCE = re.compile(r"\s*(?:`{3}|:{3}|~{3})")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _choices(value: o.Value) -> tuple[str, ...]:
    choices = o.words(value)
    if not 2 <= len(choices) <= len(_LETTERS):
        raise o.Unfit(f"expected from 2 to {len(_LETTERS)} choices")
    return choices


OPTIONS = {
    "choices": o.Setting(_choices, "The answers to choose from, such as `[4, 8, 32]`; without it, free text."),
    "answer": o.Setting(o.text, "The right answer, one of the choices where there are any."),
    "label": o.Setting(o.label, "The id of the question, for links to it."),
}


def _wrap(fence: Container) -> tuple[list[Token], Token]:
    into, line = fence.into, fence.lines[0]
    options = o.read_options("\n".join(fence.head), line + 1, into)
    values = o.checked(options, OPTIONS, "`{quiz}`", into)
    span = into.span_of("{quiz}", line)
    choices, answer = values.get("choices", ()), values.get("answer", "")
    if not fence.argument:
        into.error("SG111", "the directive `{quiz}` needs a question", span, "`{quiz} How many sectors are moved?`")
    if not answer and "answer" not in options.by_name and not options.broken:
        _tell_of_no_answer(fence, choices, span)
    if answer and choices and answer not in choices:
        mistake = o.named("choice", answer, choices)
        into.error("SG105", f"option `answer`: {mistake}", options.span("answer", span), mistake.hint)
    label = values.get("label", "")
    made = {"quiz": Quiz("", fence.argument, choices, answer), "label": label, "span": options.span("label", span)}
    opening = Token("quiz_open", "aside", 1, level=fence.level, block=True, map=[*fence.lines], meta=made)
    tokens = [opening, *_paragraph(fence.argument, fence), *_list(choices, fence)]
    tokens += [Token("quiz_answer_open", "details", 1, level=fence.level + 1, block=True)]
    letter = f"{_LETTERS[choices.index(answer)]}. " if answer in choices else ""
    return [*tokens, *_paragraph(letter + answer, fence)], Token(
        "quiz_close", "aside", -1, level=fence.level, block=True
    )


def _tell_of_no_answer(fence: Container, choices: Sequence[str], span: Span) -> None:
    into, late = fence.into, dict(_late_options(fence))
    if "answer" in late:
        moved = ", ".join(f"`:{name}:`" for name in late)
        message = "this `:answer:` is text, because it stands below the text of `{quiz}`"
        into.error("SG111", message, into.span_of_line(late["answer"]), f"move {moved} to the top, below the question")
    else:
        listed = ", ".join(f"`{choice}`" for choice in choices)
        right = f"the right one of its choices, word for word: {listed}" if choices else "the right answer"
        hint = f"add `:answer: …` below line {span.line}, with {right}"
        into.error("SG111", "the directive `{quiz}` needs an answer", span, hint)


def _late_options(fence: Container) -> Iterator[tuple[str, int]]:
    """Yield the options that stand within the text, each with its line, up to the first fence in the text."""
    first, end = fence.lines[0] + 1 + len(fence.head), fence.lines[1]
    texts = takewhile(lambda number: not _FENCE.match(fence.into.lines[number]), range(first, end))
    for number in texts:
        if match := _LATE.match(fence.into.lines[number]):
            yield match[1], number


def _paragraph(text: str, fence: Container) -> list[Token]:
    level = fence.level + 1
    begin = Token("paragraph_open", "p", 1, level=level, block=True)
    return [begin, _inline(text, fence), Token("paragraph_close", "p", -1, level=level, block=True)]


def _list(choices: Sequence[str], fence: Container) -> list[Token]:
    tokens = [_inline(choice, fence) for choice in choices]
    items = [each for text in tokens for each in (Token("quiz_choice", "li", 1), text, Token("quiz_choice", "li", -1))]
    return [Token("quiz_choices", "ol", 1), *items, Token("quiz_choices", "ol", -1)] if items else []


def _inline(text: str, fence: Container) -> Token:
    line = fence.lines[0]
    return Token("inline", "", 0, level=fence.level + 2, content=text, children=[], map=[line, line + 1], block=True)


def _open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, meta = collected(env), tokens[idx].meta
    quizzes = into.kept.setdefault(QUIZZES, [])
    id = into.take_id(meta["label"], meta["span"]) if meta["label"] else into.new_id(f"quiz-{len(quizzes) + 1}")
    quiz: Quiz = meta["quiz"]
    quizzes.append(Quiz(id, quiz.question, quiz.choices, quiz.answer))
    level = 3 if into.level < 3 else 4
    name = f"{into.spoken.say('Question')} {len(quizzes)}"
    title = f'<h{level} id="{escape(id)}">{escape(name)}</h{level}>\n'
    return f'<aside class="callout quiz" aria-labelledby="{escape(id)}">\n{title}'


def _answer(_tokens: Sequence[Token], _idx: int, _options: Any, env: Any) -> str:
    return f'<details class="fold">\n<summary>{escape(collected(env).spoken.say("Answer"))}</summary>\n'


def _choices_tag(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    return '<ol type="A">\n' if tokens[idx].nesting > 0 else "</ol>\n"


def _choice_tag(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    return "<li>" if tokens[idx].nesting > 0 else "</li>\n"


def _plugin(md: MarkdownIt) -> None:
    add_rules(
        md,
        {
            "quiz_open": _open,
            "quiz_answer_open": _answer,
            "quiz_choices": _choices_tag,
            "quiz_choice": _choice_tag,
            "quiz_close": lambda *_: "</details>\n</aside>\n",
        },
    )


DECLARED = (
    Directive(
        ("quiz",),
        "A question, with its answer and the reason folded away.",
        OPTIONS,
        wrap=_wrap,
        plugin=_plugin,
        words={"ko": {"Question": "문제", "Answer": "정답"}},
    ),
)
