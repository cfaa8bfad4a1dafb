"""A save reaches the tabs that show it, and no others."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitegen.pipeline.in_memory import build_in_memory
from sitegen.pipeline.user_cache import cache_of_site

KERNEL = Path(__file__).parents[2] / "kernels/vector_add"


def test_saved_text_reaches_the_tab_that_shows_it_and_no_other(server: Any) -> None:
    first, second = server.tab("posts/first/"), server.tab("posts/second/")
    before = second.state
    server.post("first", "Changed words.")
    assert first.hears()["version"] != before["version"]
    assert "Changed words." in server.page("posts/first/")
    server.post("second", "A later save.")  # the first state that it hears is of this one
    assert second.hears()["version"] == server.tab("posts/second/").state["version"]


def test_title_reaches_every_tab_that_shows_it(server: Any) -> None:
    first, home, about = (server.tab(path) for path in ("posts/first/", "", "about/"))
    before = about.state
    server.post("second", "The second text.", title="Another title")
    assert {first.hears()["mistakes"], home.hears()["mistakes"]} == {""}
    assert "Another title" in server.page("")
    server.write("content/pages/about.md", "---\ntitle: About\n---\nNobody.\n")
    assert about.hears()["version"] != before["version"]


def test_style_sheet_is_changed_in_place(server: Any) -> None:
    tab = server.tab("posts/first/")
    before = tab.state
    server.write("templates/assets/site.css", "body { color: teal }")
    after = tab.hears()
    assert after["version"] == before["version"]
    assert after["styles"].keys() == before["styles"].keys()
    style = after["styles"]["/blog/assets/site.css"]
    assert style != before["styles"]["/blog/assets/site.css"]
    assert server.ask(style).read().startswith(b"body { color: teal }")  # then the styles of the directives


def test_picture_reaches_the_tab_that_shows_it(server: Any, png: Any) -> None:
    tab, other = server.tab("posts/drawn/"), server.tab("posts/first/")
    before, beside = tab.state, other.state
    picture = png(255)
    server.write("content/posts/drawn/plot.png", picture)
    assert tab.hears()["version"] != before["version"]
    assert server.ask("/blog/posts/drawn/plot.png").read() == picture
    server.post("first", "Changed words.")
    assert other.hears()["version"] != beside["version"]


def test_mistakes_stand_over_the_last_good_page_until_they_are_mended(server: Any) -> None:
    assert "The first text." in server.page("posts/first/")
    tab = server.tab("posts/first/")
    before = tab.state
    server.post("first", "See [nothing](nowhere.md).", "titel: x\n")
    after = tab.hears()
    assert "SG201" in after["mistakes"]
    assert "did you mean `title`?" in after["mistakes"]
    assert after["version"] == before["version"]
    assert "The first text." in server.page("posts/first/")
    server.post("first", "Mended.")
    mended = tab.hears()
    assert mended["mistakes"] == ""
    assert mended["version"] != before["version"]
    assert "Mended." in server.page("posts/first/")


def test_bad_post_does_not_hide_the_others(server: Any) -> None:
    bad, good = server.tab("posts/first/"), server.tab("posts/second/")
    before = good.state
    server.post("first", "{unknown}`role`")
    assert "SG102" in bad.hears()["mistakes"]
    assert "SG102" in good.hears()["mistakes"]
    server.post("second", "Changed all the same.")
    assert good.hears()["version"] != before["version"]
    assert "Changed all the same." in server.page("posts/second/")


def test_broken_template_leaves_the_pages_as_they_were(server: Any) -> None:
    before, tab = server.page("posts/first/"), server.tab("posts/first/")
    server.write("templates/post.html", "{% if %}")
    after = tab.hears()
    assert "templates/post.html:1" in after["mistakes"]
    assert server.page("posts/first/") == before
    (server.root / "templates/post.html").unlink()
    assert tab.hears()["mistakes"] == ""


def test_template_that_fails_while_it_prints_is_a_mistake_and_no_bug(server: Any) -> None:
    before, tab = server.page("posts/first/"), server.tab("posts/first/")
    server.write("templates/post.html", "{{ page.nothing }}")
    server.until(lambda: "SG502" in tab.hears()["mistakes"])
    assert server.page("posts/first/") == before


def test_broken_configuration_leaves_the_site_where_it_was(server: Any) -> None:
    before, tab = server.page("posts/first/"), server.tab("posts/first/")
    text = (server.root / "content/site.yaml").read_text()
    server.write("content/site.yaml", "title: [")
    assert "content/site.yaml:1" in tab.hears()["mistakes"]
    assert server.page("posts/first/") == before
    server.write("content/site.yaml", text)
    assert tab.hears()["mistakes"] == ""


def test_new_post_has_a_page_a_deleted_one_has_none(server: Any) -> None:
    tab = server.tab("")
    server.post("third", "New.")
    tab.hears()
    assert "New." in server.page("posts/third/")
    assert "posts/third/" in server.page("sitemap.xml")
    (server.root / "content/posts/third.md").unlink()
    tab.hears()
    assert server.ask("/blog/posts/third/").status == 404
    assert "posts/third/" not in server.page("")
    assert "posts/third/" not in server.page("sitemap.xml")


def test_renamed_post_disappears_from_where_it_was(server: Any) -> None:
    tab = server.tab("posts/first/")
    before = tab.state
    (server.root / "content/posts/first.md").rename(server.root / "content/posts/renamed.md")
    server.until(lambda: tab.hears()["version"] != before["version"])
    assert server.ask("/blog/posts/first/").status == 404
    assert "The first text." in server.page("posts/renamed/")


def test_folder_that_appears_later_or_is_another_is_followed(server: Any) -> None:
    tab = server.tab("posts/first/")
    for words in ("a", "b"):
        before = tab.state
        shutil.rmtree(server.root / "templates", ignore_errors=True)
        server.write("templates/partials/colophon.html", f"<p>Colophon {words}</p>")
        server.until(lambda before=before: tab.hears()["version"] != before["version"])  # type: ignore[misc]
        server.until(lambda words=words: f"Colophon {words}" in server.page("posts/first/"))  # type: ignore[misc]


def test_saved_kernel_marks_its_record_as_stale_at_once(start: Callable[..., Any], root: Path) -> None:
    shutil.copytree(KERNEL, root / "kernels/vector_add", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "content/posts/first.md").write_text(
        "---\ntitle: First\ndate: 2026-11-20\n---\n```{benchmark} vector_add\n```\n", encoding="utf-8"
    )
    server = start()
    assert "vec4.cu changed" not in server.page("posts/first/")
    tab = server.tab("posts/first/")
    source = root / "kernels/vector_add/vec4.cu"
    server.write("kernels/vector_add/vec4.cu", source.read_text(encoding="utf-8").replace("{", "{ int one = 1;", 1))
    tab.hears()
    assert "stale: vec4.cu changed" in server.page("posts/first/")


def test_storm_of_saves_is_one_change_and_a_right_site(server: Any) -> None:
    tab = server.tab("")
    for number in range(500):
        server.post(f"post-{number:03}", f"Text {number}.", title=f"Post {number}")
    server.says(r"and 49\d more: ")
    tab.hears()
    clean = build_in_memory(server.root, everything=True)
    pages = ["index.html", "posts/index.html", "posts/post-250/index.html", "posts/page/10/index.html", "sitemap.xml"]
    assert [path for path in pages if server.page(path) != clean.files[path]] == []


def test_deleted_output_and_cache_are_not_missed(server: Any) -> None:
    assert "The first text." in server.page("posts/first/")
    (server.root / "public").mkdir()
    shutil.rmtree(server.root / "public")
    shutil.rmtree(cache_of_site(server.root))
    assert "The second text." in server.page("posts/second/")
    tab = server.tab("posts/first/")
    server.post("first", "Changed words.")
    tab.hears()
    assert "Changed words." in server.page("posts/first/")


@pytest.mark.parametrize("name", ["texts.cache", "fragments"])
def test_corrupt_cache_is_read_anew(start: Callable[..., Any], root: Path, name: str) -> None:
    start().end()
    place = cache_of_site(root) / name
    for path in [place] if place.is_file() else sorted(place.iterdir()):
        path.write_bytes(b"\0" + path.read_bytes()[1:-1])
    server = start()
    assert "The first text." in server.page("posts/first/")
    assert "The second text." in server.page("posts/second/")


def test_save_opens_the_page_of_the_text_in_the_newest_tab(start: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("BROWSER", "true")
    server = start("--open")
    first, home = server.tab("posts/first/"), server.tab("")
    server.post("first", "On a tab already.")
    assert first.hears()["go"] == ""
    server.write("content/pages/about.md", "---\ntitle: About\n---\nNobody.\n")
    server.until(lambda: home.hears()["go"] == "/blog/about/")
