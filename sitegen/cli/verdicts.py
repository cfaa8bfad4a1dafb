"""Turn the results of a run into lines for the author: the reasons of failures, and a table with the result of
everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sitegen.model.job import NO_DTYPE, UNJUDGED, JobResult, is_of_reference, status_words
from sitegen.model.kernel import Status
from sitegen.model.record import Evaluation, MeasuredSweep, Rejection, Role
from sitegen.model.sweep_points import words_of_values
from sitegen.results.logs import explanation_of

NOT_JUDGED, NO_REFERENCE = "not judged", "not judged: the reference failed"
MOST_LINES = 20
"""The most lines of a cell's output that a run shows."""


@dataclass(slots=True)
class _Failure:
    """One reason for which several evaluations failed."""

    names: dict[str, list[str]] = field(default_factory=dict)
    """Workloads and dtypes by name, such as `axpy/tile`; none for a variant or a cell."""


def notes(results: Iterable[JobResult]) -> Iterator[str]:
    """Yield an entry for each warning and each reason for which something was not judged, which is no failure.

    Ceilings, which only a GPU has, are no entry of a run without one.
    """
    results = list(results)
    warned: dict[str, list[str]] = {}
    gpu = any(result.environment for result in results)
    for result in results:
        yield from ([f"{result.id}: {result.error}"] if gpu and result.error and not result.undone else [])
        for line in result.warnings:
            warned.setdefault(line, []).append(result.id)
    for line, ids in warned.items():
        others = f" and {len(ids) - 1} further job{'s' if len(ids) > 2 else ''}" if len(ids) > 1 else ""
        yield f"{ids[0]}{others}: {line}"
    yield from _entries(one for result in results for one in _failed(result) if one[2] == NOT_JUDGED)


class Failures:
    """The failures that a run has told so far: each is told once, when the first job ends that has it."""

    def __init__(self) -> None:
        self.count = 0
        """Entries that were told."""
        self._told: set[tuple[str, ...]] = set()

    def new_in(self, results: Iterable[JobResult]) -> list[str]:
        """Return an entry for each reason that was not told yet; failures that share a reason are in one entry.

        An entry may have several lines: the message, and the lines of the author's files that led to it.
        """
        results = list(results)
        undone = {(one.id, one.error): f"error: {one.id}: {one.error}" for one in results if one.undone}
        failed = [one for result in results for one in _failed(result) if one[2] != NOT_JUDGED]
        new = [one for one in failed if _reason(one) not in self._told]
        entries = [entry for reason, entry in undone.items() if reason not in self._told]
        entries += [f"error: {entry}" for entry in _entries(new)]
        self._told |= {*undone, *map(_reason, new)}
        self.count += len(entries)
        return entries


def _reason(failed: tuple[str, str, str, str]) -> tuple[str, ...]:
    """Return what makes two failures the same: name, status and message; the message alone of a failed reference."""
    name, _, status, message = failed
    return (message,) if is_of_reference(message) else (name, status, message)


