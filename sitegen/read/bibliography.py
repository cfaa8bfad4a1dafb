"""Read the works of a .bib file.

pybtex parses it: of the libraries tried only pybtex reports a missing comma or brace with its line.  pylatexenc
decodes LaTeX commands.  Both are imported when a site has such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.bibliography import Author, Bibliography, Work

_ARXIV = re.compile(r"(?:arxiv\s*:\s*|arxiv\.org/(?:abs|pdf)/)([\w.-]+/\d+|\d{4}\.\d{4,5})", re.IGNORECASE)
_FIELD = re.compile(r"\s*[A-Za-z][\w-]*\s*=")
_LATEX = re.compile(r"[\\{}$~%]|--|``|''")
_BARE_PERCENT = re.compile(r"(?<!\\)%")
"""Pattern of a percent sign that LaTeX would take for a comment: in a title such as `50 %` it is none."""
_SAID = re.compile(r"^(?:syntax error|undefined string) in line \d+: ")


def parse_bibliography(text: str, path: str) -> tuple[Bibliography, tuple[Diagnostic, ...]]:
    """Return the works of a file and its mistakes; an entry with a mistake is left out."""
    from pybtex.database.input.bibtex import month_names
    from pybtex.utils import CaseInsensitiveDict

    from sitegen.read.bounded_bibtex import BoundedParser

    diagnostics: list[Diagnostic] = []
    works: dict[str, tuple[int, Work]] = {}
    lines = text.split("\n")

    def collect(error: Any) -> None:
        line = min(error.lineno, len(lines))
        if end := _without_comma(error, lines, line):
            message = "this is not BibTeX: a comma is missing behind this field"
            place = Span(path, end, len(lines[end - 1].rstrip()))
            diagnostics.append(Diagnostic("SG025", message, place, "end the line with a comma"))
            return
        begins = text.count("\n", 0, parser.command_start) + 1
        diagnostics.append(Diagnostic("SG025", _message(error), line_span(line), _hint(error, begins)))

    def line_span(line: int) -> Span:
        written = lines[line - 1]
        return Span(path, line, len(written) - len(written.lstrip()) + 1, max(len(written.strip()), 1))

    parser = BoundedParser(_without_bare_signs(text), macros=CaseInsensitiveDict(month_names), handle_error=collect)
    for kind, (key, *rest) in parser:
        if kind.lower() in ("string", "preamble", "comment") or key is None:
            continue
        line = text.count("\n", 0, parser.command_start) + 1
        if key in works:
            hint = f"the first is on line {works[key][0]}"
            diagnostics.append(Diagnostic("SG023", f"`{key}` is named twice", line_span(line), hint))
            continue
        fields = {name.lower(): " ".join("".join(parts).split()) for name, parts in (rest[0] if rest else ())}
        works[key] = line, _work(kind.lower(), key, fields)
    return Bibliography(path, tuple(work for _, work in works.values())), tuple(diagnostics)


def _without_comma(error: Any, lines: Sequence[str], line: int) -> int:
    """Return the line above, from 1, that lacks a comma at its end, when this is why `line` cannot be read; else 0."""
    if not str(error).endswith("'}' expected") or not _FIELD.match(lines[line - 1]):
        return 0
    above = next((number for number in range(line - 1, 0, -1) if lines[number - 1].strip()), 0)
    return above if above and not lines[above - 1].rstrip().endswith((",", "{")) else 0


def _without_bare_signs(text: str) -> str:
    """Replace each `@` within a word, as in an e-mail address, by a space: pybtex would take it for an entry."""
    return re.sub(r"(?<=\w)@(?=[^\n{]*(?:\n|$))", " ", text)


def _message(error: Any) -> str:
    said = _SAID.sub("", str(error))
    if type(error).__name__ == "TooLongError":
        return said
    return f"unknown string `{said}`" if _is_string(error) else f"this is not BibTeX: {said}"


def _hint(error: Any, begins: int) -> str:
    if type(error).__name__ == "TooLongError":
        return "write these values out"
    if _is_string(error):
        return "put it in braces, or define it with `@string`"
    return f"the entry begins on line {begins}; is a comma or a brace missing in it?"


def _is_string(error: Any) -> bool:
    return type(error).__name__ == "UndefinedMacro"


def _work(kind: str, key: str, fields: Mapping[str, str]) -> Work:
    plain = {name: decode_latex(value) for name, value in fields.items() if name not in ("author", "editor")}
    url = fields.get("url", "") or _first_url(fields.get("howpublished", ""))
    doi = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", fields.get("doi", "").replace("\\", ""))
    return Work(
        key=key,
        title=plain.get("title", "") or key,
        authors=tuple(_authors(fields.get("author") or fields.get("editor") or "")),
        year=plain.get("year", "") or plain.get("date", "")[:4],
        where=tuple(_venue(kind, plain)),
        doi=doi,
        arxiv=_arxiv(fields),
        url="" if doi and "doi.org/" in url else url.replace("\\", ""),
    )


def _authors(written: str) -> Iterator[Author]:
    from pybtex.bibtex.utils import split_name_list
    from pybtex.database import InvalidNameString, Person

    for one in split_name_list(written):
        try:
            person = Person(one)
        except InvalidNameString:
            yield Author(decode_latex(one))
            continue
        family = " ".join([*person.prelast_names, *person.last_names, *person.lineage_names])
        yield Author(decode_latex(family), decode_latex(" ".join([*person.first_names, *person.middle_names])))


def _venue(kind: str, plain: Mapping[str, str]) -> Iterator[str]:
    if venue := plain.get("journal") or plain.get("journaltitle") or plain.get("booktitle"):
        yield f"in {venue}" if kind in ("inproceedings", "incollection", "conference", "inbook") else venue
    numbers = [f"{short} {plain[name]}" for name, short in (("volume", "vol."), ("number", "no.")) if plain.get(name)]
    if numbers and kind != "techreport":
        yield ", ".join(numbers)
    if kind in ("phdthesis", "mastersthesis", "thesis"):
        yield "PhD thesis" if kind == "phdthesis" else "Master’s thesis" if kind == "mastersthesis" else "Thesis"
    if kind == "techreport":
        yield f"{plain.get('type', 'Technical report')} {plain.get('number', '')}".strip()
    for name in ("edition", "school", "institution", "organization", "publisher"):
        if plain.get(name):
            yield f"{plain[name]} edition" if name == "edition" else plain[name]
    if pages := plain.get("pages"):
        yield f"pp. {pages}" if re.search(r"[–,-]", pages) else f"p. {pages}"
    if (note := plain.get("howpublished", "")) and not _first_url(note):
        yield note


def _arxiv(fields: Mapping[str, str]) -> str:
    by_name = fields.get("archiveprefix", fields.get("eprinttype", "")).lower() == "arxiv"
    eprint = fields.get("eprint", "")
    if by_name or re.fullmatch(r"\d{4}\.\d{4,5}(v\d+)?", eprint):
        return eprint
    match = next(filter(None, (_ARXIV.search(fields.get(k, "")) for k in ("journal", "url", "note", "eprint"))), None)
    return match[1] if match else ""


def _first_url(text: str) -> str:
    match = re.search(r"https?://[^\s{}]+", text)
    return match[0] if match else ""


def decode_latex(latex: str) -> str:
    r"""Return the text that LaTeX prints: `Gödel & Co.` for `G{\"o}del \& Co.`"""
    if not _LATEX.search(latex):
        return latex
    from pylatexenc.latex2text import LatexNodes2Text

    text = LatexNodes2Text(math_mode="text").latex_to_text(_BARE_PERCENT.sub(r"\\%", latex))
    return " ".join(text.split(" ")).strip()
