"""Write rendered files to the output folder: only changed files are written, and each is whole at every moment.

New content is staged inside the output and renamed into its place.  Files that sitegen wrote before and no longer
makes are removed.  A manifest in the user's cache has the names of the files that sitegen wrote, so that files of
others are never removed.  Two builds into one output take turns.  No link below the output is followed when a file is
written or removed, because a repository may bring an output.  Operations on thousands of files do without `Path`,
which takes several times as long.
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
"""Folder for new content inside the output, on the same file system so that a rename is atomic; removed at the end."""
_NO_LINKS = "remove the link, or name another folder with `--out`"
_GENERATOR = re.compile(rb"""<meta name="?generator"? content="sitegen|<generator[^>]*>sitegen""")
"""Mark by which pages and feeds of sitegen are recognised when the cache was deleted."""


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """Numbers of files of the output that were added, changed, removed, and left unchanged."""

    added: int
    changed: int
    removed: int
    unchanged: int

    @property
    def files(self) -> int:
        """Number of files that the output has now."""
        return self.added + self.changed + self.unchanged


class OutputError(Exception):
    """The output cannot be written; every file in it is still whole."""

    def __init__(self, path: str, message: str, hint: str) -> None:
        super().__init__(path, message, hint)  # all of them, so that it can come from a worker process
        self.diagnostic = Diagnostic("SG500", message, Span(path), hint)


def write_site(output: Path, cache: Path, files: Mapping[str, str | bytes]) -> WriteCounts:
    """Make `output` hold exactly `files` (by path, with forward slashes) beside what others put there.

    `cache` is a folder of the user.  Raises OutputError when the output has files of others only, or is not writable.
    """
    contents = {checked_output_path(path): encoded(content) for path, content in files.items()}
    with locked_output(cache, output):
        return _write(output, cache, contents)


@contextlib.contextmanager
def reporting_refusals(output: Path) -> Iterator[None]:
    """Raise every error of the operating system, and a link below the output, as OutputError."""
    try:
        yield
    except OutsideError as error:
        raise unwritable_error(f"{_shown_name(output)}/{error.filename}", error, _NO_LINKS) from error
    except OSError as error:
        hint = "mend its permissions or make room, or name another folder with `--out`"
        raise unwritable_error(_shown_name(output), error, hint) from error


def refuse_link(output: Path) -> None:
    """Raise OutputError when the output itself is a link; only the default output folder is checked so."""
    if output.is_symlink():
        place = _shown_name(output)
        message = f"`{place}` cannot be written: it is a link, and sitegen writes through no link"
        raise OutputError(place, message, "remove the link, or name with `--out` the folder that it leads to")


def unwritable_error(path: str, error: OSError, hint: str) -> OutputError:
    """Return the OutputError for an error of the operating system, such as a full disk."""
    return OutputError(path, f"`{path}` cannot be written: {error.strerror}", hint)


def _write(output: Path, cache: Path, contents: Mapping[str, bytes]) -> WriteCounts:
    check_output(output, cache)
    staged: dict[str, str] = {}
    with staging(output):
        for number, (path, data) in enumerate(contents.items()):
            if differs(output, path, data):
                staged[path] = stage(output, str(number), data)
        return publish(output, cache, contents.keys(), staged)


@contextlib.contextmanager
def staging(output: Path) -> Iterator[None]:
    """Make the empty folder for new content, and remove it at the end, whatever happens."""
    with reporting_refusals(output):
        inside.remove_tree(output, STAGE)
        inside.make_new_folder(output, STAGE)
    try:
        yield
    finally:
        inside.remove_tree(output, STAGE)


def stage(output: Path, name: str, data: bytes) -> str:
    """Write new content to the stage under a name, and return the name."""
    with reporting_refusals(output), open(f"{output}/{STAGE}/{name}", "wb") as file:
        file.write(data)
    return name


def replace_files(output: Path, files: Mapping[str, bytes]) -> None:
    """Replace the content of files that sitegen wrote; each is whole at every moment.  Raises OutputError."""
    with staging(output), reporting_refusals(output):
        _publish(output, {path: stage(output, str(number), data) for number, (path, data) in enumerate(files.items())})


def publish(output: Path, cache: Path, paths: Collection[str], staged: Mapping[str, str]) -> WriteCounts:
    """Rename staged files into their places, and remove files that sitegen wrote before and no longer makes.

    `paths` are all files that the site has now; `staged` gives the name in the stage of those that are new or changed.
    """
    with reporting_refusals(output):
        return _published(output, cache, paths, staged)


def _published(output: Path, cache: Path, paths: Collection[str], staged: Mapping[str, str]) -> WriteCounts:
    ours = check_output(output, cache)
    wanted = set(paths)
    new = {path for path in staged if not os.path.isfile(f"{output}/{path}")}
    removed = {path for path in ours - wanted if (output / path).is_file()}
    unlinked: set[str] = set()
    for path in (*staged, *removed):
        inside.refuse_links_above(output, path, unlinked)
    if ours:  # without files of ours the output is empty, as `check_output` has made sure
        _check_room(output, wanted - ours, removed)
    _write_manifest(cache, output, ours, ours | wanted)  # a build killed from here on still knows its files
    blocking = _blocking_files(removed, wanted) if removed else set()
    _remove(output, blocking)
    _publish(output, staged)
    _remove(output, removed - blocking)
    _write_manifest(cache, output, ours | wanted, wanted)
    return WriteCounts(len(new), len(staged) - len(new), len(removed), len(wanted) - len(staged))


