"""Write the page *Keys of files* from the registry of keys in `sitegen/read/forms.py`."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

from prose import front_matter, prose, table, words_of

from sitegen.read.forms import FILES, FileForm, Form

NAME = "reference-files.md"
FRONT = front_matter(
    "Keys of files",
    "reference/files",
    "Every key of every YAML file and of every front matter, with the values that it takes.",
)
INTRO = (
    "A file that is not listed here has no keys: a day of the worklog begins with its date, and "
    "`references.bib` is BibTeX. An unknown key is an error with a suggestion ([SG012](/diagnostics/#sg012)). "
    "“Text” may stand without quotes if YAML takes it for a text: write quotes around a text with a colon and "
    "a space, or with a bracket or a brace at its beginning. A formula has the operators `+ - * // % **`, "
    "brackets and the functions `min`, `max` and `cdiv`.\n"
    "\n"
    "An editor completes and explains the keys if it knows the schemas: see [Keys in your "
    "editor](/start/#sec-editor).\n"
    "\n"
)


def page() -> str:
    """Return the Markdown of the page."""
    return "\n".join([FRONT, INTRO, *(part for file in FILES for part in _file(file))])


def _file(file: FileForm) -> Iterator[str]:
    yield f"## {file.title} {{#{file.name}}}\n\n`{file.path}`. {prose(file.about)}\n"
    for form in file.forms:
        if form is not file.forms[0]:
            yield f"### {form.title[:1].upper()}{form.title[1:]} {{#{anchor(file, form)}}}\n"
        yield table(["key", "meaning and value"], (_row(file, form, key) for key in form.about))
        if form.others is not None:
            yield f"All other keys are dims, each with {words_of(form.others, {})}.\n"


def anchor(file: FileForm, form: Form) -> str:
    """Return the id of the section of a form."""
    return f"{file.name}-{form.title.removeprefix('the ').removeprefix('an ').removeprefix('a ').replace(' ', '-')}"


def _row(file: FileForm, form: Form, key: str) -> tuple[str, str]:
    links = {one.of: f"[{one.title}](#{anchor(file, one)})" for one in file.forms}
    value = words_of(form.type_of(key), links) + _default(form.default(key))
    value = f"See {value}" if value.startswith("[") else value[:1].upper() + value[1:]
    return f"`{key}`", f"{prose(form.about[key])} {'**Required.** ' if form.is_required(key) else ''}{value}."


def _default(value: Any) -> str:
    """Return the value that a missing key stands for, where it says more than nothing."""
    if isinstance(value, bool):
        return f"; `{str(value).lower()}` without it"
    if isinstance(value, enum.Enum | str | int | float) and value not in ("", 0):
        return f"; `{value}` without it"
    return ""
