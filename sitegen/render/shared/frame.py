"""Put the frame (head, navigation, footer) around the view of a page, and print both as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar
from urllib.parse import urlsplit

from markupsafe import Markup

from sitegen.linking.link import MENU
from sitegen.model.document import has_formula
from sitegen.model.urls import (
    EXERCISES,
    FEED,
    HOME,
    JSON_FEED,
    KERNELS,
    POSTS,
    SEARCH,
    SERIES,
    TERMS,
    WORKLOG,
    absolute,
    card_url,
    is_external,
    output_path,
    page_url,
    relative,
    twin_path,
)
from sitegen.render.inputs.sources import Drawn, Sources, draw_again
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.structured import PAGE, About, Identity, structured
from sitegen.render.shared.templates import Templates
from sitegen.render.shared.theme import in_language

Words = TypeVar("Words", bound=str)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""The strictest policy under which a page works; `connect-src` is for search and for `serve`."""


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str
    current: bool = False
    lang: str = ""
    """The language of the link's target, when it is not that of the page."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One field of a plate."""

    name: str
    value: str
    href: str = ""
    state: str = ""
    """A class of the state grammar."""


@dataclass(frozen=True, slots=True)
class Version:
    """The same page in one of its languages."""

    lang: str
    name: str
    href: str
    url: str
    """The absolute URL."""
    current: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The head, navigation and footer of a page."""

    title: str
    heading: str
    """The title without that of the site."""
    site_title: str
    description: str
    language: str
    canonical: str
    policy: str
    home: str
    at_home: bool
    stylesheet: str
    math_font: str
    """The link to the font of formulas; empty on a page whose text has no formula."""
    icon: str
    script: str
    preview: str
    """The link to the script that shows the definition of a term beside its link."""
    feed: str
    json_feed: str
    own_feed: Link | None
    """The feed of the posts that the page lists."""
    twin: str
    image: str
    """The absolute URL of the card, because other sites read it."""
    territory: str
    """The language as `ko_KR`; empty when its country is not known."""
    about: About
    data: Markup
    versions: tuple[Version, ...]
    navigation: tuple[Link, ...]
    search: Link | None
    footer: tuple[Link, ...]
    footer_items: Markup
    """The links of `footer` as items of a list.  They are written once for all pages that show the same."""


@dataclass(frozen=True, slots=True)
class Printer:
    """The templates, and the function that fills them; `sources` are the values that all pages share."""

    sources: Sources
    templates: Templates
    kept: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Pieces that several pages show, by name, once the first of these pages was printed."""
    footers: dict[tuple[str, str], tuple[tuple[Link, ...], Markup]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """The links below a page and their HTML, by the language of the page and its link to the folder of the site."""
    kept_texts: Drawn = field(default=draw_again, compare=False, repr=False)
    """The function that keeps texts of pages with many texts from one build to the next (`texts.kept_text`)."""

    def language(self, lang: str = "") -> PageLanguage:
        """Return the language of a page; an empty tag means that of the site."""
        return in_language(self.templates, lang or self.sources.config.language)[0]

    def of_text(self, name: str, make: Callable[[str], Words]) -> Words:
        """Return what `make` makes of the HTML of a text, whose slots are not filled; `name` is its `document_key`."""
        return make(self.sources.fragments[name])

    def html_of(self, what: object, make: Callable[[], str]) -> Markup:
        """Return the HTML that `make` returns; `what` holds everything that this HTML depends on."""
        return Markup(make())

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
        about: About = PAGE,
    ) -> tuple[str, str]:
        """Return (output path, HTML) of the page `here`.

        `section` is the URL of its entry in the navigation.  With `base`, such as `/blog/`, the links of the frame are
        absolute paths, for a page that is served in place of others.
        """
        href = partial(str.__add__, base) if base else partial(relative, here=here)
        spoken, templates = in_language(self.templates, lang or self.sources.config.language)
        frame = self._frame(
            here,
            href,
            title=title,
            description=description,
            section=section,
            spoken=spoken,
            about=about,
        )
        if not has_formula(getattr(page, "body", "")):
            frame = replace(frame, math_font="")
        return output_path(here), templates.get_template(template).render(frame=frame, page=page)

    def fragment(self, template: str, part: object, lang: str = "") -> Markup:
        """Return a piece of a page."""
        templates = in_language(self.templates, lang or self.sources.config.language)[1]
        return Markup(templates.get_template(template).render(part=part))

    def text(self, template: str, url: str, page: object) -> tuple[str, str]:
        """Return (output path, text) of a feed or another text without a frame."""
        return output_path(url), self.templates.get_template(template).render(page=page)

    def _frame(
        self,
        here: str,
        href: Callable[[str], str],
        *,
        title: str,
        description: str,
        section: str,
        spoken: PageLanguage,
        about: About,
    ) -> Frame:
        sources, config, lang = self.sources, self.sources.config, spoken.tag
        links, (footer, footer_items) = navigation(sources, spoken), self._footer(href, spoken)
        site = absolute(sources.address(HOME, lang), config)
        above = [(text, absolute(url, config)) for text, url in links if url == section != here]
        trail = [(config.title, site), *above]
        image = absolute(card_url(here if about.card else HOME), config) if config.cards else ""
        name = absolute(here, config)
        description = description or config.description
        page = Identity(
            url=name,
            title=title,
            description=description,
            language=lang,
            root=config.base_url,
            site=site,
            site_title=config.title,
            trail=trail,
        )
        return Frame(
            title=f"{title} · {config.title}" if here and title != config.title else title,
            heading=title,
            site_title=config.title,
            description=description,
            language=lang,
            canonical=name,
            policy=POLICY,
            home=href(sources.address(HOME, lang)),
            at_home=here == sources.address(HOME, lang),
            stylesheet=href(sources.assets["site.css"]),
            math_font=href(sources.assets["math.woff2"]),
            icon=href(sources.assets["icon.svg"]),
            script=href(sources.assets["site.js"]),
            preview=href(sources.assets["preview.js"]),
            feed=href(sources.address(FEED, lang)),
            json_feed=href(sources.address(JSON_FEED, lang)),
            own_feed=Link(about.feed[0], href(about.feed[1])) if about.feed[1] else None,
            twin=href(twin_path(output_path(here))) if config.twins and about.kinds else "",
            image=image,
            territory=spoken.territory,
            about=about,
            data=structured(page, about, image),
            versions=self._versions(about.versions, here, href),
            navigation=tuple(Link(text, url if is_external(url) else href(url), url == section) for text, url in links),
            search=Link(spoken.say("Search"), href(SEARCH), section == SEARCH) if config.search else None,
            footer=footer,
            footer_items=footer_items,
        )

    def _versions(self, urls: Mapping[str, str], here: str, href: Callable[[str], str]) -> tuple[Version, ...]:
        config = self.sources.config
        return tuple(
            Version(lang, self.language(lang).name, href(url), absolute(url, config), url == here)
            for lang, url in urls.items()
        )

    def _footer(self, href: Callable[[str], str], spoken: PageLanguage) -> tuple[tuple[Link, ...], Markup]:
        """Return links to the undated pages and to the glossary.  Pages in folders of equal depth share them."""
        key = spoken.tag, href("")
        if key not in self.footers:
            links = _footer(self.sources, href, spoken)
            self.footers[key] = links, Markup("").join(map(_item, links))
        return self.footers[key]


