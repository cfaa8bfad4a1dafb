"""A call of a function of reference.py → its result, or EvaluationEnded that blames reference.py with the line."""

from __future__ import annotations

import traceback
from traceback import FrameSummary
from types import TracebackType
from typing import Any

from sitegen.measure.author_lines import definition
from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.kernel import Kernel, Status

_MISTAKES = (NameError, TypeError, AttributeError, LookupError, ValueError, ArithmeticError)
"""Exceptions that Python raises; a RuntimeError on a GPU may be the fault of a kernel that ran before."""


def call_reference(kernel: Kernel, reference: Any, function: str, *values: Any, **named: Any) -> Any:
    """Return what a function of reference.py returns.  Raises EvaluationEnded where the function is at fault."""
    call = getattr(reference, function)
    try:
        return call(*values, **named)
    except _MISTAKES as error:
        own = _own_frame(error, call)
        known = own.tb_frame.f_locals if own else named
        words = f"{kernel.folder}/reference.py: `{function}` raised {type(error).__name__}: {error}"
        if known and (own is None or isinstance(error, NameError)):
            names = ", ".join(f"`{name}`" for name in known)
            words += f"; it {'knows' if own else 'gets'} {names}"
        line = _line(own) if own else definition(call)
        raise EvaluationEnded(Status.RUNTIME_ERROR, words, line=line) from error


def _own_frame(error: BaseException, call: Any) -> TracebackType | None:
    """Return the innermost frame in the file of the function; None where the call itself does not fit."""
    file = getattr(getattr(call, "__code__", None), "co_filename", "")
    here, own = error.__traceback__, None
    while here:
        own = here if here.tb_frame.f_code.co_filename == file else own
        here = here.tb_next
    return own


def _line(own: TracebackType) -> FrameSummary:
    return traceback.extract_tb(own, limit=1)[0]
