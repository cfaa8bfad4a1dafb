"""Find the tasks and questions in the text of a worklog entry, which is left as it is.

A task is a line that says how it went: a check box, or a mark such as `- Done`, `; Done.`, `(Done, notes added)`,
`- Glossed over`, `-> Tmr`.  "Done two runs" at the start of a sentence is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitegen.model.site import Markdown, Task, TaskState
from sitegen.read.worklog_days import visible_lines

_BULLET = r"[ \t]*(?:[-*+][ \t]+)*"
_CHECKBOX = re.compile(rf"{_BULLET}\[(?P<mark>[ xX/~-])\][ \t]+(?P<text>\S.*)")
_AT_END = re.compile(
    r"(?P<text>.*\S)(?:\s+(?:[-–—]|->|→)\s*|(?<=[.!?])[ \t]+|[;,][ \t]+|\s*->\s*)"
    r"(?P<word>Done|done|Next|Tmr|Tomorrow|Partly done|Glossed over[^;]*)[ \t]*[;.,!]*[ \t]*"
)
_IN_MIDDLE = re.compile(r"(?P<text>.*\S)\s+[-–—]\s+[Dd]one(?P<rest>[,.;]\s+\S.*)")
_IN_PARENTHESES = re.compile(r"\s*\([Dd]one\b(?P<note>[^()]*)\)")
_UNFINISHED = re.compile(r"\b(pending|partly|partially|not|todo|except|half)\b", re.IGNORECASE)
_STATES = {"done": TaskState.DONE, "next": TaskState.OPEN, "tmr": TaskState.OPEN, "tomorrow": TaskState.OPEN}
_BOXES = {" ": TaskState.OPEN, "x": TaskState.DONE, "X": TaskState.DONE}

_QUESTION = re.compile(rf"{_BULLET}(?:\*\*|__)?Q[:.][ \t]*(?P<text>\S.*?)(?:\*\*|__)?[ \t]*")
_ANSWER = re.compile(rf"(?P<indent>{_BULLET})(?:\*\*|__)?A[:.](?:\*\*|__)?[ \t]*(?P<text>\S.*)")


def tasks_in(body: Markdown) -> tuple[Task, ...]:
    """Return the tasks of a text with their states and lines."""
    lines = visible_lines(body.text)
    return tuple(task for index, line in lines if (task := _task(line, body.first_line + index)))


def questions_in(body: Markdown) -> tuple[tuple[str, str], ...]:
    """Return pairs (question, answer): a line `Q: …`, and `A: …` with the lines indented below it."""
    return tuple(_questions([line for _, line in visible_lines(body.text)]))


def _task(line: str, number: int) -> Task | None:
    if box := _CHECKBOX.fullmatch(line):
        return Task(box["text"].strip(), _BOXES.get(box["mark"], TaskState.PARTIAL), number)
    text = re.sub(rf"^{_BULLET}", "", line)
    if marked := _AT_END.fullmatch(text):
        return Task(_without_marks(marked["text"]), _STATES.get(marked["word"].lower(), TaskState.PARTIAL), number)
    if notes := list(_IN_PARENTHESES.finditer(text)):
        rest = text[notes[-1].end() :].strip(" \t;.,!")
        partial = bool(rest) or any(_UNFINISHED.search(note["note"]) for note in notes)
        return Task(_IN_PARENTHESES.sub("", text).rstrip(" \t;"), _done_or(partial), number)
    if marked := _IN_MIDDLE.fullmatch(text):
        return Task(marked["text"] + marked["rest"].rstrip(), TaskState.DONE, number)
    return None


def _done_or(partial: bool) -> TaskState:
    return TaskState.PARTIAL if partial else TaskState.DONE


def _without_marks(text: str) -> str:
    """Return the text of a task without its marks: `… - Next; - Done` has two, of which the last one counts."""
    while marked := _AT_END.fullmatch(text):
        text = marked["text"]
    return text.rstrip(" \t;,-–—")


def _questions(lines: list[str]) -> Iterator[tuple[str, str]]:
    for index, line in enumerate(lines):
        if not (question := _QUESTION.fullmatch(line)):
            continue
        rest = [at for at in range(index + 1, len(lines)) if lines[at].strip()]
        if rest and (answer := _ANSWER.fullmatch(lines[rest[0]])):
            yield question["text"], "\n".join([answer["text"], *_indented(lines[rest[0] + 1 :])]).rstrip()


def _indented(lines: list[str]) -> Iterator[str]:
    """Yield the indented lines, which still belong to a list item."""
    for line in lines:
        if not line.startswith(("  ", "\t")) or not line.strip():
            return
        yield line.strip()
