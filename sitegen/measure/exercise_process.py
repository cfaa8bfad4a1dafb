"""The reader's kernel of an exercise → an `ExerciseResult`, in a process of its own.

`python -m sitegen.measure.exercise_process [counts] JOB FOLDER ANSWER`: JOB is an `ExerciseJob` as JSON, FOLDER holds
its sources and the reader's file, and the result goes to ANSWER.  With `counts` the kernel, which is right on a GPU, is
not checked: the result has only the traffic.
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

import numpy as np
import torch

from sitegen.measure import interpreter
from sitegen.measure.correctness import READ_OUTSIDE, KernelSetup, cases, check, check_case
from sitegen.measure.diagnosis import Evidence, Trial, diagnose_outputs
from sitegen.measure.exercise import COUNTS
from sitegen.measure.faults import failure_of
from sitegen.measure.guarded_calls import Buffers, call_and_wait, guarded_buffers
from sitegen.measure.inputs import (
    CANARY_BYTES,
    POISONS,
    GuardedTensor,
    as_tuple,
    bits,
    generator,
    in_order,
    output_dtypes,
    output_shapes,
)
from sitegen.measure.kernel_exceptions import advice_on, with_file_line
from sitegen.measure.known_mistakes import Alternative, Sum, alternatives_of, incomplete_sums
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.runnable import (
    Runnable,
    first_reference_baseline,
    implementation_runnable,
    reference_baseline,
    reference_of,
)
from sitegen.measure.sources import source_file
from sitegen.model.exercise import SECTOR_BYTES, Diagnosis, ExerciseJob, ExerciseResult, Traffic, dtype_of
from sitegen.model.formula import evaluate_int, names_in
from sitegen.model.kernel import Implementation, Kernel, Status
from sitegen.model.plain import from_plain, to_plain

ALIGNED: Mapping[int, tuple[tuple[int, ...], ...]] = {
    1: ((1024,), (16384,)),
    2: ((8, 128), (4, 2048)),
    3: ((64, 64, 64), (32, 64, 128), (128, 32, 64), (64, 128, 32)),
    4: ((1, 64, 128, 16), (1, 128, 128, 64)),
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
MOST_ACCESSED = 1 << 22
"""The most elements that the calls with normal inputs may load and store, masked ones too, at a shape at which the
interpreter also runs the other input sets.  An element takes it about 0.3 µs, with the arithmetic that belongs to it:
attention, whose programs have whole tiles of queries for one query, would take minutes.
"""


def main(arguments: list[str]) -> None:
    mode, (job_file, folder, answer) = arguments[:-3], map(Path, arguments[-3:])
    job = from_plain(ExerciseJob, json.loads(job_file.read_text(encoding="utf-8")))
    result = count_exercise(job, folder) if mode == [COUNTS] else _checked_and_timed(job, folder)
    answer.write_text(json.dumps(to_plain(result)), encoding="utf-8")


def _checked_and_timed(job: ExerciseJob, folder: Path) -> ExerciseResult:
    result = check_exercise(job, folder, "cuda" if torch.cuda.is_available() else "cpu")
    if result.device != "cuda" or result.message:
        return result
    from sitegen.measure.exercise_timing import time_kernels

    return replace(result, timing=time_kernels(job, folder))


def count_exercise(job: ExerciseJob, folder: Path) -> ExerciseResult:
    """Return the traffic of both kernels under the interpreter, without a check of either.

    Raises an exception when one of them does not run there.
    """
    interpreter.teach()
    setup, (reader, author) = _setup(job, folder, "cpu"), job.kernel.implementations
    runnables = [
        implementation_runnable(folder, setup.kernel, one, setup.dtype, setup.params) for one in (reader, author)
    ]
    mine, theirs = (_traffic(setup, runnable, job.counted_at) for runnable in runnables)
    return ExerciseResult(traffic=mine, author_traffic=theirs, traffic_at=_words(job.counted_at))


def check_exercise(job: ExerciseJob, folder: Path, device: str) -> ExerciseResult:
    """Return the verdict of all gates, the cause of a failure, and without a GPU the traffic of both kernels."""
    if device == "cpu":
        interpreter.teach()
    setup, (reader, author) = _setup(job, folder, device), job.kernel.implementations
    kernel, passed, shapes = setup.kernel, 0, _shapes(setup.kernel, device)
    try:
        runnable = implementation_runnable(folder, kernel, reader, setup.dtype, setup.params)
        for dims in shapes:
            _check(setup, runnable, dims, reader.deterministic)
            passed += 1
        if device == "cuda":
            return ExerciseResult(shapes=passed, device=device)
        traffic = _traffic(setup, runnable, job.counted_at)
    except Exception as error:
        why = _failure_of(error, folder, kernel, reader)
        out_of_bounds = why.status is Status.OUT_OF_BOUNDS  # at larger shapes it could write beyond the guard bytes
        called = shapes[: passed + 1] if out_of_bounds else shapes
        return ExerciseResult(why.message, _explained(why) or _cause(setup, runnable, called), passed, device)
    solution = implementation_runnable(folder, kernel, author, setup.dtype, setup.params)
    authors = _traffic(setup, solution, job.counted_at)
    return ExerciseResult("", None, passed, device, traffic, authors, _words(job.counted_at))


def _setup(job: ExerciseJob, folder: Path, device: str) -> KernelSetup:
    """Return what checks need, with the first value of each parameter."""
    kernel = job.kernel
    params = {name: values[0] for name, values in kernel.params.items()}
    baseline = reference_baseline(folder, kernel, first_reference_baseline(kernel), params)
    return KernelSetup(kernel, dtype_of(kernel), params, reference_of(folder, kernel), baseline, device)


def _words(dims: Mapping[str, int]) -> str:
    """Return sizes as text: `M=64, N=1024`."""
    return ", ".join(f"{name}={size}" for name, size in dims.items())


def _shapes(kernel: Kernel, device: str) -> tuple[Mapping[str, int], ...]:
    """Return the shapes of the checks: on a GPU all, else those with inputs that the interpreter handles in seconds."""
    if device == "cuda":
        return kernel.checks
    return tuple(dims for dims in kernel.checks if _elements(kernel, dims) <= MOST_INTERPRETED)


def _elements(kernel: Kernel, dims: Mapping[str, int]) -> int:
    """Return the number of elements of all inputs."""
    return sum(prod(evaluate_int(size, dims) for size in tensor.shape) for tensor in kernel.inputs)


def _check(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int], deterministic: bool) -> None:
    """Raise EvaluationEnded when a gate fails; the interpreter, which is slow, gets one seed and no repeats, and only
    normal inputs where the kernel accesses many elements.

    `deterministic` is whether the result must be the same at every call, as the author's is.
    """
    if setup.device == "cuda":
        check(setup, runnable, [dims], deterministic)
        return
    each = cases(setup, dims, 1)
    normal = next(each)
    buffers = _buffers(setup, dims, normal.inputs)
    with _counted() as counts:
        check_case(setup, runnable, buffers, normal)
    for case in each if counts.accessed <= MOST_ACCESSED else ():
        buffers.load(case.inputs)
        check_case(setup, runnable, buffers, case)


def _failure_of(error: Exception, folder: Path, kernel: Kernel, reader: Implementation) -> EvaluationEnded:
    """Return how the reader's kernel ended, with the line of the reader's file."""
    why, file = failure_of(error, folder, reader), source_file(folder, kernel, reader)
    text = file.read_text(encoding="utf-8")
    message = with_file_line(why.message, error, text, file.relative_to(folder).as_posix())
    return EvaluationEnded(why.status, message, why.log)


def _explained(why: EvaluationEnded) -> Diagnosis | None:
    """Return the cause that the status itself names."""
    match why.status:
        case Status.WRONG_DTYPE:
            advice = "Allocate the result with `torch.empty_like`, which keeps the dtype of the input"
            return Diagnosis("wrong_dtype", f"The result has the wrong dtype: {why.message}. {advice}.")
        case Status.RACE:
            return Diagnosis("race", RACE)
        case Status.WRONG_SHAPE:
            advice = "End the function with `return out`, which has the shape of the result"
            return Diagnosis("wrong_shape", f"What the function returns is no result: {why.message}. {advice}.")
        case Status.MODIFIED_INPUT:
            return Diagnosis("modified_input", f"{_capitalised(why.message)}.")
        case Status.OUT_OF_BOUNDS if why.message.startswith(READ_OUTSIDE):
            return Diagnosis("unmasked_load", f"The results are right, but {why.message}.")
        case Status.INCORRECT | Status.UNWRITTEN | Status.OUT_OF_BOUNDS:
            return None
    advice = advice_on(why.message)
    return Diagnosis("crash", f"The kernel did not run to its end: {why.message}" + (f". {advice}." if advice else ""))


def _capitalised(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _cause(setup: KernelSetup, runnable: Runnable, called: tuple[Mapping[str, int], ...]) -> Diagnosis:
    """Return the cause by experiment; a GPU may end an experiment that reads or writes outside of its memory."""
    try:
        return diagnose_outputs(_evidence(setup, runnable, called))
    except Exception as error:
        return Diagnosis("crash", f"The kernel did not run to its end: {error}")


def _evidence(setup: KernelSetup, runnable: Runnable, ragged: tuple[Mapping[str, int], ...]) -> Mapping[str, Evidence]:
    """Return the experiments on each output, by its name.

    They call the kernel at ragged shapes and at powers of two with normal inputs.  At some of them they also call it
    with inputs + SHIFT, and with outputs that are 0 before the call.  Whole numbers, such as classes, are not shifted:
    they are indices.
    """
    aligned = [_fitting(setup.kernel, sizes) for sizes in ALIGNED[len(setup.kernel.dims)]]
    shapes = [*ragged, *aligned]
    plain = [_trials(setup, runnable, dims) for dims in shapes]
    shifted = [_trials(setup, runnable, dims, shift=SHIFT) for dims in (aligned[0], *ragged[1:2])]
    cleared = [_trials(setup, runnable, aligned[0], fills=(0,))]
    return {
        output.name: Evidence(
            tuple(trials[place] for trials in plain),
            tuple(trials[place] for trials in shifted),
            tuple(trials[place] for trials in cleared),
            setup.kernel.dims[-1] if setup.kernel.dims[-1] in _summed(setup.kernel, place) else "",
        )
        for place, output in enumerate(setup.kernel.outputs)
    }


def _summed(kernel: Kernel, output: int) -> list[str]:
    """Return the dims that an output does not have."""
    kept = {name for size in kernel.outputs[output].shape for name in names_in(size)}
    return [name for name in kernel.dims if name not in kept]


def _trials(
    setup: KernelSetup,
    runnable: Runnable,
    dims: Mapping[str, int],
    shift: float = 0.0,
    fills: tuple[int, ...] = POISONS,
) -> tuple[Trial, ...]:
    """Call the kernel once for each fill, and return a trial of each output.

    The device also computes the reference, and the known mistakes once the diagnosis compares with them.
    """
    tensors = setup.reference.make_inputs(dims, getattr(torch, setup.dtype), generator(setup.device, 0), setup.device)
    inputs = tuple(
        one + shift if one.is_floating_point() else one for one in in_order(setup.kernel, tensors, setup.reference)
    )
    buffers = _buffers(setup, dims, inputs)
    names = [tensor.name for tensor in setup.kernel.inputs]
    named = dict(zip(names, inputs, strict=True))
    expected, scale = _expected(setup, named, setup.params), _typical(setup, inputs)
    return tuple(
        Trial(
            dims,
            expected[place].cpu(),
            got.cpu(),
            unwritten.cpu(),
            past,
            () if shift else _alternatives(setup, named, dims, place, expected[place]),
            scale,
            changing,
        )
        for place, (got, unwritten, past, changing) in enumerate(_call(runnable, buffers, fills))
    )


def _expected(setup: KernelSetup, named: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the outputs of the reference for inputs by name, in float64, on the device of the inputs."""
    exact = {name: one.double() if one.is_floating_point() else one for name, one in named.items()}
    return as_tuple(setup.reference.reference(**exact, **params))


