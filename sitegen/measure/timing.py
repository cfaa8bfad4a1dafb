"""In the child: one turn of a round → samples in microseconds of device time, cold cache, launches hidden.

Inputs and outputs rotate over as many sets as the parent says, so that a set is cold when it comes again.
A plain turn warms up, queues everything behind a spin, and puts events around each call.  Where calls are short (the
parent decides, for everybody in a job alike) each sample is the replay of a CUDA graph that holds many calls.
A burst turn times calls right after idleness, a sustained turn after a stretch of the same calls without a gap.
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

from sitegen.measure.call import Subject
from sitegen.measure.clock import NoPowerMeter, PowerMeter, SmClock
from sitegen.measure.correctness import Bench, wait
from sitegen.measure.geometry import names_of
from sitegen.measure.inputs import generator, in_order, output_dtypes, output_shapes
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import Kind, TurnResult
from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Status

GRAPH_CALLS, GRAPH_US = 200, 4000.0
"""A graph holds so many calls, or as many as take so long: 200 calls of 20 µs."""
LAUNCH_BOUND_SHARE = 0.10
BURST_CALLS, IDLE_S, SUSTAINED_S = 12, 0.2, 0.3
"""A burst turn is two bursts of at most so many calls, each after so much idleness."""
FIRST_SEED = 1000
"""Of the sets' inputs: other data than any that correctness saw."""
_SPIN_HZ = 2.0e9
"""About the SM clock: torch.cuda._sleep counts its cycles."""
_LONGEST_SPIN_S = 0.05
_EVENTS_S, _SPARE = 1e-5, 1.25
"""Host time of two events; how much longer than launching everything took last time a spin is."""
_WARM_CALLS, _WARM_S = 3, 0.003
"""At the beginning of a plain turn."""
_SLOW_US = 20_000.0
"""A call so long warms up by itself, once."""
_FIRST_WARM_S, _FIRST_SAMPLES = 0.03, 20
"""Before the first estimate, and for it."""
_WIPED_BYTES_PER_S = 2e11
_AHEAD_US = 20_000.0
"""How much work is queued ahead of the GPU in a sustained stretch."""


@dataclass(frozen=True, slots=True)
class Set:
    inputs: list[Any]
    outs: list[Any]


