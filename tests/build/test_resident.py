"""A site in memory reads and links no more than a save asks for, and never shows what was."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin

import pytest

from sitegen.build import resident as module
from sitegen.build.resident import Resident
from sitegen.build.whole import build
from sitegen.linking import targets
from sitegen.render.rules.rule import Sheet

POST, PAGE = "content/posts/post-48.md", "posts/post-48/index.html"
CONFIG = "title: Notes\nbase_url: https://example.org/notes/\n"


@pytest.fixture
def site(root: Path) -> Resident:
    resident = Resident(root)
    resident.follow()
    return resident


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each time that the site is linked."""
    made: list[object] = []

    def counted(*given: object, link: Callable[..., object] = module.link) -> object:
        made.append(given)
        return link(*given)

    monkeypatch.setattr(module, "link", counted)
    return made


def test_prose_is_shown_without_linking_the_site(site: Resident, links: list[object], fifty: SimpleNamespace) -> None:
    before = site.file("posts/post-20/index.html")
    fifty.write(site.root, POST, fifty.post(48, more="Other words."))
    assert site.follow([POST]) == (PAGE,)
    assert "Other words." in str(site.file(PAGE))
    assert "Other words." in str(site.file("feed.xml"))
    assert site.file("posts/post-20/index.html") is before
    assert links == []


def test_template_is_shown_without_linking_the_site(
    site: Resident, links: list[object], fifty: SimpleNamespace
) -> None:
    fifty.write(site.root, "templates/partials/colophon.html", "<p>Old</p>")
    site.follow(["templates/partials/colophon.html"])  # the first file of a folder is a new file of the site
    links.clear()
    fifty.write(site.root, "templates/partials/colophon.html", "<p>New</p>")
    site.follow(["templates/partials/colophon.html"])
    assert "<p>New</p>" in str(site.file(PAGE))
    assert links == []


def test_title_links_the_site(site: Resident, links: list[object], fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, fifty.post(48, title="Another title"))
    site.follow([POST])
    assert "Another title" in str(site.file("posts/post-47/index.html"))
    assert len(links) == 1


def test_what_was_saved_as_it_was_changes_nothing(site: Resident, links: list[object]) -> None:
    before = site.file(PAGE)
    (site.root / POST).write_bytes((site.root / POST).read_bytes())
    assert site.follow([POST, "content/posts/.post-48.md.swp"]) == ()
    assert site.file(PAGE) is before
    assert links == []


def started(root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Resident, list[str]]:
    """A site that is started, and the texts whose links were looked up for that."""
    looked: list[str] = []

    def noted(target: str, path: str, *given: Any, resolve: Callable[..., Any] = targets.resolve) -> Any:
        looked.append(path)
        return resolve(target, path, *given)

    monkeypatch.setattr("sitegen.linking.link.resolve", noted)
    resident = Resident(root)
    resident.follow()
    return resident, looked


def test_where_links_lead_is_known_at_the_second_start(
    site: Resident, monkeypatch: pytest.MonkeyPatch, fifty: SimpleNamespace
) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="See [another](post-20.md) one."))
    first, looked = started(site.root, monkeypatch)
    assert POST in looked
    again, looked = started(site.root, monkeypatch)
    assert looked == []
    assert again.file(PAGE) == first.file(PAGE)
    (href,) = re.findall(r'<a href="([^"]*)">another</a>', str(again.file(PAGE)))
    assert urljoin("posts/post-48/", href) == "posts/post-20/"


def test_links_are_looked_up_anew_when_any_file_is_another(
    site: Resident, monkeypatch: pytest.MonkeyPatch, fifty: SimpleNamespace
) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="See [another](post-20.md) one."))
    started(site.root, monkeypatch)
    (site.root / "content/posts/post-20.md").unlink()
    assert f"{POST}:" in started(site.root, monkeypatch)[0].report


