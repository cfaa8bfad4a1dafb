"""A GPU that a site does not know: the hint names the one that was meant, or none."""

import pytest

from sitegen.diagnostics import Span
from sitegen.linking.near_gpus import near_gpu, unknown_gpu

KNOWN = ("nvidia-h200", "nvidia-h100-80gb-hbm3")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nvidia-a100", ""),
        ("nvidia-b200", ""),
        ("nvidia-h300", ""),
        ("nvidia-a100-80gb-pcie", ""),
        ("nvidia-h20", "nvidia-h200"),
        ("nvida-h200", "nvidia-h200"),
        ("nvidia_h200", "nvidia-h200"),
        ("NVIDIA-H200", "nvidia-h200"),
        ("nvidia-h100", "nvidia-h100-80gb-hbm3"),
        ("h100", "nvidia-h100-80gb-hbm3"),
        ("rtx", ""),
    ],
)
def test_only_a_slip_or_a_part_of_an_id_means_a_known_gpu(name: str, meant: str) -> None:
    assert near_gpu(name, KNOWN) == meant


def test_a_gpu_that_is_no_slip_gets_the_list_of_those_with_records() -> None:
    found = unknown_gpu("nvidia-a100", KNOWN, sorted(KNOWN), Span("content/posts/a.md", 3))
    assert found.message == "unknown GPU `nvidia-a100`"
    assert found.hint == (
        "no record is of `nvidia-a100`: measure there, or name a GPU that has records: "
        "`nvidia-h100-80gb-hbm3`, `nvidia-h200`"
    )
