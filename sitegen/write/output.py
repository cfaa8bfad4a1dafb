"""Rendered files → the output folder: only what changed is written, and every file is whole at every moment.

New content is staged beside its place, renamed into it, and what sitegen wrote before and no longer makes is
removed.  The names of what it wrote stand in a manifest in the user's cache, outside the output, so that a file
that somebody else put there is never removed.  Two builds into one output take turns.  Nothing here reads a clock.
No link below the output is followed when something is written or removed: a repository may bring an output.
What is done for each of thousands of files is done without a `Path`, which takes several times as long.
"""
# ruff: noqa: PTH112, PTH113, PTH123

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.inside import OutsideError

STAGE = ".sitegen-partial"
"""Folder inside the output (the same file system, so that a rename is atomic) that is gone when a build ends."""
_NO_LINKS = "remove the link, or name another folder with `--out`"
_GENERATOR = re.compile(rb"""<meta name="?generator"? content="sitegen|<generator[^>]*>sitegen""")
"""What our pages and feeds say of themselves: knows them again when the cache was deleted."""


@dataclass(frozen=True, slots=True)
class Written:
    """How many files of the output were new, changed, removed, and left as they were."""

    added: int
    changed: int
    removed: int
    unchanged: int

    @property
    def files(self) -> int:
        """How many there are now."""
        return self.added + self.changed + self.unchanged


class OutputError(Exception):
    """Something cannot be written where the author wants it; every file that stands there is whole."""

    def __init__(self, path: str, message: str, hint: str) -> None:
        super().__init__(path, message, hint)  # all of them, so that it can come from a worker process
        self.diagnostic = Diagnostic("SG500", message, Span(path), hint)


def write_site(output: Path, cache: Path, files: Mapping[str, str | bytes]) -> Written:
    """Make `output` hold exactly `files` (by path, with forward slashes) beside what others put there.

    `cache` is a folder of the user.  Raises OutputError when the output is somebody else's or not writable.
    """
    contents = {checked(path): encoded(content) for path, content in files.items()}
    with alone(cache, output):
        return _write(output, cache, contents)


@contextlib.contextmanager
def refusals(output: Path) -> Iterator[None]:
    """What the system refuses, and a link below the output, become an OutputError."""
    try:
        yield
    except OutsideError as error:
        raise unwritable(f"{_shown(output)}/{error.filename}", error, _NO_LINKS) from error
    except OSError as error:
        hint = "mend its permissions or make room, or name another folder with `--out`"
        raise unwritable(_shown(output), error, hint) from error


def refuse_link(output: Path) -> None:
    """Raise OutputError when the output itself is a link: for the folder that is taken when no other is named."""
    if output.is_symlink():
        place = _shown(output)
        message = f"`{place}` cannot be written: it is a link, and sitegen writes through no link"
        raise OutputError(place, message, "remove the link, or name with `--out` the folder that it leads to")


def unwritable(path: str, error: OSError, hint: str) -> OutputError:
    """What the system says when it refuses: read-only, full, a file where a folder should be."""
    return OutputError(path, f"`{path}` cannot be written: {error.strerror}", hint)


def _write(output: Path, cache: Path, contents: Mapping[str, bytes]) -> Written:
    check_output(output, cache)
    staged: dict[str, str] = {}
    with staging(output):
        for number, (path, data) in enumerate(contents.items()):
            if differs(output, path, data):
                staged[path] = stage(output, str(number), data)
        return publish(output, cache, contents.keys(), staged)


@contextlib.contextmanager
def staging(output: Path) -> Iterator[None]:
    """Makes the folder for new content, empty; it is gone at the end, whatever happens."""
    with refusals(output):
        inside.remove_tree(output, STAGE)
        inside.make_new_folder(output, STAGE)
    try:
        yield
    finally:
        inside.remove_tree(output, STAGE)


def stage(output: Path, name: str, data: bytes) -> str:
    """Write new content to a place from which it only needs to be renamed; gives the name back."""
    with refusals(output), open(f"{output}/{STAGE}/{name}", "wb") as file:
        file.write(data)
    return name


def replace_files(output: Path, files: Mapping[str, bytes]) -> None:
    """New content of files that sitegen wrote; each is whole at every moment.  Raises OutputError."""
    with staging(output), refusals(output):
        _publish(output, {path: stage(output, str(number), data) for number, (path, data) in enumerate(files.items())})


def publish(output: Path, cache: Path, paths: Collection[str], staged: Mapping[str, str]) -> Written:
    """Rename what was staged into place and remove what sitegen wrote before and makes no more.

    `paths` are all files that the site has now; `staged` gives the name in the stage of those that are new or changed.
    """
    with refusals(output):
        return _published(output, cache, paths, staged)


def _published(output: Path, cache: Path, paths: Collection[str], staged: Mapping[str, str]) -> Written:
    ours = check_output(output, cache)
    wanted = set(paths)
    new = {path for path in staged if not os.path.isfile(f"{output}/{path}")}
    removed = {path for path in ours - wanted if (output / path).is_file()}
    unlinked: set[str] = set()
    for path in (*staged, *removed):
        inside.refuse_links_above(output, path, unlinked)
    if ours:  # else there is nothing, says `check_output`
        _check_room(output, wanted - ours, removed)
    _remember(cache, output, ours, ours | wanted)  # a build killed from here on still knows its files
    blocking = _in_the_way(removed, wanted) if removed else set()
    _remove(output, blocking)
    _publish(output, staged)
    _remove(output, removed - blocking)
    _remember(cache, output, ours | wanted, wanted)
    return Written(len(new), len(staged) - len(new), len(removed), len(wanted) - len(staged))


