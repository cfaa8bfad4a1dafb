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
"""The most columns of the row in a hint for a table that names no columns."""
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
        example = _example(rows, values.get("columns", ()))
        into.error("SG140", message, fence.argument_span, f"write a line for each row in it, as in {example}")
        return ""
    columns = values.get("columns") or tuple(rows[0])
    known = {key for row in rows for key in row}
    for column in columns:
        if column not in known:
            into.unknown("SG140", "column", column, known, options.span("columns", fence.argument_span))
    return _html(rows, columns, values.get("caption", ""), into)


def _example(data: object, columns: Sequence[str]) -> str:
    """Return a row in YAML for the table with these columns, made of the words that the file has.

    Without columns, its keys are those of the file: `- {name: H100, memory: 80 GB}`.
    """
    match data:
        case [*rows] if mapping := next((row for row in rows if isinstance(row, Mapping) and row), None):
            return _row(mapping, columns)  # the other rows are none
        case [str() | int() | float() as word, *_]:
            return _row({}, columns or ("name",), word)
        case {**given} if given:
            if "name" in given or given.keys() & {*columns}:  # the keys are columns already
                return _row(given, columns)
            key, value = next(iter(given.items()))
            if isinstance(value, list) and value and isinstance(value[0], Mapping):
                return f"{_row(value[0], columns)}, without `{key}:` above them"
            if isinstance(value, Mapping):
                return _row(value, columns or ("name", *value)[:_MOST_COLUMNS], key)
            return _row({}, columns or ("name", "value"), key, value)
    return _row({} if columns else {"name": "H100", "memory": "80 GB"}, columns)


def _row(values: Mapping[Any, Any], columns: Sequence[str], *others: object) -> str:
    """Return a row in YAML.  The columns that `values` lacks take the other words in order, `name` the first."""
    missing = sorted((column for column in columns if column not in values), key=lambda column: column != "name")
    given = {**dict(zip(missing, others, strict=False)), **values}
    pairs = (f"{_word(key)}: {_word(given.get(key))}" for key in columns or [*values][:_MOST_COLUMNS])
    return f"`- {{{', '.join(pairs)}}}`"


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
