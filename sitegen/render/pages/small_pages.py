"""Print the small pages: undated pages, terms, 404, redirects, sitemap and robots.txt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.document import ValueSlot, fill_slots
from sitegen.model.linked import document_key
from sitegen.model.site import Page, Term
from sitegen.model.urls import NOT_FOUND, SITEMAP, TERMS, absolute, output_path, page_url, relative, term_url
from sitegen.render.shared.frame import Link, Printer, base_path, navigation
from sitegen.render.shared.structured import NOTHING, About
from sitegen.render.texts.filled_slots import Place, fill
from sitegen.render.texts.first_sentence import first_sentence
from sitegen.render.texts.mentions import mentions, worked_on


@dataclass(frozen=True, slots=True)
class TextPage:
    title: str
    lede: str
    body: Markup
    eyebrow: Link | None = None
    used: tuple[Link, ...] = ()
    """The posts that link to the page."""
    worked_on: tuple[Link, ...] = ()
    """The days of the worklog that mention the page."""


@dataclass(frozen=True, slots=True)
class TermIndex:
    terms: tuple[tuple[Link, Markup], ...]
    """The terms, each with its definition."""

    @property
    def body(self) -> Markup:
        """The definitions, in which there may be formulas."""
        return Markup(" ").join(definition for _, definition in self.terms)


@dataclass(frozen=True, slots=True)
class Missing:
    home: str
    sections: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    href: str
    canonical: str
    icon: str


def text_page(printer: Printer, page: Page) -> tuple[str, str]:
    """Return an undated page."""
    here = page_url(page, printer.sources.config)
    body = fill(printer, printer.sources.document(page.body), Place(document_key(page.body), here, lang=page.lang))
    text = TextPage(page.title, page.description, body)
    about = About(card=True)
    return printer.page(
        "page.html", here, text, title=page.title, description=page.description, lang=page.lang, about=about
    )


def term_page(printer: Printer, term: Term) -> tuple[str, str]:
    here = term_url(term.slug)
    body = fill(printer, printer.sources.document(term.body), Place(document_key(term.body), here))
    used = mentions(printer.sources, printer.sources.linked.backlinks.get(here, ()), here)
    terms, days = printer.language().say("Terms"), worked_on(printer.sources, here, here, printer.language().day)
    text = TextPage(term.title, "", body, Link(terms, relative(TERMS, here)), used, days)
    set_of_terms = {"@type": "DefinedTermSet", "name": terms, "url": absolute(TERMS, printer.sources.config)}
    about = About(facts={"mainEntity": {"@type": "DefinedTerm", "name": term.title, "inDefinedTermSet": set_of_terms}})
    return printer.page("page.html", here, text, title=term.title, about=about)


def term_index(printer: Printer) -> tuple[str, str]:
    lines = tuple(
        (Link(term.title, relative(term_url(term.slug), TERMS)), _definition(printer, term))
        for term in printer.sources.site.terms
    )
    index = TermIndex(lines)
    about = About(("DefinedTermSet",))
    return printer.page("terms.html", TERMS, index, title=printer.language().say("Terms"), about=about)


def _definition(printer: Printer, term: Term) -> Markup:
    return printer.of_text(document_key(term.body), lambda html: _first_sentence(printer, term, html))


def _first_sentence(printer: Printer, term: Term, html: str) -> Markup:
    document = printer.sources.document(term.body)
    if not any(isinstance(slot, ValueSlot) for slot in document.slots):
        return first_sentence(html)
    from sitegen.render.texts.values import plain_figures

    figures = plain_figures(printer, document, "")
    return first_sentence(fill_slots(html, [figures.get(at, f"\0{at}\0") for at in range(len(document.slots))]))


def missing_page(printer: Printer) -> tuple[str, str]:
    """Return the 404 page.  Hosts serve it in place of any page, so its links are absolute paths."""
    base, spoken = base_path(printer.sources.config.base_url), printer.language()
    sections = tuple(Link(text, f"{base}{url}") for text, url in navigation(printer.sources, spoken))
    title = spoken.say("Not found")
    return printer.page("404.html", NOT_FOUND, Missing(base, sections), title=title, base=base, about=NOTHING)


def sitemap(printer: Printer, pages: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the sitemap.  `pages` are the output paths of the listed pages, each with the day of its last change,
    which is empty when no author states one.
    """
    config = printer.sources.config
    urls = tuple((absolute(path.removesuffix("index.html"), config), modified) for path, modified in pages)
    return printer.text("sitemap.xml", SITEMAP, urls)


def robots(printer: Printer) -> tuple[str, str]:
    return printer.text("robots.txt", "robots.txt", absolute(SITEMAP, printer.sources.config))


def redirect_list(printer: Printer) -> tuple[str, str]:
    """Return a line for each alias, `/old/ /posts/new/ 301`, as Netlify, Cloudflare Pages and others read it."""
    base = base_path(printer.sources.config.base_url)
    lines = (f"{base}{old} {base}{new} 301\n" for old, new in printer.sources.linked.redirects.items())
    return "_redirects", "".join(lines)


def redirect(printer: Printer, alias: str, url: str) -> tuple[str, str]:
    """Return the page at an alias, which redirects to the present address."""
    sources = printer.sources
    leads = Redirect(relative(url, alias), absolute(url, sources.config), relative(sources.assets["icon.svg"], alias))
    return output_path(alias), printer.text("redirect.html", alias, leads)[1]
