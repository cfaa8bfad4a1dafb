"""A site in memory reads and links no more than a save requires, and never shows an old state."""

import re
import shutil
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest

from sitegen.pipeline.in_memory import build_in_memory
from sitegen.pipeline.kept_sheets import KeptSheet, KeptSheets
from sitegen.pipeline.link_site import link
from sitegen.pipeline.parse_texts import parse_texts
from sitegen.pipeline.preview import PreviewSite
from sitegen.pipeline.preview_sheets import PreviewSheets
from sitegen.pipeline.read_files import read_files
from sitegen.pipeline.request import make_request
from sitegen.pipeline.user_cache import cache_of_site
from sitegen.pipeline.versions import versions
from sitegen.render.inputs.sources import Sources
from sitegen.write import cache

EVERY_FORM = Path(__file__).parents[1] / "sites" / "every_form"
POST, PAGE = "content/posts/post-48.md", "posts/post-48/index.html"
CONFIG = "title: Notes\nbase_url: https://example.org/notes/\n"


@pytest.fixture
def site(root: Path) -> PreviewSite:
    return started(root)


def started(root: Path) -> PreviewSite:
    site = PreviewSite(root)
    site.follow()
    return site


def links_again(site: PreviewSite, path: str) -> bool:
    """Return whether a save links the site again, which reads the images of all texts."""
    known = cache_of_site(site.root) / "images.cache"
    known.unlink()
    site.follow([path])
    return known.exists()


def test_prose_is_shown_without_linking_the_site(site: PreviewSite, fifty: SimpleNamespace) -> None:
    before = site.file("posts/post-20/index.html")
    fifty.write(site.root, POST, fifty.post(48, more="Other words."))
    assert site.follow([POST]) == (PAGE,)
    assert "Other words." in str(site.file(PAGE))
    assert "Other words." in str(site.file("feed.xml"))
    assert site.file("posts/post-20/index.html") is before
    fifty.write(site.root, POST, fifty.post(48, more="Yet other words."))
    assert not links_again(site, POST)


def test_template_is_shown_without_linking_the_site(site: PreviewSite, fifty: SimpleNamespace) -> None:
    colophon = "templates/partials/colophon.html"
    fifty.write(site.root, colophon, "<p>Old</p>")
    assert links_again(site, colophon)  # the first file of a folder is a new file of the site
    fifty.write(site.root, colophon, "<p>New</p>")
    assert not links_again(site, colophon)
    assert "<p>New</p>" in str(site.file(PAGE))


def test_title_links_the_site(site: PreviewSite, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, fifty.post(48, title="Another title"))
    assert links_again(site, POST)
    assert "Another title" in str(site.file("posts/post-47/index.html"))


def test_what_was_saved_as_it_was_changes_nothing(site: PreviewSite) -> None:
    before = site.file(PAGE)
    (site.root / POST).write_bytes((site.root / POST).read_bytes())
    assert site.follow([POST, "content/posts/.post-48.md.swp"]) == ()
    assert site.file(PAGE) is before


def link_of(site: PreviewSite) -> str:
    """Return the target of the link `another` on the page."""
    (href,) = re.findall(r'<a href="([^"]*)">another</a>', str(site.file(PAGE)))
    return urljoin("posts/post-48/", href)


def test_where_links_lead_is_known_at_the_second_start(site: PreviewSite, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="See [another](post-20.md) one."))
    assert link_of(started(site.root)) == "posts/post-20/"
    file = cache_of_site(site.root) / "texts.cache"
    *others, links = cache.load(file, versions())
    for hrefs, _, _ in links.values():
        hrefs.update({slot: "posts/post-21/" for slot, url in hrefs.items() if url == "posts/post-20/"})
    cache.save(file, versions(), (*others, links))
    assert link_of(started(site.root)) == "posts/post-21/"


def test_links_are_looked_up_anew_when_any_file_is_another(site: PreviewSite, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="See [another](post-20.md) one."))
    started(site.root)
    (site.root / "content/posts/post-20.md").unlink()
    assert f"{POST}:" in started(site.root).report


def test_a_link_that_leads_nowhere_is_told_at_every_start(site: PreviewSite, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="[nowhere](nothing.md)"))
    reports = {started(site.root).report for _ in range(3)}
    assert len(reports) == 1
    assert f"{POST}:" in reports.pop()


def test_link_that_leads_nowhere_moves_with_its_line(site: PreviewSite, fifty: SimpleNamespace) -> None:
    for lines in ("", "One line.\n\n", "One line.\n\nAnother.\n\n"):
        text = fifty.post(48, more=f"{lines}[nowhere](nothing.md)")
        fifty.write(site.root, POST, text)
        site.follow([POST])
        line = text[: text.index("[nowhere]")].count("\n") + 1
        assert f"{POST}:{line}:" in site.report


@pytest.mark.parametrize("lines", ["", "twins: true\nwhole_series: true\nfeeds: [tags, series, worklog]\n"])
def test_every_file_of_a_build_is_shown_whichever_is_asked_for_first(root: Path, lines: str) -> None:
    (root / "content/site.yaml").write_text(f"{CONFIG}{lines}", encoding="utf-8")
    files = build_in_memory(root, everything=True).files
    assert ("index.md" in files) == ("twins" in lines)
    for first in (sorted(files), sorted(files, reverse=True)):
        site = PreviewSite(root)
        site.follow()
        assert [path for path in first if site.file(path) != files[path]] == []


