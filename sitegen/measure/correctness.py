"""A runnable and shapes → `Correctness`, or `EvaluationEnded` with the status of the gate that failed.

`Gate` in model/kernel.py lists the gates.  The gate that explains most is judged first: a write out of bounds explains
a wrong value, but not the reverse.  A check may switch gates off, which shows what a single gate rejects by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from traceback import FrameSummary
from typing import Any

import torch

from sitegen.measure import outside
from sitegen.measure.author_lines import assignment, definition, last_return
from sitegen.measure.errors import Errors, all_finite, largest_error, worst
from sitegen.measure.geometry import names_of
from sitegen.measure.guarded_calls import (
    REPEATS,
    Buffers,
    LastCall,
    call_and_wait,
    calls_over_patterns,
    guarded_buffers,
    repeated,
    repeats_equal,
)
from sitegen.measure.imposters import Imposters
from sitegen.measure.inputs import as_tuple, generator, in_order, output_dtypes, output_shapes, same_bits
from sitegen.measure.judging import (
    EXACT_SETS,
    Case,
    RepeatedCalls,
    case_that_expects,
    elements_that,
    failed_limits,
    in_float64,
    judge,
    judge_output,
)
from sitegen.measure.mask_advice import mask_advice
from sitegen.measure.merging import merge
from sitegen.measure.outside import Access, Outside
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.reference_calls import call_reference
from sitegen.measure.runnable import BaselineRunnable, PythonRunnable, Runnable
from sitegen.model.dtypes import DTYPES
from sitegen.model.job import RETURNED
from sitegen.model.kernel import Gate, Kernel, Scalar, Status
from sitegen.model.record import Correctness

SEEDS = 3
READ_OUTSIDE = "it read outside of"
"""The beginning of the message for a kernel whose results are right, and which reads guard bytes."""
NORMAL, TIMED = "normal", "timed"
ALL_GATES = frozenset(Gate)
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

    def fail(self, gate: Gate, message: str, line: FrameSummary | None = None) -> None:
        """Raise EvaluationEnded with the status of the gate, if the gate is on; `line` is the author's, if known."""
        if gate in self.gates:
            raise EvaluationEnded(gate.status, message, line=line)

    @property
    def tolerance(self) -> float:
        """The largest relative error that passes."""
        return self.kernel.tolerance[self.dtype]


def check(setup: KernelSetup, runnable: Runnable, shapes: Sequence[Mapping[str, int]], declared: bool) -> Correctness:
    """Return the worst errors over all shapes.  Raises EvaluationEnded when a gate fails.

    `declared` is whether the implementation says that it is deterministic.
    """
    total = Correctness(0.0, 0.0, 0.0, 0.0, setup.tolerance, shapes=0, seeds=SEEDS, deterministic=True)
    for dims in shapes:
        total = merge(total, check_shape(setup, runnable, dims, declared))
        if declared and not total.deterministic:
            setup.fail(Gate.REPEATS, f"declared deterministic, but {REPEATS} runs at {_text(dims)} differ")
    return total


def check_shape(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int], declared: bool) -> Correctness:
    """Return the worst errors at one shape: normal inputs of every seed, then the input sets that the kernel declares.

    `declared` is as in `check`.  Raises EvaluationEnded when a gate fails.
    """
    large = setup.device == "cpu" and _elements(setup, dims) > INTERPRETER_ELEMENTS
    names: list[str] = []
    buffers, errors, baseline, deterministic = None, Errors(), 0.0, True
    imposters = imposters_of(setup, dims)
    for case in cases(setup, dims, 1 if large else SEEDS):
        if buffers is None:
            buffers = _guarded(setup, dims, case)
        else:
            buffers.load(case.inputs)
        errors = worst(errors, _check_case_or_report_race(setup, runnable, buffers, case, declared))
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
        errors = judge_output(case, index, output)
        return next(failed_limits(errors, setup.tolerance, _where(dims, case)), None) is not None

    return Imposters([o.name for o in setup.kernel.outputs], output_dtypes(setup.kernel, setup.dtype), rejects)


def cases(setup: KernelSetup, dims: Mapping[str, int], seeds: int) -> Iterator[Case]:
    """Yield the cases of one shape: one for each seed, then those of the extra input sets."""
    for seed in range(seeds):
        inputs = _reference(setup, "make_inputs", dims, _dtype(setup), generator(setup.device, seed), setup.device)
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
    inputs = in_order(setup.kernel, tensors, setup.reference, "make_inputs" if name == NORMAL else "extra_inputs")
    named = {tensor.name: in_float64(value) for tensor, value in zip(setup.kernel.inputs, inputs, strict=True)}
    expected = as_tuple(_reference(setup, "reference", **named, **setup.params))
    scaled = hasattr(setup.reference, "error_scale")
    scale = as_tuple(_reference(setup, "error_scale", **named, **setup.params)) if scaled else expected
    del named
    if name == NORMAL and not all(map(all_finite, expected)):
        raise EvaluationEnded(Status.NOT_RUN, f"reference.py gives NaN or infinity for normal inputs at {_text(dims)}")
    return Case(name, inputs, expected, scale, _baseline_error(setup, inputs, expected, dims))