def test_a_link_that_leads_nowhere_is_told_at_every_start(
    site: Resident, monkeypatch: pytest.MonkeyPatch, fifty: SimpleNamespace
) -> None:
    fifty.write(site.root, POST, fifty.post(48, more="[nowhere](nothing.md)"))
    reports = {started(site.root, monkeypatch)[0].report for _ in range(3)}
    assert len(reports) == 1
    assert f"{POST}:" in reports.pop()


def test_link_that_leads_nowhere_moves_with_its_line(site: Resident, fifty: SimpleNamespace) -> None:
    for lines in ("", "One line.\n\n", "One line.\n\nAnother.\n\n"):
        text = fifty.post(48, more=f"{lines}[nowhere](nothing.md)")
        fifty.write(site.root, POST, text)
        site.follow([POST])
        line = text[: text.index("[nowhere]")].count("\n") + 1
        assert f"{POST}:{line}:" in site.report


@pytest.mark.parametrize("lines", ["", "twins: true\nfeeds: [tags, series, worklog]\n"])
def test_every_file_of_a_build_is_shown_whichever_is_asked_for_first(root: Path, lines: str) -> None:
    (root / "content/site.yaml").write_text(f"{CONFIG}{lines}", encoding="utf-8")
    files = build(root, everything=True).files
    assert ("index.md" in files) == ("twins" in lines)
    for first in (sorted(files), sorted(files, reverse=True)):
        site = Resident(root)
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
    site = Resident(root)
    site.follow()
    for words in ("First words.", "Second words."):
        (root / path).write_text(f"---\n{front}\n---\n{words}\n", encoding="utf-8")
        site.follow([path])
        assert words in str(site.file(twin))


def test_another_time_zone_gives_every_date_another_offset(site: Resident, fifty: SimpleNamespace) -> None:
    fifty.write(site.root, POST, "---\ntitle: Late\ndate: 2026-11-20 23:30:00+00:00\n---\n")
    fifty.write(site.root, "content/site.yaml", f"{CONFIG}timezone: Asia/Seoul\n")
    site.follow()
    assert site.file(PAGE) == build(site.root, everything=True).files[PAGE]
    assert "2026-11-21" in str(site.file(PAGE))


def test_another_catalogue_is_heard_in_every_text(site: Resident, fifty: SimpleNamespace) -> None:
    text = "---\ntitle: Late\ndate: 2026-11-20\n---\n> [!TIP]\n> Words.\n"
    for path, content, said in (
        (POST, text, ">Tip</h3>"),
        ("templates/languages/en.json", '{"Tip": "Advice"}', ">Advice</h3>"),
        ("content/site.yaml", f"{CONFIG}language: ko\n", ">팁</h3>"),
    ):
        fifty.write(site.root, path, content)
        site.follow()
        assert said in str(site.file(PAGE))
        assert site.file(PAGE) == build(site.root, everything=True).files[PAGE]


def test_after_a_bug_everything_is_read_again(
    site: Resident, fifty: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> None:
        raise ZeroDivisionError

    fifty.write(site.root, POST, fifty.post(48, more="Saved in the bug."))
    with monkeypatch.context() as broken, pytest.raises(ZeroDivisionError):
        broken.setattr(module, "read_part", fails)
        site.follow([POST])
    fifty.write(site.root, "content/pages/about.md", "---\ntitle: About\n---\nSaved after it.\n")
    site.follow(["content/pages/about.md"])
    assert "Saved in the bug." in str(site.file(PAGE))
    assert "Saved after it." in str(site.file("about/index.html"))


def test_the_page_of_a_post_waits_for_no_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(sources: object) -> Iterator[Sheet]:
        raise AssertionError("all pages are looked at")
        yield

    monkeypatch.setattr(module, "sheets", none)
    site = Resident(root)
    site.follow()
    assert site.file(PAGE)
    with pytest.raises(AssertionError, match="all pages"):
        site.file("index.html")


def test_few_printed_pages_stay_in_memory(site: Resident, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    first = site.file(PAGE)
    assert site.file(PAGE) is first
    for number in range(3):
        site.file(f"posts/post-{number:02}/index.html")
    assert site.file(PAGE) == first
    assert site.file(PAGE) is not first
