"""No path and no link leads out of a root, for any operation, and every room uses the functions of `inside`."""

import ast
import fcntl
import os
from collections.abc import Iterator
from fnmatch import fnmatch
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


def test_folder_is_locked_by_one_at_a_time_and_never_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    root = tmp_path / "site"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    for path in ("link", "link/below"):
        with pytest.raises(OSError), inside.locked_folder(root, path):
            pass
    assert list((tmp_path / "outside").iterdir()) == []
    with inside.locked_folder(root, "content/worklog"):
        second = os.open(root / "content/worklog", os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(second)


SITEGEN = Path(__file__).parent.parent / "sitegen"
OPEN_FILES = {
    "inside.py": "opens what content names, and refuses what leads out of the site",
    # Files of this program, which a site cannot bring.
    "pipeline/catalogues.py:_text": "the default theme",
    "pipeline/probe_sources.py": "a file of the package",
    "pipeline/versions.py": "the folders of installed packages",
    "highlight/lines.py:fingerprint": "files of the package",
    "markup/directives/__init__.py:styles": "files of the package",
    "markup/math.py": "a file of the package",
    "render/outputs/card_letters.py:_files": "fonts of a package",
    "render/shared/theme.py:_shipped": "the default theme",
    "render/shared/theme.py:load_theme": "the default theme",
    "serve/app.py": "a file of the package",
    "write/scaffold.py:_read_workflow": "a file of the package",
    # The cache folder of the user, which `pipeline/user_cache.py` makes.
    "pipeline/user_cache.py": "makes the folder",
    "write/cache.py": "is given files of the cache",
    "write/drawings.py": "is given a folder of the cache",
    "write/images.py:remove_unused_variants": "is given a folder of the cache",
    "write/fragments.py": "is given a folder of the cache",
    "write/images.py:_write_whole": "is given a folder of the cache",
    "write/images.py:variant_contents": "is given a folder of the cache",
    "pipeline/mend_import.py:_forget": "the cache of a temporary folder",
    "pipeline/external_links.py:_read": "is given a file of the cache",
    "pipeline/external_links.py:_write": "is given a file of the cache",
    "write/output.py:_write_manifest": "a file of the cache",
    "write/output.py:_read_manifest": "a file of the cache",
    "write/output.py:locked_output": "a file of the cache",
    # Folders that this process has made for itself.
    "editor/mirror.py:_link": "the folder of the mirror; `inside.resolved` finds the file of the site",
    "pipeline/spelling.py:_codespell": "a temporary folder",
    "write/output.py:stage": "a folder that `staging` has just made, with a name of our own",
    # Files that the command line names.
    "cli/sides.py:_side": "a record that the command line names",
    "cli/importing.py:worklog": "a diary that the command line names",
    "importing/worklog.py:import_worklog": "a diary that the command line names",
    "write/scaffold.py:_requirements": "the wheel from which this program was installed",
    # What has the name of such a function and opens no file.
    "read/distribution.py:install_source": "reads the metadata of an installed package",
    "cli/site.py:serve": "opens a browser",
    "highlight/compiled/*": "opens a state of a lexer",
    "read/images.py:_read_pixels": "decodes bytes",
    "render/outputs/card_picture.py:_flattened": "decodes bytes",
    "write/images.py:_open_image": "decodes bytes",
    # Rooms that do not go through `inside` yet.
    "execute/*": "temporary folders, and archives that the command line names",
    "measure/*": "a temporary folder on the machine that measures",
    "results/*": "records, which are named by the site's kernels and cells",
}
"""Places where a file is opened, listed, written or removed without `inside`: file and function, with the reason."""
METHODS = {
    *(
        "chmod",
        "glob",
        "hardlink_to",
        "iterdir",
        "mkdir",
        "open",
        "read_bytes",
        "read_text",
        "rename",
        "rglob",
        "rmdir",
    ),
    *("symlink_to", "touch", "unlink", "walk", "write_bytes", "write_text"),
}
OF_OS = METHODS | {"link", "listdir", "makedirs", "remove", "removedirs", "replace", "scandir", "symlink", "truncate"}


def names_a_file(call: ast.AST) -> bool:
    """Return whether a statement opens, lists, writes or removes a file by its name, or imports a function for that."""
    if isinstance(call, ast.ImportFrom):
        wanted = {"os": OF_OS, "shutil": {alias.name for alias in call.names} - {"which"}}.get(call.module or "", set())
        return any(alias.name in wanted for alias in call.names)
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name):
        return call.func.id == "open"
    if not isinstance(call.func, ast.Attribute):
        return False
    of, name = ast.unparse(call.func.value), call.func.attr
    moves_a_path = name == "replace" and len(call.args) == 1 and not call.keywords  # that of a string takes two
    others = {"inside": False, "os": name in OF_OS, "shutil": name not in ("which", "get_terminal_size")}
    return others.get(of, name in METHODS or moves_a_path)


def within(node: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield each node below another one, and the name of the innermost function around it."""
    for child in ast.iter_child_nodes(node):
        yield function, child
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from within(child, child.name if named else function)


def opened(root: Path) -> dict[str, int]:
    """Return the places where files are named: `file:function`, with the first line."""
    found: dict[str, int] = {}
    for file in sorted(root.rglob("*.py")):
        for function, node in within(ast.parse(file.read_text(encoding="utf-8"))):
            if names_a_file(node):
                found.setdefault(f"{file.relative_to(root).as_posix()}:{function}", getattr(node, "lineno", 0))
    return found


def covers(allowed: str, place: str) -> bool:
    return fnmatch(place, allowed if ":" in allowed else f"{allowed}:*")


def test_files_are_named_only_where_a_site_cannot_choose_them() -> None:
    places = opened(SITEGEN)
    assert {p: line for p, line in places.items() if not any(covers(allowed, p) for allowed in OPEN_FILES)} == {}
    assert [a for a in OPEN_FILES if "*" not in a and not any(covers(a, place) for place in places)] == []


@pytest.mark.parametrize(
    "text",
    [
        "open(path)",
        "(root / path).open()",
        "def f(root):\n    return [p.read_text() for p in root.rglob('*')]",
        "os.walk(root)",
        "shutil.rmtree(root)",
        "partial.replace(path)",
        "from os import scandir",
        "from shutil import copyfile",
        "Path.unlink(path)",
    ],
)
def test_file_that_a_site_may_name_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "module.py").write_text(text)
    assert len(opened(tmp_path)) == 1


@pytest.mark.parametrize("text", ["inside.read_bytes(root, path)", "'a'.replace('a', 'b')", "replace(page, body='')"])
def test_what_names_no_file_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "module.py").write_text(text)
    assert opened(tmp_path) == {}
