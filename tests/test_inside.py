"""No path and no link leads out of a root, whether it is read, listed, written or removed."""

import os
from pathlib import Path

import pytest

from sitegen import inside
from sitegen.inside import OutsideError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, beside a file that must not be reached."""
    (tmp_path / "site" / "a").mkdir(parents=True)
    (tmp_path / "site" / "a" / "page.md").write_text("inside")
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "secret").write_text("outside")
    return tmp_path / "site"


@pytest.mark.parametrize("path", ["", ".", "../victim/secret", "a/../../victim/secret", "/etc/passwd", "a//b", "a\0b"])
def test_path_that_is_not_below_the_root_is_refused(root: Path, path: str) -> None:
    with pytest.raises(OutsideError):
        inside.read_bytes(root, path)
    with pytest.raises(OutsideError):
        inside.write_bytes(root, path, b"x")
    with pytest.raises(OutsideError):
        inside.remove(root, path)


def test_link_out_of_the_root_is_not_read(root: Path) -> None:
    (root / "file").symlink_to(root.parent / "victim" / "secret")
    (root / "folder").symlink_to(root.parent / "victim")
    for path in ("file", "folder/secret"):
        with pytest.raises(OutsideError, match="leads out of the site"):
            inside.read_bytes(root, path)
        assert not inside.is_file(root, path)


def test_link_to_a_hidden_file_is_not_read(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("token")
    (root / "config").symlink_to(".git/config")
    with pytest.raises(OutsideError):
        inside.read_bytes(root, "config")


def test_link_to_a_file_of_the_site_is_read(root: Path) -> None:
    (root / "same").symlink_to("a/page.md")
    (root / "also").symlink_to("a")
    assert inside.read_bytes(root, "same") == inside.read_bytes(root, "also/page.md") == b"inside"


def test_root_may_be_reached_through_a_link(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    (root / "same").symlink_to("a/page.md")
    assert inside.read_bytes(root.parent / "link", "same") == b"inside"
    inside.write_bytes(root.parent / "link", "b/new", b"new")
    assert (root / "b" / "new").read_bytes() == b"new"


def test_pipe_and_device_are_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "zero").symlink_to("/dev/zero")
    for path in ("pipe", "zero"):
        with pytest.raises(OutsideError):
            inside.read_bytes(root, path)


def test_file_above_the_limit_is_refused(root: Path) -> None:
    with pytest.raises(OutsideError, match="larger than"):
        inside.read_bytes(root, "a/page.md", limit=3)


def test_nothing_is_written_through_a_link(root: Path) -> None:
    (root / "folder").symlink_to(root.parent / "victim")
    for path in ("folder/secret", "folder/below/new"):
        with pytest.raises(OutsideError):
            inside.write_bytes(root, path, b"overwritten")
    assert [(p.name, p.read_text()) for p in (root.parent / "victim").iterdir()] == [("secret", "outside")]


def test_link_in_the_place_of_a_file_is_replaced_and_its_target_is_left(root: Path) -> None:
    (root / "file").symlink_to(root.parent / "victim" / "secret")
    inside.write_bytes(root, "file", b"new")
    assert (root / "file").read_bytes() == b"new"
    assert not (root / "file").is_symlink()
    assert (root.parent / "victim" / "secret").read_text() == "outside"


def test_what_a_killed_process_left_beside_a_file_is_replaced(root: Path) -> None:
    (root / f".file.{os.getpid()}").symlink_to(root.parent / "victim" / "secret")
    inside.write_bytes(root, "file", b"new")
    assert (root.parent / "victim" / "secret").read_text() == "outside"


def test_nothing_is_removed_through_a_link(root: Path) -> None:
    (root / "folder").symlink_to(root.parent / "victim")
    (root / "file").symlink_to(root.parent / "victim" / "secret")
    with pytest.raises(OutsideError):
        inside.remove(root, "folder/secret")
    inside.remove(root, "file")
    assert (root.parent / "victim" / "secret").read_text() == "outside"
    assert not (root / "file").is_symlink()


def test_links_are_listed_and_not_entered(root: Path) -> None:
    (root / "a" / "folder").symlink_to(root.parent / "victim")
    (root / "room").symlink_to(root.parent / "victim")
    assert list(inside.files_below(root, "a")) == ["a/folder", "a/page.md"]
    assert list(inside.files_below(root)) == ["room", "a/folder", "a/page.md"]
    assert list(inside.files_below(root, "room")) == list(inside.files_below(root, "missing")) == []


def test_start_of_a_file_is_read(root: Path) -> None:
    assert inside.read_start(root, "a/page.md", 2) == b"in"


def test_place_of_a_file_has_no_link_in_it(root: Path) -> None:
    (root / "same").symlink_to("a/page.md")
    assert inside.resolved(root, "same") == inside.resolved(root, "a/page.md") == root / "a" / "page.md"


def test_folder_that_is_skipped_is_not_listed(root: Path) -> None:
    (root / "b").mkdir()
    (root / "b" / "page.md").write_text("inside")
    assert [path for path, _ in inside.entries_below(root, skips=lambda folder: folder == "a")] == ["b/page.md"]


def test_folders_are_asked_about_once(root: Path) -> None:
    (root / "folder").symlink_to(root.parent / "victim")
    (root / "stage").write_text("new")
    known: set[str] = set()
    with pytest.raises(OutsideError):
        inside.move(root, "stage", "folder/secret", known)
    inside.move(root, "stage", "b/c/page.md", known)
    assert known == {"b", "b/c"}
    assert (root / "b/c/page.md").read_text() == "new"


def test_new_folder_is_not_one_that_stands_there(root: Path) -> None:
    inside.make_new_folder(root, "b/new")
    (root / "folder").symlink_to(root.parent / "victim")
    for path in ("b/new", "folder"):
        with pytest.raises(FileExistsError):
            inside.make_new_folder(root, path)


def test_folder_goes_only_when_it_is_empty_and_no_link(root: Path) -> None:
    (root / "empty").mkdir()
    (root / "folder").symlink_to(root.parent / "victim")
    assert inside.remove_if_empty(root, "empty")
    assert not inside.remove_if_empty(root, "a")
    with pytest.raises(OutsideError):
        inside.remove_if_empty(root, "folder")
    assert sorted(path.name for path in root.iterdir()) == ["a", "folder"]


def test_tree_is_removed_and_a_link_in_its_place_is_not_followed(root: Path) -> None:
    (root / "folder").symlink_to(root.parent / "victim")
    for path in ("folder", "a", "missing"):
        inside.remove_tree(root, path)
    assert list(root.iterdir()) == []
    assert (root.parent / "victim" / "secret").read_text() == "outside"


def test_file_that_could_not_be_written_leaves_nothing_beside_it(root: Path) -> None:
    with pytest.raises(IsADirectoryError):
        inside.write_bytes(root, "a", b"new")
    assert [path.name for path in root.iterdir()] == ["a"]
