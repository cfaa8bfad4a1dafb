"""Print the measured ceilings of each GPU: every ceiling beside the datasheet's value, every probe, and the probes'
sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from sitegen.markup.code import code_figure
from sitegen.model.ceiling_table import CEILINGS, CeilingUnit
from sitegen.model.record import Ceiling, CycleRate, Run
from sitegen.model.urls import KERNELS, ceilings_url, relative
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.figures.read_bandwidth import MIB, Stairs, render_staircase
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import name_of
from sitegen.render.measurements.kernel_charts import MIXES, ceiling_name
from sitegen.render.measurements.record_facts import machine_facts
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.results.datasheets import Datasheet, datasheet

_CODE = re.compile(r"`([^`]+)`")
_WORKING_SET = re.compile(r"(\d+) MB")
"""The name of a probe that reads a working set repeatedly: the size of the set."""


@dataclass(frozen=True, slots=True)
class ProbeSource:
    name: str
    """The file name, such as `l2.cu`."""
    about: Markup
    """The file's opening comment, its `words` as code."""
    code: Markup


@dataclass(frozen=True, slots=True)
class CeilingsPage:
    gpu: str
    date: str
    seconds: str
    """The time of all probes; empty when it was not recorded."""
    plate: tuple[Fact, ...]
    ceilings: tables.Table
    cycles: tables.Table | None
    """Rates in SM cycles; None in records without them."""
    gpus: tables.Table | None
    """Ceilings of each GPU of the run; None for a run on one GPU."""
    staircase: Markup
    """The staircase; empty when fewer than two working sets were read."""
    working_sets: tables.Table | None
    probes: tables.Table
    sources: tuple[ProbeSource, ...]
    datasheet: str
    """The source of the datasheet's values; empty when none is known."""


def render_ceilings(printer: Printer) -> dict[str, str]:
    """Return a page for each GPU whose ceilings were measured, from the newest run that measured them."""
    sources = tuple(_source(name, text) for name, text in sorted(printer.sources.probes.items()))
    return dict(
        _page(printer, gpu, run, sources)
        for gpu in printer.sources.evidence.records.gpus()
        if (run := printer.sources.ceilings_run(gpu))
    )


def _page(printer: Printer, gpu: str, run: Run, sources: tuple[ProbeSource, ...]) -> tuple[str, str]:
    sheet, name = datasheet(gpu), name_of(run.environment.gpu, gpu)
    steps = working_sets(run)
    page = CeilingsPage(
        gpu=name,
        date=run.date,
        seconds=numbers.with_unit(numbers.fixed(took, 0), "s")
        if (took := sum(c.seconds for c in run.ceilings))
        else "",
        plate=machine_facts(run),
        ceilings=_ceilings(run, sheet),
        cycles=_in_cycles(run),
        gpus=_by_gpu(run) if run.other_gpus else None,
        staircase=_staircase(run, steps),
        working_sets=_working_sets(steps) if steps else None,
        probes=_probes(run),
        sources=sources,
        datasheet=sheet.source if sheet else "",
    )
    description = (
        f"What an {name} reaches when a program does nothing else: memory, caches and arithmetic, as measured."
    )
    return printer.page(
        "ceilings.html", ceilings_url(gpu), page, title=f"Ceilings of {name}", description=description, section=KERNELS
    )


def ceilings_links(sources: Sources, here: str) -> tuple[Link, ...]:
    """Return a link to the page of ceilings of each GPU that has one."""
    runs = [(gpu, sources.ceilings_run(gpu)) for gpu in sources.evidence.records.gpus()]
    return tuple(Link(name_of(run.environment.gpu, gpu), relative(ceilings_url(gpu), here)) for gpu, run in runs if run)


def long_name(name: str) -> str:
    """Return the long name of a ceiling: `memory, copy (1:1)`, `bf16 tensor`, `shared memory, read`."""
    return f"memory, {MIXES[name]} ({name.removeprefix('memory ')})" if name in MIXES else ceiling_name(name)


