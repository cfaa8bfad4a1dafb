"""Write the page *Templates* from `templates/` and from the views that `sitegen/render/` hands to them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from prose import front_matter, prose, table

from sitegen.render.outputs.cards import SocialCard
from sitegen.render.pages.worklog_groups import GroupsPage
from sitegen.render.shared.frame import Frame

NAME = "reference-templates.md"
FRONT = front_matter(
    "Templates", "reference/templates", "Every template of the theme with its blocks, and the fields of what it sees."
)
INTRO = (
    "[Customise](/customise/#sec-templates) explains how a file of a site takes the place of one of these. A "
    "template sees `frame`, whose fields are those of the first table, and `page`, whose fields are those of its "
    "view.\n"
)
ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"\{% block (\w+)")


def page() -> str:
    """Return the Markdown of the page."""
    views = dict(sorted([*_views(), ("card.svg", SocialCard)]))
    parts = [_fields("frame", Frame)]
    for name, view in views.items():
        blocks = _BLOCK.findall((ROOT / "templates" / name).read_text("utf-8"))
        fills = f"It fills {' and '.join(f'`{block}`' for block in dict.fromkeys(blocks))}. " if blocks else ""
        parts.append(
            f"## `{name}` {{#{name.partition('.')[0].replace('_', '-')}}}\n\n{fills}`page` has these fields.\n"
        )
        parts.append(_table(view))
    return "\n".join([FRONT, INTRO, *parts])


def _fields(name: str, view: type) -> str:
    return f"## `{name}` {{#{name}}}\n\n{_table(view)}"


def _table(view: type) -> str:
    said = _docstrings(view)
    rows = ((f"`{one.name}`", f"`{one.type}`", prose(said.get(one.name, ""))) for one in dataclasses.fields(view))
    return table(["field", "type", "meaning"], rows)


def _docstrings(view: type) -> dict[str, str]:
    """Return the text below each field of a dataclass."""
    (body,) = ast.parse(inspect.getsource(view)).body
    assert isinstance(body, ast.ClassDef)
    return {
        one.target.id: str(below.value.value)
        for one, below in zip(body.body, body.body[1:], strict=False)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _views() -> Iterator[tuple[str, type]]:
    """Yield each template of a page with the class of its view, from calls of `printer.page` and `GroupedList`."""
    for path in sorted((ROOT / "sitegen/render").rglob("*.py")):
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for function in ast.parse(path.read_text("utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                yield from _views_of(function, module)


def _views_of(function: ast.FunctionDef, module: ModuleType) -> Iterator[tuple[str, type]]:
    made = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name)
    }
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "printer.page" and len(call.args) >= 3:
            template, view = call.args[0], call.args[2]
            view = made.get(view.id, view) if isinstance(view, ast.Name) else view
            found: Any = getattr(module, ast.unparse(view.func), None) if isinstance(view, ast.Call) else None
            if isinstance(template, ast.Constant) and isinstance(found, type) and dataclasses.is_dataclass(found):
                yield str(template.value), found
        elif isinstance(call, ast.Call) and ast.unparse(call.func) == "GroupedList":
            yield from (
                (str(ast.literal_eval(one.value)), GroupsPage) for one in call.keywords if one.arg == "template"
            )
