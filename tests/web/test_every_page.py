"""axe on every page of this site and of the documentation, because the other tests look at one page of each kind."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_page_of_every_folder_of_the_made_site_is_looked_at(made: Any, patterns: Any) -> None:
    looked_at = {path.partition("/")[0] for site, path in patterns.values() if site is made}
    assert {path.partition("/")[0] for path in made.pages} - looked_at == set()


@pytest.mark.parametrize("name", [pytest.param("own", marks=pytest.mark.soak), "docs"])
def test_axe_finds_nothing_on_any_page(name: str, look_at_all: Any, request: pytest.FixtureRequest) -> None:
    site = request.getfixturevalue(name)
    pages = look_at_all(site)
    assert len(pages) == len(site.pages)
    assert {path: page["axe"][:5] for path, page in pages.items() if page["axe"]} == {}
    assert {path: page["complaints"] for path, page in pages.items() if page["complaints"]} == {}
    assert {path: page["wide"] for path, page in pages.items() if page["wide"]} == {}
