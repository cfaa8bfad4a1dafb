"""The hash that tells GPUs of one model apart."""

from __future__ import annotations

from sitegen.model.gpu import HASH_DIGITS, gpu_hash

UUID = "3f1c0a52-9d7e-4b8a-8a11-5c2f6f0e7d43"


def test_torch_and_nvidia_smi_write_one_uuid_in_two_ways_and_it_has_one_hash():
    assert gpu_hash(UUID) == gpu_hash(f"GPU-{UUID}") == gpu_hash(f"gpu-{UUID.upper()}\n")


def test_two_gpus_have_two_hashes_and_no_part_of_the_uuid_is_in_one():
    other = UUID.replace("3f1c", "3f1d")
    assert gpu_hash(UUID) != gpu_hash(other)
    assert len(gpu_hash(UUID)) == HASH_DIGITS
    assert not any(part in gpu_hash(UUID) for part in UUID.split("-"))


def test_a_gpu_without_a_uuid_has_no_hash():
    assert gpu_hash("") == ""
