"""Names between backticks in plain sentences."""

import pytest

from sitegen.render.shared.code_spans import code_spans


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("one ` alone", "one ` alone"),
        ("`a`", "<code>a</code>"),
        (
            "The scan of `chained`, and of `a<b>` & more",
            "The scan of <code>chained</code>, and of <code>a&lt;b&gt;</code> &amp; more",
        ),
        ("two `` together", "two `` together"),
    ],
)
def test_names_between_backticks_become_code(text: str, html: str) -> None:
    assert code_spans(text) == html
