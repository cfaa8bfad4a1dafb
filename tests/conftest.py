"""What every test of the project shares: tests that this machine cannot run are left out, counted, and named."""

import importlib.util
import shutil
from collections import Counter

import pytest

MISSING = pytest.StashKey[Counter[str]]()


def left_out_for_want_of(item: pytest.Item) -> str:
    """What this machine lacks for a test, in the words of the summary; empty when it lacks nothing."""
    if item.get_closest_marker("torch") and not all(map(importlib.util.find_spec, ("torch", "triton", "numpy"))):
        return "torch, Triton and numpy (`pip install torch triton numpy` into .venv)"
    if item.get_closest_marker("gpu") and shutil.which("nvidia-smi") is None:
        return "a GPU"
    return ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = config.stash.setdefault(MISSING, Counter())
    for item in items:
        if wanted := left_out_for_want_of(item):
            missing[wanted] += 1
            item.add_marker(pytest.mark.skip(reason=f"needs {wanted}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for wanted, count in sorted(config.stash.get(MISSING, Counter()).items()):
        terminalreporter.write_line(f"{count} tests left out: they need {wanted}")