def _entries(failed: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    """Yield a text for each reason.  A failed reference is named in place of the implementations that wait for it."""
    by_reason: dict[tuple[str, str], _Failure] = {}
    for name, place, status, message in failed:
        reason = (status, message) if message else (status, name)
        by_reason.setdefault(reason, _Failure()).names.setdefault(name, []).extend([place] if place else [])
    for (status, message), failure in by_reason.items():
        text = "" if message in failure.names else f": {message}"
        yield message if is_of_reference(message) else f"{_joined(failure)}: {status}{text}"


def verdicts(results: Sequence[JobResult]) -> list[str]:
    """Return a row for each implementation, `wrong/` variant, sweep and cell: its name, result, dtypes and shapes."""
    rows: dict[tuple[str, str], tuple[list[str], int]] = {}
    for result in results:
        for evaluation in result.evaluations:
            if evaluation.role is Role.IMPLEMENTATION:
                dtypes, shapes = rows.get((_name(result, evaluation), _verdict(evaluation)), ([], 0))
                shapes = max(shapes, evaluation.correctness.shapes if evaluation.correctness else 0)
                rows[_name(result, evaluation), _verdict(evaluation)] = [*dtypes, evaluation.dtype], shapes
        for rejection in result.rejections:
            rows[f"{result.id}/{rejection.name}", _rejected(rejection)] = [], 0
        for sweep in result.sweeps:
            rows[result.id, _points(sweep)] = [sweep.dtype], 0
        for cell in result.cells:
            rows[f"{result.id}#{cell.label}", _words(cell.status)] = [], 0
    return table([(name, verdict, _extent(*extent)) for (name, verdict), extent in rows.items()])


def outputs_of_cells(results: Iterable[JobResult]) -> Iterator[str]:
    """Yield an entry for each cell that printed text or has a value: its name, and the first lines."""
    for result in results:
        for cell in result.cells:
            texts = [output.text for output in cell.outputs if output.kind in ("stream", "text")]
            lines = [f"  {line}".rstrip() for text in texts for line in text.splitlines()]
            if len(lines) > MOST_LINES:
                lines = [*lines[:MOST_LINES], f"  … {len(lines) - MOST_LINES} more lines"]
            if lines:
                yield "\n".join([f"{result.id}#{cell.label} prints:", *lines])


def _failed(result: JobResult) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, workload and dtype, status and message of everything that failed or was not judged."""
    for evaluation in result.evaluations:
        unjudged = evaluation.message.startswith(UNJUDGED)
        if evaluation.status.failed or unjudged:
            status = NOT_JUDGED if unjudged else status_words(evaluation.status, evaluation.message)
            yield _name(result, evaluation), result.id.partition("@")[2], status, explanation_of(result, evaluation)
    for rejection in result.rejections:
        if rejection.status not in (rejection.expected, Status.NOT_RUN):
            status = rejection.status.words if rejection.message else _rejected(rejection)
            yield f"{result.id}/{rejection.name}", "", status, explanation_of(result, rejection)
        elif rejection.message.startswith(UNJUDGED):
            yield f"{result.id}/{rejection.name}", "", NOT_JUDGED, rejection.message
    for sweep in result.sweeps:
        for point in sweep.points:
            if point.status.failed:
                yield result.id, words_of_values(point.values), point.status.words, point.message
    for cell in result.cells:
        if cell.status not in (Status.PASSED, Status.NOT_RUN):
            yield f"{result.id}#{cell.label}", "", _words(cell.status), cell.message


def _joined(failure: _Failure) -> str:
    """Return the names and places of a failure: `axpy/tile, axpy/two_tiles (1024:float32, 4096:float32)`."""
    places = dict.fromkeys(place for several in failure.names.values() for place in several)
    return ", ".join(failure.names) + (f" ({', '.join(places)})" if places else "")


def _name(result: JobResult, evaluation: Evaluation) -> str:
    return f"{result.id.partition('@')[0]}/{evaluation.name}"


def _verdict(evaluation: Evaluation) -> str:
    lacking = evaluation.status is Status.UNSUPPORTED and not evaluation.message.startswith(NO_DTYPE)
    if lacking or evaluation.status is Status.DOES_NOT_FIT:
        return f"{evaluation.status.words} ({evaluation.message})"
    if is_of_reference(evaluation.message):
        return NO_REFERENCE
    if evaluation.message.startswith(UNJUDGED):
        return NOT_JUDGED
    return status_words(evaluation.status, evaluation.message)


def _rejected(rejection: Rejection) -> str:
    if rejection.status is Status.NOT_RUN:
        return NOT_JUDGED if rejection.message.startswith(UNJUDGED) else "not run"
    if is_of_reference(rejection.message):
        return NO_REFERENCE
    if rejection.status is rejection.expected:
        return f"rejected: {rejection.status.words}"
    return f"{rejection.status.words}, expected {rejection.expected.words}"


def _points(sweep: MeasuredSweep) -> str:
    """Return the results of a sweep's points in words: `12 points: 11 passed, 1 runtime error`."""
    counts = Counter(point.status.words for point in sweep.points)
    return f"{len(sweep.points)} points: {', '.join(f'{count} {status}' for status, count in counts.items())}"


def _words(status: str) -> str:
    """Return the status of a cell, which is a text, in words."""
    return Status(status).words if status in list(Status) else status


def _extent(dtypes: Sequence[str], shapes: int) -> str:
    """Return dtypes and the number of shapes as text: `float32, bfloat16; 3 shapes`."""
    checked = f"{shapes} shape{'s' if shapes != 1 else ''}" if shapes else ""
    return "; ".join(filter(None, [", ".join(dict.fromkeys(dtypes)), checked]))


def table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return the rows as lines with equally wide columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
