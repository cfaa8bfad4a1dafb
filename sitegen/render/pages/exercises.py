"""Print the list of exercises and the page of each: statement, starter, hints, checks, commands, and the solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.code import listing
from sitegen.model.document import BenchmarkSlot
from sitegen.model.exercise import FEWEST_PROGRAMS, MOST_PROGRAMS, dtype_of
from sitegen.model.kernel import Kernel
from sitegen.model.linked import document_key
from sitegen.model.listing import NUMBERED
from sitegen.model.markdown import Markdown
from sitegen.model.site import Exercise, Ref
from sitegen.model.urls import EXERCISES, exercise_url, exercise_zip_url, kernel_url, relative, series_url
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.benchmark_table import render_slot
from sitegen.render.measurements.source_code import SourceListing, source_listing
from sitegen.render.pages.concepts import ConceptLine, needed_by_exercise, taught
from sitegen.render.pages.series_page import duration
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.render.shared.structured import COLLECTION, About
from sitegen.render.texts.filled_slots import Place, fill
from sitegen.render.texts.mentions import worked_on

_PREPARE = ("python3 -m venv kernels-env", ". kernels-env/bin/activate", "python -m pip install torch triton numpy")
"""The commands that install the packages of a check; pip installs nothing into the Python of Debian and Ubuntu."""


@dataclass(frozen=True, slots=True)
class ExerciseLine:
    """An exercise in the list of exercises."""

    link: Link
    progress: str
    description: str
    effort: str
    kernel: Link
    teaches: tuple[ConceptLine, ...]


@dataclass(frozen=True, slots=True)
class ExerciseIndex:
    stylesheet: str
    script: str
    exercises: tuple[ExerciseLine, ...]


@dataclass(frozen=True, slots=True)
class ExercisePage:
    stylesheet: str
    script: str
    list: str
    """The link to the list of exercises."""
    progress: str
    """The id under which a reader's progress is kept, `exercise:softmax`."""
    title: str
    description: str
    kernel: Link
    plate: tuple[Fact, ...]
    needs: tuple[ConceptLine, ...]
    teaches: tuple[ConceptLine, ...]
    body: Markup
    hints: Markup
    file: str
    """The name of the file that the reader edits, `softmax.py`; it lies beside the page."""
    starter: Markup
    zip: str
    """The name of the archive with the folder that checks itself; it lies beside the page."""
    prepare: tuple[str, ...]
    """The commands that install the packages of a check, once on a machine."""
    commands: tuple[str, ...]
    """The commands that unpack the archive and check the folder in it."""
    folder: str
    checks: tuple[Fact, ...]
    series: tuple[Link, ...]
    """The series that list the exercise; each link leads to its line there."""
    solution: str
    source: SourceListing | None
    measured: Markup
    """The figures of the solution on each GPU that measured it."""
    worked_on: tuple[Link, ...]
    """The days of the worklog that mention the exercise."""


def exercise_index(printer: Printer) -> tuple[str, str]:
    sources = printer.sources
    lines = tuple(_index_line(sources, one) for one in _in_order(sources))
    page = ExerciseIndex(
        relative(sources.assets["exercise.css"], EXERCISES), relative(sources.assets["exercise.js"], EXERCISES), lines
    )
    description = "Kernels to write, each with a check that names the cause of a mistake."
    title = printer.language().say("Exercises")
    return printer.page(
        "exercises.html", EXERCISES, page, title=title, description=description, section=EXERCISES, about=COLLECTION
    )


def _in_order(sources: Sources) -> tuple[Exercise, ...]:
    """Return the exercises in the order in which the series list them, then those of no series."""
    phases = [phase for series in sources.site.series for phase in series.phases]
    listed = dict.fromkeys(one.id.name for phase in phases for one in phase.exercises)
    order = [name for name in listed if name in sources.exercises]
    return tuple(sources.exercises[name] for name in dict.fromkeys([*order, *sources.exercises]))


def _index_line(sources: Sources, exercise: Exercise) -> ExerciseLine:
    return ExerciseLine(
        link=Link(exercise.title, relative(exercise_url(exercise.id), EXERCISES)),
        progress=f"exercise:{exercise.id}",
        description=exercise.description,
        effort=duration(exercise.minutes) if exercise.minutes else "",
        kernel=_kernel_link(exercise, EXERCISES),
        teaches=taught(exercise, EXERCISES),
    )


def _kernel_link(exercise: Exercise, here: str) -> Link:
    return Link(exercise.kernel.name, relative(kernel_url(exercise.kernel.name), here))


