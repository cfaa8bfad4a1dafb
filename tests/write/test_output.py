"""The output folder: changed files are written, files no longer made are removed, files of others stay."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import render_diagnostic
from sitegen.write.output import STAGE, OutputError, WriteCounts, check_output, write_site

HOME = '<!doctype html><meta name="generator" content="sitegen"><title>Home</title>'


def tree(folder: Path) -> dict[str, bytes]:
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "public"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / ".sitegen"


def test_first_build_writes_text_as_utf8_and_bytes_as_they_are(output: Path, cache: Path) -> None:
    written = write_site(output, cache, {"index.html": "≥ 0.98\n", "posts/a/plot.png": b"\x89PNG\r\n"})
    assert written == WriteCounts(added=2, changed=0, removed=0, unchanged=0)
    assert tree(output) == {"index.html": "≥ 0.98\n".encode(), "posts/a/plot.png": b"\x89PNG\r\n"}


def test_unchanged_file_is_not_touched(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME, "a.txt": "old"})
    os.utime(output / "index.html", ns=(1, 1))
    assert write_site(output, cache, {"index.html": HOME, "a.txt": "new"}) == WriteCounts(0, 1, 0, 1)
    assert (output / "index.html").stat().st_mtime_ns == 1
    assert (output / "a.txt").read_text() == "new"


def test_change_of_the_same_length_is_seen(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": "1.5 ×"})
    assert write_site(output, cache, {"index.html": "1.6 ×"}).changed == 1


def test_file_that_somebody_edited_in_the_output_is_restored(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME})
    (output / "index.html").write_text("edited by hand")
    assert write_site(output, cache, {"index.html": HOME}).changed == 1
    assert (output / "index.html").read_text() == HOME


def test_page_that_is_no_longer_made_goes_with_its_empty_folders(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME, "posts/a/index.html": "a", "posts/b/deep/x.txt": "b"})
    assert write_site(output, cache, {"index.html": HOME, "posts/a/index.html": "a"}) == WriteCounts(0, 0, 1, 2)
    assert not (output / "posts/b").exists()


def test_file_of_somebody_else_is_never_removed(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME, "posts/a/index.html": "a"})
    (output / "CNAME").write_text("example.org")
    (output / "posts/a/notes.txt").write_text("mine")
    write_site(output, cache, {"index.html": HOME})
    assert set(tree(output)) == {"index.html", "CNAME", "posts/a/notes.txt"}


def test_file_becomes_a_folder_and_a_folder_a_file(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME, "about": "file", "tags/x/index.html": "folder"})
    write_site(output, cache, {"index.html": HOME, "about/index.html": "folder", "tags": "file"})
    assert tree(output) == {"index.html": HOME.encode(), "about/index.html": b"folder", "tags": b"file"}


def test_folder_with_files_of_somebody_else_is_refused_and_left_alone(output: Path, cache: Path) -> None:
    output.mkdir()
    (output / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError) as caught:
        write_site(output, cache, {"index.html": HOME})
    assert render_diagnostic(caught.value.diagnostic, None) == (
        "error[SG500]: `public` is not empty and was not made by sitegen\n"
        "  public:1:1\n"
        "    hint: empty it, or name another folder with `--out`"
    )
    assert set(tree(output)) == {"thesis.tex"}


def test_output_that_is_a_file_is_refused(output: Path, cache: Path) -> None:
    output.write_text("a file")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        write_site(output, cache, {"index.html": HOME})
    assert output.read_text() == "a file"


def test_output_that_cannot_be_made_is_a_message(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "notes.txt").write_text("a file")
    with pytest.raises(OutputError, match="`site` cannot be written: Not a directory"):
        write_site(tmp_path / "notes.txt" / "site", cache, {"index.html": HOME})


def test_the_folder_one_stands_in_is_refused_by_a_name(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=r"`\.` is not empty"):
        write_site(Path(), cache, {"index.html": HOME})


IN_TWO_TERMINALS = """
    import pathlib, sys
    from sitegen.write.output import write_site
    for n in range(30):
        pages = {f"{page}.html": f"{sys.argv[1]} {n}" for page in range(30)}
        write_site(pathlib.Path("public"), pathlib.Path(".sitegen"), pages)
