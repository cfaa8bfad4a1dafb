"""Fixtures and options of all tests.  Tests that this machine cannot run are left out, and the summary counts them."""

import datetime as dt
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MISSING = pytest.StashKey[Counter[str]]()
LONGEST = (
    *("kernels/test_kernels", "test_author_machine", "test_cli", "execute/test_ssh", "test_planted_mistakes"),
    *("execute/test_cluster", "pipeline/test_every_field", "execute/test_slurm", "test_author_run"),
    *("pipeline/test_any_edits", "test_killed_run", "attacks/test_stranger", "serve/test_serve", "test_workflows"),
)
"""The files that take longest, in the order in which they begin: begun last, one would keep one core busy alone.

Files that mostly wait stand beside files that compute.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-expected",
        action="store_true",
        help="write what the author sees into tests/sites_invalid/*/expected.txt",
    )


def pytest_configure(config: pytest.Config) -> None:
    own = tempfile.mkdtemp(prefix="sitegen-tests-")
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):  # no test writes into the folders of the person who runs it
        os.environ[variable] = str(Path(own, variable))
    os.environ["OMP_NUM_THREADS"] = "1"  # the tests fill the cores; torch's threads would wait for each other on them
    config.add_cleanup(lambda: shutil.rmtree(own, ignore_errors=True))
    if config.getoption("update_expected") and os.environ.get("CI"):
        raise pytest.UsageError("--update-expected is for a person who reads the diff, not for CI")
    if importlib.util.find_spec("hypothesis"):
        from hypothesis import settings

        settings.register_profile("shared machine", deadline=None)
        settings.register_profile("soak", deadline=None, max_examples=5000)
        if not config.getoption("--hypothesis-profile") and not os.environ.get("CI"):  # CI has a profile of its own
            settings.load_profile("shared machine")


@pytest.fixture
def diagnose() -> Callable[[Path], str]:
    """Return what an author sees of the mistakes in a site."""
    from sitegen.diagnostics import render_diagnostics
    from sitegen.pipeline.check_warnings import habits  # not at the top: a GPU machine runs tests without YAML
    from sitegen.pipeline.in_memory import load

    def diagnosed(root: Path) -> str:
        loaded = load(root, as_of=dt.date(2026, 12, 31))
        warnings = habits(loaded.site, loaded.documents, loaded.as_of)
        return render_diagnostics((*loaded.diagnostics, *warnings), loaded.texts) + "\n"

    return diagnosed


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return three workers for two cores, because many tests wait for other processes and for deadlines."""
    return max(1, 3 * (os.cpu_count() or 1) // 2)


class Commands:
    """A runner of commands of sitegen, each in a fork of one process that has imported it (`commands.py`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        server = [sys.executable, "-P", str(ROOT / "tests" / "commands.py")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._server = subprocess.Popen(
            server, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(
        self,
        cwd: Path,
        *words: str,
        memory_bytes: int = -1,
        seconds: float = 60,
        file_bytes: int = -1,
        privileged: bool = True,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; it is killed after that many seconds, and fails above that much memory.

        It can write no more than `file_bytes` into a file, as on a disk that is full.  Without privileges, the folders
        that nobody may write are read-only also for the superuser.
        """
        output, errors = self._folder / "output", self._folder / "errors"
        output.unlink(missing_ok=True)
        errors.unlink(missing_ok=True)
        request = {"words": words, "cwd": str(cwd), "variables": {**os.environ, **variables}}
        limits = {"memory_bytes": memory_bytes, "seconds": seconds, "file_bytes": file_bytes, "privileged": privileged}
        assert self._server.stdin and self._server.stdout
        print(json.dumps({**request, **limits, "output": str(output), "errors": str(errors)}), file=self._server.stdin)
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        return subprocess.CompletedProcess(words, status, output.read_text(), errors.read_text())

    def end(self) -> None:
        self._server.communicate()


@pytest.fixture(scope="session")
def run_command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """Run a command of sitegen in a folder, as a process of its own, and return what it printed."""
    commands = Commands(tmp_path_factory.mktemp("commands"))
    yield commands
    commands.end()


def missing_requirement(item: pytest.Item) -> str:
    """Return what this machine lacks for a test, in the words of the summary; empty when it lacks nothing."""
    if item.get_closest_marker("torch") and not all(map(importlib.util.find_spec, ("torch", "triton", "numpy"))):
        return "torch, Triton and numpy (`pip install torch triton numpy` into .venv)"
    if item.get_closest_marker("nvrtc") and not _can_compile_cuda():
        return "NVRTC and Triton (`pip install cuda-bindings nvidia-cuda-nvrtc nvidia-cuda-runtime triton` into .venv)"
    if item.get_closest_marker("web") and not _can_look_at_pages():
        return "Chromium, Node, Java and `npm install` in tests/web, as `make test-web` has them"
    if item.get_closest_marker("gpu") and shutil.which("nvidia-smi") is None:
        return "a GPU"
    return ""


def _can_look_at_pages() -> bool:
    installed = Path(__file__).parent / "web" / "node_modules" / "playwright-core"
    return installed.is_dir() and all(map(shutil.which, ("chromium", "node", "java")))


@functools.cache
def _can_compile_cuda() -> bool:
    """Return whether NVRTC, CUDA's headers and cuobjdump, which Triton brings, are installed."""
    from sitegen.measure.artefacts import cuobjdump
    from sitegen.measure.compile import nvrtc_version, toolkit_includes

    return bool(nvrtc_version() and toolkit_includes() and cuobjdump())


@pytest.hookimpl(trylast=True)  # after tests that were not asked for have been deselected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Workers take files in this order.
    places = {ROOT / "tests" / f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (places.get(item.path, len(places)), item.get_closest_marker("torch") is None))
    missing = config.stash.setdefault(MISSING, Counter())
    for item in items:
        if wanted := missing_requirement(item):
            missing[wanted] += 1
            item.add_marker(pytest.mark.skip(reason=f"needs {wanted}"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what this worker left out to the process that prints the summary."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["missing"] = dict(session.config.stash[MISSING])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Keep what a worker left out: each worker has collected every test, so all of them report the same."""
    if missing := getattr(node, "workeroutput", {}).get("missing"):
        node.config.stash[MISSING] = Counter(missing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for wanted, count in sorted(config.stash.get(MISSING, Counter()).items()):
        terminalreporter.write_line(f"{count} tests left out: they need {wanted}")
