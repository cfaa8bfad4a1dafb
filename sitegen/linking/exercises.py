"""Report what an exercise names and the site does not have: its kernel, its solution, its starter, its dims.

SG036 a starter that is no Python · SG204 unknown kernel · SG205 unknown implementation · SG216 an exercise that cannot
be checked
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Span, near_words
from sitegen.linking.kernel_refs import unknown
from sitegen.model.kernel import Kernel, Language
from sitegen.model.site import Exercise, Site
from sitegen.read.python import defines, functions_of, syntax_mistake


def exercise_mistakes(site: Site) -> Iterator[Diagnostic]:
    """Yield the mistakes in what each exercise names; reading reports a missing name."""
    kernels = {kernel.name: kernel for kernel in site.kernels}
    for exercise in site.exercises:
        yield from _mistakes(exercise, kernels, site.files)


def sound_exercises(site: Site) -> tuple[Exercise, ...]:
    """Return the exercises of which a page can be made: nothing that they name is missing."""
    kernels = {kernel.name: kernel for kernel in site.kernels}
    named = (one for one in site.exercises if one.kernel.name and one.solution.name)
    faultless = (one for one in named if not any(_mistakes(one, kernels, site.files)))
    return tuple(one for one in faultless if kernels[one.kernel.name].is_read)


def _mistakes(exercise: Exercise, kernels: Mapping[str, Kernel], files: Mapping[str, str]) -> Iterator[Diagnostic]:
    name = exercise.kernel.name
    if name in kernels:
        yield from _mistakes_of_names(exercise, kernels[name]) if kernels[name].is_read else ()
    elif name:
        yield unknown("SG204", "kernel", name, kernels, exercise.kernel.span)
    if exercise.starter not in files:
        hint = f"write {exercise.starter}, the file with which a reader begins"
        yield Diagnostic("SG216", "this exercise has no starter", Span(exercise.body.path), hint)
    elif name in kernels:
        yield from _mistakes_of_starter(exercise.starter, files[exercise.starter], name)


def _mistakes_of_starter(path: str, source: str, name: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic when the starter is no Python, or the function that the check calls has another name there.

    A starter without a function that Python can call leaves all of it to the reader.
    """
    if mistake := syntax_mistake(source, path):
        yield mistake
    elif (functions := dict(functions_of(source))) and not defines(name, source):
        other = next(iter(near_words(name, functions)), [*functions][-1])
        hint = f"rename `{other}` to `{name}`: the check calls the function that is named like the kernel"
        place = Span(path, functions[other], len("def ") + 1, len(other))
        yield Diagnostic("SG216", f"no function `{name}` in this starter", place, hint)


def _mistakes_of_names(exercise: Exercise, kernel: Kernel) -> Iterator[Diagnostic]:
    solution, triton = exercise.solution, [one for one in kernel.implementations if one.language is Language.TRITON]
    if solution.name and solution.name not in {one.name for one in kernel.implementations}:
        yield unknown("SG205", "implementation", solution.name, [one.name for one in triton], solution.span)
    elif solution.name and solution.name not in {one.name for one in triton}:
        hint = f"in Triton: {', '.join(one.name for one in triton) or 'none'}"
        message = f"`{solution.name}` is not written in Triton, which the check of an exercise needs"
        yield Diagnostic("SG216", message, solution.span, hint)
    if exercise.counted_at and kernel.dims and tuple(exercise.counted_at) != kernel.dims:
        wanted = ", ".join(f"{name}: …" for name in kernel.dims)
        message = f"`counted_at` does not have the dims of {kernel.name}"
        yield Diagnostic("SG216", message, exercise.counted_span or exercise.span, f"write `counted_at: {{{wanted}}}`")
