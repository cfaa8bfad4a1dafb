"""Find what fits at a place of a text in Markdown: directives, options, roles, kernels, figures, labels and works."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sitegen.editor.yaml_keys import Offer
from sitegen.markup.additions import Additions
from sitegen.markup.directive import Directive
from sitegen.markup.directives.benchmark import COLUMNS
from sitegen.markup.registry import directives, roles
from sitegen.model.document import Document
from sitegen.model.figure_table import CEILING_NAMES, FIGURES, MACHINE
from sitegen.model.kernel import Kernel
from sitegen.model.site import Site

_FENCE = re.compile(r"\s*(?P<signs>`{3,}|~{3,}|:{3,})\s*(?:\{(?P<name>[\w-]*)(?P<closed>\})?\s*(?P<argument>.*))?$")
_COLON = r":(?P<colon>[\w-]*)(?::\s*(?P<value>.*))?"
_BAR = r"(?:#|//|%%)\|\s*(?P<bar>[\w-]*)(?::\s*(?P<of_bar>.*))?"
_OPTION = re.compile(rf"\s*(?:{_COLON}|{_BAR})$")
_ROLE = re.compile(r"\{(?P<name>[\w-]+)\}`(?P<text>[^`]*)$")
_OPEN_ROLE = re.compile(r"(?<!`)\{[\w-]*$")
_CITE = re.compile(r"(?:^|[\s\[(;-])@[\w:.-]*$")
_LINK = re.compile(r"\]\([^)\s]*$")
_OF_KERNEL = frozenset({"kernel", "benchmark", "roofline", "sweep", "claim"})


def offers_in_markdown(
    lines: Sequence[str], path: str, site: Site, document: Document | None, added: Additions
) -> Iterator[Offer]:
    """Yield what fits at the end of the last of `lines`, which are the text above the cursor."""
    line = lines[-1]
    fence = _FENCE.match(line)
    if fence and fence["name"] is not None:
        yield from _argument(fence["name"], site) if fence["closed"] else _all_directives(added)
    elif (opened := _open_fence(lines[:-1])) and (option := _OPTION.match(line)):
        yield from _options(*opened, option, site, added)
    elif role := _ROLE.search(line):
        yield from _of_role(role["name"], role["text"], site)
    elif _OPEN_ROLE.search(line):
        yield from (Offer(name, one.about) for name, one in roles().items() if one.is_offered)
    elif _CITE.search(line):
        yield from (Offer(id, "a label of this text") for id in (document.ids if document else ()) if "-" in id)
        for bibliography in site.bibliographies.values():
            yield from (Offer(work.key, work.title) for work in bibliography.works)
    elif _LINK.search(line):
        yield from (Offer(f"/posts/{post.slug}/", post.title) for post in site.posts)
        yield from (Offer(f"/kernels/{kernel.name}/", kernel.summary) for kernel in site.kernels)


def _all_directives(added: Additions) -> Iterator[Offer]:
    known: Mapping[str, Directive] = {**directives(), **added.directives}
    yield from (Offer(name, one.about) for name, one in known.items() if one.is_offered)


def _argument(name: str, site: Site) -> Iterator[Offer]:
    if name not in _OF_KERNEL:
        return
    for kernel in site.kernels:
        yield Offer(kernel.name, kernel.summary)
        names = [one.name for one in (kernel.sweeps if name == "sweep" else kernel.implementations)]
        yield from (Offer(f"{kernel.name}/{one}", kernel.summary) for one in names)


def _open_fence(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the name and the argument of the directive at whose head the next line stands; None elsewhere."""
    for line in reversed(lines):
        if fence := _FENCE.match(line):
            return (fence["name"], fence["argument"]) if fence["name"] else None
        if not _OPTION.match(line):
            return None
    return None


def _options(name: str, argument: str, option: re.Match[str], site: Site, added: Additions) -> Iterator[Offer]:
    known: Mapping[str, Directive] = {**directives(), **added.directives}
    value = option["value"] if option["value"] is not None else option["of_bar"]
    if name not in known:
        return
    if value is None:
        yield from (Offer(key, one.about, True) for key, one in known[name].options.items())
        return
    kernel = _kernel(argument.partition("/")[0], site)
    match option["colon"] or option["bar"]:
        case "workloads" | "workload" if kernel:
            yield from (Offer(one.name) for one in kernel.workloads)
        case "dtypes" | "dtype" if kernel:
            yield from map(Offer, kernel.dtypes)
        case "columns":
            yield from map(Offer, COLUMNS)
        case "implements":
            yield from (Offer(f"{one.name}/", one.summary) for one in site.kernels)
        case "implementations" if kernel:
            yield from (Offer(one.name) for one in kernel.implementations)


def _of_role(name: str, text: str, site: Site) -> Iterator[Offer]:
    if name == "term":
        yield from (Offer(word, term.title) for term in site.terms for word in (term.slug, *term.aliases))
    elif name == "value":
        yield from _of_value(text, site)


def _of_value(text: str, site: Site) -> Iterator[Offer]:
    """Yield the parts of a figure in their order: the evaluation, and behind it the name of the figure."""
    subject, space, _ = text.rpartition(" ")
    if space:
        names = CEILING_NAMES if subject == "ceiling" else MACHINE if subject == "machine" else FIGURES
        yield from map(Offer, names)
        return
    yield from (Offer("ceiling", "a measured limit of the GPU"), Offer("machine", "a fact about the machine"))
    for kernel in site.kernels:
        for one in kernel.implementations:
            yield Offer(f"{kernel.name}/{one.name}", kernel.summary)
            yield from (Offer(f"{kernel.name}/{one.name}@{workload.name}") for workload in kernel.workloads)


def _kernel(name: str, site: Site) -> Kernel | None:
    return next((kernel for kernel in site.kernels if kernel.name == name), None)
