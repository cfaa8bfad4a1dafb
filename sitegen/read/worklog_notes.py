"""Find the tasks and questions in the text of a worklog entry, which is left as it is.

A task is a line that says how it went: a check box, or a mark such as `- Done`, `; Done.`, `(Done, notes added)`,
`- Glossed over`, `-> Tmr`; also a line below `Next:`.  "Done two runs" at the start of a sentence is prose.  The role
`{task}` says the state outright, and `none` in it that a line is no task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sitegen.model.site import Markdown, Task, TaskState
from sitegen.read.worklog_days import visible_lines

_BULLET = r"[ \t]*(?:[-*+][ \t]+)*"
_ROLE = re.compile(r"(?<![ \t])[ \t]*\{task\}`(?P<state>[^`]*)`")
_CHECKBOX = re.compile(rf"{_BULLET}\[(?P<mark>[ xX/~>-])\][ \t]+(?P<text>\S.*)")
_AT_END = re.compile(
    r"(?P<text>.*\S)(?:\s+(?:[-–—]|->|→)\s*|(?<=[.!?])[ \t]+|[;,][ \t]+|\s*->\s*)"
    r"(?P<word>Done|done|Next|Tmr|Tomorrow|Partly done|Dropped|Skipped|Cancelled|Canceled|Glossed over[^;]*)"
    r"[ \t]*[;.,!]*[ \t]*"
)
_IN_MIDDLE = re.compile(r"(?P<text>.*\S)\s+[-–—]\s+[Dd]one(?P<rest>[,.;]\s+\S.*)")
_IN_PARENTHESES = re.compile(r"(?<!\s)\s*\([Dd]one\b(?P<note>[^()]*)\)")
_UNFINISHED = re.compile(r"\b(pending|partly|partially|not|todo|except|half)\b", re.IGNORECASE)
_INTENT = re.compile(r"(?i:TODO):?[ \t]+(?P<todo>\S.*)|Next,[ \t]+(?P<next>\S.*)")
_LATER = re.compile(r"(?:I'll|I will|Will|Need to|Have to)\b.*\b(?:tmr|tomorrow)[ \t]*[;.]*[ \t]*", re.IGNORECASE)
_LIST_OF_TASKS = re.compile(
    rf"{_BULLET}(?:\#+[ \t]+)?(?:\*\*)?(?:Next|TODO|Tmr|Tomorrow)(?:\*\*)?[ \t]*[:;](?:\*\*)?[ \t]*", re.IGNORECASE
)
_STATES = {
    "done": TaskState.DONE,
    "next": TaskState.OPEN,
    "tmr": TaskState.OPEN,
    "tomorrow": TaskState.OPEN,
    "dropped": TaskState.DROPPED,
    "skipped": TaskState.DROPPED,
    "cancelled": TaskState.DROPPED,
    "canceled": TaskState.DROPPED,
}
_BOXES = {
    " ": TaskState.OPEN,
    ">": TaskState.OPEN,
    "x": TaskState.DONE,
    "X": TaskState.DONE,
    "-": TaskState.DROPPED,
}
NOT_A_TASK = "none"
"""The word of `{task}` for a line that only looks like a task."""
TASK_WORDS = (*TaskState, NOT_A_TASK)

_SIGNS = (
    *("done", "next", "tmr", "tomorrow", "dropped", "skipped", "canceled", "cancelled", "glossed over", "todo"),
    *("{task}", "["),
)
"""The signs of tasks in small letters.  Each line with a task or the head of a list of tasks has one."""
_QUESTION = re.compile(rf"{_BULLET}(?:\*\*|__)?Q[:.][ \t]*(?P<text>\S.*?)(?:\*\*|__)?[ \t]*")
_ANSWER = re.compile(rf"(?P<indent>{_BULLET})(?:\*\*|__)?A[:.](?:\*\*|__)?[ \t]*(?P<text>\S.*)")


def tasks_in(body: Markdown) -> tuple[Task, ...]:
    """Return the tasks of a text with their states and lines."""
    return tuple(_tasks(body))


def is_question(line: str) -> bool:
    """Tell whether a line begins with `Q:`."""
    return _QUESTION.fullmatch(line) is not None


def is_answer(line: str) -> bool:
    """Tell whether a line begins with `A:`."""
    return _ANSWER.fullmatch(line) is not None


def _tasks(body: Markdown) -> Iterator[Task]:
    whole = body.text.lower()
    signs = [sign for sign in _SIGNS if sign in whole]
    listed = False  # whether the line stands below `Next:`
    for index, line in visible_lines(body.text):
        number, small = body.first_line + index, line.lower()
        has_sign = any(sign in small for sign in signs)
        task = _task(line, number) if has_sign else None
        if task is None and listed and line.strip() and not _ROLE.search(line):
            task = Task(_bare(line).rstrip(" \t;."), TaskState.OPEN, number, inferred=True)
        if task:
            yield task
        listed = bool(line.strip()) and (listed or (has_sign and bool(_LIST_OF_TASKS.fullmatch(line))))


def questions_in(body: Markdown) -> tuple[tuple[str, str], ...]:
    """Return pairs (question, answer): a line `Q: …`, and `A: …` with the lines indented below it."""
    return tuple(_questions([line for _, line in visible_lines(body.text)]))


def _task(line: str, number: int) -> Task | None:
    if role := _ROLE.search(line):
        return _overridden(_ROLE.sub("", line), role["state"].strip().lower(), number)
    if box := _CHECKBOX.fullmatch(line):
        return Task(box["text"].strip(), _BOXES.get(box["mark"], TaskState.PARTIAL), number)
    read = _from_words(_bare(line), number)
    return replace(read, inferred=True) if read else None


def _overridden(line: str, word: str, number: int) -> Task | None:
    """Return the task of a line whose state the author wrote with `{task}`; an unknown word changes nothing."""
    if word not in TASK_WORDS:
        return _task(line, number)
    if word == NOT_A_TASK:
        return None
    read = _task(line, number)
    earlier = (*read.history, read.state) if read and read.state != word else read.history if read else ()
    return Task(read.text if read else _bare(line).strip(), TaskState(word), number, earlier)


def _from_words(text: str, number: int) -> Task | None:
    if marks := _marks_at_end(text):
        *history, state = [_STATES.get(word, TaskState.PARTIAL) for word in marks]
        return Task(_without_marks(text), state, number, tuple(history))
    if notes := list(_IN_PARENTHESES.finditer(text)):
        rest = text[notes[-1].end() :].strip(" \t;.,!")
        partial = bool(rest) or any(_UNFINISHED.search(note["note"]) for note in notes)
        return Task(_IN_PARENTHESES.sub("", text).rstrip(" \t;"), _done_or(partial), number)
    if marked := _IN_MIDDLE.fullmatch(text):
        return Task(marked["text"] + marked["rest"].rstrip(), TaskState.DONE, number)
    if intent := _INTENT.fullmatch(text):
        return Task((intent["todo"] or intent["next"]).rstrip(" \t;."), TaskState.OPEN, number)
    return Task(text.rstrip(" \t;."), TaskState.OPEN, number) if _LATER.fullmatch(text) else None


def _bare(line: str) -> str:
    return re.sub(rf"^{_BULLET}", "", line)


def _marks_at_end(text: str) -> list[str]:
    """Return the words of the marks at the end of a text, in order, in lower case."""
    words: list[str] = []
    while marked := _AT_END.fullmatch(text):
        words.insert(0, marked["word"].lower())
        text = marked["text"]
    return words


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
