"""Turns on a fake GPU that counts calls: the calls of a turn, its pauses, and its samples."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from sitegen.measure import clock, timing
from sitegen.measure.clock import SETTLED_S, LatePowerMeter, NoPowerMeter, PowerMeter, throttle_words
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.rounds import TurnKind
from sitegen.measure.timing import GRAPH_CALLS, IDLE_S, SUSTAINED_S, BufferSet, CallTimer

pytestmark = pytest.mark.torch


class Gpu:
    """A fake of torch and of time, in which only calls, replays and sleep take time."""

    def __init__(self, us: float) -> None:
        self.us, self.now_us, self.did, self.captured = us, 0.0, list[str](), 0
        self.graph_us = us
        self.spins = list[int]()
        self.dries = False
        self.dry = list[bool]()
        """For each batch, whether the GPU was idle before a call was queued; False for all further batches."""
        self.cuda = SimpleNamespace(
            Event=lambda enable_timing=False: Event(self, enable_timing),
            _sleep=self.spin,
            empty_cache=lambda: None,
            memory_reserved=lambda: 0,
            CUDAGraph=lambda: SimpleNamespace(replay=self.replay),
            graph=lambda graph, capture_error_mode: Capture(self),
        )

    def spin(self, cycles: int) -> None:
        self.did.append("spin")
        self.spins.append(cycles)

    def call(self, ready: BufferSet) -> None:
        self.did.append("call")
        self.now_us += self.us

    def replay(self) -> None:
        self.now_us += self.graph_us * self.captured

    def sleep(self, seconds: float) -> None:
        self.did.append(f"idle {seconds}")
        self.now_us += seconds * 1e6

    def perf_counter(self) -> float:
        return self.now_us * 1e-6


class Event:
    def __init__(self, gpu: Gpu, timed: bool) -> None:
        self.gpu, self.timed, self.at_us = gpu, timed, 0.0

    def record(self) -> None:
        self.at_us = self.gpu.now_us

    def query(self) -> bool:
        """Return whether the GPU has come to the event; a batch that runs dry does so at its second call."""
        if not self.timed:
            self.gpu.dries = self.gpu.dry.pop(0) if self.gpu.dry else False
            return False
        return self.gpu.dries

    def elapsed_time(self, end: Event) -> float:
        return (end.at_us - self.at_us) / 1000


class Capture:
    def __init__(self, gpu: Gpu) -> None:
        self.gpu, self.before = gpu, len(gpu.did)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self.gpu.captured = len(self.gpu.did) - self.before


class Clock:
    def __init__(self, *mhz: float) -> None:
        self.coming = list(mhz)

    def start(self) -> None:
        return None

    stop = start

    def mhz(self) -> float:
        return self.coming.pop(0)


@pytest.fixture
def timer(monkeypatch):
    """Return a timer of calls that take a time in microseconds; `made.gpu` is the fake GPU."""

    def made(us, sets=3, resident=True, mhz=()):
        made.gpu = gpu = Gpu(us)
        monkeypatch.setattr(timing, "torch", gpu)
        monkeypatch.setattr(timing, "time", gpu)
        return CallTimer(
            gpu.call, lambda n: BufferSet([n], []), sets, resident, Clock(*mhz) if mhz else None, NoPowerMeter()
        )

    return made


def test_a_plain_turn_times_calls_behind_a_spin_at_one_clock(timer):
    watch = timer(100.0, mhz=(1980.0,))
    turn = watch.turn(TurnKind.PLAIN, 20)
    assert turn.us == pytest.approx([100.0] * 20)
    assert timer.gpu.did[-21:] == ["spin", *["call"] * 20]
    assert turn.clock_mhz == 1980.0


def test_a_turn_whose_queue_ran_dry_is_taken_again_and_only_once(timer):
    watch = timer(100.0)
    timer.gpu.dry = [True, True, True]
    turn = watch.turn(TurnKind.PLAIN, 20)
    assert timer.gpu.did[-42:] == ["spin", *["call"] * 20] * 2
    assert (len(turn.us), timer.gpu.did.count("spin")) == (20, 2)


@pytest.mark.parametrize(("dry", "late"), [([], False), ([True, False], False), ([True, True], True)])
def test_a_turn_whose_queue_ran_dry_twice_is_marked_as_late(timer, dry, late):
    watch = timer(100.0)
    timer.gpu.dry = dry
    assert watch.turn(TurnKind.PLAIN, 20).late is late
    assert not watch.turn(TurnKind.PLAIN, 20).late


@pytest.mark.parametrize(("dry", "late"), [([False, False], False), ([True, False], True), ([False, True], True)])
def test_a_burst_turn_is_late_when_either_burst_is(timer, dry, late):
    watch = timer(100.0)
    timer.gpu.dry = dry
    assert watch.turn(TurnKind.BURST, 20).late is late


@pytest.mark.parametrize("dry", [False, True])
def test_a_sustained_turn_is_late_when_the_calls_before_it_ended_too_early(timer, dry):
    watch = timer(1000.0)
    watch.estimate_us = 1000.0
    timer.gpu.dry = [dry]
    assert watch.turn(TurnKind.SUSTAINED, 20).late is dry


def test_power_is_that_of_the_calls_of_a_turn_and_never_of_the_spin_before_them(timer):
    watch = timer(1000.0)
    watch.power = SimpleNamespace(
        start=lambda: timer.gpu.did.append("power"), poll=lambda: None, take=lambda mhz: clock.PowerReading()
    )
    watch.estimate_us = 1000.0
    watch.turn(TurnKind.PLAIN, 20)
    assert timer.gpu.did[-22:] == ["spin", *["call"] * 20, "power"]
    timer.gpu.did.clear()
    watch.turn(TurnKind.SUSTAINED, 20)
    assert timer.gpu.did[0] == "power"
    assert timer.gpu.did.count("power") == 1


def test_a_spin_lasts_a_little_longer_than_the_last_batch_took_to_be_queued(timer):
    watch = timer(100.0)
    watch.turn(TurnKind.PLAIN, 20)
    watch.turn(TurnKind.PLAIN, 20)
    queued_s = 20 * 100e-6
    assert queued_s < timer.gpu.spins[-1] / 2.0e9 < 1.5 * queued_s


def test_a_burst_is_never_taken_again_since_it_begins_with_idleness(timer):
    watch = timer(100.0)
    timer.gpu.dry = [True, True]
    watch.turn(TurnKind.BURST, 20)
    assert timer.gpu.did.count("spin") == 2


def test_a_burst_turn_is_two_bursts_each_right_after_idleness(timer):
    watch = timer(100.0, mhz=(1600.0, 1500.0))
    turn = watch.turn(TurnKind.BURST, 20)
    burst = [f"idle {IDLE_S}", "spin", *["call"] * 10]
    assert timer.gpu.did == ["call", *burst, *burst]
    assert (len(turn.us), turn.clock_mhz) == (20, 1550.0)


def test_idleness_is_no_device_time(timer):
    watch = timer(100.0)
    turn = watch.turn(TurnKind.BURST, 20)
    assert turn.busy_s == pytest.approx(21 * 100e-6)


def test_a_sustained_turn_runs_into_its_samples_without_a_spin(timer):
    watch = timer(1000.0)
    watch.estimate_us = 1000.0
    turn = watch.turn(TurnKind.SUSTAINED, 20)
    assert set(timer.gpu.did) == {"call"}
    assert SUSTAINED_S * 1000 <= len(timer.gpu.did) - len(turn.us) <= SUSTAINED_S * 1000 + 20


def test_a_slow_call_is_not_made_more_often_than_needed(timer):
    watch = timer(100_000.0)
    assert watch.prepare() == pytest.approx(100_000.0)
    assert timer.gpu.did.count("call") == 3
    watch.turn(TurnKind.PLAIN, 2)
    assert timer.gpu.did.count("call") == 3 + 1 + 2


def test_calls_that_a_graph_does_in_a_slower_way_are_timed_by_events(timer):
    for graph_us, used in ((99.0, True), (105.0, True), (115.0, False), (80.0, True)):
        watch = timer(100.0)
        watch.prepare()
        timer.gpu.graph_us = graph_us
        assert watch.use_graph() is used
        assert (watch.graph is not None, bool(watch.graph_calls)) == (used, used)
        assert watch.launch_bound is (graph_us == 80.0)
        assert watch.turn(TurnKind.PLAIN, 10).us == pytest.approx([graph_us if used else 100.0] * 10)


def test_a_second_process_captures_the_same_graph_without_timing(timer):
    first = timer(5.0)
    first.prepare()
    assert first.use_graph()
    assert (first.graph_calls, first.graph_calls % 3, first.launch_bound) == (GRAPH_CALLS + 1, 0, False)
    second = timer(5.0)
    second.resume(first.estimate_us, first.graph_calls)
    assert "spin" not in timer.gpu.did
    assert second.turn(TurnKind.PLAIN, 20).us == pytest.approx([5.0] * 20)


def test_a_second_process_that_cannot_capture_is_out(timer, monkeypatch):
    watch = timer(5.0)
    monkeypatch.setattr(timer.gpu.cuda, "graph", lambda *_, **__: 1 / 0)
    with pytest.raises(EvaluationEnded, match="one process only"):
        watch.resume(5.0, 201)


def test_sets_that_do_not_stay_are_made_for_each_turn_and_kept_for_a_recheck(timer):
    watch = timer(100.0, resident=False)
    watch.resume(100.0, 0)
    assert watch.sets == []
    watch.turn(TurnKind.PLAIN, 20)
    assert watch.last_set() is watch.sets[watch.at - 1]
    watch.finish_turn()
    assert watch.sets == []


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        (0x0, ()),
        (0x1 | 0x2 | 0x100, ()),
        (0x4, ("power cap",)),
        (0x8 | 0x40, ("hardware slowdown", "thermal")),
        (0x20 | 0x40, ("thermal",)),
        (0x1 | 0x80 | 0x4, ("power cap", "power brake")),
    ],
)
def test_idleness_and_settings_throttle_nothing(bits, words):
    assert throttle_words(bits) == words


class Nvml(SimpleNamespace):
    """An NVML that reports a power in mW; the instant value and the newer query can be missing."""

    NVML_FI_DEV_POWER_INSTANT, NVML_SUCCESS, NVML_CLOCK_SM = 186, 0, 1

    def nvmlDeviceGetFieldValues(self, handle, fields):
        return [SimpleNamespace(nvmlReturn=self.instant_error, value=SimpleNamespace(uiVal=400_000))]

    def nvmlDeviceGetMaxClockInfo(self, handle, which):
        return 1980

    def nvmlDeviceGetPowerUsage(self, handle):
        return 300_000

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        return 0x4


@pytest.mark.parametrize(("instant_error", "watts"), [(0, 400.0), (3, 300.0)])
def test_power_is_that_of_the_instant_where_the_gpu_tells(monkeypatch, instant_error, watts):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(instant_error=instant_error))
    meter = PowerMeter("handle")
    meter.sample()
    seen = meter.take()
    assert (seen.power_w, seen.throttle) == (watts, ("power cap",))
    assert meter.take() == clock.PowerReading()


@pytest.mark.parametrize(("devices", "found"), [(1, "handle 0"), (2, None)])
def test_without_its_uuid_the_only_device_is_taken_and_of_several_none(monkeypatch, devices, found):
    class NVMLError(Exception):
        pass

    def unknown(uuid):
        raise NVMLError(uuid)

    nvml = SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=unknown,
        nvmlDeviceGetCount=lambda: devices,
        nvmlDeviceGetHandleByIndex=lambda index: f"handle {index}",
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(clock.torch.cuda, "get_device_properties", lambda _: SimpleNamespace(uuid="0"))
    if found:
        assert clock.nvml_handle() == found
    else:
        assert isinstance(clock.power_meter(), NoPowerMeter)


def test_nvml_is_asked_no_more_often_than_it_has_news(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(instant_error=0))
    now = running_clock(monkeypatch)
    meter = PowerMeter("handle")
    meter.start()
    now[0] = SETTLED_S
    for _ in range(100):
        meter.poll()
    assert len(meter.watts) == 1


def running_clock(monkeypatch) -> list[float]:
    """The only entry is the time that clock.py sees."""
    now = [0.0]
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_calls_that_are_too_short_for_nvml_have_no_power_and_no_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(instant_error=0))
    now = running_clock(monkeypatch)
    meter = PowerMeter("handle")
    for seconds in (0.9 * SETTLED_S, 0.3 * SETTLED_S):
        meter.start()
        now[0] += seconds
        meter.poll()
        assert meter.take() == clock.PowerReading()
        meter.poll()
    meter.start()
    now[0] += 1.1 * SETTLED_S
    meter.poll()
    assert meter.take().power_w == 400.0


@pytest.fixture
def opened(monkeypatch) -> list[PowerMeter]:
    """The meters that a LatePowerMeter has opened."""
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(instant_error=0))
    meters: list[PowerMeter] = []

    def open_one():
        meters.append(PowerMeter("handle"))
        return meters[-1]

    monkeypatch.setattr(clock, "power_meter", open_one)
    return meters


def test_nvml_is_not_opened_for_calls_that_are_too_short_for_it(monkeypatch, opened):
    now, meter = running_clock(monkeypatch), LatePowerMeter()
    for _ in range(3):
        meter.start()
        now[0] += 0.9 * SETTLED_S
        meter.poll()
        assert meter.take() == clock.PowerReading()
        now[0] += 1.0
        meter.poll()
    assert opened == []


def test_calls_that_run_on_after_nvml_was_opened_have_their_power_read(monkeypatch, opened):
    now, meter = running_clock(monkeypatch), LatePowerMeter()
    meter.start()
    now[0] += SETTLED_S
    meter.poll()
    assert len(opened) == 1 and opened[0].watts == []  # the calls may have ended meanwhile
    meter.poll()
    assert meter.take().power_w == 400.0
    meter.start()
    meter.poll()
    assert meter.take() == clock.PowerReading() and len(opened) == 1


def test_nvml_that_was_opened_before_a_turn_is_not_opened_in_it(monkeypatch, opened):
    now, meter = running_clock(monkeypatch), LatePowerMeter()
    assert meter.open() is meter.open()
    meter.start()
    now[0] += SETTLED_S
    meter.poll()
    assert meter.take().power_w == 400.0 and len(opened) == 1


def test_without_nvml_a_turn_has_no_power(monkeypatch):
    monkeypatch.setattr(clock, "power_meter", NoPowerMeter)
    now, meter = running_clock(monkeypatch), LatePowerMeter()
    meter.start()
    now[0] += SETTLED_S
    meter.poll(), meter.poll()
    assert meter.take() == clock.PowerReading()


@pytest.mark.parametrize(("mhz", "reasons"), [(1400.0, ("power cap",)), (1979.0, ()), (None, ("power cap",))])
def test_a_reason_counts_only_when_the_clock_of_the_same_calls_was_low(monkeypatch, mhz, reasons):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(instant_error=0))
    meter = PowerMeter("handle")
    meter.sample()
    assert meter.take(mhz).throttle == reasons


def test_a_question_that_nvml_does_not_answer_costs_nothing_but_the_answer(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", SimpleNamespace())
    meter = PowerMeter("handle")
    meter.sample()
    assert meter.take() == clock.PowerReading()


def test_what_calls_without_out_make_is_kept_as_long_as_a_set_so_that_it_is_as_cold(timer):
    watch = timer(100.0, sets=3)
    watch.call = lambda ready: (timer.gpu.call(ready), object())
    watch.turn(TurnKind.PLAIN, 20)
    assert len({id(made) for made in watch.returned}) == 3


def test_sets_that_do_not_stay_take_what_was_made_with_them(timer):
    watch = timer(100.0, resident=False)
    watch.turn(TurnKind.PLAIN, 20)
    watch.finish_turn()
    assert not watch.returned
