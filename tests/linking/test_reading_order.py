"""The hint for a need that is met too late says what to move, and in which file."""

from __future__ import annotations

import datetime as dt

import pytest

from sitegen.diagnostics import Span
from sitegen.linking.reading_order import order_mistakes
from sitegen.model.site import Markdown, Post, Ref, Site, SiteConfig
from sitegen.read.series import parse_series

CONFIG = SiteConfig("Notes", "https://example.org/notes/")


def post(slug: str, *, needs: str = "", teaches: str = "") -> Post:
    path = f"content/posts/{slug}.md"
    refs = {key: (Ref(name, Span(path)),) for key, name in {"needs": needs, "teaches": teaches}.items() if name}
    return Post(slug, slug.title(), dt.date(2026, 11, 20), Markdown("Text.", path), Span(path), **refs)


def hints(*lines: str) -> list[str]:
    """Return the hints for a series of two phases, of which each line is one."""
    phases = "".join(f"  - title: Part\n    {line}\n" for line in lines)
    series, found = parse_series(f"title: A\nphases:\n{phases}", "series/a.yaml")
    assert not found
    posts = (post("sum", needs="tiling"), post("tiles", teaches="tiling"), post("scan"))
    return [one.hint for one in order_mistakes(Site(CONFIG, posts=posts, series=(series,))) if one.code == "SG220"]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (("posts: [tiles, sum]",), []),
        (("posts: [sum, tiles]",), ["put `tiles` before `sum` in series/a.yaml:4"]),
        (("posts: [sum, scan]", "posts: [tiles]"), ["put `tiles` before `sum` in series/a.yaml:6"]),
        (
            ("posts: [sum]\n    planned: [{title: Tiles, teaches: [tiling]}]",),
            ["put “Tiles” into a phase before that of `sum` in series/a.yaml"],
        ),
        (
            ("planned: [{title: Fusion, needs: [tiling]}, {title: Tiles, teaches: [tiling]}]",),
            ["put “Tiles” before “Fusion” in series/a.yaml"],
        ),
        (
            ("exercises: [{id: sort, title: Sort, needs: [tiling]}]", "posts: [tiles]"),
            ["put `tiles` before `sort` in series/a.yaml:6"],
        ),
    ],
)
def test_what_to_move_is_named_as_the_file_names_it(lines: tuple[str, ...], wanted: list[str]) -> None:
    assert hints(*lines) == [f"{one}, or take the need out" for one in wanted]
