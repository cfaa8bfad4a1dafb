"""Turn pages into Markdown twins for programs that read text, and list the twins in `llms.txt`.

The twin of a post, a page, a term or a day is the author's text with every slot resolved: a measurement becomes a
table, a listing its code, and a link absolute.  The twins of all other pages are made from their HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.diagnostics import Span
from sitegen.model.document import (
    BenchmarkSlot,
    CellSlot,
    CiteSlot,
    ClaimSlot,
    Document,
    FileSlot,
    ImageSlot,
    LinkSlot,
    ListingSlot,
    OutputSlot,
    PlotSlot,
    RooflineSlot,
    TermSlot,
    ValueSlot,
)
from sitegen.model.linked import document_key
from sitegen.model.site import Markdown, Page, Post, SiteConfig, Term, WorklogEntry
from sitegen.model.urls import (
    WORKLOG,
    absolute,
    day_url,
    exercise_url,
    kernel_url,
    output_path,
    page_url,
    series_url,
    term_url,
    twin_path,
)
from sitegen.read.source import split_front_matter
from sitegen.render.inputs.sources import Sources
from sitegen.render.outputs.to_markdown import to_markdown
from sitegen.render.shared.frame import Printer
from sitegen.render.texts.citations import references
from sitegen.render.texts.filled_slots import Place, contents_of, fill_slot

LLMS = "llms.txt"
_MAIN = re.compile(r"<main\b[^>]*>(.*)</main>", re.DOTALL)
_FENCE = re.compile(r"([ \t>]*)(`{3,}|~{3,}|:{3,})")
_ROLE = re.compile(r"\{(\w[\w-]*)\}(`+)(.+?)(?<!`)\2(?!`)")
_DEFINITION = re.compile(r"(\s{0,3}\[[^\]^][^\]]*\]:\s*<?)([^\s>]+)(.*)")
_OTHER_WORDS = re.compile(r"(.+?)\s*<(.+)>", re.DOTALL)
_AS_CODE = ("kernel", "kbd")
_LINKED = ("kernel", "term")


@dataclass(frozen=True, slots=True)
class _Word:
    """A place in a line where the twin shows other words than the author wrote."""

    col: int
    written: str
    shown: str


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text of an author, with what its page says above it."""

    body: Markdown
    place: Place
    title: str
    lede: str = ""
    facts: tuple[str, ...] = ()


def with_twins(printer: Printer, files: Mapping[str, str | bytes], text: object = None) -> dict[str, str | bytes]:
    """Return the pages, with a twin beside each; `text` is the author's text of the page, None when there is none."""
    made = dict(files)
    for path, html in files.items():
        if path.endswith(".html") and isinstance(html, str):
            url = absolute(path.removesuffix("index.html"), printer.sources.config)
            written = _written(printer.sources, text)
            own = written is not None and output_path(written.place.here) == path
            made[twin_path(path)] = _resolved(printer, written) if written and own else _read_back(html, url)
    return made


def post_as_markdown(printer: Printer, post: Post) -> str:
    """Return the author's text of a post with every slot resolved, below its title."""
    written = _written(printer.sources, post)
    assert written is not None
    return _resolved(printer, written)


def llms(printer: Printer) -> tuple[str, str]:
    """Return the list of all twins in the form of https://llmstxt.org."""
    sources, config = printer.sources, printer.sources.config
    sections = [
        (
            printer.language(lang).say("Posts"),
            [(post.title, sources.post_url(post), post.description) for post in posts],
        )
        for lang, posts in sources.posts_by_language.items()
    ]
    site = sources.site
    sections += [
        ("Series", [(one.title, series_url(one.id), one.tagline) for one in site.series]),
        ("Kernels", [(one.name, kernel_url(one.name), one.summary) for one in site.kernels]),
        ("Exercises", [(one.title, exercise_url(one.id), one.description) for one in site.exercises]),
        ("Pages", [(page.title, page_url(page, config), page.description) for page in site.pages]),
        ("Terms", [(term.title, term_url(term.slug), "") for term in site.terms]),
        ("Optional", [("Worklog", WORKLOG, "What was done each day, unpolished.")] if site.worklog else []),
    ]
    head = [f"# {config.title}", *([f"> {config.description}"] if config.description else [])]
    listed = [
        f"## {title}\n\n" + "\n".join(_listed(config, *line) for line in lines) for title, lines in sections if lines
    ]
    return LLMS, "\n\n".join([*head, *listed]) + "\n"