@dataclass(slots=True)
class Stopwatch:
    """Times `call` on one rotating set after another.  `resident`: its sets stay in memory between turns."""

    call: Callable[[Set], Any]
    make: Callable[[int], Set]
    """The set of that number, always with the same values."""
    count: int
    resident: bool
    clock: SmClock | None
    power: PowerMeter | NoPowerMeter
    sets: list[Set] = field(default_factory=list)
    made: deque[Any] = field(default_factory=deque)
    """What calls without `out` made for the last sets: kept, so that each gets other memory, as cold as ours."""
    at: int = 0
    """The set that comes next; kept across turns, so that a turn never begins with a warm set."""
    host_s: float = 0.0
    """Host time of one call, for the length of the first spin."""
    queued_s: float = 0.0
    """Host time of one sample of the last batch, for the length of the next spin."""
    ran_dry: bool = False
    """Whether the last spin ended before all was queued: then samples may hold the host's time."""
    estimate_us: float = 0.0
    graph: Any = None
    graph_calls: int = 0
    launch_bound: bool = False

    def prepare(self) -> float:
        """Sets and warm-up.  Returns a first estimate in µs, by events."""
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
        """As another process of the same code was prepared, without timing anything; 0 calls: no graph.

        Raises Ended where what was captured into a graph there cannot be here.
        """
        self.estimate_us = estimate_us
        if not self.resident:
            return
        self._make_sets()
        self._warm_up()
        if graph_calls and not self._capture(graph_calls):
            raise Ended(Status.RUNTIME_ERROR, "its calls could be captured into a graph in one process only")

    def use_graph(self) -> bool:
        """From now on samples are replays of a graph; False where the calls cannot be captured."""
        if not self.resident or not self._capture(self._calls_in_graph()):
            return False
        graph_us = median(self._replayed(_FIRST_SAMPLES))
        self.launch_bound = abs(self.estimate_us / graph_us - 1) > LAUNCH_BOUND_SHARE
        self.estimate_us = graph_us
        return True

    def turn(self, kind: Kind, samples: int) -> TurnResult:
        start = time.perf_counter()
        self._make_sets()
        take = {Kind.PLAIN: self._plain, Kind.BURST: self._bursts, Kind.SUSTAINED: self._sustained}[kind]
        us, clocks, idle_s = take(samples)
        known, seen = [mhz for mhz in clocks if mhz], self.power.take()
        return TurnResult(
            us=tuple(us),
            busy_s=time.perf_counter() - start - idle_s,
            clock_mhz=fmean(known) if known else None,
            power_w=seen.power_w,
            throttle=seen.throttle,
        )

    def last_set(self) -> Set:
        """The one that the last timed call used."""
        return self.sets[(self.at - 1) % len(self.sets)]

    def finish_turn(self) -> None:
        self._drop_sets()

    def warm(self, seconds: float) -> None:
        """Calls for a while, so that the GPU's clock is up before the first round."""
        self._make_sets()
        self._warm_up(seconds)
        self._drop_sets()

    def step(self) -> None:
        """One call on the next set."""
        current = self.sets[self.at]
        self.at = (self.at + 1) % len(self.sets)
        self.made.append(self.call(current))

    def _timed_step(self) -> None:
        """Also measures the host's time of a call."""
        before = time.perf_counter()
        self.step()
        self.host_s = time.perf_counter() - before

    def _plain(self, samples: int) -> tuple[list[float], Sequence[float | None], float]:
        """Microseconds of each sample, the clock during them, and seconds of idleness; so do the two below.

        Launches are slow in a process's first turn: on an H200, calls of a Triton kernel took a tenth to a fifth longer
        in half of them, until such a batch was taken again.
        """
        self._warm_up()
        take = self._replayed if self.graph else partial(self._timed, self.step)
        us = take(samples)
        if self.ran_dry:
            us = take(samples)
        return us, [self._mhz()], 0.0

    def _bursts(self, samples: int) -> tuple[list[float], Sequence[float | None], float]:
        """Two bursts: before each nothing touches the GPU, not even a question to NVML."""
        self._timed_step()
        wait()
        us, clocks = [], []
        for calls in (samples - samples // 2, samples // 2):
            time.sleep(IDLE_S)
            us += self._timed(self.step, min(BURST_CALLS, calls))
            clocks.append(self._mhz())
        return us, clocks, 2 * IDLE_S

    def _sustained(self, samples: int) -> tuple[list[float], Sequence[float | None], float]:
        """Samples behind a stretch of the same calls that is still running while they are queued."""
        self._run_for(SUSTAINED_S)
        us = self._timed(self.step, samples, spin=False)
        return us, [self._mhz()], 0.0

    def _run_for(self, seconds: float) -> None:
        """Keeps the GPU at work for so long, always a little ahead of it, and returns before the last is done."""
        calls = max(1, math.ceil(_AHEAD_US / self.estimate_us))
        until, queued = time.perf_counter() + seconds, None
        while time.perf_counter() < until:
            for _ in range(calls):
                self.step()
            before, queued = queued, torch.cuda.Event()
            queued.record()
            if before is not None:
                wait(event=before)

    def _make_sets(self) -> None:
        if not self.sets:
            self.sets = [self.make(index) for index in range(self.count)]
            self.made = deque(maxlen=self.count)

    def _drop_sets(self) -> None:
        if not self.resident:
            self.sets = []
            self.made.clear()
            give_back_memory()

    def _warm_up(self, seconds: float = _WARM_S) -> None:
        start = time.perf_counter()
        while True:
            for _ in range(_WARM_CALLS if self.estimate_us < _SLOW_US else 1):
                self._timed_step()
            wait()
            if time.perf_counter() - start >= seconds:
                return

    def _timed(self, call: Callable[[], None], samples: int, spin: bool = True) -> list[float]:
        """Device time of each call: events around it, everything queued behind a spin, or behind what runs already."""
        starts, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(samples)] for _ in range(2))
        spun = self._spun(samples) if spin else None
        if self.clock:
            self.clock.start()
        began = time.perf_counter()
        for start, end in zip(starts, ends, strict=True):
            start.record()
            call()
            end.record()
        self.ran_dry = spun is not None and bool(spun.query())
        self.queued_s = (time.perf_counter() - began) / samples
        if self.clock:
            self.clock.stop()
        self.power.sample()
        wait(self.power.poll)
        return [start.elapsed_time(end) * 1000.0 for start, end in zip(starts, ends, strict=True)]

    def _spun(self, samples: int) -> Any:
        """The end of a spin that lasts a little longer than it takes to queue so many samples."""
        each_s, spun = self.queued_s or self.host_s + _EVENTS_S, torch.cuda.Event()
        torch.cuda._sleep(int(min(_LONGEST_SPIN_S, 1e-4 + _SPARE * samples * each_s) * _SPIN_HZ))
        spun.record()
        return spun

    def _mhz(self) -> float | None:
        return self.clock.mhz() if self.clock else None

    def _replayed(self, samples: int) -> list[float]:
        """As above with a graph's replay as the call, per call in it."""
        return [us / self.graph_calls for us in self._timed(self.graph.replay, samples)]

    def _calls_in_graph(self) -> int:
        """Each set as often as the others."""
        enough = min(GRAPH_CALLS, math.ceil(GRAPH_US / self.estimate_us))
        return math.ceil(enough / len(self.sets)) * len(self.sets)

    def _capture(self, calls: int) -> bool:
        """Records a graph of so many calls; False where that fails."""
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
    """To the driver, and waits: for a millisecond after gigabytes are freed the calls of every process are slower by a
    tenth (seen on an H200; as if the GPU wiped them)."""
    reserved = torch.cuda.memory_reserved()
    torch.cuda.empty_cache()
    time.sleep((reserved - torch.cuda.memory_reserved()) / _WIPED_BYTES_PER_S)


def make_set(bench: Bench, subject: Subject, dims: Mapping[str, int], index: int) -> Set:
    made = bench.reference.make_inputs(
        dims, getattr(torch, bench.dtype), generator(bench.device, FIRST_SEED + index), bench.device
    )
    inputs = list(in_order(bench.kernel, made))
    if not subject.takes_out:
        return Set(inputs, [])
    shapes = output_shapes(bench.kernel, names_of(dims, bench.params, DTYPES[bench.dtype].itemsize))
    dtypes = output_dtypes(bench.kernel, bench.dtype)
    return Set(inputs, [torch.empty(s, dtype=d, device=bench.device) for s, d in zip(shapes, dtypes, strict=True)])
