"""Triton's interpreter, for machines without a GPU: correct its arithmetic, and report what it cannot run.

The interpreter keeps a bfloat16 as the integer of its bits, and does arithmetic on those integers.
`program_parts/interpreted_bfloat16.py` replaces the operations for which that is wrong.  `teach` also makes what the
interpreter cannot run say so: a kernel that uses it ends with CannotJudge, which is no failure of the kernel.  It also
removes work of the interpreter that changes no result: of a check of attention, this work took half of the time.
Triton's documentation names some of these limits:
https://triton-lang.org/main/programming-guide/chapter-3/debugging.html
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce, wraps
from types import FunctionType, ModuleType
from typing import Any

import torch

from sitegen.measure.author_lines import in_brackets, text_at
from sitegen.measure.kernel_exceptions import NO_INDEX
from sitegen.measure.outside import watch
from sitegen.measure.program_parts.interpreted_bfloat16 import is_bfloat16, teach_interpreter
from sitegen.model.job import UNJUDGED

LIBRARIES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice", "triton.language.extra.cuda")
"""Modules of functions that run only on a GPU."""


MANY_VALUES = (
    "`if`, `and`, `or` and `not` take one value, and this block has several: combine masks with `&`, `|`, `~`, each "
    "comparison in brackets, as in `(a < b) & (c < d)`, or select with `tl.where`"
)


def several_values(text: str) -> str:
    """Return what is wrong with asking whether a block of several values is true; `text` is what asks."""
    if brackets := in_brackets(text):
        why = ", because `&` and `|` bind tighter than a comparison" if set("&|") & set(text) else ""
        return f"`{text}` is several comparisons in a row{why}: write `{brackets}`"
    return MANY_VALUES


class CannotJudge(Exception):
    """A kernel uses a feature that the interpreter cannot run; the text names it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{UNJUDGED}: Triton's interpreter {what}; this is no mistake, and a GPU judges it")


@cache
def teach() -> None:
    """Change the interpreter of this process; call it before a kernel is imported.  Do nothing without Triton."""
    try:
        from triton.runtime.interpreter import InterpreterBuilder
    except ImportError:
        return
    teach_interpreter()
    watch(InterpreterBuilder)
    _refuse_the_impossible(InterpreterBuilder)
    _refuse_truth_of_blocks()
    _refuse_items_of_blocks()
    _choose_in_blocks()
    _skip_overflow_checks()
    _remember_builtins()


def limit_in(error: BaseException | None) -> CannotJudge | None:
    """Return the limit because of which an exception was raised, also where the interpreter wrapped it."""
    while error is not None and not isinstance(error, CannotJudge):
        error = error.__cause__
    return error


@cache
def misjudges_bfloat16() -> bool:
    """Return whether this interpreter multiplies and adds numbers of bfloat16 wrongly, in spite of `teach`.

    Another version of Triton may do its arithmetic elsewhere; a wrong result of a kernel then says nothing.
    """
    from sitegen.measure.bfloat16_kernel import multiply_and_sum

    x, w, z = (torch.tensor(values, dtype=torch.bfloat16) for values in ([1.5, -2.0, 3.0], [0.5, 4.0, -1.0], [9.0] * 4))
    try:
        multiply_and_sum[(1,)](x, w, z, 3, BLOCK=4)
    except Exception:  # the kernel is right, so every exception is a fault of the interpreter
        return True
    return bool(z.tolist() != [4.25, -4.5, 0.5, 9.0])


def _refuse_the_impossible(builder: Any) -> None:
    """Make functions of NVIDIA's library and inline assembly raise CannotJudge.

    Without this they return None, or fail without their name.
    """
    for name in LIBRARIES:
        for module in _loaded(name):
            for word, function in list(vars(module).items()):
                if isinstance(function, FunctionType) and function.__module__.startswith("triton.language.extra."):
                    setattr(module, word, _refusing(f"has no `{name.rpartition('.')[2]}.{word}`"))
    atomic = builder.create_atomic_rmw

    def create_atomic_rmw(self: Any, operation: Any, pointer: Any, value: Any, *others: Any) -> Any:
        if is_bfloat16(value):
            raise CannotJudge("has no atomic operations of bfloat16")
        return atomic(self, operation, pointer, value, *others)

    builder.create_atomic_rmw = create_atomic_rmw
    _refuse_scans_in_order()
    builder.create_inline_asm = _refusing("does not run inline assembly")
    builder.create_extern_elementwise = _refusing("does not call external functions")


