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
NO_INDEX = "unsupported tensor index"
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
    "arange's arguments must be of type tl.constexpr": (
        "The length of a block is known when the kernel is compiled: declare it as `BLOCK: tl.constexpr`, write "
        "`tl.arange(0, BLOCK)`, and add the number of the first place"
    ),
    "arange's range must be a power of 2": ("`triton.next_power_of_2(n)` is such a length: mask the places from n on"),
}
"""What to write in place of what raised an exception, by a part of the exception's message."""
_TRITON_PLACE = re.compile(r"(?<=: )at \d+:\d+: (?P<cause>.*)")


def advice_on(message: str) -> str:
    """Return the advice on an exception with this message; empty where none is known."""
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
