"""Links that a site may have: to its own files, and above the folders that the user names."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import load
from sitegen.write.output import OutputError


def test_link_to_a_file_of_the_site_is_read(fifty: SimpleNamespace, root: Path) -> None:
    fifty.write(root, "content/posts/linked/index.md", "---\ntitle: L\ndate: 2026-11-20\n---\nA [file](data.txt).\n")
    fifty.write(root, "content/shared/data.txt", "data")
    (root / "content/posts/linked/data.txt").symlink_to("../../shared/data.txt")
    (root / "content/posts/also.md").symlink_to("post-01.md")
    assert not update(root, root / "public", processes=1).failed
    assert (root / "public/posts/linked/data.txt").read_text() == "data"
    assert (root / "public/posts/also/index.html").is_file()


def test_site_and_named_output_may_be_reached_through_links(fifty: SimpleNamespace, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    (tmp_path / "to-site").symlink_to(root)
    assert not update(tmp_path / "to-site", tmp_path / "link", processes=1).failed
    update(root, root / "public", processes=1)
    assert fifty.tree(tmp_path / "elsewhere") == fifty.tree(root / "public")


def test_default_output_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "public").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="`public` cannot be written: it is a link"):
        update(root, root / "public", processes=1)
    assert not update(root, tmp_path / "elsewhere", processes=1).failed


def test_linked_folder_in_content_is_a_warning(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "content/posts/shared").symlink_to(tmp_path / "elsewhere")
    result = update(root, root / "public", processes=1)
    assert not result.failed
    assert "warning[SG022]: this folder is a link: nothing in it is read\n  content/posts/shared:1:1" in result.report
    found = [(d.span.path, d.severity) for d in load(root).diagnostics if d.code == "SG022"]
    assert found == [("content/posts/shared", "warning")]


@pytest.mark.parametrize("path", ["content/posts/.#post-01.md", "templates/.#post.html", "content/.#site.yaml"])
def test_lock_of_an_editor_is_no_mistake(root: Path, path: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    os.symlink("somebody@machine.1234:1", root / path)  # noqa: PTH211, as an editor makes it
    result = update(root, root / "public", processes=1)
    assert (result.failed, result.report) == (False, "")
