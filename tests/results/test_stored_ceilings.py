"""The stored ceilings with which `sitegen try` compares a time that it does not store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.model.record import Ceiling, MeasuredGpu, Record
from sitegen.results.figures import figures
from sitegen.results.records import Records
from sitegen.results.stored_ceilings import share_of_stored_ceiling, stored_run

GPU = "nvidia-h200"


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", GPU, (made.run,), made.evaluations)


def test_a_run_of_the_kernel_itself_comes_before_a_newer_one_of_another(made, record):
    newer = replace(made.run, id="2026-11-23T06:00:00Z")
    other = Record(1, "copy", GPU, (newer,), ())
    records = Records({("softmax", GPU): record, ("copy", GPU): other})
    assert stored_run(records, made.kernel, made.environment) == made.run
    assert stored_run(Records({("copy", GPU): other}), made.kernel, made.environment) == newer


def test_a_run_without_ceilings_and_another_gpu_are_passed_over(made, record):
    without = replace(record, runs=(replace(made.run, ceilings=()),))
    assert stored_run(Records({("softmax", GPU): without}), made.kernel, made.environment) is None
    other = replace(made.environment, gpu="NVIDIA H100 80GB HBM3")
    assert stored_run(Records({("softmax", GPU): record}), made.kernel, other) is None


def test_of_a_run_on_several_gpus_the_one_at_hand_counts_if_it_is_among_them(made, record):
    first, second = (replace(made.environment, gpu_hash=one) for one in ("aa", "bb"))
    slower = (Ceiling("memory 1:1", 2e12, {"copy": 2e12}),)
    both = replace(made.run, environment=first, other_gpus=(MeasuredGpu(second, slower),))
    records = Records({("softmax", GPU): replace(record, runs=(both,))})
    assert stored_run(records, made.kernel, second).ceilings == slower
    assert stored_run(records, made.kernel, replace(first, gpu_hash="cc")).ceilings == made.ceilings


def test_the_share_is_that_of_the_page(made, record):
    fused = record.evaluations[1]
    share = share_of_stored_ceiling(Records({("softmax", GPU): record}), made.kernel, made.run, fused)
    assert share == pytest.approx(figures(made.kernel, record, fused).of_ceiling)


def test_without_a_time_there_is_no_share(made, record):
    bare = replace(record.evaluations[1], performance=None)
    assert share_of_stored_ceiling(Records({("softmax", GPU): record}), made.kernel, made.run, bare) is None