def _alternatives(
    setup: KernelSetup, named: Mapping[str, Any], dims: Mapping[str, int], place: int, expected: Any
) -> Iterator[Alternative]:
    """Yield what an output would be after known mistakes, with tensors on the CPU."""
    for one in _known_mistakes(setup, named, dims, place, expected):
        yield replace(one, output=one.output.cpu())


def _known_mistakes(
    setup: KernelSetup, named: Mapping[str, Any], dims: Mapping[str, int], place: int, expected: Any
) -> Iterator[Alternative]:
    """Yield the same with tensors on the device of the inputs."""

    def compute(inputs: Mapping[str, Any]) -> Any:
        return _expected(setup, inputs, setup.params)[place]

    yield from alternatives_of(named, dims, compute, expected)
    if all(one.is_floating_point() for one in named.values()):  # an index needs every place of the dim that it names
        for of in _sums(setup.kernel, dims, place):
            yield from incomplete_sums(named, of, compute)
    yield from _with_other_params(setup, named, place)


def _sums(kernel: Kernel, dims: Mapping[str, int], output: int) -> Iterator[Sum]:
    """Yield a dim over which an output adds: that of a vector, the rows of a matrix, the inner one of a product."""
    for name in _summed(kernel, output):
        axes = {tensor.name: tensor.shape.index(name) for tensor in kernel.inputs if name in tensor.shape}
        noun = "number" if len(dims) == 1 else "row" if name == kernel.dims[0] else f"place of {name}"
        if axes and (noun != f"place of {name}" or len(axes) == len(kernel.inputs)):
            yield Sum(name, dims[name], axes, noun)


