"""A chart of curves: its kinds, its whiskers and lines, and the words for those who do not see it."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest
from selectolax.lexbor import LexborHTMLParser

from sitegen.render.figures.axes import Tick, apart, every_nth, number, size_number
from sitegen.render.figures.curves import Curve, CurveKind, CurvePoint, Curves, Reference, render_curves


def curve(name: str, *ys: float, **changes: object) -> Curve:
    """Return a curve over 128, 256, 512, … with whiskers of 5 %."""
    return Curve(
        name,
        tuple(
            replace(CurvePoint(128.0 * 2**n, y, y * 0.95, y * 1.05, f"at {n}", f"#p{n}"), **changes)
            for n, y in enumerate(ys)
        ),
    )


CHART = Curves("Bandwidth over threads", "at 0; at 1.", "THREADS", "TB/s", (curve("", 2.0, 3.0, 2.5),), log_x=True)
CEILING = Reference("ceiling", "roof", ((0.0, 4.0),))


def drawn(chart: Curves) -> LexborHTMLParser:
    return LexborHTMLParser(f"<body>{render_curves(chart, id='f')}</body>")


def texts(chart: Curves) -> list[str]:
    return [node.text() for node in drawn(chart).css("text")]


def numbers_of(d: str | None) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", d or "")]


def test_every_point_is_a_link_with_a_name_and_a_whisker() -> None:
    found = drawn(CHART)
    links = found.css("a")
    assert [link.attributes["href"] for link in links] == ["#p0", "#p1", "#p2"]
    assert [link.css_first("title").text() for link in links] == ["at 0", "at 1", "at 2"]
    assert len(found.css("a path.ownline")) == 3
    svg = found.css_first("svg")
    assert (svg.attributes["role"], svg.attributes["aria-labelledby"]) == ("group", "f-title f-desc")


def test_a_whisker_that_is_shorter_than_a_pixel_is_not_drawn() -> None:
    assert drawn(replace(CHART, curves=(curve("", 2.0, low=2.0, high=2.0),))).css("a path") == []


def test_axes_have_their_units_and_the_swept_values() -> None:
    said = texts(replace(CHART, references=(CEILING,)))
    assert {"TB/s", "THREADS", "128", "256", "512", "0", "4", "ceiling"} <= set(said)


@pytest.mark.parametrize("kind", CurveKind)
def test_every_kind_draws_every_point(kind: CurveKind) -> None:
    chart = replace(CHART, kind=kind, curves=(curve("A", 2.0, 3.0), curve("B", 1.0, 1.5)), references=(CEILING,))
    found = drawn(chart)
    assert len(found.css("a")) == 4
    lines = list(found.css("svg > path.ownline, svg > path.level"))
    assert len(lines) == (2 if kind in (CurveKind.LINE, CurveKind.STAIRCASE) else 0)
    assert {"A", "B"} <= set(texts(chart)), "the curves are named without a colour"


def test_points_of_more_curves_than_colours_have_the_number_of_their_curve() -> None:
    curves = tuple(
        curve(name, height, height + 0.05) for name, height in zip("ABCD", (0.1, 0.4, 0.2, 0.3), strict=True)
    )
    said = texts(replace(CHART, kind=CurveKind.SCATTER, curves=curves))
    assert {"1 B", "2 D", "3 C", "4 A"} <= set(said), "the highest first"
    assert [said.count(number) for number in "1234"] == [2, 2, 2, 2]
    assert "A" in texts(replace(CHART, kind=CurveKind.SCATTER, curves=curves[:3])), "three have a colour each"


def test_stairs_hold_a_value_until_the_next() -> None:
    path = drawn(replace(CHART, kind=CurveKind.STAIRCASE)).css_first("svg > path.ownline").attributes["d"]
    values = numbers_of(path)
    corners = list(zip(values[::2], values[1::2], strict=True))
    assert len(corners) == 5
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(corners))


def test_a_stale_point_is_marked_in_every_kind() -> None:
    for kind in CurveKind:
        found = drawn(replace(CHART, kind=kind, curves=(curve("", 2.0, 3.0, stale=True),)))
        assert len(found.css(".stalept")) == 2 and found.css(".own") == []


def test_a_reference_of_one_value_reaches_across_and_one_of_several_follows_x() -> None:
    line = drawn(replace(CHART, references=(CEILING,))).css_first("path.roof").attributes["d"]
    (x0, y0, x1, y1) = numbers_of(line)
    assert y0 == y1 and x1 - x0 > 300
    over = Reference("copy", "axis", ((128.0, 1.0), (256.0, 2.0), (512.0, 3.0)))
    path = drawn(replace(CHART, references=(over,))).css("svg > path.axis")[-1].attributes["d"]
    ys = numbers_of(path)[1::2]
    assert ys == sorted(ys, reverse=True) and len(ys) == 3


def test_bars_begin_at_zero_and_no_line_is_behind_them() -> None:
    chart = replace(CHART, kind=CurveKind.BAR, curves=(curve("", 2.0, 4.0),), references=(CEILING,))
    bars = drawn(chart).css("a rect.own")
    heights = [float(bar.attributes["height"] or 0) for bar in bars]
    assert heights[1] == pytest.approx(2 * heights[0], abs=1)
    svg = str(render_curves(chart, id="f"))
    assert svg.index('class="roof"') > svg.rindex("<rect")


def test_a_logarithmic_height_has_decades_and_needs_no_zero() -> None:
    said = texts(replace(CHART, curves=(curve("", 3.0, 300.0, 3000.0),), log_y=True))
    assert {"10", "100", "1000"} <= set(said) and "0" not in said


def test_a_single_point_has_a_chart() -> None:
    for log_x in (False, True):
        assert len(drawn(replace(CHART, curves=(curve("", 2.0),), log_x=log_x)).css("a")) == 1


def test_a_chart_of_zeros_breaks_no_page() -> None:
    for log_y in (False, True):
        assert len(drawn(replace(CHART, curves=(curve("", 0.0, 0.0),), log_y=log_y)).css("a")) == 2


def test_everything_is_inside_the_picture() -> None:
    several = tuple(curve(f"UNROLL {n}", *(0.5 + n + i for i in range(5))) for n in range(5))
    svg = drawn(replace(CHART, curves=several, references=(CEILING,))).css_first("svg")
    _, _, width, height = numbers_of(svg.attributes["viewBox"])
    for node in svg.css("text, circle, rect"):
        x = float(node.attributes.get("x") or node.attributes.get("cx") or 0)
        y = float(node.attributes.get("y") or node.attributes.get("cy") or 0)
        assert 0 <= x <= width and 0 <= y <= height


def test_a_name_that_would_leave_the_picture_moves_to_the_left() -> None:
    last = list(apart([Tick(0.0, "0"), Tick(440.0, "100 000")], end=444.0))[-1]
    assert 400.0 < last.at < 440.0
    assert list(apart([Tick(0.0, "0"), Tick(440.0, "100 000")]))[-1].at == 440.0


def test_two_values_that_are_not_round_have_three_digits() -> None:
    points = CurvePoint(0.00166528, 2.0, 2.0, 2.0, ""), CurvePoint(0.00230991, 3.0, 3.0, 3.0, "")
    assert {"0.00167", "0.00231"} <= set(texts(replace(CHART, curves=(Curve("", points),), log_x=False)))


def test_a_logarithmic_axis_of_fractions_has_a_name_in_each_decade() -> None:
    points = tuple(CurvePoint(x, 100.0, 100.0, 100.0, "") for x in (0.002, 0.0313, 0.7, 1.0))
    across = replace(CHART, curves=(Curve("", points),))
    assert {"0.01", "0.1", "1"} <= set(texts(across))
    assert "0.4" not in texts(across)
    near = tuple(replace(point, x=x) for point, x in zip(points, (1.05, 1.2, 1.3, 1.4), strict=True))
    names = texts(replace(CHART, curves=(Curve("", near),)))
    assert len([name for name in names if name.startswith("1.")]) > 2, "without decades, the steps are equal"


def test_a_linear_axis_names_every_second_value_where_all_names_do_not_fit() -> None:
    ticks = [Tick(40.0 * n + 20, f"{100 * n},000" if n else "0") for n in range(7)]
    assert [tick.name for tick in every_nth(ticks)] == ["0", "200,000", "400,000", "600,000"]
    assert every_nth(ticks[:1]) == ticks[:1] and not every_nth([])


def test_names_on_an_axis_do_not_touch() -> None:
    ticks = [Tick(10.0 * n, "1024") for n in range(20)]
    shown = [tick.at for tick in apart(ticks)]
    assert shown[0] < 40 and all(b - a > 30 for a, b in itertools.pairwise(shown))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (8192, "8192"),
        (12288, "12Ki"),
        (65536, "64Ki"),
        (2**28, "256Mi"),
        (2**30, "1Gi"),
        (10_000, "10,000"),
        (0.5, "0.5"),
    ],
)
def test_a_size_is_named_as_the_site_names_it(value: float, name: str) -> None:
    assert size_number(value) == name


def test_a_number_of_an_axis_has_groups_of_digits() -> None:
    assert number(12_345) == "12,345"
