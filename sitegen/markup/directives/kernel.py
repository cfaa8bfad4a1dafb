"""Turn `{kernel} softmax/fused` into the source of an implementation, and the role into a link to a kernel's page."""

from __future__ import annotations

from html import escape

from markdown_it.token import Token

from sitegen.markup import options as o
from sitegen.markup.annotations import notes_at_lines
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence, InlineRole, fence_options, needs
from sitegen.markup.labels import named
from sitegen.markup.looks import OF_CODE, look_of
from sitegen.markup.places import span_within
from sitegen.model.document import LinkSlot, ListingSlot

OPTIONS = {
    "region": o.Setting(o.text, "The region of the source that is shown, between `# region: NAME` and `# endregion`."),
    "label": o.Setting(o.label, "The label by which the text refers to the listing, `lst-…`."),
    "diff": o.Setting(o.text, "The implementation of the same kernel that the source is compared with."),
    **OF_CODE,
}


def _show(fence: Fence, into: Collected) -> str:
    options, values = fence_options(fence, OPTIONS, into)
    kernel, slash, implementation = fence.argument.partition("/")
    if not (kernel and slash and implementation):
        needs(fence, "an implementation, `{kernel} softmax/naive`", into)
        return ""
    span = options.span("annotate", fence.argument_span)
    notes = notes_at_lines(values.get("annotate", ""), fence.notes, span, into)
    name, id = named("lst", "lst-cap" in values, values.get("label", ""), options.span("label", span), into)
    look = look_of(values, notes, id=id, name=name, numbers=True)
    region, against = values.get("region", ""), values.get("diff", "")
    return into.slot(ListingSlot(kernel, implementation, fence.argument_span, region, look, against)) + "\n"


def _link(token: Token, into: Collected) -> str:
    kernel = token.content.split("/")[0]
    href = into.slot(LinkSlot(f"/kernels/{kernel}/", span_within(token, token.content, into)))
    return f'<a href="{href}"><code>{escape(token.content, quote=False)}</code></a>'


DECLARED = (
    Directive(
        ("kernel",),
        "The source of an implementation, or a named region of it, with a link.",
        OPTIONS,
        show=_show,
        takes_notes=True,
    ),
    InlineRole(("kernel",), "A link to the page of a kernel.", _link, is_link=True),
)
