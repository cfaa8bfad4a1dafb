"""Limits that the outputs of one case must keep, on the CPU."""

from __future__ import annotations

import importlib.util

import pytest

from sitegen.model.kernel import Gate

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
]
torch = pytest.importorskip("torch")

from sitegen.measure import judging  # noqa: E402
from sitegen.measure.errors import Errors  # noqa: E402
from sitegen.measure.judging import Case, RepeatedCalls, failed_limits, judge  # noqa: E402


def case(*outputs: list[float], name: str = "normal") -> Case:
    """A case whose baseline makes no error."""
    expected = tuple(torch.tensor(values, dtype=torch.float64) for values in outputs)
    return Case(name, (), expected, expected, tuple(0.0 for _ in expected))


def failed(errors: Errors, tolerance: float = 1e-3) -> list[Gate]:
    return [gate for gate, _ in failed_limits(errors, tolerance, "at N=3")]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_passes_only_where_the_reference_has_the_same(value):
    result = torch.tensor([1.0, value, 3.0])
    assert Gate.FINITE in failed(judge(case([1.0, 2.0, 3.0]), [result]))
    assert failed(judge(case([1.0, value, 3.0]), [result])) == []


def test_only_an_exact_set_rejects_an_error_of_one_unit_in_the_last_place():
    nearly = torch.tensor([1.0, 2.0, 3.0]).nextafter(torch.tensor(9.0))
    assert failed(judge(case([1.0, 2.0, 3.0]), [nearly])) == []
    assert failed(judge(case([1.0, 2.0, 3.0], name="exact"), [nearly])) == [Gate.EXACT]


def test_one_wrong_output_of_several_is_judged_as_the_whole_call():
    good, bad = torch.tensor([1.0]), torch.tensor([4.0])
    gates = failed(judge(case([1.0], [2.0]), [good, bad]))
    assert gates == [Gate.RELATIVE_ERROR, Gate.ROW_ERROR, Gate.LARGEST_ERROR]


def test_a_message_says_the_limit_and_where_it_was_exceeded():
    ((_, message),) = failed_limits(Errors(relative=0.01), 1e-3, "at N=3 (normal inputs)")
    assert message == "relative error 0.01 > 0.001 at N=3 (normal inputs)"


def test_a_later_call_with_other_bits_or_another_dtype_is_judged_too_and_the_worst_counts():
    calls = RepeatedCalls(case([1.0, 2.0]))
    for result in ([1.0, 2.0], [1.0, 4.0], [1.0, 2.0]):
        calls.add([torch.tensor(result)])
    assert Gate.RELATIVE_ERROR in failed(calls.errors)
    calls.add([torch.tensor([1.0, 8.0], dtype=torch.bfloat16)])
    assert calls.errors.largest == 6.0


class Changing(torch.Tensor):
    """A tensor that says that it equals every other one."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.equal:
            return True
        return super().__torch_function__(function, types, args, kwargs or {})


def test_a_tensor_that_decides_itself_what_is_equal_is_judged_each_time():
    calls = RepeatedCalls(case([1.0, 2.0]))
    calls.add([torch.tensor([1.0, 2.0]).as_subclass(Changing)])
    calls.add([torch.tensor([1.0, 9.0]).as_subclass(Changing)])
    assert calls.errors.largest == 7.0


def test_what_is_judged_is_the_copy_with_which_later_calls_are_compared(monkeypatch):
    result = torch.tensor([1.0, 2.0])
    judge_first = judging.judge

    def judge_while_it_changes(case, results):
        result[1] = 9.0  # code that goes on writing
        return judge_first(case, results)

    monkeypatch.setattr(judging, "judge", judge_while_it_changes)
    calls = RepeatedCalls(case([1.0, 2.0]))
    calls.add([result])
    assert calls.errors.largest == 0.0
    calls.add([result])
    assert calls.errors.largest == 7.0


def test_outputs_with_the_same_bits_are_judged_once(monkeypatch):
    judged = []
    monkeypatch.setattr(judging, "judge", lambda *given: judged.append(given) or Errors())
    calls = RepeatedCalls(case([1.0, 2.0]))
    for _ in range(3):
        calls.add([torch.tensor([1.0, 2.0])])
    assert len(judged) == 1
    calls.add([torch.tensor([1.0, -2.0])])
    assert len(judged) == 2