def _reference(setup: KernelSetup, function: str, *values: Any, **named: Any) -> Any:
    return call_reference(setup.kernel, setup.reference, function, *values, **named)


def _baseline_error(
    setup: KernelSetup, inputs: Sequence[Any], expected: Sequence[Any], dims: Mapping[str, int]
) -> tuple[float, ...]:
    if setup.baseline is None:
        return tuple(0.0 for _ in expected)
    results = setup.baseline.run_allocating(inputs, dims)
    return tuple(largest_error(r, e) for r, e in zip(results, expected, strict=True))


def _check_case_or_report_race(
    setup: KernelSetup, runnable: Runnable, buffers: Buffers, case: Case, declared: bool
) -> Errors:
    """Return the errors of one case.  Raises EvaluationEnded when a gate fails.

    A wrong result is a `race` if REPEATS more calls disagree: in any bit where the implementation is declared
    deterministic, and elsewhere by more than the limits of error.
    """
    try:
        return check_case(setup, runnable, buffers, case)
    except EvaluationEnded as why:
        if why.status is not Status.INCORRECT or Gate.REPEATS not in setup.gates:
            raise
        if repeats_equal(runnable, buffers) if declared else _repeats_are_close(setup, runnable, buffers, case):
            raise
        raise EvaluationEnded(Status.RACE, f"{why.message}, and {REPEATS} runs differ") from why


def _repeats_are_close(setup: KernelSetup, runnable: Runnable, buffers: Buffers, case: Case) -> bool:
    """Return whether REPEATS calls agree with the first of them within the limits of error.

    Sums in another order differ by rounding, which is not what makes a result wrong.
    """
    calls = repeated(runnable, buffers)
    first = [result.clone() for result in next(calls)]
    like_first = case_that_expects(case, first)
    for results in calls:
        if [one.shape for one in results] != [one.shape for one in first]:
            return False
        if all(map(same_bits, results, first)):
            continue
        if any(failed_limits(judge(like_first, results), setup.tolerance, "")):
            return False
    return True


def check_case(setup: KernelSetup, runnable: Runnable, buffers: Buffers, case: Case) -> Errors:
    """Check one set of inputs, in both ways of calling.  Raises EvaluationEnded at the first gate that fails.

    Code that wrote outside of its buffers is not called without them, not even with that gate off: it would overwrite
    memory that no guard bytes surround.
    """
    outside.forget()
    calls, unwritten, inside = RepeatedCalls(case), 0, True
    if runnable.takes_out:
        unwritten, inside = _call_into(setup, runnable, buffers, calls)
    if runnable.can_allocate and inside:
        results = call_and_wait(lambda: runnable.run_allocating(buffers.input_tensors, buffers.dims))
        if require_shapes_and_dtypes(setup, results, buffers.dims, runnable):
            calls.add(results)
    if unwritten:
        setup.fail(Gate.WRITTEN, *_unwritten(unwritten, runnable, buffers, case))
    _require_unchanged_inputs(setup, buffers, case)
    require_small_errors(setup, case, buffers.dims, calls.errors)
    if found := outside.first(Access.READ):
        where = f"{READ_OUTSIDE} {_name_of(setup, buffers, found)} at {_text(buffers.dims)}"
        setup.fail(Gate.MARGINS, f"{where}: {mask_advice(found.text, found.line, 'load')}", found.line)
    return calls.errors


def _name_of(setup: KernelSetup, buffers: Buffers, found: Outside) -> str:
    """Return the name in kernel.yaml of the tensor outside of which an access was."""
    tensors = (*setup.kernel.inputs, *setup.kernel.outputs)
    pairs = zip(tensors, (*buffers.inputs, *buffers.outs), strict=True)
    return next((f"`{tensor.name}`" for tensor, buffer in pairs if buffer.raw is found.raw), "a tensor")


def _unwritten(count: int, runnable: Runnable, buffers: Buffers, case: Case) -> tuple[str, FrameSummary | None]:
    """Return the message for elements that no call wrote, and the line of the launcher where it is to blame."""
    where = _where(buffers.dims, case)
    if count < sum(tensor.numel() for tensor in buffers.out_tensors):
        return f"{elements_that(count, 'was', 'were')} not written {where}", None
    nothing = f"nothing was written into `out` {where}"
    if not isinstance(runnable, PythonRunnable):
        return f"{nothing}: look at the grid, which `cdiv` rounds up, and at what the kernel stores", None
    if _returns_own_tensor(runnable, buffers):
        contract = "allocate only `if out is None`, as in `out = torch.empty_like(x) if out is None else out`"
        return f"{nothing}: the launcher returned a tensor of its own: {contract}", assignment(runnable.function, "out")
    grid = "no program stored a value: the grid may be empty, `triton.cdiv(N, BLOCK)` rounds up and `N // BLOCK` down"
    return f"{nothing}: {grid}; or the launcher does not give `out` to the kernel", definition(runnable.function)


