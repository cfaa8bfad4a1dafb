"""Read the authors of a Jekyll site from posts, `_data/authors.yml` and `_config.yml`, as `authors:` of site.yaml."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sitegen.importing.jekyll.anchors import without_anchors
from sitegen.importing.jekyll.site import DocumentKind, JekyllDocument, JekyllSite
from sitegen.importing.jekyll.yaml_text import entry
from sitegen.read.yaml_nodes import parse_yaml, without_places
from sitegen.write.scaffold import slug_of

_FILES = ("_data/authors.yml", "_data/authors.yaml", "_data/people.yml")
_LINKS = ("url", "uri", "website", "homepage", "home", "web", "link")


@dataclass(frozen=True, slots=True)
class SiteAuthors:
    """The authors of a site."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The name of each author by the id that posts call it, the author of posts that name none first."""
    links: Mapping[str, str] = field(default_factory=dict)
    """The address of an author by the id."""
    of_post: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ids of the authors of each post that names some, by the path of the post."""

    @property
    def yaml(self) -> str:
        """The lines of site.yaml; empty without authors."""
        lines = "".join(
            f"  {id}:\n    {entry('name', name)}" + (f"    {entry('link', self.links[id])}" if id in self.links else "")
            for id, name in self.names.items()
        )
        return f"authors:\n{lines}" if lines else ""


def authors_of(site: JekyllSite) -> SiteAuthors:
    """Return the authors of the posts.

    There are none where a post would get a wrong one: when somebody wrote and the site has no author of its own for
    the posts that name nobody.
    """
    known = _known(site)
    posts = [one for one in site.sources if one.kind in (DocumentKind.POST, DocumentKind.DRAFT)]
    written = {one.path: list(_people(_given(one), known)) for one in posts}
    own = list(_people(site.config.plain("author"), known))[:1]
    counts = Counter(name for people in written.values() for name, _ in people)
    named = all(written.values())
    if not counts or not (named or own):
        return SiteAuthors()
    order = [*(() if named else [own[0][0]]), *(name for name, _ in counts.most_common())]
    ids = {name: slug_of(name) or f"author-{at}" for at, name in enumerate(dict.fromkeys(order), 1)}
    if len(set(ids.values())) != len(ids):
        return SiteAuthors()
    links = {ids[name]: url for people in (*written.values(), own) for name, url in people if url and name in ids}
    of_post = {path: [ids[name] for name, _ in people] for path, people in written.items() if people}
    return SiteAuthors({id: name for name, id in ids.items()}, links, of_post)


def _known(site: JekyllSite) -> Mapping[str, Any]:
    """Return what the site's file of authors has, by the names that posts call them."""
    path = next((path for path in _FILES if path in site.files), "")
    node, _ = parse_yaml(without_anchors(site.read(path)), path) if path else (None, ())
    found = without_places(node) if node else None
    return found if isinstance(found, dict) else {}


def _given(post: JekyllDocument) -> Any:
    node = post.front.get("authors") or post.front.get("author")
    return without_places(node) if node else None


def _people(given: Any, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the address of each author in a value of front matter."""
    if isinstance(given, list | tuple):
        yield from dict(person for one in given for person in _people(one, known)).items()
    elif isinstance(given, dict):
        name = " ".join(str(given.get("name") or given.get("display_name") or "").split())
        url = next((str(given[key]) for key in _LINKS if given.get(key)), "")
        if name and "©" not in name:
            yield name, url if url.startswith(("https://", "http://")) else ""
    elif given and str(given) in known:
        yield from _people({"name": str(given), **_entry(known[str(given)])}, known)
    elif given and not any(sign in str(given) for sign in ("://", "©")):
        yield " ".join(str(given).split()), ""


def _entry(value: Any) -> Mapping[str, Any]:
    return {key: one for key, one in value.items() if one} if isinstance(value, dict) else {}
