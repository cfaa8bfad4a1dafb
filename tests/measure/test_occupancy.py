"""Occupancy, against values by hand, and against NVIDIA's own calculator where its header is installed."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from sitegen.measure.occupancy import LIMITS, limits_of, occupancy, resident_blocks

HOPPER = LIMITS["90"]
CALCULATOR = """
#include <limits.h>
#include <string.h>
#define __OCC_INLINE inline
#include "cuda_occupancy.h"
int blocks(int major, int minor, int warps, int shared_of_sm, int registers, int threads, int fixed, int dynamic) {
    struct cudaOccDeviceProp gpu = {
        .computeMajor = major, .computeMinor = minor, .maxThreadsPerBlock = 1024, .warpSize = 32, .numSms = 1,
        .maxThreadsPerMultiprocessor = 32 * warps, .regsPerBlock = 65536, .regsPerMultiprocessor = 65536,
        .sharedMemPerBlock = 48 * 1024, .sharedMemPerMultiprocessor = shared_of_sm,
        .sharedMemPerBlockOptin = shared_of_sm - 1024, .reservedSharedMemPerBlock = 1024};
    struct cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = 1024, .numRegs = registers, .sharedSizeBytes = fixed, .numBlockBarriers = 1,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, .maxDynamicSharedSizeBytes = shared_of_sm};
    struct cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    struct cudaOccResult result;
    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &gpu, &kernel, &state, threads, dynamic);
    return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -(int)error;
}
"""


@pytest.mark.parametrize(
    ("registers", "threads", "shared_bytes"),
    [(32, 1025, 0), (128, 1024, 0), (255, 288, 0), (16, 32, 227 * 1024 + 1), (32, 0, 0)],
    ids=["too many threads", "too many registers", "too many in one quarter", "too much shared memory", "no threads"],
)
def test_a_block_that_fits_nowhere_has_no_occupancy(registers, threads, shared_bytes):
    assert occupancy(HOPPER, registers, threads, shared_bytes) == 0.0


def test_a_thread_more_than_a_warp_costs_a_whole_warp():
    assert resident_blocks(HOPPER, 32, 33, 0) == 32
    assert occupancy(HOPPER, 32, 33, 0) == 1.0
    assert occupancy(HOPPER, 32, 32, 0) == 0.5


def test_a_register_more_than_a_unit_costs_a_whole_unit():
    assert occupancy(HOPPER, 32, 256, 0) == 1.0
    assert occupancy(HOPPER, 33, 256, 0) == occupancy(HOPPER, 40, 256, 0) == 0.75


def test_all_the_shared_memory_that_a_block_may_have_leaves_the_sm_to_it():
    assert resident_blocks(HOPPER, 32, 128, 227 * 1024) == 1


def test_the_kilobyte_of_the_driver_can_cost_a_block():
    half = HOPPER.shared_bytes // 2
    assert resident_blocks(HOPPER, 32, 128, half) == 1
    assert resident_blocks(HOPPER, 32, 128, half - 1024) == 2


def test_small_blocks_are_limited_by_their_number():
    assert resident_blocks(LIMITS["86"], 16, 32, 0) == 16
    assert resident_blocks(LIMITS["89"], 16, 32, 0) == 24


def test_an_architecture_goes_by_its_number_whatever_letter_follows():
    assert limits_of("sm_90a") is limits_of("sm_90") is HOPPER
    assert limits_of("sm_100a") is limits_of("sm_100f") is LIMITS["100"]
    assert limits_of("sm_70") is None


@pytest.fixture(scope="module")
def calculator(tmp_path_factory):
    """The calculator of NVIDIA's header, which Triton's wheel contains, compiled as a library."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    triton = Path(importlib.util.find_spec("triton").origin).parent
    folder = tmp_path_factory.mktemp("occupancy")
    (folder / "calculator.c").write_text(CALCULATOR)
    include = f"-I{triton / 'backends' / 'nvidia' / 'include'}"
    command = ["cc", "-O1", "-w", "-shared", "-fPIC", include, "calculator.c", "-o", "calculator.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "calculator.so")).blocks


@pytest.mark.torch
@pytest.mark.parametrize("number", LIMITS)
def test_nvidia_s_own_calculator_agrees(calculator, number):
    limits, capability = LIMITS[number], divmod(int(number), 10)
    shared = [(0, 0), (16, 0), (4096, 30000), (0, 64 << 10), (128, 96 << 10), (0, 113 << 10), (0, 227 << 10)]
    for registers, threads, (fixed, dynamic) in product(range(1, 256, 3), range(1, 1025, 37), shared):
        theirs = calculator(*capability, limits.warps, limits.shared_bytes, registers, threads, fixed, dynamic)
        assert resident_blocks(limits, registers, threads, fixed + dynamic) == theirs, (registers, threads, dynamic)
