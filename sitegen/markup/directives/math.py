"""Turn `{math}` into a displayed formula, and the role into a formula within a line."""

from __future__ import annotations

from markdown_it.token import Token

from sitegen.markup import options as o
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, InlineRole
from sitegen.markup.math import block_math, inline_math

OPTIONS = {"label": o.Setting(o.label, "The label by which the text refers to the equation, `eq-…`.")}


def _show(fence: Fence, into: Collected) -> str:
    options = o.read_options(fence.content, fence.line + 1, into)
    values = o.checked(options, OPTIONS, "`{math}`", into)
    source = f"{fence.argument}\n{options.rest}" if fence.argument else options.rest
    return block_math(source, fence.line, options.rest_line, values.get("label", ""), into)


def _show_inline(token: Token, into: Collected) -> str:
    return inline_math(token.content, token.meta.get("line", 0), into)


DECLARED = (
    Directive(("math",), "A formula in TeX, on lines of its own.", OPTIONS, show=_show),
    InlineRole(("math",), "A formula in TeX.", _show_inline),
)
