"""Turn the text of a kramdown paragraph into MyST: formulas, links, images, attributes, footnotes, tags, marks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import unescape

from sitegen.importing.jekyll.attributes import attribute_list, read_attributes, report_left_out
from sitegen.importing.jekyll.conversion import IMAGES, Conversion
from sitegen.importing.jekyll.definitions import DEFINITION, missing_definitions
from sitegen.importing.jekyll.formulas import formula_id
from sitegen.importing.jekyll.html import (
    TAG,
    attributes_by_name,
    element_end,
    is_refused,
    link,
    link_to_image,
    show_refused,
    tag_html,
)
from sitegen.importing.jekyll.inserts import code_span

_TARGET = (
    r"\s*+(?:<(?P<{0}angle>[^<>\n]*+)>|(?P<{0}bare>[^\s()<>]*+(?:\([^\s()]*+\)[^\s()<>]*+)*+))"
    r"(?P<{0}title>\s++(?:\"[^\"]*+\"|'[^']*+'))?\s*+"
)
_PIECE = (
    r"(?=[`\\$*!\[\]@{<]|https?:)(?:"  # how each construct begins: at other signs none of them is tried
    r"(?P<code>(?<!(?<!\\)`)(?P<ticks>`++).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<math>\$\$(?P<tex>.+?)\$\$)"
    r"|(?P<mathjax>\\\\\((?P<round>.+?)\\\\\)|\\\\\[(?P<square>.+?)\\\\\])"
    r"|(?P<reference>\\(?P<how>eqref|ref)\{(?P<formula>[^{}]+)\})"
    r"|(?P<breaks>\\\\(?=\n))"
    r"|(?P<escape>\\.)"
    r"|(?P<single>\$(?:(?![\s\d$])(?:\\.|[^$\\\n]|\n(?!\s*\n))*?(?<![\s\\])|(?=[^$\n]*[\\_^])(?:\\.|[^$\\\n])+?)\$(?![\d$]))"
    r"|(?P<dollar>\$)"
    r"|(?P<strong>\*\*(?=[^\s*])(?P<bold>[^*\n]*[^\w\s*])\*\*(?=[^\W_]))"
    rf"|(?P<image>!\[(?P<alt>(?:[^\[\]]++|\[[^\[\]]*+\])*+)\]\({_TARGET.format('i')}\))"
    r"|(?P<named>!\[(?P<words>[^\[\]]*)\]\[(?P<name>[^\[\]]*)\])"
    rf"|(?P<link>\]\({_TARGET.format('l')}\))"
    r"|(?P<note>\[\^(?P<label>[^\[\]\s]++)\](?!:))"
    r"|(?P<address>https?://(?:(?!https?://)[^\s<>()\[\]@])*+@[^\s<>()\[\]]*[\w/])"
    r"|(?P<at>(?<![^\W_])@(?=\w))"
    r"|(?P<attributes>\{:(?![:/])(?P<list>[^{}\n]*)\})"
    r"|(?P<extension>\{::comment\}(?P<comment>.*?)\{:/(?:comment)?\}|\{:[:/][^{}\n]*\})"
    r"|(?P<role>\{[A-Za-z][\w-]*\}(?=`))"
    r"|(?P<auto><(?:https?://|mailto:)[^\s<>]*+>)"
    r"|(?P<remark><!--.*?-->)"
    rf"|(?P<tag>{TAG.pattern}))"
)
_CLOSED = {
    r"\$\$(?P<tex>": ("$$", "$$"),
    r"\\\\\((?P<round>": (r"\\(", r"\\)"),
    r"\\\\\[(?P<square>": (r"\\[", r"\\]"),
    r"\{::comment\}(?P<comment>": ("{::comment}", "{:/"),
    "<!--.*?-->": ("<!--", "-->"),
}
"""The constructs of `_PIECE` that may have any length, by the start of their pattern: how they begin and end."""


def convert_paragraph(text: str, line: int, conversion: Conversion, notes: frozenset[str] = frozenset()) -> str:
    """Return the MyST of a paragraph that begins on `line`; `notes` are the labels of the text's footnotes."""
    return _Paragraph(text, line, conversion, notes).run()


