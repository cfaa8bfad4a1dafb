"""A GPU that a site does not know: the hint names the one that was meant, or none."""

import pytest

from sitegen.linking.near_gpus import near_gpu

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
