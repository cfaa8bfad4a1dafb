"""Every gate that stands before a number: an implementation and shapes → `Correctness`, or `Ended` with a status.

Three gates of error against a float64 reference, exact sets bit for bit, both ways of calling, shape and dtype,
unwritten elements, canaries, inputs left alone, results remembered from an earlier call, and repeatability.
The order of the verdicts is that of their usefulness: a write out of bounds explains a wrong value, not the reverse.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sitegen.measure.call import BaselineSubject, Subject
from sitegen.measure.errors import Errors, all_finite, errors_of, ulp, worst
from sitegen.measure.geometry import names_of
from sitegen.measure.inputs import (
    INPUT_MARGIN,
    POISONS,
    Guarded,
    as_tuple,
    bits,
    generator,
    guarded,
    guarded_copy,
    in_order,
    output_dtypes,
    output_shapes,
    same_bits,
)
from sitegen.measure.merging import merge
from sitegen.measure.protocol import Ended
from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Kernel, Scalar, Status
from sitegen.model.record import Correctness

SEEDS = 3
REPEATS = 5
LAUNCH_DEADLINE_S = 10.0
EXACT_SETS = ("exact", "one_hot")
"""Names of input sets whose results must equal the reference bit for bit."""
NORMAL = "normal"
BASELINE_SHARE, ULPS, ROW_SHARE = 4.0, 2.0, 4.0
"""The largest error may be 4 × the baseline's own plus 2 ulp; a row's norm 4 × the tolerance."""
INTERPRETER_ELEMENTS = 1 << 16
"""Triton's interpreter runs one program at a time: larger shapes get one seed and no repeats there."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a check needs besides the shapes."""

    kernel: Kernel
    dtype: str
    params: Mapping[str, Scalar]
    reference: Any
    """The module of reference.py."""
    baseline: BaselineSubject | None
    """Whose own error is the yardstick of the third gate."""
    device: str

    @property
    def tolerance(self) -> float:
        return self.kernel.tolerance[self.dtype]


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs and what must come out."""

    name: str
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    """float64."""
    scale: tuple[Any, ...]
    """What the error is judged over: `expected` itself, or Σ|x|."""
    baseline_error: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """The buffers of one shape.  They stay where they are while inputs change in place from case to case,
    so a result remembered from an earlier call with the same pointers is seen to be wrong."""

    dims: Mapping[str, int]
    inputs: tuple[Guarded, ...]
    outs: tuple[Guarded, ...]

    @property
    def input_tensors(self) -> list[Any]:
        return [buffer.tensor for buffer in self.inputs]

    @property
    def out_tensors(self) -> list[Any]:
        return [buffer.tensor for buffer in self.outs]


def check(bench: Bench, subject: Subject, shapes: Sequence[Mapping[str, int]], declared: bool) -> Correctness:
    """All gates at all shapes.  `declared`: the implementation says that it is deterministic.  Raises Ended."""
    total = Correctness(0.0, 0.0, 0.0, 0.0, bench.tolerance, shapes=0, seeds=SEEDS, deterministic=True)
    for dims in shapes:
        total = merge(total, check_shape(bench, subject, dims))
        if declared and not total.deterministic:
            raise Ended(Status.RACE, f"declared deterministic, but {REPEATS} runs at {_text(dims)} differ")
    return total


def check_shape(bench: Bench, subject: Subject, dims: Mapping[str, int]) -> Correctness:
    """All gates at one shape: the normal inputs of every seed, then the sets that the kernel declares."""
    large = bench.device == "cpu" and _elements(bench, dims) > INTERPRETER_ELEMENTS
    names: list[str] = []
    desk, errors, baseline, repeatable = None, Errors(), 0.0, True
    for case in cases(bench, dims, 1 if large else SEEDS):
        desk = _lay(desk, bench, dims, case)
        errors = worst(errors, _check_or_name_race(bench, subject, desk, case))
        if not names and not large:
            repeatable = repeats_equal(subject, desk)  # on ordinary numbers: exact ones forgive any order
        baseline, names = max(baseline, *case.baseline_error), [*names, case.name]
    return Correctness(
        relative_error=errors.relative,
        row_error=errors.row,
        max_abs_error=errors.largest,
        baseline_max_abs_error=baseline,
        tolerance=bench.tolerance,
        shapes=1,
        seeds=SEEDS,
        input_sets=tuple(dict.fromkeys(names)),
        deterministic=repeatable,
    )


def cases(bench: Bench, dims: Mapping[str, int], seeds: int) -> Iterator[Case]:
    for seed in range(seeds):
        made = bench.reference.make_inputs(dims, _dtype(bench), generator(bench.device, seed), bench.device)
        yield case_of(bench, NORMAL, made, dims)
    for name in bench.kernel.extra_inputs:
        extra: Iterable[Mapping[str, Any]] = bench.reference.extra_inputs(
            name, dims, _dtype(bench), generator(bench.device, SEEDS), bench.device
        )
        for made in extra:
            yield case_of(bench, name, made, dims)


def case_of(bench: Bench, name: str, made: Mapping[str, Any], dims: Mapping[str, int]) -> Case:
    inputs = in_order(bench.kernel, made, "make_inputs" if name == NORMAL else "extra_inputs")
    named = {tensor.name: _float64(value) for tensor, value in zip(bench.kernel.inputs, inputs, strict=True)}
    expected = as_tuple(bench.reference.reference(**named, **bench.params))
    judge_over = getattr(bench.reference, "error_scale", None)
    scale = as_tuple(judge_over(**named, **bench.params)) if judge_over else expected
    del named
    if name == NORMAL and not all(map(all_finite, expected)):
        raise Ended(Status.NOT_RUN, f"reference.py is not finite for ordinary inputs at {_text(dims)}")
    return Case(name, inputs, expected, scale, _baseline_error(bench, inputs, expected, scale, dims))


def _baseline_error(
    bench: Bench, inputs: Sequence[Any], expected: Sequence[Any], scale: Sequence[Any], dims: Mapping[str, int]
) -> tuple[float, ...]:
    if bench.baseline is None:
        return tuple(0.0 for _ in expected)
    results = bench.baseline.fresh(inputs, dims)
    return tuple(errors_of(r, e, s).largest for r, e, s in zip(results, expected, scale, strict=True))


def _check_or_name_race(bench: Bench, subject: Subject, desk: Desk, case: Case) -> Errors:
    """A wrong result that is another one at each run is called a race: that is where its author must look."""
    try:
        return check_case(bench, subject, desk, case)
    except Ended as why:
        if why.status is not Status.INCORRECT or repeats_equal(subject, desk):
            raise
        raise Ended(Status.RACE, f"{why.message}, and {REPEATS} runs differ") from why


def check_case(bench: Bench, subject: Subject, desk: Desk, case: Case) -> Errors:
    """One set of inputs, both ways of calling.  Raises Ended at the first gate that fails."""
    errors, unwritten = _call_into(subject, desk, case) if subject.takes_out else (Errors(), 0)
    if subject.makes_output:
        results = call_and_wait(lambda: subject.fresh(desk.input_tensors, desk.dims))
        expect_form(bench, results, desk.dims)
        errors = worst(errors, _judge(case, results))
    if unwritten:
        raise Ended(Status.UNWRITTEN, _unwritten(unwritten, desk, case))
    _expect_inputs_untouched(desk, case)
    expect_small(bench, case, desk.dims, errors)
    return errors


def _unwritten(count: int, desk: Desk, case: Case) -> str:
    where = f"at {_where(desk.dims, case)}"
    if count < sum(tensor.numel() for tensor in desk.out_tensors):
        return f"{_elements_that(count, 'was', 'were')} not written {where}"
    contract = "a launcher must write its result into `out`, and make a tensor of its own only when `out` is None"
    return f"nothing was written into `out` {where}: {contract}"


def _call_into(subject: Subject, desk: Desk, case: Case) -> tuple[Errors, int]:
    """Two calls into differently poisoned outputs: what holds both poisons in turn was not written."""
    errors, untouched = Errors(), []
    for poison in POISONS:
        for buffer in desk.outs:
            buffer.fill(poison)
        call_and_wait(lambda: subject.into(desk.input_tensors, desk.out_tensors, desk.dims))
        _expect_margins(desk, poison)
        untouched.append([buffer.untouched(poison) for buffer in desk.outs])
        errors = worst(errors, _judge(case, desk.out_tensors))
    return errors, sum(int((first & second).sum()) for first, second in zip(*untouched, strict=True))


def _judge(case: Case, results: Sequence[Any]) -> Errors:
    judged = [
        replace(errors_of(r, e, s), allowed=BASELINE_SHARE * b + ULPS * ulp(r.dtype, s))
        for r, e, s, b in zip(results, case.expected, case.scale, case.baseline_error, strict=True)
    ]
    if case.name in EXACT_SETS:
        judged = [replace(j, inexact=_differing(r, e)) for j, r, e in zip(judged, results, case.expected, strict=True)]
    return worst(*judged)


def _differing(result: Any, expected: Any) -> int:
    """Elements that are not the reference rounded to the output's dtype."""
    return int((result != expected.to(result.dtype)).sum())