"""


def test_builds_in_two_terminals_take_turns(tmp_path: Path, output: Path) -> None:
    script = [sys.executable, "-c", textwrap.dedent(IN_TWO_TERMINALS)]
    both = [subprocess.Popen([*script, name], cwd=tmp_path, stderr=subprocess.PIPE, text=True) for name in "ab"]
    assert [build.communicate()[1] for build in both] == ["", ""]
    assert set(tree(output).values()) in ({b"a 29"}, {b"b 29"})


def test_empty_folder_is_taken(output: Path, cache: Path) -> None:
    output.mkdir()
    assert write_site(output, cache, {"index.html": HOME}).added == 1


def test_deleted_cache_does_not_lock_the_author_out(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME, "old/index.html": HOME, "feed.xml": "<feed>"})
    (output / "CNAME").write_text("example.org")
    shutil.rmtree(cache)
    write_site(output, cache, {"index.html": HOME, "feed.xml": "<feed>2"})
    assert tree(output) == {"index.html": HOME.encode(), "feed.xml": b"<feed>2", "CNAME": b"example.org"}


def test_folder_refilled_by_somebody_else_is_no_longer_ours(output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME})
    shutil.rmtree(output)
    output.mkdir()
    (output / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="not made by sitegen"):
        check_output(output, cache)


@pytest.mark.parametrize(
    ("theirs", "ours", "message"),
    [
        ("about/photo.jpg", "about", "`public/about` is a folder, where the site needs a file"),
        ("about", "about/index.html", "`public/about` is a file, where the site needs a folder"),
    ],
)
def test_somebodys_file_in_the_way_is_a_message_and_stays(
    output: Path, cache: Path, theirs: str, ours: str, message: str
) -> None:
    write_site(output, cache, {"index.html": HOME})
    (output / theirs).parent.mkdir(exist_ok=True)
    (output / theirs).write_text("mine")
    with pytest.raises(OutputError) as caught:
        write_site(output, cache, {"index.html": "changed", ours: "page"})
    assert caught.value.diagnostic.message == message
    assert tree(output) == {"index.html": HOME.encode(), theirs: b"mine"}


@pytest.mark.parametrize("path", ["../escape", "/etc/passwd", "a/../../b", "a//b", "./a", f"{STAGE}/0"])
def test_path_outside_the_output_is_a_bug_and_raises(output: Path, cache: Path, path: str) -> None:
    with pytest.raises(ValueError, match="not a path inside the output"):
        write_site(output, cache, {path: ""})
    assert not output.exists()


DISK_FULL = """
    import pathlib, resource
    from sitegen.write.output import write_site
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    pages = {"index.html": "new", "posts/b/index.html": "b" * 9000}
    write_site(pathlib.Path("public"), pathlib.Path(".sitegen"), pages)
"""


def test_full_disk_leaves_every_file_as_it_was(tmp_path: Path, output: Path, cache: Path) -> None:
    write_site(output, cache, {"index.html": HOME, "posts/a/index.html": "a"})
    before = tree(output)
    script = [sys.executable, "-c", textwrap.dedent(DISK_FULL)]
    failed = subprocess.run(script, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "File too large" in failed.stderr
    assert tree(output) == before


KILLED_MIDWAY = """
    import os, pathlib, signal
    from sitegen.write.output import write_site
    renamed = 0
    rename = os.replace
    def dying(source, target):
        global renamed
        if "index.html" in str(target) and (renamed := renamed + 1) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return rename(source, target)
    os.replace = dying
    write_site(pathlib.Path("public"), pathlib.Path(".sitegen"), {f"{n}/index.html": "new" * 1000 for n in range(6)})
"""


def test_killed_build_leaves_whole_files_and_the_next_build_mends_them(
    tmp_path: Path, output: Path, cache: Path
) -> None:
    write_site(output, cache, {f"{n}/index.html": "old" * 1000 for n in range(8)})
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED_MIDWAY)], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    pages = {path: data for path, data in tree(output).items() if not path.startswith(STAGE)}
    assert set(pages.values()) == {b"old" * 1000, b"new" * 1000}
    write_site(output, cache, {"0/index.html": "last"})
    assert tree(output) == {"0/index.html": b"last"}


def test_build_killed_at_any_moment_never_shows_half_a_file(tmp_path: Path, output: Path, cache: Path) -> None:
    script = (
        "import itertools, pathlib; from sitegen.write.output import write_site\n"
        "for n in itertools.count():\n"
        "    page = str(n % 10) * 2_000_000\n"
        "    write_site(pathlib.Path('public'), pathlib.Path('.sitegen'), {'index.html': page, 'b.html': page})\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 20
        while not (output / "b.html").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        pages = [(output / "index.html").read_bytes() for _ in range(50)]
    finally:
        writer.kill()
        writer.wait()
    assert {(len(page), len(set(page))) for page in pages} == {(2_000_000, 1)}


PATHS = st.lists(st.sampled_from(["a", "b", "index.html"]), min_size=1, max_size=3).map("/".join)


def consistent(files: dict[str, bytes]) -> bool:
    return not any(other.startswith(f"{path}/") for path in files for other in files)


SITES = st.dictionaries(PATHS, st.binary(max_size=3), max_size=6).filter(consistent)


@given(sites=st.lists(SITES, min_size=2, max_size=4))
def test_output_after_any_series_of_builds_equals_a_clean_build(
    sites: list[dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("site")
    for site in sites:
        write_site(root / "public", root / ".sitegen", site)
        assert tree(root / "public") == site
