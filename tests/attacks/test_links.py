"""A repository that brings links: no command reads a file outside of the site, or a hidden file of it."""

from __future__ import annotations

import datetime as dt
import json
import os
import socket
import struct
import zlib
from typing import Any

import pytest

from sitegen.pipeline.preview import PreviewSite

Site = Any
SECRET = b"a-secret-of-this-machine"
KERNEL = """kernel: scale
summary: A vector times two.
dims: [N]
inputs: {x: {shape: [N]}}
outputs: {y: {shape: [N]}}
dtypes: [float32]
flops: N
reads: 4 * N
writes: 4 * N
tolerance: {float32: 0}
checks: [{N: 8}]
workloads: [{N: 8}]
baselines: []
implementations: [{name: tile, file: tile.py}]
"""


def picture() -> bytes:
    """Return a picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(4))) + chunk(b"IEND", b"")


def kernel(site: Site) -> None:
    """Write a kernel with one implementation, which a post shows."""
    site.write("kernels/scale/kernel.yaml", KERNEL)
    site.write("kernels/scale/reference.py", "def make_inputs(): pass\ndef reference(): pass\n")
    site.write("kernels/scale/tile.py", "def scale(x): return x\n")
    text = "---\ntitle: K\ndate: 2026-11-20\nkernels: [scale]\n---\n```{kernel} scale/tile\n```\n"
    site.write("content/posts/k.md", text)


def refuses(site: Site, *paths: str) -> None:
    """Check that `build` and `check` both report each file as unreadable and that nothing of it is published."""
    for command in ("build", "check"):
        done = site.run(command)
        assert SECRET not in site.published
        assert SECRET.decode() not in done.said
        assert done.refused
        for path in paths:
            assert f"{path}:1:1" in done.said


@pytest.mark.parametrize(
    "target",
    ["/etc/passwd", "/proc/self/environ", "../../../.git/config", "../../../../victim/secret", "../../../content/.env"],
)
def test_file_that_a_post_links_to_leads_nowhere_else(site: Site, target: str) -> None:
    """The link `data.txt` leads to `/etc/passwd`, the environment, git's files, `victim/secret` or `.env`."""
    site.write(".git/config", f"token = {SECRET.decode()}")
    site.write("content/.env", f"TOKEN={SECRET.decode()}")
    site.link("content/posts/x/data.txt", target)
    refuses(site, "content/posts/x/data.txt")
    assert b"root:" not in site.published


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/random"])
def test_device_that_a_post_links_to_takes_no_memory(site: Site, target: str) -> None:
    """`content/posts/x/data.txt → /dev/zero`."""
    site.link("content/posts/x/data.txt", target)
    refuses(site, "content/posts/x/data.txt")


@pytest.mark.parametrize("path", ["content/posts/x/data.txt", "content/posts/x/index.md"])
def test_pipe_does_not_hang_a_build(site: Site, path: str) -> None:
    """A FIFO stands in the place of a file and of a text."""
    (site.root / path).unlink()
    os.mkfifo(site.root / path)
    refuses(site, path)


@pytest.mark.parametrize("target", ["data.txt", "nowhere"])
def test_link_to_itself_or_to_nowhere_is_a_message(site: Site, target: str) -> None:
    """The link `content/posts/x/data.txt → data.txt` ended the build with a traceback."""
    site.link("content/posts/x/data.txt", target)
    refuses(site, "content/posts/x/data.txt")