def rate_text(name: str, rate: float) -> str:
    return numbers.bandwidth(rate) if CEILINGS[name].unit is CeilingUnit.BYTES else numbers.teraflops(rate)


def working_sets(run: Run) -> dict[int, float]:
    """Return the read bandwidth (bytes/s) by the size of the working set (MiB), ascending."""
    probes = next((ceiling.probes for ceiling in run.ceilings if ceiling.name == "L2"), {})
    by_size = {int(match[1]): rate for name, rate in probes.items() if (match := _WORKING_SET.fullmatch(name))}
    return dict(sorted(by_size.items()))


def _ceilings(run: Run, sheet: Datasheet | None) -> tables.Table:
    titles = ("measured", "datasheet", f"of datasheet,{numbers.NBSP}%")
    heads = (*(tables.Heading(title) for title in titles), tables.Heading("", bar=True))
    lines = tuple(_ceiling_line(ceiling, sheet) for ceiling in run.ceilings)
    caption = "The best rate of each ceiling’s probes, beside the dense rate that the vendor prints."
    head = (*heads, tables.Heading("by", class_="t"))
    return tables.Table("ceilings", caption, "", head, (tables.Body(lines=lines),), (), wide=False, first="ceiling")


def _ceiling_line(ceiling: Ceiling, sheet: Datasheet | None) -> tables.Line:
    printed = sheet.rate(ceiling.name) if sheet else None
    share = ceiling.rate / printed if printed else None
    unit = "TB/s" if CEILINGS[ceiling.name].unit is CeilingUnit.BYTES else "TFLOP/s"
    cells = (
        rate_text(ceiling.name, ceiling.rate),
        numbers.with_unit(numbers.printed(printed / 1e12), unit) if printed else "",
        numbers.fixed(share * 100, 1) if share else "",
        bar(share, Mark.BASELINE) if share else Markup(),
        max(_ways(ceiling).items(), key=lambda probe: probe[1], default=("", 0.0))[0],
    )
    return tables.Line(f"c-{tables.part_of_id(ceiling.name)}", long_name(ceiling.name), "", "", cells)


def _in_cycles(run: Run) -> tables.Table | None:
    """Return the arithmetic ceilings in SM cycles, a line for bursts and one for sustained load."""
    sms = run.environment.sm_count
    lines = tuple(
        _cycle_line(ceiling.name, kind, rate, sms)
        for ceiling in run.ceilings
        for kind, rate in (("burst", ceiling.burst), ("sustained", ceiling.sustained))
        if rate
    )
    titles = ("FLOP per cycle and SM", "95 % interval", "SM clock")
    head = (*(tables.Heading(title) for title in titles), tables.Heading("by", class_="t"))
    caption = "Operations of one SM per cycle: the mean of several bursts, or of several stretches of sustained load."
    body = (tables.Body(lines=lines),)
    return tables.Table("in-cycles", caption, "", head, body, (), wide=False, first="ceiling") if lines else None


def _cycle_line(name: str, kind: str, rate: CycleRate, sms: int) -> tables.Line:
    half = (rate.high - rate.low) / 2 / rate.per_cycle
    cells = (
        numbers.significant(rate.per_cycle / sms, 4),
        f"±{numbers.percent(half, 2)}",
        numbers.clock(rate.sm_clock_mhz),
        rate.way.removesuffix(f" {kind}"),
    )
    return tables.Line(f"y-{tables.part_of_id(name)}-{kind}", f"{long_name(name)}, {kind}", "", "", cells)


