"""Images reserve their space on the page, and each is read and converted once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as pillow
from selectolax.lexbor import LexborHTMLParser

from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory
from sitegen.pipeline.request import BuildResult
from sitegen.pipeline.user_cache import cache_of_site

DAY = dt.date(2026, 12, 1)
POST = "---\ntitle: T\ndate: 2026-11-01\n---\n![One](one.png)\n\n![Two](two%20b.jpg)\n\n[file](one.png)\n"
Build = Callable[..., BuildResult]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site/content/posts/times"
    folder.mkdir(parents=True)
    (tmp_path / "site/content/site.yaml").write_text("title: T\nbase_url: https://example.org/\nimages: true\n")
    (folder / "index.md").write_text(POST)
    pillow.radial_gradient("L").resize((600, 300)).save(folder / "one.png")
    pillow.linear_gradient("L").convert("RGB").save(folder / "two b.jpg")
    return tmp_path / "site"


def build(site: Path, output: str = "public") -> BuildResult:
    return update(site, site / output, as_of=DAY, processes=2)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def page(site: Path, output: str = "public") -> LexborHTMLParser:
    return LexborHTMLParser((site / output / "posts/times/index.html").read_text())


def test_image_has_its_room_and_its_forms_are_files(site: Path) -> None:
    assert not build(site).failed
    first, second = page(site).css("picture img")
    assert (first.attributes["width"], first.attributes["height"]) == ("600", "300")
    assert [image.attributes.get("loading") for image in (first, second)] == [None, "lazy"]
    offered = [
        url.split()[0] for node in page(site).css("source") for url in str(node.attributes["srcset"]).split(", ")
    ]
    assert offered[0] == "../../posts/times/one.png.480.avif"
    made = files(site / "public")
    assert all(url.removeprefix("../../").replace("%20", " ") in made for url in offered)


def test_without_the_option_there_are_sizes_and_no_forms(site: Path) -> None:
    (site / "content/site.yaml").write_text("title: T\nbase_url: https://example.org/\n")
    build(site)
    assert page(site).css_first("picture") is None
    assert page(site).css_first("img").attributes["height"] == "300"
    assert not (cache_of_site(site) / "images").exists()


def test_image_that_changes_changes_its_page_and_is_all_that_is_made_again(site: Path) -> None:
    build(site)
    kept = {path.name: path.stat().st_mtime_ns for path in (cache_of_site(site) / "images").iterdir()}
    pillow.new("RGB", (300, 200), "red").save(site / "content/posts/times/one.png")
    printed = build(site).printed
    assert {"posts/times/index.html", "posts/times/one.png", "posts/times/one.png.forms"} <= set(printed)
    assert "posts/times/two b.jpg.forms" not in printed
    now = {path.name: path.stat().st_mtime_ns for path in (cache_of_site(site) / "images").iterdir()}
    assert len(now.keys() - kept.keys()) == 2, "one width in two formats"
    assert all(kept[name] == at for name, at in now.items() if name in kept)
    build(site, "other")
    assert files(site / "public") == files(site / "other")


def test_the_preview_shows_the_same(site: Path) -> None:
    build(site)
    built = build_in_memory(site, as_of=DAY)
    encoded = {path: data.encode() if isinstance(data, str) else data for path, data in built.files.items()}
    assert encoded == files(site / "public")


def test_broken_image_is_a_mistake_where_it_is_shown(site: Path) -> None:
    (site / "content/posts/times/one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    result = build(site)
    assert result.failed
    assert result.report.splitlines()[:2] == [
        "error[SG213]: `one.png` is no image",
        "  content/posts/times/index.md:5:8",
    ]
