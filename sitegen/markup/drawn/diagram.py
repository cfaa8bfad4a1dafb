"""Turn a `mermaid` fence into SVG in the theme's classes, drawn while the site is built.

The package mmdr lays the diagram out (its backend merman measures text by tables of its own, so that a file is the
same wherever it is built) and writes an SVG with a style sheet, ids and `style` attributes, which the site's
Content-Security-Policy forbids and two diagrams of a page would share.  Kept of it are the geometry and the words:
every shape gets one of our classes by the role that it has, an arrow's head is a shape of its own instead of a
marker, and what has no role here is left out.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.machinery import PathFinder
from math import hypot
from xml.etree import ElementTree

from markupsafe import Markup

from sitegen.markup.collected import Collected
from sitegen.markup.drawn.figure import FigureKind, FigureSource, picture
from sitegen.markup.svg import Pair, at, join, path, polyline, tag
from sitegen.read.distribution import install_command

KINDS = {
    "flowchart": "Flowchart",
    "graph": "Flowchart",
    "sequenceDiagram": "Sequence diagram",
    "stateDiagram": "State diagram",
    "stateDiagram-v2": "State diagram",
}
_COMMENT = re.compile(r"\s*%%")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_SHAPES = ("rect", "circle", "ellipse", "line", "path", "polygon", "polyline")
_GEOMETRY = ("x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "x1", "y1", "x2", "y2", "points", "d")
_TIP, _HEAD = 5.0, 9.0
"""Lengths in pixels: of the tip of an arrow beyond the end of its line, which merman leaves to the marker; of its head.
"""


@dataclass(frozen=True, slots=True)
class Diagram:
    source: str
    kind: str
    svg: str
    """The SVG that mmdr wrote."""


_SEARCHED = 60
"""The most lines of a diagram in which the wrong one is looked for."""


def _read(given: FigureSource, into: Collected) -> Diagram | None:
    source, line = given.options.rest.rstrip(), given.options.rest_line
    lines = source.split("\n")
    first = next((n for n, text in enumerate(lines) if text.strip() and not _COMMENT.match(text)), 0)
    word = (lines[first].split() or [""])[0].rstrip(";")
    if not word:
        into.error("SG111", "the directive `{mermaid}` needs a diagram", given.fence.span)
        return None
    if word not in KINDS:
        hint = f"drawn here: {', '.join(f'`{kind}`' for kind in KINDS)}; stages of a pipeline are a `{{timeline}}`"
        into.error("SG133", f"no diagram of the kind `{word}` is drawn", into.span_of(word, line + first), hint)
        return None
    try:
        render = _renderer()
    except ImportError:
        into.error(
            "SG134",
            "a diagram needs the package mmdr, which is not installed",
            given.fence.span,
            install_command("diagrams"),
        )
        return None

    try:
        return Diagram(source, KINDS[word], render(source))
    except ValueError as mistake:
        said = str(mistake)
        message = re.sub(r"^Diagram parse error \([^)]*\): ", "", said).split("\n", 1)[0]
        span = into.span_of_line(line + _wrong_line(lines, said, partial(_problem, render)))
        into.error("SG133", f"this diagram cannot be drawn: {message}", span, "correct this line of the diagram")
        return None


def _problem(render: Callable[[str], str], source: str) -> str:
    """Return what the library says against a diagram; empty when it draws it."""
    try:
        render(source)
    except ValueError as mistake:
        return str(mistake)
    return ""


def _renderer() -> Callable[[str], str]:
    """Return the function that turns a diagram's text into SVG.  Raises ImportError without the package mmdr.

    Only mmdr's compiled module is loaded.  The package itself would import novasvg as well, which makes PNG files and
    is not needed here.  `build` ends without a last garbage collection, because that takes time, and novasvg would then
    print that its objects leaked.
    """
    name, package = "mmdr._mmdr", importlib.util.find_spec("mmdr")
    spec = PathFinder.find_spec(name, package.submodule_search_locations) if package else None
    if spec is None or spec.loader is None:
        raise ImportError(name)
    if name not in sys.modules:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    render: Callable[[str], str] = sys.modules[name].render
    return render


def _wrong_line(lines: Sequence[str], said: str, problem: Callable[[str], str]) -> int:
    """Return the line without which the rest can be drawn, else the first line up to which the message is the same.

    The library does not say at which line it stopped.  Each try draws the diagram, so a long one is not searched.
    """
    if len(lines) > _SEARCHED:
        return 0
    for number in range(1, len(lines)):
        if not problem("\n".join([*lines[:number], *lines[number + 1 :]])):
            return number
    return next(number for number in range(len(lines)) if problem("\n".join(lines[: number + 1])) == said)


def _draw(shown: Diagram, alt: str) -> str:
    root = ElementTree.fromstring(shown.svg)
    left, top, width, height = (float(n) for n in _NUMBER.findall(root.get("viewBox", "0 0 0 0")))
    moved = tag("g", join(_cleaned(root, ())), transform=f"translate({at(1 - left)} {at(1 - top)})")
    words = list(dict.fromkeys("".join(text.itertext()).strip() for text in root.iter() if _name(text) == "text"))
    said = alt or f"{shown.kind} with {', '.join(filter(None, words))}"
    return picture([moved], round(width) + 2, round(height) + 2, said, shown.kind, "diagram")


def _text(shown: Diagram) -> str:
    source = tag("pre", tag("code", shown.source), tabindex="0", role="group", aria_label="Source of the diagram")
    return tag("details", tag("summary", "The diagram as text") + source, class_="numbers") + "\n"


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _cleaned(element: ElementTree.Element, around: tuple[str, ...]) -> Iterator[Markup]:
    """Yield the children of an element that a page keeps; `around` are the classes of all elements around it."""
    for child in element:
        name, classes = _name(child), (*around, *child.get("class", "").split())
        if name == "g":
            inside = join(_cleaned(child, (*classes, *child.get("data-merman-source-classes", "").split())))
            place = child.get("transform")
            yield tag("g", inside, transform=_rounded(place)) if place and inside else inside
        elif name == "text":
            yield _label(child, classes)
        elif name in _SHAPES:
            yield from _shape(child, name, classes)


def _shape(shape: ElementTree.Element, name: str, classes: Sequence[str]) -> Iterator[Markup]:
    role = _role(shape, classes)
    geometry = {key: _rounded(value) for key in _GEOMETRY if (value := shape.get(key)) is not None}
    if role == "back":
        geometry |= {"x": at(float(shape.get("x", "0")) - 4), "width": at(float(shape.get("width", "0")) + 8)}
    place = shape.get("transform")
    yield tag(name, class_=role, transform=_rounded(place) if place else None, **geometry)
    points = _points(shape)
    if "marker-end" in shape.attrib:
        yield _head(shape.get("marker-end", ""), points[-2:])
    if "marker-start" in shape.attrib:
        yield _head(shape.get("marker-start", ""), points[1::-1])


def _role(shape: ElementTree.Element, classes: Sequence[str]) -> str:
    """Return the class of our style sheet for a shape."""
    known = set(classes)
    if known & {"flowchart-link", "transition", "messageLine0", "messageLine1"}:
        dashed = known & {"edge-pattern-dotted", "edge-pattern-dashed", "messageLine1"}
        return "roof" if "edge-thickness-thick" in known else "level dash" if dashed else "level"
    if known & {"actor-line", "loopLine"}:
        return "drop"
    if known & {"state-start", "fork-join"}:
        return "tip"
    if known & {"cluster", "note", "activation0", "activation1", "activation2", "rect"}:
        return "area"
    if "merman-foreignobject-fallback" in known:
        return "back"
    return "level" if shape.get("fill") == "none" else "box"


def _label(text: ElementTree.Element, classes: Sequence[str]) -> Markup:
    style = text.get("style", "")
    anchor = "mid" if "middle" in (text.get("text-anchor"), *re.findall(r"text-anchor:(\w+)", style)) else ""
    strong = "b" if {"actor", "cluster-label", "labelText"} & set(classes) else ""
    spans = [child for child in text if _name(child) == "tspan"]
    lines = [tag("tspan", _words(s), x=_rounded(s.get("x", "0")), dy=_pixels(s.get("dy"))) for s in spans]
    return tag(
        "text",
        join(lines) if lines else _words(text),
        class_=f"{anchor} {strong}".strip() or None,
        x=_rounded(text.get("x", "0")),
        y=_rounded(text.get("y", "0")),
        dy=_pixels(text.get("dy")),
        dominant_baseline=text.get("dominant-baseline"),
    )


def _pixels(shift: str | None) -> str | None:
    """Return the pixels of `1em`: merman writes in 16 pixels what it shifts by its own height."""
    return at(16 * float(shift[:-2])) if shift and shift.endswith("em") else shift


def _words(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def _rounded(value: str) -> str:
    return _NUMBER.sub(lambda number: at(float(number[0])), value)


def _points(shape: ElementTree.Element) -> list[Pair]:
    """Return each point on and beside a line or a path, which is written with capital letters."""
    given = [shape.get(key, "0") for key in ("x1", "y1", "x2", "y2")] if _name(shape) == "line" else []
    numbers = [float(n) for n in given or _NUMBER.findall(shape.get("d", ""))]
    points = list(zip(numbers[::2], numbers[1::2], strict=False))
    return [point for n, point in enumerate(points) if not n or point != points[n - 1]]


def _head(marker: str, points: Sequence[Pair]) -> Markup:
    """Return the head of an arrow from the first point to the last; empty for a line without one."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    if "sequencenumber" in marker:  # on a line without length, under its number
        return tag("circle", class_="box", cx=x1, cy=y1, r=9)
    if len(points) < 2:
        return Markup("")
    long = hypot(x1 - x0, y1 - y0)
    ux, uy = (x1 - x0) / long, (y1 - y0) / long
    if "circle" in marker:
        return tag("circle", class_="tip", cx=x1 - 4 * ux, cy=y1 - 4 * uy, r=4)
    if "cross" in marker:
        arms = [(x1 - 4 * ux + 4 * i, y1 - 4 * uy + 4 * j) for i, j in ((1, 1), (-1, -1), (1, -1), (-1, 1))]
        return path(polyline(arms[:2]) + polyline(arms[2:]), "level")
    x, y = x1 + _TIP * ux, y1 + _TIP * uy
    bx, by = x - _HEAD * ux, y - _HEAD * uy
    sides = [(bx - 4 * uy, by + 4 * ux), (bx + 4 * uy, by - 4 * ux)]
    return path(polyline([sides[0], (x, y), sides[1]]) + "z", "tip")


FIGURE = FigureKind(_read, _draw, _text, lambda _: ())
