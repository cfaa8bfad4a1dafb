"""After a build that was killed, a damaged cache or a mistake, the next build is right, and every page is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.pipeline.build import update
from sitegen.pipeline.user_cache import cache_of_site
from sitegen.write.output import STAGE

SCRIPT = (
    "import datetime, pathlib, sys; from sitegen.pipeline.build import update; "
    "root = pathlib.Path(sys.argv[1]); day = datetime.date(2026, 11, 21); "
    "update(root, root / 'public', as_of=day, processes=2)"
)


def pages(fifty: SimpleNamespace, root: Path) -> dict[str, bytes]:
    found = fifty.tree(root / "public") if (root / "public").is_dir() else {}
    return {path: data for path, data in found.items() if not path.startswith(STAGE)}


def start(root: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(root)], start_new_session=True)


def build(root: Path) -> None:
    assert start(root).wait() == 0


def kill_builds(fifty: SimpleNamespace, root: Path, times: int) -> None:
    """Kill builds: each leaves whole pages, old or new, and the next build equals a clean build."""
    chance = random.Random(20261121)
    build(root)
    for number in range(times):
        before = pages(fifty, root)
        fifty.write(root, "content/site.yaml", f"title: Notes {number}\nbase_url: https://example.org/notes/\n")
        began = time.monotonic()
        build(root)
        took = time.monotonic() - began
        after = pages(fifty, root)
        for path in sorted(before):  # back to how it was, then again, until somebody kills it
            (root / "public" / path).write_bytes(before[path])
        running = start(root)
        time.sleep(took * chance.random())
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        found = pages(fifty, root)
        assert [p for p in found if found[p] not in (before.get(p), after.get(p))] == []
        build(root)
        assert pages(fifty, root) == after


def test_a_killed_build_leaves_whole_pages_and_the_next_one_is_right(fifty: SimpleNamespace, root: Path) -> None:
    kill_builds(fifty, root, 2)


@pytest.mark.soak
def test_builds_killed_at_many_moments(fifty: SimpleNamespace, root: Path) -> None:
    kill_builds(fifty, root, 200)


def state_files(root: Path) -> list[Path]:
    cache = cache_of_site(root)
    return [*(cache / "outputs").glob("*.state"), cache / "texts.cache"]


@pytest.mark.parametrize(
    "damage", [lambda d: d[: len(d) // 2], lambda d: b"", lambda d: d[:-1] + b"x", lambda d: d * 2]
)
def test_a_damaged_cache_is_thrown_away(fifty: SimpleNamespace, root: Path, damage: object) -> None:
    update(root, root / "public", processes=1)
    before = pages(fifty, root)
    for path in state_files(root):
        path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    result = update(root, root / "public", processes=1)
    assert len(result.printed) > 50 and pages(fifty, root) == before


def test_the_cache_of_another_version_is_thrown_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update(root, root / "public", processes=1)
    monkeypatch.setattr("sitegen.pipeline.request.versions", lambda: b"another")
    result = update(root, root / "public", processes=1)
    assert len(result.printed) > 50 and result.written.changed == 0


def test_lost_fragments_are_made_again(fifty: SimpleNamespace, root: Path) -> None:
    update(root, root / "public", processes=1)
    for path in (cache_of_site(root) / "fragments").glob("*.html"):
        path.write_bytes(b"\0" * path.stat().st_size)
    fifty.write(root, "content/site.yaml", "title: Other\nbase_url: https://example.org/\n")
    result = update(root, root / "public", processes=1)
    assert not result.failed and b"<h2" in (root / "public/posts/post-04/index.html").read_bytes()


def test_nothing_changed_imports_nothing_that_reads_or_prints(root: Path) -> None:
    build(root)
    heavy = "{'yaml', 'jinja2', 'markdown_it', 'pygments', 'pydantic'} & set(sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", f"{SCRIPT}; print({heavy})", str(root)], capture_output=True, text=True, check=True
    )
    assert run.stdout == "set()\n"


def test_one_edited_paragraph_prints_one_page(fifty: SimpleNamespace, root: Path) -> None:
    update(root, root / "public", processes=1)
    fifty.write(root, "content/posts/post-07.md", fifty.post(7, more="One sentence."))
    result = update(root, root / "public", processes=1)
    assert set(result.printed) == {"posts/post-07/index.html"} and result.written.changed == 1
    assert result.sheets["posts/post-07/index.html"].why == ("the text itself changed: content/posts/post-07.md",)


def test_a_changed_title_prints_what_shows_it_and_says_so(fifty: SimpleNamespace, root: Path) -> None:
    update(root, root / "public", processes=1)
    fifty.write(root, "content/posts/post-07.md", fifty.post(7, title="Another"))
    result = update(root, root / "public", processes=1)
    assert {"posts/post-06/index.html", "posts/index.html", "tags/odd/index.html"} <= set(result.printed)
    assert "posts/post-20/index.html" not in result.printed
    why = result.sheets["posts/post-06/index.html"].why
    assert why == ("the post after it changed: content/posts/post-07.md",)
