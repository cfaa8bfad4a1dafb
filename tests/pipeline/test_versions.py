"""The versions of the programs that a cache depends on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitegen.pipeline import versions


@pytest.fixture
def theme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "site.css").write_text("main { }")
    (tmp_path / "post.html").write_text("<p>")
    monkeypatch.setattr(versions, "default_folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["post.html", "assets/site.css"])
def test_another_default_theme_is_another_version(theme: Path, name: str) -> None:
    before = versions.versions()
    stat = (theme / name).stat()
    assert versions.versions() == before
    os.utime(theme / name, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert versions.versions() != before
