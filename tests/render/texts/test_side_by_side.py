"""The HTML of a text on a page with other texts stays HTML: its tags are not escaped."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.render.texts.side_by_side import one_level_lower, with_prefix, without_landmarks

ASIDE = '<h2 id="a">A</h2><aside class="callout" aria-labelledby="c"><h4 id="c">B</h4><a href="#a">x</a></aside>'


def test_an_aside_loses_its_name_and_stays_an_aside() -> None:
    beside = with_prefix(without_landmarks(one_level_lower(Markup(ASIDE))), "post", {})
    assert beside == (
        '<h3 id="post.a">A</h3><aside class="callout"><h5 id="post.c">B</h5><a href="#post.a">x</a></aside>'
    )
