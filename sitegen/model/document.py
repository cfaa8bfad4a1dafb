"""A Markdown text after markup: HTML with numbered slots where something must still be filled in.

`html` holds the marker `\x00n\x00` where `slots[n]` stands (in an href or src, or as a block); `render/`
replaces each marker by what the site and its records say.  Nothing of a record is in a Document,
so a Document changes only when its text does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sitegen.diagnostics import Span
from sitegen.model.listing import NUMBERED, Look
from sitegen.model.value import Claim, ValueExpression

if TYPE_CHECKING:
    from sitegen.model.kernel import Launch


FIGURE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""The character in the text of a heading that stands for a `ValueSlot`."""


@dataclass(frozen=True, slots=True)
class DocumentHeading:
    level: int
    id: str
    text: str
    """Plain text, for the contents list, with FIGURE in the place of each figure of a record."""
    first_slot: int = 0
    """The number of slots before the heading."""


@dataclass(frozen=True, slots=True)
class LinkSlot:
    """The href of a link, as written: `../sum/index.md`, `/kernels/softmax/`, `#anchor`, `https://…`."""

    target: str
    span: Span


@dataclass(frozen=True, slots=True)
class ImageSlot:
    """An image: its file, relative to the file of the text, and the attributes of its element in their order."""

    target: str
    span: Span
    attributes: tuple[tuple[str, str], ...] = ()
    """Attributes except `src`: `alt`, `title`, `class`, `id`."""
    first: bool = False
    """True for the first image of a text, which is loaded at once; the others are when the reader scrolls near them."""


@dataclass(frozen=True, slots=True)
class FileSlot:
    """The address of a film, a sound or another file that a page loads, relative to the file of the text."""

    target: str
    span: Span


@dataclass(frozen=True, slots=True)
class TermSlot:
    """The link of `{term}`warp``, which leads to an entry of the glossary."""

    name: str
    """The name as written: a title, a slug or an alias of a term."""
    span: Span


@dataclass(frozen=True, slots=True)
class CitedWork:
    """One work in a citation."""

    key: str
    prefix: str = ""
    """`see` of `[see @dao2022]`."""
    suffix: str = ""
    """`p. 3` of `[@dao2022, p. 3]`."""
    bare: bool = False
    """True for `[-@dao2022]`, which leaves out the authors."""
    id: str = ""
    """Id of this mention, to which the list of references links back."""


@dataclass(frozen=True, slots=True)
class CiteSlot:
    """`[@dao2022, p. 3; @other]`, or `@dao2022` in a sentence."""

    items: tuple[CitedWork, ...]
    written: str
    """The citation as written, which is shown where there is no bibliography."""
    span: Span
    narrative: bool = False
    """True when the citation is a part of the sentence and names the authors."""
    id_prefix: str = ""
    """Prefix of the ids of the text."""


@dataclass(frozen=True, slots=True)
class ListingSlot:
    """`{kernel} softmax/fused`: the source of an implementation, or a named region of it."""

    kernel: str
    implementation: str
    span: Span
    region: str = ""
    """Name of the region between `// region: NAME` (or `# region: NAME`) and `// endregion`; empty: the whole file."""
    look: Look = NUMBERED
    against: str = ""
    """The implementation of the same kernel that it is compared with."""


@dataclass(frozen=True, slots=True)
class CellSlot:
    """The place of an executable cell: its code and its outputs."""

    label: str
    number: str = ""
    """Name of the output, when it has a caption or can be referred to: `Figure 2`."""


@dataclass(frozen=True, slots=True)
class BenchmarkSlot:
    """`{benchmark} softmax`: a table of evaluations.  Empty tuples: everything the kernel has."""

    kernel: str
    span: Span
    workloads: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Names of columns, such as `time` or `vs: torch`; empty: those that `columns_for` of render/measurements/tables.py
    chooses.
    """
    implementations: tuple[str, ...] = ()
    caption: str = ""
    """HTML, which may hold markers of other slots."""
    label: str = ""
    """Id of the table."""
    number: str = ""
    """Printed name: `Table 2`."""


@dataclass(frozen=True, slots=True)
class RooflineSlot:
    """`{roofline} softmax`: the roofline of the kernel at one workload and dtype (default: the first of each)."""

    kernel: str
    span: Span
    workload: str = ""
    dtype: str = ""
    caption: str = ""
    """HTML, which may hold markers of other slots."""
    label: str = ""
    """Id of the figure."""
    number: str = ""
    """Printed name: `Figure 2`."""


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A line to compare with across a plot."""

    name: str
    value: ValueExpression | float
    """A figure of a record, such as `ceiling read`, or a number in the unit of the axis."""


