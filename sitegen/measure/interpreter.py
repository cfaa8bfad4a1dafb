"""Triton's interpreter, where there is no GPU: what it must be taught of bfloat16 before it can judge a kernel.

It keeps a bfloat16 as the integer of its bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch


@cache
def teach_bfloat16() -> None:
    """`tl.dot` would multiply those integers, and a cast from float32 would cut bits off instead of rounding."""
    try:
        from triton.runtime.interpreter import InterpreterBuilder
    except ImportError:
        return
    dot, cast = InterpreterBuilder.create_dot, InterpreterBuilder.cast_impl

    def create_dot(builder: Any, a: Any, b: Any, *others: Any) -> Any:
        return dot(builder, _widened(a), _widened(b), *others)

    def cast_impl(builder: Any, value: Any, to: Any) -> Any:
        return _rounded(value, to) if _is_rounding(value, to) else cast(builder, value, to)

    InterpreterBuilder.create_dot, InterpreterBuilder.cast_impl = create_dot, cast_impl


def _widened(operand: Any) -> Any:
    """bfloat16 as float32, which holds it exactly."""
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    if operand.dtype.scalar != tl.bfloat16:
        return operand
    return TensorHandle((operand.data.astype(np.uint32) << 16).view(np.float32), tl.float32)


def _is_rounding(value: Any, to: Any) -> bool:
    import triton.language as tl

    return bool(value.dtype.scalar == tl.float32 and to.scalar == tl.bfloat16)


def _rounded(value: Any, to: Any) -> Any:
    """float32 as the nearest bfloat16, ties to even, as the hardware does."""
    import numpy as np
    from triton.runtime.interpreter import TensorHandle

    nearest = torch.from_numpy(np.ascontiguousarray(value.data)).bfloat16()
    return TensorHandle(nearest.view(torch.int16).numpy().view(np.uint16), to.scalar)
