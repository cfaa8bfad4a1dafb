"""Who finds out what the pages of posts show, and how often."""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.build.update import Outcome, update
from sitegen.render.rules import site_rules
from sitegen.render.rules.dependencies import Part

DAY = dt.date(2026, 11, 23)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for each time that somebody asked what a post shows: who it was, and the post."""
    file, shown_with = tmp_path / "asked", site_rules._shown_with
    file.touch()

    def written_down(shown: object, post: SimpleNamespace) -> tuple[Part, ...]:
        with file.open("a") as lines:
            lines.write(f"{os.getpid()} {post.slug}\n")
        return shown_with(shown, post)

    monkeypatch.setattr(site_rules, "_shown_with", written_down)
    return file


def built(root: Path) -> Outcome:
    outcome = update(root, root / "public", as_of=DAY, processes=2)
    assert not outcome.failed, outcome.report
    return outcome


def test_the_first_build_leaves_it_to_workers(root: Path, asked: Path) -> None:
    posts = [name for name in built(root).printed if name.startswith("posts/post-")]
    lines = [line.split() for line in asked.read_text().splitlines()]
    assert len(posts) == 50 == sum(slug.startswith("post-") for _, slug in lines)
    assert set(Counter(slug for _, slug in lines).values()) == {1}
    assert str(os.getpid()) not in {who for who, _ in lines}


def test_with_another_template_nothing_can_be_as_it_was_so_workers_find_out_what_is_shown(
    root: Path, fifty: SimpleNamespace, asked: Path
) -> None:
    built(root)
    asked.write_text("")
    fifty.write(root, "templates/404.html", "<!doctype html><p>Nothing is here.")
    outcome = built(root)
    assert outcome.sheets["posts/post-01/index.html"].why == ("the templates changed: templates/404.html",)
    assert str(os.getpid()) not in asked.read_text()