def _with_other_params(setup: KernelSetup, named: Mapping[str, Any], place: int) -> Iterator[Alternative]:
    """Yield an output of a kernel that computes with another value of a parameter of kernel.yaml."""
    for name, values in setup.kernel.params.items():
        for value in values:
            if value != setup.params[name]:
                output = _expected(setup, named, {**setup.params, name: value})[place]
                yield Alternative("wrong_param", f"`{name}={value}`", output)


def _typical(setup: KernelSetup, inputs: Any) -> float:
    """Return the size of a typical value of a reduction: the norm of what it adds, or its `error_scale` if that is
    less; 0 for a kernel without one.
    """
    if not hasattr(setup.reference, "error_scale"):
        return 0.0
    exact = [one.double() if one.is_floating_point() else one for one in inputs]
    return min(float(exact[0].norm()), float(setup.reference.error_scale(*exact).max()))


def _call(runnable: Runnable, buffers: Buffers, fills: tuple[int, ...]) -> list[tuple[Any, Any, int, int]]:
    """Return each output, its elements that keep every fill, how far behind its end something was written, and how many
    of its elements depend on the fill.

    Outputs are filled with a byte before each call; an element that keeps several fills was not written.
    """
    if not runnable.takes_out:
        made = call_and_wait(lambda: runnable.run_allocating(buffers.input_tensors, buffers.dims))
        return [(got, torch.zeros_like(got, dtype=torch.bool), 0, 0) for got in made]
    kept, made, past = [], [], [0] * len(buffers.outs)
    for poison in reversed(fills):  # the last call keeps what it made of NaN
        for buffer in buffers.outs:
            buffer.fill(poison)
        call_and_wait(lambda: runnable.run_into(buffers.input_tensors, buffers.out_tensors, buffers.dims))
        kept.append([out.untouched(poison) for out in buffers.outs])
        made.append([bits(out.tensor).clone() for out in buffers.outs])
        past = [max(most, _behind(out, poison)) for most, out in zip(past, buffers.outs, strict=True)]
    first, last = kept[0], kept[-1] if len(fills) > 1 else [torch.zeros_like(one) for one in kept[0]]
    unwritten = [before & after for before, after in zip(first, last, strict=True)]
    changing = [int((one != other).sum()) for one, other in zip(made[0], made[-1], strict=True)]
    return list(zip(buffers.out_tensors, unwritten, past, changing, strict=True))


