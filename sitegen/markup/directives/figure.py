"""Turn `{figure} plot.png` with `:alt:`, `:label:` and a caption in Markdown into a figure with a slot for its image.

An image alone in its paragraph is one, too, when it has a label for figures: `![Its caption](plot.png){#fig-plot}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup import options as o
from sitegen.markup.captions import caption
from sitegen.markup.collected import Collected, add_rules, collected
from sitegen.markup.directive import Container, Directive
from sitegen.markup.images import image, markdown_image, warn_without_words
from sitegen.markup.labels import kind_of, named

OPTIONS = {
    "alt": o.Setting(o.text, "What the image shows, for those who do not see it."),
    "label": o.Setting(o.label, "The label by which the text refers to the figure, `fig-…`."),
}


def _plugin(md: MarkdownIt) -> None:
    md.core.ruler.after("inline", "image_figures", _image_figures)
    add_rules(md, {"figure_open": _render_open, "caption_name": _render_name, "figure_close": _render_close})


def _wrap(figure: Container) -> tuple[list[Token], Token]:
    opening = Token("figure_open", "figure", 1, map=[*figure.lines], level=figure.level, block=True)
    opening.info, opening.content = figure.argument, "\n".join(figure.head)
    return [opening], Token("figure_close", "figure", -1, level=figure.level, block=True, info=figure.argument)


def _image_figures(state: StateCore) -> None:
    if "![" not in state.src:
        return
    for at in range(len(state.tokens) - 2):
        text = state.tokens[at + 1]
        if state.tokens[at].type == "paragraph_open" and len(text.children or ()) == 1:
            image = (text.children or [])[0]
            if image.type == "image" and kind_of(str(image.attrs.get("id", ""))) == "fig":
                _turn_into_figure(state.tokens, at, image)


def _turn_into_figure(tokens: list[Token], at: int, image: Token) -> None:
    """Replace a paragraph with an image by the two tokens of a figure, around the paragraph if that is a caption."""
    text, lines = tokens[at + 1], tokens[at].map
    label = str(image.attrs.pop("id"))
    opening = Token("figure_open", "figure", 1, map=lines, block=True, meta={"image": image, "label": label})
    text.children = image.children
    caption = tokens[at : at + 3] if image.children else []
    tokens[at : at + 3] = [opening, *caption, Token("figure_close", "figure", -1, block=True)]


def _render_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    if "image" in token.meta:
        return _render_image_figure(tokens, idx, into)
    line = token.map[0] if token.map else 0
    span = into.span_of(token.info, line) if token.info else into.span_of("{figure}", line)
    options = o.read_options(token.content, line + 1, into)
    values = o.checked(options, OPTIONS, "`{figure}`", into)
    if not token.info:
        into.error("SG111", "the directive `{figure}` needs an image, `{figure} plot.png`", span)
        return f"<figure>\n{_opened(tokens, idx)}"
    if "alt" not in values:
        warn_without_words(span, "add a line `:alt: …`", into)
    shown = image(token.info, span, {"alt": values.get("alt", "")}, into)
    return _whole(tokens, idx, shown, values.get("label", ""), options.span("label", span), into)


def _render_image_figure(tokens: Sequence[Token], idx: int, into: Collected) -> str:
    token, label = tokens[idx].meta["image"], tokens[idx].meta["label"]
    span = into.span(token.meta["line"], token.meta["col"])
    return _whole(tokens, idx, markdown_image(token, into), label, into.within(span, label), into)


def _whole(tokens: Sequence[Token], idx: int, shown: str, label: str, span: Span, into: Collected) -> str:
    """Return the opening of a figure; it gets a number if it has a label or a caption."""
    name, id = named("fig", not _is_empty(tokens, idx), label, span, into)
    anchor = f' id="{escape(id)}"' if id else ""
    return f"<figure{anchor}>\n{shown}\n{_opened(tokens, idx, name)}"


def _opened(tokens: Sequence[Token], idx: int, name: str = "") -> str:
    """Return the caption up to its text; the whole caption if it has only the name of the figure."""
    if _is_empty(tokens, idx):
        return f"<figcaption>{caption(name)}</figcaption>\n" if name else ""
    if name and tokens[idx + 1].type == "paragraph_open":
        (tokens[idx + 2].children or []).insert(0, Token("caption_name", "", 0, content=name))
        name = ""
    return f"<figcaption>\n{f'<p>{caption(name)}</p>' if name else ''}"


def _is_empty(tokens: Sequence[Token], idx: int) -> bool:
    return tokens[idx + 1].type == "figure_close"


def _render_name(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    return caption(tokens[idx].content)


def _render_close(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    return "</figure>\n" if tokens[idx - 1].type == "figure_open" else "</figcaption>\n</figure>\n"


DECLARED = (
    Directive(("figure",), "An image with a number and a caption in Markdown.", OPTIONS, wrap=_wrap, plugin=_plugin),
)
