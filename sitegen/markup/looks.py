"""Turn the options that every listing takes, shown or executed or of a kernel, into its `Look`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sitegen.markup import options as o
from sitegen.model.listing import Look, Note

_PART = re.compile(r"\d{1,6}(?:-\d{1,6})?|[A-Za-z_][\w.-]*")


def lines(value: o.Value) -> str:
    """Return numbers, ranges and names of regions with commas between them, `3,5-7,inner`.  Raises Unfit."""
    parts = o.words(re.sub(r"\s+", ",", value) if isinstance(value, str) else value)
    for part in parts:
        if not _PART.fullmatch(part):
            raise o.Unfit(f"`{part}` names no lines", "lines are `3`, `5-7` or the name of a region", part)
    if not parts:
        raise o.Unfit("expected lines", "such as `3,5-7`")
    return ",".join(parts)


def annotated(value: o.Value) -> str:
    """Return the lines of each note, in order; empty for `false`, where `<1>` is code and no mark."""
    return "" if value == "false" else lines(value)


def first_number(value: o.Value) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,6}", value):
        raise o.Unfit("expected a number of at most six digits")
    return int(value)


def fold(value: o.Value) -> str:
    if value not in ("true", "false", "show"):
        raise o.Unfit("expected `true`, `false` or `show`")
    return {"true": "closed", "show": "open"}.get(value, "")


def overflow(value: o.Value) -> bool:
    """Return whether long lines are wrapped.  Raises Unfit."""
    if value not in ("scroll", "wrap"):
        raise o.named("value", str(value), ("scroll", "wrap"))
    return bool(value == "wrap")


OF_CODE: dict[str, o.Setting] = {
    "lst-cap": o.Setting(o.text, "The caption; a listing with one has a number."),
    "code-line-numbers": o.Setting(o.flag, "Whether numbers stand beside the lines."),
    "lineno-start": o.Setting(first_number, "The number of the first line."),
    "hl": o.Setting(lines, "Lines that are highlighted, such as `3,5-7` or the name of a region."),
    "focus": o.Setting(lines, "Lines that stay clear while the others fade."),
    "ins": o.Setting(lines, "Lines that are marked as new."),
    "annotate": o.Setting(annotated, "The lines of each note below the code; `false` where `<1>` is code and no mark."),
    "code-fold": o.Setting(fold, "Whether the listing is folded: `true`, `false` or `show`."),
    "code-summary": o.Setting(o.text, "The words of a folded listing."),
    "code-overflow": o.Setting(overflow, "`wrap` where long lines go on below, `scroll` where they scroll."),
}
"""The options of every listing.  Names are Quarto's, else MyST's, else our own."""

OF_SHOWN: dict[str, o.Setting] = {
    "filename": o.Setting(o.text, "The title of the listing."),
    "label": o.Setting(o.label, "The label by which the text refers to the listing, `lst-…`."),
    **OF_CODE,
    "del": o.Setting(lines, "Lines that are marked as gone."),
    "diff": o.Setting(o.flag, "Whether `+` and `-` at the beginning of lines mark what is new and what is gone."),
}
"""The options of code that is only shown; the lines of an executed program cannot be marked as deleted."""

OF_DRAWN: dict[str, o.Setting] = {
    "fig-cap": o.Setting(o.text, "The caption, in Markdown; a figure with one has a number."),
    "fig-alt": o.Setting(o.text, "What the picture shows, in place of the words that are computed."),
    "label": o.Setting(o.label, "The label by which the text refers to the figure, `fig-…`."),
}
"""The options of every drawn figure."""


def look_of(
    values: Mapping[str, Any], notes: tuple[Note, ...] = (), *, id: str = "", name: str = "", numbers: bool
) -> Look:
    """Return the look that options ask for.  A listing that does not begin with number 1 shows its numbers."""
    return Look(
        id=id,
        name=name,
        caption=values.get("lst-cap", ""),
        numbered=values.get("code-line-numbers", numbers or "lineno-start" in values),
        first_number=values.get("lineno-start", 1),
        highlighted=values.get("hl", ""),
        focused=values.get("focus", ""),
        inserted=values.get("ins", ""),
        deleted=values.get("del", ""),
        notes=notes,
        folded=values.get("code-fold", ""),
        summary=values.get("code-summary", ""),
        wrapped=values.get("code-overflow", False),
    )
