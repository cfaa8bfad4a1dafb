"""The search index is made with the pages, and after an edit only its files of the terms that changed."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.pipeline.build import update

DAY = dt.date(2026, 11, 21)
OTHERS = {"about/", "series/all/", "ceilings/nvidia-h200/"}
INDEX = "search/pages.json"


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
    return SimpleNamespace(printed=result.printed, written=result.written, index=index(root))


def index(root: Path) -> dict[str, dict[str, Any]]:
    """Return what the index says of each page, with the text that it shows, by URL."""
    found = {}
    for _, url, kind, lang, length, *names in json.loads((root / "public" / INDEX).read_text())["pages"]:
        text = json.loads((root / f"public/search/texts/{url}index.html.json").read_text())
        found[url] = {"kind": kind, "lang": lang, "length": length, "names": names, "text": str(text["sections"])}
    return found


def names(root: Path, kind: str) -> dict[str, list[str]]:
    """Return the language and the names of each page of a kind, by its URL."""
    return {url: [page["lang"], *page["names"]] for url, page in index(root).items() if page["kind"] == kind}


def lines(root: Path, term: str) -> list[str]:
    """Return the lines of a term in all files of terms."""
    files = (root / "public/search/terms").iterdir()
    return [line for file in files for line in file.read_text().splitlines() if line.startswith(f"{term} ")]


def test_posts_days_kernels_and_terms_are_in_it_each_by_its_kind(searched: Path) -> None:
    kinds = {url: page["kind"] for url, page in build(searched).index.items()}
    assert len(kinds) == 51 + 1 + 2 + 1 + 1 + len(OTHERS)
    assert kinds["posts/post-01/"] == kinds["ko/posts/korean/"] == "posts"
    assert kinds["worklog/2026-11-21/"] == "worklog"
    assert kinds["kernels/vector_add/"] == "kernels"
    assert kinds["terms/warp/"] == "terms"
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


def test_another_name_of_a_term_changes_the_list_of_pages_and_no_file_of_terms(
    searched: Path, fifty: SimpleNamespace
) -> None:
    before = fifty.tree(searched / "public/search") if build(searched) else {}
    fifty.write(searched, "content/terms/warp.md", "---\ntitle: Warp\naliases: [warps]\n---\n32 threads.\n")
    build(searched)
    after = fifty.tree(searched / "public/search")
    assert [path for path in after if after[path] != before[path]] == ["pages.json"]
    assert names(searched, "terms") == {"terms/warp/": ["en", "Warp", "warps"]}


def test_a_draft_is_never_in_it(searched: Path) -> None:
    made = build(searched, everything=True)
    assert (searched / "public/posts/secret/index.html").is_file()
    assert not (searched / "public/search/texts/posts/secret").exists()
    assert "posts/secret/" not in made.index
    assert lines(searched, "hush") == []


def test_it_holds_the_text_of_a_page_and_nothing_of_what_surrounds_it(searched: Path) -> None:
    page = build(searched).index["posts/post-02/"]
    assert page["names"] == ["Post 2"]
    assert "x = 2" in page["text"]
    assert "Skip to the text" not in page["text"]
    assert "How to read the marks" not in page["text"]


def test_an_edit_changes_only_the_files_of_the_terms_that_changed(searched: Path, fifty: SimpleNamespace) -> None:
    build(searched)
    assert build(searched).printed == ()
    before, written = fifty.tree(searched / "public/search/terms"), (searched / "content/posts/post-02.md").read_text()
    fifty.write(searched, "content/posts/post-02.md", fifty.post(2, more="A word: mbarrier."))
    made = build(searched)
    after = fifty.tree(searched / "public/search/terms")
    assert "mbarrier" in made.index["posts/post-02/"]["text"]
    assert len(lines(searched, "mbarrier")) == 1
    assert 1 <= sum(after[path] != before[path] for path in after) <= 3
    fifty.write(searched, "content/posts/post-02.md", written)
    build(searched)
    assert fifty.tree(searched / "public/search/terms") == before


def test_the_last_page_with_a_word_takes_the_word_along(searched: Path) -> None:
    build(searched)
    assert lines(searched, "대역폭이") != []
    (searched / "content/posts/korean.md").unlink()
    build(searched)
    assert lines(searched, "대역폭이") == []
    assert not (searched / "public/search/texts/ko").exists()


def test_a_file_of_terms_that_somebody_changed_is_made_again(searched: Path, fifty: SimpleNamespace) -> None:
    build(searched)
    before = fifty.tree(searched / "public")
    (searched / "public/search/terms/3.txt").write_text("warp AAA\n")
    (searched / "public/search/texts/posts/post-02/index.html.json").write_text("{}")
    build(searched)
    assert fifty.tree(searched / "public") == before


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
    assert not (searched / "public/search").exists()
