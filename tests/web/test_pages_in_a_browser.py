"""A browser reports no fault on a page of every kind, wide and narrow, in light and dark."""

from __future__ import annotations

from typing import Any

import pytest

Pages = dict[str, Any]


def test_axe_finds_nothing(looked_at: Pages) -> None:
    assert {name: page["axe"][:5] for name, page in looked_at.items() if page["axe"]} == {}


def test_the_browser_complains_of_nothing(looked_at: Pages) -> None:
    """The browser reports no violation of the policy, which is also a header, and no failed script or request."""
    assert {name: page["complaints"] for name, page in looked_at.items() if page["complaints"]} == {}


def test_no_page_scrolls_sideways(looked_at: Pages) -> None:
    assert {name: page["wide"] for name, page in looked_at.items() if page["wide"]} == {}


def test_everything_is_there_without_script(looked_at: Pages) -> None:
    """The script adds only controls, so a reader without it sees all other content."""
    for name, page in looked_at.items():
        scripted, plain = dict(page["contents"]), dict(page["plain"])
        del scripted["text"], plain["text"], plain["dead"]
        scripted["links"], plain["links"] = set(scripted["links"]), set(plain["links"])  # "continue here" is another
        if name.endswith("review"):  # the question that is asked is a copy of one in the list
            assert scripted["links"] == plain["links"], name
            assert {kind for kind in plain if plain[kind]} == {kind for kind in scripted if scripted[kind]}, name
        else:
            assert scripted == plain, name


def test_nothing_that_needs_a_script_is_seen_without_one(looked_at: Pages) -> None:
    """Without a script, a search field or a button would do nothing."""
    assert {name: page["plain"]["dead"] for name, page in looked_at.items() if page["plain"]["dead"]} == {}


def test_a_redirect_leads_on(looked_at: Pages) -> None:
    assert looked_at["redirect"]["url"] == looked_at["post"]["url"]


@pytest.mark.parametrize("kind", ["math", "table", "figure", "pre", "svg", "img"])
def test_the_post_that_was_looked_at_has_one_of_each(looked_at: Pages, kind: str) -> None:
    assert looked_at["post"]["plain"][kind] > 0
