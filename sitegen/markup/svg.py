"""Write the SVG elements of charts and figures as strings, with attributes and classes and never with a style.

Every text goes through `escape`; coordinates are rounded to a tenth of a pixel, or more, so that a file is the same
wherever it is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

Pair = tuple[float, float]


def at(value: float) -> str:
    """Return a coordinate with at most one decimal and without `-0`."""
    return f"{round(value, 1) + 0.0:g}"


def tag(name: str, content: str | Markup = "", **attributes: object) -> Markup:
    """Return `<name a="b">content</name>`.

    The argument `class_` gives `class`, and `aria_label` gives `aria-label`.  An attribute whose value is None is left
    out.
    """
    pairs = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    opened = "".join(f' {key}="{escape(at(v) if isinstance(v, float) else v)}"' for key, v in pairs.items())
    inside = escape(content)
    return Markup(f"<{name}{opened}>{inside}</{name}>") if inside else Markup(f"<{name}{opened}/>")


def join(parts: Iterable[str], between: str = "") -> Markup:
    return Markup(between).join(parts)


def text(content: str, x: float, y: float, class_: str | None = None) -> Markup:
    """Return a text at whole pixels: pages have many texts, and a finer position would only make them longer."""
    return tag("text", content, class_=class_, x=round(x), y=round(y))


def path(d: str, class_: str) -> Markup:
    return tag("path", class_=class_, d=d)


def polyline(points: Sequence[Pair]) -> str:
    """Return the `d` of a line through all points."""
    return "M" + "L".join(f"{at(x)} {at(y)}" for x, y in points) if points else ""
