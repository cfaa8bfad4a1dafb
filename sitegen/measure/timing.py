"""In the child: one turn of a round → samples in microseconds of device time, cold cache, launches hidden.

Inputs and outputs rotate over as many sets as the parent says, so that a set is cold when it comes again.
A turn warms up, queues everything behind a spin, and puts events around each call.  Where calls are short (the
parent decides, for everybody in a job alike) each sample is the replay of a CUDA graph that holds many calls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import torch

from sitegen.measure.call import Subject
from sitegen.measure.clock import power_meter, sm_clock
from sitegen.measure.correctness import Bench, wait
from sitegen.measure.inputs import generator, names_of, output_dtypes, output_shapes
from sitegen.model.dtypes import DTYPES

GRAPH_CALLS, GRAPH_US = 200, 4000.0
"""A graph holds so many calls, or as many as take so long: 200 calls of 20 µs."""
LAUNCH_BOUND_SHARE = 0.10
FIRST_SEED = 1000
"""Of the sets' inputs: other data than any that correctness saw."""
_SPIN_HZ = 2.0e9
"""About the SM clock: torch.cuda._sleep counts its cycles."""
_LONGEST_SPIN_S = 0.05
_WARM_CALLS, _WARM_S = 3, 0.003
"""At the beginning of a turn."""
_FIRST_WARM_S = 0.05
"""Before the first estimate: an idle GPU's clock needs so long to rise."""


@dataclass(frozen=True, slots=True)
class Set:
    inputs: list[Any]
    outs: list[Any]


@dataclass(frozen=True, slots=True)
class Turn:
    us: list[float]
    clock_mhz: float | None
    power_w: float | None
    busy_s: float
    """Wall time that the turn kept the GPU for itself."""


@dataclass(slots=True)
class Stopwatch:
    """Times `call` on one rotating set after another.  `resident`: its sets stay in memory between turns."""

    call: Callable[[Set], None]
    make: Callable[[int], Set]
    """The set of that number, always with the same values."""
    count: int
    resident: bool
    sets: list[Set] = field(default_factory=list)
    at: int = 0
    """The set that comes next; kept across turns, so that a turn never begins with a warm set."""
    host_s: float = 0.0
    """Host time of one call, for the length of the spin."""
    estimate_us: float = 0.0
    graph: Any = None
    graph_calls: int = 0
    launch_bound: bool = False
    clock: Any = None
    power: Any = None

    def prepare(self) -> float:
        """Meters, sets and warm-up.  Returns a first estimate in µs, by events."""
        self.clock, self.power = sm_clock(), power_meter()
        self.warm(_FIRST_WARM_S)
        self._make_sets()
        self._warm_up()
        self.estimate_us = median(self._timed(self.step, 20))
        self._drop_sets()
        return self.estimate_us

    def use_graph(self) -> bool:
        """From now on samples are replays of a graph; False where the calls cannot be captured."""
        if not self.resident or not self._capture():
            return False
        graph_us = median(self._replayed(20))
        self.launch_bound = abs(self.estimate_us / graph_us - 1) > LAUNCH_BOUND_SHARE
        self.estimate_us = graph_us
        return True

    def turn(self, samples: int) -> Turn:
        start = time.perf_counter()
        self._make_sets()
        self._warm_up()
        us = self._replayed(samples) if self.graph else self._timed(self.step, samples)
        mhz = self.clock.mhz() if self.clock else None
        return Turn(us, mhz, self.power.take(), time.perf_counter() - start)

    def last_set(self) -> Set:
        """The one that the last timed call used."""
        return self.sets[(self.at - 1) % len(self.sets)]

    def finish_turn(self) -> None:
        self._drop_sets()

    def release(self) -> None:
        """After the last turn: room for the float64 references of the others."""
        self.resident = False
        self._drop_sets()

    def warm(self, seconds: float) -> None:
        """Calls for a while, so that the GPU's clock is up before the first round."""
        self._make_sets()
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            for _ in range(8):
                self.step()
            wait()
        self._drop_sets()

    def step(self) -> None:
        """One call on the next set."""
        current = self.sets[self.at]
        self.at = (self.at + 1) % len(self.sets)
        self.call(current)

    def _make_sets(self) -> None:
        if not self.sets:
            self.sets = [self.make(index) for index in range(self.count)]

    def _drop_sets(self) -> None:
        if not self.resident:
            self.sets = []
            torch.cuda.empty_cache()

    def _warm_up(self) -> None:
        """Also measures the host's time per call."""
        start, calls = time.perf_counter(), 0
        while calls < _WARM_CALLS or time.perf_counter() - start < _WARM_S:
            before = time.perf_counter()
            self.step()
            self.host_s = time.perf_counter() - before
            calls += 1
            if calls % _WARM_CALLS == 0:
                wait()
        wait()

    def _timed(self, call: Callable[[], None], samples: int) -> list[float]:
        """Device time of each call: events around it, everything queued behind a spin."""
        starts, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(samples)] for _ in range(2))
        spin_s = min(_LONGEST_SPIN_S, 1e-4 + 1.5 * samples * (self.host_s + 1e-5))
        torch.cuda._sleep(int(spin_s * _SPIN_HZ))
        if self.clock:
            self.clock.start()
        for start, end in zip(starts, ends, strict=True):
            start.record()
            call()
            end.record()
        if self.clock:
            self.clock.stop()
        wait(self.power.sample)
        return [start.elapsed_time(end) * 1000.0 for start, end in zip(starts, ends, strict=True)]

    def _replayed(self, samples: int) -> list[float]:
        """As above with a graph's replay as the call, per call in it."""
        return [us / self.graph_calls for us in self._timed(self.graph.replay, samples)]

    def _capture(self) -> bool:
        """Records a graph of many calls, each set as often as the others; False where that fails."""
        enough = min(GRAPH_CALLS, math.ceil(GRAPH_US / self.estimate_us))
        calls = math.ceil(enough / len(self.sets)) * len(self.sets)
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


def make_set(bench: Bench, subject: Subject, dims: Mapping[str, int], index: int) -> Set:
    made = bench.reference.make_inputs(
        dims, getattr(torch, bench.dtype), generator(bench.device, FIRST_SEED + index), bench.device
    )
    inputs = [made[tensor.name].contiguous() for tensor in bench.kernel.inputs]
    if not subject.takes_out:
        return Set(inputs, [])
    shapes = output_shapes(bench.kernel, names_of(dims, bench.params, DTYPES[bench.dtype].itemsize))
    dtypes = output_dtypes(bench.kernel, bench.dtype)
    return Set(inputs, [torch.empty(s, dtype=d, device=bench.device) for s, d in zip(shapes, dtypes, strict=True)])
