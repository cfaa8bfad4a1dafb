"""Figures that are typed into prose are found, with their place and their unit; nothing else is."""

from __future__ import annotations

import pytest

from sitegen.markup.parse import parse_document
from sitegen.markup.typed_figures import typed_figures
from sitegen.model.figure_table import Unit
from sitegen.model.markdown import Markdown

PLANTED = [
    ("It moves 4.04 TB/s.", "4.04 TB/s", Unit.BYTES_PER_S, 4.04e12),
    ("It moves 812 GB/s.", "812 GB/s", Unit.BYTES_PER_S, 812e9),
    ("It moves 4.04\u00a0TB/s.", "4.04\u00a0TB/s", Unit.BYTES_PER_S, 4.04e12),
    ("It does 704 TFLOP/s.", "704 TFLOP/s", Unit.FLOPS_PER_S, 704e12),
    ("It does 704 TFLOPS.", "704 TFLOPS", Unit.FLOPS_PER_S, 704e12),
    ("It reaches 12 % of it.", "12 %", Unit.SHARE, 0.12),
    ("It reaches **94.5 %** of it.", "94.5 %", Unit.SHARE, 0.945),
    ("It reaches 12% of it.", "12%", Unit.SHARE, 0.12),
    ("It is 1.5 × torch.", "1.5 ×", Unit.RATIO, 1.5),
    ("It is 1.5× faster.", "1.5×", Unit.RATIO, 1.5),
    ("It is 1.5x faster.", "1.5x", Unit.RATIO, 1.5),
    ("It is 3 × as fast.", "3 ×", Unit.RATIO, 3.0),
    ("It is 2.1 times torch.", "2.1 times", Unit.RATIO, 2.1),
    ("It takes 132.8 µs.", "132.8 µs", Unit.MICROSECONDS, 132.8),
    ("It takes 132.8 us.", "132.8 us", Unit.MICROSECONDS, 132.8),
    ("It takes 6.2 ms.", "6.2 ms", Unit.MICROSECONDS, 6200.0),
    ("It takes 650 ns.", "650 ns", Unit.MICROSECONDS, 0.65),
    ("A thread has 40 registers.", "40 registers", Unit.COUNT, 40.0),
    ("An occupancy of 0.75 is enough.", "0.75", Unit.SHARE, 0.75),
    ("It runs at 0.75 occupancy.", "0.75", Unit.SHARE, 0.75),
]


def found(text: str) -> list[tuple[int, int, str]]:
    return [(one.line, one.col, one.text) for one in typed_figures(text.split("\n"))]


@pytest.mark.parametrize(("text", "figure", "unit", "value"), PLANTED, ids=[one[1] for one in PLANTED])
def test_each_planted_figure_is_found_with_its_value(text: str, figure: str, unit: Unit, value: float) -> None:
    [one] = typed_figures([text])
    assert (one.text, one.unit, text.index(figure)) == (figure, unit, one.col)
    assert one.value == pytest.approx(value)


def test_twenty_figures_of_all_units_are_planted() -> None:
    assert len(PLANTED) == 20


@pytest.mark.parametrize(
    "text",
    [
        "A row of 8192 floats is 32 KB.",
        "At 4096 × 1024 and 4096×131072 columns.",
        "The matrix is 16384 × 4096.",
        "Read `4.04 TB/s` in ``the 12 % column``.",
        "The formula $4 × N = 12 %$ says so.",
        "It moves {value}`softmax/fused bandwidth`, {spec}`4.8 TB/s` and {given}`2.4 TB/s; arithmetic`.",
        "See [the sum](../sum-12%25.md) and https://example.org/12%20x.",
        "Half of it is {given}`2.4 TB/s;\narithmetic of 12 %` of all.",
        "Within ±12 %, ± 12 %, −2 % and +5 % of it.",
        "::::{example}\n| naive | 12.25 ms |\n::::",
        '<img alt="12 %">',
        "The 95 % interval is narrow.",
        "It needs Triton 3.6.0, sm_90 and CUDA 13.",
        "Each of the 1.12.3 releases",
        "Four times as many, twice as fast.",
        "They met 3 times in 2 rows.",
        "## Title {#twelve-12%}",
    ],
)
def test_code_roles_formulas_addresses_and_shapes_are_no_typed_figures(text: str) -> None:
    assert found(text) == []


def test_fences_of_code_are_left_out_and_those_of_prose_are_not() -> None:
    text = "\n".join(
        [
            "```python",
            "x = 12 % 5",
            "```",
            ":::{note} Mind",
            "It reaches 12 %.",
            "```",
            "13 %",
            "```",
            ":::",
            "````{claim} softmax/fused >= 95 % of-copy",
            "It reaches 96 %.",
            "````",
            "$$",
            "14 %",
            "$$",
            "<!-- 15 %",
            "16 % -->",
            "It reaches 17 %.",
        ]
    )
    assert [(line, figure) for line, _, figure in found(text)] == [(4, "12 %"), (10, "96 %"), (17, "17 %")]


def test_captions_among_options_and_cells_of_tables_are_prose() -> None:
    text = "```{benchmark} softmax\n:columns: [time]\n:caption: At best 94 %.\n```\n\n| fused | 4.04 TB/s |\n"
    assert [figure for _, _, figure in found(text)] == ["94 %", "4.04 TB/s"]


def test_a_typed_figure_is_near_what_rounds_to_it() -> None:
    [one] = typed_figures(["It moves 4.04 TB/s."])
    assert one.is_near(4.0449e12) and one.is_near(4.035e12)
    assert not one.is_near(4.046e12)


def test_the_caption_of_a_cell_takes_no_figure_of_a_record() -> None:
    text = "```{code-cell} python\n#| label: a\n#| fig-cap: At {value}`softmax/fused time`.\nprint(1)\n```\n"
    [mistake] = parse_document(Markdown(text, "a/index.md"))[1]
    assert (mistake.code, mistake.message) == ("SG105", "option `fig-cap`: the caption of a cell is plain text")


def test_a_role_that_is_never_closed_hides_its_paragraph_alone() -> None:
    text = "Half is {given}`2.4 TB/s;\nand 12 %\n\nA thread has 40 registers, {given}`1 ms;\nnow` and 13 %."
    assert [one[2] for one in found(text)] == ["40 registers", "13 %"]
