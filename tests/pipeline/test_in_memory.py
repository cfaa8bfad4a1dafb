"""A site that is built in memory, and the mistakes that `check` finds in it."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from types import SimpleNamespace

from sitegen.model import urls
from sitegen.pipeline.in_memory import build_in_memory, check, load
from sitegen.pipeline.user_cache import cache_of_site

DAY = dt.date(2026, 11, 21)
EVERY_FORM = Path(__file__).parents[1] / "sites" / "every_form"


def test_check_finds_the_mistakes_of_drafts_and_of_published_pages(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, "content/posts/post-01.md", fifty.post(1, more="[nowhere](nothing.md)"))
    fifty.write(root, "content/posts/post-02.md", fifty.post(2, more="![none](none.png)", front="draft: true\n"))
    fifty.write(root, "templates/404.html", "{{ nothing }}")
    codes = {mistake.code for mistake in check(root, as_of=DAY).diagnostics}
    assert codes == {"SG201", "SG203", "SG502"}
    published = build_in_memory(root, as_of=DAY, with_forms=False).diagnostics
    every = load(root, as_of=DAY, everything=True).diagnostics
    assert codes == {mistake.code for mistake in (*published, *every)}
    assert "SG203" not in {mistake.code for mistake in published}


def test_a_mistake_of_a_published_page_is_said_once(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, "content/posts/post-01.md", fifty.post(1, more="[nowhere](nothing.md)"))
    assert [mistake.code for mistake in check(root, as_of=DAY).diagnostics] == ["SG201"]


def test_with_mistakes_there_are_the_pages_that_can_be_made(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, "content/posts/post-01.md", fifty.post(1, more="[nowhere](nothing.md)"))
    built = build_in_memory(root, as_of=DAY)
    assert built.failed and "posts/post-01/index.html" in built.files


def test_a_series_that_is_unknown_to_another_is_a_mistake_beside_pages(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, "series/second.yaml", "title: Second\nafter: [frist]\nposts: [post-01]\n")
    fifty.write(root, "series/first.yaml", "title: First\nposts: [post-02]\n")
    (mistake,) = [one for one in check(root, as_of=DAY).diagnostics if one.code == "SG222"]
    assert mistake.hint == "did you mean `first`?" and mistake.span.line == 2
    assert "series/second/index.html" in build_in_memory(root, as_of=DAY).files


def test_a_text_may_link_to_every_list_that_the_build_makes(tmp_path: Path) -> None:
    root = shutil.copytree(EVERY_FORM, tmp_path / "site")
    config = root / "content/site.yaml"
    config.write_text(f"{config.read_text()}search: true\n")
    lists = [
        url for url in (*urls.LISTS, urls.SEARCH) if urls.output_path(url) in build_in_memory(root, as_of=DAY).files
    ]
    assert len(lists) > 5
    links = " ".join(f"[it](/{url})" for url in lists)
    (root / "content/pages/links.md").write_text(f"---\ntitle: Links\n---\n{links}\n")
    assert [mistake.message for mistake in build_in_memory(root, as_of=DAY).diagnostics] == []


def test_no_text_is_kept_for_the_next_build(root: Path) -> None:
    build_in_memory(root, as_of=DAY)
    assert not (cache_of_site(root) / "texts.cache").exists()
    assert not (cache_of_site(root) / "fragments").exists()
