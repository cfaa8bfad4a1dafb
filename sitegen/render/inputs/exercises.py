"""Find the exercises that have a page, for series and posts that name exercises by their ids."""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.model.site import Site


def exercise_titles(site: Site) -> Mapping[str, str]:
    """Return the title of each exercise that has a page, by its id.  No exercise has a page yet."""
    return {}
