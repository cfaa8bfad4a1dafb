"""Read the keys of site.yaml about look and authorship: `theme`, `authors`, `licence`, `edit_url` and `report_url`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.model.licences import LICENCES
from sitegen.model.look import BACKGROUNDS, COLOURS, FONT, FONTS, HEX, LEAST_CONTRAST, WIDTH, WIDTHS, WRITTEN, contrast
from sitegen.model.site import Person
from sitegen.read.shape import Diagnostics, entries_of, read_as, unknown_word, wrong_type
from sitegen.read.yaml_nodes import Node

_ADDRESS = re.compile(r"https?://\S+")
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")


def read_theme(node: Node, diagnostics: Diagnostics) -> Mapping[str, tuple[str, ...]]:
    """Return the values of each part of the look: two for a colour (light, dark), one for a font or a width."""
    if isinstance(node.value, str):
        wrong_type(
            node,
            "`key: value` lines",
            diagnostics,
            'a theme has no name here: write lines such as `hot: ["#b83400", "#ff8a55"]`',
        )
        return {}
    theme = {}
    for name, child in entries_of(node, diagnostics).items():
        if name not in (*COLOURS, *FONTS, *WIDTHS):
            known = (*COLOURS, *FONTS, *WIDTHS)
            hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
            diagnostics.append(Diagnostic("SG014", f"unknown part of the theme `{name}`", child.at, hint))
        elif values := _values(name, child, diagnostics):
            theme[name] = values
    diagnostics += _weak_contrasts(theme, node)
    return theme


def read_authors(node: Node, diagnostics: Diagnostics) -> Mapping[str, Person]:
    """Return the authors by the name that posts call them."""
    authors = {}
    for name, child in entries_of(node, diagnostics).items():
        authors[name] = read_as(Person, child, diagnostics, noun="key of an author")
        _check(child.get("orcid"), _ORCID, "an ORCID", "write `0000-0002-1825-0097`", diagnostics)
        _check_last_digit(child.get("orcid"), diagnostics)
        _check(child.get("link"), _ADDRESS, "an address", "write `https://…`", diagnostics)
    return authors


def read_licence(node: Node, diagnostics: Diagnostics) -> str:
    """Return the licence: an identifier that has an address, or an address."""
    if node.text not in LICENCES and not _ADDRESS.fullmatch(node.text):
        diagnostics.append(unknown_word("licence", node.text, node.span, LICENCES))
        return ""
    return node.text


def read_address_of_page(node: Node, diagnostics: Diagnostics) -> str:
    """Return an address in which `{path}` stands for the file of a post and `{url}` for its page."""
    if _ADDRESS.fullmatch(node.text) and ("{path}" in node.text or "{url}" in node.text):
        return node.text
    hint = "write an address with `{path}` for the file, or `{url}` for the page"
    diagnostics.append(Diagnostic("SG014", f"`{node.text}` names no page", node.span, hint))
    return ""


def _check(node: Node | None, form: re.Pattern[str], what: str, hint: str, diagnostics: Diagnostics) -> None:
    if node and node.text and not form.fullmatch(node.text):
        diagnostics.append(Diagnostic("SG014", f"`{node.text}` is not {what}", node.span, hint))


def _check_last_digit(node: Node | None, diagnostics: Diagnostics) -> None:
    """Append a diagnostic for an ORCID whose last digit does not fit the digits before it."""
    if node and _ORCID.fullmatch(node.text) and node.text[-1] != (check := _check_digit(node.text[:-1])):
        message = f"`{node.text}` is not an ORCID: after `{node.text[:-1]}`, the check digit is {check}"
        hint = "a digit is wrong, or two are swapped: copy it from https://orcid.org/ again"
        diagnostics.append(Diagnostic("SG014", message, node.span, hint))


def _check_digit(before: str) -> str:
    """Return the check digit, of ISO 7064 MOD 11-2, for the first fifteen digits of an ORCID."""
    total = reduce(lambda total, digit: 2 * (total + int(digit)), before.replace("-", ""), 0)
    return "0123456789X"[(12 - total) % 11]


def _values(name: str, node: Node, diagnostics: Diagnostics) -> tuple[str, ...]:
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    texts = tuple(one.text for one in nodes)
    form, hint = _form(name)
    count = 2 if name in COLOURS else 1
    if len(texts) == count and all(form.fullmatch(text) for text in texts):
        return texts
    diagnostics.append(Diagnostic("SG014", f"`{name}` of the theme is of another form", node.span, hint))
    return ()


def _form(name: str) -> tuple[re.Pattern[str], str]:
    if name in COLOURS:
        return HEX, 'write the colours on light and on dark pages: `["#b83400", "#ff8a55"]`'
    if name in FONTS:
        return FONT, "write names of fonts: `Georgia, serif`"
    return WIDTH, "write a width: `40rem`"


def _weak_contrasts(theme: Mapping[str, tuple[str, ...]], node: Node) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each colour that the theme sets and that is hard to read on light or on dark pages.

    A pair of which the theme sets both is shown at the text.
    """
    colours = {**COLOURS, **{name: values for name, values in theme.items() if name in COLOURS}}
    for at, page in enumerate(("light", "dark")):
        weak: dict[str, list[str]] = {}
        for text, background in product(WRITTEN, BACKGROUNDS):
            if (
                contrast(colours[text][at], colours[background][at]) < LEAST_CONTRAST
                and {text, background} & theme.keys()
            ):
                own, other = (text, background) if text in theme else (background, text)
                weak.setdefault(own, []).append(other)
        for own, others in weak.items():
            against = {other: colours[other][at] for other in others}
            yield _weak_contrast(own, colours[own][at], against, page, _place(node, own, at))


def _weak_contrast(own: str, colour: str, against: Mapping[str, str], page: str, place: Span) -> Diagnostic:
    ratios = [f"{contrast(colour, other):.1f} with `{name}`" for name, other in against.items()]
    message = f"`{own}` has too little contrast on {page} pages: {', '.join(ratios)}"
    ways = {_way(other) for other in against.values()}
    hint = f"choose {ways.pop() if len(ways) == 1 else 'another'} colour, with a contrast of at least {LEAST_CONTRAST}"
    return Diagnostic("SG029", message, place, hint)


def _way(other: str) -> str:
    """Return in which direction more contrast with a colour lies; in this direction enough can always be reached."""
    return "a darker" if contrast(other, "#000000") > contrast(other, "#ffffff") else "a lighter"


def _place(node: Node, name: str, at: int) -> Span:
    """Return the place of the colour on light (0) or dark (1) pages."""
    child = node.get(name) or node
    return child.value[at].span if isinstance(child.value, tuple) and len(child.value) > at else child.span
