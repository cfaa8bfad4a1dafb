"""What surrounds every page: head, navigation, footer; and the one way in which a page becomes a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from sitegen.model.urls import FEED, KERNELS, POSTS, SERIES, TERMS, WORKLOG, absolute, output_path, page_url, relative
from sitegen.render.sources import Sources

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""The strictest policy under which a page works; `connect-src` is for search and for `serve`."""


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str
    current: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One field of a plate."""

    name: str
    value: str
    href: str = ""
    state: str = ""
    """A class of the state grammar."""


@dataclass(frozen=True, slots=True)
class Frame:
    title: str
    site_title: str
    description: str
    language: str
    canonical: str
    policy: str
    home: str
    at_home: bool
    stylesheet: str
    icon: str
    script: str
    feed: str
    navigation: tuple[Link, ...]
    footer: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Printer:
    """Fills templates; `sources` is what all pages share."""

    sources: Sources
    templates: jinja2.Environment

    def page(
        self,
        template: str,
        here: str,
        page: object,
        *,
        title: str,
        description: str = "",
        section: str = "",
        lang: str = "",
        base: str = "",
    ) -> tuple[str, str]:
        """(output path, HTML) of the page `here`.

        `section` is the URL of the navigation's entry that it belongs to; with `base` (`/blog/`) the links of the
        frame are absolute paths, for a page that is served in place of others.
        """
        href = partial(str.__add__, base) if base else partial(relative, here=here)
        frame = self._frame(here, href, title, description, section, lang)
        return output_path(here), self.templates.get_template(template).render(frame=frame, page=page)

    def fragment(self, template: str, part: object) -> Markup:
        """A piece of a page."""
        return Markup(self.templates.get_template(template).render(part=part))

    def text(self, template: str, url: str, page: object) -> tuple[str, str]:
        """A feed or another text without a frame."""
        return output_path(url), self.templates.get_template(template).render(page=page)

    def _frame(
        self, here: str, href: Callable[[str], str], title: str, description: str, section: str, lang: str
    ) -> Frame:
        sources, config = self.sources, self.sources.config
        return Frame(
            title=f"{title} · {config.title}" if here and title != config.title else title,
            site_title=config.title,
            description=description or config.description,
            language=lang or config.language,
            canonical=absolute(here, config),
            policy=POLICY,
            home=href(""),
            at_home=not here,
            stylesheet=href(sources.assets["site.css"]),
            icon=href(sources.assets["icon.svg"]),
            script=href(sources.assets["site.js"]),
            feed=href(FEED),
            navigation=tuple(Link(text, href(url), url == section) for text, url in navigation(sources)),
            footer=_footer(sources, href),
        )


def _footer(sources: Sources, href: Callable[[str], str]) -> tuple[Link, ...]:
    """Pages outside of time, and the glossary."""
    pages = [Link(page.title, href(page_url(page, sources.config))) for page in sources.site.pages]
    return (*pages, *([Link("Terms", href(TERMS))] if sources.site.terms else []))


def navigation(sources: Sources) -> tuple[tuple[str, str], ...]:
    """(text, URL) of the sections that the site has."""
    site = sources.site
    sections = (
        ("Posts", POSTS, bool(sources.site.posts)),
        ("Series", SERIES, bool(site.series)),
        ("Kernels", KERNELS, bool(site.kernels)),
        ("Worklog", WORKLOG, bool(site.worklog)),
    )
    return tuple((text, url) for text, url, there in sections if there)


def base_path(base_url: str) -> str:
    """`/blog/` of `https://example.org/blog/`: the only absolute paths are those of 404.html."""
    return urlsplit(base_url).path or "/"
