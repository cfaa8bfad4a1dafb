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

if TYPE_CHECKING:
    from sitegen.model.kernel import Launch


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    id: str
    text: str
    """Plain text, for the contents list."""


@dataclass(frozen=True, slots=True)
class LinkSlot:
    """The href of a link: as written, `../sum/index.md`, `/kernels/softmax/`, `#anchor`, `https://…`."""

    target: str
    span: Span


@dataclass(frozen=True, slots=True)
class ImageSlot:
    """An image, whole: its file relative to the text's, and the attributes of its element in their order."""

    target: str
    span: Span
    attributes: tuple[tuple[str, str], ...] = ()
    """All but `src`: `alt`, `title`, `class`, `id`."""
    first: bool = False
    """Of its text: it is loaded at once, the others when the reader comes near."""


@dataclass(frozen=True, slots=True)
class FileSlot:
    """The address of a film, a sound or another file that a page loads, relative to the file of the text."""

    target: str
    span: Span


@dataclass(frozen=True, slots=True)
class TermSlot:
    """`{term}`warp``: a word of the glossary; what it leads to, in place of an address."""

    name: str
    """As it was written: a title, a slug or another name of a term."""
    span: Span


@dataclass(frozen=True, slots=True)
class Cited:
    """One work in a citation."""

    key: str
    prefix: str = ""
    """`see` of `[see @dao2022]`."""
    suffix: str = ""
    """`p. 3` of `[@dao2022, p. 3]`."""
    bare: bool = False
    """`[-@dao2022]`: without its authors, where those are shown."""
    id: str = ""
    """Of this mention, to which the list of references leads back."""


@dataclass(frozen=True, slots=True)
class CiteSlot:
    """`[@dao2022, p. 3; @other]`, or `@dao2022` in a sentence."""

    items: tuple[Cited, ...]
    written: str
    """The text itself: what is shown where there is no bibliography."""
    span: Span
    narrative: bool = False
    """A part of the sentence, which names the authors."""
    id_prefix: str = ""
    """Of the ids of the text."""


@dataclass(frozen=True, slots=True)
class ListingSlot:
    """`{kernel} softmax/fused`: the source of an implementation, or a named region of it."""

    kernel: str
    implementation: str
    span: Span
    region: str = ""
    """Between `// region: NAME` (or `# region: NAME`) and `// endregion`; empty: the whole file."""
    look: Look = NUMBERED
    against: str = ""
    """The implementation of the same kernel that it is compared with."""


@dataclass(frozen=True, slots=True)
class CellSlot:
    """Where an executable cell stands: its code and what it put out."""

    label: str
    number: str = ""
    """What its output is called, when that has a caption or can be referred to: `Figure 2`."""


@dataclass(frozen=True, slots=True)
class BenchmarkSlot:
    """`{benchmark} softmax`: a table of evaluations.  Empty tuples: everything the kernel has."""

    kernel: str
    span: Span
    workloads: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """`time`, `bandwidth`, `of-ceiling`, `of-copy`, `vs: torch`; empty: the first three and vs each baseline."""
    implementations: tuple[str, ...] = ()
    caption: str = ""
    label: str = ""
    """Its id."""
    number: str = ""
    """What it is called: `Table 2`."""


@dataclass(frozen=True, slots=True)
class RooflineSlot:
    """`{roofline} softmax`: the roofline of the kernel at one workload and dtype (default: the first of each)."""

    kernel: str
    span: Span
    workload: str = ""
    dtype: str = ""
    caption: str = ""
    label: str = ""
    """Its id."""
    number: str = ""
    """What it is called: `Figure 2`."""


Slot = LinkSlot | ImageSlot | FileSlot | TermSlot | CiteSlot | ListingSlot | CellSlot | BenchmarkSlot | RooflineSlot


CELL_LANGUAGES = ("python", "triton", "cuda")


@dataclass(frozen=True, slots=True)
class Cell:
    """An executable fence: code for the GPU machine."""

    label: str
    language: str
    """One of CELL_LANGUAGES."""
    source: str
    """Without its option lines."""
    span: Span
    """Of the fence's first line."""
    line: int = 0
    """The line of the file on which `source` begins."""
    options: Mapping[str, object] = field(default_factory=dict)
    """The display options of what it puts out (`echo`, `fig-cap`, …), checked, as YAML gave them."""
    look: Look = NUMBERED
    """Of its code."""
    implements: str = ""
    """`kernel/implementation` when this cell *is* an implementation."""
    launch: Launch | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    """`{gpu: ">=sm_80", memory: 8GB}`."""
    timeout_s: float = 60.0
    predicts: str = ""
    raises: bool = False
    """An exception is expected (`error: true`)."""


@dataclass(frozen=True, slots=True)
class Document:
    html: str
    slots: tuple[Slot, ...] = ()
    headings: tuple[Heading, ...] = ()
    ids: tuple[str, ...] = ()
    """Every id in the HTML, for anchors."""
    cells: tuple[Cell, ...] = ()
    has_math: bool = False
    words: int = 0
    kept: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By the name of a directive, what it keeps of the text for other pages."""


_MARKER = re.compile("\0(\\d+)\0")


def has_formula(html: str) -> bool:
    """Return whether there is a formula in HTML, so that its page needs the font for formulas."""
    return "<math" in html


def filled(html: str, contents: Sequence[str]) -> str:
    """The HTML of a Document with `contents[n]` in the place of its slot n."""
    return _MARKER.sub(lambda found: contents[int(found[1])], html)
