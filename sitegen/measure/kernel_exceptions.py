"""An exception that ended a reader's kernel → its message with the line of the reader's file, and what to write.

The compiler and Triton's interpreter say most of this in the same words; `interpreter.teach` adds what the interpreter
does not say.
"""

from __future__ import annotations

import ast
import re

_BLOCKS_IN_PYTHON = (
    "Python's `sum`, `min`, `max` and `for` do not go through the values of a block: write `tl.sum(x)`, `tl.min(x)` or "
    "`tl.max(x)`"
)
_BLOCKS_BY_TRITON = (
    "NumPy, torch and Python's `range` make no block of a kernel: write `tl.arange(0, BLOCK)`, or another function "
    "that begins with `tl.`"
)
_ADDRESSES = (
    "A pointer is an address: `tl.load(x + i)` reads the numbers there. Only whole numbers can be added to a pointer"
)
_GRID = "The brackets behind a kernel hold the number of programs, as a tuple: write `kernel[(count,)](…)`"
NO_INDEX = "unsupported tensor index"
NO_CONSTANT = "arange's arguments must be of type tl.constexpr"
ADVICE = {
    NO_INDEX: "A kernel reads a vector by `tl.load`: write `tl.load(x + i)` in place of `x[i]`",
    "__setitem__ is not supported": (
        "A kernel writes a vector by `tl.store`: write `tl.store(x + i, value)` in place of `x[i] = value`"
    ),
    "Boolean value of Tensor with more than one value": (
        "An `if` takes one value, and this block has several: select by a mask, as in `tl.where(mask, x, y)`"
    ),
    "'tensor' object is not iterable": _BLOCKS_IN_PYTHON,
    "min requires at least 2 values": _BLOCKS_IN_PYTHON,  # the words of Triton for `max`, too
    "sum is not defined": _BLOCKS_IN_PYTHON,
    "object of type 'tensor' has no len()": (
        "A kernel does not know the length of a vector: give the length to the kernel as an argument"
    ),
    NO_CONSTANT: (
        "The length of a block is known when the kernel is compiled: declare it as `BLOCK: tl.constexpr`, and write "
        "`tl.arange(0, BLOCK)`; what changes is added to that, as in `first + tl.arange(0, BLOCK)`"
    ),
    "arange's range must be a power of 2": ("`triton.next_power_of_2(n)` is such a length: mask the places from n on"),
    "arange() missing": "Write `tl.arange(0, BLOCK)`: it takes the first number and the end",
    "missing 1 required positional argument: 'axis'": (
        "Write `tl.program_id(0)`: a grid may have several numbers, and 0 means the first of them"
    ),
    "cannot convert range(": _BLOCKS_BY_TRITON,
    "cannot convert tensor(": _BLOCKS_BY_TRITON,
    "'numpy.ndarray' object has no attribute": _BLOCKS_BY_TRITON,
    "('np is not defined": _BLOCKS_BY_TRITON,  # the compiler; Python would write name 'np'
    "('torch is not defined": _BLOCKS_BY_TRITON,
    "Unsupported function referenced": _BLOCKS_BY_TRITON,
    "'int' object is not callable": (
        "A kernel cannot call `x.numel()`: give the number of elements to the kernel as an argument"
    ),
    "Mask must have boolean": "A mask is a comparison, as in `i < N`",
    "simultaneous multiple comparison": (
        "Write two comparisons, each in brackets, because `&` binds tighter than `<`: `(0 <= i) & (i < N)`"
    ),
    "invalid operands of type pointer<": _ADDRESSES,
    "cannot add pointers together": _ADDRESSES,
    "Value argument cannot be block type": (
        "`tl.store` needs an address for each value: write `tl.store(x + i, value)` in place of `tl.store(x, value)`"
    ),
    "Mask argument cannot be block type": (
        "Each place of a mask needs an address: write `x + i` in place of `x`, and `mask=` before the mask"
    ),
    "Unsupported ptr type": (
        "The first argument of `tl.load` and `tl.store` is an address, as in `tl.load(x + i)` and "
        "`tl.store(x + i, value)`"
    ),
    "Failed to find C compiler": (
        "Triton also needs Python's headers: on Debian and Ubuntu, `sudo apt install gcc python3-dev` installs both"
    ),
    "object of type 'int' has no len()": _GRID,
    "object has no attribute 'grid_idx'": _GRID,  # the interpreter, where a kernel is called without brackets
    "outside of the scope of a kernel": _GRID,  # the compiler, there
    "'function' object is not subscriptable": "Write `@triton.jit` in the line above the `def` of the kernel",
}
"""What to write in place of what raised an exception, by a part of the exception's message."""
_LANGUAGE = frozenset({"arange", "dot", "exp", "load", "program_id", "store", "where", "zeros"})
_NOT_DEFINED = re.compile(r"(?P<name>\w+)'? is not defined")
_TRITON_PLACE = re.compile(r"(?<=: )at \d+:\d+: (?P<cause>.*)")


def advice_on(message: str) -> str:
    """Return the advice on an exception with this message; empty where none is known."""
    if (found := _NOT_DEFINED.search(message)) and found["name"] in _LANGUAGE:
        return f"The function belongs to Triton's language: write `tl.{found['name']}`"
    return next((advice for part, advice in ADVICE.items() if part in message), "")


def with_file_line(message: str, error: BaseException, text: str, path: str) -> str:
    """Return the message of a compiler's exception with the line of the file, whose text is given.

    Triton counts lines from the `def` of the kernel.  The message of another exception stays as it is.
    """
    source, node = getattr(error, "src", None), getattr(error, "node", None)
    if not isinstance(source, str) or not isinstance(node, ast.expr | ast.stmt) or source not in text:
        return message
    line = text.count("\n", 0, text.index(source)) + node.lineno
    # At `x[i]` of a block `i`, Triton asks whether `@triton.jit` was forgotten.
    cause = NO_INDEX if isinstance(node, ast.Subscript) else r"\g<cause>"
    return f"{_TRITON_PLACE.sub(cause, message)}, at {path}:{line}"
