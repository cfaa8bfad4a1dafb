"""Triton's interpreter, for machines without a GPU: correct its arithmetic, and report what it cannot run.

The interpreter keeps a bfloat16 as the integer of its bits, and does arithmetic on those integers.  `teach` replaces
the operations for which that is wrong.  It also makes what the interpreter cannot run say so: a kernel that uses it
ends with CannotJudge, which is no failure of the kernel.  Triton's documentation names some of these limits:
https://triton-lang.org/main/programming-guide/chapter-3/debugging.html
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import torch

from sitegen.model.job import UNJUDGED

LIBRARIES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice", "triton.language.extra.cuda")
"""Modules of functions that run only on a GPU."""


class CannotJudge(Exception):
    """A kernel uses a feature that the interpreter cannot run; the text names it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{UNJUDGED}: Triton's interpreter {what}")


@cache
def teach() -> None:
    """Change the interpreter of this process; call it before a kernel is imported.  Do nothing without Triton."""
    try:
        from triton.runtime.interpreter import InterpreterBuilder
    except ImportError:
        return
    _teach_bfloat16(InterpreterBuilder)
    _teach_scalars()
    _refuse_the_impossible(InterpreterBuilder)


def limit_in(error: BaseException | None) -> CannotJudge | None:
    """Return the limit because of which an exception was raised, also where the interpreter wrapped it."""
    while error is not None and not isinstance(error, CannotJudge):
        error = error.__cause__
    return error


@cache
def misjudges_bfloat16() -> bool:
    """Return whether this interpreter computes a plain sum and product of bfloat16 wrongly, in spite of `teach`.

    Another version of Triton may do its arithmetic elsewhere; a wrong result of a kernel then says nothing.
    """
    from sitegen.measure.bfloat16_kernel import multiply_add

    x, w, z = (torch.tensor(values, dtype=torch.bfloat16) for values in ([1.5, -2.0, 3.0], [0.5, 4.0, -1.0], [9.0] * 4))
    try:
        multiply_add[(1,)](x, w, z, 3, BLOCK=4)
    except Exception:  # the kernel is right, so every exception is a fault of the interpreter
        return True
    return bool(z.tolist() != [1.25, -7.5, -2.5, 9.0])


def _teach_bfloat16(builder: Any) -> None:
    """Do every operation of bfloat16 in float32, which holds it exactly, and round its result, as the hardware does."""
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    dot, cast, atomic = builder.create_dot, builder.cast_impl, builder.create_atomic_rmw

    def in_float32(operation: Any, selects: Any = None) -> Any:
        def taught(self: Any, *operands: Any) -> Any:
            handles = [one for one in operands if isinstance(one, TensorHandle)]
            if not any(map(_is_bfloat16, handles)) or (selects is not None and operands[-1] is selects):
                return operation(self, *operands)
            result = operation(self, *[_widened(o) if isinstance(o, TensorHandle) else o for o in operands])
            return result if result.data.dtype == np.bool_ else _rounded(result, tl.bfloat16)

        return taught

    def create_dot(self: Any, a: Any, b: Any, *others: Any) -> Any:
        return dot(self, _widened(a), _widened(b), *others)

    def cast_impl(self: Any, value: Any, to: Any) -> Any:
        if to.scalar != tl.bfloat16 or _is_bfloat16(value):
            return cast(self, value, to)
        return _rounded(TensorHandle(value.data.astype(np.float32), tl.float32), to)

    def create_atomic_rmw(self: Any, operation: Any, pointer: Any, value: Any, *others: Any) -> Any:
        if _is_bfloat16(value):
            raise CannotJudge("has no atomic operations of bfloat16")
        return atomic(self, operation, pointer, value, *others)

    def get_bf16(self: Any, value: float) -> Any:
        return _rounded(self.get_fp32(value), tl.bfloat16)

    for name in ("unary_op", "binary_op", "create_fma", "create_erf", "create_rsqrt"):
        setattr(builder, name, in_float32(getattr(builder, name)))
    builder.ternary_op = in_float32(builder.ternary_op, selects=np.where)
    builder.create_dot, builder.cast_impl, builder.create_atomic_rmw = create_dot, cast_impl, create_atomic_rmw
    builder.get_bf16 = get_bf16


def _teach_scalars() -> None:
    """Give a kernel its float arguments as tensors of float32, as a GPU does: they then have `.to` and a dtype."""
    import numpy as np
    import triton.language as tl
    from triton.runtime import interpreter

    convert = interpreter._implicit_cvt

    def implicit_cvt(argument: Any) -> Any:
        if isinstance(argument, float):
            handle = interpreter.TensorHandle(np.array([argument], dtype=np.float32), tl.float32)
            return tl.tensor(handle, tl.float32)
        return convert(argument)

    interpreter._implicit_cvt = implicit_cvt


def _refuse_the_impossible(builder: Any) -> None:
    """Make functions of NVIDIA's library and inline assembly raise CannotJudge.

    Without this they return None, or fail without their name.
    """
    for name in LIBRARIES:
        for module in _loaded(name):
            for word, function in list(vars(module).items()):
                if isinstance(function, FunctionType) and function.__module__.startswith("triton.language.extra."):
                    setattr(module, word, _refusing(f"has no `{name.rpartition('.')[2]}.{word}`"))
    builder.create_inline_asm = _refusing("does not run inline assembly")
    builder.create_extern_elementwise = _refusing("does not call external functions")


def _loaded(name: str) -> list[ModuleType]:
    """Return the modules of that name.

    Triton loads a folder below `extra` twice: one module has the name, the other is an attribute of the package.
    """
    try:
        by_name = importlib.import_module(name)
    except ImportError:
        return []
    package, _, word = name.rpartition(".")
    return [by_name, getattr(sys.modules[package], word, by_name)]


def _refusing(what: str) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise CannotJudge(what)

    return refuse


def _is_bfloat16(operand: Any) -> bool:
    import triton.language as tl

    return bool(operand.dtype.scalar == tl.bfloat16)


def _widened(operand: Any) -> Any:
    """Return bfloat16 as float32, which holds it exactly; return anything else as it is."""
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    if not _is_bfloat16(operand):
        return operand
    return TensorHandle((operand.data.astype(np.uint32) << 16).view(np.float32), tl.float32)


def _rounded(value: Any, to: Any) -> Any:
    """Return float32 as the nearest bfloat16, ties to even, as the hardware does."""
    import numpy as np
    from triton.runtime.interpreter import TensorHandle

    nearest = torch.from_numpy(np.ascontiguousarray(value.data)).bfloat16()
    return TensorHandle(nearest.view(torch.int16).numpy().view(np.uint16), to.scalar)
