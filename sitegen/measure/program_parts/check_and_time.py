"""Check an implementation against its reference, then time it."""

import argparse
import inspect
import itertools
import math
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import ModuleType
from typing import Any

import torch

PASSED, WRONG, CANNOT_RUN = 0, 1, 2
"""Exit codes: everything passed; a result is wrong; this machine cannot run the program."""
CPU_BYTES, CPU_S = 1 << 18, 20.0
"""The most bytes of a shape that is checked without a GPU, because the interpreter runs one program at a time; seconds
after which no further call is checked there."""
MOST_CALLS, TIMED_S, COLD_BYTES = 50, 0.5, 256 << 20
"""The most timed calls; seconds that they may take; bytes that are written before each call, so that L2 is cold."""
EXACT_SETS = ("exact", "one_hot")
"""Sets of inputs for which every element must equal the reference."""

Names = Mapping[str, Any]
"""Dims, params and `itemsize`, by name."""
Call = Callable[[Mapping[str, Any], Sequence[Any], Names, str], Sequence[Any]]
"""A call with inputs by name, outputs, names and dtype; it returns the outputs."""


@dataclass(frozen=True)
class Contract:
    """Facts of a kernel from its kernel.yaml.  The functions take the names and return numbers."""

    kernel: str
    implementation: str
    language: str
    arch: str
    """The least architecture on which it is tried, `>=sm_90`; empty: any."""
    tolerance: Mapping[str, float]
    """The largest relative error ‖out − ref‖ / ‖ref‖, by dtype."""
    params: Mapping[str, Sequence[Any]]
    inputs: Sequence[str]
    extra_inputs: Sequence[str]
    checks: Sequence[Mapping[str, int]]
    workloads: Sequence[Mapping[str, int]]
    baseline: str
    outputs: Callable[..., Sequence[tuple[Sequence[int], str]]]
    """Returns the shape and the dtype of each output; `same` is the dtype of the call."""
    least_bytes: Callable[..., float]
    """Returns the bytes of all inputs and outputs, each counted once."""
    operations: Callable[..., float]


@dataclass(frozen=True)
class Setup:
    """Everything that a check and a measurement need."""

    contract: Contract
    reference: ModuleType
    call: Call
    dtype: str
    device: str

    def names(self, dims: Mapping[str, int], params: Mapping[str, Any]) -> Names:
        return {**dims, **params, "itemsize": getattr(torch, self.dtype).itemsize}

    def new_outputs(self, names: Names) -> list[Any]:
        """Return outputs that hold NaN, or 85 in a dtype without NaN, so that an unwritten element is wrong."""
        made = []
        for shape, dtype in self.contract.outputs(**names):
            kind = getattr(torch, self.dtype if dtype == "same" else dtype)
            made.append(
                torch.full(tuple(shape), math.nan if kind.is_floating_point else 85, device=self.device).to(kind)
            )
        return made


