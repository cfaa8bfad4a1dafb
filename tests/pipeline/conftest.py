"""A site of fifty short posts that tests edit, with all that pages can show of other pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

OWN = Path(__file__).parents[2]
POSTS = 50
FILES = {
    "content/site.yaml": """title: Notes
base_url: https://example.org/notes/
description: Kernels explained. Measured.
entry_points: [{post: post-01, because: It is short.}]
gpus: [nvidia-h200]
""",
    "content/pages/about.md": "---\ntitle: About\n---\nSee [the first](../posts/post-01.md).\n",
    "content/terms/warp.md": "---\ntitle: Warp\n---\n32 threads.\n",
    "content/worklog/2026-11-20.md": "- [x] Read [a post](../posts/post-02.md)\n- [ ] Write\n",
    "content/worklog/2026-11-21.md": "Wrote a little.\n",
    "content/posts/measured/index.md": """---
title: Measured
date: 2026-11-20
tags: [measured]
---
![A picture](plot.svg)

```{benchmark} vector_add
```
""",
    "content/posts/measured/plot.svg": "<svg viewBox='0 0 20 10'></svg>",
    "series/all.yaml": "title: All\nphases:\n  - {title: One, posts: [post-01, post-02, post-03]}\n"
    "  - {title: Two, posts: [measured, post-30], planned: [Later]}\n",
}


def post(number: int, title: str = "", more: str = "", front: str = "", posts: int = POSTS) -> str:
    """Return a post of a site of so many posts; `more` is text, and `front` has lines of front matter."""
    day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}"
    tags = f"[tag {number % 5}, odd]" if number % 2 else f"[tag {number % 5}]"
    return (
        f"---\ntitle: {title or f'Post {number}'}\ndate: {day}\ntags: {tags}\n{front}---\n\n## A part\n\nText.\n\n"
        f"See [the next](post-{(number + 1) % posts:02}.md).\n\n```python\nx = {number}\n```\n\n{more}\n"
    )


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def make_site(root: Path, posts: int = POSTS, every_record: bool = False) -> Path:
    """Make a site of so many posts, with two evaluations of one kernel or all of them.

    Drawing the figures of all takes longer than all other pages.
    """
    for path, text in FILES.items():
        write(root, path, text.replace("post-30", f"post-{posts - 1:02}"))
    for number in range(posts):
        write(root, f"content/posts/post-{number:02}.md", post(number, posts=posts))
    shutil.copytree(
        OWN / "kernels/vector_add", root / "kernels/vector_add", ignore=shutil.ignore_patterns("__pycache__")
    )
    if not every_record:
        shorten_records(root / "kernels/vector_add/results")
    return root


def shorten_records(results: Path) -> None:
    """Keep a baseline and an implementation at one workload on one GPU."""
    for other in results.glob("nvidia-h100-*"):
        other.unlink()
    kept = ("256Mi", "float32", "torch"), ("256Mi", "float32", "scalar")
    (results / "nvidia-h200.history.jsonl").unlink()
    record = json.loads((results / "nvidia-h200.json").read_text(encoding="utf-8"))
    record["evaluations"] = [e for e in record["evaluations"] if (e["workload"], e["dtype"], e["name"]) in kept]
    (results / "nvidia-h200.json").write_text(json.dumps(record), encoding="utf-8")


def tree(folder: Path) -> dict[str, bytes]:
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


@pytest.fixture
def fifty() -> SimpleNamespace:
    """Functions that make such a site and change it."""
    return SimpleNamespace(posts=POSTS, make=make_site, post=post, write=write, tree=tree)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_site(tmp_path / "site")
