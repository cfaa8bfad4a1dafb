"""An exercise of a site → the files of a folder that checks itself, with nothing but torch and Triton installed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import sitegen
from sitegen.model.exercise import READER, Exercise, ExerciseJob
from sitegen.model.kernel import Kernel
from sitegen.model.plain import to_plain
from sitegen.model.site import Site
from sitegen.results.keys import sources_of

CHECKER = """\"\"\"Check the kernel in this folder: `python check.py`.  Needs torch, triton and numpy.\"\"\"

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / ".exercise"))

from sitegen.measure.exercise import check_folder  # noqa: E402

passed, lines = check_folder(HERE)
print(*lines, sep="\\n")
sys.exit(not passed)
"""
_ROOMS = ("model", "measure")


def exercise_job(site: Site, exercise: Exercise, kernel: Kernel) -> ExerciseJob:
    """Return the job of an exercise that has a kernel and a solution.  Raises StopIteration for an unknown solution."""
    author = next(one for one in kernel.implementations if one.name == exercise.solution)
    reader = replace(author, name=READER, file=f"{kernel.folder}/{READER}.py")
    small = replace(kernel, implementations=(reader, author), wrong=(), goals=(), sweeps=(), baseline_files=())
    return ExerciseJob(exercise.id, small, sources_of(kernel, [author], site.files))


def folder_files(site: Site, exercise: Exercise, kernel: Kernel) -> dict[str, str]:
    """Return the text of each file of the folder, by its path there."""
    job = exercise_job(site, exercise, kernel)
    files = {
        job.reader_file: site.files[f"content/exercises/{exercise.id}/starter.py"],
        "README.md": f"# {exercise.title}\n\n{exercise.body.text.strip()}\n",
        "check.py": CHECKER,
        ".exercise/job.json": json.dumps(to_plain(job), indent=1) + "\n",
    }
    return files | {f".exercise/sitegen/{path}": text for path, text in _program().items()}


def _program() -> dict[str, str]:
    """Return the modules that a check imports, by path below `sitegen/`."""
    root = Path(sitegen.__file__).parent
    paths = [root / name for name in ("__init__.py", "diagnostics.py", "inside.py")]
    paths += [path for room in _ROOMS for path in sorted((root / room).rglob("*")) if path.suffix in (".py", ".cu")]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
