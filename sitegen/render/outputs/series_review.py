"""Print the review page of a series, with the questions of its posts and of the worklog, and the same as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from urllib.parse import urljoin

from markupsafe import Markup, escape

from sitegen.model.document import fill_slots
from sitegen.model.linked import document_key
from sitegen.model.site import Post, Series
from sitegen.model.urls import (
    SERIES,
    WORKLOG,
    absolute,
    day_url,
    relative,
    series_csv_url,
    series_review_url,
    series_url,
)
from sitegen.render.inputs.series_questions import asked_in_worklog, posts_in_order, question_count, quizzes_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.outputs.to_markdown import to_markdown
from sitegen.render.pages.worklog import plain_line
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.structured import COLLECTION
from sitegen.render.texts.filled_slots import Place, contents_of
from sitegen.render.texts.side_by_side import with_prefix

_QUIZ = re.compile(r'<aside class="callout quiz" aria-labelledby="([^"]+)">\n<h\d[^>]*>.*?</h\d>\n', re.DOTALL)
_ASIDE = re.compile(r"<(/?)aside\b[^>]*>")
_HERE = re.compile(r'(?<=\s)href="#')
"""A link within the text, such as to a footnote, which the page of all questions does not have."""
_ANSWER = re.compile(r'<details class="fold">\n<summary>[^<]*</summary>\n(.*)</details>\n', re.DOTALL)

_LINK = re.compile(r"</?a\b[^>]*>")


@dataclass(frozen=True, slots=True)
class Card:
    """A question and its answer."""

    id: str
    """The id under which the browser keeps when the question is due; it changes with the words of the question."""
    question: Markup
    answer: Markup
    source: Link


@dataclass(frozen=True, slots=True)
class CardGroup:
    """The questions of a post, or of the days of the worklog."""

    source: Link
    cards: Markup
    given: bool = False
    """Whether the figures in it are those of a diary, of which no record is asked."""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    stylesheet: str
    script: str
    series: Link
    count: str
    csv: str
    """The name of the CSV file, which lies beside the page."""
    groups: tuple[CardGroup, ...]


def review_files(printer: Printer, series: Series) -> dict[str, str]:
    """Return the review page of a series and its CSV file, by output path."""
    sources, here = printer.sources, series_review_url(series.id)
    there = series_csv_url(series.id)
    page = ReviewPage(
        stylesheet=relative(sources.assets["review.css"], here),
        script=relative(sources.assets["review.js"], here),
        series=Link(series.title, relative(series_url(series.id), here)),
        count=numbers.count(question_count(sources, series), "question"),
        csv=there.rpartition("/")[2],
        groups=tuple(_groups(printer, series, here)),
    )
    title = f"Review: {series.title}"
    description = f"The questions of {series.title}, asked again after growing pauses."
    path, html = printer.page(
        "review.html", here, page, title=title, description=description, section=SERIES, about=COLLECTION
    )
    return {path: html, there: "".join(_csv(printer, series, here))}


def _groups(printer: Printer, series: Series, here: str) -> Iterator[CardGroup]:
    for post in _with_questions(printer.sources, series):
        cards = printer.of_text(document_key(post.body), partial(_shown_of_post, printer, post, here))
        yield CardGroup(Link(post.title, relative(printer.sources.post_url(post), here)), cards)
    if asked := _cards_of_worklog(printer.sources, series, here):
        yield CardGroup(Link("Worklog", relative(WORKLOG, here)), _shown(printer, asked), given=True)


def _with_questions(sources: Sources, series: Series) -> list[Post]:
    return [post for post in posts_in_order(sources, series) if quizzes_of(sources, post)]


def _shown_of_post(printer: Printer, post: Post, here: str, html: str) -> Markup:
    return _shown(printer, _cards_of_post(printer, post, here, html))


def _shown(printer: Printer, cards: Iterable[Card]) -> Markup:
    return Markup().join(printer.fragment("partials/question.html", card) for card in cards)


def _cards_of_post(printer: Printer, post: Post, here: str, html: str) -> Iterator[Card]:
    """Yield the questions in the HTML of a post, whose slots are not filled."""
    document, url = printer.sources.document(post.body), printer.sources.post_url(post)
    asides = list(_asides(html))
    has_slots = any("\0" in inside for _, inside in asides)
    place = Place(document_key(post.body), here, post, post.lang)
    contents = contents_of(printer, document, place) if has_slots else ()
    by_id = {quiz.id: quiz for quiz in quizzes_of(printer.sources, post)}
    for id, inside in asides:
        card = _card_id(post.slug, by_id[id].question)
        beside = _HERE.sub(lambda _: f'href="{relative(url, here)}#', fill_slots(inside, contents))
        filled = with_prefix(beside, card, {})
        answer = _ANSWER.search(filled)
        assert answer, "markup ends each question with its answer"
        yield Card(
            card, Markup(filled[: answer.start()]), Markup(answer[1]), Link(post.title, f"{relative(url, here)}#{id}")
        )


def _asides(html: str) -> Iterator[tuple[str, str]]:
    """Yield the id of each question in the HTML of a text, and the HTML below its heading."""
    for begin in _QUIZ.finditer(html):
        depth = 1
        for tag in _ASIDE.finditer(html, begin.end()):
            depth += -1 if tag[1] else 1
            if not depth:
                yield begin[1], html[begin.end() : tag.start()]
                break


def _card_id(place: str, question: str) -> str:
    return f"{place}.{blake2b(question.encode(), digest_size=5).hexdigest()}"


def _cards_of_worklog(sources: Sources, series: Series, here: str) -> list[Card]:
    return [
        Card(
            _card_id(entry.date.isoformat(), question),
            Markup(f"<p>{escape(plain_line(question))}</p>"),
            Markup(f"<p>{escape(plain_line(answer))}</p>"),
            Link(numbers.day(entry.date), relative(day_url(entry.date), here)),
        )
        for entry, question, answer in asked_in_worklog(sources, series)
    ]


def _csv(printer: Printer, series: Series, here: str) -> Iterator[str]:
    """Yield the lines of the file for flash-card programs: question, answer, and the address of the source.

    These programs show Markdown as it is, so the words of a link stand without its address.
    """
    for post in _with_questions(printer.sources, series):
        yield printer.of_text(document_key(post.body), partial(_lines_of_post, printer, post, here))
    yield _lines(printer, _cards_of_worklog(printer.sources, series, here), here)


def _lines_of_post(printer: Printer, post: Post, here: str, html: str) -> str:
    return _lines(printer, _cards_of_post(printer, post, here, html), here)


def _lines(printer: Printer, cards: Iterable[Card], here: str) -> str:
    lines, url = io.StringIO(), absolute(here, printer.sources.config)
    for card in cards:
        texts = (to_markdown(_LINK.sub("", html), url).strip() for html in (card.question, card.answer))
        csv.writer(lines, lineterminator="\r\n").writerow([*texts, urljoin(url, card.source.href)])
    return lines.getvalue()
