"""Works are cited by key, from the text's own bibliography or the site's."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitegen.diagnostics import Diagnostic, Span
from sitegen.linking.link import link_site
from sitegen.markup.documents import parse_documents
from sitegen.markup.parse import parse_document
from sitegen.model.bibliography import Author, Bibliography, Work
from sitegen.model.document import CiteSlot
from sitegen.model.linked import Linked
from sitegen.model.site import Markdown, Post, Ref, Site, SiteConfig
from sitegen.model.vocabulary import ENGLISH, Vocabulary
from sitegen.render.texts.citations import authors_in_text, citation, references

PATH = "content/posts/max/index.md"
DAO = Work(
    "dao2022", "FlashAttention", (Author("Dao", "Tri"), Author("Fu", "Daniel Y."), Author("Ré", "Christopher")), "2022"
)
SUM = Work("sum", "On sums", (Author("Milakov", "Maxim"), Author("Gimelshein", "Natalia")), doi="10.1/<2>")
GUIDE = Work("nvidia:guide", "The Guide", url="https://docs.example.org/guide/")
SHARED = Bibliography("content/references.bib", (DAO, SUM, GUIDE))


def linked(
    text: str, *bibliographies: Bibliography, own: str = ""
) -> tuple[Linked, list[Diagnostic], tuple[CiteSlot, ...]]:
    ref = Ref(own, Span(PATH, 4)) if own else None
    post = Post("max", "Max", dt.date(2026, 11, 20), Markdown(text, PATH), Span(PATH), bibliography=ref)
    books: Mapping[str, Bibliography] = {one.path: one for one in bibliographies}
    site = Site(SiteConfig("Notes", "https://example.org/"), posts=(post,), bibliographies=books)
    documents, of_texts = parse_documents(site)
    found, of_links = link_site(site, documents, as_of=dt.date(2026, 12, 1), files=())
    slots = tuple(slot for slot in documents[PATH].slots if isinstance(slot, CiteSlot))
    return found, [*of_texts, *of_links], slots


def shown(text: str) -> list[str]:
    """Return the words that a reader sees of each citation."""
    found, mistakes, slots = linked(text, SHARED)
    assert mistakes == []
    return [LexborHTMLParser(citation(slot, found.references[PATH])).text().replace("\u00a0", " ") for slot in slots]


def entries(text: str, spoken: Vocabulary = ENGLISH) -> list[LexborNode]:
    found, _, _ = linked(text, SHARED)
    document, _ = parse_document(Markdown(text, PATH))
    return LexborHTMLParser(references(document, found.references[PATH], spoken)).css("li")


def test_works_are_numbered_in_the_order_in_which_they_are_cited() -> None:
    assert shown("[@sum] and [@dao2022; @sum]") == ["[1]", "[2; 1]"]


def test_words_before_and_behind_a_key() -> None:
    assert shown("[see @dao2022, p. 3; also @sum chapter 2]") == ["[see 1, p. 3; also 2, chapter 2]"]


def test_citation_in_a_sentence_names_the_authors() -> None:
    assert shown("@dao2022 [p. 3], @sum, @{nvidia:guide} and @nvidia:guide.".replace("@{nvidia:guide} and ", "")) == [
        "Dao et al. [1, p. 3]",
        "Milakov and Gimelshein [2]",
        "The Guide [3]",
    ]


def test_link_behind_a_citation_is_no_part_of_it() -> None:
    assert shown("@sum [here](#x) and @sum [^n]\n\n## X\n\n[^n]: note\n") == ["Milakov and Gimelshein [1]"] * 2


def test_particle_behind_a_key_is_no_part_of_it() -> None:
    assert shown("@sum에 따르면, @dao2022は [p. 3]") == ["Milakov and Gimelshein [1]", "Dao et al. [2]"]


def test_key_is_no_end_of_a_sentence() -> None:
    assert shown("As in @sum. Also @nvidia:guide, too.") == ["Milakov and Gimelshein [1]", "The Guide [2]"]


@pytest.mark.parametrize("text", ["me@sum.org", r"\@sum", "`@sum`", "[me@sum.org]", "[text @ sum]", "[a](b.md@sum)"])
def test_sign_that_cites_nothing(text: str) -> None:
    document, _ = parse_document(Markdown(text, PATH))
    assert not any(isinstance(slot, CiteSlot) for slot in document.slots)


def test_citation_in_the_words_of_a_link_stays_as_it_was_written() -> None:
    assert "@sum" in parse_document(Markdown("[as @sum says](#x)", PATH))[0].html


def test_list_leads_back_to_every_mention() -> None:
    first, second = entries("[@sum], [@dao2022; @sum]")
    assert first.attributes["id"] == "bib-sum"
    assert [a.attributes["href"] for a in first.css("a.back")] == ["#cite-1", "#cite-2-2"]
    assert second.text().startswith("Tri Dao, Daniel Y. Fu and Christopher Ré, FlashAttention, 2022.")


def test_list_links_what_a_work_has() -> None:
    first, second = entries("@sum @nvidia:guide")
    assert first.css_first("a").attributes["href"] == "https://doi.org/10.1/%3C2%3E"
    assert second.css_first("a").text() == "docs.example.org/guide"


def test_many_authors_are_cut() -> None:
    many = Work("a", "T", tuple(Author(f"N{n}") for n in range(12)))
    assert authors_in_text(many) == "N0 et al."
    assert authors_in_text(Work("a", "T", (Author("Dao"), Author("others")))) == "Dao et al."


def test_own_bibliography_stands_over_that_of_the_site() -> None:
    own = Bibliography("content/posts/max/refs.bib", (Work("sum", "Mine"),))
    found, mistakes, _ = linked("[@sum; @dao2022]", SHARED, own, own="refs.bib")
    assert ([work.title for work in found.references[PATH]], mistakes) == (["Mine", "FlashAttention"], [])


def test_unknown_key_says_where_and_what_may_be_meant() -> None:
    (found,) = linked("Text.\n\nAs [see @sum; @dao2202] shows.", SHARED)[1]
    assert (found.code, found.span.line, found.span.col, found.span.length) == ("SG211", 3, 15, 8)
    assert found.hint == "did you mean `dao2022`?"


def test_bibliography_that_is_not_there() -> None:
    own = Bibliography("content/posts/max/refs.bib", ())
    (found,) = linked("Text", own, own="ref.bib")[1]
    assert (found.code, found.span.line, found.hint) == ("SG210", 4, "did you mean `refs.bib`?")


def test_without_a_bibliography_a_name_is_a_name_and_a_bracket_a_mistake() -> None:
    found, mistakes, (slot, _) = linked("Ask @someone, see [@dao2022].")
    assert str(citation(slot, found.references.get(PATH))) == "@someone"
    assert [(d.code, d.span.col) for d in mistakes] == [("SG210", 19)]


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ({}, ["Back to citation 1 of 2", "Back to citation 2 of 2"]),
        ({"Back to citation {n} of {total}": "{total} / {n}"}, ["2 / 1", "2 / 2"]),
    ],
)
def test_the_ways_back_say_where_they_lead_in_the_language_of_the_text(
    words: dict[str, str], labels: list[str]
) -> None:
    (entry,) = entries("@sum and [@sum]", Vocabulary("xx", words))
    assert [back.attributes["aria-label"] for back in entry.css("a.back")] == labels
