"""Texts of a new site: a post about one Triton kernel, a series, a worklog day.

`scaffold.py` fills in $title and $date; a dollar sign is written twice.
"""

from __future__ import annotations

SITE = """\
title: $title
base_url: https://example.org/      # where the site will stand; change it before you publish
description: What I measured while learning how a GPU spends its time.
language: en
timezone: UTC
entry_points:
  - {post: first-kernel, because: "Begin here: one kernel, and what it must cost at least."}
"""

POST = """\
---
title: A first kernel and its bill
date: $date
description: Adding two vectors costs what its bytes cost. How to write that down before measuring it.
tags: [triton]
kernels: [axpy]
---
The kernel computes $$z = \\alpha x + y$$ for vectors of $$N$$ elements. Every element of $$x$$ and $$y$$ is read once
and every element of $$z$$ written once: at least three times $$N$$ elements moved, for two operations each.
That is a bill that can be written before anything is measured: `reads` and `writes` in `kernels/axpy/kernel.yaml`.

```{kernel} axpy/tile
:region: kernel
```

**Prediction.** Nothing is read twice and nothing waits for anything else, so the memory is the only limit.

```{benchmark} axpy
```

The table fills when a GPU has run the kernel: `sitegen run` on a machine with one, or `sitegen bundle` here,
`sitegen run --bundle FILE` there, and `sitegen accept FILE` here again.
"""

SERIES = """\
title: First steps
tagline: From one kernel to the habit of measuring
audience: Who can program and has a GPU within reach
outcomes: [write down what a kernel costs at least, measure it, compare the two]
phases:
  - title: One kernel
    goal: A prediction, a measurement, and the reason for the difference
    posts: [first-kernel]
    planned: ["A reduction"]
"""

WORKLOG = """\
- [x] Made this site with `sitegen new site`
- [ ] Run `axpy` on a GPU and write here what was measured

Q: What limits a kernel that does two operations for every twelve bytes?
A: The memory.
"""

ABOUT = """\
---
title: About
---
Every figure on this site comes from a stored measurement that names the machine and the software that made it.
"""

KERNEL = """\
kernel: axpy
summary: A vector times a number, plus a vector.
dims: [N]
inputs: {x: {shape: [N]}, y: {shape: [N]}}
outputs: {z: {shape: [N]}}
params: {alpha: 2.5}
dtypes: [float32]
flops: 2 * N
reads: 2 * N * itemsize
writes: N * itemsize
tolerance: {float32: 1e-6}
checks: [{N: 1}, {N: 1023}, {N: 4097}]
workloads: [{N: 16777216}, {N: 268435456}]
baselines: [torch]
implementations:
  - name: tile
    file: tile.py
    predicts: "two reads and a write, nothing else: 95 %"
wrong:
  - {name: no_mask, file: wrong/no_mask.py, fails: out_of_bounds}
"""

TILE = """\
\"""A tile of 4096 elements a program: each element of x and y is read once, each of z written once.\"""

import torch
import triton
import triton.language as tl


# region: kernel
@triton.jit
def axpy_tile(x, y, z, alpha, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    tl.store(z + at, alpha * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


# endregion


def axpy(x: torch.Tensor, y: torch.Tensor, *, alpha: float, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    axpy_tile[(triton.cdiv(x.numel(), 4096),)](x, y, out, alpha, x.numel(), BLOCK=4096)
    return out
"""

NO_MASK = """\
\"""Writes whole tiles, also past the end of z: the checker must see it.\"""

import torch
import triton
import triton.language as tl


@triton.jit
def axpy_no_mask(x, y, z, alpha, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    tl.store(z + at, alpha * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside))


def axpy(x: torch.Tensor, y: torch.Tensor, *, alpha: float, out: torch.Tensor | None = None) -> torch.Tensor:
    out = torch.empty_like(x) if out is None else out
    axpy_no_mask[(triton.cdiv(x.numel(), 16),)](x, y, out, alpha, x.numel(), BLOCK=16)
    return out
"""

REFERENCE = """\
\"""What axpy is, slowly; its inputs; and what a user would call instead.\"""

import torch


def make_inputs(dims, dtype, generator, device):
    return {name: torch.randn(dims["N"], dtype=dtype, generator=generator, device=device) for name in ("x", "y")}


def reference(x, y, alpha):
    return alpha * x + y


def _torch(x, y, alpha, out=None):
    return torch.add(y, x, alpha=alpha, out=out)


BASELINES = {"torch": _torch}
"""

GITIGNORE = """\
public/
.sitegen/
.venv/
__pycache__/
"""

REQUIREMENTS = """\
# sitegen is not on the package index yet, and this one was not installed from an address that GitHub can reach.
# Before you push, write that address below and in the other requirements file of this folder: a git repository that
# holds sitegen; or put a wheel of sitegen into this folder and write ./.github/NAME.whl instead.
"""

NEW_POST = """\
---
title: $title
date: $date
description:
tags: []
draft: true
---
"""
