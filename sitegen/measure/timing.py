"""A runnable → samples of one turn, in microseconds of device time per call, with cold caches and hidden launches.

Calls rotate over several sets of inputs and outputs, so that a set is cold when it is used again; the parent says how
many.  A plain turn warms up, queues all calls behind a spin, and records events around each call.  Events add
microseconds to a call, so where that matters each sample is the replay of a CUDA graph with many calls; the parent
decides this for the whole job.  A burst
turn times calls right after idleness, and a sustained turn after a stretch of the same calls without a gap.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, median
from typing import Any

import torch

from sitegen.measure.clock import LatePowerMeter, NoPowerMeter, SmClock
from sitegen.measure.correctness import KernelSetup
from sitegen.measure.geometry import names_of
from sitegen.measure.guarded_calls import wait
from sitegen.measure.inputs import generator, in_order, output_dtypes, output_shapes
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.reference_calls import call_reference
from sitegen.measure.rounds import GRAPH_US, TurnKind, TurnResult
from sitegen.measure.runnable import Runnable
from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Status

GRAPH_CALLS = 200
"""The most calls in a graph."""
LAUNCH_BOUND_SHARE = 0.10
"""Share by which times of a call alone and in a graph differ where launches or another way of working explain it."""
BURST_CALLS, IDLE_S, SUSTAINED_S = 12, 0.2, 0.3
"""The most calls of a burst; seconds of idleness before it; seconds of calls before the samples of a sustained turn."""
FIRST_SEED = 1000
"""Seed of the first set's inputs: other data than the checks use."""
_SPIN_HZ = 2.0e9
"""About the SM clock: torch.cuda._sleep counts its cycles."""
_LONGEST_SPIN_S = 0.05
_EVENTS_S, _SPARE = 1e-5, 1.25
"""Host seconds of two events; length of a spin as a multiple of the time that queueing took last time."""
_WARM_CALLS, _WARM_S = 3, 0.003
"""Calls between two looks at the clock, and seconds, of the warm-up of a plain turn."""
_SLOW_US = 20_000.0
"""Device time of a call from which one call is enough to warm up."""
_FIRST_WARM_S, _FIRST_SAMPLES = 0.03, 20
"""Seconds of warm-up before the first estimate, and its samples."""
_WIPED_BYTES_PER_S = 2e11
"""Assumed rate at which the GPU wipes memory that was freed."""
_AHEAD_US = 20_000.0
"""Microseconds of work that are queued ahead of the GPU in a sustained stretch."""


@dataclass(frozen=True, slots=True)
class BufferSet:
    """Inputs and outputs of one call."""

    inputs: list[Any]
    outs: list[Any]


