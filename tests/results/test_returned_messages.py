"""Messages that a run brings lose their control characters before they are stored."""

from __future__ import annotations

from sitegen.model.job import JobResult
from sitegen.model.kernel import Status
from sitegen.model.record import MeasuredSweep, Rejection, SweepPoint
from sitegen.results.returned_results import with_printable_messages

COLOURED, SHOWN = "\x1b[31merror\u202e:\n\tline", "\ufffd[31merror\ufffd:\n\tline"


def test_a_coloured_message_is_stored_without_its_colours() -> None:
    rejection = Rejection("race", Status.INCORRECT, Status.COMPILE_ERROR, "", message=COLOURED)
    point = SweepPoint({"n": 1}, Status.RUNTIME_ERROR, COLOURED)
    sweep = MeasuredSweep("s", "a", "w", "float32", "", (point,))
    result = with_printable_messages(JobResult(1, "x", "kernel", rejections=(rejection,), sweeps=(sweep,)))
    assert result.rejections[0].message == SHOWN
    assert result.sweeps[0].points[0].message == SHOWN