def _refuse_scans_in_order() -> None:
    """Refuse a scan of bfloat16 by a function of the kernel, which the interpreter rounds at each value, in order.

    A GPU combines neighbours first: a sum of many ones ends at 256 in the interpreter, and not on a GPU.
    """
    from triton.runtime.interpreter import ScanOps

    scan = ScanOps.generic_scan

    def generic_scan(self: Any, blocks: Any) -> Any:
        if any(map(is_bfloat16, blocks)):
            raise CannotJudge("scans bfloat16 by Triton's own functions alone")
        return scan(self, blocks)

    ScanOps.generic_scan = generic_scan


def _refuse_truth_of_blocks() -> None:
    """Refuse `if` and `and` of a block of several values, as the compiler does; the interpreter takes each as true.

    Triton's own code asks so whether an optional block was given.
    """
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def patch_tensor(tensor: Any, *scope: Any) -> None:
        patch(tensor, *scope)
        truth = tensor.__bool__

        def truth_of_one(self: Any) -> bool:
            asking = sys._getframe(1)
            asked_by = asking.f_globals.get("__name__", "")
            if self.handle.data.size != 1 and not asked_by.startswith("triton."):
                raise ValueError(several_values(text_at(asking)))
            return bool(truth(self))

        tensor.__bool__ = truth_of_one

    interpreter._patch_lang_tensor = patch_tensor


def _refuse_items_of_blocks() -> None:
    """Refuse `x[i]`, `x[i] = value` and a loop through a block in the words of the compiler.

    The interpreter's own words name things that are not in the kernel, as in `'int' object is not iterable`.
    """
    import triton.language as tl

    item: Any = tl.tensor.__getitem__

    @wraps(item)
    def checked_item(self: Any, index: Any, *others: Any, **options: Any) -> Any:
        if isinstance(index, int | tl.tensor):
            raise ValueError(NO_INDEX)
        return item(self, index, *others, **options)

    def refuse_store(*_: Any) -> None:
        raise NotImplementedError("__setitem__ is not supported in triton")

    language: Any = tl.tensor
    language.__getitem__, language.__setitem__, language.__iter__ = checked_item, refuse_store, None


def _choose_in_blocks() -> None:
    """Make Python's `min` and `max` compare blocks value by value in a kernel, as the compiler does."""
    from triton.runtime import interpreter

    patch = interpreter._patch_lang

    def patch_language(function: Any) -> Any:
        for python, name in ((min, "minimum"), (max, "maximum")):
            function.__globals__.setdefault(python.__name__, _choosing(python, name))
        return patch(function)

    interpreter._patch_lang = patch_language


def _choosing(python: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return `min` or `max`, which takes the function of Triton of that name where one of several values is a block."""
    import triton.language as tl

    def choose(*values: Any, **options: Any) -> Any:
        if len(values) > 1 and any(isinstance(one, tl.tensor) for one in values):
            return reduce(getattr(tl, name), values)
        return python(*values, **options)

    return choose


def _skip_overflow_checks() -> None:
    """Do not compute each sum and product of integers a second time, in 64 bits, to look for an overflow.

    The interpreter uses the answer only with its option `debug`, which is off.
    """
    from triton.runtime.interpreter import interpreter_builder

    if not interpreter_builder.options.debug:
        interpreter_builder.options = replace(interpreter_builder.options, sanitize_overflow=False)


def _remember_builtins() -> None:
    """Look for the functions of Triton's language once in each module, and not at each call of a kernel's function."""
    import triton.language as tl
    from triton.runtime import interpreter

    patch, names = interpreter._patch_attr, cache(_builtin_names)

    def patch_builtin(package: Any, builder: Any, *scope: Any) -> None:
        for name in names(package):
            member = getattr(package, name)
            if tl.core.is_builtin(member):  # else an outer call has replaced it already
                patch(package, name, member, builder, *scope)

    interpreter._patch_builtin = patch_builtin


def _builtin_names(package: Any) -> tuple[str, ...]:
    """Return the names of the functions of a module, or of a class, that the compiler implements itself."""
    import triton.language as tl

    return tuple(name for name, member in inspect.getmembers(package) if tl.core.is_builtin(member))


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
