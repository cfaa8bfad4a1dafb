"""An editor gives the warnings that only a check gives: those of the text as it is typed, and no old ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.editor.edited_site import EditedSite
from sitegen.pipeline.check_warnings import KeptByPath
from sitegen.pipeline.in_memory import check
from sitegen.results import verify
from sitegen.results.store import save_record
from tests.pipeline.test_figures_and_claims import FILES, MACHINE, POST, RUN, measure, write

HEAD = "---\ntitle: A\ndate: 2026-11-20\naliases: [/was/]\n---\n"
ON_ANOTHER = "On an H100, it takes {value}`softmax/fused time`.\n"
DAY = "content/worklog/2026-11-20.md"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a site with records of two GPUs, of which the H200 is the first."""
    monkeypatch.setattr(verify, "verify_records", lambda *_: ())  # these records have no samples
    for path, text in {**FILES, POST: HEAD, DAY: "Read.\n"}.items():
        write(tmp_path, path, text)
    record = measure(tmp_path, 132.0)
    run = replace(RUN, environment=replace(MACHINE, gpu="NVIDIA H100 80GB HBM3"))
    save_record(tmp_path, replace(record, gpu="nvidia-h100-80gb-hbm3", runs=(run,)), run)
    return tmp_path


@pytest.fixture
def edited(root: Path) -> Iterator[EditedSite]:
    site = EditedSite(root)
    site.follow()
    yield site
    site.close()


def told(site: EditedSite, path: str, text: str) -> list[tuple[str, int]]:
    site.mirror.take(path, text)
    site.follow([path])
    return [(one.code, one.span.line) for one in site.mistakes().get(path, ())]


def test_warnings_of_a_check_come_and_go_while_a_text_is_typed(edited: EditedSite) -> None:
    assert told(edited, POST, HEAD + ON_ANOTHER) == [("SG310", 6)]
    assert told(edited, POST, f"{HEAD}\n{ON_ANOTHER}It moves 4.04 TB/s.\n") == [("SG137", 8), ("SG310", 7)]
    assert told(edited, POST, f"{HEAD}See [it](/was/).\n") == [("SG215", 6)]
    assert told(edited, POST, HEAD) == []
    assert told(edited, DAY, "Read https://example.org/a\n") == [("SG048", 1)]


def test_an_editor_and_a_check_say_the_same(root: Path, edited: EditedSite) -> None:
    for text in (ON_ANOTHER, f"See [it](/was/).\n\n{ON_ANOTHER}", "4.04 TB/s, [no\n"):
        write(root, POST, HEAD + text)
        told(edited, POST, HEAD + text)
        mistakes = {one for ones in edited.mistakes().values() for one in ones}
        assert mistakes == set(check(root).diagnostics) and mistakes


def test_a_file_is_read_again_only_when_its_text_is_another() -> None:
    read: list[str] = []
    kept = KeptByPath(lambda path, text: read.append(f"{path} {text}"))
    for path, text in (("a", "one"), ("b", "one"), ("a", "one"), ("a", "two"), ("a", "one")):
        kept(path, text)
    assert read == ["a one", "b one", "a two", "a one"]
