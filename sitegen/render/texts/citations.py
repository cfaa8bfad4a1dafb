"""Print citations as `[2, p. 3]`, linked to the list of references, and the list with a link back to each citation.

Works are numbered in the order in which a text first cites them.  A citation in a sentence names the authors before the
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup, escape

from sitegen.model.bibliography import Author, Work
from sitegen.model.document import CitedWork, CiteSlot, Document
from sitegen.model.vocabulary import Vocabulary

_NAMED = 2
"""The most authors that a sentence names.  A sentence names only the first of more."""
_LISTED = 8
"""The most authors that the list names.  Of more, the list names the first six."""


def citation(slot: CiteSlot, works: Sequence[Work] | None) -> Markup:
    """Return a citation.  Without a bibliography `works` is None, and the author's words stay as they are."""
    if works is None:
        return escape(slot.written)
    numbers = {work.key: (number, work) for number, work in enumerate(works, start=1)}
    known = [item for item in slot.items if item.key in numbers]
    shown = Markup("; ").join(_item(item, numbers[item.key][0], slot.id_prefix) for item in known)
    names = f"{authors_in_text(numbers[known[0].key][1])} " if slot.narrative and known else ""
    return Markup('{}<span class="cite">[{}]</span>').format(names.replace(" ", "\u00a0"), shown)


def _item(item: CitedWork, number: int, prefix: str) -> Markup:
    before = f"{item.prefix} " if item.prefix else ""
    after = f", {item.suffix}" if item.suffix else ""
    link = Markup('<a href="#{}" id="{}">{}</a>').format(_anchor(item.key, prefix), item.id, number)
    return Markup("{}{}{}").format(before, link, after)


def _anchor(key: str, prefix: str) -> str:
    return quote(f"{prefix}bib-{key}")


def authors_in_text(work: Work) -> str:
    """Return the authors for a sentence, `Dao et al.` or `Milakov and Gimelshein`; without authors the title."""
    families = [name.family for name in work.authors if name.family != "others"]
    if not families:
        return work.title
    if len(families) > _NAMED or len(families) < len(work.authors):
        return f"{families[0]} et al."
    return " and ".join(families)


def references(document: Document, works: Sequence[Work], spoken: Vocabulary) -> Markup:
    """Return the list at the end of a text, under its title; empty when the text cites no work."""
    slots = [slot for slot in document.slots if isinstance(slot, CiteSlot)]
    if not works or not slots:
        return Markup()
    prefix = slots[0].id_prefix
    back: dict[str, list[str]] = {}
    for slot in slots:
        for item in slot.items:
            back.setdefault(item.key, []).append(item.id)
    entries = Markup("\n").join(_entry(work, back[work.key], prefix, spoken) for work in works)
    heading = Markup('<h2 id="{}references">{}</h2>').format(prefix, spoken.say("References"))
    return Markup('<section class="refs" aria-labelledby="{}references">\n{}\n<ol>\n{}\n</ol>\n</section>\n').format(
        prefix, heading, entries
    )


def _entry(work: Work, mentions: Sequence[str], prefix: str, spoken: Vocabulary) -> Markup:
    parts = [escape(part) for part in (_authors(work.authors), _title(work), *work.where, work.year) if part]
    parts += _links(work)
    back = Markup(" ").join(
        Markup('<a class="back" href="#{}" aria-label="{}">↩</a>').format(
            quote(id), spoken.say("Back to citation {n} of {total}", n=at, total=len(mentions))
        )
        for at, id in enumerate(mentions, start=1)
    )
    return Markup('<li id="{}">{}.\u00a0{}</li>').format(f"{prefix}bib-{work.key}", Markup(", ").join(parts), back)


def _title(work: Work) -> Markup:
    return Markup("<cite>{}</cite>").format(work.title)


def _authors(names: Sequence[Author]) -> str:
    shown = [f"{name.given} {name.family}".strip() for name in names if name.family != "others"]
    more = len(shown) < len(names)
    if len(shown) > _LISTED:
        shown, more = shown[:6], True
    if more:
        return ", ".join([*shown, "et al."])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 2 else shown)


def _links(work: Work) -> list[Markup]:
    links = []
    if work.doi:
        links.append(("https://doi.org/" + quote(work.doi, safe="/:;()."), f"doi:{work.doi}"))
    if work.arxiv:
        links.append((f"https://arxiv.org/abs/{quote(work.arxiv)}", f"arXiv:{work.arxiv}"))
    if work.url.startswith(("https://", "http://")) and not (work.arxiv and "arxiv.org/" in work.url):
        links.append((work.url, work.url.partition("://")[2].rstrip("/")))
    return [Markup('<a href="{}">{}</a>').format(href, words) for href, words in links]
