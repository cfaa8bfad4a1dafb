"""A site that was copied to a disk is read like one on a host."""

from __future__ import annotations

from typing import Any


def test_pages_on_a_disk_have_their_style_and_lead_to_each_other(made: Any, node: Any) -> None:
    found = node("disk.mjs", {"folder": str(made.folder)})
    assert found["complaints"] == []
    assert all(page["styled"] for page in found["walked"])
    assert [page["title"] for page in found["walked"]] == [
        "One of Every Kind",
        "Everything that a post may have",
        "Kernels",
        "One of Every Kind",
    ]
