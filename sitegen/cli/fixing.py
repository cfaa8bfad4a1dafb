"""Write what `sitegen check --fix` can mend safely, after showing it as a diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from sitegen import inside
from sitegen.cli.common import number_of, say
from sitegen.diagnostics import Diagnostic
from sitegen.execute.git import git
from sitegen.inside import OutsideError
from sitegen.write.fixes import diff, fixed
from sitegen.write.output import unwritable_error


def mend(root: Path, diagnostics: Sequence[Diagnostic], texts: Mapping[str, str], *, force: bool) -> bool:
    """Mend the files that git has a copy of, with `force` the others too; return whether a file was written.

    `texts` are the texts of the check.  A file that differs from them is left as it is, because the places of its
    mistakes may have moved.  A text is read when it is first asked for, so this does not find every edit: the caller
    holds the lock of the content against another run.
    """
    fixable = {one.span.path for one in diagnostics if one.fix is not None}
    paths = sorted(path for path in fixable if not path.endswith(".ipynb"))  # its places are those of its Markdown
    written = 0
    for path in paths:
        before = _text(root, path)
        after = fixed(before, [one for one in diagnostics if one.span.path == path]) if before else before
        if before is None or after is None or after == before:
            continue
        if not _is_still(before, texts.get(path)):
            say(f"{path} has changed meanwhile and was left as it is: run `sitegen check --fix` again")
            continue
        click.echo(diff(before, after, path), nl=False)
        if force or _has_copy(root, path):
            _write(root, path, after)
            written += 1
        else:
            say(f"{path} was left as it is: commit it first, so that git can bring it back, or add --force")
    say(f"{number_of(written, 'file')} mended" if paths else "nothing can be mended safely")
    return written > 0


def _text(root: Path, path: str) -> str | None:
    """Return the text of a file with its own ends of lines; None when it is not UTF-8, which nothing here mends."""
    try:
        return inside.read_bytes(root, path).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _is_still(text: str, checked: str | None) -> bool:
    """Return whether a file has the text that was checked, which has no BOM and ends its lines with LF."""
    return checked is None or text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n") == checked


def _has_copy(root: Path, path: str) -> bool:
    """Return whether git has the file as it is now."""
    tracked = git(root, "ls-files", "--", path)
    return bool(tracked) and git(root, "status", "--porcelain", "--", path) == b""


def _write(root: Path, path: str, text: str) -> None:
    try:
        inside.write_bytes(root, path, text.encode("utf-8"))
    except OutsideError as error:
        raise unwritable_error(str(error.filename), error, "put the folder itself in its place") from error
    except OSError as error:
        raise unwritable_error(path, error, "mend its permissions") from error