def python_call(function: Callable[..., Any], contract: Contract) -> Call:
    """Return a Call of a Python function `f(x, …, *, out=None, **params)`."""
    takes_out = "out" in inspect.signature(function).parameters

    def call(inputs: Mapping[str, Any], outs: Sequence[Any], names: Names, dtype: str) -> Sequence[Any]:
        given = {name: names[name] for name in contract.params}
        if takes_out:
            given["out"] = outs[0] if len(outs) == 1 else tuple(outs)
        result = function(*inputs.values(), **given)
        return outs if takes_out else as_tuple(result)

    return call


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def sets_of_inputs(setup: Setup, dims: Mapping[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield random inputs, then the extra sets of the reference, each with its name."""
    dtype, contract = getattr(torch, setup.dtype), setup.contract
    random = torch.Generator(device=setup.device).manual_seed(0)
    yield "random", _in_order(contract, setup.reference.make_inputs(dims, dtype, random, setup.device))
    for name in contract.extra_inputs:
        for inputs in setup.reference.extra_inputs(name, dims, dtype, random, setup.device):
            yield name, _in_order(contract, inputs)


def _in_order(contract: Contract, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: inputs[name].contiguous() for name in contract.inputs}


def mistake(setup: Setup, inputs: Mapping[str, Any], names: Names, *, exact: bool) -> tuple[float, str]:
    """Call once; return the relative error of the worst output, and what is wrong with it in words."""
    outs = setup.new_outputs(names)
    results = setup.call(inputs, outs, names, setup.dtype)
    params = {name: names[name] for name in setup.contract.params}
    exactly = {name: one.double() if one.is_floating_point() else one for name, one in inputs.items()}
    expected = as_tuple(setup.reference.reference(**exactly, **params))
    scale_of = getattr(setup.reference, "error_scale", None)
    scales = as_tuple(scale_of(**exactly, **params)) if scale_of else expected
    found = [_compared(setup, *one, exact=exact) for one in zip(outs, results, expected, scales, strict=True)]
    return max(error for error, _ in found), next((words for _, words in found if words), "")


def _compared(setup: Setup, out: Any, result: Any, expected: Any, scale: Any, *, exact: bool) -> tuple[float, str]:
    """Return the relative error of an output, and what is wrong with it; `out` has the shape and dtype it must have."""
    if (result.shape, result.dtype) != (out.shape, out.dtype):
        return math.inf, f"{result.dtype} of shape {tuple(result.shape)}, not {out.dtype} of shape {tuple(out.shape)}"
    got, expected, tolerance = result.double(), expected.double(), setup.contract.tolerance[setup.dtype]
    finite = expected.isfinite() & got.isfinite()
    difference = torch.where(finite, got - expected, 0.0)
    size = torch.linalg.vector_norm(torch.where(finite, scale.double(), 0.0))
    error = float(torch.linalg.vector_norm(difference) / size) if difference.any() else 0.0
    same = (got == expected) | (got.isnan() & expected.isnan())
    if (wrong := ~finite & ~same).any():
        return error, _first(wrong, got, expected)
    if exact and (wrong := result != expected.to(result.dtype)).logical_and_(finite).any():
        return error, f"not exact: {_first(wrong, got, expected)}"
    if not error <= tolerance:
        far = difference.abs() > tolerance * expected.abs()
        return error, f"relative error {error:.3g} > {tolerance:.3g}: {_first(far, got, expected)}"
    return error, ""


def _first(wrong: Any, got: Any, expected: Any) -> str:
    where = tuple(int(index) for index in wrong.nonzero()[0])
    return f"{int(wrong.sum())} elements; at {where} {float(got[where]):.6g} instead of {float(expected[where]):.6g}"


def check(setup: Setup, shapes: Sequence[Mapping[str, int]]) -> bool:
    """Check all shapes, params and sets of inputs; print the result, and return whether all passed."""
    worst, count, last = 0.0, 0, shapes[0]
    ends = math.inf if setup.device == "cuda" else time.monotonic() + CPU_S
    for dims, values in itertools.product(shapes, itertools.product(*setup.contract.params.values())):
        params = dict(zip(setup.contract.params, values, strict=True))
        for name, inputs in sets_of_inputs(setup, dims):
            if time.monotonic() > ends:
                break
            error, wrong = mistake(setup, inputs, setup.names(dims, params), exact=name in EXACT_SETS)
            if wrong:
                print(f"FAILED  {in_words({**dims, **params})}, {name} inputs: {wrong}")
                return False
            worst, count, last = max(worst, error), count + 1, dims
    errors = f"largest relative error {worst:.2g}, tolerance {setup.contract.tolerance[setup.dtype]:.2g}"
    print(f"passed  {count} calls, the last at {in_words(last)}: {errors}")
    return True


def time_us(call: Callable[[], Any]) -> float:
    """Return the median device time of a call in µs, each call with a cold L2."""
    cold = torch.empty(COLD_BYTES, dtype=torch.uint8, device="cuda")

    def timed() -> tuple[Any, Any]:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        cold.zero_()
        first.record()
        call()
        last.record()
        return first, last

    def all_us(pairs: Sequence[tuple[Any, Any]]) -> list[float]:
        torch.cuda.synchronize()
        return [first.elapsed_time(last) * 1e3 for first, last in pairs]

    guess = min(all_us([timed() for _ in range(3)]))
    return median(all_us([timed() for _ in range(max(5, min(MOST_CALLS, int(TIMED_S * 1e6 / guess))))]))


def measure(setup: Setup, dims: Mapping[str, int]) -> None:
    """Time the implementation and the baseline at one shape, and print both."""
    contract = setup.contract
    params = {name: values[0] for name, values in contract.params.items()}
    names = setup.names(dims, params)
    _, inputs = next(sets_of_inputs(setup, dims))
    outs = setup.new_outputs(names)
    us = time_us(lambda: setup.call(inputs, outs, names, setup.dtype))
    least, operations = contract.least_bytes(**names), contract.operations(**names)
    rate = f"{least / us / 1e3:.0f} GB/s" + (
        f", {operations / us / 1e6:.1f} TFLOP/s" if operations > 64 * least else ""
    )
    print(f"{in_words({**dims, **params})}: median {us:.1f} µs, {rate}", flush=True)
    if baseline := setup.reference.BASELINES.get(contract.baseline):
        us = time_us(lambda: baseline(**inputs, **params))
        print(f"  {contract.baseline} takes {us:.1f} µs", flush=True)


def cdiv(a: float, b: float) -> float:
    """Return a / b, rounded up, as formulas of kernel.yaml use it."""
    return -(-a // b)


def in_words(names: Names) -> str:
    return ", ".join(f"{name}={value}" for name, value in names.items())


def why_not_here(contract: Contract) -> str:
    """Return why this machine cannot run the program; empty when it can."""
    if not torch.cuda.is_available():
        return "" if contract.language == "triton" else "It needs an NVIDIA GPU, and torch finds none."
    here = torch.cuda.get_device_capability()
    digits = "".join(filter(str.isdigit, contract.arch))
    lacks = bool(digits) and here[0] * 10 + here[1] < int(digits)
    return f"It needs an architecture {contract.arch}; this GPU is sm_{here[0]}{here[1]}." if lacks else ""


def main(contract: Contract, reference: ModuleType, call: Call) -> None:
    """Check and time as the command line says, and exit."""
    options = _options(contract)
    if why := why_not_here(contract):
        sys.exit(_cannot_run(contract, why))
    on_gpu = torch.cuda.is_available()
    setup = Setup(contract, reference, call, options.dtype, "cuda" if on_gpu else "cpu")
    machine = torch.cuda.get_device_name() if on_gpu else "the CPU, by Triton's interpreter"
    print(f"{contract.kernel}/{contract.implementation}, {options.dtype}, on {machine}", flush=True)
    try:
        sys.exit(_checked_and_timed(setup, options) if on_gpu else _interpreted(setup, options.size))
    except MemoryError as lacking:
        sys.exit(_cannot_run(contract, str(lacking) or "It has too little memory."))


def _cannot_run(contract: Contract, why: str) -> int:
    print(f"{contract.kernel}/{contract.implementation} cannot run here. {why}")
    return CANNOT_RUN


def _checked_and_timed(setup: Setup, options: argparse.Namespace) -> int:
    contract, params = setup.contract, {name: values[0] for name, values in setup.contract.params.items()}
    workloads = sorted(contract.workloads, key=lambda dims: contract.least_bytes(**setup.names(dims, params)))
    timed = options.size or (workloads if options.all else workloads[:1])
    if not check(setup, options.size or contract.checks):
        return WRONG
    for dims in timed:
        measure(setup, dims)
    return PASSED


def _interpreted(setup: Setup, sizes: Sequence[Mapping[str, int]]) -> int:
    """Check the shapes that are small enough for the interpreter; nothing is timed."""
    contract, params = setup.contract, {name: values[0] for name, values in setup.contract.params.items()}
    size = {at: contract.least_bytes(**setup.names(one, params)) for at, one in enumerate(contract.checks)}
    small = [contract.checks[at] for at in sorted(size, key=size.__getitem__) if size[at] <= CPU_BYTES]
    try:
        passed = check(setup, sizes or small or contract.checks[:1])
    except Exception:
        traceback.print_exc()
        print("The interpreter ended with this exception. It runs only a part of Triton; try it on a GPU.")
        return CANNOT_RUN
    print("No times: they need a GPU.")
    return PASSED if passed else WRONG


def _options(contract: Contract) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Check and time {contract.kernel}/{contract.implementation}.")
    dtypes = list(contract.tolerance)
    parser.add_argument("--dtype", choices=dtypes, default=dtypes[0], help="default: %(default)s")
    example = ",".join(f"{name}={value}" for name, value in contract.checks[-1].items())
    parser.add_argument("--size", action="append", type=_dims, help=f"check and time this shape: {example}")
    parser.add_argument("--all", action="store_true", help="time all workloads of the kernel, not only the smallest")
    return parser.parse_args()


def _dims(text: str) -> dict[str, int]:
    return {name.strip(): int(value) for name, _, value in (part.partition("=") for part in text.split(","))}
