"""Spans of one line that overlap get places of their own, and the shade says which turn of its place a span is."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from sitegen.render.figures.chip import Level, render_chip
from sitegen.render.figures.spans import Span, Spans, places_of, render_spans

THREE = (Span("a", 0.0, 20.0, 0), Span("b", 1.0, 21.0, 0), Span("c", 20.5, 40.0, 0), Span("d", 5.0, 25.0, 1))


def test_a_span_takes_the_first_place_that_is_free() -> None:
    assert {span.name: (place, nth) for span, place, nth in places_of(THREE)} == {
        "a": (0, 0),
        "b": (1, 0),
        "c": (0, 1),
        "d": (0, 0),
    }


def test_each_turn_has_a_shade_and_the_description_counts_it() -> None:
    svg = LexborHTMLParser(f"<body>{render_spans(Spans('t', THREE, 'block', 'µs', 'SM'), id='f')}</body>")
    turns = [path for class_ in ("own", "base", "fill") for path in svg.css(f"path.{class_}.span")]
    assert [str(path.attributes["d"]).count("z") for path in turns] == [3, 1]
    assert svg.css("desc")[0].text() == (
        "4 blocks on 2 lines until 40; turn 1: 3 blocks, from 0 to 25; turn 2: 1 blocks, from 20.5 to 40."
    )


def test_lines_with_names_show_all_of_them_and_leave_room_for_the_longest() -> None:
    names = ("arithmetic of the first warp", "stage 0")
    svg = LexborHTMLParser(f"<body>{render_spans(Spans('t', THREE, 'span', 'µs', '', names), id='f')}</body>")
    shown = {label.text(): label.attributes["x"] for label in svg.css("text.e")}
    assert list(shown) == list(names)
    first = str(svg.css("path.own.span")[0].attributes["d"])
    assert float(first[1:].split()[0]) > float(str(shown["stage 0"])) > 100
    assert "on 2 lines (arithmetic of the first warp, stage 0) until 40" in svg.css("desc")[0].text()


def test_the_levels_of_an_sm_stand_within_its_box_and_those_of_the_chip_below_it() -> None:
    levels = [Level(name, f"{n} ns") for n, name in enumerate(("registers", "L1", "L2", "DRAM"))]
    svg = LexborHTMLParser(f"<body>{render_chip('The chip', levels, id='f')}</body>")
    widths = [float(str(box.attributes["width"])) for box in svg.css("rect.box")]
    assert widths[0] == widths[1] < widths[2] == widths[3]
    assert svg.css("desc")[0].text() == "registers: 0 ns; L1: 1 ns; L2: 2 ns; DRAM: 3 ns."
