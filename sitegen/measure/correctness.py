"""A runnable and shapes → `Correctness`, or `EvaluationEnded` with the status of the gate that failed.

`Gate` in model/kernel.py lists the gates.  The gate that explains most is judged first: a write out of bounds explains
a wrong value, but not the reverse.  A check may switch gates off, which shows what a single gate rejects by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sitegen.measure.errors import Errors, all_finite, errors_of, ulp, worst
from sitegen.measure.geometry import names_of
from sitegen.measure.imposters import Imposters
from sitegen.measure.inputs import (
    INPUT_MARGIN,
    POISONS,
    GuardedTensor,
    as_tuple,
    bits,
    fill_bytes,
    generator,
    guarded_copy,
    guarded_tensor,
    in_order,
    output_dtypes,
    output_shapes,
    same_bits,
)
from sitegen.measure.merging import merge
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.runnable import BaselineRunnable, Runnable
from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Gate, Kernel, Scalar, Status
from sitegen.model.record import Correctness

SEEDS = 3
REPEATS = 5
LAUNCH_DEADLINE_S = 10.0
EXACT_SETS = ("exact", "one_hot")
"""Names of input sets whose results must equal the reference bit for bit."""
NORMAL, TIMED = "normal", "timed"
ALL_GATES = frozenset(Gate)
BASELINE_SHARE, ULPS, ROW_SHARE = 4.0, 2.0, 4.0
"""The largest error may be 4 × the baseline's own plus 2 ulp; the error of a row may be 4 × the tolerance."""
INTERPRETER_ELEMENTS = 1 << 16
"""Elements from which a shape gets one seed and no repeats under Triton's interpreter, which runs one program at a
time."""


