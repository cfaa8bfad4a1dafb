"""Turn an executable fence into a `Cell`: its code, the options of its run, and the options of its display."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from sitegen.diagnostics import Severity, Span, did_you_mean
from sitegen.markup import options as o
from sitegen.markup.annotations import Texts, without_marks
from sitegen.markup.code import code_figure
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Directive, Fence
from sitegen.markup.labels import kind_of, next_name
from sitegen.markup.listings import listing_of
from sitegen.markup.looks import OF_CODE, look_of
from sitegen.model.document import CELL_LANGUAGES, Cell, CellSlot
from sitegen.model.formula import FormulaError, evaluate, names_in
from sitegen.model.kernel import Launch
from sitegen.model.listing import Look
from sitegen.read.python import syntax_mistake

_FENCE = re.compile(r"(`{3,}|~{3,}|:{3,})\s*(\{[\w-]+\})")
_DISPLAY = ("echo", "fig-cap", "fig-alt", "tbl-cap")


def read_cell(language: str, content: str, line: int, span: Span, texts: Texts, into: Collected) -> Cell | None:
    """Return the cell of a fence that opens on `line`; None without a folder or a label, since nothing can run it then.

    `texts` are the notes in the list below it.
    """
    options = o.read_options(content, line + 1, into)
    values = o.checked(options, OPTIONS, "a cell", into)
    if not into.has_cells:
        into.error("SG107", "an executable cell has no place here", span, "cells are run in posts only")
        return None
    usable = _has_folder(span, into) & _has_language(language, span, into)
    usable &= _has_label(options, values, span, into)
    if not usable:
        return None
    listing = listing_of(options.rest, options, values, look_of(values, numbers=True), texts, into)
    source = options.rest if "annotate" in values else without_marks(options.rest)[0]
    _check_together(language, options, values, span, into)
    if language != "cuda" and not values.get("error"):
        _check_python(source, options.rest_line, span, into)
    return Cell(
        label=values["label"],
        language=language,
        source=source.rstrip("\n") + "\n",
        span=span,
        line=into.first_line + options.rest_line,
        options={name: values[name] for name in _DISPLAY if name in values},
        look=_named(listing.look, values["label"], into),
        implements=values.get("implements", ""),
        launch=values.get("launch"),
        needs=values.get("needs", {}),
        timeout_s=values.get("timeout", 60.0),
        predicts=values.get("predicts", ""),
        explains=values.get("explains", ""),
        raises=values.get("error", False),
    )


def _named(look: Look, label: str, into: Collected) -> Look:
    """Return the look with a number when the listing has a caption, or when the cell's label is one of a listing."""
    if not look.caption and kind_of(label) != "lst":
        return look
    name = next_name("lst", into)
    if kind_of(label) == "lst":
        into.names[label] = name
    return replace(look, name=name.whole)


def _has_folder(span: Span, into: Collected) -> bool:
    if not re.search(r"/index(\.[^/.]+)?\.(?:md|ipynb)$", into.path):
        folder = re.sub(r"\.\w+$", "", into.path)
        hint = f"move it to {folder}/index.md, so that its results have a place beside it"
        into.error("SG107", "a post with executable cells is a folder", span, hint)
        return False
    return True


def _has_language(language: str, span: Span, into: Collected) -> bool:
    if language in CELL_LANGUAGES:
        return True
    hint = did_you_mean(language, CELL_LANGUAGES) or f"known: {', '.join(f'`{k}`' for k in CELL_LANGUAGES)}"
    what = f"unknown cell language `{language}`" if language else "a cell needs a language"
    into.error("SG109", what, span, hint)
    return False


def _has_label(options: o.Options, values: dict[str, Any], span: Span, into: Collected) -> bool:
    if "label" not in values:
        if "label" not in options.by_name and not options.broken:
            into.error("SG106", "an executable cell needs a label", span, "add a line `#| label: first-look`")
        return False
    if any(cell.label.casefold() == values["label"].casefold() for cell in into.cells):
        first = next(c for c in into.cells if c.label.casefold() == values["label"].casefold())
        hint = f"the first is on line {first.span.line}"
        into.error("SG108", f"two cells have the label `{values['label']}`", options.by_name["label"].span, hint)
        return False
    into.take_id(values["label"], options.by_name["label"].span)
    return True


