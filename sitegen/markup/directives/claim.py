"""Turn `{claim} softmax/fused >= 1.5x torch` with a sentence in it into the sentence and a slot for its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sitegen.markup.collected import add_rules, collected
from sitegen.markup.directive import Container, Directive
from sitegen.markup.words import plain_text
from sitegen.model.document import ClaimSlot
from sitegen.read.claims import FORMS, parse_claim
from sitegen.read.values import ValueMistake


def _plugin(md: MarkdownIt) -> None:
    add_rules(md, {"claim_open": _render_open, "claim_close": _render_close})


def _wrap(box: Container) -> tuple[list[Token], Token]:
    line = box.lines[0]
    opening = Token("claim_open", "div", 1, map=[line, line + 1], level=box.level, block=True)
    closing = Token("claim_close", "div", -1, level=box.level, block=True)
    closing.meta.update(argument=box.argument, line=line)
    return [opening], closing


def _render_open(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return '<div class="claim">\n'


def _render_close(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, argument, line = collected(env), tokens[idx].meta["argument"], tokens[idx].meta["line"]
    place = into.span_of(argument, line)
    if not (sentence := _sentence(tokens, idx)):
        into.error("SG111", "the directive `{claim}` needs the sentence that makes the claim", place)
    try:
        claim = parse_claim(argument)
    except ValueMistake as mistake:
        hint = mistake.hint if argument else f"write `softmax/fused` and one of: {', '.join(FORMS)}"
        into.error("SG135", mistake.message, into.within(place, mistake.word), hint)
        return "</div>\n"
    return f"{into.slot(ClaimSlot(claim, place, sentence))}</div>\n"


def _sentence(tokens: Sequence[Token], close: int) -> str:
    """Return the plain text between the tokens that open and close a claim."""
    begin = next(
        at for at in range(close, -1, -1) if tokens[at].type == "claim_open" and tokens[at].level == tokens[close].level
    )
    return " ".join(plain_text(token.children or ()) for token in tokens[begin:close] if token.type == "inline").strip()


DECLARED = (
    Directive(
        ("claim",),
        "A sentence with a claim that records must support; without such a record the build fails.",
        wrap=_wrap,
        has_options=False,
        plugin=_plugin,
    ),
)
