"""Links that are swapped, half written, bare or tracked are found where they stand, and nothing else is."""

import pytest

from sitegen.read.worklog_links import link_habits, link_mistakes, titles_of, without_trackers


def found(line: str) -> list[tuple[str, int, str | None]]:
    both = (*link_mistakes(line, "log.md"), *link_habits(line, "log.md", {}))
    return [(one.code, one.span.col, one.fix) for one in both]


@pytest.mark.parametrize(
    ("line", "code", "col", "fix"),
    [
        ("[https://a.example/x](A title)", "SG046", 1, "[A title](https://a.example/x)"),
        (
            "see [https://a.example/x](A (nested (twice)) title);",
            "SG046",
            5,
            "[A (nested (twice)) title](https://a.example/x)",
        ),
        ("[https://a.example/x](Rings: how they turn)", "SG046", 1, "[Rings: how they turn](https://a.example/x)"),
        ("[https://a.example/x](", "SG047", 1, "<https://a.example/x>"),
        ("- [Rings](https://a.example/x", "SG047", 3, "[Rings](https://a.example/x)"),
        ("[Rings](", "SG047", 1, None),
        ("- https://a.example/x; read half", "SG048", 3, None),
        ("[https://a.example](https://a.example)", "SG048", 1, None),
        ("[Rings](https://a.example/x?utm_source=m&v=2#top)", "SG050", 9, "https://a.example/x?v=2#top"),
        ("[Rings](https://a.example/?source=post_page-----44---)", "SG050", 9, "https://a.example/"),
    ],
)
def test_a_mistake_is_found_at_its_place(line: str, code: str, col: int, fix: str | None) -> None:
    assert found(line) == [(code, col, fix)]


@pytest.mark.parametrize(
    "line",
    [
        "[Rings](https://a.example/x)",
        "[Rings](https://a.example/x_(y)) and [more](../b.md)",
        "[Rings [2]](https://a.example/a---b?v=3)",
        "<https://a.example/x>",
        "`[https://a.example](title)` is code",
        "an array [0](see the text)",
        "[Rings](\nhttps://a.example/x)",
        '[Rings](https://a.example "Title")',
        "```\nhttps://a.example\n```",
        "source=post_page is a word",
    ],
)
def test_nothing_is_invented(line: str) -> None:
    assert found(line) == []


def test_a_bare_url_gets_the_title_that_another_day_gave_it() -> None:
    titles = titles_of("[Rings](https://a.example/x?utm_source=m)\n[Rings and tiles](https://a.example/x)\n")
    (warning,) = link_habits("https://a.example/x", "log.md", titles)
    assert warning.hint.startswith("write `[Rings and tiles](https://a.example/x)`")


@pytest.mark.parametrize("url", ["https://a.example", "https://a.example/?", "https://a.example/?v=1&v=2#utm_x=1"])
def test_other_parameters_are_left_alone(url: str) -> None:
    assert without_trackers(url) == url
