"""Compare each author's prediction with the measurement: a line for each implementation, workload, dtype and GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record, Role
from sitegen.results.figures import figures

CLOSE = 0.05
"""The difference, as a share of the ceiling, up to which a prediction counts as close: five percentage points."""


@dataclass(frozen=True, slots=True)
class PredictionLine:
    """A prediction and its measurement, both as shares of the ceiling."""

    gpu: str
    name: str
    workload: str
    dtype: str
    predicted: float
    """The share as it stood when the implementation first passed."""
    measured: float
    words: str
    """The sentence of the prediction as it stood then."""
    explains: str
    """The author's explanation of the difference; empty without one."""
    revised: str
    """The sentence of today's kernel.yaml, when it is another one: it was revised after measuring."""

    @property
    def difference(self) -> float:
        """The measured share minus the predicted one."""
        return self.measured - self.predicted


@dataclass(frozen=True, slots=True)
class Score:
    """How well several predictions agree with their measurements."""

    lines: int
    close: int
    """The number within CLOSE of the measurement."""
    median_error: float
    """The median of the absolute differences."""
    too_high: int
    """The number of predictions above their measurements."""


def prediction_lines(kernel: Kernel, record: Record) -> Iterator[PredictionLine]:
    """Yield a line for each evaluation with a prediction and a share of the ceiling, in the order of kernel.yaml."""
    today = {one.name: one for one in kernel.implementations}
    order = {name: number for number, name in enumerate(today)}
    for one in sorted(record.evaluations, key=lambda one: order.get(one.name, len(order))):
        made = figures(kernel, record, one) if _is_predicted(one, today) else None
        if made and made.of_ceiling is not None and one.predicted_of_ceiling is not None:
            now = today[one.name]
            yield PredictionLine(
                record.gpu,
                one.name,
                one.workload,
                one.dtype,
                one.predicted_of_ceiling,
                made.of_ceiling,
                one.predicts,
                now.explains,
                now.predicts if now.predicts != one.predicts else "",
            )


def score(lines: Iterable[PredictionLine]) -> Score | None:
    """Return how well predictions agree with their measurements; None without any."""
    errors = [line.difference for line in lines]
    if not errors:
        return None
    close = sum(abs(error) <= CLOSE for error in errors)
    return Score(len(errors), close, median(map(abs, errors)), sum(error < 0 for error in errors))


def _is_predicted(one: Evaluation, today: Iterable[str]) -> bool:
    return one.role is Role.IMPLEMENTATION and one.predicted_of_ceiling is not None and one.name in today
