"""A repository that brings an output: nothing is written or removed outside of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import pytest

Site = Any
Commit = Callable[[Any], None]


def test_post_folder_that_is_a_link_to_git_does_not_replace_its_configuration(
    site: Site, made_by_sitegen: Commit
) -> None:
    """`public/posts/pwn → ../../.git`, and a post `pwn` with a file `config` that runs a command."""
    made_by_sitegen(site)
    site.write(".git/config", "[core]\n")
    site.write("content/posts/pwn/index.md", "---\ntitle: Pwn\ndate: 2026-11-20\n---\nA [file](config).\n")
    site.write("content/posts/pwn/config", "[core]\nfsmonitor = touch /tmp/pwned\n")
    site.link("public/posts/pwn", "../../.git")
    done = site.run("build")
    assert (site.root / ".git/config").read_text() == "[core]\n"
    assert done.refused
    assert "`public/posts/pwn` cannot be written: it is a link" in done.said


def test_output_that_is_a_link_is_not_written(site: Site) -> None:
    """`public → ../victim`, which is empty."""
    (site.victim / "secret").unlink()
    site.link("public", site.victim)
    done = site.run("build")
    assert site.files(site.victim) == {}
    assert done.refused
    assert "`public` cannot be written: it is a link" in done.said


def test_output_that_is_a_link_is_not_written_when_it_is_named(site: Site) -> None:
    """`public → ../victim`, and a workflow that says `--out public`."""
    (site.victim / "secret").unlink()
    site.link("public", site.victim)
    assert site.run("build", "--out", "public").refused
    assert site.files(site.victim) == {}


@pytest.mark.parametrize("folder", ["assets", "posts", "posts/x", "tags"])
def test_folder_of_the_output_that_is_a_link_is_not_written(site: Site, made_by_sitegen: Commit, folder: str) -> None:
    """The link `public/assets → ../../victim`, and the same for each folder that a build makes."""
    made_by_sitegen(site)
    site.write("content/posts/first.md", "---\ntitle: First\ndate: 2026-11-20\ntags: [a]\n---\nText.\n")
    site.link(f"public/{folder}", site.victim)
    assert site.run("build").refused
    assert site.untouched


def test_link_to_another_folder_of_the_output_is_not_written_through(site: Site, made_by_sitegen: Commit) -> None:
    """`public/posts → ../content/posts`: a build would put its pages among the sources."""
    made_by_sitegen(site)
    before = site.files(site.root / "content")
    site.link("public/posts", "../content/posts")
    assert site.run("build").refused
    assert site.files(site.root / "content") == before


def test_permalink_and_alias_below_a_link_are_not_written(site: Site, made_by_sitegen: Commit) -> None:
    """`public/old → ../../victim`, and a post whose alias and permalink are `/old/…`."""
    made_by_sitegen(site)
    front = "title: First\ndate: 2026-11-20\npermalink: /old/keys/\naliases: [/old/hosts/]"
    site.write("content/posts/first.md", f"---\n{front}\n---\nText.\n")
    site.link("public/old", site.victim)
    assert site.run("build").refused
    assert site.untouched


def test_permalink_does_not_put_files_into_git_of_the_output(site: Site) -> None:
    """A post has `permalink: /.git/` and a file `config`; `public/` is a clone from which the author publishes."""
    assert site.run("build").status == 0
    site.write("public/.git/config", "[core]\n")
    front = "title: Pwn\ndate: 2026-11-20\npermalink: /.git/"
    site.write("content/posts/pwn/index.md", f"---\n{front}\n---\nA [file](config).\n")
    site.write("content/posts/pwn/config", "[core]\nfsmonitor = touch /tmp/pwned\n")
    done = site.run("build")
    assert (site.root / "public/.git/config").read_text() == "[core]\n"
    assert done.refused


@pytest.mark.parametrize("alias", ["/.htaccess", "/x/.htaccess", "/.git/hooks/"])
def test_alias_does_not_write_a_hidden_file(site: Site, alias: str) -> None:
    """A server would read the redirect page of the alias `/.htaccess` as its configuration."""
    site.write("content/posts/first.md", f"---\ntitle: First\ndate: 2026-11-20\naliases: [{alias}]\n---\nText.\n")
    assert site.run("build").refused
    assert not list((site.root / "public").rglob(".*"))


def test_page_that_is_gone_is_not_removed_through_a_link(site: Site) -> None:
    """The folder of a removed post is now a link to a folder with files of the same names."""
    assert site.run("build").status == 0
    (site.victim / "index.html").write_text("of somebody else")
    (site.root / "content/posts/first.md").unlink()
    shutil.rmtree(site.root / "public/posts/first")
    site.link("public/posts/first", site.victim)
    site.run("build")
    assert (site.victim / "index.html").read_text() == "of somebody else"


def test_manifest_that_a_repository_brings_removes_nothing(site: Site, made_by_sitegen: Commit) -> None:
    """`.sitegen/outputs/<digest of the output's path>.json` lists `../../victim/secret`."""
    made_by_sitegen(site)
    name = hashlib.sha256(str((site.root / "public").resolve()).encode()).hexdigest()[:16]
    listed = {"output": "public", "files": ["index.html", "../../victim/secret"]}
    site.write(f".sitegen/outputs/{name}.json", json.dumps(listed))
    site.run("build")
    assert site.untouched


def test_pipe_in_the_output_does_not_hang_the_build(site: Site, made_by_sitegen: Commit) -> None:
    """`public/posts/pipe` is a FIFO: the build looks for its own pages there."""
    made_by_sitegen(site)
    (site.root / "public/posts").mkdir()
    os.mkfifo(site.root / "public/posts/pipe")
    assert site.run("build").status == 0


def test_link_to_a_device_in_the_place_of_an_empty_file_is_replaced(site: Site, made_by_sitegen: Commit) -> None:
    """`public/posts/x/data.txt → /dev/zero`, of the same size as the empty file that stands there otherwise."""
    made_by_sitegen(site)
    site.write("content/posts/x/data.txt", "")
    site.link("public/posts/x/data.txt", "/dev/zero")
    assert site.run("build").status == 0
    assert (site.root / "public/posts/x/data.txt").lstat().st_size == 0
    assert not (site.root / "public/posts/x/data.txt").is_symlink()


def test_link_in_the_place_of_a_page_is_replaced_when_its_target_has_the_same_content(site: Site) -> None:
    """`public/index.html → a copy of the page outside`: whoever owns the copy could change the site later."""
    assert site.run("build").status == 0
    shutil.copy(site.root / "public/index.html", site.victim / "copy.html")
    site.link("public/index.html", site.victim / "copy.html")
    assert site.run("build").status == 0
    assert not (site.root / "public/index.html").is_symlink()


def test_new_post_is_not_written_through_a_link(site: Site) -> None:
    """`content/posts → ../../victim`, and the author types `sitegen new post`."""
    shutil.rmtree(site.root / "content/posts")
    site.link("content/posts", site.victim)
    done = site.run("new", "post", "A title")
    assert site.untouched
    assert done.refused


def test_import_is_not_written_through_a_link(site: Site) -> None:
    """`content/worklog → ../../victim`, and the author imports a diary."""
    site.link("content/worklog", site.victim)
    (site.root.parent / "diary.md").write_text("2026-11-20\n\nRead.\n\n2026-11-21\n\nWrote.\n")
    done = site.run("import", "worklog", "../diary.md")
    assert site.untouched
    assert done.refused