def check_output(output: Path, cache: Path) -> set[str]:
    """Return the paths in `output` that sitegen wrote.  Raises OutputError when it has only files of others."""
    if output.exists() and not output.is_dir():
        place = _shown_name(output)
        raise OutputError(place, f"`{place}` is a file, not a folder", "name another folder with `--out`")
    known = _read_manifest(cache, output)
    if any((output / path).is_file() for path in known):
        return known
    with reporting_refusals(output):
        paths = _files(output)
        ours = {path for path in paths if _says_sitegen(output, path)}
    if paths and "index.html" not in ours:
        hint = "empty it, or name another folder with `--out`"
        raise OutputError(
            _shown_name(output), f"`{_shown_name(output)}` is not empty and was not made by sitegen", hint
        )
    return ours


def _shown_name(output: Path) -> str:
    """Return the name of the output for messages; `.` has no name and is shown as it is."""
    return output.name or str(output)


@contextlib.contextmanager
def locked_output(cache: Path, output: Path) -> Iterator[None]:
    """Hold a lock on the output, after waiting for other builds; the system releases the lock of a killed build."""
    with reporting_refusals(output):
        cache.mkdir(parents=True, exist_ok=True)
        opened = (cache / "lock").open("w")
    with opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def checked_output_path(path: str) -> str:
    """Return the path itself.  Raises ValueError when it leads out of the output or into the stage."""
    parts = path.split("/")
    if parts[0] == STAGE or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(f"not a path inside the output: {path!r}")
    return path


def encoded(content: str | bytes) -> bytes:
    """Return the content of a file as bytes."""
    return content.encode() if isinstance(content, str) else content


def differs(output: Path, path: str, data: bytes) -> bool:
    """Tell whether the file is missing, is a link, or has other content."""
    try:
        about = os.lstat(f"{output}/{path}")
        same_size = stat.S_ISREG(about.st_mode) and about.st_size == len(data)
        return not same_size or inside.read_bytes(output, path, len(data)) != data
    except OSError:
        return True


def _files(output: Path) -> list[str]:
    """Return all files below the output, relative to it, without the staged ones; none when it does not exist."""
    return [p for p, _ in inside.entries_below(output, skips=lambda folder: folder == STAGE) if p != STAGE]


def _says_sitegen(output: Path, path: str) -> bool:
    try:
        return bool(_GENERATOR.search(inside.read_start(output, path, 4096)))
    except OutsideError:
        return False


def _folders_above(path: str) -> list[str]:
    """Return the folders above a path, without the output itself."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _check_room(output: Path, paths: Iterable[str], removed: Set[str]) -> None:
    """Raise OutputError when a folder of others stands in the place of a file, or a file in the place of a folder."""
    for folder in {folder for path in paths for folder in _folders_above(path)} - removed:
        if os.path.isfile(f"{output}/{folder}"):
            raise _no_room(f"{output.name}/{folder}", "file, where the site needs a folder")
    for path in paths:
        if os.path.isdir(f"{output}/{path}") and any(f"{path}/{f}" not in removed for f in _files(output / path)):
            raise _no_room(f"{output.name}/{path}", "folder, where the site needs a file")


def _no_room(place: str, what: str) -> OutputError:
    return OutputError(place, f"`{place}` is a {what}", "sitegen did not make it: move it out of the output")


def _blocking_files(removed: Set[str], paths: Iterable[str]) -> set[str]:
    """Return the files, of those to be removed, that must go first.

    A folder is needed in their place, or a file in the place of a folder above them.
    """
    wanted = set(paths)
    folders = {folder for path in wanted for folder in _folders_above(path)}
    return {path for path in removed if path in folders or wanted.intersection(_folders_above(path))}


def _publish(output: Path, staged: Mapping[str, str]) -> None:
    """Rename staged files into place, pages last, so that no page is published before its style sheet."""
    made: set[str] = set()
    for path in sorted(staged, key=lambda path: (path.endswith(".html"), path)):
        inside.move(output, f"{STAGE}/{staged[path]}", path, made)


def _remove(output: Path, paths: Iterable[str]) -> None:
    """Remove files, and folders that become empty."""
    for path in sorted(paths):
        inside.remove(output, path)
        for folder in _folders_above(path):
            if not inside.remove_if_empty(output, folder):
                break


def _manifest(cache: Path, output: Path) -> Path:
    return cache / "outputs" / f"{hashlib.sha256(os.fsencode(output.resolve())).hexdigest()[:16]}.json"


def _read_manifest(cache: Path, output: Path) -> set[str]:
    """Return the paths in the manifest; none when one leads out of the output, or the manifest is damaged."""
    manifest = _manifest(cache, output)
    try:
        return {checked_output_path(path) for path in json.loads(manifest.read_text(encoding="utf-8"))["files"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _write_manifest(cache: Path, output: Path, before: Set[str], paths: Set[str]) -> None:
    manifest = _manifest(cache, output)
    if before == paths and manifest.is_file():
        return
    manifest.parent.mkdir(parents=True, exist_ok=True)
    partial = manifest.with_suffix(".partial")
    partial.write_text(json.dumps({"output": str(output), "files": sorted(paths)}, indent=1) + "\n", encoding="utf-8")
    partial.replace(manifest)
