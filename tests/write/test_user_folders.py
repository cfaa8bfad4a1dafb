"""Folders of the user: named by the environment or below the home, never below the folder where a command runs."""

from pathlib import Path

import pytest

from sitegen.execute.sent import recall, remember
from sitegen.write.user_folders import NoHomeError, cache_folder, state_folder

VARIABLES = ("XDG_CACHE_HOME", "XDG_STATE_HOME")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("named", ["cache", ".", ""])
def test_relative_path_in_the_environment_is_ignored(named: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.setenv(variable, named)
    assert (cache_folder(), state_folder()) == (home / ".cache", home / ".local" / "state")


def test_environment_names_the_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    assert (cache_folder(), state_folder()) == (tmp_path / "c", tmp_path / "s")


def test_user_without_a_home_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoHomeError, match="XDG_STATE_HOME"):
        remember(b"a bundle", "0" * 64)
    assert recall("0" * 64) is None
    assert list(tmp_path.iterdir()) == []
