"""Solutions of the project's exercises: a right one of each, and wrong and slow ones, each with the cause to name.

A solution is the starter with replaced lines, so that it differs from the right one in its mistake alone.  As a script,
`solutions.py EXERCISE` checks all solutions of an exercise in one process, and prints what was found as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sitegen.model.exercise import READER, ExerciseJob

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "content/exercises"
_MENDED = {
    "environment": (),
    "vector_add": (
        ("i = tl.arange", "i = tl.program_id(0) * BLOCK + tl.arange"),
        ("inside = i >= 0", "inside = i < N"),
    ),
    "sum": (
        ("def sum_block(x, total,", "def sum_block(x, partials,"),
        (
            "tl.store(total, tl.sum(tl.load(x + i), axis=0))",
            "tl.store(partials + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < N, other=0.0), axis=0))",
        ),
        (
            "\n\ndef sum(",
            "\n\n"
            "@triton.jit\n"
            "def sum_partials(partials, total, count, BLOCK: tl.constexpr):\n"
            "    i = tl.arange(0, BLOCK)\n"
            "    tl.store(total, tl.sum(tl.load(partials + i, mask=i < count, other=0.0), axis=0))\n\n\n"
            "def sum(",
        ),
        (
            "    sum_block[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)\n",
            "    programs = triton.cdiv(x.numel(), 4096)\n"
            "    partials = torch.empty(programs, dtype=torch.float32, device=x.device)\n"
            "    sum_block[(programs,)](x, partials, x.numel(), BLOCK=4096)\n"
            "    sum_partials[(1,)](partials, out, programs, BLOCK=triton.next_power_of_2(programs))\n",
        ),
    ),
    "softmax": (
        (
            "powers = tl.exp(tl.load(x + row + columns))",
            'values = tl.load(x + row + columns, mask=columns < N, other=-float("inf"))\n'
            "    powers = tl.exp(values - tl.max(values, axis=0))",
        ),
    ),
    "layernorm": (
        ("tl.load(x + row + columns)", "tl.load(x + row + columns, mask=columns < N, other=0.0)"),
        (
            "    variance = tl.sum(values * values, axis=0) / count - mean * mean\n"
            "    normals = (values - mean) / tl.sqrt(variance + 1e-5)\n",
            "    distances = tl.where(columns < N, values - mean, 0.0)\n"
            "    normals = distances / tl.sqrt(tl.sum(distances * distances, axis=0) / count + 1e-5)\n",
        ),
        ("tl.load(w + columns)", "tl.load(w + columns, mask=columns < N, other=0.0)"),
        ("tl.load(b + columns)", "tl.load(b + columns, mask=columns < N, other=0.0)"),
    ),
    "cross_entropy": (
        ("    total = 0.0\n", "    total = 0.0\n    m = -3.4e38\n"),
        (
            "values = tl.load(logits + row * N + columns).to(tl.float32)\n",
            'values = tl.load(logits + row * N + columns, mask=columns < N, other=-float("inf")).to(tl.float32)\n'
            "        largest = tl.maximum(m, tl.max(values, axis=0))\n",
        ),
        (
            "total += tl.sum(tl.exp(values), axis=0)\n",
            "total = total * tl.exp(m - largest) + tl.sum(tl.exp(values - largest), axis=0)\n        m = largest\n",
        ),
        ("tl.log(total) - correct", "tl.log(total) + (m - correct)"),
    ),
    "attention": (
        (
            "    key = tl.arange(0, KEYS)\n",
            '    largest = tl.full([ROWS], -float("inf"), tl.float32)\n'
            "    total = tl.zeros([ROWS], tl.float32)\n"
            "    sums = tl.zeros([ROWS, WIDTH], tl.float32)\n"
            "    for start in range(0, min(T, (tl.program_id(0) + 1) * ROWS), KEYS):\n"
            "        key = start + tl.arange(0, KEYS)\n",
        ),
        *((f"    {name} = tl.", f"        {name} = tl.") for name in ("keys", "values", "scores")),
        ("    scores = tl.where", "        scores = tl.where"),
        ("    largest = tl.max(scores, axis=1)\n", "        new = tl.maximum(largest, tl.max(scores, axis=1))\n"),
        (
            "    weights = tl.exp(scores - largest[:, None])\n",
            "        weights = tl.exp(scores - new[:, None])\n        shrink = tl.exp(largest - new)\n",
        ),
        ("    total = tl.sum(weights, axis=1)\n", "        total = total * shrink + tl.sum(weights, axis=1)\n"),
        (
            "    sums = tl.dot(weights.to(values.dtype), values)\n",
            "        sums = tl.dot(weights.to(values.dtype), values, sums * shrink[:, None])\n        largest = new\n",
        ),
        ("WIDTH=WIDTH)\n    return", "WIDTH=WIDTH, num_warps=8)\n    return"),
    ),
    "matmul": (
        (
            "    k = tl.arange(0, BLOCK)\n",
            "    total = tl.zeros([BLOCK, BLOCK], tl.float32)\n"
            "    for start in range(0, K, BLOCK):\n"
            "        k = start + tl.arange(0, BLOCK)\n",
        ),
        ("    part_a = tl", "        part_a = tl"),
        ("    part_b = tl", "        part_b = tl"),
        ("    total = tl.dot(part_a, part_b, input", "        total += tl.dot(part_a, part_b, input"),
    ),
}
"""The replacements that make the starter of each exercise right."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution that the check must reject, made from the right one."""

    exercise: str
    mistake: str
    cause: str
    """The id of the cause that the check names; `slow` for a right solution that is slow."""
    replaced: tuple[tuple[str, str], ...]
    on_gpu: str = ""
    """The cause that the check names on a GPU, where it is another: `a or b` where the order of programs decides."""
    needs_gpu: bool = False
    """Whether the interpreter, which runs one program after the other, gives the right result."""

    @property
    def cause_on_gpu(self) -> str:
        return self.on_gpu or self.cause


