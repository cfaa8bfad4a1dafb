"""The workspace of a job: which fork server it gets, and when that one starts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sitegen.measure import workspace


class Forks:
    """Stands for a fork server, and writes down what happens to it."""

    events: list[str]
    started: threading.Event

    def __init__(self, folder: Path, environment: dict[str, str], modules: tuple[str, ...] = ()) -> None:
        self.kind = "interpreter" if environment["TRITON_INTERPRET"] == "1" else "compiler"
        self.events.append(f"start {self.kind}{' ahead' * bool(modules)}")
        self.started.set()

    def end(self) -> None:
        self.events.append(f"end {self.kind}")


@pytest.mark.parametrize(
    ("device_file", "memory_bytes", "events"),
    [
        (True, 0, ["start compiler ahead", "answer", "end compiler", "start interpreter", "end interpreter"]),
        (False, 1 << 30, ["answer", "start compiler ahead", "end compiler"]),
        (True, 1 << 30, ["start compiler ahead", "answer", "end compiler"]),
        (False, 0, ["answer", "start interpreter", "end interpreter"]),
    ],
)
def test_the_fork_server_imports_while_the_driver_is_asked_where_there_may_be_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device_file: bool, memory_bytes: int, events: list[str]
) -> None:
    (tmp_path / "device").touch()
    seen = Forks.events = list[str]()
    Forks.started = threading.Event()

    def answer() -> int:
        assert not device_file or Forks.started.wait(5), "it does not start before the answer"
        seen.append("answer")
        return memory_bytes

    monkeypatch.setattr(workspace, "ForkServer", Forks)
    monkeypatch.setattr(workspace, "gpu_memory_bytes", answer)
    monkeypatch.setattr(workspace, "_DEVICE_FILES", (str(tmp_path / ("device" if device_file else "missing")),))
    with workspace.open_workspace(tmp_path, tmp_path / "job.json") as opened:
        assert (opened.gpu, opened.memory_bytes) == (memory_bytes > 0, memory_bytes)
    assert seen == events
