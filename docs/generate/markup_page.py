"""Write the page *Directives and roles* from the registry of `sitegen/markup/directives/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prose import front_matter, prose, table

from sitegen.markup.directive import Directive, InlineRole
from sitegen.markup.looks import OF_SHOWN
from sitegen.markup.options import Setting
from sitegen.markup.registry import declared

NAME = "reference-markup.md"
FRONT = front_matter(
    "Directives and roles",
    "reference/markup",
    "Every directive with its options, every role, and the options of a plain fence.",
)
INTRO = (
    "A *directive* is a fence with a name in braces and an argument. Its options stand at its head, one a "
    "line: `:key: value`, or `#| key: value` in Python and Triton, `//| key: value` in CUDA, `%%| key: value` "
    "in Mermaid. A *role* is a name in braces with a text in backquotes, within a sentence. [Write](/write/) "
    "shows most of them beside their results. An unknown name or option is an error with a suggestion.\n"
    "\n"
)


def page() -> str:
    """Return the Markdown of the page."""
    offered = [one for one in declared() if one.is_offered]
    directives = [one for one in offered if isinstance(one, Directive)]
    roles = [one for one in offered if isinstance(one, InlineRole)]
    parts = ["## Directives {#directives}\n", *(part for one in directives for part in _directive(one))]
    fences = ["## Options of a plain fence {#fence}\n", PLAIN, _options(OF_SHOWN)]
    rows = ((f"`{{{name}}}`", prose(one.about)) for one in roles for name in one.names)
    return "\n".join([FRONT, INTRO, *parts, *fences, "## Roles {#roles}\n", table(["role", "what it shows"], rows)])


PLAIN = 'They stand behind the language, as `key=value` or `key="several words"`; a word alone means `true`.\n'


def _directive(one: Directive) -> Iterator[str]:
    name, *others = one.names
    yield f"### `{{{name}}}` {{#{name}}}\n"
    yield f"{prose(one.about)}{_others(others)}\n"
    if one.options:
        yield _options(one.options)


def _others(names: list[str]) -> str:
    if not names:
        return ""
    return f" The same fence has the names {', '.join(f'`{{{name}}}`' for name in names)} too."


def _options(options: Mapping[str, Setting]) -> str:
    return table(["option", "meaning"], ((f"`{name}`", prose(setting.about)) for name, setting in options.items()))
