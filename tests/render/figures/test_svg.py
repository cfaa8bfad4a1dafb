import re

import pytest

from sitegen.markup.svg import at, tag
from sitegen.render.figures.bandwidth_panel import LevelLine, Panel, ProgramColumn, render_panel
from sitegen.render.figures.inline_charts import Mark, Square, bar, road, strip
from sitegen.render.figures.roofline import describe, render_roofline
from sitegen.render.figures.roofline_axes import Point, Roof, Roofline, Slope
from sitegen.render.figures.scales import Linear, Log

SLOPE = Slope("copy", 4e12, 4.8e12)
ROOFS = (Roof("fp32", 50e12, 67e12), Roof("bf16 tensor", 700e12, 989.5e12))
POINT = Point("fused", 0.625, 2.4e12, 2.3e12, 2.5e12, True)


def chart(*points: Point, roofs: tuple[Roof, ...] = ROOFS) -> Roofline:
    return Roofline("NVIDIA H200", "softmax", (SLOPE,), roofs, points)


def test_text_from_an_author_cannot_leave_its_element() -> None:
    assert tag("text", "<b>", x=1.0) == '<text x="1">&lt;b&gt;</text>'
    assert 'a="&#34;&gt;"' in tag("g", a='">')


def test_a_coordinate_is_never_minus_zero() -> None:
    assert at(-0.01) == "0"
    assert at(12.34) == "12.3"


def test_a_logarithmic_axis_ends_at_its_decades() -> None:
    axis = Log(0.1, 1000.0, 0.0, 400.0)
    assert [round(axis(decade)) for decade in axis.decades] == [0, 100, 200, 300, 400]
    assert len(axis.minor) == 32


@pytest.mark.parametrize("high", [0.37, 4.3, 5.0, 9.99, 840.0])
def test_ticks_are_few_and_round(high: float) -> None:
    ticks = Linear(0.0, high, 0.0, 100.0).ticks
    assert 4 <= len(ticks) <= 10
    assert ticks[-1] <= high + 1e-9


def test_the_ridge_is_where_arithmetic_meets_the_slope() -> None:
    assert chart().ridge(ROOFS[0]) == 12.5


def test_a_roofline_says_in_words_what_it_draws() -> None:
    words = describe(chart(POINT)).replace("\u00a0", " ")
    assert "copy 4.00 TB/s, fp32 50.0 TFLOP/s, bf16 tensor 700 TFLOP/s" in words
    assert "At 0.625 FLOP per byte: fused 2.40 TFLOP/s." in words


def test_measured_roofs_are_solid_and_those_of_the_datasheet_dashed() -> None:
    svg = render_roofline(chart(POINT), id="f1")
    assert svg.count('class="roof"') == 2
    assert svg.count('class="sheetline"') == 2
    assert "datasheet 989.5" in svg
    assert 'aria-labelledby="f1-title f1-desc"' in svg


def test_a_gpu_without_a_known_datasheet_has_no_dashed_line() -> None:
    alone = Roofline("Other", "softmax", (Slope("copy", 4e12),), (Roof("fp32", 50e12),), (POINT,))
    assert "sheetline" not in render_roofline(alone, id="f1")


def test_a_chart_without_roofs_or_points_still_has_its_slope() -> None:
    assert render_roofline(chart(roofs=()), id="f1").count('class="roof"') == 1


def test_everything_stays_inside_of_the_picture() -> None:
    far = Point("far", 3000.0, 690e12, 600e12, 700e12, True)
    low = Point("low", 0.004, 1e9, 0.9e9, 1.1e9, False)
    svg = render_roofline(chart(far, low), id="f1")
    circles = re.findall(r'<circle class="own" cx="([\d.]+)" cy="([\d.]+)"', svg)
    squares = re.findall(r'<rect class="base" x="([\d.]+)" y="([\d.]+)"', svg)
    assert len(circles) == len(squares) == 1
    assert all(40 <= float(x) <= 466 and 10 <= float(y) <= 336 for x, y in circles + squares)


def test_ours_are_joined_in_the_order_written_and_baselines_are_not() -> None:
    second = Point("tma", 0.625, 2.5e12, 2.4e12, 2.6e12, True)
    base = Point("torch", 0.625, 1e12, 0.9e12, 1.1e12, False)
    lines = re.findall(r'class="way" d="(M[^"]*)"', render_roofline(chart(base, POINT, second), id="f"))
    assert sum("L" in line for line in lines) == 1


def test_a_stale_point_is_hollow_with_a_broken_edge() -> None:
    stale = Point("fused", 0.625, 2.4e12, 2.3e12, 2.5e12, True, stale=True)
    svg = render_roofline(chart(stale), id="f1")
    assert 'class="stalept"' in svg
    assert 'class="own"' not in svg


def test_the_panel_names_a_stale_program_and_links_to_its_row() -> None:
    column = ProgramColumn("fused", 4.07, 4.0, 4.1, True, stale=True, predicted=4.1, href="#r-fused")
    svg = render_panel(Panel("softmax", "TB/s", LevelLine("copy", 4.3), (column,)))
    assert '<a href="#r-fused"><title>fused: 4.07 TB/s, stale</title>' in svg
    assert 'class="pred"' in svg


def test_a_bar_beyond_its_ceiling_is_seen_but_stays_near() -> None:
    assert 'width="105%"' in bar(3.0, Mark.OURS)
    assert 'class="own"' not in bar(None, Mark.OURS)


def test_a_prediction_is_a_ring_on_the_bar() -> None:
    assert '<circle class="p" cx="66.7%"' in bar(0.6, Mark.OURS, 0.667)


def test_the_strip_has_a_square_a_post_and_marks_the_one_that_is_read() -> None:
    svg = strip([[Square(), Square("here")], [], [Square("plan"), Square("plan")]])
    squares = {
        state: path.count("h9v9h-9z") for state, path in re.findall(r'<path(?: class="(\w+)")? d="([^"]+)"', svg)
    }
    assert squares == {"": 1, "here": 1, "plan": 2}


def test_a_series_without_posts_has_an_empty_road() -> None:
    assert "<rect" not in road([("Soon", [])])


def test_a_long_phase_title_goes_on_below_itself_and_the_others_stand_above_their_blocks() -> None:
    svg = road([("Triton kernels", [Square()] * 3), ("Sums", [Square()] * 6)])
    assert re.findall(r'y="(\d+)">([^<]+)</text>', svg) == [("14", "Triton kernels"), ("14", "Sums")]
    svg = road([("Triton kernels", [Square()] * 3), ("Sums", [Square()] * 18)])
    assert re.findall(r'y="(\d+)">([^<]+)</text>', svg) == [("28", "kernels"), ("14", "Triton"), ("28", "Sums")]
    assert svg.count('y="38"') == 21  # every block, below both lines


def test_a_word_that_is_longer_than_its_phase_is_cut() -> None:
    svg = road([("Optimisation", [Square()]), *[(f"P{n}", [Square()] * 6) for n in range(3)]])
    assert ">Opt…</text>" in svg or ">Opti…</text>" in svg
