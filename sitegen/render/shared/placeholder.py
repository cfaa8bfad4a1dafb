"""Print the statement in place of a missing result, with the name and the id to which texts refer."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.render.shared.frame import Printer


@dataclass(frozen=True, slots=True)
class Absent:
    text: str
    name: str
    """The name, such as `Figure 2`; empty for a result without a number."""
    id: str


def absent(printer: Printer, text: str, name: str = "", id: str = "") -> Markup:
    return printer.fragment("partials/missing.html", Absent(text, name, id))
