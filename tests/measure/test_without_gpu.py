"""A job on a machine without a GPU: the interpreter checks, and the compiler reports what it would make for Hopper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.measure import without_gpu
from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.without_gpu import ARCH
from sitegen.model.kernel import Language, Launch, Status

pytestmark = [pytest.mark.torch, pytest.mark.nvrtc]

CUDA = """
extern "C" __global__ void add(const DTYPE* x, const DTYPE* y, DTYPE* z, long long N) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < N) z[i] = x[i] + y[i];
}
"""
LAUNCH = Launch("add", ("cdiv(N, 256)",), ("256",), args=("x", "y", "z", "N"))


@pytest.fixture(scope="module")
def evaluations(add_kernel, measure):
    if gpu_memory_bytes():
        pytest.skip("a GPU is here")
    sources = {
        "plain": add_kernel.triton_source(),
        "wrong": add_kernel.triton_source(count="x.numel() - 1"),
        "refused": add_kernel.triton_source(epilogue="raise MemoryError"),
        "kills": add_kernel.triton_source(prologue="import os; x.is_meta and os.abort()"),
        "cuda": CUDA,
        "mistaken": CUDA.replace("x[i] +", "x[j] +"),
    }
    languages = dict.fromkeys(("cuda", "mistaken"), (Language.CUDA, LAUNCH))
    return {e.name: e for e in measure(add_kernel.kernel_job(sources, languages=languages)).evaluations}


def test_cuda_that_cannot_run_is_compiled_all_the_same(evaluations):
    found = evaluations["cuda"]
    assert (found.status, found.message) == (Status.NOT_RUN, "no GPU")
    assert (found.compilation.arch, found.compilation.spill_bytes) == (ARCH, 0)
    assert found.compilation.instructions["LDG.32"] == 2
    assert (found.launch.grid, found.launch.occupancy) == ((16, 1, 1), 1.0)


def test_what_the_compiler_refuses_has_failed_though_nothing_could_run(evaluations):
    found = evaluations["mistaken"]
    assert (found.status, found.compilation) == (Status.COMPILE_ERROR, None)
    assert "mistaken.cu(4): error" in found.message


def test_triton_is_interpreted_and_compiled(evaluations):
    found = evaluations["plain"]
    assert found.status is Status.PASSED
    assert found.compilation.arch == ARCH
    assert "BAR" not in found.compilation.instructions


def test_a_wrong_result_is_not_compiled(evaluations):
    assert evaluations["wrong"].status is Status.UNWRITTEN
    assert evaluations["wrong"].compilation is None


def test_a_compiler_that_dies_takes_nobody_with_it_and_fails_nothing(evaluations):
    found = evaluations["kills"]
    assert (found.status, found.compilation) == (Status.PASSED, None)
    assert found.message.startswith(f"not compiled for {ARCH}: the compiler's process died")


def test_a_function_that_raises_keeps_its_own_status(evaluations):
    assert evaluations["refused"].status is Status.OUT_OF_MEMORY
    assert "not compiled" not in evaluations["refused"].message


def test_baselines_are_not_compiled(evaluations):
    assert evaluations["torch"].compilation is None


def test_where_there_is_a_gpu_nothing_of_this_happens(tmp_path):
    from sitegen.measure.evaluation import PendingEvaluation
    from sitegen.measure.requests import CollectedArtefacts
    from sitegen.measure.workspace import Workspace
    from sitegen.model.record import Role

    ours = PendingEvaluation(Role.IMPLEMENTATION, "ours")
    workspace = Workspace(tmp_path, tmp_path / "job.json", gpu=True)
    without_gpu.compile_without_gpu([ours], workspace)
    assert (ours.collected, workspace.seconds) == (CollectedArtefacts(), {})


def test_what_hung_in_an_earlier_job_is_neither_tried_nor_compiled(add_kernel, measure):
    if gpu_memory_bytes():
        pytest.skip("a GPU is here")
    sources = {"plain": add_kernel.triton_source(), "hangs": add_kernel.triton_source(prologue="while True: pass")}
    job = replace(add_kernel.kernel_job(sources), hung={"hangs": "8:float32"})
    found = {e.name: e for e in measure(job).evaluations}
    assert (found["hangs"].status, found["hangs"].compilation) == (Status.NOT_RUN, None)
    assert found["hangs"].message == "not tried, because it hung at 8:float32"
    assert found["plain"].status is Status.PASSED
