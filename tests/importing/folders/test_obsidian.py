"""A vault of Obsidian comes over: links by name, embedded files, callouts, days."""

from collections.abc import Callable

import pytest

from sitegen.importing.folders.obsidian import OBSIDIAN

NOTE = "notes/A note.md"


def note(body: str, **more: str) -> dict[str, str]:
    return {NOTE: body, "Other Note.md": "## The *heading*\n\nWords. ^block\n", **more}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("[[Other Note]]", "[Other Note](/posts/other-note/)"),
        ("[[other note|that]]", "[that](/posts/other-note/)"),
        ("[[Other Note#The heading]]", "[Other Note > The heading](/posts/other-note/#the-heading)"),
        ("[[Other Note#^block|x]]", "[x](/posts/other-note/)"),
        ("| a |\n|---|\n| [[Other Note\\|x]] |", "| a |\n|---|\n| [x](/posts/other-note/) |"),
        ("[[nothing]] here", "nothing here"),
        ("![[Other Note]]", "[Other Note](/posts/other-note/)"),
        ("`[[Other Note]]`", "`[[Other Note]]`"),
        ("==mark== and a == b", "<mark>mark</mark> and a == b"),
        ("a %%hidden%%b", "a b"),
        ("[x](../Other%20Note.md#The%20heading)", "[x](/posts/other-note/#the-heading)"),
        ("> [!faq]- Why?\n> > [!warning]\n> > Hot.", "::::{note} Why?\n:::{warning}\nHot.\n:::\n::::"),
        ("- a\n  ```py\n  x\n  ```", "- a\n  ```py\n  x\n  ```"),
    ],
)
def test_forms(written: str, wanted: str, folder: Callable) -> None:
    assert folder(OBSIDIAN, note(written)).body("posts/a-note") == wanted


def test_note_has_its_name_as_title_and_its_tags(folder: Callable) -> None:
    imported = folder(OBSIDIAN, note("---\ntags: [x, y/z]\naliases: [Also]\n---\nA #gpu note, not #1 or a#b.\n"))
    assert imported.head("posts/a-note") == "title: A note\ndate: 2026-11-25\ntags: [x, y/z, gpu]\n"
    assert imported.codes == ["SG608"]


def test_name_of_a_day_is_a_day_of_the_worklog(folder: Callable) -> None:
    imported = folder(OBSIDIAN, note("[[2026-01-02]]", **{"2026-01-02.md": "- [x] a task\n"}))
    assert imported.files["content/worklog/2026-01-02.md"] == "- [x] a task\n"
    assert imported.body("posts/a-note") == "[2026-01-02](/worklog/2026-01-02/)"
