"""The layouts of A, B and C that a post draws are those of its program and of its record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sitegen.model.layout import parse_layout

POST = Path(__file__).parents[2] / "content/posts/cute-mma"
RECORDS = sorted(POST.glob("results/*/products.json"))
TEXT = (POST / "index.md").read_text("utf-8")
DRAWN = {label: tv for tv, label in re.findall(r"^:tv: (\S+)\n:label: fig-([abc])$", TEXT, re.MULTILINE)}
TYPE = re.compile(r"auto ([abc]) = Layout<\s*Shape<(.+)>,\s*Stride<(.+)>>\{\};")


def written(nested: str) -> str:
    """Return the inner types of a Shape or a Stride as a figure writes them."""
    return "(" + re.sub(r"Shape<|Stride<", "(", nested).replace(">", ")").replace("_", "").replace(" ", "") + ")"


def lanes(record: Path) -> dict[int, list[tuple[int, int]]]:
    """Return the rows and columns of A that the cell printed, by lane."""
    outputs = json.loads(record.read_text("utf-8"))["outputs"]
    text = next(output["text"] for output in outputs if output["kind"] == "stream")
    found = re.findall(r"^lane (\d+): (.+)$", text, re.MULTILINE)
    return {int(lane): [(int(r), int(c)) for r, c in re.findall(r"\((\d+), (\d+)\)", rest)] for lane, rest in found}


def test_the_figures_draw_the_types_that_the_program_compares():
    assert {name: f"{written(shape)}:{written(stride)}" for name, shape, stride in TYPE.findall(TEXT)} == DRAWN


def test_a_record_exists():
    assert RECORDS


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_the_figure_of_a_shows_what_each_printed_lane_holds(record):
    layout, held = parse_layout(DRAWN["a"]), lanes(record)
    assert 5 in held
    for lane, entries in held.items():
        numbers = [layout(lane, value) for value in range(8)]
        assert entries == [(number % 16, number // 16) for number in numbers], lane
