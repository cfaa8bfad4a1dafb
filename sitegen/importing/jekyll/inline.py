"""A paragraph of kramdown → the same in MyST: formulas, links, images, attributes, footnotes, tags, marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import unescape

from sitegen.importing.jekyll.attributes import read_attributes, say_others, written
from sitegen.importing.jekyll.formulas import formula_id
from sitegen.importing.jekyll.html import TAG, addresses, element_end, is_refused, link, link_to_image, shown, tag_html
from sitegen.importing.jekyll.inserts import code_span
from sitegen.importing.jekyll.work import IMAGES, Work

_TARGET = (
    r"\s*(?:<(?P<{0}angle>[^<>\n]*)>|(?P<{0}bare>[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*))"
    r"(?P<{0}title>\s+(?:\"[^\"]*\"|'[^']*'))?\s*"
)
_PIECE = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<math>\$\$(?P<tex>.+?)\$\$)"
    r"|(?P<mathjax>\\\\\((?P<round>.+?)\\\\\)|\\\\\[(?P<square>.+?)\\\\\])"
    r"|(?P<reference>\\(?P<how>eqref|ref)\{(?P<formula>[^{}]+)\})"
    r"|(?P<breaks>\\\\(?=\n))"
    r"|(?P<escape>\\.)"
    r"|(?P<single>\$(?![\s\d$])(?:\\.|[^$\\\n]|\n(?!\s*\n))*?(?<![\s\\])\$(?![\d$]))"
    r"|(?P<dollar>\$)"
    rf"|(?P<image>!\[(?P<alt>(?:[^\[\]]|\[[^\[\]]*\])*)\]\({_TARGET.format('i')}\))"
    r"|(?P<named>!\[(?P<words>[^\[\]]*)\]\[(?P<name>[^\[\]]*)\])"
    rf"|(?P<link>\]\({_TARGET.format('l')}\))"
    r"|(?P<note>\[\^(?P<label>[^\]\s]+)\](?!:))"
    r"|(?P<address>https?://[^\s<>()\[\]]*@[^\s<>()\[\]]*[\w/])"
    r"|(?P<at>(?<![^\W_])@(?=\w))"
    r"|(?P<attributes>\{:(?![:/])(?P<list>[^{}\n]*)\})"
    r"|(?P<extension>\{::comment\}(?P<comment>.*?)\{:/(?:comment)?\}|\{:[:/][^{}\n]*\})"
    r"|(?P<role>\{[A-Za-z][\w-]*\}(?=`))"
    r"|(?P<auto><(?:https?://|mailto:)[^\s<>]*>)"
    r"|(?P<remark><!--.*?-->)"
    rf"|(?P<tag>{TAG.pattern})",
    re.DOTALL,
)
_DEFINITION = re.compile(r"^[ ]{0,3}\[(?!\^)([^\]]+)\]:\s*<?([^\s<>]+)>?(\s+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?\s*$")


def converted(text: str, line: int, work: Work, notes: frozenset[str] = frozenset()) -> str:
    """`line` is that of the paragraph's first line; `notes` are the labels of the footnotes that are defined."""
    return _Paragraph(text, line, work, notes).run()


@dataclass(slots=True)
class _Paragraph:
    text: str
    line: int
    work: Work
    notes: frozenset[str]

    def run(self) -> str:
        out, at = [], 0
        while found := _PIECE.search(self.text, at):
            shown_as, end = self.piece(found)
            out += [self.text[at : found.start()], shown_as]
            at = end
        return self.work.inserts.inline("".join([*out, self.text[at:]]))

    def piece(self, found: re.Match[str]) -> tuple[str, int]:
        """What stands for it, and where the reading goes on."""
        line = self.line + self.text.count("\n", 0, found.start())
        if found["tag"] is not None:
            return self.tag(found, line)
        if found["single"] is not None:
            if not self.work.has_math:
                return "\\$", found.start() + 1
            return _formula(self.work.inserts.verbatim(found["single"])[1:-1], self), found.end()
        known = next(written for name, written in _PIECES.items() if found[name] is not None)
        return known(self, found, line), found.end()

    def tag(self, found: re.Match[str], line: int) -> tuple[str, int]:
        tag = TAG.match(self.text, found.start())
        assert tag is not None
        name = tag[2].lower()
        end = element_end(self.text, found.start()) if not tag[1] else None
        if name == "d-cite" and end:
            keys = [key.strip() for key in addresses(tag[3]).get("key", "").split(",") if key.strip()]
            return self.citation(keys, self.text[found.start() : end], line), end
        if name in ("d-footnote", "d-math") and end:
            inner = self.text[tag.end() : end - len(f"</{name}>")]
            return (self.footnote(inner, line) if name == "d-footnote" else _formula(unescape(inner), self)), end
        if is_refused(name) and not tag[1]:
            return self.refused(self.text[found.start() : end or tag.end()], name, line), end or tag.end()
        return tag_html(tag, line, self.work), tag.end()

    def citation(self, keys: list[str], source: str, line: int) -> str:
        """What no bibliography has stays as it was written."""
        if not keys or not self.work.keys.issuperset(keys):
            self.work.warn("SG604", "nothing to cite has this key", source, line, "it stays in the text as it is")
            return code_span(source)
        self.work.cites = True
        return f"[{'; '.join(f'@{cite_key(key)}' for key in keys)}]"

    def refused(self, source: str, name: str, line: int) -> str:
        html = shown(source, name, line, self.work)
        return html if html.startswith("<a ") else code_span(self.work.inserts.verbatim(source))

    def footnote(self, text: str, line: int) -> str:
        label = f"note-{len(self.work.notes) + 1}"
        self.work.notes.append(f"[^{label}]: {' '.join(converted(text, line, self.work, self.notes).split())}")
        return f"[^{label}]"


