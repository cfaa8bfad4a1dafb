"""HTML in texts of other programs, as it comes into the Markdown of a site."""

import pytest

from sitegen.importing.folders.html import plain_html


@pytest.mark.parametrize(
    ("html", "plain"),
    [
        ("""<a href="x" title='say "hi" now'>words</a>""", '<a href="x" title="say &quot;hi&quot; now">words</a>'),
        ("""<img alt='a "b"' src=x.png>""", '<img alt="a &quot;b&quot;" src="x.png">'),
        ("<b>plain</b>", "<b>plain</b>"),
    ],
)
def test_quotes_in_a_value_end_no_attribute(html: str, plain: str) -> None:
    assert plain_html(html)[0] == plain
