"""The lines about machine code that an author without a GPU sees: one for each that differs."""

from __future__ import annotations

from dataclasses import replace

from sitegen.cli.compiled import compiled_lines
from sitegen.model.job import JOB_SCHEMA, JobResult
from sitegen.model.kernel import Status
from sitegen.model.record import Compilation, Environment, Evaluation, LaunchRecord, Role

HERE = Environment("NVIDIA H200", "sm_90", 132, 1, 1, "", "", "", "", "", 0.0, 0.0, False)
PLAIN = Compilation("sm_90a", 40, 0, 0, "abc", {"BAR": 2, "LDG.128": 4, "STG.128": 4})
SPILLED = Compilation("sm_90a", 255, 216, 4096, "def", {"HGMMA": 8, "LDL.32": 72, "UTMALDG": 2})
LAUNCH = LaunchRecord((8, 1, 1), (256, 1, 1), (1, 1, 1), 0, occupancy=0.375)


def evaluation(name="fused", status=Status.PASSED, role=Role.IMPLEMENTATION, **rest):
    return Evaluation(role, name, "8", "float32", "", status, **rest)


def result(place, *evaluations, environment=None):
    return JobResult(JOB_SCHEMA, f"softmax@{place}", "kernel", environment, evaluations)


def test_what_failed_is_told_elsewhere():
    refused = evaluation(status=Status.COMPILE_ERROR, message="naive.cu(3): error")
    assert compiled_lines([result("8:float32", refused)]) == []


def test_a_reason_why_nothing_was_compiled_is_told():
    found = compiled_lines([result("8:float32", evaluation(status=Status.NOT_RUN, message="no GPU; needs nvcc"))])
    assert found == ["softmax/fused  no GPU; needs nvcc (8:float32)"]


def test_what_a_gpu_measured_is_not_told_again():
    assert compiled_lines([result("8:float32", evaluation(compilation=PLAIN), environment=HERE)]) == []


def test_baselines_have_no_code_of_ours():
    assert compiled_lines([result("8:float32", evaluation("torch", Status.NOT_RUN, Role.BASELINE, message="x"))]) == []


def test_the_same_code_at_two_workloads_is_one_line():
    results = [result(place, evaluation(compilation=PLAIN)) for place in ("8:float32", "16:float32")]
    assert compiled_lines(results) == [
        "softmax/fused  sm_90a: 40 registers, no spills, LDG.128 x4, STG.128 x4 (8:float32, 16:float32)"
    ]


def test_spills_shared_memory_occupancy_and_tensor_cores_are_told():
    (line,) = compiled_lines([result("8:float32", evaluation(compilation=SPILLED, launch=LAUNCH))])
    assert line == (
        "softmax/fused  sm_90a: 255 registers, 216 bytes of local memory, 4096 bytes of shared memory, "
        "occupancy 38%, HGMMA x8, LDL.32 x72, UTMALDG x2 (8:float32)"
    )


def test_of_several_kernels_the_one_that_the_figures_belong_to_is_named():
    several = replace(LAUNCH, launches=2, kernel="gradients")
    (line,) = compiled_lines([result("8:float32", evaluation(compilation=PLAIN, launch=several))])
    assert "sm_90a: gradients, one of 2 launches, 40 registers, " in line
    (line,) = compiled_lines([result("8:float32", evaluation(compilation=PLAIN, launch=replace(several, launches=1)))])
    assert "gradients" not in line
