"""axe on every page of this site: the other tests look at one of each kind."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.soak
def test_axe_finds_nothing_on_any_page_of_this_site(own: Any, node: Any) -> None:
    pages = node("look.mjs", {path: own.url(path) for path in own.pages})
    assert len(pages) == len(own.pages)
    assert {path: page["axe"][:5] for path, page in pages.items() if page["axe"]} == {}
    assert {path: page["complaints"] for path, page in pages.items() if page["complaints"]} == {}
    assert {path: page["wide"] for path, page in pages.items() if page["wide"]} == {}
