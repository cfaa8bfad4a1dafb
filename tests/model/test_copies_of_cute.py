"""The figures of two posts show which thread copies what, and where a swizzle puts it, as CuTe computed it on a GPU."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sitegen.model.layout import parse_layout

POSTS = Path(__file__).parents[2] / "content/posts"
OWNERS = sorted(POSTS.glob("cute-tiled-copy/results/*/owners.json"))
SWIZZLED = sorted(POSTS.glob("cute-swizzle/results/*/swizzled.json"))


def printed(record: Path) -> list[str]:
    """Return the lines that the cell printed."""
    outputs = json.loads(record.read_text("utf-8"))["outputs"]
    return next(output["text"] for output in outputs if output["kind"] == "stream").splitlines()


def test_records_exist():
    assert OWNERS
    assert SWIZZLED


@pytest.mark.parametrize("record", OWNERS, ids=lambda path: path.parent.name)
def test_the_figures_show_the_thread_and_value_of_each_number(record):
    text = (POSTS / "cute-tiled-copy/index.md").read_text("utf-8")
    drawn = re.findall(r"^:tv: (.+)$", text, re.MULTILINE)
    lines = [line.split() for line in printed(record)]
    assert drawn == [layout for _, layout, *_ in lines]
    for _, layout, *places in lines:
        assert [parse_layout(layout)(i) for i in range(32)] == list(map(int, places))


@pytest.mark.parametrize("record", SWIZZLED, ids=lambda path: path.parent.name)
def test_the_figures_show_the_offsets_of_each_swizzle(record):
    text = (POSTS / "cute-swizzle/index.md").read_text("utf-8")
    for line in printed(record):
        name, _, offsets = line.partition(" = ")
        layout = parse_layout(name)
        assert f"```{{layout}} {name}\n" in text
        assert [layout(i) for i in range(layout.size)] == list(map(int, offsets.split()))
