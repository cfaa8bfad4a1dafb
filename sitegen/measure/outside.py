"""Accesses of a kernel under Triton's interpreter → the line of the first that reads or writes guard bytes.

Guard bytes show by themselves that a kernel wrote outside of a tensor, but not in which line.  They do not show a read
whose value the kernel throws away, which may still end a launch on a GPU.  `inputs.guarded_tensor` names the guard
bytes, and `interpreter.teach` lets `watch` see each load and store.
"""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from traceback import FrameSummary
from types import FrameType
from typing import Any

from sitegen.measure.author_lines import text_at

_OURS = str(Path(__file__).parents[1])


class Access(Enum):
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Outside:
    """An access outside of a tensor."""

    line: FrameSummary
    text: str
    """The load or store, such as `tl.load(y + at)`; empty where it is not known."""
    raw: Any
    """The buffer whose guard bytes it met."""


_guards: list[tuple[weakref.ref[Any], tuple[int, int], tuple[int, int]]] = []
"""The buffers that are alive, each with the addresses before and behind its tensor: begin, and end exclusive."""
_first: dict[Access, Outside] = {}


def guard(raw: Any, size: int) -> None:
    """Remember the guard bytes of a buffer on the CPU: `size` on each side of its tensor."""
    begin, end = raw.data_ptr(), raw.data_ptr() + raw.numel()
    _guards[:] = [one for one in _guards if one[0]() is not None]
    _guards.append((weakref.ref(raw), (begin, begin + size), (end - size, end)))


def forget() -> None:
    """Forget the accesses that were found."""
    _first.clear()


def first(access: Access) -> Outside | None:
    """Return the first such access since `forget`; None if there was none."""
    return _first.get(access)


def watch(builder: Any) -> None:
    """Look at the addresses of each load and each store of the interpreter."""
    load, store = builder.create_masked_load, builder.create_masked_store

    def create_masked_load(self: Any, ptrs: Any, mask: Any, *others: Any, **options: Any) -> Any:
        _note(Access.READ, ptrs.data, mask.data)
        return load(self, ptrs, mask, *others, **options)

    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *others: Any, **options: Any) -> Any:
        _note(Access.WRITE, ptrs.data, mask.data)
        return store(self, ptrs, value, mask, *others, **options)

    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store


def _note(access: Access, addresses: Any, mask: Any) -> None:
    """Keep the author's line if one of the addresses that the mask lets through is a guard byte.

    The mask of a tensor descriptor is a memoryview, which compares with a number as a whole.
    """
    if access in _first or not addresses.size:
        return
    import numpy as np  # comes with Triton

    least, most = int(addresses.min()), int(addresses.max())
    for buffer, *sides in _guards:
        for begin, end in sides:
            raw = buffer() if most >= begin and least < end else None
            if raw is not None and bool(((addresses >= begin) & (addresses < end) & np.asarray(mask)).any()):
                _first[access] = _outside(sys._getframe(2), raw)
                return


def _outside(frame: FrameType, raw: Any) -> Outside:
    """Return the access with its innermost line that is neither Triton's nor ours."""
    here: FrameType | None = frame
    while here and (here.f_code.co_filename.startswith(_OURS) or _is_of_triton(here)):
        here = here.f_back
    here = here or frame
    line = FrameSummary(here.f_code.co_filename, here.f_lineno, here.f_code.co_name)
    return Outside(line, text_at(here), raw)


def _is_of_triton(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "triton"
