"""The search index is made with the pages, again only when one of them changed, and the same each time."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.pipeline.build import update
from sitegen.read.distribution import install_command

DAY = dt.date(2026, 11, 21)
OTHERS = {"/about/", "/series/all/", "/ceilings/nvidia-h200/", "/ceilings/nvidia-h100-80gb-hbm3/"}


@pytest.fixture
def searched(root: Path, fifty: SimpleNamespace) -> Path:
    """The site with search, a post in Korean and a draft."""
    with (root / "content/site.yaml").open("a") as config:
        config.write("search: true\n")
    fifty.write(root, "content/posts/korean.md", "---\ntitle: 커널\ndate: 2026-11-20\nlang: ko\n---\n대역폭이 낮다.\n")
    fifty.write(root, "content/posts/secret.md", "---\ntitle: Secret\ndate: 2026-11-20\ndraft: true\n---\nHush.\n")
    return root


def build(root: Path, *, everything: bool = False) -> SimpleNamespace:
    result = update(root, root / "public", as_of=DAY, everything=everything, processes=1)
    assert not result.failed, result.report
    return SimpleNamespace(printed=result.printed, index=index(root))


def index(root: Path) -> dict[str, dict[str, Any]]:
    """Return the kind and the content of each page in the index, by its URL."""
    found = {}
    for file in (root / "public/pagefind").glob("*/fragment/*"):
        data = gzip.decompress(file.read_bytes())
        page = json.loads(data[data.index(b"{") :])
        found[page["url"]] = {**page, "kind": file.parts[-3]}
    return found


def names(root: Path, kind: str) -> dict[str, list[str]]:
    """Return the language and the names of each page of a kind, by its URL."""
    file = json.loads((root / f"public/pagefind/{kind}/names.json").read_text())
    return {url: of_page for url, *of_page in file["pages"].values()}


def test_posts_days_kernels_and_terms_are_in_it_each_by_its_kind(searched: Path) -> None:
    kinds = {url: page["kind"] for url, page in build(searched).index.items()}
    assert len(kinds) == 51 + 1 + 2 + 1 + 1 + len(OTHERS)
    assert kinds["/posts/post-01/"] == kinds["/ko/posts/korean/"] == "posts"
    assert kinds["/worklog/2026-11-21/"] == "worklog"
    assert kinds["/kernels/vector_add/"] == "kernels"
    assert kinds["/terms/warp/"] == "terms"
    assert {url for url, kind in kinds.items() if kind == "pages"} == OTHERS


def test_beside_it_stand_the_names_of_each_page_in_each_language(searched: Path, fifty: SimpleNamespace) -> None:
    fifty.write(searched, "content/terms/warp.md", "---\ntitle: Warp\naliases: [warps]\n---\n32 threads.\n")
    for name, title in (("", "Twice"), (".ko", "두 번")):
        fifty.write(
            searched, f"content/posts/twice/index{name}.md", f"---\ntitle: {title}\ndate: 2026-11-20\n---\nText.\n"
        )
    build(searched)
    assert names(searched, "terms") == {"terms/warp/": ["en", "Warp", "warps"]}
    posts = names(searched, "posts")
    assert posts["posts/twice/"] == ["en", "Twice", "두 번"]
    assert posts["ko/posts/twice/"] == ["ko", "두 번", "Twice"]
    assert posts["posts/post-01/"] == ["en", "Post 1"]
    assert "ceilings nvidia-h200" in names(searched, "pages")["ceilings/nvidia-h200/"]


def test_another_name_of_a_term_makes_only_its_index_again(searched: Path, fifty: SimpleNamespace) -> None:
    build(searched)
    fifty.write(searched, "content/terms/warp.md", "---\ntitle: Warp\naliases: [warps]\n---\n32 threads.\n")
    made = build(searched)
    assert {name for name in made.printed if name.startswith("pagefind/")} == {"pagefind/terms/"}
    assert names(searched, "terms") == {"terms/warp/": ["en", "Warp", "warps"]}


def test_a_draft_is_never_in_it(searched: Path) -> None:
    made = build(searched, everything=True)
    assert (searched / "public/posts/secret/index.html").is_file()
    assert "/posts/secret/" not in made.index
    assert "Hush" not in str(made.index)


def test_it_holds_the_text_of_a_page_and_nothing_of_what_surrounds_it(searched: Path) -> None:
    page = build(searched).index["/posts/post-02/"]
    assert page["meta"] == {"title": "Post 2"}
    assert "x = 2" in str(page["content"])
    assert "Skip to the text" not in str(page["content"])
    assert "How to read the marks" not in str(page["content"])


def test_it_is_made_again_only_when_a_page_that_it_finds_changed(searched: Path, fifty: SimpleNamespace) -> None:
    build(searched)
    assert build(searched).printed == ()
    fifty.write(searched, "content/pages/about.md", "---\ntitle: About\n---\nMe.\n")
    assert {name for name in build(searched).printed if name.startswith("pagefind/")} == {"pagefind/pages/"}
    (searched / "content/posts/secret.md").unlink()
    assert not {name for name in build(searched).printed if name.startswith("pagefind/")}
    fifty.write(searched, "content/posts/post-02.md", fifty.post(2, more="A word: mbarrier."))
    made = build(searched)
    assert {name for name in made.printed if name.startswith("pagefind/")} == {"pagefind/posts/"}
    assert "mbarrier" in made.index["/posts/post-02/"]["content"]


def test_it_is_that_of_a_clean_build_byte_for_byte(searched: Path, fifty: SimpleNamespace) -> None:
    build(searched)
    (searched / "content/posts/post-07.md").unlink()
    fifty.write(searched, "content/posts/post-06.md", fifty.post(6).replace("[the next]", "next: "))
    build(searched)
    again = fifty.tree(searched / "public")
    update(searched, searched / "clean", as_of=DAY, processes=1)
    assert fifty.tree(searched / "clean") == again


def test_without_search_it_is_gone(searched: Path) -> None:
    build(searched)
    config = searched / "content/site.yaml"
    config.write_text(config.read_text().replace("search: true\n", ""))
    update(searched, searched / "public", as_of=DAY, processes=1)
    assert not (searched / "public/pagefind").exists()
    assert not (searched / "public/search").exists()


def test_an_author_without_pagefind_learns_what_to_install(searched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitegen.pipeline.missing_packages.find_spec", lambda name: None)
    result = update(searched, searched / "public", as_of=DAY, processes=1)
    assert result.failed
    assert "SG503" in result.report
    assert "content/site.yaml:6" in result.report
    assert install_command("search") in result.report


def test_a_template_whose_pages_hold_no_text_is_a_mistake_of_its_author(searched: Path, fifty: SimpleNamespace) -> None:
    fifty.write(
        searched, "templates/base.html", "<!DOCTYPE html><html><head><title>x</title>{% block main %}{% endblock %}"
    )
    result = update(searched, searched / "public", as_of=DAY, processes=1)
    assert result.failed and "Pagefind finds no text in its pages" in result.report
