"""Addresses and masks of the interpreter → the author's line of the first access of guard bytes."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
]
np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from sitegen.measure import outside  # noqa: E402
from sitegen.measure.outside import Access  # noqa: E402

GUARD = 64


class Builder:
    """Stands for Triton's, whose loads of descriptors come with keywords and a plain array as their mask."""

    def create_masked_load(self, ptrs: Any, mask: Any, *others: Any, **options: Any) -> Any:
        return others, options

    def create_masked_store(self, ptrs: Any, value: Any, mask: Any, *others: Any, **options: Any) -> Any:
        return value, others, options


outside.watch(Builder)


@pytest.fixture
def buffer() -> Any:
    """256 bytes, of which the 128 in the middle are a tensor."""
    outside.forget()
    raw = torch.zeros(256, dtype=torch.uint8)
    outside.guard(raw, GUARD)
    return raw


def places(raw: Any, first: int) -> Any:
    """Eight pointers from a byte of the tensor on, as the interpreter holds them."""
    return SimpleNamespace(data=np.arange(8, dtype=np.uint64) + np.uint64(raw.data_ptr() + GUARD + first))


def handle(*lanes: int) -> Any:
    return SimpleNamespace(data=np.isin(np.arange(8), lanes))


def test_masked_lanes_outside_are_no_access(buffer: Any) -> None:
    Builder().create_masked_load(places(buffer, 124), handle(0, 1, 2, 3))
    assert outside.first(Access.READ) is None


def test_mask_of_a_descriptor_is_a_plain_array(buffer: Any) -> None:
    Builder().create_masked_load(places(buffer, 124), np.isin(np.arange(8), [0, 1, 2, 3]), None, is_volatile=False)
    assert outside.first(Access.READ) is None
    Builder().create_masked_load(places(buffer, 124), np.isin(np.arange(8), [4]))
    assert outside.first(Access.READ) is not None


@pytest.mark.parametrize("first", [-1, 124])
def test_first_lane_outside_names_the_line_of_the_author(buffer: Any, first: int) -> None:
    Builder().create_masked_load(places(buffer, first), handle(*range(8)))
    found = outside.first(Access.READ)
    assert found is not None and found.line.filename == __file__ and found.raw is buffer
    assert found.text.startswith("Builder().create_masked_load(") and outside.first(Access.WRITE) is None


def test_store_outside_is_a_write(buffer: Any) -> None:
    assert Builder().create_masked_store(places(buffer, 124), "v", handle(7), None, policy=1) == (
        "v",
        (None,),
        {"policy": 1},
    )
    assert outside.first(Access.WRITE) is not None and outside.first(Access.READ) is None


def test_memory_of_a_freed_buffer_belongs_to_others(buffer: Any) -> None:
    freed = torch.zeros(256, dtype=torch.uint8)
    outside.guard(freed, GUARD)
    pointers = places(freed, 124)
    del freed
    Builder().create_masked_load(pointers, handle(*range(8)))
    assert outside.first(Access.READ) is None
