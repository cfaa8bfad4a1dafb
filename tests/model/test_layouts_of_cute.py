"""The layouts that the figures of a post show are those that CuTe computed on a GPU, index by index."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sitegen.model.layout import parse_layout

POST = Path(__file__).parents[2] / "content/posts/cute-layouts"
RECORDS = sorted(POST.glob("results/*/indices.json"))
FIGURE = re.compile(r"^```\{layout\} (\S+)\n((?::.*\n)*)", re.MULTILINE)


def told(record: Path) -> dict[str, tuple[str, list[int]]]:
    """Return the layout and the indices of each tensor, as the cell printed them."""
    outputs = json.loads(record.read_text("utf-8"))["outputs"]
    text = next(output["text"] for output in outputs if output["kind"] == "stream")
    words = [line.split() for line in text.splitlines()]
    return {name: (layout, list(map(int, indices))) for name, layout, *indices in words}


def drawn() -> dict[str, dict[str, str]]:
    """Return the options of each figure, with its layout, by its label."""
    text = (POST / "index.md").read_text("utf-8").replace("{x}", "4")
    options = [
        {"layout": layout} | dict(re.findall(r"^:([a-z-]+): (.+)$", rest, re.MULTILINE))
        for layout, rest in FIGURE.findall(text)
    ]
    return {one["label"]: one for one in options}


def test_a_record_exists():
    assert RECORDS


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
class TestFigures:
    def test_every_tensor_has_the_indices_of_its_layout(self, record):
        for name, (text, indices) in told(record).items():
            layout = parse_layout(text)
            assert indices == [indices[0] + layout(i) for i in range(layout.size)], name

    def test_the_figures_show_what_cute_computed(self, record):
        tensors, figures = told(record), drawn()
        for label, name in {"fig-rows": "rows", "fig-columns": "columns", "fig-patches": "patches"}.items():
            assert figures[label]["layout"] == tensors[name][0]
        assert figures["fig-composed"]["layout"] == tensors["composed"][0]
        assert figures["fig-threads"]["layout"] == tensors["tile"][0]

    def test_the_figure_of_the_tiles_shows_the_tile_of_block_1_0(self, record):
        figure = drawn()["fig-tiles"]
        matrix, tile = parse_layout(figure["layout"]), parse_layout(figure["threads"])
        assert sorted(told(record)["tile"][1]) == [matrix(r, c) for r in range(8) for c in range(16) if tile(r, c) == 1]

    def test_the_figure_of_the_threads_shows_the_elements_of_thread_5(self, record):
        figure = drawn()["fig-threads"]
        tile, thread = parse_layout(figure["layout"]), parse_layout(figure["threads"])
        mine = [64 + tile(r, c) for r in range(4) for c in range(8) if thread(r % 2, c % 4) == 5]
        assert sorted(told(record)["mine"][1]) == mine
