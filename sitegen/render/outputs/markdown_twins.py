"""Turn pages into Markdown twins for programs that read text, and list the twins in `llms.txt`.

The twin of a post, a page, a term or a day is the author's text with every slot resolved: a measurement becomes a
table, a listing its code, and a link absolute.  The twins of all other pages are made from their HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    Slot,
    TermSlot,
    ValueSlot,
)
from sitegen.model.linked import document_key
from sitegen.model.markdown_text import as_words
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
from sitegen.render.outputs.twin_lines import (
    FENCE,
    ChangedWord,
    changed_targets,
    end_of_fence,
    in_order,
    joined,
    line_of_twin,
    lines_of_twin,
)
from sitegen.render.shared.frame import Printer
from sitegen.render.texts.citations import references
from sitegen.render.texts.filled_slots import Place, contents_of, fill_slot

LLMS = "llms.txt"
_MAIN = re.compile(r"<main\b[^>]*>(.*)</main>", re.DOTALL)


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
    parts = [_head(written, url), text.resolved()]
    if works := sources.linked.references.get(place.name):
        spoken = printer.language(place.lang)
        parts.append(to_markdown(str(references(text.document, works, spoken)), url).strip("\n"))
    return joined(*parts)


def _head(written: WrittenText, url: str) -> str:
    """Return what stands above the text: title, description, facts and address."""
    lede = f"> {written.lede}" if written.lede else ""
    return joined(f"# {written.title}", lede, " · ".join((*written.facts, url))).rstrip("\n")


def head_and_targets(sources: Sources, text: Post | WorklogEntry) -> tuple[str, ...]:
    """Return the head of the twin of a text, and the whole address of the target of each slot of the text."""
    written = _written(sources, text)
    assert written is not None
    slots = sources.document(written.body).slots
    targets = (_target(sources, written.place, at, slot) for at, slot in enumerate(slots))
    return _head(written, absolute(written.place.here, sources.config)), *targets


def _target(sources: Sources, place: Place, index: int, slot: Slot) -> str:
    """Return the whole address of the target of a link, an image, a file or a term; empty for another slot."""
    if not isinstance(slot, LinkSlot | ImageSlot | FileSlot | TermSlot):
        return ""
    written = slot.name if isinstance(slot, TermSlot) else slot.target
    return absolute(sources.linked.hrefs.get((place.name, index), written), sources.config)


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

    def resolved(self) -> str:
        """Return the text with every slot resolved."""
        return "\n".join(lines_of_twin(self.lines, self._blocks(), self._words())).strip("\n")

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
        fence = FENCE.match(self.lines[line])
        last = end_of_fence(self.lines, line, fence) if fence else line
        words = self._words()
        sentence = [line_of_twin(self.lines[at], words.get(at, ()), {}) for at in range(line + 1, last)]
        evidence = to_markdown(str(fill_slot(self.printer, self.document, self.place, index)), self.url)
        return "\n".join([*sentence, "", evidence.strip("\n")])

    def _span(self, slot: ListingSlot | CellSlot | BenchmarkSlot | RooflineSlot | PlotSlot) -> Span:
        if isinstance(slot, CellSlot):
            return next(cell.span for cell in self.document.cells if cell.label == slot.label)
        return slot.span

    def _words(self) -> dict[int, list[ChangedWord]]:
        """Return the changes of each line, by line, the rightmost first."""
        sources, slots = self.printer.sources, self.document.slots
        targets = [_target(sources, self.place, at, slot) for at, slot in enumerate(slots)]
        changes = self._figures()
        for line, words in changed_targets(slots, self.first, targets).items():
            changes.setdefault(line, []).extend(words)
        for index, slot in enumerate(slots):
            if isinstance(slot, CiteSlot | OutputSlot):
                shown = fill_slot(self.printer, self.document, self.place, index).striptags()
                role = "{output}`" if isinstance(slot, OutputSlot) else ""
                written = f"{role}{slot.written}`" if role else slot.written
                word = ChangedWord(slot.span.col - 1 - len(role), written, as_words(shown))
                changes.setdefault(slot.span.line - self.first, []).append(word)
        return in_order(changes)

    def _figures(self) -> dict[int, list[ChangedWord]]:
        """Return the figures of records, each in the place of its role."""
        slots = [(at, slot) for at, slot in enumerate(self.document.slots) if isinstance(slot, ValueSlot)]
        if not slots:
            return {}
        from sitegen.render.texts.values import plain_figures

        changes: dict[int, list[ChangedWord]] = {}
        shown = plain_figures(self.printer, self.document, self.place.lang)
        for at, slot in slots:
            role = f"{{{'predicted' if slot.value.is_predicted else 'value'}}}`"
            word = ChangedWord(slot.span.col - 1 - len(role), f"{role}{slot.value.text}`", as_words(shown[at]))
            changes.setdefault(slot.span.line - self.first, []).append(word)
        return changes
