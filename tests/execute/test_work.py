"""A job in a process of its own, on the machine that has the GPU."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

import pytest

from sitegen.execute import work


@pytest.fixture
def torch(tmp_path, monkeypatch):
    """A package torch without compiled modules."""
    origin = tmp_path / "torch" / "__init__.py"
    origin.parent.mkdir()
    origin.write_text("")
    spec = ModuleSpec("torch", None, origin=str(origin))
    spec.has_location = True
    monkeypatch.setattr(work.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return spec


def test_where_torch_lies_without_compiled_modules_a_folder_of_ours_keeps_them(torch, tmp_path):
    found = work.compiled_modules()
    assert found == {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(tmp_path / "cache" / "sitegen" / "modules"),
    }


def test_python_is_left_to_itself_where_it_may_write_them_or_has_them(torch, tmp_path, monkeypatch):
    (tmp_path / "compiled.pyc").write_bytes(b"")
    torch.cached = str(tmp_path / "compiled.pyc")
    assert work.compiled_modules() == {}
    torch.cached = str(tmp_path / "nowhere.pyc")
    assert work.compiled_modules()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert work.compiled_modules() == {}


def test_a_machine_without_torch_gets_nothing(monkeypatch):
    monkeypatch.setattr(work.importlib.util, "find_spec", lambda name: None)
    assert work.compiled_modules() == {}