@dataclass(slots=True)
class CallTimer:
    """Times `call` on one rotating set after another."""

    call: Callable[[BufferSet], Any]
    make: Callable[[int], BufferSet]
    """Makes the set of that index, always with the same values."""
    count: int
    """Number of sets."""
    resident: bool
    """True when the sets stay in memory between turns."""
    clock: SmClock | None
    power: LatePowerMeter | NoPowerMeter
    sets: list[BufferSet] = field(default_factory=list)
    returned: deque[Any] = field(default_factory=deque)
    """Outputs that calls without `out` allocated for the last sets.  They are kept, so that each call gets other
    memory, which is as cold as a set."""
    at: int = 0
    """Index of the next set; kept across turns, so that a turn never begins with a warm set."""
    host_s: float = 0.0
    """Host seconds of one call, for the length of the first spin."""
    queued_s: float = 0.0
    """Host seconds of one sample of the last batch, for the length of the next spin."""
    queue_ran_dry: bool = False
    """True when the GPU had nothing to do before some call of the last batch was queued: the samples may then contain
    host time."""
    late: bool = False
    """True when the queue ran dry in a batch whose samples were kept."""
    estimate_us: float = 0.0
    graph: Any = None
    graph_calls: int = 0
    launch_bound: bool = False

    def prepare(self) -> float:
        """Make the sets, warm up, and return an estimate of the device time of a call, in microseconds."""
        self._make_sets()
        self._timed_step()
        wait()
        self.estimate_us = median(self._timed(self.step, 2))
        if self.estimate_us < _SLOW_US:
            self._warm_up(_FIRST_WARM_S)
            self.estimate_us = median(self._timed(self.step, _FIRST_SAMPLES))
        self._drop_sets()
        return self.estimate_us

    def resume(self, estimate_us: float, graph_calls: int) -> None:
        """Make ready with what another process of the same code has learned, without timing; 0 calls mean no graph.

        Raises EvaluationEnded where calls that were captured there cannot be captured here.
        """
        self.estimate_us = estimate_us
        if not self.resident:
            return
        self._make_sets()
        self._warm_up()
        if graph_calls and not self._capture(graph_calls):
            raise EvaluationEnded(
                Status.RUNTIME_ERROR, "its calls could be captured into a CUDA graph in one process only"
            )

    def use_graph(self) -> bool:
        """Make each sample the replay of a graph from now on.

        Return False where the calls cannot be captured, or where the graph does something slower: a captured copy of
        torch becomes a memory copy of the driver, which took 1.58 times as long on an H200 as the kernel that the
        driver launches for the same copy outside of a graph.
        """
        if not self.resident or not self._capture(self._calls_in_graph()):
            return False
        graph_us = median(self._replayed(_FIRST_SAMPLES))
        if graph_us > (1 + LAUNCH_BOUND_SHARE) * self.estimate_us:
            self.graph, self.graph_calls = None, 0
            return False
        self.launch_bound = self.estimate_us > (1 + LAUNCH_BOUND_SHARE) * graph_us
        self.estimate_us = graph_us
        return True

    def turn(self, kind: TurnKind, samples: int) -> TurnResult:
        """Take one turn."""
        start = time.perf_counter()
        self._make_sets()
        self.late = False
        take = {TurnKind.PLAIN: self._plain, TurnKind.BURST: self._bursts, TurnKind.SUSTAINED: self._sustained}[kind]
        us, clocks, idle_s = take(samples)
        known = [mhz for mhz in clocks if mhz]
        clock_mhz = fmean(known) if known else None
        reading = self.power.take(clock_mhz)
        return TurnResult(
            us=tuple(us),
            busy_s=time.perf_counter() - start - idle_s,
            clock_mhz=clock_mhz,
            power_w=reading.power_w,
            throttle=reading.throttle,
            late=self.late,
        )

    def last_set(self) -> BufferSet:
        """Return the set that the last timed call used."""
        return self.sets[(self.at - 1) % len(self.sets)]

    def repeat_last(self) -> None:
        """Make the last timed call again in the way it was timed, untimed: a replay of the graph makes all calls."""
        if self.graph:
            self.graph.replay()
            return
        self.at = (self.at - 1) % len(self.sets)
        self.step()

    def finish_turn(self) -> None:
        """Drop the sets, unless they stay in memory between turns."""
        self._drop_sets()

    def warm(self, seconds: float) -> None:
        """Call for so many seconds, so that the clock of the GPU is up before the first round."""
        self._make_sets()
        self._warm_up(seconds)
        self._drop_sets()

    def step(self) -> None:
        """Call once, on the next set."""
        current = self.sets[self.at]
        self.at = (self.at + 1) % len(self.sets)
        self.returned.append(self.call(current))

    def _timed_step(self) -> None:
        """Call once, and measure the host time of the call."""
        before = time.perf_counter()
        self.step()
        self.host_s = time.perf_counter() - before

    def _plain(self, samples: int) -> tuple[list[float], Sequence[float | None], float]:
        """Return the microseconds of each sample, the SM clock during them, and seconds of idleness.

        Launches are slow in the first turn of a process, so the spin may end too early.  The batch is then taken again:
        on an H200, calls of a Triton kernel took 10 to 20 % longer in half of the first turns without this.  When the
        queue runs dry again, the turn is marked as late.
        """
        self._warm_up()
        take = self._replayed if self.graph else partial(self._timed, self.step)
        us = take(samples)
        if self.queue_ran_dry:
            us = take(samples)
        self.late = self.queue_ran_dry
        return us, [self._mhz()], 0.0

    def _bursts(self, samples: int) -> tuple[list[float], Sequence[float | None], float]:
        """Return the same for two bursts.  Before each burst nothing touches the GPU, not even a query of NVML."""
        self._timed_step()
        wait()
        us, clocks = [], []
        for calls in (samples - samples // 2, samples // 2):
            time.sleep(IDLE_S)
            us += self._timed(self.step, min(BURST_CALLS, calls))
            self.late |= self.queue_ran_dry
            clocks.append(self._mhz())
        return us, clocks, 2 * IDLE_S

    def _sustained(self, samples: int) -> tuple[list[float], Sequence[float | None], float]:
        """Return the same for samples behind a stretch of calls that still runs while the samples are queued."""
        us = self._timed(self.step, samples, behind=self._run_for(SUSTAINED_S))
        self.late = self.queue_ran_dry
        return us, [self._mhz()], 0.0

    def _run_for(self, seconds: float) -> Any:
        """Keep the GPU busy for so long; return while the last calls still run, with the event at their end."""
        self.power.start()
        calls = max(1, math.ceil(_AHEAD_US / self.estimate_us))
        until, queued = time.perf_counter() + seconds, None
        while time.perf_counter() < until:
            for _ in range(calls):
                self.step()
            before, queued = queued, torch.cuda.Event()
            queued.record()
            if before is not None:
                wait(event=before)
        return queued

    def _make_sets(self) -> None:
        if not self.sets:
            self.sets = [self.make(index) for index in range(self.count)]
            self.returned = deque(maxlen=self.count)

    def _drop_sets(self) -> None:
        if not self.resident:
            self.sets = []
            self.returned.clear()
            give_back_memory()

    def _warm_up(self, seconds: float = _WARM_S) -> None:
        start = time.perf_counter()
        while True:
            for _ in range(_WARM_CALLS if self.estimate_us < _SLOW_US else 1):
                self._timed_step()
            wait()
            if time.perf_counter() - start >= seconds:
                return

    def _timed(self, call: Callable[[], None], samples: int, behind: Any = None) -> list[float]:
        """Return the device time of each call in microseconds, by events around it.

        All calls are queued behind the event of calls that run already, or without one behind a spin.  Power is read
        while the calls run, and never while the GPU spins.
        """
        starts, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(samples)] for _ in range(2))
        ahead = behind or self._spun(samples)
        if self.clock:
            self.clock.start()
        began = time.perf_counter()
        self.queue_ran_dry = False
        for start, end in zip(starts, ends, strict=True):
            self.queue_ran_dry |= bool(ahead.query())
            start.record()
            call()
            end.record()
            ahead = end
        self.queued_s = (time.perf_counter() - began) / samples
        if self.clock:
            self.clock.stop()
        if behind is None:
            self.power.start()
        wait(self.power.poll)
        return [start.elapsed_time(end) * 1000.0 for start, end in zip(starts, ends, strict=True)]

    def _spun(self, samples: int) -> Any:
        """Queue a spin that lasts a little longer than queueing so many samples; return the event at its end."""
        each_s, spun = self.queued_s or self.host_s + _EVENTS_S, torch.cuda.Event()
        torch.cuda._sleep(int(min(_LONGEST_SPIN_S, 1e-4 + _SPARE * samples * each_s) * _SPIN_HZ))
        spun.record()
        return spun

    def _mhz(self) -> float | None:
        return self.clock.mhz() if self.clock else None

    def _replayed(self, samples: int) -> list[float]:
        """Return the device time per call of so many replays of the graph, in microseconds."""
        return [us / self.graph_calls for us in self._timed(self.graph.replay, samples)]

    def _calls_in_graph(self) -> int:
        """Return how many calls a graph has: each set is used equally often."""
        enough = min(GRAPH_CALLS, math.ceil(GRAPH_US / self.estimate_us))
        return math.ceil(enough / len(self.sets)) * len(self.sets)

    def _capture(self, calls: int) -> bool:
        """Capture so many calls into a graph; return False where that fails."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                for _ in range(calls):
                    self.step()
            graph.replay()
            wait()
        except Exception:
            return False
        self.graph, self.graph_calls = graph, calls
        return True


def give_back_memory() -> None:
    """Give free memory back to the driver, and wait until the GPU is quiet again.

    For about a millisecond after gigabytes are freed the calls of every process are 10 % slower (seen on an H200, as if
    the GPU wiped the memory).
    """
    reserved = torch.cuda.memory_reserved()
    torch.cuda.empty_cache()
    time.sleep((reserved - torch.cuda.memory_reserved()) / _WIPED_BYTES_PER_S)


def make_set(setup: KernelSetup, runnable: Runnable, dims: Mapping[str, int], index: int) -> BufferSet:
    """Return the set of that index, always with the same values; without outputs where the call allocates them."""
    seeded, dtype = generator(setup.device, FIRST_SEED + index), getattr(torch, setup.dtype)
    tensors = call_reference(setup.kernel, setup.reference, "make_inputs", dims, dtype, seeded, setup.device)
    inputs = list(in_order(setup.kernel, tensors, setup.reference))
    if not runnable.takes_out:
        return BufferSet(inputs, [])
    shapes = output_shapes(setup.kernel, names_of(dims, setup.params, DTYPES[setup.dtype].itemsize))
    dtypes = output_dtypes(setup.kernel, setup.dtype)
    return BufferSet(
        inputs, [torch.empty(s, dtype=d, device=setup.device) for s, d in zip(shapes, dtypes, strict=True)]
    )
