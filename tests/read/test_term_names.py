"""A name of the glossary belongs to one term; a term may have a name twice."""

from __future__ import annotations

import pytest

from sitegen.diagnostics import Span
from sitegen.read.load import parse_site

SITE = {"content/site.yaml": "title: Notes\nbase_url: https://example.org/\n"}


def terms(**fronts: str) -> dict[str, str]:
    """Return the files of a site with these terms, by the name of their file."""
    return SITE | {f"content/terms/{slug}.md": f"---\n{front}\n---\nText.\n" for slug, front in fronts.items()}


@pytest.mark.parametrize(
    "front",
    ["title: Lane\naliases: [lanes]", "title: Lane\naliases: [lane, Lane]", "title: Lane", "aliases: [warps]"],
    ids=["other names", "its own name again", "no aliases", "the front matter has a mistake"],
)
def test_names_of_one_term_are_right(front: str) -> None:
    _, found = parse_site(terms(lane=front, warp="title: Warp\naliases: [warp]"))
    assert [one for one in found if one.code == "SG023"] == []


def test_the_second_term_with_an_alias_is_marked_at_the_alias() -> None:
    _, [found] = parse_site(terms(sector="title: Sector\naliases: [part]", warp="title: Warp\naliases: [a, PART]"))
    assert (found.code, found.span) == ("SG023", Span("content/terms/warp.md", 3, 14, 4))
    assert found.message == "two terms have the name `PART`: content/terms/sector.md has it too"


def test_the_plural_of_another_term_is_marked_also_in_an_earlier_file() -> None:
    _, [found] = parse_site(terms(sector="title: Sector\naliases: [warps]", warp="title: Warp\naliases: [warps]"))
    assert (found.code, found.span) == ("SG023", Span("content/terms/sector.md", 3, 11, 5))


@pytest.mark.parametrize("warp", ["title: Warp", "title: A warp\naliases: [lanes]"], ids=["title", "file name"])
def test_an_alias_that_is_the_name_of_another_term_is_marked_also_in_an_earlier_file(warp: str) -> None:
    _, [found] = parse_site(terms(sector="title: Sector\naliases: [sectors, warp]", warp=warp))
    assert (found.code, found.span) == ("SG023", Span("content/terms/sector.md", 3, 20, 4))


def test_the_second_of_two_equal_titles_is_marked() -> None:
    _, [found] = parse_site(terms(one="title: Shared memory", two="title: shared  memory"))
    assert (found.code, found.span) == ("SG023", Span("content/terms/two.md", 2, 8, 14))
