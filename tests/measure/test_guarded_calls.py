"""Calls into guarded buffers that hold a known pattern, on the CPU."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
]
torch = pytest.importorskip("torch")

from sitegen.measure.guarded_calls import (  # noqa: E402
    Buffers,
    LastCall,
    calls_over_patterns,
    guarded_buffers,
    repeats_equal,
)
from sitegen.measure.runnable import PythonRunnable  # noqa: E402


def buffers() -> Buffers:
    """An input and an output of four numbers."""
    return guarded_buffers({"N": 4}, [torch.arange(4.0)], [(4,)], [torch.float32], "cpu")


def runnable(write: Callable[[Any, Any], None]) -> PythonRunnable:
    def call(x: Any, *, out: Any) -> Any:
        write(x, out)
        return out

    return PythonRunnable(call, {})


def held(write: Callable[[Any, Any], None]) -> list[tuple[bool, bool]]:
    """Whether the guard bytes of outputs and of inputs hold after each call."""
    guarded = buffers()
    return [(guarded.outputs_hold(p), guarded.inputs_hold()) for p in calls_over_patterns(runnable(write), guarded)]


def test_a_write_beside_an_output_and_one_beside_an_input_are_told_apart():
    assert held(lambda x, out: out.as_strided((5,), (1,)).zero_()) == [(False, True)] * 2
    assert held(lambda x, out: x.as_strided((5,), (1,)).zero_())[0] == (True, False)
    assert held(lambda x, out: out.copy_(x)) == [(True, True)] * 2


def test_an_element_that_was_not_written_keeps_every_pattern():
    guarded = buffers()
    partly = runnable(lambda x, out: out[:3].copy_(x[:3]))
    first, second = (guarded.untouched(poison)[0] for poison in calls_over_patterns(partly, guarded))
    assert (first & second).tolist() == [False, False, False, True]


def test_other_inputs_come_into_the_same_memory():
    guarded = buffers()
    address = guarded.input_tensors[0].data_ptr()
    guarded.load([torch.full((4,), 7.0)])
    assert (guarded.input_tensors[0].data_ptr(), guarded.input_tensors[0].tolist()) == (address, [7.0] * 4)


def test_a_result_that_changes_from_call_to_call_is_seen():
    calls: list[None] = []

    def drifts(x: Any, out: Any) -> None:
        calls.append(None)
        out.copy_(x + len(calls) // 4)

    assert not repeats_equal(runnable(drifts), buffers())
    assert repeats_equal(runnable(lambda x, out: out.copy_(x)), buffers())


def test_the_last_call_finds_no_earlier_answer_in_its_output():
    out = torch.ones(4)
    LastCall([], [out], lambda: [out]).again()
    assert out.isnan().all()
