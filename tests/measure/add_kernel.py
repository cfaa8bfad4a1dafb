"""Sources of a vector addition in strings: everything that an author would write, right and wrong.

Also used by tests/gpu/faults.py, so it needs nothing but the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sitegen.model.job import KernelJob, Key, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Launch, Status, Tensor, Workload, Wrong

REFERENCE = """
import torch

def make_inputs(dims, dtype, generator, device):
    n = dims["N"]
    return {name: torch.randn(n, generator=generator, device=device).to(dtype) for name in ("x", "y")}

def extra_inputs(name, dims, dtype, generator, device):
    numbers = torch.arange(dims["N"], device=device) % 16
    yield {"x": numbers.to(dtype), "y": (numbers * 3).to(dtype)}

def reference(x, y):
    return x + y

def torch_add(x, y, out=None):
    return torch.add(x, y, out=out)

BASELINES = {"torch": torch_add}
"""

TRITON = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = {mask}
    tl.store(z + at, {value}, mask={store_mask})

{before}
def add(x, y, *, out=None):
    out = {make_out} if out is None else out
    {prologue}
    add_kernel[(triton.cdiv(x.numel(), 512),)](x, y, out, {count}, BLOCK=512)
    {epilogue}
    return out
"""

_RIGHT = {
    "mask": "at < n",
    "value": "tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)",
    "store_mask": "inside",
    "make_out": "torch.empty_like(x)",
    "before": "",
    "prologue": "pass",
    "count": "x.numel()",
    "epilogue": "pass",
}


def triton_source(**changes: str) -> str:
    return TRITON.format(**{**_RIGHT, **changes})


WRONG_SOURCES = {
    "one_wrong_element": (
        Status.INCORRECT,
        triton_source(
            value="tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside) + tl.where(at == n // 2, 0.01, 0.0)"
        ),
    ),
    "unmasked_tail": (Status.OUT_OF_BOUNDS, triton_source(mask="at >= 0")),
    "unmasked_loads": (
        Status.INCORRECT,
        triton_source(value="tl.sum(tl.load(x + at)) * 0 + tl.load(x + at) + tl.load(y + at)"),
    ),
    "wrong_dtype": (Status.WRONG_DTYPE, triton_source(make_out="torch.empty_like(x, dtype=torch.float64)")),
    "wrong_shape": (Status.WRONG_SHAPE, triton_source(make_out="torch.empty_like(x)[None]")),
    "not_fully_written": (Status.UNWRITTEN, triton_source(store_mask="inside & (at != 100)")),
    "out_of_bounds_by_one": (Status.OUT_OF_BOUNDS, triton_source(store_mask="at <= n")),
    "input_modified": (
        Status.MODIFIED_INPUT,
        triton_source(epilogue="x[0] += 1"),
    ),
    "nan": (
        Status.INCORRECT,
        triton_source(epilogue="out[-1] = float('nan')"),
    ),
    "remembered": (
        Status.INCORRECT,
        triton_source(
            before="_seen = {}",
            prologue="key = (x.data_ptr(), y.data_ptr(), x.numel())\n    if key in _seen: return out.copy_(_seen[key])",
            epilogue="_seen[key] = out.clone()",
        ),
    ),
    "declared_deterministic": (
        Status.RACE,
        triton_source(
            epilogue="out *= 1 + (out != out.round()) * torch.randint(0, 2, out.shape, device=out.device) * 1e-7"
        ),
    ),
    "wrong_at_random": (Status.RACE, triton_source(epilogue="out += torch.rand_like(out)")),
    "ignores_out": (Status.UNWRITTEN, triton_source(prologue="out = torch.empty_like(x)")),
    "does_not_compile": (Status.COMPILE_ERROR, "def add(x, y, *, out=None:\n"),
    "raises": (Status.RUNTIME_ERROR, "def add(x, y, *, out=None):\n    raise ValueError('planted')\n"),
    "aborts": (Status.RUNTIME_ERROR, "import os\ndef add(x, y, *, out=None):\n    os.abort()\n"),
}


def implementation(
    name: str, language: Language = Language.TRITON, launch: Launch | None = None, host: str = ""
) -> Implementation:
    suffix = "py" if language is Language.TRITON else "cu"
    file, declared = f"kernels/add/{name}.{suffix}", name == "declared_deterministic"
    return Implementation(
        name,
        file,
        language,
        launch,
        host,
        predicts="all of the ceiling",
        predicted_of_ceiling=1.0,
        deterministic=declared,
    )


def kernel(implementations: tuple[Implementation, ...], wrong: tuple[Wrong, ...] = (), n: int = 4096) -> Kernel:
    return Kernel(
        name="add",
        summary="Adds two vectors.",
        dims=("N",),
        inputs=(Tensor("x", ("N",)), Tensor("y", ("N",))),
        outputs=(Tensor("z", ("N",)),),
        dtypes=("float32", "bfloat16"),
        flops="N",
        reads="2 * N * itemsize",
        writes="N * itemsize",
        tolerance={"float32": 1e-6, "bfloat16": 8e-3},
        checks=({"N": 1}, {"N": 127}, {"N": 1025}),
        workloads=(Workload(str(n), {"N": n}),),
        baselines=("torch",),
        implementations=implementations,
        extra_inputs=("exact",),
        wrong=wrong,
    )


def kernel_job(
    sources: dict[str, str],
    n: int = 4096,
    dtype: str = "float32",
    languages: dict[str, tuple[Any, ...]] | None = None,
    in_cells: tuple[str, ...] = (),
) -> KernelJob:
    """Return a job; `sources` has the text of each implementation, in Triton unless `languages` has its name."""
    ours = tuple(implementation(name, *(languages or {}).get(name, ())) for name in sources)
    files = {i.file: sources[i.name] for i in ours if i.name not in in_cells}
    ours = tuple(_as_cell(i, sources[i.name]) if i.name in in_cells else i for i in ours)
    made = kernel(ours, n=n)
    keys = {name: Key(f"key of {name}", {"code": "abc"}) for name in sources}
    files["kernels/add/reference.py"] = REFERENCE
    return KernelJob(f"add@{n}:{dtype}", made, made.workloads[0], dtype, files, keys)


def _as_cell(file: Implementation, source: str) -> Implementation:
    return replace(file, file=f"content/posts/add/index.md#{file.name}", source=source)


def reject_job(sources: dict[str, tuple[Status, str]]) -> RejectJob:
    wrong = tuple(Wrong(implementation(name), status) for name, (status, _) in sources.items())
    files = {w.implementation.file: sources[w.implementation.name][1] for w in wrong}
    files["kernels/add/reference.py"] = REFERENCE
    return RejectJob("add/wrong", kernel((), wrong), "float32", files, {name: Key(name) for name in sources})
