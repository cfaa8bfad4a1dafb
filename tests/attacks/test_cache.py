"""A repository that brings a cache, or a machine with several users: a build uses only the cache of its own user."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from sitegen.pipeline.versions import versions
from sitegen.read.privacy import load_privacy
from sitegen.write import cache

Site = Any


def caches(site: Site) -> dict[str, bytes]:
    """Return the files of the site's cache by path, wherever the cache is."""
    places = [site.root / ".sitegen", *(site.cache / "sitegen/sites").glob("*")]
    return {path: data for place in places for path, data in site.files(place).items()}


def cards(site: Site) -> dict[str, bytes]:
    """Return the pictures of the output that no text shows."""
    return {path: data for path, data in site.files(site.root / "public").items() if path.endswith(".png")}


def test_lock_that_is_a_link_is_not_emptied(site: Site) -> None:
    """`.sitegen/lock → ../../victim/secret`."""
    site.link(".sitegen/lock", site.victim / "secret")
    assert site.run("build").status == 0
    assert site.untouched


def test_pages_are_not_removed_from_a_folder_that_fragments_leads_to(site: Site) -> None:
    """The link `.sitegen/fragments → ../../victim` leads to a folder that contains pages."""
    (site.victim / "thesis.html").write_text("years of work")
    site.before = site.files(site.victim)
    site.link(".sitegen/fragments", site.victim)
    assert site.run("build").status == 0
    assert site.untouched


def test_cache_that_is_a_link_is_not_written(site: Site) -> None:
    """`.sitegen → ../victim`."""
    site.link(".sitegen", site.victim)
    assert site.run("build").status == 0
    assert site.untouched


@pytest.mark.parametrize("name", ["texts.cache", "lock"])
def test_file_in_a_cache_that_a_repository_brings_is_not_opened(site: Site, name: str) -> None:
    """The files `.sitegen/texts.cache` and `.sitegen/lock` are FIFOs: a build that opens one of them hangs."""
    (site.root / ".sitegen").mkdir()
    os.mkfifo(site.root / ".sitegen" / name)
    assert site.run("build").status == 0


def test_nothing_is_written_into_the_site_but_its_output(site: Site) -> None:
    """The next build would trust a `.sitegen` folder in the site, which anybody could have written."""
    assert site.run("build").status == 0
    assert {path.name for path in site.root.iterdir()} == {"content", "public"}


def test_cache_of_a_repository_does_not_reach_marshal(site: Site) -> None:
    """The page showed bytes of `.sitegen/cards/<digest>.cache`, whose head was valid."""
    pytest.importorskip("uharfbuzz")
    site.write("content/site.yaml", "title: Notes\nbase_url: https://example.org/\ncards: true\n")
    assert site.run("build").status == 0
    names = [name for name in caches(site) if name.startswith("cards/")]
    before, version = cards(site), versions() + load_privacy(site.root).key
    kept = {cache.load(path, version) for path in site.cache.rglob("cards/*.cache")}
    assert names and kept == set(before.values())
    for folder in (site.cache, site.root / "public", site.root / ".sitegen"):
        shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        cache.save(site.root / ".sitegen" / name, version, b"what a stranger wrote")
    assert site.run("build").status == 0
    assert cards(site) == before


def test_form_of_an_image_does_not_come_from_the_repository(site: Site) -> None:
    """The page showed the file `.sitegen/images/<digest>-480.avif` instead of the image that was reviewed."""
    pillow = pytest.importorskip("PIL.Image")
    site.write("content/site.yaml", "title: Notes\nbase_url: https://example.org/\nimages: true\n")
    site.write("content/posts/x/index.md", "---\ntitle: X\ndate: 2026-11-21\n---\n![A picture](a.png)\n")
    pillow.new("RGB", (600, 300), "red").save(site.root / "content/posts/x/a.png")
    assert site.run("build").status == 0
    names = [name for name in caches(site) if name.startswith("images/")]
    assert names
    for folder in (site.cache, site.root / "public", site.root / ".sitegen"):
        shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        site.write(f".sitegen/{name}", b"another picture")
    assert site.run("build").status == 0
    assert b"another picture" not in site.published


def test_cache_folder_of_the_user_that_is_a_link_is_refused(site: Site) -> None:
    """Another user of the machine made `$XDG_CACHE_HOME/sitegen → ../victim`."""
    site.cache.mkdir()
    (site.cache / "sitegen").symlink_to(site.victim)
    done = site.run("build")
    assert site.untouched
    assert not list(site.victim.glob("*/*"))
    assert done.refused
    assert "XDG_CACHE_HOME" in done.said


def test_cache_folder_in_the_site_is_refused(site: Site) -> None:
    """Some CI systems set `XDG_CACHE_HOME=.cache` below the site, where a repository can bring the content."""
    done = site.run("build", XDG_CACHE_HOME=str(site.root / ".cache"))
    assert not (site.root / ".cache").exists()
    assert done.refused


def test_relative_cache_folder_is_not_taken(site: Site, tmp_path: Path) -> None:
    """The value `XDG_CACHE_HOME=cache` would be a folder of the site; the XDG specification ignores relative paths."""
    assert site.run("build", XDG_CACHE_HOME="cache", HOME=str(tmp_path / "home")).status == 0
    assert not (site.root / "cache").exists()
    assert (tmp_path / "home/.cache/sitegen/sites").is_dir()


def test_cache_of_the_site_that_others_may_write_is_refused(site: Site) -> None:
    """The cache folder of this site exists already, and every user of the machine can write into it."""
    name = hashlib.sha256(os.fsencode(site.root.resolve())).hexdigest()
    planted = site.cache / "sitegen/sites" / name
    planted.mkdir(parents=True)
    planted.chmod(0o777)
    done = site.run("build")
    assert done.refused
    assert "can be written by other users" in done.said
