"""Print the ledger of predictions: each implementation's predicted and measured share of the ceiling, and the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.urls import KERNELS, PREDICTIONS, kernel_url, relative
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import gpu_name
from sitegen.render.measurements.ledger import ledger
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.render.texts.mentions import mentions
from sitegen.results.predictions import CLOSE, PredictionLine, Score, prediction_lines, score


@dataclass(frozen=True, slots=True)
class KernelPredictions:
    """The predictions of a kernel on a GPU."""

    id: str
    kernel: Link
    on: str
    """The words that tell its heading from that of another GPU: ` on NVIDIA H200`; empty for the only one."""
    gpu: str
    """The name of the GPU."""
    posts: tuple[Link, ...]
    """The posts that show the kernel."""
    score: str
    table: tables.Table


@dataclass(frozen=True, slots=True)
class PredictionsPage:
    plate: tuple[Fact, ...]
    kernels: tuple[KernelPredictions, ...]


def predictions_page(printer: Printer) -> tuple[str, str]:
    sources = printer.sources
    found = [
        (kernel, record, tuple(prediction_lines(kernel, record)))
        for kernel in sources.site.kernels
        for record in sources.records(kernel.name)
    ]
    page = PredictionsPage(
        plate=_plate(score(line for _, _, lines in found for line in lines)),
        kernels=tuple(_of_kernel(sources, kernel, record, lines) for kernel, record, lines in found if lines),
    )
    description = "Every prediction beside its measurement: how well do we predict?"
    title = "Predictions"
    return printer.page("predictions.html", PREDICTIONS, page, title=title, description=description, section=KERNELS)


def _plate(one: Score | None) -> tuple[Fact, ...]:
    if one is None:
        return ()
    return (
        Fact("evaluations with a prediction", str(one.lines)),
        Fact(f"within {CLOSE * 100:.0f} points", numbers.percent(one.close / one.lines)),
        Fact("median error", f"{numbers.fixed(one.median_error * 100, 1)} points"),
        Fact("predicted too high", numbers.percent(one.too_high / one.lines)),
    )


def _of_kernel(sources: Sources, kernel: Kernel, record: Record, lines: Sequence[PredictionLine]) -> KernelPredictions:
    several = len(sources.records(kernel.name)) > 1
    id = f"{kernel.name}-{record.gpu}" if several else kernel.name
    return KernelPredictions(
        id=id,
        kernel=Link(kernel.name, relative(kernel_url(kernel.name), PREDICTIONS)),
        on=f" on {gpu_name(record)}" if several else "",
        gpu=gpu_name(record),
        posts=mentions(sources, sources.linked.kernel_posts.get(kernel.name, ()), PREDICTIONS),
        score=_words(score(lines)),
        table=ledger(kernel, record.gpu, id, lines),
    )


def _words(one: Score | None) -> str:
    return f"{one.close} of {numbers.count(one.lines, 'evaluation')} within 5 points of the prediction" if one else ""
