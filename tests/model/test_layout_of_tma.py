"""The figures of the post cute-tma show the order in which the program by hand finds a tile in shared memory."""

from __future__ import annotations

import re
from pathlib import Path

from sitegen.model.layout import parse_layout

ROOT = Path(__file__).parents[2]
POST = (ROOT / "content/posts/cute-tma/index.md").read_text("utf-8")
TWIN = (ROOT / "kernels/cute_tma/plain_swizzled.cu").read_text("utf-8")


def place(row: int, column: int) -> int:
    """Return what the function `place` of the twin returns."""
    formula = re.search(r"int place\(int row, int column\) \{ return (.+); \}", TWIN)
    assert formula
    return int(eval(formula[1].replace("/", "//"), {"row": row, "column": column, "COLUMNS": 32}))


def test_both_figures_have_the_swizzle_of_the_twin() -> None:
    texts = re.findall(r"Swizzle<3,2,3> o \((\d+),32\):\(32,1\)", POST)
    assert texts == ["8", "64"]
    for rows in map(int, texts):
        layout = parse_layout(f"Swizzle<3,2,3> o ({rows},32):(32,1)")
        cells = [(row, column) for row in range(rows) for column in range(32)]
        assert [layout(row + column * rows) for row, column in cells] == [place(*cell) for cell in cells]
