"""The reader's kernel of an exercise → an `ExerciseResult`, in a process of its own.

`python -m sitegen.measure.exercise_process JOB FOLDER ANSWER`: JOB is an `ExerciseJob` as JSON, FOLDER holds its
sources and the reader's file, and the result goes to ANSWER.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import torch

from sitegen.measure import interpreter
from sitegen.measure.correctness import KernelSetup, cases, check, check_case
from sitegen.measure.diagnosis import Alternative, Evidence, Trial, alternatives_of, diagnose
from sitegen.measure.faults import failure_of
from sitegen.measure.guarded_calls import Buffers, call_and_wait, guarded_buffers
from sitegen.measure.inputs import CANARY_BYTES, POISONS, as_tuple, generator, in_order, output_dtypes, output_shapes
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.runnable import (
    Runnable,
    first_reference_baseline,
    implementation_runnable,
    reference_baseline,
    reference_of,
)
from sitegen.model.exercise import Diagnosis, ExerciseJob, ExerciseResult, Traffic, dtype_of
from sitegen.model.formula import evaluate_int, names_in
from sitegen.model.kernel import Kernel, Status
from sitegen.model.plain import from_plain, to_plain

ALIGNED: Mapping[int, tuple[tuple[int, ...], ...]] = {
    1: ((1024,), (16384,)),
    2: ((8, 128), (4, 2048)),
    3: ((64, 64, 64), (32, 64, 128), (128, 32, 64), (64, 128, 32)),
}
"""Sizes of powers of two at which a wrong kernel is called too, by the number of dims.  Where inputs of such sizes have
more than MOST_INTERPRETED elements, all sizes but the last are halved until they have not.
"""
RACE = (
    "The result changes from call to call with the same inputs: several programs write into the same place, or add to "
    "it, and the GPU runs them in any order. Give each program a place of its own, and combine the places in a second "
    "launch."
)
SHIFT = 1000.0
MOST_INTERPRETED = 1 << 18
"""The most elements of inputs at which the interpreter runs a check; more take it minutes."""
_EXPLAINED = (Status.WRONG_DTYPE, Status.WRONG_SHAPE, Status.MODIFIED_INPUT)
"""Statuses of gates whose own sentence names the cause."""


def main(arguments: list[str]) -> None:
    job_file, folder, answer = map(Path, arguments)
    job = from_plain(ExerciseJob, json.loads(job_file.read_text(encoding="utf-8")))
    result = check_exercise(job, folder, "cuda" if torch.cuda.is_available() else "cpu")
    if result.device == "cuda" and not result.message:
        from sitegen.measure.exercise_timing import time_kernels

        result = replace(result, timing=time_kernels(job, folder))
    answer.write_text(json.dumps(to_plain(result)), encoding="utf-8")


def check_exercise(job: ExerciseJob, folder: Path, device: str) -> ExerciseResult:
    """Return the verdict of all gates, the cause of a failure, and without a GPU the traffic of both kernels."""
    if device == "cpu":
        interpreter.teach()
    kernel, (reader, author) = job.kernel, job.kernel.implementations
    dtype = dtype_of(kernel)
    params = {name: values[0] for name, values in kernel.params.items()}
    baseline = reference_baseline(folder, kernel, first_reference_baseline(kernel), params)
    setup = KernelSetup(kernel, dtype, params, reference_of(folder, kernel), baseline, device)
    passed, shapes = 0, _shapes(kernel, device)
    try:
        runnable = implementation_runnable(folder, kernel, reader, dtype, params)
        for dims in shapes:
            _check(setup, runnable, dims, reader.deterministic)
            passed += 1
        if device == "cuda":
            return ExerciseResult(shapes=passed, device=device)
        traffic = _traffic(setup, runnable, job.counted_at)
    except Exception as error:
        why = failure_of(error, folder, reader)
        out_of_bounds = why.status is Status.OUT_OF_BOUNDS  # at larger shapes it could write beyond the guard bytes
        called = shapes[: passed + 1] if out_of_bounds else shapes
        return ExerciseResult(why.message, _explained(why) or _cause(setup, runnable, called), passed, device)
    solution = implementation_runnable(folder, kernel, author, dtype, params)
    place = ", ".join(f"{name}={size}" for name, size in job.counted_at.items())
    authors = _traffic(setup, solution, job.counted_at)
    return ExerciseResult("", None, passed, device, traffic, authors, place)


def _shapes(kernel: Kernel, device: str) -> tuple[Mapping[str, int], ...]:
    """Return the shapes of the checks: on a GPU all, else those with inputs that the interpreter handles in seconds."""
    if device == "cuda":
        return kernel.checks
    return tuple(dims for dims in kernel.checks if _elements(kernel, dims) <= MOST_INTERPRETED)


def _elements(kernel: Kernel, dims: Mapping[str, int]) -> int:
    """Return the number of elements of all inputs."""
    return sum(prod(evaluate_int(size, dims) for size in tensor.shape) for tensor in kernel.inputs)


def _check(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int], deterministic: bool) -> None:
    """Raise EvaluationEnded when a gate fails; the interpreter, which is slow, gets one seed and no repeats.

    `deterministic` is whether the result must be the same at every call, as the author's is.
    """
    if setup.device == "cuda":
        check(setup, runnable, [dims], deterministic)
        return
    buffers = None
    for case in cases(setup, dims, 1):
        buffers = buffers or _buffers(setup, dims, case.inputs)
        buffers.load(case.inputs)
        check_case(setup, runnable, buffers, case)


def _explained(why: EvaluationEnded) -> Diagnosis | None:
    """Return the cause that the status itself names."""
    match why.status:
        case Status.WRONG_DTYPE:
            advice = "Allocate the result with `torch.empty_like`, which keeps the dtype of the input"
            return Diagnosis("wrong_dtype", f"The result has the wrong dtype: {why.message}. {advice}.")
        case Status.RACE:
            return Diagnosis("race", RACE)
        case status if status in _EXPLAINED:
            return Diagnosis(status.value, f"{why.message[:1].upper()}{why.message[1:]}.")
        case Status.INCORRECT | Status.UNWRITTEN | Status.OUT_OF_BOUNDS:
            return None
    return Diagnosis("crash", f"The kernel did not run to its end: {why.message}")


def _cause(setup: KernelSetup, runnable: Runnable, called: tuple[Mapping[str, int], ...]) -> Diagnosis:
    """Return the cause by experiment; a GPU may end an experiment that reads or writes outside of its memory."""
    try:
        return diagnose(_evidence(setup, runnable, called))
    except Exception as error:
        return Diagnosis("crash", f"The kernel did not run to its end: {error}")


def _evidence(setup: KernelSetup, runnable: Runnable, ragged: tuple[Mapping[str, int], ...]) -> Evidence:
    """Call the kernel at ragged shapes and at powers of two with normal inputs.  At some of them also call it with
    inputs + SHIFT, and with an output that is 0 before the call.  Whole numbers, such as classes, are not shifted: they
    are indices.
    """
    aligned = [_fitting(setup.kernel, sizes) for sizes in ALIGNED[len(setup.kernel.dims)]]
    shapes = [*ragged, *aligned]
    plain = tuple(_trial(setup, runnable, dims) for dims in shapes)
    shifted = tuple(_trial(setup, runnable, dims, shift=SHIFT) for dims in (aligned[0], *ragged[1:2]))
    cleared = _trial(setup, runnable, aligned[0], fills=(0,))
    last = setup.kernel.dims[-1]
    summed = "" if any(last in names_in(size) for size in setup.kernel.outputs[0].shape) else last
    return Evidence(plain, shifted, (cleared,), summed)


def _trial(
    setup: KernelSetup,
    runnable: Runnable,
    dims: Mapping[str, int],
    shift: float = 0.0,
    fills: tuple[int, ...] = POISONS,
) -> Trial:
    tensors = setup.reference.make_inputs(dims, getattr(torch, setup.dtype), generator(setup.device, 0), setup.device)
    inputs = tuple(one + shift if one.is_floating_point() else one for one in in_order(setup.kernel, tensors))
    buffers = _buffers(setup, dims, inputs)
    got, unwritten, past = _call(runnable, buffers, fills)
    names = [tensor.name for tensor in setup.kernel.inputs]

    def compute(named: Mapping[str, Any]) -> Any:
        return _expected(setup, named, setup.params)

    named = dict(zip(names, (one.cpu() for one in inputs), strict=True))
    expected = compute(named)
    others: tuple[Alternative, ...] = ()
    if not shift:
        others = (*alternatives_of(named, dims, compute, expected), *_with_other_params(setup, named))
    return Trial(dims, expected, got.cpu(), unwritten.cpu(), past, others, _typical(setup, inputs))


def _expected(setup: KernelSetup, named: Mapping[str, Any], params: Mapping[str, Any]) -> Any:
    """Return the first output of the reference for inputs by name, in float64."""
    exact = {name: one.double() if one.is_floating_point() else one for name, one in named.items()}
    return as_tuple(setup.reference.reference(**exact, **params))[0].cpu()


def _with_other_params(setup: KernelSetup, named: Mapping[str, Any]) -> Iterator[Alternative]:
    """Yield the outputs of a kernel that computes with another value of a parameter of kernel.yaml."""
    for name, values in setup.kernel.params.items():
        for value in values:
            if value != setup.params[name]:
                output = _expected(setup, named, {**setup.params, name: value})
                yield Alternative("wrong_param", f"`{name}={value}`", output)


def _typical(setup: KernelSetup, inputs: Any) -> float:
    """Return the size of a typical value of a reduction: the norm of what it adds, or its `error_scale` if that is
    less; 0 for a kernel without one.
    """
    if not hasattr(setup.reference, "error_scale"):
        return 0.0
    exact = [one.double() if one.is_floating_point() else one for one in inputs]
    return min(float(exact[0].norm()), float(setup.reference.error_scale(*exact).max()))


def _call(runnable: Runnable, buffers: Buffers, fills: tuple[int, ...]) -> tuple[Any, Any, int]:
    """Return the first output, its elements that keep every fill, and how far behind its end something was written.

    Outputs are filled with a byte before each call; an element that keeps several fills was not written.
    """
    if not runnable.takes_out:
        got = call_and_wait(lambda: runnable.run_allocating(buffers.input_tensors, buffers.dims))[0]
        return got, torch.zeros_like(got, dtype=torch.bool), 0
    kept, past, out = [], 0, buffers.outs[0]
    for poison in reversed(fills):  # the last call keeps what it made of NaN
        for buffer in buffers.outs:
            buffer.fill(poison)
        call_and_wait(lambda: runnable.run_into(buffers.input_tensors, buffers.out_tensors, buffers.dims))
        kept.append(out.untouched(poison))
        changed = (out.raw[-CANARY_BYTES:] != poison).nonzero()
        past = max(past, int(changed[-1]) // out.tensor.element_size() + 1 if len(changed) else 0)
    unwritten = kept[0] & kept[-1] if len(fills) > 1 else torch.zeros_like(kept[0])
    return out.tensor, unwritten, past


def _buffers(setup: KernelSetup, dims: Mapping[str, int], inputs: Any) -> Buffers:
    shapes = output_shapes(setup.kernel, {**dims, **setup.params})  # type: ignore[dict-item]
    return guarded_buffers(dims, inputs, shapes, output_dtypes(setup.kernel, setup.dtype), setup.device)


def _fitting(kernel: Kernel, sizes: tuple[int, ...]) -> dict[str, int]:
    """Return sizes by dim, with the largest one before the last halved until the inputs are small enough."""
    dims = dict(zip(kernel.dims, sizes, strict=True))
    while _elements(kernel, dims) > MOST_INTERPRETED and max(sizes[:-1], default=1) > 1:
        largest = max(kernel.dims[:-1], key=lambda name: dims[name])
        dims[largest] //= 2
        sizes = tuple(dims.values())
    return dims


@dataclass
class _Counts:
    loaded: int = 0
    programs: int = 0


def _traffic(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int]) -> Traffic:
    """Return the programs and the loaded bytes of one call under the interpreter."""
    tensors = setup.reference.make_inputs(dims, getattr(torch, setup.dtype), generator(setup.device, 0), setup.device)
    with _counted() as counts:
        runnable.run_allocating(in_order(setup.kernel, tensors), dims)
    return Traffic(counts.programs, counts.loaded)


@contextmanager
def _counted() -> Iterator[_Counts]:
    """Count what the interpreter's programs load."""
    from triton.runtime.interpreter import InterpreterBuilder

    counts, load, place = _Counts(), InterpreterBuilder.create_masked_load, InterpreterBuilder.set_grid_idx

    def counting_load(self: Any, pointers: Any, mask: Any, *others: Any) -> Any:
        counts.loaded += int(mask.data.sum()) * pointers.get_element_ty().primitive_bitwidth // 8
        return load(self, pointers, mask, *others)

    def counting_place(self: Any, *index: int) -> Any:
        counts.programs += 1
        return place(self, *index)

    InterpreterBuilder.create_masked_load, InterpreterBuilder.set_grid_idx = counting_load, counting_place
    try:
        yield counts
    finally:
        InterpreterBuilder.create_masked_load, InterpreterBuilder.set_grid_idx = load, place


if __name__ == "__main__":
    main(sys.argv[1:])
