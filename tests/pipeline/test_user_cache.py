"""The cache of a site in the user's folder: its owner, its removal, and builds without it."""

from __future__ import annotations

import os
import shutil
import stat
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.pipeline import user_cache
from sitegen.pipeline.build import update
from sitegen.pipeline.user_cache import cache_of_site, compiled_templates
from sitegen.write.output import OutputError

MONTH_S = 30 * 24 * 3600


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg" / "sitegen"


def a_site(tmp_path: Path, name: str = "site") -> Path:
    (tmp_path / name).mkdir()
    return tmp_path / name


def unused_for(folder: Path, seconds: float) -> None:
    os.utime(folder, (time.time() - seconds,) * 2)


def test_only_the_user_may_open_the_cache(tmp_path: Path, base: Path) -> None:
    folder = cache_of_site(a_site(tmp_path))
    assert folder.parent == base / "sites"
    for place in (base, base / "sites", folder):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_site_has_one_cache_by_whatever_path_it_is_reached(tmp_path: Path) -> None:
    site = a_site(tmp_path)
    (tmp_path / "link").symlink_to(site)
    assert cache_of_site(site) == cache_of_site(tmp_path / "link") != cache_of_site(a_site(tmp_path, "other"))


def test_folder_that_others_can_read_is_closed(tmp_path: Path) -> None:
    folder = cache_of_site(a_site(tmp_path))
    folder.chmod(0o755)
    assert stat.S_IMODE(cache_of_site(tmp_path / "site").stat().st_mode) == 0o700


def test_cache_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = a_site(tmp_path)
    cache_of_site(site)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(OutputError, match="belongs to another user") as caught:
        cache_of_site(site)
    assert caught.value.diagnostic.hint.startswith("set XDG_CACHE_HOME")
    assert compiled_templates(site, b"1") is None


def test_compiled_templates_are_not_loaded_from_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = a_site(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(site / ".cache"))
    assert compiled_templates(site, b"1") is None
    with pytest.raises(OutputError, match="stands in the site"):
        cache_of_site(site)


def test_user_without_a_home_hears_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = a_site(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(user_cache, "cache_folder", lambda: Path("/proc/no-home"))
    with pytest.raises(OutputError, match="cannot be made"):
        cache_of_site(site)


@pytest.mark.parametrize(
    ("unused_s", "gone", "kept"),
    [(3600, True, True), (2 * 24 * 3600, True, False), (2 * 24 * 3600, False, True), (MONTH_S + 60, False, False)],
)
def test_cache_goes_with_its_site_or_after_a_month(tmp_path: Path, unused_s: float, gone: bool, kept: bool) -> None:
    site = a_site(tmp_path)
    folder = cache_of_site(site)
    unused_for(folder, unused_s)
    if gone:
        site.rmdir()
    cache_of_site(a_site(tmp_path, "new"))
    assert folder.exists() is kept


def test_cache_that_is_used_does_not_grow_old(tmp_path: Path) -> None:
    folder = cache_of_site(a_site(tmp_path))
    unused_for(folder, MONTH_S + 60)
    cache_of_site(tmp_path / "site")
    cache_of_site(a_site(tmp_path, "new"))
    assert folder.exists()


def test_templates_of_old_versions_go(tmp_path: Path) -> None:
    site = a_site(tmp_path)
    old = compiled_templates(site, b"1")
    assert old
    unused_for(old, MONTH_S + 60)
    assert compiled_templates(site, b"2")
    assert not old.exists()


@pytest.mark.parametrize("lost", [("cache",), ("public",), ("cache", "public")])
def test_build_without_its_cache_or_its_output_makes_the_same_site(
    fifty: SimpleNamespace, root: Path, lost: tuple[str, ...]
) -> None:
    update(root, root / "public", processes=1)
    before = fifty.tree(root / "public")
    for name in lost:
        shutil.rmtree(cache_of_site(root) if name == "cache" else root / "public")
    update(root, root / "public", processes=1)
    assert fifty.tree(root / "public") == before