def _returns_own_tensor(runnable: PythonRunnable, buffers: Buffers) -> bool:
    """Return whether a call with `out` returns another tensor than that."""
    results = as_tuple(call_and_wait(lambda: runnable.call_with(buffers.input_tensors, buffers.out_tensors)))
    tensors = [one for one in results if isinstance(one, torch.Tensor)]
    return any(one.data_ptr() != out.data_ptr() for one, out in zip(tensors, buffers.out_tensors, strict=False))


def _call_into(setup: KernelSetup, runnable: Runnable, buffers: Buffers, calls: RepeatedCalls) -> tuple[int, bool]:
    """Call twice, into outputs filled with different patterns, and judge what the calls wrote.

    Return the number of unwritten elements, and whether all writes were inside of the buffers.
    """
    untouched, inside = [], True
    for poison in calls_over_patterns(runnable, buffers):
        inside &= _require_margins(setup, buffers, poison)
        untouched.append(buffers.untouched(poison))
        calls.add(buffers.out_tensors)
    unwritten = sum(int((first & second).sum()) for first, second in zip(*untouched, strict=True))
    return unwritten, inside


def require_small_errors(setup: KernelSetup, case: Case, dims: Mapping[str, int], errors: Errors) -> None:
    """Raise EvaluationEnded(incorrect) unless the errors keep all limits."""
    for gate, message in failed_limits(errors, setup.tolerance, _where(dims, case)):
        setup.fail(gate, message)


def require_shapes_and_dtypes(
    setup: KernelSetup, results: Sequence[Any], dims: Mapping[str, int], runnable: Runnable | None = None
) -> bool:
    """Raise EvaluationEnded unless the outputs have the declared number, shapes and dtypes.

    With these gates off, return whether the shapes at least are right, so that the values can be judged.
    """
    shapes = _output_shapes(setup, dims)
    if len(results) != len(shapes) or not all(isinstance(result, torch.Tensor) for result in results):
        line = last_return(runnable.function) if isinstance(runnable, PythonRunnable) else None
        setup.fail(Gate.SHAPE, _words_of_returned(results, len(shapes)), line)
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


def _words_of_returned(results: Sequence[Any], wanted: int) -> str:
    """Return the message for a call that did not return its outputs as tensors."""
    tensors = "a tensor" if wanted == 1 else f"a tuple of {wanted} tensors"
    found = ", ".join("None" if one is None else f"a value of type {type(one).__name__}" for one in results)
    return f"{RETURNED} {found or 'nothing'}, not {tensors}: end it with `return out`"


def _require_margins(setup: KernelSetup, buffers: Buffers, poison: int) -> bool:
    """Raise EvaluationEnded(out_of_bounds) unless all guard bytes hold; with that gate off, return whether they do."""
    outputs_hold, inputs_hold = buffers.outputs_hold(poison), buffers.inputs_hold()
    found = outside.first(Access.WRITE)
    line = found.line if found else None
    mask = mask_advice(found.text, found.line, "store") if found else "a store needs a mask, in CUDA an `if (i < N)`"
    if not outputs_hold:
        setup.fail(Gate.MARGINS, f"it wrote outside of the output at {_text(buffers.dims)}: {mask}", line)
    if not inputs_hold:
        setup.fail(Gate.MARGINS, f"it wrote outside of an input at {_text(buffers.dims)}: {mask}", line)
    return outputs_hold and inputs_hold


def _require_unchanged_inputs(setup: KernelSetup, buffers: Buffers, case: Case) -> None:
    for buffer, original in zip(buffers.inputs, case.inputs, strict=True):
        if not same_bits(buffer.tensor, original):
            setup.fail(Gate.INPUTS, f"it changed an input {_where(buffers.dims, case)}")


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
    require_small_errors(setup, case, dims, judge(case, last.again()))


def _exact_case(setup: KernelSetup, dims: Mapping[str, int]) -> Case | None:
    """Return the first case of the first exact set of the kernel; None when it has no such set."""
    names = [name for name in setup.kernel.extra_inputs if name in EXACT_SETS]
    return next((case for name in names[:1] for case in _extra_cases(setup, name, dims)), None)


def _guarded(setup: KernelSetup, dims: Mapping[str, int], case: Case) -> Buffers:
    """Return the buffers of a shape, with the inputs of the case."""
    dtypes = output_dtypes(setup.kernel, setup.dtype)
    return guarded_buffers(dims, case.inputs, _output_shapes(setup, dims), dtypes, setup.device)


def _output_shapes(setup: KernelSetup, dims: Mapping[str, int]) -> list[tuple[int, ...]]:
    return output_shapes(setup.kernel, names_of(dims, setup.params, DTYPES[setup.dtype].itemsize))


def _dtype(setup: KernelSetup) -> Any:
    return getattr(torch, setup.dtype)


def _elements(setup: KernelSetup, dims: Mapping[str, int]) -> int:
    count = 1
    for value in dims.values():
        count *= value
    return count


def _where(dims: Mapping[str, int], case: Case) -> str:
    return f"at {_text(dims)} ({case.name} inputs)"


def _text(dims: Mapping[str, int]) -> str:
    """Return the dims as text: `M=3, N=127`."""
    return ", ".join(f"{name}={value}" for name, value in dims.items())