def _check_together(language: str, options: o.Options, values: dict[str, Any], span: Span, into: Collected) -> None:
    implements, launch = "implements" in values, "launch" in values
    if implements and language == "python":
        hint = "make it a `{code-cell} triton`"
        into.error("SG110", "a python cell cannot be an implementation", options.span("implements", span), hint)
    if implements and language == "cuda" and not launch and "launch" not in options.by_name:
        into.error("SG110", "an implementation in CUDA needs `launch`", span, "//| launch: {entry: …, grid: […], …}")
    if launch and language != "cuda":
        into.error("SG110", f"`launch` is for cuda cells, this one is {language}", options.span("launch", span))
    for name in ("predicts", "explains"):
        if name in values and not implements:
            hint = "`predicts` and `explains` are about an implementation's speed"
            into.error("SG110", f"`{name}` needs `implements`", options.span(name, span), hint)


def _check_python(source: str, line: int, opening: Span, into: Collected) -> None:
    """Report the first syntax error; `line` is where `source` begins.  A fence in a list is indented further.

    Where the fence has no end, the text below it is what is no Python: then the missing end is the error.
    """
    mistake = syntax_mistake(source, into.path, notebook=True)
    if mistake and not _report_unclosed(source, line, opening, into):
        at = line + mistake.span.line - 1
        text = source.split("\n")[mistake.span.line - 1] if mistake.span.line <= source.count("\n") + 1 else ""
        indent = max(into.lines[at].find(text), 0) if text and at < len(into.lines) else 0
        span = into.span(at, indent + mistake.span.col - 1, mistake.span.length)
        into.error(mistake.code, mistake.message, span, mistake.hint)


def _report_unclosed(source: str, line: int, opening: Span, into: Collected) -> bool:
    """Make an error of the warning that the fence has no end, or report another fence that opens in the cell.

    Returns False where the fence has its end.
    """
    line_of_fence = opening.line - into.first_line
    signs, name = _fence(into.lines[line_of_fence])
    unclosed = [n for n, one in enumerate(into.diagnostics) if one.code == "SG138" and one.span.line == opening.line]
    if unclosed:
        into.diagnostics[unclosed[0]] = replace(into.diagnostics[unclosed[0]], severity=Severity.ERROR)
    elif inner := re.search(rf"(?m)^{signs}[A-Za-z{{]", source):
        at = into.span_of_line(line + source.count("\n", 0, inner.start())).line
        hint = f"the fence on line {at} is inside of the cell: write a line with the same signs below the code"
        into.error("SG138", f"the fence of `{name}` is never closed", into.span_of(name, line_of_fence), hint)
    return bool(unclosed or inner)


def _fence(line: str) -> tuple[str, str]:
    """Return the signs of a fence and the name of its directive: "```" and "{code-cell}"."""
    found = _FENCE.search(line)
    return (found[1], found[2]) if found else ("`{3,}", "{code-cell}")


def _implements(value: o.Value) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"\w[\w-]*/\w[\w-]*", value):
        raise o.Unfit("expected `kernel/implementation`, such as `softmax/two_pass`")
    return value


def _needs(value: o.Value) -> dict[str, str]:
    needs = o.mapping(value)
    for name, item in needs.items():
        if name not in ("gpu", "memory"):
            raise o.named("need", name, ("gpu", "memory"))
        if not isinstance(item, str):
            raise o.Unfit(f"`{name}` is text")
    return needs


