"""Check that each name in the glossary of a site belongs to one term, and return the mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import Site, Term
from sitegen.read.pages import page_parts


def term_clashes(site: Site) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each title and alias that another term has too.

    Names are compared as links compare them.  The name of a file comes before titles, and titles before aliases, so
    that an alias is marked and not the term that it names.
    """
    first: dict[str, Term] = {term.slug: term for term in site.terms}
    for name, term in (*((term.title, term) for term in site.terms), *_aliases(site)):
        owner = first.setdefault(_key(name), term)
        if owner is not term:
            message = f"two terms have the name `{name}`: {owner.body.path} has it too"
            hint = "remove it from one of the two: a link to it leads to one term alone"
            yield Diagnostic("SG023", message, _place(name, term, site.files), hint)


def _aliases(site: Site) -> Iterator[tuple[str, Term]]:
    """Yield the aliases of all terms, first those that begin with the title of their term, such as a plural."""
    aliases = [(alias, term) for term in site.terms for alias in term.aliases]
    yield from sorted(aliases, key=lambda one: not _key(one[0]).startswith(_key(one[1].title)))


def _key(name: str) -> str:
    return "-".join(name.lower().split())


def _place(name: str, term: Term, files: Mapping[str, str]) -> Span:
    """Return the place of an alias, for which the front matter is parsed again, or else that of the title."""
    _, node, _ = page_parts(files.get(term.body.path, ""), term.body.path)
    aliases = node.get("aliases") if node else None
    nodes = aliases.value if aliases and isinstance(aliases.value, tuple) else ()
    return next((one.span for one in nodes if one.text == name), term.span)
