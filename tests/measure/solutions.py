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
    "transpose": (
        ("def transpose_row(x, y, M, N, BLOCK", "def transpose_tile(x, y, M, N, TILE"),
        ("    row = tl.program_id(0)\n", "    rows = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]\n"),
        (
            "columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)",
            "columns = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]",
        ),
        ("inside = columns < N", "inside = (rows < M) & (columns < N)"),
        ("numbers = tl.load(x + row * N", "tile = tl.load(x + rows * N"),
        ("y + columns * M + row, numbers, mask=inside)", "y + (columns * M + rows).T, tile.T, mask=inside.T)"),
        (
            "transpose_row[(M, triton.cdiv(N, 1024))](x, out, M, N, BLOCK=1024)",
            "transpose_tile[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x, out, M, N, TILE=64, num_warps=8)",
        ),
    ),
    "tiled_matmul": (
        ("def matmul_row(a, b, c, M, N, K, COL", "def matmul_tile(a, b, c, M, N, K, ROWS: tl.constexpr, COL"),
        ("    row = tl.program_id(0)\n", "    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)\n"),
        ("tl.zeros([COLUMNS]", "tl.zeros([ROWS, COLUMNS]"),
        (
            "        part_a = tl.load(a + row * K + k, mask=k < K, other=0.0)\n",
            "        inside = (rows[:, None] < M) & (k[None, :] < K)\n"
            "        part_a = tl.load(a + rows[:, None] * K + k[None, :], mask=inside, other=0.0)\n",
        ),
        (
            "total += tl.sum(part_a[:, None] * part_b, axis=0)",
            'total = tl.dot(part_a, part_b, total, input_precision="ieee")',
        ),
        (
            "    tl.store(c + row * N + columns, total, mask=columns < N)",
            "    inside = (rows[:, None] < M) & (columns[None, :] < N)\n"
            "    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=inside)",
        ),
        (
            "matmul_row[(M, triton.cdiv(N, 512))](a, b, out, M, N, K, COLUMNS=512, DEPTH=32, num_warps=8)",
            "grid = (triton.cdiv(M, 128), triton.cdiv(N, 128))\n"
            "    matmul_tile[grid](a, b, out, M, N, K, ROWS=128, COLUMNS=128, DEPTH=32, num_warps=8)",
        ),
    ),
    "transformer_block": (
        ("def add_row(a, b, c, D, BLOCK", "def add_and_norm_row(a, b, w, c, normed, D, BLOCK"),
        ("mask=inside).to(tl.float32)\n    total +=", "mask=inside, other=0.0).to(tl.float32)\n    total +="),
        (
            "total += tl.load(b + row + columns, mask=inside).to(tl.float32)\n"
            "    tl.store(c + row + columns, total, mask=inside)\n",
            "total += tl.load(b + row + columns, mask=inside, other=0.0).to(tl.float32)\n"
            "    tl.store(c + row + columns, total, mask=inside)\n"
            "    scale = 1.0 / tl.sqrt(tl.sum(total * total, axis=0) / D + 1e-5)\n"
            "    weights = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)\n"
            "    tl.store(normed + row + columns, total * scale * weights, mask=inside)\n",
        ),
        (
            "def add(a: torch.Tensor, b: torch.Tensor, c",
            "def add_and_norm(a: torch.Tensor, b: torch.Tensor, w: torch.Tensor, c",
        ),
        (
            'torch.Tensor) -> None:\n    """Write a + b into c."""',
            'torch.Tensor) -> torch.Tensor:\n    """Write a + b into c, and return its norm."""',
        ),
        (
            "    block = triton.next_power_of_2(columns)\n    add_row",
            "    normed, block = torch.empty_like(a), triton.next_power_of_2(columns)\n    add_row",
        ),
        (
            "add_row[(rows,)](a, b, c, columns, BLOCK=block, num_warps=max(1, block // 512))\n",
            "add_and_norm_row[(rows,)](a, b, w, c, normed, columns, BLOCK=block, num_warps=max(1, block // 512))\n"
            "    return normed\n",
        ),
        (
            "    h = torch.empty_like(tokens)\n"
            "    add(tokens, torch.mm(mixed, w_out), h)\n"
            "    gated = gate(torch.mm(norm(h, w_norm2), w_up))\n"
            "    add(h, torch.mm(gated, w_down), y)\n",
            "    normed = add_and_norm(tokens, torch.mm(mixed, w_out), w_norm2, y)\n"
            "    y.addmm_(gate(torch.mm(normed, w_up)), w_down)\n",
        ),
    ),
    "rmsnorm_backward": (
        ("dx, dw, N, BLOCK", "dx, partials, M, N, BLOCK"),
        ("    row = tl.program_id(0)\n", ""),
        (
            "    values = tl.load(x",
            "    total = tl.zeros([BLOCK], tl.float32)\n"
            "    for row in range(tl.program_id(0), M, tl.num_programs(0)):\n"
            "        values = tl.load(x",
        ),
        *(
            (f"    {name}", f"        {name}")
            for name in ("grads = ", "rstd = ", "normals = ", "slope = ", "tl.store(dx")
        ),
        (
            "    tl.store(dw + columns, grads * normals, mask=inside)\n",
            "        total += grads * normals\n"
            "    tl.store(partials + tl.program_id(0) * N + columns, total, mask=inside)\n\n\n"
            "@triton.jit\n"
            "def add_partials(partials, dw, programs, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):\n"
            "    row = tl.arange(0, ROWS)[:, None]\n"
            "    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)\n"
            "    inside = (row < programs) & (columns[None, :] < N)\n"
            "    sums = tl.load(partials + row * N + columns[None, :], mask=inside, other=0.0)\n"
            "    tl.store(dw + columns, tl.sum(sums, axis=0), mask=columns < N)\n",
        ),
        (
            "    gradients[(rows,)](x, dy, w, rstd, dx, dw, columns, BLOCK=block, num_warps=warps)\n",
            "    programs = min(132, rows)\n"
            "    partials = torch.empty(programs, columns, dtype=torch.float32, device=x.device)\n"
            "    gradients[(programs,)](x, dy, w, rstd, dx, partials, rows, columns, BLOCK=block, num_warps=warps)\n"
            "    grid = (triton.cdiv(columns, 32),)\n"
            "    add_partials[grid](partials, dw, programs, columns, ROWS=256, COLUMNS=32)\n",
        ),
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
        "every second block",
        "gaps",
        (("tl.program_id(0) * BLOCK", "tl.program_id(0) * 2 * BLOCK"),),
    ),
    Solution(
        "vector_add",
        "blocks that overlap",
        "short_blocks",
        (("tl.program_id(0) * BLOCK", "tl.program_id(0)"),),
    ),
    Solution("vector_add", "a mask the wrong way round", "wrong_places", (("i < N", "i > N"),)),
    Solution(
        "vector_add",
        "a grid that is no tuple",
        "crash",
        (("(triton.cdiv(a.numel(), 1024),)", "triton.cdiv(a.numel(), 1024)"),),
    ),
    Solution("vector_add", "a mask without the last element", "last_masked", (("i < N", "i < N - 1"),)),
    Solution("vector_add", "a difference", "wrong_sign", ((") + tl.load(b", ") - tl.load(b"),)),
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
    Solution("layernorm", "no bias", "unused_input", (("normals * weights + biases", "normals * weights"),)),
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
    Solution("transpose", "the tile is not turned", "unturned_tile", (("tile.T, mask", "tile, mask"),)),
    Solution(
        "transpose",
        "the elements keep their order",
        "swapped_indices",
        (("(columns * M + rows).T, tile.T, mask=inside.T", "rows * N + columns, tile, mask=inside"),),
    ),
    Solution("transpose", "the mask is not turned", "wrong_places", (("mask=inside.T", "mask=inside"),)),
    Solution("transpose", "no mask of the store", "unmasked_store", ((", mask=inside.T", ""),)),
    Solution(
        "transpose",
        "a grid that is rounded down",
        "too_few_programs",
        (("(triton.cdiv(M, 64), triton.cdiv(N, 64))", "(max(1, M // 64), max(1, N // 64))"),),
    ),
    Solution(
        "transpose",
        "the numbers of the grid are swapped",
        "missing_rows",
        (("(triton.cdiv(M, 64), triton.cdiv(N, 64))", "(triton.cdiv(N, 64), triton.cdiv(M, 64))"),),
    ),
    Solution(
        "transpose",
        "tiles of two rows",
        "slow",
        (
            (
                "(tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]",
                "tl.program_id(0) * 2 + tl.arange(0, 2)[:, None]",
            ),
            ("(triton.cdiv(M, 64), ", "(triton.cdiv(M, 2), "),
        ),
    ),
    Solution(
        "tiled_matmul",
        "tiles of 64",
        "slow",
        (
            ("ROWS=128, COLUMNS=128", "ROWS=64, COLUMNS=64"),
            ("M, 128), triton.cdiv(N, 128)", "M, 64), triton.cdiv(N, 64)"),
        ),
    ),
    Solution(
        "tiled_matmul", "each turn replaces the sum", "overwritten_sum", (("part_b, total, input", "part_b, input"),)
    ),
    Solution(
        "tiled_matmul",
        "steps as long as the tile is high",
        "skipped_part",
        (("range(0, K, DEPTH)", "range(0, K, ROWS)"),),
    ),
    Solution(
        "tiled_matmul", "steps of half a block", "counted_twice", (("range(0, K, DEPTH)", "range(0, K, DEPTH // 2)"),)
    ),
    Solution(
        "tiled_matmul",
        "only the first block of K",
        "first_block_of_a_row",
        (("range(0, K, DEPTH)", "range(0, DEPTH, DEPTH)"),),
    ),
    Solution(
        "tiled_matmul",
        "the tail of K is not masked",
        "unmasked_load",
        ((" & (k[None, :] < K)", ""), ("(k[:, None] < K) & ", "")),
    ),
    Solution(
        "tiled_matmul",
        "the numbers of the grid are swapped",
        "missing_tiles",
        (("(triton.cdiv(M, 128), triton.cdiv(N, 128))", "(triton.cdiv(N, 128), triton.cdiv(M, 128))"),),
    ),
    Solution("tiled_matmul", "no mask of the store", "unmasked_store", ((" total, mask=inside)", " total)"),)),
    Solution(
        "tiled_matmul", "a wrong stride of A", "wrong_stride", (("a + rows[:, None] * K", "a + rows[:, None] * N"),)
    ),
    Solution(
        "tiled_matmul",
        "factors in half precision",
        "low_precision",
        (("tl.dot(part_a, part_b", "tl.dot(part_a.to(tl.float16), part_b.to(tl.float16)"),),
    ),
    Solution(
        "tiled_matmul",
        "tensor cores that round to TF32",
        "low_precision",
        ((', input_precision="ieee"', ""),),
        needs_gpu=True,
    ),
    Solution(
        "transformer_block",
        "h is not stored",
        "depends_on_out",
        (("    tl.store(c + row + columns, total, mask=inside)\n", ""),),
    ),
    Solution(
        "transformer_block",
        "the last product replaces h",
        "unknown",
        (("y.addmm_(gate(torch.mm(normed, w_up)), w_down)", "torch.mm(gate(torch.mm(normed, w_up)), w_down, out=y)"),),
    ),
    Solution(
        "transformer_block", "the norm has no weights", "unused_input", (("total * scale * weights", "total * scale"),)
    ),
    Solution(
        "transformer_block",
        "the attention is not added",
        "unused_input",
        (("total += tl.load(b + row + columns, mask=inside, other=0.0).to(tl.float32)", "total += 0.0"),),
    ),
    Solution(
        "transformer_block",
        "one row missing",
        "missing_rows",
        (("add_and_norm_row[(rows,)]", "add_and_norm_row[(max(1, rows - 1),)]"),),
    ),
    Solution(
        "transformer_block",
        "gates and numbers swapped",
        "unknown",
        (("gate * tl.sigmoid(gate) * up", "up * tl.sigmoid(up) * gate"),),
    ),
    Solution(
        "transformer_block",
        "the last addition is a pass",
        "slow",
        (
            (
                "w_norm2, y)\n    y.addmm_(gate(torch.mm(normed, w_up)), w_down)",
                "w_norm2, y)\n    add_and_norm(y, torch.mm(gate(torch.mm(normed, w_up)), w_down), w_norm2, y)",
            ),
        ),
    ),
    Solution(
        "transformer_block",
        "the norm loads h",
        "slow",
        (
            (
                "normed = add_and_norm(tokens, torch.mm(mixed, w_out), w_norm2, y)",
                "add_and_norm(tokens, torch.mm(mixed, w_out), w_norm2, y)\n    normed = norm(y, w_norm2)",
            ),
        ),
    ),
    Solution(
        "rmsnorm_backward",
        "each program stores its sum into dw",
        "programs_overwrite",
        (
            ("tl.store(partials + tl.program_id(0) * N + columns, total", "tl.store(partials + columns, total"),
            ("(row < programs)", "(row < 1)"),
        ),
        on_gpu="race or programs_overwrite",
    ),
    Solution(
        "rmsnorm_backward",
        "atomics onto dw",
        "adds_to_out",
        (
            ("tl.store(partials + tl.program_id(0) * N + columns, total", "tl.atomic_add(partials + columns, total"),
            ("dx, partials, rows", "dx, dw, rows"),
            ("    add_partials[grid](partials, dw, programs, columns, ROWS=256, COLUMNS=32)\n", ""),
        ),
    ),
    Solution(
        "rmsnorm_backward",
        "atomics in any order",
        "race",
        (
            ("tl.store(partials + tl.program_id(0) * N + columns, total", "tl.atomic_add(partials + columns, total"),
            ("dx, partials, rows", "dx, dw.zero_(), rows"),
            ("    add_partials[grid](partials, dw, programs, columns, ROWS=256, COLUMNS=32)\n", ""),
        ),
        needs_gpu=True,
    ),
    Solution(
        "rmsnorm_backward", "only the first program counts", "first_block_only", (("(row < programs)", "(row < 1)"),)
    ),
    Solution(
        "rmsnorm_backward",
        "only the first 32 columns of dw",
        "first_block_only",
        (("columns = tl.program_id(0) * COLUMNS + tl", "columns = tl"),),
    ),
    Solution(
        "rmsnorm_backward",
        "a grid of the sums that is rounded down",
        "too_few_programs",
        (("(triton.cdiv(columns, 32),)", "(max(1, columns // 32),)"),),
    ),
    Solution(
        "rmsnorm_backward",
        "each program has one row",
        "missing_rows",
        (("range(tl.program_id(0), M, tl.num_programs(0))", "range(tl.program_id(0), tl.program_id(0) + 1)"),),
    ),
    Solution(
        "rmsnorm_backward",
        "dw without the norm of the rows",
        "unused_input",
        (("total += grads * normals", "total += grads * values"),),
    ),
    Solution(
        "rmsnorm_backward",
        "dx without the weights",
        "unused_input",
        (("(grads * weights - normals", "(grads - normals"), ("tl.sum(grads * weights * ", "tl.sum(grads * ")),
    ),
    Solution("rmsnorm_backward", "dx without the slope", "unused_input", ((" - normals * slope", ""),)),
    Solution("rmsnorm_backward", "no mask of the store", "unmasked_store", (("rstd, mask=inside)", "rstd)"),)),
    Solution(
        "rmsnorm_backward",
        "sums in half precision",
        "low_precision",
        (("total += grads * normals", "total = (total + grads * normals).to(tl.float16).to(tl.float32)"),),
    ),
    Solution(
        "rmsnorm_backward",
        "partial sums of each row",
        "slow",
        (("programs = min(132, rows)", "programs = rows"), ("ROWS=256", "ROWS=triton.next_power_of_2(rows)")),
    ),
    Solution(
        "rmsnorm_backward",
        "a second pass over x and dy",
        "slow",
        (
            (
                "total += grads * normals",
                "grads = tl.load(dy + row * N + columns, mask=inside, other=0.0)\n"
                "        values = tl.load(x + row * N + columns, mask=inside, other=0.0)\n"
                "        total += grads * values * rstd",
            ),
        ),
    ),
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
    Solution(
        "matmul",
        "a loop without its last turn",
        "skipped_tail",
        (("range(0, K, BLOCK)", "range(0, K // BLOCK * BLOCK, BLOCK)"),),
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
