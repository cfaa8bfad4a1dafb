"""After an edit of a text with measurements, the result is that of a clean build, and what did not change is not
computed again.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory
from sitegen.pipeline.preview import PreviewSite
from sitegen.pipeline.print_pages import KEPT_TEXTS
from sitegen.pipeline.request import BuildResult
from sitegen.pipeline.user_cache import cache_of_site

DAY = dt.date(2026, 11, 23)
POST, PAGE = "content/posts/measured/index.md", "posts/measured/index.html"
OTHER = "content/posts/other/index.md"
RECORD = "kernels/vector_add/results/nvidia-h200.json"
ALL = "series/all/all/index.html"
CONFIG = (
    "title: Notes\nbase_url: https://example.org/\nwhole_series: true\nfeeds: [tags, series]\ngpus: [nvidia-h200]\n"
)


def text(above: str = "Words.", below: str = "", code: str = "1 + 1", front: str = "") -> str:
    return f"""---
title: Measured
date: 2026-11-20
tags: [measured]
{front}---
{above}

```{{benchmark}} vector_add
```

```{{code-cell}} python
#| label: sum
{code}
```

{below}
"""


@pytest.fixture
def root(tmp_path: Path, fifty: SimpleNamespace) -> Path:
    """A site with two posts that show measurements, both of which stand in a series and in feeds."""
    root: Path = fifty.make(tmp_path / "site", 4)
    fifty.write(root, "content/site.yaml", CONFIG)
    fifty.write(root, POST, text())
    fifty.write(root, OTHER, text().replace("Measured", "Other"))
    fifty.write(root, "series/all.yaml", "title: All\nposts: [measured, other, post-01]\n")
    built(root)
    return root


def built(root: Path) -> BuildResult:
    """Return the result of an update, whose output must be that of a clean build."""
    result = update(root, root / "public", as_of=DAY, processes=1)
    assert not result.failed, result.report
    clean = build_in_memory(root, as_of=DAY).files
    content = {path: one if isinstance(one, bytes) else one.encode() for path, one in clean.items()}
    assert [path for path, one in content.items() if (root / "public" / path).read_bytes() != one] == []
    return result


def counted(monkeypatch: pytest.MonkeyPatch, module: str, name: str) -> list[Any]:
    """Return a list that grows with each call of a function: by its first argument."""
    calls: list[Any] = []
    whole: Callable[..., Any] = getattr(__import__(module, fromlist=[name]), name)

    def spy(first: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(first)
        return whole(first, *args, **kwargs)

    monkeypatch.setattr(f"{module}.{name}", spy)
    return calls


def edit_record(root: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    edit(record)
    (root / RECORD).write_text(json.dumps(record), encoding="utf-8")


def test_a_new_line_above_a_cell_prints_no_page_of_another_text(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, POST, text(above="Words.\n\nA new paragraph."))
    printed = built(root).printed
    assert PAGE in printed and ALL in printed
    assert not [path for path in printed if path.startswith(("kernels/", "downloads/", "posts/other/", "records/"))]


def test_other_code_of_a_cell_prints_what_shows_its_program(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, POST, text(code="2 + 2"))
    assert "downloads/posts/measured.ipynb" in built(root).printed


def test_a_translation_has_the_cells_of_its_original_once_that_is_published(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, "content/posts/measured/index.ko.md", text())
    for front in ("draft: true\n", "", "draft: true\n"):
        fifty.write(root, POST, text(front=front))
        built(root)


def test_records_are_checked_again_only_when_one_or_the_code_changed(
    root: Path, fifty: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, "sitegen.results.shape", "problems")

    def checked() -> bool:
        calls.clear()
        assert not update(root, root / "public", as_of=DAY, processes=1).failed
        return bool(calls)

    fifty.write(root, POST, text(above="Other words."))
    assert not checked()
    edit_record(root, lambda record: record["runs"][0].update(commit="abc1234"))
    assert checked()
    kernel = root / "kernels/vector_add/kernel.yaml"
    kernel.write_text(kernel.read_text(encoding="utf-8") + "\n# A comment.\n", encoding="utf-8")
    assert checked()
    assert not checked()


def test_a_mistake_in_a_record_is_told_at_each_build_until_it_is_mended(root: Path, fifty: SimpleNamespace) -> None:
    before = (root / RECORD).read_bytes()
    edit_record(root, lambda record: record["evaluations"][0].update(unheard="of"))
    for words in ("One.", "Two."):
        fifty.write(root, POST, text(above=words))
        result = update(root, root / "public", as_of=DAY, processes=1)
        assert result.failed and "SG302" in result.report
    (root / RECORD).write_bytes(before)
    built(root)


def test_another_record_is_shown_wherever_a_text_is_kept(root: Path) -> None:
    edit_record(root, lambda record: record["runs"][0].update(commit="abc1234"))
    printed = built(root).printed
    assert {PAGE, ALL, "feed.xml", "series/all/feed.xml"} <= {*printed}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("templates/partials/cell.html", "<p>Another cell.</p>"),
        ("content/site.yaml", CONFIG + "language: ko\n"),
        (OTHER, text(front="permalink: /elsewhere/\n").replace("Measured", "Other")),
        ("series/all.yaml", "title: Fewer\nposts: [other]\n"),
    ],
)
def test_what_all_pages_depend_on_makes_kept_texts_again(
    root: Path, fifty: SimpleNamespace, path: str, content: str
) -> None:
    fifty.write(root, path, content)
    built(root)


def test_an_edit_fills_only_its_own_text_on_the_page_of_all_posts(
    root: Path, fifty: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_series = counted(monkeypatch, "sitegen.render.outputs.series_text", "_text")
    of_markdown = counted(monkeypatch, "sitegen.render.outputs.series_text", "post_as_markdown")
    fifty.write(root, POST, text(below="Other words."))
    assert ALL in update(root, root / "public", as_of=DAY, processes=1).printed
    assert (len(of_series), len(of_markdown)) == (2, 2)  # that text, and one without measurements, which is not kept


def test_damaged_kept_texts_are_made_again(root: Path, fifty: SimpleNamespace) -> None:
    kept = list((cache_of_site(root) / KEPT_TEXTS).iterdir())
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    fifty.write(root, POST, text(below="Other words."))
    built(root)


def test_kept_texts_do_not_grow_with_every_edit(root: Path, fifty: SimpleNamespace) -> None:
    for number in range(30):
        fifty.write(root, POST, text(below=f"Edit {number}."))
        update(root, root / "public", as_of=DAY, processes=1)
    assert len(list((cache_of_site(root) / KEPT_TEXTS).iterdir())) < 70


def test_a_preview_loads_records_again_only_when_one_or_the_code_changed(
    root: Path, fifty: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    preview = PreviewSite(root, as_of=DAY)
    preview.follow()
    assert preview.file(PAGE)
    loaded = counted(monkeypatch, "sitegen.results.store", "load_records")
    fifty.write(root, POST, text(below="## A new heading\n"))
    preview.follow([POST])
    assert "A new heading" in str(preview.file(PAGE)) and not loaded
    edit_record(root, lambda record: record["runs"][0].update(commit="abc1234"))
    preview.follow([RECORD])
    clean = build_in_memory(root, as_of=DAY, everything=True).files
    assert preview.file(PAGE) == clean[PAGE] and loaded