@dataclass(frozen=True, slots=True)
class PlotSlot:
    """`{plot}`: a chart of what was measured, and a table of its points.

    It shows the evaluations of a kernel (`softmax`), a sweep (`softmax/threads`), or a table that a cell of the post
    put out (`#levels`).
    """

    span: Span
    kernel: str = ""
    sweep: str = ""
    """The name of a sweep of the kernel; empty: the kernel's evaluations."""
    cell: str = ""
    """The label of a cell; empty: the plot is of a kernel."""
    kind: str = ""
    """One of PLOT_KINDS; empty: bars over words, else a line."""
    x: str = ""
    """A column, or an expression over the sizes of a kernel; of `spans`, the column of the starts."""
    y: tuple[str, ...] = ()
    """Columns, a curve for each; of `heat`, the column of the rows; of `spans`, those of the ends and the lines."""
    value: str = ""
    """The column that the cells of a heat map show."""
    curves: tuple[str, ...] = ()
    """Columns of which each combination of values has a curve; empty: those that the plot does not show otherwise."""
    panels: str = ""
    """A column of which each value has a chart of its own; all of them have the same axes."""
    ends: tuple[str, ...] = ()
    """Columns of the low and the high end of the whiskers, for a table of a cell."""
    lines: tuple[PlotLine, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    """Values of the horizontal axis, and the words that stand at the point there."""
    log: tuple[str, ...] | None = None
    """The logarithmic axes, `x` and `y`; None: those whose values span a factor of 8 or more, none for a cell."""
    together: bool = False
    """True: one chart has the curves of all GPUs; False: each GPU has a tab."""
    implementations: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    x_title: str = ""
    y_title: str = ""
    caption: str = ""
    """HTML, which may hold markers of other slots."""
    label: str = ""
    """Id of the figure."""
    number: str = ""
    """Printed name: `Figure 2`."""


@dataclass(frozen=True, slots=True)
class OutputSlot:
    """`{output}`levels:L1:latency``: an entry of a table that a cell of the post put out, within a sentence."""

    places: tuple[tuple[str, str, str], ...]
    """Cell, row and column; two places stand for the quotient of the first and the second."""
    span: Span
    written: str
    """The text of the role."""


PLOT_KINDS = ("line", "staircase", "scatter", "bar", "heat", "spans", "chip")
"""Kinds of chart that `{plot}` draws."""
SWEEP_QUANTITIES = ("time", "bandwidth", "operations", "of-copy")
"""Quantities that the vertical axis of a sweep shows."""


@dataclass(frozen=True, slots=True)
class ValueSlot:
    """`{value}`softmax/fused bandwidth``: a figure of a record within a sentence."""

    value: ValueExpression
    span: Span
    is_linked: bool = False
    """True when the figure stands in the text of a link, so that it cannot be a link itself."""
    id_prefix: str = ""
    """Prefix of the ids of the text."""


@dataclass(frozen=True, slots=True)
class ClaimSlot:
    """The evidence of `{claim} softmax/fused >= 1.5x torch`, behind the sentence that makes the claim."""

    claim: Claim
    span: Span
    """The place of the claim behind the name of the directive."""
    sentence: str = ""
    """The plain text of the sentence."""


Slot = (
    LinkSlot
    | ImageSlot
    | FileSlot
    | TermSlot
    | CiteSlot
    | ListingSlot
    | CellSlot
    | BenchmarkSlot
    | RooflineSlot
    | PlotSlot
    | OutputSlot
    | ValueSlot
    | ClaimSlot
)


CELL_LANGUAGES = ("python", "triton", "cuda")


@dataclass(frozen=True, slots=True)
class Cell:
    """An executable fence: code for the GPU machine."""

    label: str
    language: str
    """One of CELL_LANGUAGES."""
    source: str
    """The code without the option lines."""
    span: Span
    """Place of the fence's first line."""
    line: int = 0
    """The line of the file on which `source` begins."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Checked display options of the outputs (`echo`, `fig-cap`, …), as YAML gave them."""
    look: Look = NUMBERED
    """Display options of the code."""
    implements: str = ""
    """`kernel/implementation` when this cell *is* an implementation."""
    launch: Launch | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    """`{gpu: ">=sm_80", memory: 8GB}`."""
    timeout_s: float = 60.0
    predicts: str = ""
    explains: str = ""
    raises: bool = False
    """An exception is expected (`error: true`)."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text as HTML with slots, and what other pages need to know of it."""

    html: str
    slots: tuple[Slot, ...] = ()
    headings: tuple[DocumentHeading, ...] = ()
    ids: tuple[str, ...] = ()
    """Every id in the HTML; links with `#` are checked against them."""
    cells: tuple[Cell, ...] = ()
    has_math: bool = False
    words: int = 0
    kept: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Values that directives keep of the text for other pages, by the name of the directive."""


_MARKER = re.compile("\0(\\d+)\0")


def has_formula(html: str) -> bool:
    """Return whether there is a formula in HTML, so that its page needs the font for formulas."""
    return "<math" in html


def fill_slots(html: str, contents: Sequence[str]) -> str:
    """Return the HTML of a Document with `contents[n]` in the place of its slot n."""
    return _MARKER.sub(lambda marker: contents[int(marker[1])], html)
