"""Turn `{data-table} gpus` into a table of the file content/data/gpus.yaml, whose rows are a list of mappings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sitegen.markup import options as o
from sitegen.markup.additions import Unreadable
from sitegen.markup.collected import KEY, Collected
from sitegen.markup.directive import Directive, Fence, fence_options, needs

NAME = "data-table"
OPTIONS = {
    "columns": o.Setting(o.words, "The keys that are shown, in order. Without it, all keys of the first row."),
    "caption": o.Setting(o.text, "The caption of the table; `{#tbl-gpus}` at its end is its label."),
}
_MOST_COLUMNS = 4
"""The most columns of the row in a hint."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$@~^:&'\"])")


def _show(fence: Fence, into: Collected) -> str:
    options, values = fence_options(fence, OPTIONS, into)
    data = into.added.data
    name = fence.argument.replace("-", "_")
    if not name:
        needs(fence, "the name of a file of content/data/, without `.yaml`", into)
        return ""
    if name not in data:
        into.unknown("SG140", "file of content/data/", fence.argument, data, fence.argument_span)
        return ""
    rows = data[name]
    if isinstance(rows, Unreadable):
        return ""
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        message = f"content/data/{fence.argument}.yaml is no list of rows"
        into.error("SG140", message, fence.argument_span, f"write a line for each row in it, as in {_example(rows)}")
        return ""
    columns = values.get("columns") or tuple(rows[0])
    known = {key for row in rows for key in row}
    for column in columns:
        if column not in known:
            into.unknown("SG140", "column", column, known, options.span("columns", fence.argument_span))
    return _html(rows, columns, values.get("caption", ""), into)


def _example(data: object) -> str:
    """Return a row in YAML, made of the keys and values that the file has: `- {name: H100, memory: 80 GB}`."""
    match data:
        case [*rows] if mapping := next((row for row in rows if isinstance(row, Mapping) and row), None):
            return _row(mapping)  # the other rows are none
        case [str() | int() | float() as word, *_]:
            return _row({"name": word})
        case {**given} if given:
            if "name" in given:  # the keys are columns already
                return _row(given)
            key, value = next(iter(given.items()))
            if isinstance(value, list) and value and isinstance(value[0], Mapping):
                return f"{_row(value[0])}, without `{key}:` above them"
            return _row({"name": key, **value} if isinstance(value, Mapping) else {"name": key, "value": value})
    return _row({"name": "H100", "memory": "80 GB"})


def _row(values: Mapping[Any, Any]) -> str:
    pairs = [f"{key}: {_word(value)}" for key, value in values.items()]
    return f"`- {{{', '.join(pairs[:_MOST_COLUMNS])}}}`"


def _word(value: object) -> str:
    """Return a value as YAML within braces; `…` for one that is no word and no number."""
    if not isinstance(value, str | int | float):
        return "…"
    return f'"{value}"' if re.search(r"[,:#{}\[\]]", str(value)) else str(value)


def _html(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], caption: str, into: Collected) -> str:
    """Return the table as the page writes tables of Markdown: figures are aligned, and it scrolls."""
    lines = [columns, ["---"] * len(columns), *([_cell(row.get(column)) for column in columns] for row in rows)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    below = f"\n: {caption}\n" if caption else ""
    return str(into.parser.render(table + below, {KEY: into, "shift": 0}))


def _cell(value: object) -> str:
    """Return a value as a text that Markdown shows as it is."""
    words = {None: "", True: "yes", False: "no"}.get(value) if value is None or isinstance(value, bool) else str(value)
    return _MARKUP.sub(r"\\\1", " ".join(str(words).split()))


DECLARED = (Directive((NAME,), "A table of a file of `content/data/`, a row for each entry.", OPTIONS, show=_show),)