def _behind(out: GuardedTensor, poison: int) -> int:
    """Return how many elements behind the end of an output a call reached, which was filled with a byte before."""
    changed = (out.raw[-CANARY_BYTES:] != poison).nonzero()
    return int(changed[-1]) // out.tensor.element_size() + 1 if len(changed) else 0


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
    sectors: int = 0
    accessed: int = 0
    """Elements of all loads and stores, also those that a mask leaves out."""


def _traffic(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int]) -> Traffic:
    """Return the programs, the loaded bytes and the sectors of one call under the interpreter."""
    tensors = setup.reference.make_inputs(dims, getattr(torch, setup.dtype), generator(setup.device, 0), setup.device)
    with _counted() as counts:
        runnable.run_allocating(in_order(setup.kernel, tensors, setup.reference), dims)
    return Traffic(counts.programs, counts.loaded, counts.sectors)


@contextmanager
def _counted() -> Iterator[_Counts]:
    """Count the interpreter's programs, what they load, and the sectors and elements of their loads and stores."""
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    counts, load, store, place = (
        _Counts(),
        Builder.create_masked_load,
        Builder.create_masked_store,
        Builder.set_grid_idx,
    )

    def counting_load(self: Any, pointers: Any, mask: Any, *others: Any) -> Any:
        counts.loaded += int(mask.data.sum()) * pointers.get_element_ty().primitive_bitwidth // 8
        counts.sectors += _sectors(pointers.data, mask.data)
        counts.accessed += mask.data.size
        return load(self, pointers, mask, *others)

    def counting_store(self: Any, pointers: Any, value: Any, mask: Any, *others: Any) -> Any:
        counts.sectors += _sectors(pointers.data, mask.data)
        counts.accessed += mask.data.size
        return store(self, pointers, value, mask, *others)

    def counting_place(self: Any, *index: int) -> Any:
        counts.programs += 1
        return place(self, *index)

    Builder.create_masked_load, Builder.create_masked_store = counting_load, counting_store
    Builder.set_grid_idx = counting_place
    try:
        yield counts
    finally:
        Builder.create_masked_load, Builder.create_masked_store, Builder.set_grid_idx = load, store, place


def _sectors(addresses: Any, mask: Any) -> int:
    """Return how many sectors one access of a program touches; both are NumPy arrays of one shape."""
    sectors = addresses[mask] // SECTOR_BYTES
    first_of_its_run = np.append(True, sectors[1:] != sectors[:-1])[: len(sectors)]
    return len(np.unique(sectors[first_of_its_run]))  # of few: neighbours are often in one sector, and sorting is slow


if __name__ == "__main__":
    main(sys.argv[1:])
