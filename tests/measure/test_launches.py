"""The kernels of a captured call keep their own names, resources and shapes; no GPU is asked."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")
pytest.importorskip("cuda.bindings")

from cuda.bindings import driver

from sitegen.measure import launches
from sitegen.measure.artefacts import Disassembly, KernelResources
from sitegen.measure.collect import described
from sitegen.measure.kernel_times import CALLS, kernel_times, times_in_trace
from sitegen.measure.launches import CapturedCall
from sitegen.model.record import Compilation

pytestmark = pytest.mark.torch

KERNELS = {
    11: ("_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi", 1, 128, (16, 0, 0)),
    22: ("_Z9gradientsILi2EEvPKf", 132, 512, (120, 8, 1536)),
    33: ("_Z12add_partialsPfi", 512, 384, (28, 0, 0)),
}
"""Name, blocks, threads, and registers, local and static shared memory of kernels, by the number of their function."""
ATTRIBUTES = ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES")


def params_of(function: int):
    """Return the parameters of a kernel node in a structure of their own, as the driver returns them."""
    made = driver.CUDA_KERNEL_NODE_PARAMS()
    made.func = driver.CUfunction(function)
    made.gridDimX, made.gridDimY, made.gridDimZ = KERNELS[function][1], 1, 1
    made.blockDimX, made.blockDimY, made.blockDimZ = KERNELS[function][2], 1, 1
    return made


@pytest.fixture
def captured(monkeypatch):
    """Return a function `captured(*functions, others=0)`: a call with these kernels, and other nodes."""

    def made(*functions: int, others: int = 0) -> CapturedCall | None:
        monkeypatch.setattr(launches, "_nodes", lambda handle: ([*functions, *range(others)], list(functions)))
        monkeypatch.setattr(launches, "_params", params_of)
        monkeypatch.setattr(launches, "_cluster", lambda node: (1, 1, 1))
        monkeypatch.setattr(launches, "_name", lambda function: KERNELS[int(function)][0])
        values = {(f, name): used for f, row in KERNELS.items() for name, used in zip(ATTRIBUTES, row[3], strict=True)}
        monkeypatch.setattr(launches, "attribute_of", lambda function, name: values[int(function), name])
        return launches._captured(0)

    return made


def test_a_function_outlives_the_parameters_of_its_node():
    functions = [launches._function(params_of(number)) for number in KERNELS]
    assert [int(one) for one in functions] == list(KERNELS)


def test_each_kernel_of_a_call_keeps_its_own_name_and_resources(captured):
    call = captured(11, 22, 33)
    assert call.names == tuple(row[0] for row in KERNELS.values())
    assert [one.resources for one in call.kernels] == [KernelResources(*row[3]) for row in KERNELS.values()]


def test_the_cluster_of_a_node_is_read_before_its_memory_is_given_back(monkeypatch):
    alive = []

    class Value:
        """The value of an attribute, whose memory is gone when nothing refers to it."""

        @property
        def clusterDim(self):
            return View(self)

        def __init__(self):
            alive.append(True)

        def __del__(self):
            alive.pop()

    class View:
        """A view that does not keep its value alive, as those of cuda.bindings."""

        def __init__(self, value):
            assert value

        x = property(lambda self: 2 if alive else 99)
        y = z = property(lambda self: 1)

    monkeypatch.setattr(driver, "cuGraphKernelNodeGetAttribute", lambda node, attribute: (0, Value()))
    assert launches._cluster(None) == (2, 1, 1)


def test_a_call_that_only_copies_launches_no_kernel(captured):
    assert captured(others=2) is None


def test_one_kernel_launched_twice_has_one_name_and_two_launches(captured):
    call = captured(22, 33, 22)
    assert (len(call.names), len(call.kernels), call.launches) == (2, 3, 3)


def test_a_memset_counts_as_a_launch_and_is_not_the_kernel_of_the_record(captured):
    made = described(captured(22, others=1), (), None, "sm_90a").launch
    assert (made.kernel, made.grid, made.block, made.launches) == ("gradients", (132, 1, 1), (512, 1, 1), 2)


def test_a_record_describes_the_kernel_in_which_the_time_is_spent(captured):
    ours = {KERNELS[f][0]: KernelResources(*KERNELS[f][3]) for f in (22, 33)}
    listing = Disassembly(Compilation("sm_90a", 120, 8, 1536, "hash"), {}, ours, dict.fromkeys(ours, 100))
    made = described(captured(11, 22, 33), (2.0, 190.0, 8.0), listing, "sm_90a")
    assert (made.launch.kernel, made.launch.kernel_share, made.launch.launches) == ("gradients", 0.95, 3)
    assert (made.launch.grid, made.launch.occupancy) == ((132, 1, 1), 0.25)
    assert (made.compilation.registers, made.compilation.spill_bytes) == (120, 8)
    made = described(captured(11, 22, 33), (2.0, 8.0, 190.0), listing, "sm_90a")
    assert (made.launch.kernel, made.compilation.registers, made.launch.occupancy) == ("add_partials", 28, 0.9375)


def test_a_baseline_has_a_launch_and_no_compiled_code(captured):
    made = described(captured(11, 33), (2.0, 8.0), None, "sm_90a")
    assert made.compilation is None
    assert (made.launch.kernel, made.launch.occupancy) == ("add_partials", 0.9375)


def test_what_failed_after_the_capture_leaves_the_launch(captured):
    made = described(captured(22), (), None, "sm_90a", "OSError: no space left")
    assert (made.launch.kernel, made.missing) == ("gradients", "OSError: no space left")


def traced(*rows: tuple[int, float], calls: int = CALLS):
    """Return a trace of calls that launch these kernels for so many µs; every call after the first takes 1 µs more."""
    events = [
        {
            "cat": "kernel",
            "ts": 1000.0 * call + 10 * at,
            "dur": us + call,
            "args": {"grid": [KERNELS[f][1], 1, 1], "block": [KERNELS[f][2], 1, 1]},
        }
        for call in range(calls)
        for at, (f, us) in enumerate(rows)
    ]
    memset = {"cat": "gpu_memset", "ts": 0.0, "dur": 500.0, "args": {}}
    return {"traceEvents": [{"ph": "M", "name": "process_name"}, memset, *reversed(events)]}


def test_a_trace_of_other_kernels_tells_no_time(captured):
    call = captured(22, 33)
    assert times_in_trace(traced((33, 8.0), (22, 190.0)), call.kernels) == ()
    assert times_in_trace(traced((22, 190.0)), call.kernels) == ()
    assert times_in_trace(traced((22, 190.0), (33, 8.0), calls=2), call.kernels) == ()


def test_a_trace_tells_the_shortest_time_of_each_launch(captured):
    assert times_in_trace(traced((22, 190.0), (33, 8.0)), captured(22, 33).kernels) == (190.0, 8.0)


def test_a_profiler_that_fails_costs_no_record(captured, monkeypatch):
    def fail(**_):
        raise RuntimeError("CUPTI is not there")

    monkeypatch.setattr("torch.profiler.profile", fail)
    assert kernel_times(lambda: None, captured(22, 33).kernels) == ()


def test_a_call_with_one_kernel_is_not_profiled(captured, monkeypatch):
    monkeypatch.setattr("torch.profiler.profile", None)
    monkeypatch.setattr("sitegen.measure.kernel_times._trace", lambda call: SimpleNamespace().unexpected)
    assert kernel_times(lambda: None, captured(22, others=1).kernels) == ()
