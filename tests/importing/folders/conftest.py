"""A folder of another program of a few files, imported and mended."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitegen.diagnostics import Diagnostic, has_errors, render_diagnostics
from sitegen.importing.counts import Comparison, compared
from sitegen.importing.folders.convert import Dialect, import_folder
from sitegen.importing.plan import write_missing
from sitegen.pipeline.in_memory import load
from sitegen.pipeline.mend_import import mend_plan

TODAY = dt.date(2026, 11, 25)


@dataclass(frozen=True, slots=True)
class Imported:
    """The site that was made; it has no error."""

    files: Mapping[str, str | bytes | Path]
    diagnostics: tuple[Diagnostic, ...]
    compared: Mapping[str, Comparison]

    def body(self, path: str) -> str:
        """Return a text below its front matter, without the last line end."""
        return str(self.files[f"content/{path}.md"]).split("---\n", 2)[2].removesuffix("\n")

    def head(self, path: str) -> str:
        return str(self.files[f"content/{path}.md"]).split("---\n", 2)[1]

    @property
    def codes(self) -> list[str]:
        return sorted(diagnostic.code for diagnostic in self.diagnostics)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[Dialect, Mapping[str, str | bytes]], Imported]:
    """Import a folder with these files by path, and check that the site builds."""

    def imported(dialect: Dialect, files: Mapping[str, str | bytes]) -> Imported:
        for path, content in files.items():
            (tmp_path / "old" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "old" / path).write_bytes(content if isinstance(content, bytes) else content.encode())
        plan = mend_plan(import_folder(tmp_path / "old", dialect, TODAY), tmp_path / "new")
        write_missing(tmp_path / "new", plan.files)
        loaded = load(tmp_path / "new", everything=True)
        assert not has_errors(loaded.diagnostics), render_diagnostics(loaded.diagnostics, loaded.texts)
        sides = compared(plan.sources, plan.files)
        return Imported(plan.files, plan.diagnostics, {one.source: one for one in sides})

    return imported