@dataclass(frozen=True, slots=True)
class KernelSetup:
    """A kernel at one dtype and set of params: what a check needs besides the shapes."""

    kernel: Kernel
    dtype: str
    params: Mapping[str, Scalar]
    reference: Any
    """The module of reference.py."""
    baseline: BaselineRunnable | None
    """The baseline whose own error limits the largest error; None without baselines."""
    device: str
    gates: frozenset[Gate] = ALL_GATES
    """The gates that are on; a failure at any other gate is ignored."""

    def fail(self, gate: Gate, message: str) -> None:
        """Raise EvaluationEnded with the status of the gate, if the gate is on."""
        if gate in self.gates:
            raise EvaluationEnded(gate.status, message)

    @property
    def tolerance(self) -> float:
        """The largest relative error that passes."""
        return self.kernel.tolerance[self.dtype]


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs and its expected outputs."""

    name: str
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    """Outputs in float64."""
    scale: tuple[Any, ...]
    """Tensors whose norm divides the error: `expected` itself, or Σ|x|."""
    baseline_error: tuple[float, ...]
    """Largest error of the baseline, by output."""


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


def check(setup: KernelSetup, runnable: Runnable, shapes: Sequence[Mapping[str, int]], declared: bool) -> Correctness:
    """Return the worst errors over all shapes.  Raises EvaluationEnded when a gate fails.

    `declared` is whether the implementation says that it is deterministic.
    """
    total = Correctness(0.0, 0.0, 0.0, 0.0, setup.tolerance, shapes=0, seeds=SEEDS, deterministic=True)
    for dims in shapes:
        total = merge(total, check_shape(setup, runnable, dims))
        if declared and not total.deterministic:
            setup.fail(Gate.REPEATS, f"declared deterministic, but {REPEATS} runs at {_text(dims)} differ")
    return total


def check_shape(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int]) -> Correctness:
    """Return the worst errors at one shape: normal inputs of every seed, then the input sets that the kernel declares.

    Raises EvaluationEnded when a gate fails.
    """
    large = setup.device == "cpu" and _elements(setup, dims) > INTERPRETER_ELEMENTS
    names: list[str] = []
    buffers, errors, baseline, deterministic = None, Errors(), 0.0, True
    imposters = imposters_of(setup, dims)
    for case in cases(setup, dims, 1 if large else SEEDS):
        buffers = _fill_inputs(buffers, setup, dims, case)
        errors = worst(errors, _check_case_or_report_race(setup, runnable, buffers, case))
        imposters.offer(case)
        if not names and not large:
            # on normal numbers, because sums of exact ones are the same in any order
            deterministic = repeats_equal(runnable, buffers)
        baseline, names = max(baseline, *case.baseline_error), [*names, case.name]
    return Correctness(
        relative_error=errors.relative,
        row_error=errors.row,
        max_abs_error=errors.largest,
        baseline_max_abs_error=baseline,
        tolerance=setup.tolerance,
        shapes=1,
        seeds=SEEDS,
        input_sets=tuple(dict.fromkeys(names)),
        deterministic=deterministic,
        vacuous=imposters.vacuous(f"at {_text(dims)}"),
    )


def imposters_of(setup: KernelSetup, dims: Mapping[str, int]) -> Imposters:
    """Return outputs that ignore the inputs, for the gates of error of one shape."""

    def rejects(case: Case, index: int, output: Any) -> bool:
        errors = _judge_output(case, index, output)
        return next(failed_limits(setup, case, dims, errors), None) is not None

    return Imposters([o.name for o in setup.kernel.outputs], output_dtypes(setup.kernel, setup.dtype), rejects)


def cases(setup: KernelSetup, dims: Mapping[str, int], seeds: int) -> Iterator[Case]:
    """Yield the cases of one shape: one for each seed, then those of the extra input sets."""
    for seed in range(seeds):
        inputs = setup.reference.make_inputs(dims, _dtype(setup), generator(setup.device, seed), setup.device)
        yield case_of(setup, NORMAL, inputs, dims)
    for name in setup.kernel.extra_inputs:
        yield from _extra_cases(setup, name, dims)


def _extra_cases(setup: KernelSetup, name: str, dims: Mapping[str, int]) -> Iterator[Case]:
    """Yield the cases of one extra input set."""
    extra: Iterable[Mapping[str, Any]] = setup.reference.extra_inputs(
        name, dims, _dtype(setup), generator(setup.device, SEEDS), setup.device
    )
    for inputs in extra:
        yield case_of(setup, name, inputs, dims)


def case_of(setup: KernelSetup, name: str, tensors: Mapping[str, Any], dims: Mapping[str, int]) -> Case:
    """Return the case of these inputs.  Raises EvaluationEnded when the reference is not finite for normal inputs."""
    inputs = in_order(setup.kernel, tensors, "make_inputs" if name == NORMAL else "extra_inputs")
    named = {tensor.name: _float64(value) for tensor, value in zip(setup.kernel.inputs, inputs, strict=True)}
    expected = as_tuple(setup.reference.reference(**named, **setup.params))
    judge_over = getattr(setup.reference, "error_scale", None)
    scale = as_tuple(judge_over(**named, **setup.params)) if judge_over else expected
    del named
    if name == NORMAL and not all(map(all_finite, expected)):
        raise EvaluationEnded(Status.NOT_RUN, f"reference.py gives NaN or infinity for normal inputs at {_text(dims)}")
    return Case(name, inputs, expected, scale, _baseline_error(setup, inputs, expected, scale, dims))


def _baseline_error(
    setup: KernelSetup, inputs: Sequence[Any], expected: Sequence[Any], scale: Sequence[Any], dims: Mapping[str, int]
) -> tuple[float, ...]:
    if setup.baseline is None:
        return tuple(0.0 for _ in expected)
    results = setup.baseline.run_allocating(inputs, dims)
    return tuple(errors_of(r, e, s).largest for r, e, s in zip(results, expected, scale, strict=True))


def _check_case_or_report_race(setup: KernelSetup, runnable: Runnable, buffers: Buffers, case: Case) -> Errors:
    """Return the errors of one case.  Raises EvaluationEnded: `race` for a wrong result that differs from run to
    run."""
    try:
        return check_case(setup, runnable, buffers, case)
    except EvaluationEnded as why:
        judged = Gate.REPEATS in setup.gates
        if why.status is not Status.INCORRECT or not judged or repeats_equal(runnable, buffers):
            raise
        raise EvaluationEnded(Status.RACE, f"{why.message}, and {REPEATS} runs differ") from why


def check_case(setup: KernelSetup, runnable: Runnable, buffers: Buffers, case: Case) -> Errors:
    """Check one set of inputs, in both ways of calling.  Raises EvaluationEnded at the first gate that fails.

    Code that wrote outside of its buffers is not called without them, not even with that gate off: it would overwrite
    memory that no guard bytes surround.
    """
    errors, unwritten, inside = Errors(), 0, True
    if runnable.takes_out:
        errors, unwritten, inside = _call_into(setup, runnable, buffers, case)
    if runnable.can_allocate and inside:
        results = call_and_wait(lambda: runnable.run_allocating(buffers.input_tensors, buffers.dims))
        if require_shapes_and_dtypes(setup, results, buffers.dims):
            errors = worst(errors, _judge(case, results))
    if unwritten:
        setup.fail(Gate.WRITTEN, _unwritten(unwritten, buffers, case))
    _require_unchanged_inputs(setup, buffers, case)
    require_small_errors(setup, case, buffers.dims, errors)
    return errors


def _unwritten(count: int, buffers: Buffers, case: Case) -> str:
    where = f"at {_where(buffers.dims, case)}"
    if count < sum(tensor.numel() for tensor in buffers.out_tensors):
        return f"{_elements_that(count, 'was', 'were')} not written {where}"
    contract = "a launcher must write its result into `out`, and allocate a tensor only when `out` is None"
    return f"nothing was written into `out` {where}: {contract}"


def _call_into(setup: KernelSetup, runnable: Runnable, buffers: Buffers, case: Case) -> tuple[Errors, int, bool]:
    """Call twice, into outputs filled with different patterns.

    Return the errors, the number of unwritten elements, and whether all writes were inside of the buffers.  An element
    that keeps both patterns was not written.
    """
    errors, untouched, inside = Errors(), [], True
    for poison in POISONS:
        for buffer in buffers.outs:
            buffer.fill(poison)
        call_and_wait(lambda: runnable.run_into(buffers.input_tensors, buffers.out_tensors, buffers.dims))
        inside &= _require_margins(setup, buffers, poison)
        untouched.append([buffer.untouched(poison) for buffer in buffers.outs])
        errors = worst(errors, _judge(case, buffers.out_tensors))
    unwritten = sum(int((first & second).sum()) for first, second in zip(*untouched, strict=True))
    return errors, unwritten, inside


def _judge(case: Case, results: Sequence[Any]) -> Errors:
    """Return the worst errors of the outputs."""
    return worst(*(_judge_output(case, index, result) for index, result in enumerate(results)))


def _judge_output(case: Case, index: int, result: Any) -> Errors:
    """Return the errors of the output of that index."""
    expected, scale = case.expected[index], case.scale[index]
    allowed = BASELINE_SHARE * case.baseline_error[index] + ULPS * ulp(result.dtype, scale)
    inexact = _differing(result, expected) if case.name in EXACT_SETS else 0
    return replace(errors_of(result, expected, scale), allowed=allowed, inexact=inexact)


def _differing(result: Any, expected: Any) -> int:
    """Count the elements that are not the reference rounded to the output's dtype."""
    return int((result != expected.to(result.dtype)).sum())


