"""A topic names what its phase lists; of two names that differ, the one that is unknown has the diagnostic."""

from __future__ import annotations

import datetime as dt

import pytest

from sitegen.diagnostics import Diagnostic, Span
from sitegen.linking.link import link_site
from sitegen.model.site import Exercise, Markdown, Post, Site, SiteConfig
from sitegen.read.exercises import parse_exercise
from sitegen.read.series import parse_series

CONFIG = SiteConfig("Notes", "https://example.org/notes/")


def exercise(name: str) -> Exercise:
    return parse_exercise(f"---\ntitle: {name}\n---\nText.\n", f"content/exercises/{name}/index.md")[0]


def post(slug: str, *, draft: bool = False) -> Post:
    path = f"content/posts/{slug}.md"
    return Post(slug, slug, dt.date(2026, 11, 20), Markdown("Text.", path), Span(path), draft=draft)


def mistakes(phase: str, topic: str) -> list[Diagnostic]:
    text = f"title: A\nphases:\n  - title: B\n    {phase}\n    topics: [{{title: c, {topic}}}]\n"
    series, _ = parse_series(text, "series/a.yaml")
    posts, exercises = (post("softmax"), post("later", draft=True)), (exercise("vector-add"), exercise("scan"))
    site = Site(CONFIG, posts=posts, series=(series,), exercises=exercises)
    _, found = link_site(site, {}, as_of=dt.date(2026, 11, 21), files=())
    return [one for one in found if one.span.path == "series/a.yaml"]


@pytest.mark.parametrize(
    ("phase", "topic", "place"),
    [
        ("exercises: [vector_add]", "exercises: [vector-add]", ("SG208", 4)),
        ("exercises: [vector_add]", "exercises: [vector_add]", ("SG208", 4)),
        ("exercises: [vector-add]", "exercises: [vector_add]", ("SG028", 5)),
        ("exercises: [scan]", "exercises: [vector-add]", ("SG028", 5)),
        ("exercises: [{id: sort, title: A sort}]", "exercises: [sorts]", ("SG028", 5)),
        ("posts: [softmax]", "exercises: [scn]", ("SG028", 5)),
        ("posts: [sofmax]", "posts: [softmax]", ("SG207", 4)),
        ("posts: [softmax]", "posts: [sofmax]", ("SG028", 5)),
        ("posts: [latr]", "posts: [later]", ("SG207", 4)),
    ],
)
def test_wrong_name_has_one_diagnostic_where_it_stands(phase: str, topic: str, place: tuple[str, int]) -> None:
    assert [(one.code, one.span.line) for one in mistakes(phase, topic)] == [place]


def test_two_wrong_names_have_two_diagnostics() -> None:
    found = mistakes("exercises: [vectoradd]", "exercises: [vectorad]")
    assert [(one.code, one.hint) for one in found] == [
        ("SG208", "did you mean `vector-add`?"),
        ("SG028", "the phase lists `vectoradd`: write one name in both places"),
    ]


@pytest.mark.parametrize("listed", ["posts: [later]", "posts: [softmax, later]"])
def test_topic_may_name_a_draft_that_its_phase_lists(listed: str) -> None:
    assert mistakes(listed, "posts: [later]") == []


@pytest.mark.parametrize("phase", ["exercises: [vector-add]", "posts: [softmax]"])
def test_an_exercise_that_the_phase_could_list_is_taken_out_or_put_in(phase: str) -> None:
    [found] = mistakes(phase, "exercises: [scan]")
    assert found.hint.endswith(": take the name out, or put the exercise into the phase")


@pytest.mark.parametrize(
    ("phase", "hint"),
    [
        ("exercises: [scan]", "did you mean `scan`?"),
        ("exercises: [vector-add]", "the phase lists vector-add"),
        ("posts: [softmax]", "the phase lists no exercise"),
    ],
)
def test_hint_says_what_the_phase_lists(phase: str, hint: str) -> None:
    assert [one.hint for one in mistakes(phase, "exercises: [scann]")] == [hint]