def right(exercise: str) -> str:
    """Return the code of the right solution."""
    return changed((EXERCISES / exercise / "starter.py").read_text(), _MENDED[exercise])


def code_of(solution: Solution) -> str:
    return changed(right(solution.exercise), solution.replaced)


def changed(code: str, replaced: tuple[tuple[str, str], ...]) -> str:
    for old, new in replaced:
        assert old in code, old
        code = code.replace(old, new, 1)
    return code


_LOAD_A, _LOAD_B = "part_a = tl.load(a + m * K + k[None, :]", "part_b = tl.load(b + k[:, None] * N + n"
_SQUARES = "tl.sum(distances * distances, axis=0) / count"
_NAMES = ("values", "count", "mean", "distances", "normals", "weights", "biases")
"""What a program of layernorm computes, line by line."""
_SUMS = "tl.sum(tl.load(x + i, mask=i < N, other=0.0), axis=0)"
REJECTED = (
    Solution("environment", "no mask of the store", "unmasked_store", (("mask=inside), mask=inside", "mask=inside)"),)),
    Solution(
        "environment",
        "a grid that is rounded down",
        "too_few_programs",
        (("triton.cdiv(x.numel(), 1024)", "max(1, x.numel() // 1024)"),),
    ),
    Solution("environment", "another dtype", "wrong_dtype", (("    return out", "    return out.to(torch.float16)"),)),
    Solution("vector_add", "no program id", "first_block_only", (("tl.program_id(0) * BLOCK + ", ""),)),
    Solution("vector_add", "no mask of the store", "unmasked_store", (("total, mask=inside", "total"),)),
    Solution(
        "vector_add",
        "a grid that is rounded down",
        "too_few_programs",
        (("triton.cdiv(a.numel(), 1024)", "max(1, a.numel() // 1024)"),),
    ),
    Solution(
        "vector_add",
        "the sum in half precision",
        "low_precision",
        (
            (
                "mask=inside) + tl.load(b + i, mask=inside)",
                "mask=inside).to(tl.float16) + tl.load(b + i, mask=inside).to(tl.float16)",
            ),
        ),
    ),
    Solution(
        "vector_add",
        "an input that is changed",
        "modified_input",
        (("tl.store(c", "tl.store(a + i, total, mask=inside)\n    tl.store(c"),),
    ),
    Solution(
        "vector_add",
        "every value loaded twice",
        "slow",
        (("total = ", "total = tl.load(a + i, mask=inside) * 0 + tl.load(b + i, mask=inside) * 0 + "),),
    ),
    Solution(
        "vector_add",
        "one program",
        "slow",
        (
            ("    i = tl.program_id(0) * BLOCK + tl", "    for start in range(0, N, BLOCK):\n        i = start + tl"),
            ("    inside", "        inside"),
            ("    total", "        total"),
            ("    tl.store", "        tl.store"),
            ("(triton.cdiv(a.numel(), 1024),)", "(1,)"),
            ("BLOCK=1024", "BLOCK=8192"),
        ),
    ),
    Solution(
        "sum",
        "every program stores into one place",
        "programs_overwrite",
        (("partials + tl.program_id(0), ", "partials, "), ("mask=i < count", "mask=i < 1")),
        on_gpu="race or programs_overwrite",
    ),
    Solution(
        "sum",
        "every program adds to one place, without atomics",
        "race",
        (
            ("tl.store(partials + tl.program_id(0), ", "tl.store(partials, tl.load(partials) + "),
            ("torch.empty(programs", "torch.zeros(programs"),
            ("mask=i < count", "mask=i < 1"),
        ),
        on_gpu="race or programs_overwrite",
        needs_gpu=True,
    ),
    Solution(
        "sum",
        "atomics in any order",
        "race",
        (
            ("tl.store(partials + tl.program_id(0), ", "tl.atomic_add(partials, "),
            ("torch.empty(programs", "torch.zeros(programs"),
            ("mask=i < count", "mask=i < 1"),
        ),
        needs_gpu=True,
    ),
    Solution(
        "sum",
        "only the first block",
        "first_block_only",
        (("sum_block[(programs,)]", "sum_block[(1,)]"), ("out, programs,", "out, 1,")),
    ),
    Solution("sum", "no mask of the load", "unmasked_load", ((", mask=i < N, other=0.0", ""),)),
    Solution(
        "sum",
        "the tail is left out",
        "too_few_programs",
        (("programs = triton.cdiv(x.numel(), 4096)", "programs = max(1, x.numel() // 4096)"),),
    ),
    Solution(
        "sum",
        "atomics onto an output that is not cleared",
        "adds_to_out",
        (
            ("tl.store(partials + tl.program_id(0), ", "tl.atomic_add(partials, "),
            ("](x, partials,", "](x, out,"),
            ("    sum_partials[(1,)](partials, out, programs, BLOCK=triton.next_power_of_2(programs))\n", ""),
        ),
    ),
    Solution(
        "sum",
        "sums in half precision",
        "low_precision",
        ((_SUMS, "tl.sum(tl.load(x + i, mask=i < N, other=0.0).to(tl.float16), axis=0)"),),
    ),
    Solution(
        "sum",
        "partial sums in half precision",
        "overflow",
        (("dtype=torch.float32", "dtype=torch.float16"),),
        on_gpu="low_precision",
    ),
    Solution("sum", "every number counted twice", "wrong_factor", (("tl.store(total, tl", "tl.store(total, 2 * tl"),)),
    Solution(
        "sum",
        "inputs rounded to bfloat16",
        "low_precision",
        (
            (
                "other=0.0), axis=0))\n\n\n@triton.jit\ndef sum_partials",
                "other=0.0).to(tl.bfloat16).to(tl.float32), axis=0))\n\n\n@triton.jit\ndef sum_partials",
            ),
        ),
    ),
    Solution(
        "sum",
        "one program",
        "slow",
        (
            ("    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n", "    all = tl.zeros([BLOCK], tl.float32)\n"),
            (
                "    tl.store(partials + tl.program_id(0), " + _SUMS + ")",
                "    for start in range(0, N, BLOCK):\n"
                "        i = start + tl.arange(0, BLOCK)\n"
                "        all += tl.load(x + i, mask=i < N, other=0.0)\n"
                "    tl.store(partials, tl.sum(all, axis=0))",
            ),
            ("programs = triton.cdiv(x.numel(), 4096)", "programs = 1"),
        ),
    ),
    Solution("softmax", "no maximum", "overflow", (("tl.exp(values - tl.max(values, axis=0))", "tl.exp(values)"),)),
    Solution("softmax", "no mask of the load", "tail_counts", ((', mask=columns < N, other=-float("inf")', ""),)),
    Solution("softmax", "a tail of zeros", "tail_counts", (('other=-float("inf")', "other=0.0"),)),
    Solution("softmax", "no mask of the store", "unmasked_store", ((", mask=columns < N)\n\n\ndef", ")\n\n\ndef"),)),
    Solution(
        "softmax", "one row missing", "missing_rows", (("softmax_row[(rows,)]", "softmax_row[(max(1, rows - 1),)]"),)
    ),
    Solution(
        "softmax",
        "only the first block of a row",
        "first_block_of_a_row",
        (("BLOCK=triton.next_power_of_2(columns)", "BLOCK=min(1024, triton.next_power_of_2(columns))"),),
    ),
    Solution(
        "softmax",
        "a wrong stride",
        "wrong_stride",
        (
            ("(x, out, columns, BLOCK", "(x, out, columns, rows, BLOCK"),
            ("def softmax_row(x, y, N, ", "def softmax_row(x, y, N, M, "),
            ("values = tl.load(x + row + columns", "values = tl.load(x + tl.program_id(0) * M + columns"),
        ),
    ),
    Solution(
        "softmax",
        "three passes over a row",
        "slow",
        (
            (
                "powers = tl.exp(values - tl.max(values, axis=0))",
                "largest = tl.max(values, axis=0)\n"
                '    values = tl.load(x + row + columns, mask=columns < N, other=-float("inf"))\n'
                "    powers = tl.exp(values - largest)",
            ),
        ),
    ),
    Solution(
        "softmax",
        "one program",
        "slow",
        (
            ("    row = tl.program_id(0) * N\n", "    for at in range(0, M):\n        row = at * N\n"),
            ("def softmax_row(x, y, N, ", "def softmax_row(x, y, N, M, "),
            ("(x, out, columns, BLOCK", "(x, out, columns, rows, BLOCK"),
            ("[(rows,)]", "[(1,)]"),
            ("    columns = tl.arange", "        columns = tl.arange"),
            ("    values =", "        values ="),
            ("    powers =", "        powers ="),
            ("    tl.store", "        tl.store"),
        ),
    ),
    Solution(
        "layernorm",
        "the tail counts in the variance",
        "tail_counts",
        (("tl.where(columns < N, values - mean, 0.0)", "values - mean"),),
    ),
    Solution(
        "layernorm",
        "no mask of the load",
        "unmasked_load",
        (("x + row + columns, mask=columns < N, other=0.0", "x + row + columns"),),
    ),
    Solution(
        "layernorm",
        "the variance as a difference of squares",
        "cancellation",
        ((_SQUARES, "tl.sum(values * values, axis=0) / count - mean * mean"),),
    ),
    Solution("layernorm", "no bias", "unknown", (("normals * weights + biases", "normals * weights"),)),
    Solution(
        "layernorm",
        "the length of the block as the count",
        "unmasked_load",
        (("count = tl.cast(N, tl.float32)", "count = tl.cast(BLOCK, tl.float32)"),),
    ),
    Solution("layernorm", "no mask of the store", "unmasked_store", (("biases, mask=columns < N", "biases"),)),
    Solution(
        "layernorm",
        "one row missing",
        "missing_rows",
        (("layernorm_row[(rows,)]", "layernorm_row[(max(1, rows - 1),)]"),),
    ),
    Solution(
        "layernorm",
        "only the first block of a row",
        "first_block_of_a_row",
        (("block = triton.next_power_of_2(columns)", "block = min(1024, triton.next_power_of_2(columns))"),),
    ),
    Solution(
        "layernorm",
        "a second pass over the row for the variance",
        "slow",
        (("values - mean, 0.0", "tl.load(x + row + columns, mask=columns < N, other=0.0) - mean, 0.0"),),
    ),
    Solution(
        "layernorm",
        "one program",
        "slow",
        (
            ("    row = tl.program_id(0) * N\n", "    for at in range(0, M):\n        row = at * N\n"),
            ("def layernorm_row(x, w, b, y, N, ", "def layernorm_row(x, w, b, y, N, M, "),
            ("(x, w, b, out, columns, BLOCK", "(x, w, b, out, columns, rows, BLOCK"),
            ("[(rows,)]", "[(1,)]"),
            ("    columns = tl.arange", "        columns = tl.arange"),
            *((f"    {name} =", f"        {name} =") for name in _NAMES),
            ("    tl.store", "        tl.store"),
        ),
    ),
    Solution(
        "cross_entropy",
        "no maximum",
        "overflow",
        (
            ("total * tl.exp(m - largest)", "total"),
            ("tl.exp(values - largest)", "tl.exp(values)"),
            ("(m - correct)", "(0.0 - correct)"),
        ),
    ),
    Solution(
        "cross_entropy", "no mask of the load", "unmasked_load", ((', mask=columns < N, other=-float("inf")', ""),)
    ),
    Solution("cross_entropy", "a tail of zeros", "unmasked_load", (('other=-float("inf")', "other=0.0"),)),
    Solution(
        "cross_entropy",
        "a sum that is not scaled when the maximum grows",
        "first_block_of_a_row",
        (("total * tl.exp(m - largest)", "total"),),
    ),
    Solution(
        "cross_entropy",
        "only the first block of a row",
        "first_block_of_a_row",
        (("range(0, N, BLOCK)", "range(0, BLOCK, BLOCK)"),),
    ),
    Solution(
        "cross_entropy",
        "two passes over a row",
        "slow",
        (
            (
                "    for start",
                "    for start in range(0, N, BLOCK):\n"
                "        columns = start + tl.arange(0, BLOCK)\n"
                '        values = tl.load(logits + row * N + columns, mask=columns < N, other=-float("inf"))\n'
                "        m = tl.maximum(m, tl.max(values.to(tl.float32), axis=0))\n"
                "    for start",
            ),
        ),
    ),
    Solution("attention", "4 warps", "slow", (("num_warps=8", "num_warps=4"),), needs_gpu=True),
    Solution(
        "attention",
        "only the first tile of keys",
        "first_block_of_a_row",
        (("range(0, min(T, (tl.program_id(0) + 1) * ROWS), KEYS)", "range(0, KEYS, KEYS)"),),
    ),
    Solution(
        "attention",
        "sums that are not scaled when the maximum grows",
        "first_block_of_a_row",
        (("values, sums * shrink[:, None]", "values, sums"),),
    ),
    Solution(
        "attention",
        "no maximum",
        "overflow",
        (("tl.exp(scores - new[:, None])", "tl.exp(scores)"), ("tl.exp(largest - new)", "1.0")),
    ),
    Solution("attention", "no causal mask", "wrong_param", (("key[None, :] <= row", "key[None, :] < T"),)),
    Solution("attention", "no scale", "unknown", ((" * scale", ""),)),
    Solution("attention", "no mask of the store", "unmasked_store", (("element_ty), mask=row < T", "element_ty)"),)),
    Solution(
        "attention",
        "a grid that is rounded down",
        "missing_rows",
        (("(triton.cdiv(T, 128), B * H)", "(max(1, T // 128), B * H)"),),
    ),
    Solution("attention", "one head missing", "missing_rows", (("B * H)](q", "max(1, B * H - 1))](q"),)),
    Solution(
        "attention",
        "keys that no query of the program sees",
        "slow",
        (("range(0, min(T, (tl.program_id(0) + 1) * ROWS), KEYS)", "range(0, T, KEYS)"),),
    ),
    Solution("attention", "32 queries a program", "slow", (("cdiv(T, 128)", "cdiv(T, 32)"), ("ROWS=128", "ROWS=32"))),
    Solution(
        "matmul",
        "only the first block of K",
        "first_block_of_a_row",
        (("range(0, K, BLOCK)", "range(0, BLOCK, BLOCK)"),),
    ),
    Solution(
        "matmul",
        "the tail of K is not masked",
        "unmasked_load",
        ((" & (k[None, :] < K)", ""), ("(k[:, None] < K) & (n < N)", "(n < N)")),
    ),
    Solution("matmul", "a wrong stride", "wrong_stride", ((_LOAD_A, _LOAD_A.replace("m * K", "m * N")),)),
    Solution(
        "matmul",
        "swapped indices",
        "swapped_indices",
        ((_LOAD_B, _LOAD_B.replace("k[:, None] * N + n", "n * K + k[:, None]")),),
    ),
    Solution(
        "matmul",
        "a grid that is rounded down",
        "missing_tiles",
        (("(triton.cdiv(M, 64), triton.cdiv(N, 64))", "(max(1, M // 64), max(1, N // 64))"),),
    ),
    Solution("matmul", "no mask of the store", "unmasked_store", (("total, mask=(m < M) & (n < N))", "total)"),)),
    Solution(
        "matmul",
        "one tile is wrong",
        "wrong_tile",
        (
            (
                "tl.store(c",
                "total = tl.where((tl.program_id(0) == 1) & (tl.program_id(1) == 1), total * 2, total)\n    tl.store(c",
            ),
        ),
    ),
    Solution(
        "matmul",
        "factors in bfloat16",
        "low_precision",
        (
            (
                "tl.dot(part_a, part_b",
                "tl.dot(part_a.to(tl.bfloat16).to(tl.float32), part_b.to(tl.bfloat16).to(tl.float32)",
            ),
        ),
    ),
    Solution(
        "matmul",
        "adds to the output",
        "adds_to_out",
        (
            (
                "total = tl.zeros([BLOCK, BLOCK], tl.float32)",
                "total = tl.load(c + m * N + n, mask=(m < M) & (n < N), other=0.0)",
            ),
        ),
    ),
    Solution(
        "matmul",
        "tiles of 32",
        "slow",
        (
            ("(triton.cdiv(M, 64), triton.cdiv(N, 64))", "(triton.cdiv(M, 32), triton.cdiv(N, 32))"),
            ("BLOCK=64", "BLOCK=32"),
        ),
    ),
)


def causes(exercise: str) -> dict[str, str]:
    """Return what the check finds of each solution of an exercise, by the mistake; `right` is the right solution's."""
    from sitegen.execute.exercise_folder import exercise_job
    from sitegen.read.load import load_site

    site = load_site(ROOT)[0]
    job = exercise_job(site, next(one for one in site.exercises if one.id == exercise))
    codes = {"right": right(exercise)} | {
        one.mistake: code_of(one) for one in REJECTED if one.exercise == exercise and not one.needs_gpu
    }
    return {mistake: _cause(job, code) for mistake, code in codes.items()}


def _cause(job: ExerciseJob, code: str) -> str:
    from sitegen.measure.exercise import why_slow
    from sitegen.measure.exercise_process import check_exercise
    from sitegen.measure.sources import write_sources

    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder), {**job.sources, f"{job.kernel.folder}/{READER}.py": code})
        result = check_exercise(job, Path(folder), "cpu")
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]  # the next solution has another folder
    return result.diagnosis.cause if result.diagnosis else "slow" if why_slow(job, result) else "right"


if __name__ == "__main__":
    print(json.dumps(causes(sys.argv[1])))
