"""Which of the kernels of a call a record describes, by time and by work, and what it says of it."""

from __future__ import annotations

import pytest

from sitegen.measure.artefacts import Disassembly, KernelResources
from sitegen.measure.geometry import Geometry
from sitegen.measure.longest_kernel import (
    LaunchedKernel,
    compilation_of,
    launch_record,
    longest_kernel,
    written_name,
)
from sitegen.measure.occupancy import limits_of
from sitegen.model.record import Compilation

LIMITS = limits_of("sm_90a")
MAIN, FINISH = "_Z9gradientsILi2EEvPKf", "_Z12add_partialsPfi"
OURS = {MAIN: KernelResources(168, 16, 1536), FINISH: KernelResources(28, 0, 0)}


def launched(name: str, blocks: int, threads: int = 256, shared: int = 0, used=None) -> LaunchedKernel:
    return LaunchedKernel(name, Geometry((blocks, 1, 1), (threads, 1, 1), (1, 1, 1), shared), used)


def listing(resources=OURS, lengths=None) -> Disassembly:
    everything = Compilation("sm_90a", 168, 16, 1536, "hash", {"LDG.128": 4})
    return Disassembly(everything, {}, resources, lengths or {MAIN: 900, FINISH: 60})


PERSISTENT = (launched(MAIN, 132, 512, 131072), launched(FINISH, 512, 384))
"""A call whose helper has three times the threads of the kernel that does the work."""


def test_a_helper_with_more_threads_is_not_the_longest_by_time():
    found = longest_kernel(PERSISTENT, (190.0, 6.0), {})
    assert (found.launch, found.share) == (PERSISTENT[0], pytest.approx(190 / 196))


def test_without_times_threads_and_instructions_decide():
    assert longest_kernel(PERSISTENT, (), {MAIN: 900, FINISH: 60}).launch.name == MAIN
    assert longest_kernel(PERSISTENT, (), {MAIN: 90, FINISH: 60}).launch.name == FINISH
    assert longest_kernel(PERSISTENT, (), {MAIN: 900, FINISH: 60}).share is None


def test_a_fill_of_torch_before_the_kernel_is_not_the_longest():
    fill = launched("_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi", 1, 128)
    found = longest_kernel((fill, launched("count_tiles", 528)), (), {"count_tiles": 400})
    assert found.launch.name == "count_tiles"


def test_a_kernel_counts_with_all_its_launches_and_shows_its_longest():
    short, long, other = launched("pass", 8), launched("pass", 64), launched("merge", 16)
    found = longest_kernel((short, other, long), (30.0, 50.0, 40.0), {})
    assert (found.launch, found.share) == (long, pytest.approx(70 / 120))


def test_of_equal_kernels_the_first_is_shown():
    assert longest_kernel((launched("one", 8), launched("two", 8)), (5.0, 5.0), {}).launch.name == "one"


def test_a_record_has_shape_occupancy_and_name_of_the_longest():
    made = launch_record(longest_kernel(PERSISTENT, (190.0, 6.0), {}), 3, LIMITS, listing())
    assert (made.grid, made.block, made.shared_bytes, made.launches) == ((132, 1, 1), (512, 1, 1), 131072, 3)
    assert (made.kernel, made.kernel_share) == ("gradients", pytest.approx(190 / 196))
    assert made.occupancy == 0, "512 threads of 168 registers do not fit on an SM"


def test_its_registers_are_not_the_most_and_its_spills_not_the_sum_of_all_kernels():
    made = compilation_of(longest_kernel(PERSISTENT, (6.0, 190.0), {}), listing())
    assert (made.registers, made.spill_bytes, made.shared_bytes) == (28, 0, 0)
    made = compilation_of(longest_kernel(PERSISTENT, (190.0, 6.0), {}), listing())
    assert (made.registers, made.spill_bytes, made.shared_bytes) == (168, 16, 1536 + 131072)
    assert (made.sass_hash, made.instructions) == ("hash", {"LDG.128": 4}), "the listing has all kernels"


def test_of_a_kernel_that_is_not_ours_the_driver_knows_the_resources():
    product = launched("sm90_xmma_gemm", 132, 384, 200000, KernelResources(168, 0, 0))
    made = compilation_of(longest_kernel((product, launched(FINISH, 8)), (90.0, 9.0), {}), listing())
    assert (made.registers, made.shared_bytes) == (168, 200000)


def test_of_two_kernels_with_one_name_the_driver_knows_the_resources_of_each():
    ambiguous = listing(resources={}, lengths={"pass": 100})
    pair = (launched("pass", 8, used=KernelResources(32, 0, 0)), launched("pass", 64, used=KernelResources(64, 8, 0)))
    made = compilation_of(longest_kernel(pair, (1.0, 9.0), {}), ambiguous)
    assert (made.registers, made.spill_bytes) == (64, 8)


def test_a_kernel_of_which_nothing_is_known_leaves_the_most_of_all():
    unknown = longest_kernel((launched("", 8),), (), {})
    assert compilation_of(unknown, listing()) == listing().compilation
    made = launch_record(unknown, 1, LIMITS, listing())
    assert (made.kernel, made.occupancy) == ("", None)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("_Z999", "_Z999"),
        ("", ""),
        ("count_tiles", "count_tiles"),
        ("_Z9gradientsILi2EEvPKf", "gradients"),
        ("_ZL6helperv", "helper"),
        ("_ZN12_GLOBAL__N_13addEPKf", "add"),
        ("_ZN3cub6detail9histogram26DeviceHistogramSweepKernelINS2_10policy_hubEEEvv", "DeviceHistogramSweepKernel"),
        ("k" * 300, "k" * 100),
    ],
)
def test_a_record_has_the_name_that_the_author_wrote(name, written):
    assert written_name(name) == written