@cache
def _piece_pattern(without_end: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a construct, except those of `_CLOSED` that begin and do not end: each would read all the
    rest.
    """
    pattern = _PIECE
    for start in without_end:
        pattern = pattern.replace(start, f"(?!){start}")
    return re.compile(pattern, re.DOTALL)


class Ended:
    """The places where constructs such as those of `_CLOSED` begin and end in a text."""

    def __init__(self, text: str, constructs: Mapping[str, tuple[str, str]]) -> None:
        self.text, self.constructs = text, constructs
        self.last = {start: text.rfind(end) for start, (_, end) in constructs.items()}
        self.next = dict.fromkeys(constructs, -1)

    def without_end(self, at: int) -> frozenset[str]:
        """Return the constructs of which the first from `at` on has no end."""
        for start, (begin, _) in self.constructs.items():
            if self.next[start] < at:
                found = self.text.find(begin, at)
                self.next[start] = found if found >= 0 else len(self.text)
        return frozenset(
            start for start, (begin, _) in self.constructs.items() if self.last[start] < self.next[start] + len(begin)
        )


@dataclass(slots=True)
class _Paragraph:
    """The text of one paragraph, and the line on which it begins."""

    text: str
    line: int
    conversion: Conversion
    notes: frozenset[str]
    feeds: list[int] = field(init=False)
    """The offsets of the line feeds."""

    def run(self) -> str:
        out, at, ended = [], 0, Ended(self.text, _CLOSED)
        self.feeds = [feed.start() for feed in re.finditer("\n", self.text)]
        while match := _piece_pattern(ended.without_end(at)).search(self.text, at):
            replacement, end = self.piece(match)
            out += [self.text[at : match.start()], replacement]
            at = end
        return self.conversion.inserts.inline("".join([*out, self.text[at:]]))

    def piece(self, match: re.Match[str]) -> tuple[str, int]:
        """Return the replacement of a construct and the position behind it."""
        line = self.line + bisect_left(self.feeds, match.start())
        if match["tag"] is not None:
            return self.tag(match, line)
        if match["single"] is not None:
            if not self.conversion.has_math:
                return "\\$", match.start() + 1
            return _formula(self.conversion.inserts.verbatim(match["single"])[1:-1], self), match.end()
        convert = next(convert for name, convert in _PIECES.items() if match[name] is not None)
        return convert(self, match, line), match.end()

    def tag(self, match: re.Match[str], line: int) -> tuple[str, int]:
        tag = TAG.match(self.text, match.start())
        assert tag is not None
        name = tag[2].lower()
        end = element_end(self.text, match.start()) if not tag[1] else None
        if name == "d-cite" and end:
            keys = [key.strip() for key in attributes_by_name(tag[3]).get("key", "").split(",") if key.strip()]
            return self.citation(keys, self.text[match.start() : end], line), end
        if name in ("d-footnote", "d-math") and end:
            inner = self.text[tag.end() : end - len(f"</{name}>")]
            return (self.footnote(inner, line) if name == "d-footnote" else _formula(unescape(inner), self)), end
        if is_refused(name) and not tag[1]:
            return self.refused(self.text[match.start() : end or tag.end()], name, line), end or tag.end()
        return tag_html(tag, line, self.conversion), tag.end()

    def citation(self, keys: list[str], source: str, line: int) -> str:
        """Return a citation of the keys; a key that no bibliography has is text, with a warning."""
        known = [key for key in keys if key in self.conversion.keys]
        unknown = [key for key in keys if key not in self.conversion.keys]
        if unknown or not keys:
            self.conversion.warn("SG604", "nothing to cite has this key", source, line, "the key stands as text")
        self.conversion.cites |= bool(known)
        cited = f"[{'; '.join(f'@{cite_key(key)}' for key in known)}]" if known else ""
        return cited + (f"\\[{', '.join(map(_as_text, unknown))}\\]" if unknown else "")

    def refused(self, source: str, name: str, line: int) -> str:
        html = show_refused(source, name, line, self.conversion)
        return html if not html or html.startswith("<a ") else code_span(self.conversion.inserts.verbatim(source))

    def footnote(self, text: str, line: int) -> str:
        label = f"note-{len(self.conversion.notes) + 1}"
        self.conversion.notes.append(
            f"[^{label}]: {' '.join(convert_paragraph(text, line, self.conversion, self.notes).split())}"
        )
        return f"[^{label}]"


def _as_text(key: str) -> str:
    """Return a key with a backslash before each sign that Markdown would read."""
    return re.sub(r"([*_\\[\]`<>$@])", r"\\\1", key)


def _formula(tex: str, paragraph: _Paragraph) -> str:
    """Return a formula within a line: between dollar signs, or as a role where its TeX has a dollar sign."""
    formulas = paragraph.conversion.formulas
    if formulas.only_defines(tex):
        return ""
    tex = formulas.inline(" ".join(tex.split())).strip()
    return f"{{math}}`{tex}`" if "$" in tex else f"${tex}$"


def _math(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return a formula between two dollar signs; as a role beside a digit, where a dollar sign would be money."""
    formula = _formula(paragraph.conversion.inserts.verbatim(match["tex"]), paragraph)
    neighbours = match.string[max(match.start() - 1, 0) : match.start()] + match.string[match.end() : match.end() + 1]
    return f"{{math}}`{formula.strip('$')}`" if any(map(str.isdigit, neighbours)) else formula


def _mathjax(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return the formula of `\\\\(x\\\\)`, which MathJax reads after kramdown has removed a backslash."""
    return _formula(match["round"] or match["square"], paragraph) if paragraph.conversion.has_math else match[0]


def _reference(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    label = match["formula"]
    if label not in paragraph.conversion.formulas.numbers:
        return match[0]
    number = f"[-@{formula_id(label)}]"
    return f"({number})" if match["how"] == "eqref" else number


def resolve_references(text: str, conversion: Conversion) -> str:
    """Return the whole text with a plain number for each reference to a formula without an anchor."""
    anchors = {formula_id(label) for label in conversion.formulas.anchors}
    numbers = {formula_id(label): str(number) for label, number in reversed(conversion.formulas.numbers.items())}
    plain = {label: number for label, number in numbers.items() if label not in anchors}
    return re.sub(r"\[-@([\w-]++)\]", lambda match: plain.get(match[1], match[0]), text)


def _break(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    return "\\"


def _dollar(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    return "\\$"


def _strong(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return bold text that ends in a sign before a letter, which kramdown reads and other Markdown does not."""
    return f"<strong>{convert_paragraph(match['bold'], line, paragraph.conversion, paragraph.notes)}</strong>"


def _image(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    conversion = paragraph.conversion
    given = conversion.inserts.verbatim(match["iangle"] or match["ibare"] or "")
    title = match["ititle"] or ""
    if source := conversion.image(given):
        return f"![{match['alt']}]({source}{title})"
    address = link_to_image(given, line, conversion)
    is_within_link = match.string[max(match.start() - 1, 0) : match.start()] == "[" and match.string.startswith(
        "](", match.end()
    )
    return (match["alt"] or "an image") if is_within_link else f"[{match['alt'] or given}]({_target(address)}{title})"


def _named_image(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return `![words][name]`; as a link where the image is on another host."""
    name = (match["name"] or match["words"]).lower()
    elsewhere = name in paragraph.conversion.elsewhere
    return match[0].removeprefix("!") if elsewhere else match[0]


def _link(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    given = paragraph.conversion.inserts.verbatim(match["langle"] or match["lbare"] or "")
    return f"]({_target(link(given, line, paragraph.conversion))}{match['ltitle'] or ''})"


def _target(address: str) -> str:
    return f"<{address}>" if re.search(r"\s", address) or address.count("(") != address.count(")") else address


def _note(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return the mark of a footnote; as text where the footnote is not defined, as kramdown shows it."""
    return match[0] if match["label"] in paragraph.notes else "\\" + match[0]


def _at(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return an escaped `@`: `@word` would be a citation."""
    return "\\@"


def _bare_address(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return a bare address with an `@` between angle brackets, so that it does not cite."""
    return f"<{match[0]}>"


def cite_key(key: str) -> str:
    """Return a key as it is written after an `@`, in braces where it has unusual characters."""
    return key if re.fullmatch(r"\w(?:[\w:.#$%&+?<>~/-]*\w)?", key) else f"{{{key}}}"


def _attributes(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return the id and the classes behind a link, an image or code; elsewhere they are left out, with a warning."""
    given = read_attributes(match["list"], paragraph.conversion)
    report_left_out(given, paragraph.conversion, line, match[0])
    if not (kept := attribute_list(given)) or match.string[max(match.start() - 1, 0) : match.start()] in (")", "`"):
        return kept
    hint = "only links, images and code have attributes"
    paragraph.conversion.warn("SG605", f"`{match[0]}` is left out", match[0], line, hint)
    return ""


def _extension(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    if match["comment"] is not None:
        return f"<!--{match['comment']}-->"
    if re.match(r"\{::nomarkdown|\{:/", match[0]):
        return ""
    paragraph.conversion.warn(
        "SG605", f"`{match[0]}` is not understood", match[0], line, "it stays in the text as it is"
    )
    return code_span(match[0])


def _role(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    """Return an escaped `{word}`, which would be a role before code."""
    return "\\" + match[0]


def _unchanged(paragraph: _Paragraph, match: re.Match[str], line: int) -> str:
    return paragraph.conversion.inserts.verbatim(match[0])


_PIECES: dict[str, Callable[[_Paragraph, re.Match[str], int], str]] = {
    "code": _unchanged,
    "math": _math,
    "mathjax": _mathjax,
    "reference": _reference,
    "breaks": _break,
    "escape": _unchanged,
    "dollar": _dollar,
    "strong": _strong,
    "image": _image,
    "named": _named_image,
    "link": _link,
    "note": _note,
    "address": _bare_address,
    "at": _at,
    "attributes": _attributes,
    "extension": _extension,
    "role": _role,
    "auto": _unchanged,
    "remark": _unchanged,
}


def definition(text: str, line: int, conversion: Conversion) -> str | None:
    """Return `[name]: address` with its new address; None for any other line."""
    match = DEFINITION.match(text)
    if match is None:
        return None
    name, given, title = (conversion.inserts.verbatim(part or "") for part in match.groups())
    return _definition(name, given, title, line, conversion)


def definitions_from_includes(text: str, conversion: Conversion) -> list[str]:
    """Return the definitions of included files that a MyST text uses, each with its new address, below a blank line."""
    if not conversion.definitions:
        return []
    missing = missing_definitions(text, conversion.definitions)
    lines = [_definition(label, of.address, of.title, of.line, conversion) for label, of in missing.items()]
    return ["", *lines] if lines else []


def _definition(name: str, given: str, title: str, line: int, conversion: Conversion) -> str:
    address = conversion.image(given) or link(given, line, conversion)
    return f"[{name}]: {_target(address)}{title}"


def is_definition(text: str) -> bool:
    return DEFINITION.match(text) is not None


def images_elsewhere(lines: Sequence[str], conversion: Conversion) -> set[str]:
    """Return the names of link definitions whose image is not in the Jekyll folder."""
    own = [(match[1], match[2]) for match in map(DEFINITION.match, lines) if match]
    included = missing_definitions("\n".join(lines), conversion.definitions) if conversion.definitions else {}
    definitions = [*own, *((label, found.address) for label, found in included.items())]
    return {
        name.lower()
        for name, address in definitions
        if address.lower().partition("?")[0].endswith(IMAGES)
        and not conversion.image(conversion.inserts.verbatim(address))
    }