def _listed(config: SiteConfig, title: str, url: str, note: str) -> str:
    link = f"- [{title}]({absolute(twin_path(output_path(url)), config)})"
    return f"{link}: {note}" if note else link


def _read_back(html: str, url: str) -> str:
    main = _MAIN.search(html)
    return to_markdown(main[1] if main else html, url)


def _written(sources: Sources, text: object) -> WrittenText | None:
    config = sources.config
    match text:
        case Post(body=body):
            facts = [sources.stamp(text.date), *([f"updated {sources.stamp(text.updated)}"] if text.updated else [])]
            facts += [", ".join(ref.name for ref in text.tags)] if text.tags else []
            place = Place(document_key(body), sources.post_url(text), text, text.lang)
            return WrittenText(body, place, text.title, text.description, tuple(facts))
        case Page(body=body):
            place = Place(document_key(body), page_url(text, config), lang=text.lang)
            return WrittenText(body, place, text.title, text.description)
        case Term(body=body):
            return WrittenText(body, Place(document_key(body), term_url(text.slug)), text.title)
        case WorklogEntry(body=body):
            return WrittenText(body, Place(document_key(body), day_url(text.date)), text.date.isoformat())
    return None


def _resolved(printer: Printer, written: WrittenText) -> str:
    sources, place = printer.sources, written.place
    url = absolute(place.here, sources.config)
    lines, first = _source(sources, written.body)
    text = _Text(printer, sources.document(written.body), place, url, lines, first)
    parts = [f"# {written.title}", *([f"> {written.lede}"] if written.lede else []), " · ".join((*written.facts, url))]
    parts.append("\n".join(text.resolved()).strip("\n"))
    if works := sources.linked.references.get(place.name):
        spoken = printer.language(place.lang)
        parts.append(to_markdown(str(references(text.document, works, spoken)), url).strip("\n"))
    return "\n\n".join(filter(None, parts)) + "\n"


def _source(sources: Sources, body: Markdown) -> tuple[list[str], int]:
    """Return the lines of a text and the number of the first.  A cached build keeps no text, so the text is then read
    from its file.
    """
    if not body.text and body.path in sources.site.files:
        body = split_front_matter(sources.site.files[body.path], body.path)[0].body
    return body.text.split("\n"), body.first_line


