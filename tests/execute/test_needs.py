"""A cell that needs more memory than any GPU has is a failure that says so, and runs nowhere."""

from __future__ import annotations

import pytest

from sitegen.execute.bundle import _executed
from sitegen.execute.needs import unmet_need
from sitegen.execute.targets import Device, Target, _mib
from sitegen.model.job import NotebookJob
from sitegen.model.plain import to_plain

H100, SMALL = Device("h100", "GPU-0", memory_bytes=81559 << 20), Device("h100", "GPU-1", memory_bytes=8 << 30)


def spec_with(**needs):
    return to_plain(NotebookJob("posts/first", "first", (), {}, needs))


@pytest.mark.parametrize("size", ["80GB", "8GB", "79 GiB", "1.5GB", "500MB"])
def test_a_need_that_one_of_the_gpus_meets(size):
    assert unmet_need(spec_with(memory=size), [SMALL, H100]) == ""


def test_a_need_that_no_gpu_meets_names_both_sizes():
    why = unmet_need(spec_with(memory="100GB"), [SMALL, H100])
    assert why == "it needs 100GB of GPU memory, and the largest GPU has 86GB"


@pytest.mark.parametrize("size", ["lots", "80", "GB", "-1GB", "80TB", "8" * 1000])
def test_a_need_that_is_no_size_says_how_to_write_one(size):
    assert unmet_need(spec_with(memory=size), [H100]).endswith("is no size; write one such as 8GB")


def test_without_a_need_or_without_a_known_gpu_nothing_is_refused():
    assert unmet_need(spec_with(gpu=">=sm_80"), [H100]) == unmet_need({"id": "x", "kind": "kernel"}, [H100]) == ""
    assert unmet_need(spec_with(memory="100GB"), [Device()]) == unmet_need(spec_with(memory="100GB"), []) == ""


def test_a_gpu_that_shares_the_memory_of_its_host_has_no_known_memory():
    assert (_mib("[N/A]"), _mib("81559 MiB")) == (0, 81559 << 20)


def test_a_job_whose_need_is_not_met_is_a_failure_beside_the_others():
    target = Target((H100,))
    results = list(_executed([spec_with(memory="100GB")], target, lambda _: None))
    assert [(one["id"], one["error"][:14]) for one in results] == [("posts/first", "it needs 100GB")]
