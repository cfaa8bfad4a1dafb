"""What initcheck shall see: results of libraries count as written, and memory that nobody wrote does not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import scaled_dot_product_attention  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from sitegen.measure.library_writes import VisibleLibraryWrites, is_of_a_library  # noqa: E402


class Operations(TorchDispatchMode):
    """Keeps the names of the operations that torch does, also of those that a mode inside it adds."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.names.append(operation.overloadpacket.__name__)
        return operation(*args, **(kwargs or {}))


def writes_again(make):
    """Return how many tensors the mode wrote, while `make` made its own."""
    with Operations() as seen, VisibleLibraryWrites():
        make()
    return seen.names.count("copy_")


def square():
    return torch.ones(4, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(4, 4),
        lambda: square().new_empty(4, 4),
        lambda: torch.empty_like(square()),
        lambda: square().t(),
        lambda: square() + 1,
    ],
    ids=["empty", "new_empty", "empty_like", "view", "sum"],
)
def test_memory_that_no_library_wrote_stays_as_it_is(make):
    assert writes_again(make) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.mm(square(), square()),
        lambda: square() @ square(),
        lambda: torch.mm(square(), square(), out=torch.empty(4, 4)),
        lambda: square().addmm_(square(), square()),
        lambda: torch.bmm(torch.ones(2, 4, 4), torch.ones(2, 4, 4)),
    ],
    ids=["mm", "matmul", "out", "in place", "bmm"],
)
def test_a_product_is_written_again(make):
    assert writes_again(make) == 1


@pytest.mark.parametrize("operation", ["_scaled_dot_product_cudnn_attention", "_scaled_mm"])
def test_what_only_a_gpu_offers_is_known_by_its_name(operation):
    assert is_of_a_library(operation)


def test_results_have_the_values_that_they_had():
    query = torch.arange(2 * 8 * 4, dtype=torch.float32).view(1, 2, 8, 4) / 16
    expected = scaled_dot_product_attention(query, query, query, is_causal=True)
    into = torch.ones(4, 4)
    with VisibleLibraryWrites():
        torch.testing.assert_close(scaled_dot_product_attention(query, query, query, is_causal=True), expected)
        into.addmm_(square(), square())
    assert into.tolist() == (torch.ones(4, 4) + 4).tolist()