def expect_small(bench: Bench, case: Case, dims: Mapping[str, int], errors: Errors) -> None:
    """The three gates of error; NaN and infinity pass only where the reference has the same."""
    where = f"at {_where(dims, case)}"
    if errors.wrong_kind:
        found = _elements_that(errors.wrong_kind, "is", "are")
        raise Ended(Status.INCORRECT, f"{found} NaN or infinite, or should be, {where}")
    if errors.inexact:
        raise Ended(Status.INCORRECT, f"{_elements_that(errors.inexact, 'is', 'are')} not exact {where}")
    if not errors.relative <= bench.tolerance:
        raise Ended(Status.INCORRECT, f"relative error {errors.relative:.3g} > {bench.tolerance:.3g} {where}")
    if not errors.row <= ROW_SHARE * bench.tolerance:
        raise Ended(Status.INCORRECT, f"a row's error {errors.row:.3g} > {ROW_SHARE * bench.tolerance:.3g} {where}")
    if errors.excess > 0:
        raise Ended(Status.INCORRECT, f"largest error {errors.largest:.3g} is {errors.excess:.3g} too much {where}")


def expect_form(bench: Bench, results: Sequence[Any], dims: Mapping[str, int]) -> None:
    """As many outputs as declared, each of the declared shape and dtype."""
    shapes = output_shapes(bench.kernel, names_of(dims, bench.params, DTYPES[bench.dtype].itemsize))
    if len(results) != len(shapes) or not all(isinstance(result, torch.Tensor) for result in results):
        raise Ended(Status.WRONG_SHAPE, f"returned {len(results)} values, not {len(shapes)} tensors")
    for result, shape in zip(results, shapes, strict=True):
        if tuple(result.shape) != shape:
            raise Ended(Status.WRONG_SHAPE, f"shape {tuple(result.shape)} instead of {shape} at {_text(dims)}")
    for result, dtype in zip(results, output_dtypes(bench.kernel, bench.dtype), strict=True):
        if result.dtype != dtype:
            raise Ended(Status.WRONG_DTYPE, f"dtype {result.dtype} instead of {dtype}")


