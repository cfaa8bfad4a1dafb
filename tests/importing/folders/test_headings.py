"""An anchor of another program leads to the heading that it meant there."""

import pytest

from sitegen.importing.folders.headings import heading_ids


@pytest.mark.parametrize(
    ("heading", "old", "here"),
    [
        ("## parser.autoIDType", "parserautoidtype", "parser-autoidtype"),
        ("## parser.autoIDType", "parser.autoidtype", "parser-autoidtype"),
        ("## A & *b*", "a--b", "a-b"),
        ("## 2. Let's go ##", "lets-go", "2-let-s-go"),
        ("## `snake_case` [link](/x/)", "snake_case-link", "snake-case-link"),
        ("## Own {#kept .x}", "kept", "kept"),
        ("## Twice\n\n## Twice", "twice-1", "twice-2"),
        ("```\n## No\n```\n## Yes", "yes", "yes"),
    ],
)
def test_anchor(heading: str, old: str, here: str) -> None:
    assert heading_ids(heading)[old] == here


def test_heading_in_a_listing_has_no_id() -> None:
    assert heading_ids("```\n# No\n```\n") == {}
