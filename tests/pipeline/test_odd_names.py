"""Odd names give a mistake with its place, or a site whose pages can be read again, and never a traceback."""

from __future__ import annotations

import tempfile
from pathlib import Path

import yaml
from hypothesis import event, given
from hypothesis import strategies as st

from sitegen.pipeline.build import update

CONFIG = {"title": "Notes", "base_url": "https://example.org/", "twins": True, "feeds": ["tags"]}
ODD = ["**", "..", ".", "C#", "a/b", "/", "한글", "%2F", "<b>", "&amp;", "\\", "'", "#", "?q", "", " ", "page", "index"]
ODD += ["feed.xml", "a:b", "{{ x }}", "\u200b", "\U0001f600", "[a](b)", "`c`", "$x$", "..a", "a.", "tags", "x" * 250]
NAMES = st.lists(st.sampled_from(ODD) | st.text(max_size=8), min_size=1, max_size=3).map("".join)
FRONT = st.fixed_dictionaries(
    {"title": NAMES},
    optional={
        "tags": st.lists(NAMES, max_size=3),
        "category": NAMES,
        "description": NAMES,
        "permalink": NAMES,
        "aliases": st.lists(NAMES, max_size=2),
    },
)


@given(FRONT)
def test_a_name_is_a_mistake_or_has_a_page(front: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "content/posts").mkdir(parents=True)
        (root / "content/site.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
        written = yaml.safe_dump({"date": "2026-11-20", **front}, allow_unicode=True)
        (root / "content/posts/post.md").write_text(f"---\n{written}---\n\nText.\n", encoding="utf-8")
        first, again = (update(root, root / "public", processes=1) for _ in range(2))
        event("a mistake" if first.failed else "a site")
        assert first.failed == again.failed
        assert first.failed == ("error[" in first.report)
        assert first.failed or (root / "public/index.html").exists()
