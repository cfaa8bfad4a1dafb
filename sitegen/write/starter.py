"""Texts of a new site: a post about one Triton kernel, a series, a worklog day.

`scaffold.py` fills in $title and $date; a dollar sign is written twice.
"""

from __future__ import annotations

SITE = """\
# yaml-language-server: $$schema=../schemas/site.json
title: $title
base_url: https://example.org/      # the address of the site; change it before you publish
description: What I measured while learning how a GPU spends its time.
language: en
timezone: UTC
entry_points:
  - {post: first-kernel, because: "Begin here: one kernel, and the least traffic that it needs."}
"""

POST = """\
---
title: A first kernel and its traffic
date: $date
description: The time of a vector addition follows from its bytes. This post counts them before the measurement.
tags: [triton]
kernels: [axpy]
---
The kernel computes $$z = \\alpha x + y$$ for vectors of $$N$$ elements. It reads each element of $$x$$ and $$y$$ once
and writes each element of $$z$$ once. The traffic is at least $$3N$$ elements, for $$2N$$ operations.
`reads` and `writes` in `kernels/axpy/kernel.yaml` state this traffic, so it is known before the measurement.

```{kernel} axpy/tile
:region: kernel
```

**Prediction.** The kernel reads nothing twice and no load waits for another, so memory bandwidth limits its speed.

```{benchmark} axpy
```

The table shows times after a GPU has run the kernel. On a machine with a GPU, type `sitegen run`. For another machine,
type `sitegen bundle` here, `sitegen run --bundle FILE` on that machine, and `sitegen accept FILE` here.
"""

SERIES = """\
# yaml-language-server: $$schema=../schemas/series.json
title: First steps
tagline: From one kernel to the habit of measuring
audience: Programmers who can use a GPU
outcomes: [compute the least traffic of a kernel, measure its time, compare the two]
phases:
  - title: One kernel
    goal: A prediction, a measurement, and the reason for the difference
    posts: [first-kernel]
    planned: ["A reduction"]
"""

WORKLOG = """\
- [x] Made this site with `sitegen new site`
- [ ] Run `axpy` on a GPU and write the measured time here

Q: What limits a kernel that does two operations for every twelve bytes?
A: The memory bandwidth.
"""

ABOUT = """\
---
title: About
---
Every figure on this site comes from a stored measurement that names the machine and the software that made it.
"""

KERNEL = """\
# yaml-language-server: $$schema=../../schemas/kernel.json
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
\"""Adds a tile of 4096 elements in each program: reads each element of x and y once, and writes each of z once.\"""

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
\"""Writes whole tiles, also past the end of z: the checker must report `out_of_bounds`.\"""

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
\"""The inputs of axpy, its definition, and the baselines, which a user would call instead.\"""

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
private.yaml
/kernels/*/results/*-yours.*
/content/posts/*/results/*-yours/
/bundle.zip
/result.zip
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
