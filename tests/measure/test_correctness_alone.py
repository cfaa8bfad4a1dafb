"""What one gate rejects by itself, outputs that ignore the inputs, and the check of the last timed call, on the CPU."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.model.kernel import Gate, Kernel, Status, Tensor, Workload

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
]
torch = pytest.importorskip("torch")

from sitegen.measure import correctness  # noqa: E402
from sitegen.measure.correctness import KernelSetup, LastCall, check, recheck  # noqa: E402
from sitegen.measure.protocol import EvaluationEnded  # noqa: E402
from sitegen.measure.runnable import PythonRunnable  # noqa: E402

SMALL, LARGE = {"N": 100}, {"N": 1 << 22}


def sums(tolerance: float = 4e-3, extra_inputs: tuple[str, ...] = ()) -> Kernel:
    """A sum of bfloat16 numbers, judged by the error over Σ|x|."""
    return Kernel(
        name="sum",
        summary="",
        dims=("N",),
        inputs=(Tensor("x", ("N",)),),
        outputs=(Tensor("total", ("1",)),),
        dtypes=("bfloat16",),
        flops="N",
        reads="N * itemsize",
        writes="itemsize",
        tolerance={"bfloat16": tolerance},
        checks=(SMALL, LARGE),
        workloads=(Workload("large", LARGE),),
        baselines=(),
        implementations=(),
        extra_inputs=extra_inputs,
    )


def exact_inputs(name: str, dims: Mapping[str, int], *_: Any) -> Iterator[dict[str, Any]]:
    """Ones at 64 places, whose sum is exact in every order."""
    x = torch.zeros(dims["N"], dtype=torch.bfloat16)
    x[:64] = 1
    yield {"x": x}


REFERENCE = SimpleNamespace(
    make_inputs=lambda dims, dtype, generator, device: {"x": torch.randn(dims["N"], generator=generator).to(dtype)},
    extra_inputs=exact_inputs,
    reference=lambda x: x.sum(dim=0, keepdim=True),
    error_scale=lambda x: x.abs().sum(dim=0, keepdim=True),
)


def setup(kernel: Kernel, *gates: Gate) -> KernelSetup:
    """`gates`: those that are on; none named: all."""
    return KernelSetup(kernel, "bfloat16", {}, REFERENCE, None, "cpu", frozenset(gates) or correctness.ALL_GATES)


def right(x: Any, *, out: Any = None) -> Any:
    total = x.double().sum(dim=0, keepdim=True).to(x.dtype)
    return total if out is None else out.copy_(total)


def ended(call: Callable[[], Any]) -> EvaluationEnded:
    with pytest.raises(EvaluationEnded) as raised:
        call()
    return raised.value


def adds_to_its_input(x: Any, *, out: Any = None) -> Any:
    result = right(x, out=out)
    x[0] += 1
    return result


def test_a_gate_that_is_off_rejects_nothing_and_the_one_that_is_on_still_does() -> None:
    runnable = PythonRunnable(adds_to_its_input, {})
    alone = ended(lambda: check(setup(sums(), Gate.INPUTS), runnable, [SMALL], False))
    assert alone.status is Status.MODIFIED_INPUT
    others = [gate for gate in Gate if gate is not Gate.INPUTS]
    assert ended(lambda: check(setup(sums(), *others), runnable, [SMALL], False)).status is not Status.MODIFIED_INPUT


def test_code_that_writes_out_of_bounds_is_not_called_without_guard_bytes_even_with_that_gate_off() -> None:
    called_without_out = []

    def past_the_end(x: Any, *, out: Any = None) -> Any:
        if out is None:
            called_without_out.append(True)
            return right(x)
        right(x, out=out)
        out.as_strided((2,), (1,))[1] = 1.0
        return out

    runnable = PythonRunnable(past_the_end, {})
    check(setup(sums(), Gate.SHAPE), runnable, [SMALL], False)
    assert called_without_out == []
    assert ended(lambda: check(setup(sums(), Gate.MARGINS), runnable, [SMALL], False)).status is Status.OUT_OF_BOUNDS


def test_a_wrong_result_does_not_pass_because_it_stands_in_the_memory_of_an_earlier_one_too() -> None:
    given: list[Any] = []

    def remembers_its_output(x: Any, *, out: Any = None) -> Any:
        if out is not None:
            given.append(out)
            return right(x, out=out)
        return right(x + 1, out=given[-1]).clone()

    assert ended(lambda: check(setup(sums()), PythonRunnable(remembers_its_output, {}), [SMALL], False)).status is (
        Status.INCORRECT
    )


def wrong_by(*amounts: float) -> PythonRunnable:
    """Return the first number of x instead of its sum; each call adds the next of these amounts."""
    turns = itertools.cycle(amounts)

    def sums_one(x: Any, *, out: Any = None) -> Any:
        total = x[:1] + next(turns)
        return total if out is None else out.copy_(total)

    return PythonRunnable(sums_one, {})


@pytest.mark.parametrize(
    ("amounts", "declared", "status"),
    [
        ((0.0, 0.1), False, Status.INCORRECT),  # less than the tolerance, 4e-3 of Σ|x|, which is about 80
        ((0.0, 0.1), True, Status.RACE),
        ((8128.0, 8160.0), False, Status.INCORRECT),  # neighbours in bfloat16: rounding of a result that is too large
        ((0.0, 1.0), False, Status.RACE),
        ((0.0, 0.0, 0.0, 0.0, 1.0), False, Status.RACE),
        ((0.0, float("nan")), False, Status.RACE),
        ((float("nan"),), True, Status.INCORRECT),
        ((0.0,), False, Status.INCORRECT),
    ],
)
def test_a_wrong_result_is_a_race_when_runs_differ_by_more_than_the_limits_or_at_all_when_declared_deterministic(
    amounts, declared: bool, status: Status
) -> None:
    assert ended(lambda: check(setup(sums()), wrong_by(*amounts), [SMALL], declared)).status is status


def test_a_wrong_result_whose_shape_changes_from_run_to_run_is_a_race() -> None:
    calls = itertools.count()

    def loses_its_only_element(x: Any) -> Any:
        return x[:1] if next(calls) < 2 else x[:0]

    assert ended(lambda: check(setup(sums()), PythonRunnable(loses_its_only_element, {}), [SMALL], False)).status is (
        Status.RACE
    )


def test_runs_that_agree_about_nan_are_no_race_at_an_exact_set_either() -> None:
    def nan_at_ones(x: Any, *, out: Any = None) -> Any:
        total = right(x) * (float("nan") if x[0] == 1 else 1.0)
        return total if out is None else out.copy_(total)

    kernel = sums(extra_inputs=("exact",))
    assert ended(lambda: check(setup(kernel), PythonRunnable(nan_at_ones, {}), [SMALL], False)).status is (
        Status.INCORRECT
    )


def test_gates_that_let_zeros_pass_are_named_and_a_small_shape_where_they_do_not_is_not() -> None:
    checked = check(setup(sums(tolerance=0.02)), PythonRunnable(right, {}), [SMALL, {"N": 65536}], False)
    assert checked.vacuous == (
        "total: the output for another seed passes at N=65536 (normal inputs)",
        "total: zeros pass at N=65536 (normal inputs)",
    )


def test_an_exact_set_at_the_same_shape_protects_a_gate_that_lets_zeros_pass() -> None:
    checked = check(setup(sums(extra_inputs=("exact",))), PythonRunnable(right, {}), [SMALL, LARGE], False)
    assert checked.vacuous == ()


def test_a_tolerance_that_zeros_do_not_meet_makes_no_gate_vacuous() -> None:
    assert check(setup(sums(tolerance=2e-5)), PythonRunnable(right, {}), [LARGE], False).vacuous == ()


def last_call(repeat: Callable[[Any, Any], None], dims: Mapping[str, int]) -> LastCall:
    """A timed call whose output is right already, and which is made again by `repeat`."""
    x = torch.randn(dims["N"], generator=torch.Generator().manual_seed(7)).bfloat16()
    out = right(x).clone()

    def again() -> Sequence[Any]:
        repeat(x, out)
        return [out]

    return LastCall([x], [out], again)


def test_an_earlier_right_answer_does_not_pass_for_the_last_call() -> None:
    nothing = last_call(lambda x, out: None, SMALL)
    assert "NaN" in ended(lambda: recheck(setup(sums()), SMALL, nothing)).message
    recheck(setup(sums()), SMALL, last_call(lambda x, out: right(x, out=out), SMALL))


def test_the_last_call_is_checked_with_an_exact_set_where_the_gates_of_normal_inputs_let_zeros_pass() -> None:
    exact = setup(sums(extra_inputs=("exact",)))
    zeros = last_call(lambda x, out: out.zero_(), LARGE)
    recheck(setup(sums()), LARGE, zeros)
    assert "1 element is not exact" in ended(lambda: recheck(exact, LARGE, zeros)).message
    recheck(exact, LARGE, last_call(lambda x, out: right(x, out=out), LARGE))


def test_a_call_that_allocates_its_outputs_is_made_again_too() -> None:
    made = last_call(lambda x, out: None, SMALL)
    recheck(setup(sums()), SMALL, LastCall(made.inputs, (), lambda: [right(made.inputs[0])]))
    wrong = LastCall(made.inputs, (), lambda: [right(made.inputs[0]) + 50])
    assert ended(lambda: recheck(setup(sums()), SMALL, wrong)).status is Status.INCORRECT


@pytest.mark.parametrize(
    ("results", "wanted", "words"),
    [
        ((None,), 1, "the launcher returned None, not a tensor: end it with `return out`"),
        ((None,), 2, "the launcher returned None, not a tuple of 2 tensors: end it with `return out`"),
        ((), 1, "the launcher returned nothing, not a tensor: end it with `return out`"),
        ((1.0, 2), 1, "the launcher returned a value of type float, a value of type int, not a tensor: end it with "),
    ],
)
def test_a_launcher_that_returns_no_tensor_hears_what_it_returned(results, wanted: int, words: str) -> None:
    assert correctness._words_of_returned(results, wanted).startswith(words)
