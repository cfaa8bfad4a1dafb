"""Present what several GPUs measured as one: name the GPU in labels, and put tables and charts behind a tab a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.gpu import is_yours, model_of
from sitegen.model.record import Record
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.placeholder import absent


@dataclass(frozen=True, slots=True)
class GpuTab:
    """A tab with what one GPU measured."""

    id: str
    key: str
    """The GPU's id.  A browser remembers the key that its reader chose, and opens its tabs on every page."""
    title: str
    shown: Markup


@dataclass(frozen=True, slots=True)
class GpuTabs:
    name: str
    """The name of the set, unique on the page."""
    titles: str
    tabs: tuple[GpuTab, ...]
    wide: bool
    """Whether the set takes the margin of a post, too."""


def gpu_name(record: Record) -> str:
    """Return the product name of the GPU of a record: `NVIDIA H200`, or `NVIDIA H200 (yours)` for a reader's own."""
    return name_of(record.runs[-1].environment.gpu if record.runs else model_of(record.gpu), record.gpu)


def name_of(product: str, gpu: str) -> str:
    """Return the name that pages show for a GPU, from its product name and its id."""
    return f"{product} (yours)" if is_yours(gpu) else product


def short_name(gpu: str) -> str:
    """Return the short name of a GPU: `H100` for `NVIDIA H100 80GB HBM3`, and `yours` for a reader's own.

    Words without a digit lead to the model and stay, apart from the vendor's: `GeForce RTX 4090`.
    """
    if gpu.endswith("(yours)"):
        return "yours"
    words = gpu.removeprefix("NVIDIA ").split()
    model = next((n for n, word in enumerate(words) if any(map(str.isdigit, word))), len(words) - 1)
    return " ".join(words[: model + 1])


def label_of(sources: Sources, record: Record, number: str = "") -> str:
    """Return the label before a caption: `Table 1.`, or `Table 1, NVIDIA H200.` where several GPUs measured the kernel.

    It is empty when there is neither a number nor a second GPU.
    """
    return label_on(gpu_name(record), number, several=len(sources.records(record.kernel)) > 1)


def label_on(gpu: str, number: str, *, several: bool) -> str:
    """Return `Table 1.`, or `Table 1, NVIDIA H200.` where several GPUs have that table."""
    parts = [part for part in (number, gpu if several else "") if part]
    return f"{', '.join(parts)}." if parts else ""


def side_by_side(
    printer: Printer,
    measured: Iterable[tuple[Record, Markup]],
    records: Sequence[Record],
    name: str,
    *,
    wide: bool = False,
) -> Markup:
    """Return what the only GPU measured as it is, and what several measured behind a tab each.

    A record of which `measured` has nothing gets a tab that says so.
    """
    shown = {record.gpu: html for record, html in measured}
    return in_tabs(printer, {one.gpu: gpu_name(one) for one in records}, shown, name, wide=wide)


def in_tabs(
    printer: Printer, gpus: Mapping[str, str], shown: Mapping[str, Markup], name: str, *, wide: bool = False
) -> Markup:
    """Return what the only one of `gpus` (names by id) measured as it is, and what several measured behind a tab each.

    `shown` is the HTML by the id of the GPU; a GPU without it gets a tab that says so.
    """
    if len(gpus) == 1:
        return Markup().join(shown.values())
    tabs = tuple(
        GpuTab(f"{name}-gpu-{n}", gpu, gpus[gpu], shown.get(gpu) or absent(printer, f"Not measured on {gpus[gpu]}."))
        for n, gpu in enumerate(sorted(gpus, key=lambda gpu: gpu not in shown))
    )
    titles = ", ".join(tab.title for tab in tabs)
    return printer.fragment("partials/gpus.html", GpuTabs(f"{name}-gpu", titles, tabs, wide))