def check_output(output: Path, cache: Path) -> set[str]:
    """The paths in `output` that sitegen wrote.  Raises OutputError when it holds files and none of them is ours."""
    if output.exists() and not output.is_dir():
        place = _shown(output)
        raise OutputError(place, f"`{place}` is a file, not a folder", "name another folder with `--out`")
    known = _remembered(cache, output)
    if any((output / path).is_file() for path in known):
        return known
    with refusals(output):
        found = _files(output)
        ours = {path for path in found if _says_sitegen(output, path)}
    if found and "index.html" not in ours:
        hint = "empty it, or name another folder with `--out`"
        raise OutputError(_shown(output), f"`{_shown(output)}` is not empty and was not made by sitegen", hint)
    return ours


def _shown(output: Path) -> str:
    """`.` has no name."""
    return output.name or str(output)


@contextlib.contextmanager
def alone(cache: Path, output: Path) -> Iterator[None]:
    """Waits while another build of the site is at work; the system lets go of the lock of one that dies."""
    with refusals(output):
        cache.mkdir(parents=True, exist_ok=True)
        opened = (cache / "lock").open("w")
    with opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def checked(path: str) -> str:
    parts = path.split("/")
    if parts[0] == STAGE or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(f"not a path inside the output: {path!r}")
    return path


def encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def differs(output: Path, path: str, data: bytes) -> bool:
    """Whether the file is missing, is a link, or holds something else."""
    try:
        about = os.lstat(f"{output}/{path}")
        same_size = stat.S_ISREG(about.st_mode) and about.st_size == len(data)
        return not same_size or inside.read_bytes(output, path, len(data)) != data
    except OSError:
        return True


def _files(output: Path) -> list[str]:
    """All files below the output but the staged ones, relative to it; none when it does not exist."""
    return [p for p, _ in inside.entries_below(output, skips=lambda folder: folder == STAGE) if p != STAGE]


def _says_sitegen(output: Path, path: str) -> bool:
    try:
        return bool(_GENERATOR.search(inside.read_start(output, path, 4096)))
    except OutsideError:
        return False


def _above(path: str) -> list[str]:
    """The folders that a path stands in, without the output itself."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _check_room(output: Path, paths: Iterable[str], removed: Set[str]) -> None:
    """Refuse where somebody's folder stands in a file's place, or somebody's file in a folder's place."""
    for folder in {folder for path in paths for folder in _above(path)} - removed:
        if os.path.isfile(f"{output}/{folder}"):
            raise _no_room(f"{output.name}/{folder}", "file, where the site needs a folder")
    for path in paths:
        if os.path.isdir(f"{output}/{path}") and any(f"{path}/{f}" not in removed for f in _files(output / path)):
            raise _no_room(f"{output.name}/{path}", "folder, where the site needs a file")


def _no_room(place: str, what: str) -> OutputError:
    return OutputError(place, f"`{place}` is a {what}", "sitegen did not make it: move it out of the output")


def _in_the_way(removed: Set[str], paths: Iterable[str]) -> set[str]:
    """Of the files that go: those where a folder must stand, or below a folder where a file must stand."""
    wanted = set(paths)
    folders = {folder for path in wanted for folder in _above(path)}
    return {path for path in removed if path in folders or wanted.intersection(_above(path))}


def _publish(output: Path, staged: Mapping[str, str]) -> None:
    """Pages last, so that none stands there before its style sheet."""
    made: set[str] = set()
    for path in sorted(staged, key=lambda path: (path.endswith(".html"), path)):
        inside.move(output, f"{STAGE}/{staged[path]}", path, made)


def _remove(output: Path, paths: Iterable[str]) -> None:
    """Delete files and the folders that this empties."""
    for path in sorted(paths):
        inside.remove(output, path)
        for folder in _above(path):
            if not inside.remove_if_empty(output, folder):
                break


def _manifest(cache: Path, output: Path) -> Path:
    return cache / "outputs" / f"{hashlib.sha256(str(output.resolve()).encode()).hexdigest()[:16]}.json"


def _remembered(cache: Path, output: Path) -> set[str]:
    """The paths in the manifest; none when a path in it leads out of the output, or it is not whole."""
    manifest = _manifest(cache, output)
    try:
        return {checked(path) for path in json.loads(manifest.read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _remember(cache: Path, output: Path, before: Set[str], paths: Set[str]) -> None:
    manifest = _manifest(cache, output)
    if before == paths and manifest.is_file():
        return
    manifest.parent.mkdir(parents=True, exist_ok=True)
    partial = manifest.with_suffix(".partial")
    partial.write_text(json.dumps({"output": str(output), "files": sorted(paths)}, indent=1) + "\n", encoding="utf-8")
    partial.replace(manifest)