def launch_of(value: o.Value) -> Launch:
    """Return the launch that `{entry: f, grid: [M], block: [256], …}` describes; each number may be an expression."""
    known = ("entry", "grid", "block", "cluster", "shared", "args", "constants")
    given = o.mapping(value)
    for name in given:
        if name not in known:
            raise o.named("key", name, known)
    missing = [f"`{name}`" for name in ("entry", "grid", "block") if not given.get(name)]
    if missing:
        raise o.Unfit(f"{' and '.join(missing)} missing")
    return Launch(
        entry=o.text(given["entry"]),
        grid=_sizes(given["grid"]),
        block=_sizes(given["block"]),
        cluster=_sizes(given.get("cluster", ())),
        shared=_expression(given.get("shared", "0")),
        args=o.words(given.get("args", ())),
        constants={name: _expression(item) for name, item in o.mapping(given.get("constants", {})).items()},
    )


def _sizes(value: o.Value) -> tuple[str, ...]:
    sizes = (value,) if isinstance(value, str) else o.words(value)
    if len(sizes) > 3:
        raise o.Unfit("at most three dimensions")
    return tuple(_expression(size) for size in sizes)


def _expression(value: o.Value) -> str:
    written = o.text(value)
    try:
        evaluate(written, dict.fromkeys(names_in(written), 1))
    except FormulaError as mistake:
        raise o.Unfit(f"`{written}`: {mistake.message}", f"at column {mistake.col}", written) from None
    return written


def _caption(value: o.Value) -> str:
    """Return the caption of an output, which is plain text: it may also be what an image says to who cannot see it."""
    caption = o.text(value)
    for role in ("{value}", "{predicted}", "{given}"):
        if role in caption:
            raise o.Unfit("the caption of a cell is plain text", "write the figure into the text below the cell", role)
    return caption


OPTIONS: dict[str, o.Setting] = {
    "label": o.Setting(o.label, "The name of the cell, of its results and of what the text refers to."),
    "implements": o.Setting(_implements, "The kernel and the name of the implementation that this cell is."),
    "launch": o.Setting(launch_of, "How a CUDA kernel is launched: `{entry: f, grid: [132], block: [256]}`."),
    "needs": o.Setting(_needs, 'The machine that it needs: `{gpu: ">=sm_80", memory: 8GB}`.'),
    "timeout": o.Setting(o.seconds, "The seconds after which it is stopped."),
    "error": o.Setting(o.flag, "Whether an exception is expected."),
    "predicts": o.Setting(
        o.text, "The predicted speed of the implementation. Its last percentage is the share of the ceiling."
    ),
    "explains": o.Setting(o.text, "An explanation of how the measured speed differs from the predicted one."),
    "echo": o.Setting(o.flag, "Whether its code is shown."),
    "fig-cap": o.Setting(_caption, "The caption of the figure that it puts out."),
    "fig-alt": o.Setting(o.text, "What that figure shows, for those who do not see it."),
    "tbl-cap": o.Setting(_caption, "The caption of the table that it puts out."),
    **OF_CODE,
}


def _show(fence: Fence, into: Collected) -> str:
    language = fence.name if fence.name in CELL_LANGUAGES else fence.argument
    cell = read_cell(language, fence.content, fence.line, fence.argument_span, fence.notes, into)
    if cell is None:
        return code_figure(fence.content, "", spoken=into.spoken)
    into.cells.append(cell)
    return into.slot(CellSlot(cell.label, _output_name(cell, into))) + "\n"


def _output_name(cell: Cell, into: Collected) -> str:
    """Return the name of a cell's output, such as `Figure 2`; empty without a caption and without a label of a kind."""
    kind = "fig" if "fig-cap" in cell.options else "tbl" if "tbl-cap" in cell.options else kind_of(cell.label)
    if kind not in ("fig", "tbl"):
        return ""
    into.names[cell.label] = name = next_name(kind, into)
    return name.whole


DECLARED = (
    Directive(
        ("code-cell", *CELL_LANGUAGES),
        "Code that the GPU machine executes, with what it put out; `{triton}` is short for `{code-cell} triton`.",
        OPTIONS,
        show=_show,
        takes_notes=True,
    ),
)
