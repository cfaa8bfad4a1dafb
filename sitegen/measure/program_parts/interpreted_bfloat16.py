"""Correct Triton's interpreter, which keeps a bfloat16 as the integer of its bits, and a scalar as an array."""

from typing import Any

import torch


def teach_interpreter() -> None:
    """Make the interpreter of this process compute bfloat16, float arguments and bounds of loops as a GPU does."""
    from triton.runtime.interpreter import InterpreterBuilder

    teach_bfloat16(InterpreterBuilder)
    teach_reductions()
    teach_scalars()
    teach_indices()


def teach_bfloat16(builder: Any) -> None:
    """Do every operation of bfloat16 in float32, which holds it exactly, and round its result, as the hardware does."""
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    dot, cast = builder.create_dot, builder.cast_impl

    def in_float32(operation: Any, selects: Any = None) -> Any:
        def taught(self: Any, *operands: Any) -> Any:
            handles = [one for one in operands if isinstance(one, TensorHandle)]
            if not any(map(is_bfloat16, handles)) or (selects is not None and operands[-1] is selects):
                return operation(self, *operands)
            result = operation(self, *[_widened(o) if isinstance(o, TensorHandle) else o for o in operands])
            return result if result.data.dtype == np.bool_ else _rounded(result, tl.bfloat16)

        return taught

    def create_dot(self: Any, a: Any, b: Any, *others: Any) -> Any:
        return dot(self, _widened(a), _widened(b), *others)

    def cast_impl(self: Any, value: Any, to: Any) -> Any:
        if to.scalar != tl.bfloat16 or is_bfloat16(value):
            return cast(self, value, to)
        return _rounded(TensorHandle(value.data.astype(np.float32), tl.float32), to)

    def get_bf16(self: Any, value: float) -> Any:
        return _rounded(self.get_fp32(value), tl.bfloat16)

    for name in ("unary_op", "binary_op", "create_fma", "create_erf", "create_rsqrt"):
        setattr(builder, name, in_float32(getattr(builder, name)))
    builder.ternary_op = in_float32(builder.ternary_op, selects=np.where)
    builder.create_dot, builder.cast_impl = create_dot, cast_impl
    builder.get_bf16 = get_bf16


def teach_reductions() -> None:
    """Reduce and scan bfloat16 as numbers, where the interpreter takes the integers of their bits.

    A GPU rounds each partial result, in an order that depends on the layout.  Triton's own sums, products and extrema
    are computed in float32 here and rounded once, so each order of a GPU is near to them.
    """
    from triton.language import standard
    from triton.runtime.interpreter import ReduceOps, ScanOps

    own = [
        getattr(standard, name) for name in ("_sum_combine", "_prod_combine", "_elementwise_max", "_elementwise_min")
    ]
    one_by_one = ReduceOps.generic_reduce

    def in_float32(apply: Any) -> Any:
        def taught(self: Any, blocks: Any) -> Any:
            if self.axis is not None and self.axis < 0:
                self.axis += len(blocks[0].shape)  # the interpreter fails at an axis that is counted from the end
            if self.combine_fn not in own or not is_bfloat16(blocks[0]):
                return apply(self, blocks)
            result = apply(self, (_as_tensor(_widened(blocks[0].handle), blocks[0].shape),))
            result = result[0] if isinstance(result, list | tuple) else result
            return [_as_tensor(_rounded(result.handle, blocks[0].dtype), result.shape)]

        return taught

    def in_pairs(self: Any, blocks: Any) -> Any:
        if any(map(is_bfloat16, blocks)):
            blocks = _pairs_combined(self, one_by_one, blocks)
        return one_by_one(self, blocks)

    ReduceOps.generic_reduce = in_pairs
    ReduceOps.apply_impl, ScanOps.apply_impl = in_float32(ReduceOps.apply_impl), in_float32(ScanOps.apply_impl)


def _pairs_combined(reduction: Any, combine: Any, blocks: Any) -> Any:
    """Combine neighbours until two values are left, as a GPU does; in order, a sum of many ones would end at 256."""
    from triton.runtime.interpreter import ReduceOps

    blocks, axis = reduction.unravel(blocks, reduction.axis)
    while (shape := blocks[0].handle.data.shape)[axis] > 2:
        halved = (*shape[:axis], shape[axis] // 2, 2, *shape[axis + 1 :])
        pairs = tuple(reduction.to_tensor(one.handle.data.reshape(halved), one.dtype) for one in blocks)
        blocks = tuple(combine(ReduceOps(axis + 1, reduction.combine_fn, False), pairs))
    return blocks


def teach_scalars() -> None:
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


def teach_indices() -> None:
    """Let a scalar of a kernel be the bound of a loop: NumPy 2.4 no longer converts an array of one element."""
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def patch_tensor(tensor: Any, *scope: Any) -> None:
        patch(tensor, *scope)
        set_attribute = scope[0].set_attr if scope else setattr  # Triton 3.6 gives a scope that undoes the changes
        set_attribute(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_tensor


def is_bfloat16(operand: Any) -> bool:
    import triton.language as tl

    return bool(operand.dtype.scalar == tl.bfloat16)


def _as_tensor(handle: Any, shape: Any) -> Any:
    import triton.language as tl

    dtype = handle.dtype.scalar
    return tl.tensor(handle, tl.block_type(dtype, list(shape)) if shape else dtype)


def _widened(operand: Any) -> Any:
    """Return bfloat16 as float32, which holds it exactly; return anything else as it is."""
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    if not is_bfloat16(operand):
        return operand
    return TensorHandle((operand.data.astype(np.uint32) << 16).view(np.float32), tl.float32)


def _rounded(value: Any, to: Any) -> Any:
    """Return float32 as the nearest bfloat16, ties to even, as the hardware does."""
    import numpy as np
    from triton.runtime.interpreter import TensorHandle

    nearest = torch.from_numpy(np.ascontiguousarray(value.data)).bfloat16()
    return TensorHandle(nearest.view(torch.int16).numpy().view(np.uint16), to.scalar)
