"""Turn numbers in code and the ordered list below it into a listing with notes, each linked to its line and back.

`# <1>` at the end of a line (or `// <1>`, as in Quarto) is the place of the first point of the list; the option
`annotate` names lines where code must stay as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup.collected import Collected, add_rules, collected
from sitegen.markup.lines import parts_of
from sitegen.model.listing import Note
from sitegen.model.vocabulary import Vocabulary

Texts = Mapping[int, tuple[str, int]]
"""The id and the line of each note, by the note's number."""

_MARK = re.compile(r"[ \t]*(?:#|//|--|;|%|/\*)[ \t]*<(\d{1,3})>[ \t]*(?:\*/)?[ \t]*$", re.MULTILINE)
_POINT = re.compile(r"<\d{1,3}>[ \t]*(?:\*/)?[ \t]*$", re.MULTILINE)
"""The end of a mark, which is cheaper to search for than the whole mark."""
_OPTION = re.compile(r"(?:\A|\s):?annotate(?:=|:)\s*(?!false\b)\S")


def annotations_plugin(md: MarkdownIt, directives: Iterable[str]) -> None:
    """Add the rules for notes to plain fences and to `directives`; they run after the rule for task lists."""
    listing = re.compile(rf"(?!\{{)|\{{(?:{'|'.join(map(re.escape, directives))})\}}")
    md.core.ruler.before("inline", "annotations", partial(_annotations, listing=listing))
    add_rules(
        md,
        {
            "annotated_open": lambda *_: '<div class="annotated">\n',
            "annotated_close": lambda *_: "</div>\n",
            "annotations_open": lambda *_: '<ol class="annotations">\n',
            "annotations_close": lambda *_: "</ol>\n",
        },
    )


def _annotations(state: StateCore, *, listing: re.Pattern[str]) -> None:
    """Put a listing with numbers and the list right below it into one element, its notes into the fence's `meta`."""
    items = [at - 1 for at, token in enumerate(state.tokens) if at and _begins(state.tokens[at - 1], token, listing)]
    into = collected(state.env)
    for number, at in reversed([*enumerate(items, start=1)]):
        fence, opening = state.tokens[at], state.tokens[at + 1]
        end = next(i for i in range(at + 1, len(state.tokens)) if _ends(state.tokens[i], opening))
        fence.meta["notes"] = dict(_take_notes(state.tokens[at + 2 : end], opening, f"listing-{number}", into))
        opening.type, state.tokens[end].type = "annotations_open", "annotations_close"
        state.tokens.insert(end + 1, Token("annotated_close", "div", -1, level=fence.level, block=True))
        state.tokens.insert(at, Token("annotated_open", "div", 1, level=fence.level, block=True))


def _begins(fence: Token, following: Token, listing: re.Pattern[str]) -> bool:
    return (
        following.type == "ordered_list_open"
        and fence.type in ("fence", "colon_fence")
        and fence.level == following.level
        and listing.match(fence.info.strip()) is not None
        and _is_annotated(fence)
    )


def _is_annotated(fence: Token) -> bool:
    if _OPTION.search(fence.info) or (fence.info.lstrip().startswith("{") and _OPTION.search(fence.content)):
        return True
    return "annotate=false" not in fence.info and _MARK.search(fence.content) is not None


def _ends(token: Token, opening: Token) -> bool:
    return token.type == "ordered_list_close" and token.level == opening.level


def _take_notes(
    tokens: Sequence[Token], opening: Token, name: str, into: Collected
) -> Iterable[tuple[int, tuple[str, int]]]:
    number = int(opening.attrs.get("start", 1))
    for item in tokens:
        if item.type == "list_item_open" and item.level == opening.level + 1:
            id = into.new_id(f"{name}-{number}")
            item.meta["note"] = (number, id)
            yield number, (id, item.map[0] if item.map else 0)
            number += 1


def note_open(number: int, id: str, spoken: Vocabulary) -> str:
    """Return the opening HTML of a note, whose number links back to the code."""
    name = escape(id)
    label = escape(spoken.say("Note {n}, back to its line", n=number))
    back = f'<a class="mk" href="#{name}-line" aria-label="{label}">{number}</a>'
    return f'<li id="{name}">{back} <div>'


def without_marks(code: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the code without its marks such as `# <1>`, and the marks: number and line, from 1."""
    if not _POINT.search(code):
        return code, ()
    lines = code.split("\n")
    ends = [(at, line) for at, line in enumerate(lines, start=1) if _POINT.search(line)]
    marks = tuple((int(match[1]), at) for at, line in ends if (match := _MARK.search(line)))
    for _, at in marks:
        lines[at - 1] = _MARK.sub("", lines[at - 1])
    return "\n".join(lines), marks


def notes_at_marks(marks: Iterable[tuple[int, int]], texts: Texts, line: int, into: Collected) -> tuple[Note, ...]:
    """Return the notes of code that begins on `line` of the document."""
    places: dict[int, list[str]] = {}
    for number, at in marks:
        places.setdefault(number, []).append(str(at))
        if number not in texts:
            what = f"no point {number} in the list" if texts else "no list of notes"
            span = into.span_of(f"<{number}>", line + at - 1)
            hint = f"{_how_to_add(number, texts)}, or `annotate` as `false` where this is code"
            into.error("SG123", f"`<{number}>` has {what} below the code", span, hint)
    _all_have_places(places, texts, "`# <{}>` at the end of its line", into)
    return _notes(places, texts)


def _how_to_add(number: int, texts: Texts) -> str:
    """Return how a mark gets its note; Markdown counts the points itself, so only the next one can be added."""
    if not texts:
        return "write the list right below the listing"
    first, last = min(texts), max(texts)
    if number == last + 1:
        return f"write `{number}. …` as the last point of the list"
    there = f"the points {first} to {last}" if last > first else f"only the point {first}"
    return f"the list has {there}: write one of its numbers here" + (
        f", or the points up to {number} there" if number > last else ""
    )


def notes_at_lines(written: str, texts: Texts, span: Span, into: Collected) -> tuple[Note, ...]:
    """Return the notes of the option `annotate`, at `span`: its first part belongs to the first point, and so on."""
    places = {number: [part] for number, part in zip(texts, parts_of(written), strict=False)}
    for part in parts_of(written)[len(texts) :]:
        hint = "each point of the ordered list right below the listing belongs to one of these lines, in order"
        into.error("SG123", f"`{part}` has no note below the code", into.within(span, part), hint)
    _all_have_places(places, texts, "name its lines in `annotate`, in order", into)
    return _notes(places, texts)


def _all_have_places(places: Mapping[int, object], texts: Texts, hint: str, into: Collected) -> None:
    for number, (_, line) in texts.items():
        if number not in places:
            into.error("SG123", f"note {number} has no place in the code", into.span_of_line(line), hint.format(number))


def _notes(places: Mapping[int, list[str]], texts: Texts) -> tuple[Note, ...]:
    return tuple(
        Note(number, texts[number][0], tuple(lines)) for number, lines in sorted(places.items()) if number in texts
    )
