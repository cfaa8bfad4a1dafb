"""Run every file that the site offers for download: with torch, Triton and cuda.core, without sitegen.

    python tests/gpu/downloads.py public/downloads --out A

Each program runs in a folder that holds nothing else, six at a time, with a time limit of its own.  A result is kept in
`A/downloads.json` as soon as it is there; the next invocation does the files that are missing.  It prints a table, and
exits 1 when a program failed.  What a program lacks on this machine, such as nvcc, is no failure.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

BUDGET_S, FILE_S, AT_ONCE = 330.0, 100.0, 6
OUTCOMES = {0: "passed", 2: "cannot run here"}
"""Outcomes by exit code; a post has no code 2."""
SHOWN = 100


@dataclass(frozen=True)
class Run:
    """The result of one program."""

    file: str
    outcome: str
    seconds: float
    last_lines: str


def programs(folder: Path) -> list[Path]:
    """Return the Python programs of a folder, those of posts first, then the kernels in the order of their names."""
    return sorted(folder.rglob("*.py"), key=lambda path: (path.parent.name != "posts", path.name))


def run(file: Path, name: str, seconds: float) -> Run:
    """Run a copy of the program in an empty folder."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(file, folder)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [sys.executable, "-W", "ignore", copy]
        try:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
            outcome, text = OUTCOMES.get(done.returncode, "failed"), done.stdout + done.stderr
        except subprocess.TimeoutExpired as late:
            outcome, text = "time limit", _text(late.stdout) + _text(late.stderr)
    return Run(name, outcome, round(time.monotonic() - began, 1), "\n".join(text.strip().splitlines()[-12:]))


def _text(output: bytes | str | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def run_missing(folder: Path, kept: Path, budget_s: float, at_once: int) -> list[Run]:
    """Run the programs without a kept result while time is left; return all results."""
    runs = {one["file"]: Run(**one) for one in json.loads(kept.read_text())} if kept.exists() else {}
    ends = time.monotonic() + budget_s

    def one(path: Path) -> None:
        name = path.relative_to(folder).as_posix()
        left = ends - time.monotonic()
        if name not in runs and left > 20:
            runs[name] = run(path, name, min(FILE_S, left))
            kept.write_text(json.dumps([asdict(runs[key]) for key in sorted(runs)], indent=1))

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, programs(folder)))
    return [runs[name] for name in sorted(runs)]


def table(runs: list[Run]) -> str:
    lines = []
    for one in runs:
        shown = one.last_lines.splitlines()
        why = shown[-1] if shown else ""
        wrong = [line for line in shown if line.startswith("FAILED")]
        lines.append(f"{one.file:48} {one.outcome:16} {one.seconds:6.1f} s  {(wrong or [why])[0][:SHOWN]}")
    return "\n".join(lines)


def unpacked(given: Path) -> Path:
    """Return the folder of the downloads; an archive of it is unpacked first."""
    if given.is_dir():
        return given
    folder = Path(tempfile.mkdtemp())
    shutil.unpack_archive(given, folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("downloads", type=Path, help="the folder downloads/ of a built site, or an archive of it")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "out")), help="folder of the results")
    parser.add_argument("--seconds", type=float, default=BUDGET_S)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    folder = unpacked(options.downloads)
    runs = run_missing(folder, options.out / "downloads.json", options.seconds, options.at_once)
    print(table(runs))
    count = {outcome: sum(one.outcome == outcome for one in runs) for outcome in dict.fromkeys(r.outcome for r in runs)}
    print(f"{len(runs)} of {len(programs(folder))} files ran:", ", ".join(f"{n} {what}" for what, n in count.items()))
    sys.exit(any(one.outcome not in OUTCOMES.values() for one in runs))


if __name__ == "__main__":
    main()
