"""An exercise of a site → the files of a folder that checks itself, with nothing but torch and Triton installed."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import sitegen
from sitegen.model.exercise import READER, ExerciseJob
from sitegen.model.linked import statement_and_hints
from sitegen.model.plain import to_plain
from sitegen.model.site import Exercise, Site
from sitegen.results.keys import sources_of

CHECKER = """\"\"\"Check the kernel in this folder: `python check.py`.  Needs torch, triton and numpy.\"\"\"

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The folder itself must not be searched: a kernel's file may have the name of a module, such as copy.py.
sys.path = [str(HERE / ".exercise"), *(path for path in sys.path if Path(path).resolve() != HERE)]

from sitegen.measure.exercise import check_folder  # noqa: E402

passed, lines = check_folder(HERE)
print(*lines, sep="\\n")
sys.exit(not passed)
"""
_HINT, _HINT_END = re.compile(r"^:::+\{dropdown\} (.*)$", re.M), re.compile(r"^:::+\n?", re.M)
_ROLE = re.compile(r"\{(?:term|given)\}`([^`<;]*[^`<;\s])\s*(?:[<;][^`]*)?`")
"""A term, with or without the name of its page, or a figure with its source."""
_SITE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)\s]*\)")
"""A link to a page of the site, which lies nowhere near the folder."""
_ROOMS = ("model", "measure")
_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of each file of an archive, the earliest that a zip can hold."""


def exercise_job(site: Site, exercise: Exercise) -> ExerciseJob:
    """Return the job of an exercise.  Raises StopIteration for an unknown kernel or solution, which linking reports."""
    kernel = next(one for one in site.kernels if one.name == exercise.kernel.name)
    author = next(one for one in kernel.implementations if one.name == exercise.solution.name)
    reader = replace(author, name=READER, file=f"{kernel.folder}/{READER}.py")
    small = replace(kernel, implementations=(reader, author), wrong=(), goals=(), sweeps=(), baseline_files=())
    sources = sources_of(kernel, [author], site.files)
    return ExerciseJob(exercise.id, small, sources, exercise.counted_at, exercise.most_loads, exercise.machine)


def folder_archive(site: Site, exercise: Exercise) -> bytes:
    """Return the folder as a zip; equal folders give equal bytes."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in folder_files(site, exercise).items():
            archive.writestr(zipfile.ZipInfo(f"{exercise.id}/{name}", _DATE), text, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def folder_files(site: Site, exercise: Exercise) -> dict[str, str]:
    """Return the text of each file of the folder, by its path there."""
    job = exercise_job(site, exercise)
    files = {
        job.reader_file: site.files[exercise.starter],
        "README.md": _readme(exercise, job),
        "check.py": CHECKER,
        ".exercise/job.json": json.dumps(to_plain(job), indent=1) + "\n",
    }
    return files | {f".exercise/sitegen/{path}": text for path, text in _program().items()}


def _readme(exercise: Exercise, job: ExerciseJob) -> str:
    """Return the statement, how to check, and the hints, which a plain text cannot fold, at the end."""
    statement, *hints = (text.text.strip() for text in statement_and_hints(exercise))
    check = f"## Check\n\nEdit `{job.reader_file}`, then run `python check.py`. It needs torch, triton and numpy."
    check += " When the kernel is right, the check prints `SOLVED`."
    statement, *hints = (_SITE_LINK.sub(r"\1", _ROLE.sub(r"\1", text)) for text in (statement, *hints))
    below = [_HINT_END.sub("", _HINT.sub(r"### \1", text)).strip() for text in hints]
    return "\n\n".join([f"# {exercise.title}", statement, check, *(f"## Hints\n\n{text}" for text in below)]) + "\n"


def _program() -> dict[str, str]:
    """Return the modules that a check imports, by path below `sitegen/`."""
    root = Path(sitegen.__file__).parent
    paths = [root / name for name in ("__init__.py", "diagnostics.py", "inside.py")]
    paths += [path for room in _ROOMS for path in sorted((root / room).rglob("*")) if path.suffix in (".py", ".cu")]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
