"""Turn source code into the figure of a page: one element a line, marked as its `Look` says."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from sitegen.highlight.lines import highlighted_lines, language_name
from sitegen.markup.captions import caption
from sitegen.markup.lines import NO_LINES, Lines, Regions, resolve
from sitegen.markup.words import join_units
from sitegen.model.listing import Look, Note
from sitegen.model.vocabulary import ENGLISH, Vocabulary

_PLAIN = Look()


def code_figure(
    code: str,
    language: str,
    look: Look = _PLAIN,
    *,
    regions: Regions | None = None,
    title: str = "",
    region: str = "",
    against: str = "",
    label: str = "",
    href: str = "",
    wide: bool = False,
    spoken: Vocabulary = ENGLISH,
) -> str:
    """Return the HTML of a listing.

    `title` is a path or a name, which links to `href`; `against` is the name of the code that the lines are compared
    with.  `label` names the scroller for readers who do not see it.  `regions` are the regions of the code by name; a
    name in `look` that is not among them marks nothing.
    """
    name = label or _label(title, language, spoken)
    anchor = f' id="{escape(look.id)}"' if look.id else ""
    lines = listing(code, language, look, regions, spoken)
    written_in = f' class="language-{escape(language)}"' if language_name(language) else ""
    figure = (
        f'<figure class="{_classes(look, wide)}"{anchor}>\n'
        f"<figcaption>{_caption(title, region, against, language, href, look, spoken)}</figcaption>\n"
        f'<pre tabindex="0" role="group" aria-label="{escape(name)}">'
        f"<code{written_in}>{''.join(lines)}</code></pre>\n</figure>\n"
    )
    return _folded(figure, look, title, len(lines), spoken) if look.folded else figure


def _label(title: str, language: str, spoken: Vocabulary) -> str:
    if title:
        return spoken.say("Source of {title}", title=title)
    return spoken.say("{language} listing", language=language_name(language) or spoken.say("Plain text"))


def listing(
    code: str, language: str, look: Look = _PLAIN, regions: Regions | None = None, spoken: Vocabulary = ENGLISH
) -> list[str]:
    """Return the HTML of each line: a `del`, `ins` or `span` with its classes and the numbers of its notes."""
    count = code.rstrip("\n").count("\n") + 1
    shown, _ = resolve(look, count, regions or {})
    html = _highlighted(code, language, shown.deleted, shown.inserted)
    if shown is NO_LINES and look.first_number == 1:
        return [f'<span class="ln">{line}\n</span>' for line in html]
    numbers = _numbers(len(html), look, shown)
    return [_line(at, line, next(numbers), shown, spoken) for at, line in enumerate(html, start=1)]


def _highlighted(code: str, language: str, deleted: frozenset[int], inserted: frozenset[int]) -> list[str]:
    """Return the HTML of each line, highlighted in its own version: old lines never break strings of new lines."""
    if not deleted:
        return list(highlighted_lines(code, language))
    written = code.rstrip("\n").split("\n")
    return [
        html
        for _, html in sorted(
            (*_version(written, language, deleted), *_version(written, language, inserted, only=deleted))
        )
    ]


def _version(
    written: list[str], language: str, without: frozenset[int], only: frozenset[int] | None = None
) -> list[tuple[int, str]]:
    """Return number and HTML of each line of a version `without` some lines; `only` limits them to certain lines."""
    kept = [at for at in range(1, len(written) + 1) if at not in without]
    html = highlighted_lines("\n".join([written[at - 1] for at in kept]), language)
    with_ends = (*html, *[""] * len(kept))  # empty lines at the end have no HTML
    return [(at, line) for at, line in zip(kept, with_ends, strict=False) if only is None or at in only]


def _numbers(count: int, look: Look, lines: Lines) -> Iterator[str]:
    """Yield the attribute with the number of each line; empty where the style sheet's count from 1 is right."""
    number = look.first_number
    for at in range(1, count + 1):
        gone = at in lines.deleted
        yield f' data-n="{number}"' if look.numbered and look.first_number != 1 and not gone else ""
        number += not gone


def _line(at: int, html: str, number: str, lines: Lines, spoken: Vocabulary) -> str:
    tag = "del" if at in lines.deleted else "ins" if at in lines.inserted else "span"
    classes = "ln" + (" hl" if at in lines.highlighted else "") + (" fo" if at in lines.focused else "")
    marks = "".join(_mark(note, first, spoken) for note, first in lines.notes.get(at, ()))
    return f'<{tag} class="{classes}"{number}>{marks}{html}\n</{tag}>'


def _mark(note: Note, first: bool, spoken: Vocabulary) -> str:
    label = escape(spoken.say("Note {n}", n=note.number))
    anchor = f' id="{escape(note.id)}-line"' if first else ""
    return f'<a class="mk" href="#{escape(note.id)}"{anchor} aria-label="{label}">{note.number}</a>'


def _classes(look: Look, wide: bool) -> str:
    chosen = {"wide": wide, "nums": look.numbered, "focus": look.focused, "wrap": look.wrapped}
    return " ".join(["code", *(name for name, is_so in chosen.items() if is_so)])


def _caption(title: str, region: str, against: str, language: str, href: str, look: Look, spoken: Vocabulary) -> str:
    shown = f"<code>{escape(title)}</code>" if title else ""
    if shown and href:
        shown = f'<a href="{escape(href)}">{shown}</a>'
    facts = [f"{escape(spoken.say('region'))} <b>{escape(region)}</b>"] if region else []
    facts += [f"{escape(spoken.say('against'))} <b>{escape(against)}</b>"] if against else []
    facts += [escape(language_name(language) or spoken.say("text"))]
    below = f"<p>{caption(look.name)}{escape(look.caption)}</p>" if look.name else ""
    return f"{shown} <span>{', '.join(facts)}</span>{below}".strip()


def _folded(figure: str, look: Look, title: str, count: int, spoken: Vocabulary) -> str:
    summary = look.summary or _length(title or spoken.say("Code"), count, spoken)
    opened = " open" if look.folded == "open" else ""
    return f'<details class="fold"{opened}>\n<summary>{join_units(escape(summary))}</summary>\n{figure}</details>\n'


def _length(name: str, count: int, spoken: Vocabulary) -> str:
    say = spoken.say
    return say("{name}, {n} line", name=name, n=1) if count == 1 else say("{name}, {n} lines", name=name, n=count)
