"""The pages that an update prints, and the sheets whose parts it computes for that."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

from sitegen.pipeline.build import update
from sitegen.pipeline.link_site import LinkedSite, link
from sitegen.pipeline.parse_texts import parse_texts
from sitegen.pipeline.plan import Comparison, plan_changed_pages
from sitegen.pipeline.read_files import read_files
from sitegen.pipeline.request import make_request
from sitegen.render.rules.sheet import Sheet
from sitegen.render.shared.frame import Printer

DAY = dt.date(2026, 11, 23)
PAGE = "posts/post-01/index.html"


def linked(root: Path) -> LinkedSite:
    return link(parse_texts(read_files(make_request(root, as_of=DAY))))


def not_asked() -> NoReturn:
    raise AssertionError("somebody asked what the page shows")


def no_files(printer: Printer) -> Mapping[str, str]:
    return {}


SILENT = Sheet(PAGE, not_asked, no_files)
"""A sheet that must not be asked what it shows, because thousands of posts take long, and workers share the work."""


def test_before_the_first_build_no_page_is_asked_what_it_shows(root: Path) -> None:
    site = linked(root)
    assert Comparison(site).unchanged(SILENT) is None
    assert PAGE in {sheet.name for sheet in plan_changed_pages(site).sheets_to_print}


def test_with_another_template_no_page_is_asked_what_it_shows(root: Path, fifty: SimpleNamespace) -> None:
    update(root, root / "public", as_of=DAY, processes=1)
    fifty.write(root, "templates/404.html", "<!doctype html><p>Nothing is here.")
    assert Comparison(linked(root)).unchanged(SILENT) is None
    result = update(root, root / "public", as_of=DAY, processes=2)
    assert result.sheets[PAGE].why == ("the templates changed: templates/404.html",)


def test_a_page_that_shows_nothing_new_stays(root: Path, fifty: SimpleNamespace) -> None:
    update(root, root / "public", as_of=DAY, processes=1)
    fifty.write(root, "content/posts/post-01.md", fifty.post(1, title="Another"))
    plan = plan_changed_pages(linked(root))
    assert PAGE in {sheet.name for sheet in plan.sheets_to_print}
    assert "posts/post-20/index.html" in plan.unchanged


def test_pages_are_written_once_and_only_when_they_change(root: Path, fifty: SimpleNamespace) -> None:
    update(root, root / "public", as_of=DAY, processes=2)
    times = {path: path.stat().st_mtime_ns for path in (root / "public").rglob("*.html")}
    fifty.write(root, "content/posts/post-01.md", fifty.post(1, title="Another"))
    update(root, root / "public", as_of=DAY, processes=2)
    changed = {path.parent.name for path, time in times.items() if path.stat().st_mtime_ns != time}
    assert {"post-00", "post-01"} <= changed
    assert "post-20" not in changed