def _formula(tex: str, paragraph: _Paragraph) -> str:
    """Within a line; the role takes what dollar signs do not."""
    formulas = paragraph.work.formulas
    if formulas.only_defines(tex):
        return ""
    tex = formulas.inline(" ".join(tex.split())).strip()
    return f"{{math}}`{tex}`" if "$" in tex else f"${tex}$"


def _math(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """Beside a digit a dollar sign would be money."""
    shown_as = _formula(paragraph.work.inserts.verbatim(found["tex"]), paragraph)
    neighbours = found.string[max(found.start() - 1, 0) : found.start()] + found.string[found.end() : found.end() + 1]
    return f"{{math}}`{shown_as.strip('$')}`" if any(map(str.isdigit, neighbours)) else shown_as


def _mathjax(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """`\\\\(x\\\\)`: kramdown takes a backslash away, MathJax reads the rest."""
    return _formula(found["round"] or found["square"], paragraph) if paragraph.work.has_math else found[0]


def _reference(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    label = found["formula"]
    if label not in paragraph.work.formulas.numbers:
        return found[0]
    number = f"[-@{formula_id(label)}]"
    return f"({number})" if found["how"] == "eqref" else number


def referred(text: str, work: Work) -> str:
    """The whole text, with a plain number where a reference's formula has no anchor."""
    anchors = {formula_id(label) for label in work.formulas.anchors}
    for label, number in work.formulas.numbers.items():
        if formula_id(label) not in anchors:
            text = text.replace(f"[-@{formula_id(label)}]", str(number))
    return text


def _break(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    return "\\"


def _dollar(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    return "\\$"


def _image(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    work = paragraph.work
    given = work.inserts.verbatim(found["iangle"] or found["ibare"] or "")
    title = found["ititle"] or ""
    if source := work.image(given):
        return f"![{found['alt']}]({source}{title})"
    return f"[{found['alt'] or given}]({_target(link_to_image(given, line, work))}{title})"


def _named_image(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """`![words][name]`: a link where the image is on another host."""
    name = (found["name"] or found["words"]).lower()
    elsewhere = name in paragraph.work.elsewhere
    return found[0].removeprefix("!") if elsewhere else found[0]


def _link(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    given = paragraph.work.inserts.verbatim(found["langle"] or found["lbare"] or "")
    return f"]({_target(link(given, line, paragraph.work))}{found['ltitle'] or ''})"


def _target(address: str) -> str:
    return f"<{address}>" if re.search(r"\s", address) or address.count("(") != address.count(")") else address


def _note(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """kramdown shows a mark of a footnote that is not defined; so does this, as text."""
    return found[0] if found["label"] in paragraph.notes else "\\" + found[0]


def _at(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """`@word` would cite."""
    return "\\@"


def _bare_address(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """A bare address that holds an `@`."""
    return f"<{found[0]}>"


def cite_key(key: str) -> str:
    """As it is written after an `@`."""
    return key if re.fullmatch(r"\w(?:[\w:.#$%&+?<>~/-]*\w)?", key) else f"{{{key}}}"


def _attributes(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """After a link, an image or code an id and classes stay; elsewhere they have no place."""
    given = read_attributes(found["list"], paragraph.work)
    say_others(given, paragraph.work, line, found[0])
    if not (kept := written(given)) or found.string[max(found.start() - 1, 0) : found.start()] in (")", "`"):
        return kept
    hint = "only links, images and code have attributes"
    paragraph.work.warn("SG605", f"`{found[0]}` is left out", found[0], line, hint)
    return ""


def _extension(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    if found["comment"] is not None:
        return f"<!--{found['comment']}-->"
    if re.match(r"\{::nomarkdown|\{:/", found[0]):
        return ""
    paragraph.work.warn("SG605", f"`{found[0]}` is not understood", found[0], line, "it stays in the text as it is")
    return code_span(found[0])


def _role(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    """`{word}` before code would be a role."""
    return "\\" + found[0]


def _as_it_is(paragraph: _Paragraph, found: re.Match[str], line: int) -> str:
    return paragraph.work.inserts.verbatim(found[0])


_PIECES: dict[str, Callable[[_Paragraph, re.Match[str], int], str]] = {
    "code": _as_it_is,
    "math": _math,
    "mathjax": _mathjax,
    "reference": _reference,
    "breaks": _break,
    "escape": _as_it_is,
    "dollar": _dollar,
    "image": _image,
    "named": _named_image,
    "link": _link,
    "note": _note,
    "address": _bare_address,
    "at": _at,
    "attributes": _attributes,
    "extension": _extension,
    "role": _role,
    "auto": _as_it_is,
    "remark": _as_it_is,
}


def definition(text: str, line: int, work: Work) -> str | None:
    """`[name]: address` with the address that it has here; None for any other line."""
    found = _DEFINITION.match(text)
    if found is None:
        return None
    given = work.inserts.verbatim(found[2])
    address = work.image(given) or link(given, line, work)
    return f"[{found[1]}]: {_target(address)}{found[3] or ''}"


def is_definition(text: str) -> bool:
    return _DEFINITION.match(text) is not None


def images_elsewhere(lines: Iterable[str], work: Work) -> set[str]:
    """Names of definitions that lead to an image which is not in the Jekyll folder."""
    found = (match for line in lines if (match := _DEFINITION.match(line)))
    return {
        match[1].lower()
        for match in found
        if match[2].lower().partition("?")[0].endswith(IMAGES) and not work.image(work.inserts.verbatim(match[2]))
    }
