"""The points of a sweep, one after the other in this process → a line of JSON each.

Its arguments are FD FOLDER JOB:NAME…: the lines go to the pipe FD, FOLDER holds the sources, and each JOB is a kernel
job whose candidate NAME is a point.  Candidates are evaluated as in `sitegen try`, with as many rounds as one interval
needs; points with other dims are candidates of another job.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

from sitegen.measure.protocol import END, Channel
from sitegen.measure.rounds import LEAST_ROUNDS
from sitegen.measure.try_process import TryProcess, evaluate_all
from sitegen.model.job import KernelJob
from sitegen.model.plain import from_plain


def main(arguments: list[str]) -> None:
    """Send the facts of the GPU, then the beginning and the evaluation of each point, and END."""
    pipe, folder, *points = arguments
    channel = Channel(int(pipe), int(pipe))
    for path, names in jobs_with_names(points):
        job = from_plain(KernelJob, json.loads(path.read_text(encoding="utf-8")))
        process = TryProcess(job, path, Path(folder), lambda text: channel.send({"warning": text}), LEAST_ROUNDS)
        evaluate_all(process, names, channel)
    channel.send(END)


def jobs_with_names(points: list[str]) -> list[tuple[Path, list[str]]]:
    """Return the file of each job with the names behind it: `a.json:p-1 a.json:p-2 b.json:p-3` are two jobs."""
    pairs = [point.rpartition(":")[::2] for point in points]
    return [(Path(file), [name for _, name in group]) for file, group in groupby(pairs, key=lambda pair: pair[0])]
