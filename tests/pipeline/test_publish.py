"""A draft and a post of the future are in no page, list, feed, twin, card or address of the output."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.pipeline.build import update

DAY = dt.date(2026, 11, 21)
SITE = """title: Notes
base_url: https://example.org/notes/
entry_points: [{post: hidden-draft, because: It is there.}, {post: post-01, because: It is short.}]
feeds: [tags, series, worklog]
twins: true
cards: true
search: true
"""
HIDDEN = {
    "content/posts/hidden-draft.md": ("draft: true\ndate: 2026-11-01", "Zephyrquux"),
    "content/posts/hidden-later.md": ("date: 2026-11-22", "Quixmorrow"),
    "content/posts/measured/index.ko.md": ("draft: true\ndate: 2026-11-01", "Kordraftix"),
}
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">'
WORDS = ("zephyrquux", "quixmorrow", "kordraftix", "hidden-draft", "hidden-later")


def write(root: Path, fifty: SimpleNamespace) -> None:
    fifty.write(root, "content/site.yaml", SITE)
    for path, (front, word) in HIDDEN.items():
        text = f"---\ntitle: {word} title\n{front}\ndescription: {word} said.\ntags: [{word}tag, odd]\n"
        text += (
            f"aliases: [/{word.lower()}/]\nkernels: [vector_add]\n---\n{word} text.\n\n## {word} part\n\n![p](p.svg)\n"
        )
        fifty.write(root, path, text)
        fifty.write(root, f"{path.rpartition('/')[0]}/p.svg", f"{PICTURE}<!-- {word} --></svg>")
    fifty.write(root, "series/secret.yaml", "title: Open\nposts: [post-01, hidden-draft, hidden-later]\n")


def text(content: bytes) -> bytes:
    """Return a file's text in lower case; files of the search index are unpacked."""
    return (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).lower()


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_not_published_is_in_no_file(root: Path, fifty: SimpleNamespace, processes: int) -> None:
    write(root, fifty)
    result = update(root, root / "public", as_of=DAY, processes=processes)
    assert not result.failed, result.report
    files = fifty.tree(root / "public")
    assert len(files) > 300
    for path, content in files.items():
        found = [word for word in WORDS if word in path.lower() or word.encode() in text(content)]
        assert not found, (path, found)


def test_once_its_day_comes_it_is_everywhere(root: Path, fifty: SimpleNamespace) -> None:
    """This test shows that the one above can fail."""
    write(root, fifty)
    update(root, root / "public", as_of=DAY, processes=1)
    result = update(root, root / "public", as_of=DAY + dt.timedelta(1), processes=1)
    assert not result.failed, result.report
    files = fifty.tree(root / "public")
    named = {path for path, content in files.items() if b"quixmorrow" in text(content) or "quixmorrow" in path}
    assert {
        *("index.html", "index.md", "feed.xml", "feed.json", "llms.txt", "posts/index.html", "tags/index.html"),
        *("posts/hidden-later/index.html", "posts/hidden-later/index.md", "tags/quixmorrowtag/feed.xml"),
        *("series/secret/index.html", "series/secret/feed.xml", "quixmorrow/index.html", "tags/odd/index.html"),
    } <= named
    assert "posts/hidden-later/social-card.png" in files
    assert b"hidden-later" in files["sitemap.xml"]
    assert not [path for path in files if "zephyrquux" in path or b"zephyrquux" in files[path].lower()]