def _by_gpu(run: Run) -> tables.Table:
    """Return the ceilings of every GPU of the run, a column for each GPU."""
    rates = [{ceiling.name: ceiling.rate for ceiling in gpu.ceilings} for gpu in run.gpus]
    lines = tuple(
        tables.Line(
            f"g-{tables.part_of_id(name)}",
            long_name(name),
            "",
            "",
            tuple(rate_text(name, of_gpu[name]) if name in of_gpu else "" for of_gpu in rates),
        )
        for name in dict.fromkeys(name for of_gpu in rates for name in of_gpu)
    )
    head = tuple(tables.Heading(gpu.environment.gpu_hash or "unknown") for gpu in run.gpus)
    caption = "Ceilings of each GPU of the run, by the hash of the GPU. Each evaluation has those of its own GPU."
    return tables.Table("gpus", caption, "", head, (tables.Body(lines=lines),), (), wide=False, first="ceiling")


def _probes(run: Run) -> tables.Table:
    heads = (tables.Heading("rate"), tables.Heading(f"of the best,{numbers.NBSP}%"), tables.Heading("", bar=True))
    bodies = tuple(_probe_body(ceiling) for ceiling in run.ceilings)
    caption = "Every probe’s own rate, the fastest first: the best is the ceiling."
    return tables.Table("probes", caption, "", heads, bodies, (), wide=False, first="probe")


def _ways(ceiling: Ceiling) -> dict[str, float]:
    """Return the probes that differ in their method, without those that differ only in their working set."""
    return {name: rate for name, rate in ceiling.probes.items() if not _WORKING_SET.fullmatch(name)}


def _probe_body(ceiling: Ceiling) -> tables.Body:
    ordered = sorted(_ways(ceiling).items(), key=lambda probe: (-probe[1], probe[0]))
    lines = tuple(_probe_line(ceiling, n, name, rate) for n, (name, rate) in enumerate(ordered))
    took = f", {numbers.with_unit(numbers.fixed(ceiling.seconds, 1), 's')}" if ceiling.seconds else ""
    return tables.Body(long_name(ceiling.name), f"{numbers.count(len(lines), 'probe')}{took}", "", lines)


def _probe_line(ceiling: Ceiling, n: int, name: str, rate: float) -> tables.Line:
    share = rate / ceiling.rate if ceiling.rate else 0.0
    cells = (rate_text(ceiling.name, rate), numbers.fixed(share * 100, 1), bar(share, Mark.BASELINE))
    return tables.Line(f"p-{tables.part_of_id(ceiling.name)}-{n}", name, "", "own" if n == 0 else "", cells)


def _staircase(run: Run, steps: Mapping[int, float]) -> Markup:
    if len(steps) < 2:
        return Markup()
    dram = next((ceiling.rate for ceiling in run.ceilings if ceiling.name == "memory 1:0"), None)
    return render_staircase(Stairs(run.environment.gpu, steps, run.environment.l2_bytes, dram), id="staircase")


def _working_sets(steps: Mapping[int, float]) -> tables.Table:
    lines = tuple(
        tables.Line(f"set-{mib}", numbers.with_unit(str(mib), MIB), "", "", (numbers.bandwidth(rate),))
        for mib, rate in steps.items()
    )
    body = (tables.Body(lines=lines),)
    heads = (tables.Heading("rate"),)
    return tables.Table("sets", "The staircase as numbers", "", heads, body, (), wide=False, first="working set")


def _source(name: str, text: str) -> ProbeSource:
    about, code = opening_comment(text)
    figure = code_figure(code, "cuda", title=f"probes/{name}", label=f"Source of the probe {name}")
    return ProbeSource(name, Markup(_CODE.sub(r"<code>\1</code>", escape(about))), Markup(figure))


def opening_comment(text: str) -> tuple[str, str]:
    """Return the comment in the first `//` lines of a file as one paragraph, and the rest of the file."""
    lines = text.splitlines()
    count = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return " ".join(_words(lines[:count])), "\n".join(lines[count:]).strip("\n")


def _words(comment: list[str]) -> Iterator[str]:
    for line in comment:
        yield from line.removeprefix("//").split()
