"""What initcheck shall see: results of libraries count as written, and memory that nobody wrote does not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import scaled_dot_product_attention  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode  # noqa: E402

from sitegen.measure import tool_target  # noqa: E402
from sitegen.measure.tool_calls import CallToSanitize  # noqa: E402
from sitegen.measure.visible_writes import VisibleLibraryWrites, is_of_a_library  # noqa: E402


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


def test_each_result_of_an_attention_is_written_again():
    query = torch.ones(1, 2, 8, 4)
    results = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, query, query)
    assert len(results) == 2
    assert writes_again(lambda: scaled_dot_product_attention(query, query, query)) == 2


@pytest.mark.parametrize(
    ("operation", "is_one"),
    [
        (torch.ops.aten._scaled_dot_product_cudnn_attention.default, True),
        (torch.ops.aten._scaled_mm.default, True),
        (torch.ops.aten.mm.out, True),
        (torch.ops.aten.add.Tensor, False),
    ],
)
def test_operations_of_libraries_are_known_by_their_names(operation, is_one):
    assert is_of_a_library(operation) is is_one


def test_an_operation_of_the_author_with_such_a_name_is_not_of_a_library():
    named = SimpleNamespace(__name__="mm")
    assert not is_of_a_library(SimpleNamespace(namespace="of_the_author", overloadpacket=named))
    assert is_of_a_library(SimpleNamespace(namespace="aten", overloadpacket=named))


def test_a_call_for_the_sanitizer_is_made_with_these_writes(monkeypatch):
    modes = []
    runnable = SimpleNamespace(run_into=lambda *_: modes.append(type(_get_current_dispatch_mode())))
    monkeypatch.setattr(tool_target, "require_arch", lambda _: None)
    monkeypatch.setattr(tool_target.runnables, "implementation_runnable", lambda *_: runnable)
    monkeypatch.setattr(tool_target, "KernelSetup", lambda *_: None)
    monkeypatch.setattr(tool_target, "make_set", lambda *_: SimpleNamespace(inputs=(), outs=()))
    monkeypatch.setattr(tool_target, "wait", lambda: None)
    caller = object.__new__(tool_target.Sanitizer)
    caller.kernel, caller.folder, caller.reference = None, None, None
    caller.calls = [CallToSanitize(SimpleNamespace(arch=""), "float32", {}, ({"N": 1}, {"N": 2}))]
    caller.call(0)
    assert modes == [VisibleLibraryWrites] * 2


def test_results_have_the_values_that_they_had():
    query = torch.arange(2 * 8 * 4, dtype=torch.float32).view(1, 2, 8, 4) / 16
    expected = scaled_dot_product_attention(query, query, query, is_causal=True)
    into = torch.ones(4, 4)
    with VisibleLibraryWrites():
        torch.testing.assert_close(scaled_dot_product_attention(query, query, query, is_causal=True), expected)
        into.addmm_(square(), square())
    assert into.tolist() == (torch.ones(4, 4) + 4).tolist()
