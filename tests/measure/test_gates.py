"""Every gate of correctness, through the public entry point, under Triton's interpreter where there is no GPU."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from sitegen.model.kernel import Language, Launch, Status
from sitegen.model.record import Role

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs torch and triton"),
]

PLANTED = (
    "one_wrong_element",
    "unmasked_tail",
    "unmasked_loads",
    "wrong_dtype",
    "wrong_shape",
    "not_fully_written",
    "out_of_bounds_by_one",
    "input_modified",
    "nan",
    "remembered",
    "declared_deterministic",
    "wrong_at_random",
    "ignores_out",
    "does_not_compile",
    "raises",
    "aborts",
)


@pytest.fixture(scope="module")
def rejections(measure, add_kernel):
    result = measure(add_kernel.reject_job(add_kernel.WRONG_SOURCES))
    return {rejection.name: rejection for rejection in result.rejections}


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_kernel_gets_the_status_that_names_its_mistake(rejections, name):
    rejection = rejections[name]
    assert rejection.status is rejection.expected, rejection.message


def test_every_planted_mistake_is_listed_above(add_kernel):
    assert set(PLANTED) == set(add_kernel.WRONG_SOURCES)


def test_a_rejection_says_why_and_keeps_its_key(rejections):
    assert "planted" in rejections["raises"].message
    assert "raises.py:2" in rejections["raises"].message
    assert "SIGABRT" in rejections["aborts"].message
    assert rejections["nan"].key == "nan"


@pytest.fixture(scope="module")
def evaluated(measure, add_kernel):
    job = add_kernel.kernel_job(
        {
            "aborts": add_kernel.WRONG_SOURCES["aborts"][1],
            "right": add_kernel.triton_source(),
            "device": 'extern "C" __global__ void device() {}',
        },
        languages={"device": (Language.CUDA, Launch("device", ("1",), ("1",)))},
    )
    return {e.name: e for e in measure(job).evaluations}


def test_an_abort_beside_it_does_not_stop_a_right_kernel(evaluated):
    assert evaluated["aborts"].status is Status.RUNTIME_ERROR
    assert evaluated["right"].status is Status.PASSED


def test_what_passed_says_how_wrong_it_may_be_and_was(evaluated):
    found = evaluated["right"].correctness
    assert found.relative_error <= found.tolerance == 1e-6
    assert found.seeds == 3
    assert found.input_sets == ("normal", "exact")
    assert found.deterministic


def test_what_failed_carries_no_correctness(evaluated):
    assert evaluated["aborts"].correctness is None


def test_key_and_prediction_come_back_as_they_were_sent(evaluated):
    right = evaluated["right"]
    assert (right.key, right.key_parts, right.predicts) == ("key of right", {"code": "abc"}, "all of the ceiling")


def test_baselines_and_probes_are_evaluations_too(evaluated):
    assert {e.name: e.role for e in evaluated.values() if e.role is not Role.IMPLEMENTATION} == {
        "torch": Role.BASELINE,
        "copy": Role.PROBE,
        "read": Role.PROBE,
    }


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="here is a GPU")
def test_nothing_is_timed_and_no_cuda_runs_without_a_gpu(evaluated):
    assert all(e.performance is None for e in evaluated.values())
    assert evaluated["device"].status is Status.NOT_RUN
    assert evaluated["device"].message.startswith("no GPU")


def test_a_cell_that_is_an_implementation_is_checked_like_a_file(measure, add_kernel):
    job = add_kernel.kernel_job({"in_a_cell": add_kernel.triton_source()}, in_cells=("in_a_cell",))
    (ours,) = (e for e in measure(job).evaluations if e.role is Role.IMPLEMENTATION)
    assert ours.status is Status.PASSED, ours.message
