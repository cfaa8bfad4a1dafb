"""The blocks of a kramdown text → MyST: listings, formulas, quotes, tables, HTML, headings, attribute lists.

After https://kramdown.gettalong.org/syntax.html and lib/kramdown/parser of gettalong/kramdown, kramdown/parser-gfm.
Lines are read from the top; what is no other block is a paragraph, which `inline` reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sitegen.highlight.lines import is_known
from sitegen.importing.jekyll.attributes import read_attributes, say_others, written
from sitegen.importing.jekyll.formulas import formula_id
from sitegen.importing.jekyll.headings import Headings
from sitegen.importing.jekyll.html import SPANS, TAG, block_html, element_end, is_refused, shown, tag_html
from sitegen.importing.jekyll.inline import converted, definition, images_elsewhere, is_definition, referred
from sitegen.importing.jekyll.inserts import MARK, code_span, fenced
from sitegen.importing.jekyll.places import Room
from sitegen.importing.jekyll.tables import as_github, is_table
from sitegen.importing.jekyll.work import Work
from sitegen.markup.directives.callouts import KINDS

_FENCE = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_LIST_ITEM = re.compile(r"([ \t]*)([-*+]|\d+[.)])([ \t]+)\S")
_LIST_ATTRIBUTES = re.compile(r"([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\{:([^{}\n]*)\}[ \t]*")
_ATTRIBUTES = re.compile(r"[ \t]*\{:(?!:)(?P<list>[^{}\n]*)\}[ \t]*")
_NAMED_LIST = re.compile(r"[ ]{0,3}\{:([\w-]+):([^{}\n]*)\}[ \t]*")
_EXTENSION = re.compile(r"[ ]{0,3}\{::?(/?)(\w*)([^{}\n]*?)(/?)\}[ \t]*")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*$")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*")
_FORMULA = re.compile(r"([ \t]*)\$\$(?!\$)")
_ENVIRONMENT = re.compile(r"[ ]{0,3}\\begin\{(equation|align|gather|multline|eqnarray|alignat)(\*?)\}")
_ESCAPED = re.compile(r"\\(\\\\|[*_])")
"""What kramdown takes away in text, which an environment is to it: `\\*` is a star, four backslashes are two."""
_NOTE = re.compile(r"[ ]{0,3}\[\^([^\]\s]+)\]:")
_ABBREVIATION = re.compile(r"[ ]{0,3}\*\[[^\]]+\]:")
_CALLOUT = re.compile(rf"(?:block|prompt|notice|alert|callout)?-{{0,2}}({'|'.join(KINDS)}|info)", re.IGNORECASE)
_EMPTY_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")


def blocks(text: str, numbers: Sequence[int], work: Work) -> str:
    """`numbers` are the lines of the file that the lines of `text` came from."""
    lines = text.split("\n")
    notes = frozenset(found[1] for line in lines if (found := _NOTE.match(line)))
    work.formulas.read(work.inserts.verbatim(text))
    work.elsewhere |= images_elsewhere(lines, work)
    reader = _Blocks(lines, numbers, work, notes, Headings(work.site.config.is_gfm))
    read = "\n".join(reader.run()).rstrip("\n")
    return referred("\n".join([read, *(["", *work.notes] if work.notes else []), ""]), work)


def html_text(text: str, numbers: Sequence[int], work: Work) -> str:
    """A document that is HTML: no Markdown is read in it."""
    return block_html(text.strip("\n"), numbers[0], work) + "\n"


@dataclass(slots=True)
class _Blocks:
    lines: Sequence[str]
    numbers: Sequence[int]
    work: Work
    notes: frozenset[str]
    headings: Headings
    out: list[str] = field(default_factory=list)
    at: int = 0
    start: int = 0
    """Where the last block begins in `out`."""
    kind: str = ""
    """Of the last block, while nothing stands below it: what an attribute list there belongs to."""
    column: int | None = None
    """Where the text of the last list item begins, within a list."""

    def run(self) -> list[str]:
        readers = (
            self.blank,
            self.listing,
            self.attributes,
            self.extension,
            self.insert,
            self.formula,
            self.environment,
            self.html,
            self.quote,
            self.heading,
            self.indented,
            self.table,
            self.paragraph,
        )
        while self.at < len(self.lines):
            begin = self.at
            next(reader for reader in readers if reader())
            assert self.at > begin
        return self.out

    @property
    def line(self) -> str:
        return self.lines[self.at]

    @property
    def number(self) -> int:
        return self.numbers[min(self.at, len(self.numbers) - 1)]

    @property
    def after_blank(self) -> bool:
        return self.at == 0 or not self.lines[self.at - 1].strip() or not self.out or not self.out[-1].strip()

    def put(self, kind: str, written: Sequence[str], upto: int) -> bool:
        """A block of the output, of the lines up to there."""
        if written and not written[0]:
            self.gap()
            written = written[1:]
        self.start, self.kind = len(self.out), kind
        self.out += written
        self.at = upto
        return True

    def inline(self, text: str, at: int | None = None) -> str:
        number = self.numbers[min(self.at if at is None else at, len(self.numbers) - 1)]
        return converted(text, number, self.work, self.notes)

    def warn(self, code: str, message: str, words: str, hint: str) -> None:
        self.work.warn(code, message, words, self.number, hint)

    def blank(self) -> bool:
        if self.line.strip() and self.line.strip() != "^":
            return False
        self.kind = ""
        following = next((line for line in self.lines[self.at :] if line.strip()), "")
        if following and not following.startswith((" ", "\t")) and not _LIST_ITEM.match(following):
            self.column = None
        self.gap()
        self.at += 1
        return True

    def gap(self) -> None:
        """One blank line, not two."""
        if self.out and self.out[-1].strip():
            self.out.append("")

    def listing(self) -> bool:
        """A fence, wherever it stands; what is between its marks stays as it is."""
        found = _FENCE.match(self.line)
        if found is None:
            return False
        marks = found["marks"]
        closing = re.compile(rf"[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$")
        end = next((at for at in range(self.at + 1, len(self.lines)) if closing.match(self.lines[at])), None)
        if end is None:
            return False
        inside = [self.work.inserts.verbatim(line) for line in self.lines[self.at + 1 : end]]
        info = self.info(self.work.inserts.verbatim(found["info"]).strip())
        first = f"{found['lead']}{marks}{info}"
        return self.put("listing", [first, *inside, self.lines[end]], end + 1)

    def info(self, info: str) -> str:
        """The language alone; no listing of a Jekyll site is a directive, which `{word}` would be here."""
        language, _, rest = info.partition(" ")
        plain = language.strip("{}.") if language.startswith("{") else language.partition("?")[0].partition("{")[0]
        if rest.strip() or plain != language:
            self.warn("SG605", f"`{info}` after a fence: only the language is known", info, f"it is `{plain}` now")
        known = is_known(plain.lower())
        if not known:
            self.warn("SG605", f"unknown language `{plain}`", plain, "the listing is shown as plain text")
        return plain if known else ""

    def attributes(self) -> bool:
        """`{: #id .class}` on a line of its own belongs to the block above it, else to the one below."""
        if found := _NAMED_LIST.fullmatch(self.line):
            self.work.lists[found[1]] = found[2]
            self.at += 1
            return True
        found = _ATTRIBUTES.fullmatch(self.line)
        if found is None:
            return False
        given = read_attributes(found["list"], self.work)
        say_others(given, self.work, self.number, self.line)
        kept = written(given)
        if "toc" in given.others and self.kind == "paragraph":
            del self.out[self.start :]  # kramdown puts the contents in the place of this list; here they stand beside
        elif self.kind == "listing" and (style := next((s for s in given.classes if s.startswith("language-")), "")):
            self.name_language(style.removeprefix("language-"))
        elif self.kind == "quote" and (callout := _callout_of(given.classes)):
            self.out[self.start :] = _alert(self.out[self.start :], callout)
        elif self.kind == "heading" and given.id:
            self.out[self.start] = re.sub(r" \{#[^{}]*\}$", "", self.out[self.start]) + f" {{#{given.id}}}"
        elif kept and self.kind not in ("heading", "html", "listing"):
            indent = self.line[: len(self.line) - len(self.line.lstrip())]
            self.out.insert(self.start if self.kind else len(self.out), indent + kept)
        self.at += 1
        return True

    def name_language(self, language: str) -> None:
        """To the last listing, which may be an indented one."""
        if not self.out[self.start].lstrip().startswith(("```", "~~~")):
            self.out[self.start :] = fenced(_dedented(self.out[self.start :])).split("\n")
        if is_known(language.lower()) and not re.search(r"[`~]\w", self.out[self.start]):
            self.out[self.start] += language

    def extension(self) -> bool:
        """`{::comment}`, `{::nomarkdown}`, `{::options /}`."""
        found = _EXTENSION.fullmatch(self.line)
        if found is None or not self.line.lstrip().startswith(("{::", "{:/")):
            return False
        closing = re.compile(rf"[ ]{{0,3}}\{{:/{found[2]}?\}}[ \t]*")
        end = next((at for at in range(self.at + 1, len(self.lines)) if closing.fullmatch(self.lines[at])), None)
        if found[2] == "comment" and end is not None:
            return self.put("html", ["<!--", *self.lines[self.at + 1 : end], "-->"], end + 1)
        if found[2] == "nomarkdown" or found[1]:
            self.at += 1
            return True
        self.warn("SG605", f"`{self.line.strip()}` is not understood", self.line, "it stays in the text as it is")
        return self.put("paragraph", [code_span(self.line.strip())], self.at + 1)

    def insert(self) -> bool:
        """A line that is nothing but a piece of Liquid."""
        block = self.work.inserts.block(self.line)
        if block is None:
            return False
        many = "\n" in block or block.startswith("<")
        if many and not self.after_blank and self.column is None:
            self.gap()
        self.put("insert", block.split("\n"), self.at + 1)
        if many and self.at < len(self.lines) and self.lines[self.at].strip() and block.startswith("<"):
            self.out.append("")
        return True

    def formula(self) -> bool:
        """Two dollar signs that begin a line and end one, maybe the same."""
        found = _FORMULA.match(self.line)
        if found is None:
            return False
        text = "\n".join(self.lines[self.at :])
        start = found.end()
        end = text.find("$$", start)
        if end < 0 or "\n\n" in text[start:end] or text[end + 2 :].partition("\n")[0].strip():
            return False
        count = text.count("\n", 0, end) + 1
        single = count == 1 and not (self.after_blank and self.ends_block(self.at + 1))
        if single:
            return False
        return self.put("formula", self.shown_formula(text[start:end], found[1]), self.at + count)

    def ends_block(self, at: int) -> bool:
        return at >= len(self.lines) or not self.lines[at].strip() or _ATTRIBUTES.fullmatch(self.lines[at]) is not None

    def environment(self) -> bool:
        """`\\begin{equation}`: MathJax finds it in the text, kramdown knows nothing of it."""
        found = _ENVIRONMENT.match(self.line)
        if found is None:
            return False
        closing = f"\\end{{{found[1]}{found[2]}}}"
        end = next((at for at in range(self.at, len(self.lines)) if closing in self.lines[at]), None)
        if end is None or self.lines[end].partition(closing)[2].strip():
            return False
        source = "\n".join(self.lines[self.at : end + 1]).strip()
        source = _ESCAPED.sub(r"\1", source)
        if found[1] == "equation":
            source = source.removeprefix(found[0].strip()).removesuffix(closing)
        return self.put("formula", self.shown_formula(source, ""), end + 1)

    def shown_formula(self, source: str, indent: str) -> list[str]:
        """Between lines of dollar signs; a `\\label` is the label of the whole, and its number is shown."""
        tex = self.work.inserts.verbatim(source)
        if self.work.formulas.only_defines(tex):
            return []
        tex, label = self.work.formulas.displayed(tex)
        lines = [line for line in tex.strip("\n").split("\n") if line.strip()]
        name = f" ({formula_id(label)})" if label else ""
        gap = [] if self.after_blank else [""]
        after = [] if self.ends_block_after(source) else [""]
        return [*gap, f"{indent}$$", *(f"{indent}{line.strip()}" for line in lines), f"{indent}$${name}", *after]

    def ends_block_after(self, source: str) -> bool:
        end = self.at + source.count("\n") + 1
        return self.ends_block(end)

    def html(self) -> bool:
        """An element of HTML that begins a line; what stands in it is no Markdown unless it says so."""
        text = self.line.lstrip(" ")
        if len(self.line) - len(text) > 3 or not text.startswith("<"):
            return False
        if text.startswith("<!--"):
            return self.remark()
        tag = TAG.match("\n".join(self.lines[self.at :]).lstrip(" "))
        if tag is None or tag[2].lower() in SPANS:
            return False
        return self.element(tag)

    def remark(self) -> bool:
        end = next((at for at in range(self.at, len(self.lines)) if "-->" in self.lines[at]), None)
        if end is None:
            return False
        inside = [self.work.inserts.verbatim(line) for line in self.lines[self.at : end + 1]]
        return self.put("html", inside, end + 1)

    def element(self, tag: re.Match[str]) -> bool:
        rest = "\n".join(self.lines[self.at :])
        lead = len(rest) - len(rest.lstrip(" "))
        end = element_end(rest, lead)
        if end is None:  # nothing closes it: the block ends at a blank line
            end = re.search(r"\n[ \t]*\n|\Z", rest).start()  # type: ignore[union-attr]
        source = rest[lead:end]
        upto = self.at + rest.count("\n", 0, end) + 1
        after = rest[end:].partition("\n")[0].strip()
        gap = [] if self.after_blank else [""]
        name = tag[2].lower()
        if is_refused(name) and not tag[1]:
            lines = self.refused(source, name)
        elif "markdown=" in source and re.search(r"<[^>]+\bmarkdown=[\"']?(?!0)", source):
            lines = self.with_markdown(source, tag)
        else:
            lines = block_html(source, self.number, self.work).split("\n")
        more = [self.inline(after, upto - 1)] if after else []
        ends = upto >= len(self.lines) or not self.lines[upto].strip()
        return self.put("html", [*gap, *lines, *([""] if more else []), *more, *([] if ends else [""])], upto)

    def refused(self, source: str, name: str) -> list[str]:
        html = shown(source, name, self.number, self.work)
        return [html] if html.startswith("<a ") else fenced(self.work.inserts.verbatim(source), "html").split("\n")

    def with_markdown(self, source: str, tag: re.Match[str]) -> list[str]:
        """The tags on lines of their own, blank lines around what is Markdown between them."""
        closing = re.search(rf"</{tag[2]}\s*>\s*$", source, re.IGNORECASE)
        body = source[len(tag[0]) : closing.start() if closing else len(source)]
        first = self.at + tag[0].count("\n")
        summary = re.match(r"\s*(<summary\b[^>]*>.*?</summary>)", body, re.DOTALL)
        lines = [tag_html(tag, self.number, self.work)]
        if summary:
            lines.append(block_html(summary[1], self.number, self.work))
            first += body.count("\n", 0, summary.end())
            body = body[summary.end() :]
        below = _dedented(body.split("\n")).split("\n")
        inner = _Blocks(below, self.numbers[first:], self.work, self.notes, self.headings)
        end = [tag_html(TAG.match(closing[0].strip()), self.number, self.work)] if closing else []  # type: ignore[arg-type]
        return [*lines, "", *_trimmed(inner.run()), "", *end]

    def quote(self) -> bool:
        """Lines that begin with `>`, and those that go on without; read as a text of its own."""
        if not re.match(r"[ ]{0,3}>", self.line):
            return False
        end = self.at
        while end < len(self.lines) and self.lines[end].strip() and not _ATTRIBUTES.fullmatch(self.lines[end]):
            end += 1
        inside = [re.sub(r"^[ ]{0,3}>[ ]?", "", line) for line in self.lines[self.at : end]]
        reader = _Blocks(inside, self.numbers[self.at : end], self.work, self.notes, self.headings)
        return self.put("quote", [f"> {line}".rstrip() for line in _trimmed(reader.run())], end)

    def heading(self) -> bool:
        """With the id that it had, where the text alone would give another."""
        found = _HEADING.fullmatch(self.line)
        underlined = None
        if found is None and self.after_blank and self.at + 1 < len(self.lines):
            underlined = _UNDERLINE.fullmatch(self.lines[self.at + 1])
            if underlined is None or not self.line.strip() or _LIST_ITEM.match(self.line) or "|" in self.line:
                return False
        if found is None and underlined is None:
            return False
        marks = found[1] if found else "#" if (underlined and underlined[0].startswith("=")) else "##"
        text = re.sub(r"[ \t]+#+(?=[ \t]*(?:\{#[^{}]*\})?$)", "", found[2]) if found else self.line.strip()
        own = re.search(r"[ \t]*\{:?[ \t]*#([\w:.-]+)[^{}]*\}$", text)
        plain = text[: own.start()] if own else text
        shown_text = self.inline(plain)
        kept = "" if self.work.place.room is Room.WORKLOG else self.headings.id_to_write(plain, shown_text)
        name = own[1] if own else kept  # a heading of a worklog may be a day, and then is nothing else
        self.column = None
        suffix = f" {{#{name}}}" if name else ""
        return self.put("heading", [f"{marks} {shown_text}{suffix}"], self.at + (1 if found else 2))

    def indented(self) -> bool:
        """Four spaces more than the text around it."""
        least = (self.column or 0) + 4
        if not self.after_blank or self.indent_of(self.at) < least:
            return False
        end = self.at
        while end < len(self.lines) and (not self.lines[end].strip() or self.indent_of(end) >= least):
            end += 1
        while not self.lines[end - 1].strip():
            end -= 1
        return self.put("listing", [self.work.inserts.verbatim(line) for line in self.lines[self.at : end]], end)

    def indent_of(self, at: int) -> int:
        line = self.lines[at].expandtabs(4)
        return len(line) - len(line.lstrip())

    def table(self) -> bool:
        if not self.after_blank or self.line.startswith(("    ", "\t")):
            return False
        end = self.at
        while end < len(self.lines) and self.lines[end].strip() and not _ATTRIBUTES.fullmatch(self.lines[end]):
            end += 1
        if not is_table(self.lines[self.at : end]):
            return False
        rows = as_github(self.lines[self.at : end])
        return self.put("table", [self.inline(row) for row in rows], end)

    def paragraph(self) -> bool:
        """Up to a blank line, or a line that begins another block."""
        item = _LIST_ITEM.match(self.line)
        if item:
            self.column = len(item[0].expandtabs(4)) - 1
        elif _NOTE.match(self.line):
            self.column = 4
        if (found := definition(self.line, self.number, self.work)) is not None:
            return self.put("paragraph", [found], self.at + 1)
        if _ABBREVIATION.match(self.line):
            self.warn("SG605", "abbreviations are not known here", self.line, "the line stays in the text as it is")
            return self.put("paragraph", [f"\\{self.line.lstrip()}"], self.at + 1)
        end = self.at + 1
        while end < len(self.lines) and not self.begins_block(end):
            end += 1
        text = "\n".join(self.without_item_attributes(at) for at in range(self.at, end))
        begin = self.at
        shown_text = self.inline(text, begin)
        if shown_text.startswith(":::"):
            shown_text = f"\\{shown_text}"
        return self.put("paragraph", shown_text.split("\n"), end)

    def without_item_attributes(self, at: int) -> str:
        line = self.lines[at]
        found = _LIST_ATTRIBUTES.match(line)
        if found is None:
            return line
        given = read_attributes(found[2], self.work)
        say_others(given, self.work, self.numbers[at], line)
        if kept := written(given):
            hint = "a list item has no attributes here"
            self.work.warn("SG605", f"`{kept}` is left out", found[2].strip(), self.numbers[at], hint)
        return found[1] + line[found.end() :]

    def begins_block(self, at: int) -> bool:
        line = self.lines[at]
        if not line.strip() or line.strip() == "^" or _ATTRIBUTES.fullmatch(line) or _FENCE.match(line):
            return True
        if re.match(r"[ ]{0,3}>", line) or _HEADING.fullmatch(line) or MARK.fullmatch(line.strip()):
            return True
        if _FORMULA.match(line) and line.strip() == "$$":
            return True
        if _LIST_ITEM.match(line) or _ENVIRONMENT.match(line) or _EXTENSION.fullmatch(line) or is_definition(line):
            return True
        tag = TAG.match(line.lstrip(" "))
        return tag is not None and tag[2].lower() not in SPANS and len(line) - len(line.lstrip(" ")) < 4


def _callout_of(classes: Sequence[str]) -> str:
    found = next((match for name in classes if (match := _CALLOUT.fullmatch(name))), None)
    return "" if found is None else {"info": "note"}.get(found[1].lower(), found[1].lower())


def _alert(quote: Sequence[str], kind: str) -> list[str]:
    """A quote whose first line says what it is; a heading in it that says the same goes."""
    lines = list(quote)
    heading = _EMPTY_HEADING.fullmatch(re.sub(r" \{#[^{}]*\}$", "", lines[0].removeprefix("> ")))
    title = ""
    if heading:
        title = "" if heading[1].strip().lower() == kind else heading[1].strip()
        lines = lines[1:]
        while lines and lines[0].strip() == ">":
            lines = lines[1:]
    return [f"> [!{kind.upper()}] {title}".rstrip(), *lines]


def _dedented(lines: Sequence[str]) -> str:
    """Without the indentation that all lines have, as kramdown reads what is in an element."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents, default=0)
    return "\n".join(line[least:] if line.strip() else "" for line in lines)


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Without the blank lines at both ends."""
    return "\n".join(lines).strip("\n").split("\n")
