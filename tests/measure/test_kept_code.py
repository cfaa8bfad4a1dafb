"""Compiled code that is kept between processes: found again only when nothing that it depends on has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.measure import kept_code
from sitegen.measure.kept_code import KEPT_CODE, keep, kept_file, read_kept


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(KEPT_CODE, str(tmp_path / "kept"))
    monkeypatch.setattr(kept_code, "_compiler", lambda: "13.0")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "a.cu").write_text("// a")
    (folder / "shared.cuh").write_text("// shared")
    return folder


def found(sources: Path, *flags: str) -> tuple[bytes, bytes] | None:
    return read_kept(kept_file(sources / "a.cu", flags, [sources]))


def test_the_same_code_is_found_again_also_from_another_folder(sources: Path, tmp_path: Path) -> None:
    keep(kept_file(sources / "a.cu", ["-DN=1"], [sources]), b"cubin", b"ptx")
    assert found(sources, "-DN=1") == (b"cubin", b"ptx")
    assert found(sources.rename(tmp_path / "moved"), "-DN=1") == (b"cubin", b"ptx")


@pytest.mark.parametrize("name", ["a.cu", "shared.cuh"])
def test_a_changed_file_is_compiled_again_and_so_is_one_that_it_may_include(sources: Path, name: str) -> None:
    keep(kept_file(sources / "a.cu", [], [sources]), b"cubin", b"ptx")
    (sources / name).write_text("// changed")
    assert found(sources) is None


def test_other_flags_and_another_compiler_are_other_code(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(kept_file(sources / "a.cu", ["-DN=1"], [sources]), b"cubin", b"ptx")
    assert found(sources, "-DN=2") is None
    monkeypatch.setattr(kept_code, "_compiler", lambda: "13.1")
    assert found(sources, "-DN=1") is None


def test_what_is_not_whole_is_compiled_again(sources: Path) -> None:
    kept = kept_file(sources / "a.cu", [], [sources])
    assert kept is not None
    keep(kept, b"cubin" * 100, b"")
    assert read_kept(kept) is None
    kept.write_bytes(b"\x09")
    assert read_kept(kept) is None


def test_without_a_folder_nothing_is_kept(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEPT_CODE)
    assert kept_file(sources / "a.cu", [], [sources]) is None
    keep(None, b"cubin", b"ptx")
    assert read_kept(None) is None


def test_a_folder_that_cannot_be_written_stops_nothing(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sources.parent / "file").write_text("no folder")
    monkeypatch.setenv(KEPT_CODE, str(sources.parent / "file" / "below"))
    keep(kept_file(sources / "a.cu", [], [sources]), b"cubin", b"ptx")
    assert found(sources) is None
