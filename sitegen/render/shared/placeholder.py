"""Return the statement that stands in place of a missing result, under the name and the id that others refer to."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.render.shared.frame import Printer


@dataclass(frozen=True, slots=True)
class Absent:
    text: str
    name: str
    """`Figure 2`; empty for what has no number."""
    id: str


def absent(printer: Printer, text: str, name: str = "", id: str = "") -> Markup:
    return printer.fragment("partials/missing.html", Absent(text, name, id))