def require_small_errors(setup: KernelSetup, case: Case, dims: Mapping[str, int], errors: Errors) -> None:
    """Raise EvaluationEnded(incorrect) unless the errors keep all limits."""
    for gate, message in failed_limits(setup, case, dims, errors):
        setup.fail(gate, message)


def failed_limits(
    setup: KernelSetup, case: Case, dims: Mapping[str, int], errors: Errors
) -> Iterator[tuple[Gate, str]]:
    """Yield each gate of error that fails, with a message.

    NaN and infinity pass only where the reference has the same.
    """
    where, row_limit = f"at {_where(dims, case)}", ROW_SHARE * setup.tolerance
    if errors.wrong_kind:
        elements = _elements_that(errors.wrong_kind, "is", "are")
        yield Gate.FINITE, f"{elements} NaN or infinite where the reference is not, or the reverse, {where}"
    if errors.inexact:
        yield Gate.EXACT, f"{_elements_that(errors.inexact, 'is', 'are')} not exact {where}"
    if not errors.relative <= setup.tolerance:
        yield Gate.RELATIVE_ERROR, f"relative error {errors.relative:.3g} > {setup.tolerance:.3g} {where}"
    if not errors.row <= row_limit:
        yield Gate.ROW_ERROR, f"a row's error {errors.row:.3g} > {row_limit:.3g} {where}"
    if errors.excess > 0:
        yield Gate.LARGEST_ERROR, f"largest error {errors.largest:.3g} is {errors.excess:.3g} too much {where}"


def require_shapes_and_dtypes(setup: KernelSetup, results: Sequence[Any], dims: Mapping[str, int]) -> bool:
    """Raise EvaluationEnded unless the outputs have the declared number, shapes and dtypes.

    With these gates off, return whether the shapes at least are right, so that the values can be judged.
    """
    shapes = output_shapes(setup.kernel, names_of(dims, setup.params, DTYPES[setup.dtype].itemsize))
    if len(results) != len(shapes) or not all(isinstance(result, torch.Tensor) for result in results):
        setup.fail(Gate.SHAPE, f"it returned {len(results)} values, not {len(shapes)} tensors")
        return False
    fitting = [tuple(result.shape) == shape for result, shape in zip(results, shapes, strict=True)]
    if not all(fitting):
        wrong = fitting.index(False)
        found = f"shape {tuple(results[wrong].shape)} instead of {shapes[wrong]}"
        setup.fail(Gate.SHAPE, f"{found} at {_text(dims)}")
    for result, dtype in zip(results, output_dtypes(setup.kernel, setup.dtype), strict=True):
        if result.dtype != dtype:
            setup.fail(Gate.DTYPE, f"dtype {result.dtype} instead of {dtype}")
    return all(fitting)


