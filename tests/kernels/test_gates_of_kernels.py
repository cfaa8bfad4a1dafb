"""The gates and the sanitizer's shapes that each kernel.yaml declares: complete, and large enough to mean something."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sitegen.measure.tool_calls import SMALL_BYTES, bytes_at
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate_int
from sitegen.model.kernel import Gate, Implementation, Kernel, Tensor
from sitegen.read.load import load_site

ROOT = Path(__file__).parents[2]
SITE, _ = load_site(ROOT)
KERNELS = {kernel.name: kernel for kernel in SITE.kernels}
VECTOR_BYTES = 16
"""Bytes of the widest load and store of a thread."""
ROUNDS = 2
ROUNDING = {"float32": 2.0**-24, "bfloat16": 2.0**-8}
"""Largest relative error of one rounding to a dtype."""
ROUNDED_IN_TURN = {"transformer_block": 9}
"""Roundings from the inputs to the outputs in a chain of several operations; all other kernels round once."""

Dims = Mapping[str, int]


def test_every_wrong_variant_declares_its_mistake_its_gate_and_its_shape() -> None:
    unclear = [
        f"{kernel.name}/{wrong.implementation.name}"
        for kernel in SITE.kernels
        for wrong in kernel.wrong
        if not (wrong.mistake.endswith(".") and wrong.gate and wrong.at)
    ]
    assert unclear == []


def test_every_gate_is_the_one_of_some_wrong_variant() -> None:
    assert set(Gate) == {wrong.gate for kernel in SITE.kernels for wrong in kernel.wrong}


def test_no_wrong_variant_is_shown_at_a_shape_of_one_element() -> None:
    tiny = [k.name for k in SITE.kernels for wrong in k.wrong if math.prod(wrong.at.values()) < 100]
    assert tiny == []


# ------------------------------------------------------------------------------------------------------- tolerances


def recorded_errors(kernel: Kernel, dtype: str) -> list[float]:
    """Return the relative errors of everything that passed on a GPU, of the stored records."""
    records = (ROOT / kernel.folder / "results").glob("*.json")
    return [
        float(one["correctness"]["relative_error"])
        for record in records
        for one in json.loads(record.read_text(encoding="utf-8"))["evaluations"]
        if one["dtype"] == dtype and one["status"] == "passed" and one.get("correctness")
    ]


@pytest.mark.parametrize("name", KERNELS)
def test_a_tolerance_allows_one_rounding_or_five_times_the_error_of_right_results(name: str) -> None:
    """A result in bfloat16 is dominated by its one rounding.  In float32 the order of additions adds to it.

    The tolerance of a dtype holds for all outputs, so it is that of the coarsest.  The errors of roundings in turn are
    random, and add up like the root of their number.
    """
    kernel = KERNELS[name]
    for dtype in kernel.dtypes:
        outputs = [dtype if one.dtype == "same" else one.dtype for one in kernel.outputs]
        if not set(outputs) & set(ROUNDING):  # integers
            assert kernel.tolerance[dtype] == 0
            continue
        stored = max(outputs, key=ROUNDING.__getitem__)
        recorded = max(recorded_errors(kernel, dtype), default=0.0)
        rounding = ROUNDING[stored] * math.sqrt(ROUNDED_IN_TURN.get(name, 1))
        most = 1.05 * rounding if stored == "bfloat16" else max(2 * rounding, 5 * recorded)
        assert recorded <= kernel.tolerance[dtype] <= most, f"{dtype}: {kernel.tolerance[dtype]}, at most {most}"


# ------------------------------------------------------------------------------------------- the sanitizer's shapes


@pytest.mark.parametrize("name", KERNELS)
def test_the_sanitizer_watches_calls_within_its_limit(name: str) -> None:
    kernel = KERNELS[name]
    params = {param: values[0] for param, values in kernel.params.items()}
    assert kernel.sanitizer
    for dtype in kernel.dtypes:
        assert max(bytes_at(kernel, dims, dtype, params) for dims in kernel.sanitizer) <= SMALL_BYTES


WHOLE_ROWS = ("attention", "attention_backward", "cute_matmul")
"""Kernels whose sizes make every row a multiple of 16 bytes."""


@pytest.mark.parametrize("name", KERNELS)
def test_the_sanitizer_watches_rows_of_whole_vectors_and_rows_with_a_rest(name: str) -> None:
    """The kernels take their path of 16-byte accesses where every row begins at a multiple of 16 bytes."""
    kernel = KERNELS[name]
    for dtype in kernel.dtypes:
        rests = [rest_of_rows(kernel, dims, dtype) for dims in kernel.sanitizer]
        one_row = len(kernel.dims) == 1  # begins at a multiple of 16 bytes whatever its length
        assert one_row or 0 in rests, f"{dtype}: no aligned rows"
        assert kernel.name in WHOLE_ROWS or any(rests), f"{dtype}: no rest"


def rest_of_rows(kernel: Kernel, dims: Dims, dtype: str) -> int:
    """Return how many bytes of the rows of all tensors do not fill a vector."""
    lengths = [evaluate_int(one.shape[-1], dims) for one in tensors(kernel) if len(one.shape) > 1]
    lengths = lengths or [evaluate_int(one.shape[-1], dims) for one in kernel.inputs]
    return sum(length * DTYPES[dtype].itemsize % VECTOR_BYTES for length in lengths)


def tensors(kernel: Kernel) -> list[Tensor]:
    return [one for one in (*kernel.inputs, *kernel.outputs) if one.dtype == "same"]


def launches() -> Iterator[tuple[str, Kernel, Implementation, str]]:
    for kernel in SITE.kernels:
        for made in kernel.implementations:
            for dtype in made.dtypes or kernel.dtypes if made.launch and kernel.name != "matmul" else ():
                yield f"{kernel.name}/{made.name}:{dtype}", kernel, made, dtype


@pytest.mark.parametrize(("name", "kernel", "made", "dtype"), [pytest.param(*one, id=one[0]) for one in launches()])
def test_the_sanitizer_watches_two_rounds_of_each_loop(
    name: str, kernel: Kernel, made: Implementation, dtype: str
) -> None:
    """A thread of a kernel with a loop gets more of a larger tensor.  It must get two of its loads, of UNROLL vectors
    each, or two chunks of the copy engine; where a thread gets less at the workload there is no such loop."""
    watched = max(bytes_of_thread(kernel, made, dtype, dims) for dims in kernel.sanitizer)
    at_workload = max(bytes_of_thread(kernel, made, dtype, workload.dims) for workload in kernel.workloads)
    assert watched >= 0.99 * min(ROUNDS * bytes_of_round(kernel, made, dtype), at_workload)


def bytes_of_thread(kernel: Kernel, made: Implementation, dtype: str, dims: Dims) -> float:
    """Return the bytes of the largest tensor over the number of threads of a launch."""
    names = names_of_launch(made, dtype, dims)
    assert made.launch
    threads = math.prod(evaluate_int(part, names) for part in (*made.launch.grid, *made.launch.block))
    largest = max(math.prod(evaluate_int(size, dims) for size in one.shape) for one in tensors(kernel))
    return largest * DTYPES[dtype].itemsize / threads


def bytes_of_round(kernel: Kernel, made: Implementation, dtype: str) -> float:
    names = names_of_launch(made, dtype, dict.fromkeys(kernel.dims, 1))
    assert made.launch
    if "CHUNK" in names:
        return names["CHUNK"] / math.prod(evaluate_int(part, names) for part in made.launch.block)
    return VECTOR_BYTES * names.get("UNROLL", 1)


def names_of_launch(made: Implementation, dtype: str, dims: Dims) -> dict[str, int]:
    assert made.launch
    names = {**dims, "itemsize": DTYPES[dtype].itemsize}
    for name, expression in made.launch.constants.items():
        names[name] = evaluate_int(expression, names)
    return names


def constant(source: str, name: str) -> int | None:
    """Return a constant of a CUDA or Python file, `BLOCKS = 132` or `DEPTH = 64`."""
    found = re.search(rf"\b{name}\b(?:: \w+)? = (\d+)\b(?! *\*)", source)
    return int(found[1]) if found else None


def files_of(kernel: Kernel) -> Iterator[tuple[Implementation, str]]:
    yield from ((made, SITE.files[made.file]) for made in kernel.implementations)


@pytest.mark.parametrize("name", ["layernorm_backward", "rmsnorm_backward"])
def test_the_sanitizer_watches_persistent_blocks_that_take_two_rows_and_a_whole_ring(name: str) -> None:
    kernel, most_rows = KERNELS[name], max(dims["M"] for dims in KERNELS[name].sanitizer)
    blocks = [constant(source, word) for _, source in files_of(kernel) for word in ("BLOCKS", "PROGRAMS")]
    rings = [constant(source, "STAGES_MOST") or 1 for _, source in files_of(kernel)]
    assert any(blocks)
    assert most_rows > max(ROUNDS, *rings) * max(number for number in blocks if number)


def test_the_sanitizer_watches_two_rings_of_slices_and_more_tiles_than_programs_in_matmul() -> None:
    kernel, sms = KERNELS["matmul"], 132
    aligned = [dims for dims in kernel.sanitizer if rest_of_rows(kernel, dims, "bfloat16") == 0]
    longest, most = max(dims["K"] for dims in aligned), 0
    for made, source in files_of(kernel):
        constants = {**(made.launch.constants if made.launch else {})}
        depth = constant(source, "DEPTH") or int(constants.get("DEPTH", "1"))
        stages = constant(source, "STAGES") or int(constants.get("STAGES", "1"))
        assert longest >= ROUNDS * depth * stages, made.name
        rows, columns = constant(source, "ROWS") or 1, constant(source, "COLUMNS") or 1
        tiles = max(math.ceil(dims["M"] / rows) * math.ceil(dims["N"] / columns) for dims in aligned)
        most += tiles > sms
    assert most == len(kernel.implementations)


def test_the_sanitizer_watches_two_rings_of_keys_in_attention() -> None:
    kernel = KERNELS["attention"]
    longest = max(dims["T"] for dims in kernel.sanitizer)
    for made, source in files_of(kernel):
        keys, stages = constant(source, "KEYS") or 128, constant(source, "STAGES") or 1
        assert longest >= ROUNDS * keys * stages, made.name