def exercise_page(printer: Printer, exercise: Exercise) -> dict[str, str]:
    """Return the page of an exercise, and its starter as a file."""
    sources, here = printer.sources, exercise_url(exercise.id)
    kernel = sources.kernel(exercise.kernel.name)
    assert kernel is not None, "linking reports an unknown kernel"
    solution = next(one for one in kernel.implementations if one.name == exercise.solution.name)
    starter = sources.site.files[exercise.starter]
    page = ExercisePage(
        stylesheet=relative(sources.assets["exercise.css"], here),
        script=relative(sources.assets["exercise.js"], here),
        list=relative(EXERCISES, here),
        progress=f"exercise:{exercise.id}",
        title=exercise.title,
        description=exercise.description,
        kernel=_kernel_link(exercise, here),
        plate=tuple(_plate(exercise, here)),
        needs=needed_by_exercise(sources, exercise, here),
        teaches=taught(exercise, here),
        body=_text(printer, exercise.body, here),
        hints=_text(printer, exercise.hints, here) if exercise.hints else Markup(),
        file=f"{kernel.name}.py",
        starter=printer.html_of((starter, "triton"), lambda: "".join(listing(starter, "triton", NUMBERED))),
        zip=exercise_zip_url(exercise.id).rpartition("/")[2],
        prepare=_PREPARE,
        commands=(f"python -m zipfile -e {exercise.id}.zip .", f"cd {exercise.id}", "python check.py"),
        folder=exercise.id,
        checks=tuple(_checks(exercise, kernel)),
        series=_series(sources, exercise, here),
        solution=solution.name,
        source=source_listing(printer, solution),
        measured=_measured(printer, kernel, exercise.solution, here),
        worked_on=worked_on(sources, here, here, numbers.day),
    )
    path, html = printer.page(
        "exercise.html",
        here,
        page,
        title=exercise.title,
        description=exercise.description,
        section=EXERCISES,
        about=About(card=True),
    )
    return {path: html, f"{here}{page.file}": starter}


def _text(printer: Printer, text: Markdown, here: str) -> Markup:
    return fill(printer, printer.sources.document(text), Place(document_key(text), here))


def _plate(exercise: Exercise, here: str) -> Iterator[Fact]:
    if exercise.minutes:
        yield Fact("effort", duration(exercise.minutes))
    kernel = _kernel_link(exercise, here)
    yield Fact("kernel", kernel.text, kernel.href)
    yield Fact("needs", "Python 3.11 or newer, torch, Triton, NumPy")
    yield Fact("GPU", "not needed")


def _series(sources: Sources, exercise: Exercise, here: str) -> tuple[Link, ...]:
    return tuple(
        Link(series.title, relative(f"{series_url(series.id)}#exercise-{exercise.id}", here))
        for series in sources.site.series
        if any(one.id.name == exercise.id for phase in series.phases for one in phase.exercises)
    )


def _checks(exercise: Exercise, kernel: Kernel) -> Iterator[Fact]:
    """Yield what a solution must pass: shapes, inputs, the largest error, and the loads that make it slow."""
    yield Fact("shapes", "; ".join(_shape(dims) for dims in kernel.checks))
    extra = [name.replace("_", " ") for name in kernel.extra_inputs]
    yield Fact("inputs", ", ".join(["normal random numbers", *extra]))
    if (most := kernel.tolerance.get(dtype := dtype_of(kernel))) is not None:
        yield Fact("largest error", f"{numbers.error(most)} in {dtype}, against a reference in float64")
    yield Fact("memory", "every element is written, nothing beyond the output, no input is changed")
    limit = f"more than {exercise.most_loads:g} ×"
    loads = f"it loads {limit} the bytes of the solution, or touches {limit} its sectors"
    programs = f"or it starts more than {MOST_PROGRAMS} × as many programs, or 1/{FEWEST_PROGRAMS} as many or fewer"
    yield Fact("slow", f"{loads}, {programs}; counted at {_shape(exercise.counted_at)}")
    yield Fact("slow on a GPU", f"more than {exercise.most_loads:g} × the time of the solution")


def _shape(dims: Mapping[str, int]) -> str:
    """Return sizes in words: `M = 3, N = 127`."""
    return ", ".join(f"{name}{numbers.NBSP}={numbers.NBSP}{size}" for name, size in dims.items())


def _measured(printer: Printer, kernel: Kernel, solution: Ref, here: str) -> Markup:
    slot = BenchmarkSlot(kernel.name, solution.span, dtypes=(dtype_of(kernel),), implementations=(solution.name,))
    return render_slot(printer, slot, here, "figures")