def _expect_margins(desk: Desk, poison: int) -> None:
    if not all(buffer.margins_hold(poison) for buffer in desk.outs):
        raise Ended(Status.OUT_OF_BOUNDS, f"wrote outside of the output at {_text(desk.dims)}")
    if not all(buffer.margins_hold(INPUT_MARGIN) for buffer in desk.inputs):
        raise Ended(Status.OUT_OF_BOUNDS, f"wrote outside of an input at {_text(desk.dims)}")


def _expect_inputs_untouched(desk: Desk, case: Case) -> None:
    for buffer, original in zip(desk.inputs, case.inputs, strict=True):
        if not same_bits(buffer.tensor, original):
            raise Ended(Status.MODIFIED_INPUT, f"an input was changed at {_where(desk.dims, case)}")


def recheck(
    bench: Bench, subject: Subject, dims: Mapping[str, int], inputs: Sequence[Any], outs: Sequence[Any]
) -> None:
    """The error gates on what the last timed call left in `outs`; a call that allocates is made once more."""
    named = {tensor.name: value for tensor, value in zip(bench.kernel.inputs, inputs, strict=True)}
    case = case_of(bench, "timed", named, dims)
    results = outs if subject.takes_out else call_and_wait(lambda: subject.fresh(inputs, dims))
    expect_small(bench, case, dims, _judge(case, results))


