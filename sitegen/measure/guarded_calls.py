"""A runnable and inputs → its outputs, which lie between guard bytes and held a known pattern before the call.

Also the only way in which this room waits for the GPU: a kernel that hangs ends its evaluation instead of the wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sitegen.measure.inputs import (
    INPUT_MARGIN,
    POISONS,
    GuardedTensor,
    fill_bytes,
    guarded_copy,
    guarded_tensor,
    same_bits,
)
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.runnable import Runnable
from sitegen.model.kernel import Status

REPEATS = 5
"""Calls whose outputs are compared with one another."""
LAUNCH_DEADLINE_S = 10.0


@dataclass(frozen=True, slots=True)
class Buffers:
    """The guarded inputs and outputs of one shape.

    They keep their addresses while the inputs change from case to case, so a result that the code keeps from an earlier
    call with the same pointers is wrong.
    """

    dims: Mapping[str, int]
    inputs: tuple[GuardedTensor, ...]
    outs: tuple[GuardedTensor, ...]

    @property
    def input_tensors(self) -> list[Any]:
        return [buffer.tensor for buffer in self.inputs]

    @property
    def out_tensors(self) -> list[Any]:
        return [buffer.tensor for buffer in self.outs]

    def load(self, values: Sequence[Any]) -> None:
        """Copy other inputs into the same memory."""
        for buffer, value in zip(self.inputs, values, strict=True):
            buffer.tensor.copy_(value)

    def outputs_hold(self, poison: int) -> bool:
        """Return whether all guard bytes of the outputs still have the value that filled them."""
        return all(buffer.margins_hold(poison) for buffer in self.outs)

    def inputs_hold(self) -> bool:
        """Return whether all guard bytes of the inputs still have their value."""
        return all(buffer.margins_hold(INPUT_MARGIN) for buffer in self.inputs)

    def untouched(self, poison: int) -> list[Any]:
        """Return a bool tensor for each output: whether its elements still hold that byte."""
        return [buffer.untouched(poison) for buffer in self.outs]


@dataclass(frozen=True, slots=True)
class LastCall:
    """The last timed call, which can be made again in the way it was timed."""

    inputs: Sequence[Any]
    outs: Sequence[Any]
    """Its outputs; empty when the call allocates them."""
    repeat: Callable[[], Sequence[Any]]
    """Makes the call again and returns its outputs."""

    def again(self) -> Sequence[Any]:
        """Make the call again, into outputs that hold the first pattern, and return its outputs."""
        for out in self.outs:
            fill_bytes(out, POISONS[0])
        results: Sequence[Any] = call_and_wait(self.repeat)
        return results


def guarded_buffers(
    dims: Mapping[str, int], inputs: Sequence[Any], shapes: Sequence[Sequence[int]], dtypes: Sequence[Any], device: str
) -> Buffers:
    """Return copies of the inputs, and outputs of these shapes and dtypes, all between guard bytes."""
    outs = tuple(guarded_tensor(shape, dtype, device) for shape, dtype in zip(shapes, dtypes, strict=True))
    return Buffers(dims, tuple(guarded_copy(value) for value in inputs), outs)


def calls_over_patterns(runnable: Runnable, buffers: Buffers) -> Iterator[int]:
    """Fill the outputs with each pattern and call into them; yield the pattern after each call.

    An element that keeps both patterns was not written.
    """
    for poison in POISONS:
        for buffer in buffers.outs:
            buffer.fill(poison)
        call_and_wait(lambda: runnable.run_into(buffers.input_tensors, buffers.out_tensors, buffers.dims))
        yield poison


def repeated(runnable: Runnable, buffers: Buffers) -> Iterator[Sequence[Any]]:
    """Yield the outputs of REPEATS calls with the present inputs; `out` holds the same before each call."""
    for _ in range(REPEATS):
        yield call_and_wait(lambda: _run(runnable, buffers))


def repeats_equal(runnable: Runnable, buffers: Buffers) -> bool:
    """Return whether REPEATS calls with the present inputs give the same bits."""
    calls = repeated(runnable, buffers)
    first = [result.clone() for result in next(calls)]
    return all(same_bits(r, f) for results in calls for r, f in zip(results, first, strict=True))


def _run(runnable: Runnable, buffers: Buffers) -> Sequence[Any]:
    """Call once and return the outputs; `out` holds the first pattern before the call."""
    if not runnable.takes_out:
        return runnable.run_allocating(buffers.input_tensors, buffers.dims)
    for buffer in buffers.outs:
        buffer.fill(POISONS[0])
    runnable.run_into(buffers.input_tensors, buffers.out_tensors, buffers.dims)
    return buffers.out_tensors


def call_and_wait(call: Callable[[], Any]) -> Any:
    """Return the result of a call once the GPU has done it.

    Raises EvaluationEnded(timeout) for a kernel that hangs, which a blocking wait would never end.
    """
    result = call()
    wait()
    return result


def wait(while_waiting: Callable[[], None] = lambda: None, event: Any = None) -> None:
    """Poll until the event has come, or until everything that is queued is done.

    `while_waiting` is called at each poll.  Raises EvaluationEnded(timeout) after LAUNCH_DEADLINE_S.
    """
    if not torch.cuda.is_available():
        return
    if event is None:
        event = torch.cuda.Event()
        event.record()
    start = time.monotonic()
    while not event.query():
        if time.monotonic() - start > LAUNCH_DEADLINE_S:
            raise EvaluationEnded(Status.TIMEOUT, f"a launch took more than {LAUNCH_DEADLINE_S:.0f} s")
        while_waiting()
        time.sleep(0.0002)
