"""Turn the code of a plain fence into its figure, and the options and marks of any listing into its `Look`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from markdown_it.token import Token

from sitegen.diagnostics import Span, did_you_mean
from sitegen.highlight.lines import is_known, known_languages, limit_passed
from sitegen.markup import options as o
from sitegen.markup.annotations import Texts, notes_at_lines, notes_at_marks, without_marks
from sitegen.markup.code import code_figure
from sitegen.markup.collected import Collected
from sitegen.markup.labels import named
from sitegen.markup.lines import Regions, names_regions, resolve
from sitegen.markup.looks import OF_SHOWN, look_of
from sitegen.markup.regions import unmarked
from sitegen.model.listing import Look

_PLAIN = Look()


@dataclass(frozen=True, slots=True)
class MarkedListing:
    """Code as a page shows it, without marks, and the look and the regions of its lines."""

    code: str
    look: Look
    regions: Regions


def plain_fence(info: str, content: str, line: int, texts: Texts, into: Collected) -> str:
    """Return the HTML of a fence with an info such as `triton filename=fused.py hl=3,5-7`; it opens on `line`."""
    language, _, rest = info.partition(" ")
    options = o.read_attributes(rest, line, into)
    options.rest, options.rest_line = content, line + 1
    return _shown(language, into.span_of(language, line), options, "a fence", texts, into)


def listings_in(tokens: Iterable[Token]) -> Iterator[tuple[str, str]]:
    """Yield the language and the code of each plain fence in a known language."""
    for token in tokens:
        if token.type == "fence" and is_known(language := token.info.strip().partition(" ")[0].lower()):
            yield language, token.content


def code_block(language: str, content: str, line: int, span: Span, texts: Texts, into: Collected) -> str:
    """Return the HTML of `{code-block} triton`, whose options stand on lines of their own."""
    return _shown(language, span, o.read_options(content, line + 1, into), "`{code-block}`", texts, into)


def _shown(language: str, span: Span, options: o.Options, where: str, texts: Texts, into: Collected) -> str:
    values = o.checked(options, OF_SHOWN, where, into)
    label, place = values.get("label", ""), options.span("label", span)
    name, id = named("lst", bool(values.get("lst-cap")), label, place, into)
    look = look_of(values, id=id, name=name, numbers=False) if values else _PLAIN
    listing = listing_of(options.rest, options, values, look, texts, into)
    title = values.get("filename", "")

    def figure() -> str:
        known = _known_language(language, span, into)
        if passed := limit_passed(listing.code, known):
            hint = "it is shown without colours: show a part of it, or break its lines"
            into.warning("SG116", f"this listing {passed}", span, hint)
        return code_figure(listing.code, known, listing.look, regions=listing.regions, title=title, spoken=into.spoken)

    marked = "" if listing.look == _PLAIN else listing.look  # comparing a look is cheaper than digesting it
    return into.remembered(
        figure, "listing", language, listing.code, marked, listing.regions, title, into.spoken.digest
    )


def _known_language(language: str, span: Span, into: Collected) -> str:
    if is_known(language.lower()):
        return language.lower()
    hint = did_you_mean(language, known_languages()) or "it is shown as plain text"
    into.warning("SG116", f"unknown fence language `{language}`", span, hint)
    return ""


def listing_of(
    code: str, options: o.Options, values: Mapping[str, Any], look: Look, texts: Texts, into: Collected
) -> MarkedListing:
    """Return the code without its signs and marks, which become part of the look.

    The code begins on `options.rest_line` of the document; `look` has no notes yet.
    """
    if values.get("annotate"):
        look = replace(look, notes=notes_at_lines(values["annotate"], texts, options.by_name["annotate"].span, into))
    regions: Regions = {}
    if names_regions(look):
        code, regions = unmarked(code)
    if values.get("diff"):
        code, look = _without_signs(code, look)
    if "annotate" not in values:
        code, marks = without_marks(code)
        look = replace(look, notes=notes_at_marks(marks, texts, options.rest_line, into)) if marks or texts else look
    for wrong in resolve(look, code.rstrip("\n").count("\n") + 1, regions)[1]:
        if wrong.option in options.by_name:
            span = into.within(options.by_name[wrong.option].span, wrong.part)
            into.error("SG105", f"option `{wrong.option}`: {wrong.message}", span, wrong.hint)
        else:  # a number or a sign in the code itself, with nothing on its line
            span = into.span_of_line(options.rest_line + int(wrong.part) - 1)
            hint = "write it on a line of code, or leave it out"
            into.error(
                "SG123", f"`{into.lines[span.line - into.first_line].strip()}` marks no line of the code", span, hint
            )
    return MarkedListing(code, look, regions)


def _without_signs(code: str, look: Look) -> tuple[str, Look]:
    """Take `+` and `-` off the lines of a difference, and a space where all other lines begin with one."""
    lines = code.rstrip("\n").split("\n")
    others = [line for line in lines if line[:1] not in ("+", "-") and line.strip()]
    spaced = all(line.startswith(" ") for line in others)
    bare = [line[1:] if spaced or line[:1] in ("+", "-") else line for line in lines]

    def signed(sign: str, written: str) -> str:
        return ",".join([*([written] if written else []), *(str(n) for n, x in enumerate(lines, 1) if x[:1] == sign)])

    return "\n".join(bare) + "\n", replace(look, inserted=signed("+", look.inserted), deleted=signed("-", look.deleted))