def repeats_equal(subject: Subject, desk: Desk) -> bool:
    """Five runs on the inputs that lie there, into an `out` that always holds the same, compared bit by bit."""
    first: list[Any] = []
    for _ in range(REPEATS):
        results = call_and_wait(lambda: _run(subject, desk))
        if not first:
            first = [bits(result).clone() for result in results]
        elif not all(bool(torch.equal(bits(r), f)) for r, f in zip(results, first, strict=True)):
            return False
    return True


def _run(subject: Subject, desk: Desk) -> Sequence[Any]:
    if not subject.takes_out:
        return subject.fresh(desk.input_tensors, desk.dims)
    for buffer in desk.outs:
        buffer.fill(POISONS[0])
    subject.into(desk.input_tensors, desk.out_tensors, desk.dims)
    return desk.out_tensors


def call_and_wait(call: Callable[[], Any]) -> Any:
    """The call's result once the GPU is done; never a blocking wait, which a hung kernel would not end."""
    result = call()
    wait()
    return result


def wait(while_waiting: Callable[[], None] = lambda: None, event: Any = None) -> None:
    """Polls until the event has come, or everything queued is done.  Raises Ended(timeout) after LAUNCH_DEADLINE_S."""
    if not torch.cuda.is_available():
        return
    if event is None:
        event = torch.cuda.Event()
        event.record()
    start = time.monotonic()
    while not event.query():
        if time.monotonic() - start > LAUNCH_DEADLINE_S:
            raise Ended(Status.TIMEOUT, f"a launch took more than {LAUNCH_DEADLINE_S:.0f} s")
        while_waiting()
        time.sleep(0.0002)


def _lay(desk: Desk | None, bench: Bench, dims: Mapping[str, int], case: Case) -> Desk:
    """Puts the case's inputs on the desk; the same memory for every case of a shape."""
    if desk is None:
        shapes = output_shapes(bench.kernel, names_of(dims, bench.params, DTYPES[bench.dtype].itemsize))
        dtypes = output_dtypes(bench.kernel, bench.dtype)
        outs = tuple(guarded(s, d, bench.device) for s, d in zip(shapes, dtypes, strict=True))
        return Desk(dims, tuple(guarded_copy(value) for value in case.inputs), outs)
    for buffer, value in zip(desk.inputs, case.inputs, strict=True):
        buffer.tensor.copy_(value)
    return desk


def _float64(value: Any) -> Any:
    return value.double() if value.is_floating_point() else value


def _dtype(bench: Bench) -> Any:
    return getattr(torch, bench.dtype)


def _elements_that(count: int, one: str, several: str) -> str:
    """`1 element is`, `2 elements are`."""
    return f"1 element {one}" if count == 1 else f"{count} elements {several}"


def _elements(bench: Bench, dims: Mapping[str, int]) -> int:
    count = 1
    for value in dims.values():
        count *= value
    return count


def _where(dims: Mapping[str, int], case: Case) -> str:
    return f"{_text(dims)} ({case.name} inputs)"


def _text(dims: Mapping[str, int]) -> str:
    """`M=3, N=127`."""
    return ", ".join(f"{name}={value}" for name, value in dims.items())
