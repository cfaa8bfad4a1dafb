"""Results of cuBLAS and cuDNN, through torch → the same results, written once more by a copy that initcheck sees.

initcheck does not see all that these libraries write: on an H100 it calls every number of a product of 65 × 256 numbers
uninitialised.  They may write with the bulk copy engine, whose writes it does not see either.  It then reports the
kernel of the author that reads such a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_PRODUCTS = frozenset({"mm", "addmm", "bmm", "baddbmm", "_scaled_mm"})
_ATTENTION = "_scaled_dot_product_"


class VisibleLibraryWrites(TorchDispatchMode):  # type: ignore[misc]
    """While it is entered, each product and attention of torch copies its results over themselves, through the host.

    What `torch.empty` and every other operation return is left alone: there initcheck has to find what nobody wrote.
    """

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        results = operation(*args, **(kwargs or {}))
        if is_of_a_library(operation.overloadpacket.__name__):
            _write_again(results if isinstance(results, tuple) else (results,))
        return results


def is_of_a_library(operation: str) -> bool:
    """Return whether an operation of torch, such as `addmm_`, is a product of cuBLAS or an attention of cuDNN."""
    return operation.rstrip("_") in _PRODUCTS or operation.startswith(_ATTENTION)


def _write_again(results: Iterable[Any]) -> None:
    for result in results:
        if isinstance(result, torch.Tensor):
            result.copy_(result.to("cpu", copy=True))