def _require_margins(setup: KernelSetup, buffers: Buffers, poison: int) -> bool:
    """Raise EvaluationEnded(out_of_bounds) unless all guard bytes hold; with that gate off, return whether they do."""
    outputs_hold = all(buffer.margins_hold(poison) for buffer in buffers.outs)
    inputs_hold = all(buffer.margins_hold(INPUT_MARGIN) for buffer in buffers.inputs)
    if not outputs_hold:
        setup.fail(Gate.MARGINS, f"it wrote outside of the output at {_text(buffers.dims)}")
    if not inputs_hold:
        setup.fail(Gate.MARGINS, f"it wrote outside of an input at {_text(buffers.dims)}")
    return outputs_hold and inputs_hold


def _require_unchanged_inputs(setup: KernelSetup, buffers: Buffers, case: Case) -> None:
    for buffer, original in zip(buffers.inputs, case.inputs, strict=True):
        if not same_bits(buffer.tensor, original):
            setup.fail(Gate.INPUTS, f"it changed an input at {_where(buffers.dims, case)}")


@dataclass(frozen=True, slots=True)
class LastCall:
    """The last timed call, which can be made again in the way it was timed."""

    inputs: Sequence[Any]
    outs: Sequence[Any]
    """Its outputs; empty when the call allocates them."""
    repeat: Callable[[], Sequence[Any]]
    """Makes the call again and returns its outputs."""


def recheck(setup: KernelSetup, dims: Mapping[str, int], last: LastCall) -> None:
    """Make the last timed call again, into outputs that hold a pattern, and check it.

    The pattern stands where earlier calls left the right result, so a call that writes nothing fails.  The call is
    checked with its own inputs, and with the first exact set of the kernel in the same memory: at large sizes the
    gates of normal inputs may be vacuous.  Raises EvaluationEnded when a gate of error fails.
    """
    named = {tensor.name: value for tensor, value in zip(setup.kernel.inputs, last.inputs, strict=True)}
    _recheck_case(setup, dims, last, case_of(setup, TIMED, named, dims))
    if case := _exact_case(setup, dims):
        for tensor, value in zip(last.inputs, case.inputs, strict=True):
            tensor.copy_(value)
        _recheck_case(setup, dims, last, case)


def _recheck_case(setup: KernelSetup, dims: Mapping[str, int], last: LastCall, case: Case) -> None:
    for out in last.outs:
        fill_bytes(out, POISONS[0])
    require_small_errors(setup, case, dims, _judge(case, call_and_wait(last.repeat)))


def _exact_case(setup: KernelSetup, dims: Mapping[str, int]) -> Case | None:
    """Return the first case of the first exact set of the kernel; None when it has no such set."""
    names = [name for name in setup.kernel.extra_inputs if name in EXACT_SETS]
    return next((case for name in names[:1] for case in _extra_cases(setup, name, dims)), None)


def repeats_equal(runnable: Runnable, buffers: Buffers) -> bool:
    """Return whether REPEATS calls with the present inputs give the same bits; `out` holds the same before each
    call."""
    first: list[Any] = []
    for _ in range(REPEATS):
        results = call_and_wait(lambda: _run(runnable, buffers))
        if not first:
            first = [bits(result).clone() for result in results]
        elif not all(bool(torch.equal(bits(r), f)) for r, f in zip(results, first, strict=True)):
            return False
    return True


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


def _fill_inputs(buffers: Buffers | None, setup: KernelSetup, dims: Mapping[str, int], case: Case) -> Buffers:
    """Return the buffers with the inputs of the case, in the same memory for every case of a shape."""
    if buffers is None:
        shapes = output_shapes(setup.kernel, names_of(dims, setup.params, DTYPES[setup.dtype].itemsize))
        dtypes = output_dtypes(setup.kernel, setup.dtype)
        outs = tuple(guarded_tensor(s, d, setup.device) for s, d in zip(shapes, dtypes, strict=True))
        return Buffers(dims, tuple(guarded_copy(value) for value in case.inputs), outs)
    for buffer, value in zip(buffers.inputs, case.inputs, strict=True):
        buffer.tensor.copy_(value)
    return buffers


def _float64(value: Any) -> Any:
    return value.double() if value.is_floating_point() else value


def _dtype(setup: KernelSetup) -> Any:
    return getattr(torch, setup.dtype)


def _elements_that(count: int, one: str, several: str) -> str:
    """Return `1 element is` or `2 elements are`."""
    return f"1 element {one}" if count == 1 else f"{count} elements {several}"


def _elements(setup: KernelSetup, dims: Mapping[str, int]) -> int:
    count = 1
    for value in dims.values():
        count *= value
    return count


def _where(dims: Mapping[str, int], case: Case) -> str:
    return f"{_text(dims)} ({case.name} inputs)"


def _text(dims: Mapping[str, int]) -> str:
    """Return the dims as text: `M=3, N=127`."""
    return ", ".join(f"{name}={value}" for name, value in dims.items())