@pytest.mark.parametrize(
    ("path", "front", "twin"),
    [
        (POST, "title: Post 48\ndate: 2026-02-21", "posts/post-48/index.md"),
        ("content/pages/about.md", "title: About", "about/index.md"),
        ("content/terms/warp.md", "title: Warp", "terms/warp/index.md"),
    ],
)
def test_the_plain_twin_of_a_text_follows_it(root: Path, path: str, front: str, twin: str) -> None:
    (root / "content/site.yaml").write_text(f"{CONFIG}twins: true\n", encoding="utf-8")
    site = PreviewSite(root)
    site.follow()
    for words in ("First words.", "Second words."):
        (root / path).write_text(f"---\n{front}\n---\n{words}\n", encoding="utf-8")
        site.follow([path])
        assert words in str(site.file(twin))


def test_another_time_zone_gives_every_date_another_offset(site: PreviewSite, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, "---\ntitle: Late\ndate: 2026-11-20 23:30:00+00:00\n---\n")
    fifty.write(site.root, "content/site.yaml", f"{CONFIG}timezone: Asia/Seoul\n")
    site.follow()
    assert site.file(PAGE) == build_in_memory(site.root, everything=True).files[PAGE]
    assert "2026-11-21" in str(site.file(PAGE))


def test_another_catalogue_is_heard_in_every_text(site: PreviewSite, fifty: SimpleNamespace) -> None:
    text = "---\ntitle: Late\ndate: 2026-11-20\n---\n> [!TIP]\n> Words.\n"
    for path, content, said in (
        (POST, text, ">Tip</h3>"),
        ("templates/languages/en.json", '{"Tip": "Advice"}', ">Advice</h3>"),
        ("content/site.yaml", f"{CONFIG}language: ko\n", ">팁</h3>"),
    ):
        fifty.write(site.root, path, content)
        site.follow()
        assert said in str(site.file(PAGE))
        assert site.file(PAGE) == build_in_memory(site.root, everything=True).files[PAGE]


def test_after_a_bug_everything_is_read_again(site: PreviewSite, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="Saved in the bug."))
    with pytest.raises(TypeError):
        site.follow([POST, 7])  # type: ignore[list-item]
    fifty.write(site.root, "content/pages/about.md", "---\ntitle: About\n---\nSaved after it.\n")
    site.follow(["content/pages/about.md"])
    assert "Saved in the bug." in str(site.file(PAGE))
    assert "Saved after it." in str(site.file("about/index.html"))


class Guarded(Sources):
    """Sources that fail when a page asks for the posts of the lists."""

    @property
    def posts_by_language(self) -> dict[str, tuple[object, ...]]:  # type: ignore[override]
        raise AssertionError("all pages are looked at")


def test_the_page_of_a_post_waits_for_no_other(root: Path) -> None:
    site = link(parse_texts(read_files(make_request(root, everything=True))))
    guarded = Guarded(**{field.name: getattr(site.sources, field.name) for field in fields(Sources)})
    sheets = PreviewSheets(replace(site, sources=guarded))
    assert next(sheets.candidates(PAGE)).name == PAGE
    with pytest.raises(AssertionError, match="all pages"):
        next(sheets.candidates("index.html"))


def test_file_of_a_page_whose_address_is_a_file_may_come_from_that_page(root: Path) -> None:
    text = (root / POST).read_text(encoding="utf-8")
    (root / POST).write_text(text.replace("---\n", "---\npermalink: /2024/sum.html\n", 1), encoding="utf-8")
    site = link(parse_texts(read_files(make_request(root, everything=True))))
    names = [sheet.name for sheet in PreviewSheets(site).candidates("2024/sum/first-look-1.png")]
    assert "2024/sum.html" in names


def test_few_printed_pages_stay_in_memory() -> None:
    kept = KeptSheets(2)
    for name in ("a", "b", "a", "c"):
        kept.keep(name, KeptSheet({name: name}, is_good=True, depends_on=frozenset()))
    assert [name for name in "abc" if kept.get(name)] == ["a", "c"]


def test_only_the_pages_that_show_a_saved_file_are_outdated() -> None:
    kept = KeptSheets(2)
    for name in ("a", "b"):
        kept.keep(name, KeptSheet({}, is_good=True, depends_on=frozenset([f"{name}.md"])))
    kept.outdate(["a.md"])
    assert [one.is_current for name in "ab" if (one := kept.get(name))] == [False, True]


def test_every_download_is_shown_as_a_build_writes_it(tmp_path: Path) -> None:
    root = shutil.copytree(EVERY_FORM, tmp_path / "site")
    cell = "```{code-cell} python\n#| label: sum\nprint(1 + 1)\n```\n"
    for text in ("index.md", "index.ko.md"):
        post = root / "content/posts/in-a-folder" / text
        post.write_text(f"{post.read_text()}\n{cell}")
    built = build_in_memory(root).files
    paths = [path for path in built if path.startswith("downloads/")]
    assert {path.rpartition(".")[2] for path in paths} == {"py", "ipynb", "zip"}
    site = started(root)
    assert [path for path in paths if site.file(path) != built[path]] == []