def _item(link: Link) -> Markup:
    return Markup('<li><a href="{}">{}</a></li>\n').format(link.href, link.text)


def _footer(sources: Sources, href: Callable[[str], str], spoken: PageLanguage) -> tuple[Link, ...]:
    pages = [Link(page.title, href(page_url(page, sources.config))) for page in sources.pages_in(spoken.tag)]
    return (*pages, *([Link(spoken.say("Terms"), href(TERMS))] if sources.site.terms else []))


def navigation(sources: Sources, spoken: PageLanguage) -> tuple[tuple[str, str], ...]:
    """Return (text, URL) of each entry of the menu; without a menu, of each section that the site has."""
    site = sources.site
    if entries := sources.config.menu:
        return tuple((entry.title, sources.linked.hrefs[MENU, at]) for at, entry in enumerate(entries))
    sections = (
        ("Posts", sources.address(POSTS, spoken.tag), bool(sources.posts_in(sources.listed(spoken.tag)))),
        ("Series", SERIES, bool(site.series)),
        ("Exercises", EXERCISES, bool(site.exercises)),
        ("Kernels", KERNELS, bool(site.kernels)),
        ("Worklog", WORKLOG, bool(site.worklog)),
    )
    return tuple((spoken.say(text), url) for text, url, there in sections if there)


def base_path(base_url: str) -> str:
    """Return the path of a URL: `/blog/` for `https://example.org/blog/`.  Only the 404 page has absolute links."""
    return urlsplit(base_url).path or "/"
