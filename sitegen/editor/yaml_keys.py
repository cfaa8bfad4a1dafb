"""Find what fits at a place of a YAML file: the keys and words of the registry of forms, and names of the site."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, NamedTuple

from sitegen.model.site import Site
from sitegen.read.forms import FILES, Either, FileForm, Form, ListOf, MapOf, OneOf

_LINE = re.compile(r"(?P<indent> *)(?P<item>(?:- +)*)(?:(?P<key>[\w-]+) *:)?(?P<value>.*)$")
_WORD = re.compile(r"[\w./-]*$")


class Offer(NamedTuple):
    """A word that fits."""

    word: str
    about: str = ""
    is_key: bool = False


def form_of(path: str) -> FileForm | None:
    """Return the form of a file of a site; None for a file without keys."""
    return next((one for one in FILES if fnmatch(path, re.sub(r"<\w+>", "*", one.path))), None)


def offers_in_yaml(file: FileForm, lines: Sequence[str], site: Site) -> Iterator[Offer]:
    """Yield what fits at the end of the last of `lines`, which are the YAML above the cursor."""
    forms = {form.of: form for form in file.forms}
    above, written = _keys_above(lines)
    here = _type_at(above, file.forms[0], forms)
    if written:
        kind = _type_at([*above, written], file.forms[0], forms)
        yield from _values(written, kind, site)
    elif isinstance(here, Form):
        yield from (Offer(key, about, True) for key, about in here.about.items())
    else:
        yield from _values(above[-1] if above else "", here, site)


def _keys_above(lines: Sequence[str]) -> tuple[list[str], str]:
    """Return the keys in whose value the cursor stands, outermost first, and the key before it on its line."""
    match = _LINE.match(lines[-1])
    assert match is not None
    opened = _flow_keys(match["value"])
    depth, own = len(match["indent"]) + len(match["item"]), match["key"] or ""
    above: list[str] = []
    for line in reversed(lines[:-1]):
        other = _LINE.match(line)
        if other and other["key"] and (start := len(other["indent"]) + len(other["item"])) < depth:
            above.insert(0, other["key"])
            depth = start
    if opened is None:
        return above, own
    inside, key = opened
    return [*above, *filter(None, [own]), *inside], key


def _flow_keys(value: str) -> tuple[list[str], str] | None:
    """Return the keys of the braces that are open at the end of a value, and the key before the cursor; None when
    nothing is open.
    """
    stack: list[str] = []
    key = ""
    for token in re.findall(r"[{}\[\],]|[\w-]+ *:|[^{}\[\],:]+|:", value):
        if token == "{":
            stack.append(key)
            key = ""
        elif token in "}]":
            key = stack.pop() if token == "}" and stack else key
        elif token == ",":
            key = "" if stack else key
        elif token.endswith(":") and len(token) > 1:
            key = token[:-1].strip()
    return (stack[1:] if stack and not stack[0] else stack, key) if stack else None


def _type_at(keys: Sequence[str], form: Form, forms: Mapping[type, Form]) -> Any:
    """Return the form of the mapping that a path of keys leads to, or the type of a plain value."""
    here: Any = form
    for key in keys:
        if isinstance(here, MapOf):
            here = here.type
        elif isinstance(here, Form):
            here = here.type_of(key) if key in here.about else None
        else:
            return None
        here = _mapping_in(here, forms)
    return here


def _mapping_in(hint: Any, forms: Mapping[type, Form]) -> Any:
    match hint:
        case ListOf(item):
            return _mapping_in(item, forms)
        case Either(types):
            found = [_mapping_in(one, forms) for one in types]
            return next((one for one in found if isinstance(one, Form)), found[0])
        case kind if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return forms.get(kind, kind)
    return hint


def _values(key: str, hint: Any, site: Site) -> Iterator[Offer]:
    if isinstance(hint, OneOf):
        yield from map(Offer, hint.words)
    elif hint is bool:
        yield from map(Offer, ("true", "false"))
    else:
        yield from _names(key, site)


def _names(key: str, site: Site) -> Iterator[Offer]:
    """Yield the names of the site that a key takes."""
    match key:
        case "kernels" | "kernel":
            yield from (Offer(kernel.name, kernel.summary) for kernel in site.kernels)
        case "posts" | "post":
            yield from (Offer(post.slug, post.title) for post in site.posts)
        case "exercises" | "id":
            yield from (Offer(one.id, one.title) for one in site.exercises)
        case "after":
            yield from (Offer(one.id, one.title) for one in site.series)
        case "authors":
            yield from (Offer(name, one.name) for name, one in site.config.authors.items())
        case "tags":
            yield from map(Offer, sorted({tag.name for post in site.posts for tag in post.tags}))
        case "category":
            yield from map(Offer, sorted({post.category for post in site.posts if post.category}))
        case "needs" | "teaches":
            concepts = {ref.name for post in site.posts for ref in (*post.needs, *post.teaches)}
            yield from map(Offer, sorted(concepts | {term.title for term in site.terms}))
        case "implementation" | "solution" | "baselines":
            yield from (Offer(one.name, kernel.name) for kernel in site.kernels for one in kernel.implementations)
        case "workload":
            yield from (Offer(one.name, kernel.name) for kernel in site.kernels for one in kernel.workloads)
        case "gpus":
            yield from map(Offer, site.config.gpus)