def test_socket_is_a_message(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket in the place of a file ended the build with a traceback."""
    monkeypatch.chdir(site.root / "content/posts/x")
    os.unlink("data.txt")  # noqa: PTH108, the path of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("data.txt")
    refuses(site, "content/posts/x/data.txt")


def test_file_of_a_terabyte_takes_no_memory(site: Site) -> None:
    """A sparse file, which is small in an archive, beside a post that links to it."""
    with (site.root / "content/posts/x/data.txt").open("wb") as file:
        file.truncate(2**40)
    refuses(site, "content/posts/x/data.txt")


def test_pipe_that_no_text_links_to_does_not_hang_a_build(site: Site) -> None:
    """A build takes the digest of each file in `content/`, so a FIFO of any name would block it."""
    os.mkfifo(site.root / "content/posts/x/pipe")
    assert site.run("build").status == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("content/posts/first.md", "---\ntitle: First\ndate: 2026-11-20\n---\n{}\n"),
        ("content/posts/x/index.md", "---\ntitle: X\ndate: 2026-11-20\n---\n{}\n"),
        ("content/pages/about.md", "---\ntitle: About\n---\n{}\n"),
        ("content/terms/warp.md", "---\ntitle: Warp\n---\n{}\n"),
        ("content/references.bib", "@misc{{key, title = {{{}}}, year = 2026}}\n"),
        ("series/roadmap.yaml", "title: {}\nposts: [cites]\n"),
    ],
)
def test_text_that_is_a_link_is_not_published(site: Site, path: str, text: str) -> None:
    """A post, a page, a term, a bibliography or a series that is a link to a file beside the site."""
    (site.victim / "secret").write_text(text.format(SECRET.decode()))
    cites = "[@key]" if path.endswith(".bib") else ""
    site.write("content/posts/cites.md", f"---\ntitle: C\ndate: 2026-11-20\n---\n{cites}\n")
    site.link(path, site.victim / "secret")
    refuses(site, path)


@pytest.mark.parametrize("path", ["tile.py", "reference.py", "kernel.yaml"])
def test_source_of_a_kernel_that_is_a_link_is_not_shown(site: Site, path: str) -> None:
    """`kernels/scale/tile.py → ../../../victim/secret`."""
    kernel(site)
    source = (site.root / "kernels/scale" / path).read_text()
    (site.victim / "secret").write_text(f"# {SECRET.decode()}\n{source}")
    site.link(f"kernels/scale/{path}", site.victim / "secret")
    refuses(site, f"kernels/scale/{path}")


@pytest.mark.parametrize("path", ["robots.txt", "assets/extra.js", "languages/ko.json", "post.html"])
def test_template_that_is_a_link_is_not_published(site: Site, path: str) -> None:
    """`templates/robots.txt → ../../victim/secret`, and the same for an asset, a catalogue and a page."""
    site.link(f"templates/{path}", site.victim / "secret")
    refuses(site, f"templates/{path}")


def test_folder_of_templates_that_is_a_link_is_not_published(site: Site) -> None:
    """`templates/assets → ../../victim`."""
    site.link("templates/assets", site.victim)
    refuses(site, "templates/assets")


@pytest.mark.parametrize("room", ["content", "series", "kernels", "templates"])
def test_room_that_is_a_link_is_not_read(site: Site, room: str) -> None:
    """`content → ../elsewhere/content`, and the same for each other folder that a site is read from."""
    if (site.root / room).exists():
        (site.root / room).rename(site.victim / room)
    (site.victim / room).mkdir(exist_ok=True)
    (site.victim / room / "robots.txt").write_text(SECRET.decode())
    site.link(room, site.victim / room)
    refuses(site, room)


def test_image_that_is_a_link_is_not_shown(site: Site) -> None:
    """`content/posts/x/plot.png → ../../../../victim/private.png`, of which the site makes smaller forms."""
    (site.victim / "private.png").write_bytes(picture())
    site.write("content/site.yaml", "title: Notes\nbase_url: https://example.org/\nimages: true\n")
    site.write("content/posts/x/index.md", "---\ntitle: X\ndate: 2026-11-21\n---\n![Private](plot.png)\n")
    site.link("content/posts/x/plot.png", site.victim / "private.png")
    refuses(site, "content/posts/x/plot.png")
    assert not list((site.root / "public").rglob("plot*"))


def test_link_through_a_link_is_followed_to_its_end(site: Site) -> None:
    """`data.txt → other → ../../../../victim/secret`: the first link stays in the site."""
    site.link("content/posts/x/other", site.victim / "secret")
    site.link("content/posts/x/data.txt", "other")
    refuses(site, "content/posts/x/data.txt")


def test_all_links_are_reported_at_once(site: Site) -> None:
    """One run reports a text, a file, a template and a room, so that the author can correct all of them."""
    site.link("content/posts/first.md", site.victim / "secret")
    site.link("content/posts/x/data.txt", site.victim / "secret")
    site.link("templates/robots.txt", site.victim / "secret")
    site.link("series", site.victim)
    refuses(site, "content/posts/first.md", "content/posts/x/data.txt", "templates/robots.txt", "series")


def test_file_becomes_a_link_between_two_builds(site: Site) -> None:
    """A pull request replaces a published file by a link of the same name."""
    assert site.run("build").status == 0
    site.link("content/posts/x/data.txt", site.victim / "secret")
    refuses(site, "content/posts/x/data.txt")


@pytest.mark.parametrize("name", [".env", ".hidden/data.txt"])
def test_hidden_file_that_a_text_links_to_is_not_published(site: Site, name: str) -> None:
    """A post links to `.env` beside it: an editor or a tool may have put it there."""
    site.write(f"content/posts/x/{name}", SECRET)
    site.write("content/posts/x/index.md", f"---\ntitle: X\ndate: 2026-11-21\n---\nA [file]({name}).\n")
    refuses(site)


def test_preview_does_not_show_a_file_outside(site: Site) -> None:
    """A link at `content/posts/x/data.txt` leads out of the site, from the start or only while `serve` runs."""
    preview = PreviewSite(site.root, as_of=dt.date(2026, 11, 30))
    preview.follow()
    assert preview.file("posts/x/data.txt") == b"data"
    site.link("content/posts/x/data.txt", site.victim / "secret")
    preview.follow({"content/posts/x/data.txt"})
    assert preview.file("posts/x/data.txt") is None
    assert preview.failed
    assert "content/posts/x/data.txt:1:1" in preview.report


@pytest.mark.parametrize(
    "image",
    ["/proc/self/environ", "../secret", "../../../../../../../etc/passwd", "inside.png", ".env", "%2e%2e/secret"],
)
def test_notebook_brings_no_file_from_elsewhere(site: Site, image: str) -> None:
    """`![](…)` in a notebook names an absolute path, one above the notebook, a link, or a hidden file."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": f"# N\n\n![A picture]({image})\n"}]
    folder = site.victim / "notebooks"
    folder.mkdir()
    (folder / "n.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}))
    (folder / "inside.png").symlink_to("../secret")
    (folder / ".env").write_bytes(SECRET)
    done = site.run("import", "notebook", str(folder / "n.ipynb"))
    assert list(site.files(site.root / "content/posts/n")) == ["index.md"]
    assert "is not beside the notebook" in done.said


@pytest.mark.parametrize("path", ["_posts/2024-01-05-a.md", "assets/plot.png", "_includes/part.md"])
def test_jekyll_site_brings_no_file_from_elsewhere(site: Site, path: str) -> None:
    """A link replaces a post, an image or an include of the Jekyll site that is imported."""
    files = {
        "_config.yml": "title: Old\n",
        "_posts/2024-01-05-a.md": "---\ntitle: A\n---\n![A plot](/assets/plot.png)\n\n{% include part.md %}\n",
        "_includes/part.md": "A part.\n",
    }
    for name, text in files.items():
        site.write(f"old/{name}", text)
    site.write("old/assets/plot.png", picture())
    (site.victim / "secret").write_bytes(b"---\ntitle: T\n---\n" + SECRET)
    site.link(f"old/{path}", site.victim / "secret")
    done = site.run("import", "jekyll", "old", "--into", "new")
    assert SECRET not in b"".join(site.files(site.root / "new").values())
    assert done.refused
    assert f"{path}:1:1" in done.said
