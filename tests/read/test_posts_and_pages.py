"""Front matter becomes a Post, a Page or a Term."""

import datetime as dt

import pytest

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import Post, Ref
from sitegen.read.pages import parse_page, parse_post, parse_term

PATH = "content/posts/first.md"
KST = dt.timezone(dt.timedelta(hours=9))


def post(front: str, path: str = PATH, body: str = "Text.\n") -> tuple[Post, tuple[Diagnostic, ...]]:
    return parse_post(f"---\n{front}---\n{body}", path, KST)


def test_every_key_of_the_design_is_read() -> None:
    text = """title: "A softmax: once"
date: 2026-11-22
description: One sentence.
tags: [triton, 2026]
category: kernels
draft: true
updated: 2026-11-23
aliases: [/old/]
permalink: /softmax/
lang: ko
teaches: [online softmax]
needs: [reductions]
kernels: [softmax]
discuss: https://example.org/42
bibliography: refs.bib
"""
    read, found = post(text)
    assert not found
    assert read.tags == (Ref("triton", Span(PATH, 5, 8, 6)), Ref("2026", Span(PATH, 5, 16, 4)))
    assert (read.title, read.span) == ("A softmax: once", Span(PATH, 2, 9, 15))
    assert (read.date, read.updated) == (dt.date(2026, 11, 22), dt.date(2026, 11, 23))
    assert (read.draft, read.lang, read.permalink) == (True, "ko", "/softmax/")
    assert (read.teaches, read.needs) == (
        (Ref("online softmax", Span(PATH, 12, 11, 14)),),
        (Ref("reductions", Span(PATH, 13, 9, 10)),),
    )
    assert (read.slug, read.folder, read.body.first_line) == ("first", "", 18)


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2026-11-22 14:30", "05:30"),
        ("2026-11-22T14:30:00Z", "14:30"),
        ("2026-11-22 14:30:00 +0100", "13:30"),
        ("2026-11-22t14:30:05.25-05:00", "19:30"),
    ],
)
def test_a_time_without_an_offset_is_the_sites(written: str, utc: str) -> None:
    read, found = post(f"title: a\ndate: {written}\n")
    assert isinstance(read.date, dt.datetime) and not found
    assert read.date.astimezone(dt.UTC).strftime("%H:%M") == utc


@pytest.mark.parametrize("written", ["12/09/25", "20261122", "2026-W47-7", "tomorrow", "2026-11-22 2pm", "[2026]"])
def test_any_other_form_of_a_date_is_named_with_those_that_are_read(written: str) -> None:
    _, found = post(f"title: a\ndate: {written}\n")
    assert [(d.code, d.span.line, d.span.col) for d in found] == [("SG011", 3, 7)]
    assert "`2026-11-22`" in found[0].hint


@pytest.mark.parametrize(
    ("date", "updated"),
    [
        ("2026-11-22", "2026-11-22"),
        ("2026-11-22 14:30", "2026-11-22"),
        ("2026-11-22", "2026-11-21T15:30:00Z"),
        ("2026-11-22 14:30", "2026-11-22T05:30:00Z"),
        ("2026-11-22", ""),
        ("2026-13-22", "2025-11-22"),
    ],
)
def test_a_last_change_on_the_day_of_the_publication_or_later_is_right(date: str, updated: str) -> None:
    _, found = post(f"title: a\ndate: {date}\nupdated: {updated}\n")
    assert [d for d in found if "last change" in d.message] == []


def test_a_draft_may_be_changed_before_its_publication() -> None:
    assert post("title: a\ndate: 2027-01-01\nupdated: 2026-11-22\ndraft: true\n")[1] == ()


@pytest.mark.parametrize(
    ("date", "updated"),
    [
        ("2026-11-22", "2025-11-24"),
        ("2026-11-22 14:30", "2026-11-21"),
        ("2026-11-22", "2026-11-21T14:30:00Z"),
        ("2026-11-22 14:30", "2026-11-22T05:29:00Z"),
    ],
)
def test_a_last_change_before_the_publication_is_impossible(date: str, updated: str) -> None:
    _, [found] = post(f"title: a\ndate: {date}\nupdated: {updated}\n")
    assert (found.code, found.span) == ("SG013", Span(PATH, 4, 10, len(updated)))
    assert found.message == f"the last change, {updated}, is before the publication, {date}"


@pytest.mark.parametrize("written", ["2026-02-29", "2026-11-22 25:00", "0000-01-01", "2026-11-22 10:00+99:00"])
def test_a_date_that_does_not_exist_is_impossible(written: str) -> None:
    _, found = post(f"title: a\ndate: {written}\n")
    assert [d.code for d in found] == ["SG013"]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("2026-02-30 24:00", "write `2026-11-22`"),
        ("9999-12-31 24:00", "write `2026-11-22`"),
        ("2026-11-30 24:01", "write `2026-11-22`"),
        ("2026-11-30 24:00", "a day ends before hour 24: write `2026-12-01 00:00`"),
        ("2026-11-30T24:00:00+09:00", "a day ends before hour 24: write `2026-12-01T00:00:00+09:00`"),
    ],
)
def test_hour_24_is_hour_0_of_the_next_day(written: str, hint: str) -> None:
    _, [found] = post(f"title: a\ndate: {written}\n")
    assert found.code == "SG013" and found.hint.startswith(hint)


def test_a_post_with_mistakes_is_still_a_post_so_that_links_to_it_hold() -> None:
    read, found = post("titel: a\ndate: soon\ntags: [a, [b]]\n")
    assert (read.slug, read.body.text, [tag.name for tag in read.tags]) == ("first", "Text.\n", ["a"])
    assert [(d.code, d.span.line) for d in found] == [("SG012", 2), ("SG011", 3), ("SG011", 4)]


def test_a_key_that_other_programs_show_and_this_one_does_not_is_unknown() -> None:
    _, [found] = post("title: a\ndate: 2026-11-22\ncover: x.png\n")
    assert (found.code, found.message) == ("SG012", "unknown front matter key `cover`")


def test_a_key_without_a_value_is_as_if_it_were_not_there() -> None:
    read, found = post("title: a\ndate: 2026-11-22\ndescription:\ntags:\n")
    assert (read.description, read.tags, found) == ("", (), ())


def test_a_folder_is_a_post_and_may_hold_its_translations() -> None:
    front = "title: a\ndate: 2026-11-22\n"
    original, _ = post(front, "content/posts/first/index.md")
    korean, _ = post(front, "content/posts/first/index.ko.md")
    assert (original.slug, original.folder, original.lang) == ("first", "content/posts/first", "")
    assert (korean.slug, korean.folder, korean.lang) == ("first", "content/posts/first", "ko")


def test_a_page_and_a_term_need_only_a_title() -> None:
    page, page_found = parse_page("---\ntitle: About\naliases: [/me/]\n---\nText\n", "content/pages/about.md")
    term, term_found = parse_term("---\ntitle: Warp\naliases: [warps]\n---\nText\n", "content/terms/warp.md")
    assert (page.slug, page.aliases[0].name, term.slug, term.aliases) == ("about", "/me/", "warp", ("warps",))
    assert not page_found and not term_found


def test_a_page_has_no_date() -> None:
    _, found = parse_page("---\ntitle: About\ndate: 2026-11-22\n---\n", "content/pages/about.md")
    assert [(d.code, d.message) for d in found] == [("SG012", "unknown front matter key `date`")]
