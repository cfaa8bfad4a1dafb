"""Turn the role `{task}`, as in {task}`done`, into the state of a line of the worklog."""

from __future__ import annotations

from markdown_it.token import Token

from sitegen.diagnostics import did_you_mean
from sitegen.markup.collected import Collected
from sitegen.markup.directive import InlineRole
from sitegen.markup.places import span_within
from sitegen.read.worklog_notes import NOT_A_TASK, TASK_WORDS

_SHOWN = {"open": "Open", "partial": "Partly done", "done": "Done", "dropped": "Dropped"}
_CLASSES = {"open": "planned", "dropped": "planned"}


def _show(token: Token, into: Collected) -> str:
    word = token.content.strip().lower()
    if word not in TASK_WORDS:
        hint = did_you_mean(word, TASK_WORDS) or f"known: {', '.join(TASK_WORDS)}"
        into.error("SG125", f"unknown state `{word}` of a task", span_within(token, token.content, into), hint)
    if word == NOT_A_TASK or word not in _SHOWN:
        return ""
    return f'<span class="state {_CLASSES.get(word, word)}">{into.spoken.say(_SHOWN[word])}</span>'


DECLARED = (
    InlineRole(
        ("task",),
        "How a task of the worklog stands: `open`, `partial`, `done`, `dropped`; `none`: the line is no task.",
        _show,
        said=lambda text: "",
        words={"ko": {"Dropped": "그만둠"}},
    ),
)
