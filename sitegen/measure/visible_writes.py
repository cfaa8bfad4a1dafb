"""Products and attention of torch → the same results, written once more by a copy that initcheck sees.

initcheck does not see all that cuBLAS and cuDNN write: on an H100 it calls every number of a product of 65 × 256 in
bfloat16 uninitialised.  They may write with the bulk copy engine, whose writes it does not see either.  It then
reports the kernel of the author that reads such a result.

What this hides: numbers of a result that the library left unwritten, and a product of numbers that nobody wrote.  What
it does not see: libraries that C++ calls without torch, and operations that inference mode keeps whole.  What torch
compiles runs without compilation meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_PRODUCTS = frozenset({"mm", "addmm", "bmm", "baddbmm", "_scaled_mm"})
_ATTENTION = "_scaled_dot_product_"


class VisibleLibraryWrites(TorchDispatchMode):  # type: ignore[misc]
    """While it is entered, each product and attention of torch copies its results over themselves.

    The copy goes through the host, because initcheck counts what comes from there as written, and may report a copy
    on the GPU, which reads the result.  What `torch.empty` and every other operation return is left alone: there
    initcheck has to find what nobody wrote.
    """

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        results = operation(*args, **(kwargs or {}))
        if is_of_a_library(operation):
            _write_again(results if isinstance(results, tuple) else (results,))
        return results


def is_of_a_library(operation: Any) -> bool:
    """Return whether an operation, such as `torch.ops.aten.addmm_.default`, is a product or an attention of torch."""
    name = operation.overloadpacket.__name__
    return operation.namespace == "aten" and (name.rstrip("_") in _PRODUCTS or name.startswith(_ATTENTION))


def _write_again(results: Iterable[Any]) -> None:
    for result in results:
        if isinstance(result, torch.Tensor):
            result.copy_(result.to("cpu", copy=True))