@dataclass(frozen=True, slots=True)
class _Text:
    """The lines of a text and the contents of its slots."""

    printer: Printer
    document: Document
    place: Place
    url: str
    lines: list[str]
    first: int

    def resolved(self) -> Iterator[str]:
        blocks, words = self._blocks(), self._words()
        defined = {word.written: word.shown for line in words.values() for word in line}
        code, at = "", 0
        while at < len(self.lines):
            line = self.lines[at]
            fence = _FENCE.match(line)
            if at in blocks and fence:
                yield from (f"{fence[1]}{one}".rstrip() for one in blocks[at].split("\n"))
                at = self._end(at, fence)
            else:
                code = _open_fence(code, fence)
                yield line if code else self._line(line, words.get(at, ()), defined)
            at += 1

    def _end(self, at: int, opened: re.Match[str]) -> int:
        """Return the line that closes the fence which line `at` opens."""
        for number in range(at + 1, len(self.lines)):
            closing = _FENCE.match(self.lines[number])
            if closing and closing[2].startswith(opened[2]) and not self.lines[number][closing.end() :].strip(" `~:"):
                return number
        return len(self.lines) - 1

    def _blocks(self) -> dict[int, str]:
        """Return the Markdown of each directive with a slot, by the line where the directive begins."""
        by_line = {}
        contents = contents_of(self.printer, self.document, self.place)
        for index, slot in enumerate(self.document.slots):
            if isinstance(slot, ClaimSlot):
                line = slot.span.line - self.first
                by_line[line] = self._claim(line, index)
            elif isinstance(slot, ListingSlot | CellSlot | BenchmarkSlot | RooflineSlot | PlotSlot):
                by_line[self._span(slot).line - self.first] = to_markdown(contents[index], self.url).strip("\n")
        return by_line

    def _claim(self, line: int, index: int) -> str:
        """Return the sentence of a claim that begins on `line`, and its evidence as a list below."""
        fence = _FENCE.match(self.lines[line])
        last = self._end(line, fence) if fence else line
        words = self._words()
        sentence = [self._line(self.lines[at], words.get(at, ()), {}) for at in range(line + 1, last)]
        evidence = to_markdown(str(fill_slot(self.printer, self.document, self.place, index)), self.url)
        return "\n".join([*sentence, "", evidence.strip("\n")])

    def _span(self, slot: ListingSlot | CellSlot | BenchmarkSlot | RooflineSlot | PlotSlot) -> Span:
        if isinstance(slot, CellSlot):
            return next(cell.span for cell in self.document.cells if cell.label == slot.label)
        return slot.span

    def _words(self) -> dict[int, list[_Word]]:
        """Return the changes of each line, by line, the rightmost first."""
        changes = self._figures()
        for index, slot in enumerate(self.document.slots):
            if isinstance(slot, CiteSlot):
                shown = fill_slot(self.printer, self.document, self.place, index).striptags()
                changes.setdefault(slot.span.line - self.first, []).append(
                    _Word(slot.span.col - 1, slot.written, shown)
                )
            elif isinstance(slot, OutputSlot):
                shown = fill_slot(self.printer, self.document, self.place, index).striptags()
                role = "{output}`"
                word = _Word(slot.span.col - 1 - len(role), f"{role}{slot.written}`", shown)
                changes.setdefault(slot.span.line - self.first, []).append(word)
            elif isinstance(slot, LinkSlot | ImageSlot | FileSlot | TermSlot):
                written = slot.name if isinstance(slot, TermSlot) else slot.target
                href = self.printer.sources.linked.hrefs.get((self.place.name, index), written)
                word = _Word(slot.span.col - 1, written, absolute(href, self.printer.sources.config))
                changes.setdefault(slot.span.line - self.first, []).append(word)
        return {line: sorted(words, key=lambda word: -word.col) for line, words in changes.items()}

    def _figures(self) -> dict[int, list[_Word]]:
        """Return the figures of records, each in the place of its role."""
        slots = [(at, slot) for at, slot in enumerate(self.document.slots) if isinstance(slot, ValueSlot)]
        if not slots:
            return {}
        from sitegen.render.texts.values import plain_figures

        changes: dict[int, list[_Word]] = {}
        shown = plain_figures(self.printer, self.document, self.place.lang)
        for at, slot in slots:
            role = f"{{{'predicted' if slot.value.is_predicted else 'value'}}}`"
            word = _Word(slot.span.col - 1 - len(role), f"{role}{slot.value.text}`", shown[at])
            changes.setdefault(slot.span.line - self.first, []).append(word)
        return changes

    def _line(self, line: str, words: Sequence[_Word], defined: Mapping[str, str]) -> str:
        if definition := _DEFINITION.fullmatch(line):
            return f"{definition[1]}{defined.get(definition[2], definition[2])}{definition[3]}"
        for word in words:
            if line.startswith(word.written, word.col) and not _in_role(line, word.col):
                line = line[: word.col] + word.shown + line[word.col + len(word.written) :]
        return _ROLE.sub(
            lambda role: _role_as_markdown(role, {word.written.lower(): word.shown for word in words}), line
        )


def _open_fence(code: str, fence: re.Match[str] | None) -> str:
    """Return the fence of the code that a line is in, given that of the line before; empty outside of code."""
    if not fence or fence[2].startswith(":"):
        return code
    if not code:
        return fence[2]
    return "" if fence[2].startswith(code) else code


def _in_role(line: str, col: int) -> bool:
    """Return whether the place is inside a role, whose words are its text and its target at once."""
    return any(role.start() < col < role.end() for role in _ROLE.finditer(line))


def _role_as_markdown(role: re.Match[str], links: Mapping[str, str]) -> str:
    """Return a role as Markdown.  `{kernel}` and `{term}` become links where there is such a page."""
    name, text = role[1], role[3].strip()
    other = _OTHER_WORDS.fullmatch(text) if name == "term" else None
    text, wanted = (other[1], other[2].lower()) if other else (text, text.lower())
    if name == "given":
        text = text.rpartition(";")[0].strip() or text
    if name == "kernel":
        wanted = f"/{kernel_url(text.split('/')[0])}"
    shown = f"`{text}`" if name in _AS_CODE else f"${text}$" if name == "math" else text
    return f"[{shown}]({links[wanted]})" if name in _LINKED and wanted in links else shown
