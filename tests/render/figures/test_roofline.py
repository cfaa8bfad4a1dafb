"""A roofline shows every level, every roof and both points of each program, and no word overlaps anything."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.render.figures.bandwidth_panel import LevelLine, Panel, ProgramColumn, render_panel
from sitegen.render.figures.labels import Shape, Spot, box, outline, stroke, touch
from sitegen.render.figures.roofline import render_roofline
from sitegen.render.figures.roofline_axes import Point, Roof, Roofline, Slope

COPY, L2, SHARED = Slope("copy", 4.29e12, 4.8e12), Slope("L2", 9.8e12), Slope("shared", 33.1e12)
FP32, BF16 = Roof("fp32", 65e12, 67e12), Roof("bf16 tensor", 796e12, 989.5e12)
NAMES = ("naive", "online", "fused", "registers", "cluster", "two_pass", "persistent", "tma_store")


def program(name: str, rate: float, intensity: float = 0.625, reread: float | None = None) -> Point:
    dram = intensity / reread if reread else None
    return Point(name, intensity, rate, rate * 0.995, rate * 1.004, True, dram_flops_per_byte=dram)


def chart(*points: Point, slopes=(COPY, L2, SHARED), roofs=(FP32,)) -> Roofline:
    return Roofline("NVIDIA H200", "softmax", slopes, roofs, points)


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def by_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [node for node in root.iter() if name in (node.get("class") or "").split()]


def words(root: ElementTree.Element) -> list[tuple[str, Shape]]:
    """Return every text of a chart with its outline."""
    found = []
    for node in root.iter("text"):
        classes = (node.get("class") or "").split()
        x, y, turn = node.get("x"), node.get("y"), 0.0
        if move := node.get("transform"):
            x, y, degrees = re.findall(r"-?[\d.]+", move)
            turn = math.radians(float(degrees))
        align = next((a for a in ("mid", "e") if a in classes), "")
        text = "".join(node.itertext())
        bold = bool({"b", "o", "st"} & set(classes))
        found.append((text, outline(text, Spot(float(x), float(y), align, turn), bold=bold, pad=0.0)))
    return found


def lines(root: ElementTree.Element, *classes: str) -> list[Shape]:
    strokes = []
    for node in (node for name in classes for node in by_class(root, name)):
        corners = []
        for command, numbers in re.findall(r"([MLHV])([-\d. ]+)", node.get("d") or ""):
            values = [float(n) for n in numbers.split()]
            corners.append((values[0], corners[-1][1]) if command == "H" else tuple(values))
        strokes += [stroke(a, b, 1.0) for a, b in itertools.pairwise(corners)]
    return strokes


def marks(root: ElementTree.Element) -> list[Shape]:
    found = []
    for node in (node for name in ("own", "base", "held", "stalept", "pred") for node in by_class(root, name)):
        if node.tag == "circle":
            x, y, r = (float(node.get(name) or 0) for name in ("cx", "cy", "r"))
            found.append(box(x - r, y - r, x + r, y + r))
        else:
            x, y, side = (float(node.get(name) or 0) for name in ("x", "y", "width"))
            found.append(box(x, y, x + side, y + side))
    return found


def clashes(svg: str) -> list[str]:
    """Return the pairs of elements that overlap."""
    root = drawn(svg)
    texts, things = words(root), [*lines(root, "roof", "sheetline", "level"), *marks(root)]
    found = [f"{a} on {b}" for (a, one), (b, other) in itertools.combinations(texts, 2) if touch(one, other)]
    return found + [f"{text} on a line or a point" for text, shape in texts for thing in things if touch(shape, thing)]


def names(svg: str) -> set[str]:
    """Return the names without the numbers of their steps."""
    return {re.sub(r"^\d+ ", "", text) for text, _ in words(drawn(svg))}


NEAR_EQUAL = chart(*(program(name, 2.5e12 * (1 + n * 1e-4)) for n, name in enumerate(NAMES)))
AT_THE_RIDGE = chart(*(program(name, 400e12 + n * 1e13, 180.0, 1.4) for n, name in enumerate(NAMES)), roofs=(BF16,))
FAR_APART = chart(program("naive", 1e9, 0.004, 30.0), program("tma", 690e12, 3000.0), roofs=(FP32, BF16))
ALMOST_THE_DATASHEET = chart(program("copy", 2.6e12), slopes=(Slope("read", 4.79e12, 4.8e12), Slope("L2", 4.9e12)))


@pytest.mark.parametrize("odd", [NEAR_EQUAL, AT_THE_RIDGE, FAR_APART, ALMOST_THE_DATASHEET, chart(), chart(roofs=())])
def test_no_word_lies_on_another_on_a_roof_or_on_a_point_however_odd_the_figures(odd: Roofline) -> None:
    svg = render_roofline(odd, id="f")
    assert clashes(svg) == []
    assert {point.name for point in odd.points} <= names(svg)


@settings(max_examples=40)
@given(
    rates=st.lists(st.floats(0.02, 1.0), min_size=2, max_size=8),
    intensity=st.sampled_from([0.0833, 0.25, 0.625, 12.0, 180.0, 1370.0, 2730.0]),
    jitter=st.booleans(),
    rereads=st.lists(st.one_of(st.none(), st.floats(1.0, 40.0)), min_size=8, max_size=8),
    baselines=st.integers(0, 2),
)
def test_two_to_eight_programs_of_any_rates_keep_their_names_clear(
    rates, intensity, jitter, rereads, baselines
) -> None:
    roof = BF16 if intensity > 64 else FP32
    limit = min(roof.flops_per_s, intensity * COPY.bytes_per_s)
    shares = [rates[0] * (1 - n * 1e-3) for n in range(len(rates))] if jitter else rates
    points = [program(n, limit * s, intensity, r) for n, s, r in zip(NAMES, shares, rereads, strict=False)]
    points = [replace(p, ours=n >= baselines) for n, p in enumerate(points)]
    svg = render_roofline(chart(*points, roofs=(roof,)), id="f")
    assert clashes(svg) == []
    assert {point.name for point in points} <= names(svg)


def test_every_ceiling_is_labelled_with_its_value() -> None:
    texts = {
        text.replace("\u00a0", " ") for text, _ in words(drawn(render_roofline(chart(program("fused", 2e12)), id="f")))
    }
    assert {"copy 4.29 TB/s", "L2 9.80 TB/s", "shared 33.1 TB/s", "datasheet 4.8 TB/s"} <= texts
    assert {"fp32 65.0", "datasheet 67", "ridge 15.2"} <= texts


def test_a_level_whose_slope_lies_outside_of_the_chart_is_not_drawn() -> None:
    near_its_roof = chart(program("tma", 700e12, 2730.0), roofs=(BF16,))
    root = drawn(render_roofline(near_its_roof, id="f"))
    assert len(by_class(root, "level")) == 1
    assert not any(text.startswith("shared") for text, _ in words(root))


def test_a_program_whose_bytes_were_counted_has_two_points_at_one_height_and_a_bar_between_them() -> None:
    root = drawn(render_roofline(chart(program("naive", 1e12, reread=2.0)), id="f"))
    left, right = sorted((float(c.get("cx") or 0), float(c.get("cy") or 0)) for c in by_class(root, "own"))
    assert left[0] < right[0]
    assert left[1] == right[1]
    (bar,) = by_class(root, "reread")
    assert [float(n) for n in re.findall(r"[\d.]+", bar.get("d") or "")] == [left[0], left[1], right[0]]


def test_the_bar_is_as_long_as_the_re_read_factor_whatever_the_program() -> None:
    root = drawn(
        render_roofline(chart(program("naive", 1e12, reread=2.0), program("online", 2e12, reread=4.0)), id="f")
    )
    ends = [[float(n) for n in re.findall(r"[\d.]+", bar.get("d") or "")] for bar in by_class(root, "reread")]
    short, long = (end - begin for begin, _, end in ends)
    assert long == pytest.approx(2 * short, abs=0.3)  # an axis of logarithms: twice the factor of two


def test_the_path_goes_through_the_dram_only_when_all_of_ours_were_counted_there() -> None:
    counted = chart(program("naive", 1e12, reread=2.0), program("fused", 2e12, reread=1.0))
    half = chart(program("naive", 1e12, reread=2.0), program("fused", 2e12))
    begins = []
    for one in (counted, half):
        (way,) = by_class(drawn(render_roofline(one, id="f")), "way")
        begins.append(float(re.findall(r"[\d.]+", way.get("d") or "")[0]))
    assert begins[0] < begins[1]


def test_a_matrix_kernel_has_its_sustained_rate_as_a_hollow_mark_below_the_burst() -> None:
    held = replace(program("wgmma", 760e12, 2730.0), sustained_flops_per_s=640e12)
    root = drawn(render_roofline(chart(held, roofs=(BF16,)), id="f"))
    (burst,), (sustained,) = by_class(root, "own"), by_class(root, "held")
    x, top = re.findall(r"[\d.]+", sustained.get("d") or "")[:2]
    assert burst.get("cx") == x
    assert float(burst.get("cy") or 0) < float(top)


def test_a_point_with_a_row_is_a_link_that_says_all_of_it_and_the_chart_is_then_a_group() -> None:
    told = replace(program("fused", 2e12), href="#row", title="fused: 2.00 TFLOP/s; re-read 1.02 ×")
    root = drawn(render_roofline(chart(told), id="f"))
    (link,) = root.iter("a")
    assert (link.get("href"), link.findtext("title")) == ("#row", told.title)
    assert root.get("role") == "group"
    assert drawn(render_roofline(chart(program("fused", 2e12)), id="f")).get("role") == "img"


def test_kernels_under_one_roof_have_their_names_near_and_no_path() -> None:
    several = chart(
        program("sum", 1e12, 0.25), program("softmax", 2.5e12), program("matmul", 700e12, 2730.0), roofs=(BF16,)
    )
    svg = render_roofline(several, id="f", named=True)
    assert clashes(svg) == []
    assert {"sum", "softmax", "matmul"} <= {text for text, _ in words(drawn(svg))}
    assert not by_class(drawn(svg), "way")


def column(name: str, rate: float, predicted: float | None = None) -> ProgramColumn:
    return ProgramColumn(name, rate, rate * 0.99, rate * 1.01, True, predicted=predicted)


@pytest.mark.parametrize("width", [400, 480])
@pytest.mark.parametrize("ceiling", [4.79, 4.71, 4.4, 4.29, 3.0])
def test_the_names_of_a_panel_stay_apart_however_near_the_ceiling_is_to_the_datasheet(
    ceiling: float, width: int
) -> None:
    columns = [column(name, ceiling * (0.95 + n * 1e-3), ceiling * 0.96) for n, name in enumerate(NAMES)]
    probe = LevelLine("copy of these bytes", ceiling * 0.97)
    panel = Panel(
        "p", "TB/s", LevelLine("two reads, a write", ceiling), columns, probe, LevelLine("datasheet", 4.8), width
    )
    svg = render_panel(panel)
    assert clashes(svg) == []
    assert set(NAMES) <= names(svg)
    texts = {text for text, _ in words(drawn(svg))}
    assert {"datasheet 4.8", f"two reads, a write {ceiling:.2f}"} <= texts


def test_the_names_of_two_points_in_the_lower_corner_stay_beside_them() -> None:
    low = [program("scan 76 %", 0.285e12, 0.125), program("vector_add 99 %", 0.252e12, 0.0833)]
    slopes = (Slope("DRAM", 3.08e12, 3.35e12), Slope("L2", 7.81e12), Slope("shared", 33.2e12))
    root = drawn(render_roofline(chart(*low, slopes=slopes, roofs=(FP32, BF16)), id="f", named=True))
    names = dict(words(root))
    for point in low:
        corner = names[point.name][0]
        assert any(math.dist(corner, mark[0]) < 60 for mark in marks(root)), point.name
