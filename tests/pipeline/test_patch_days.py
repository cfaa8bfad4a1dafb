"""After an edit of a day of which no other page shows anything new, its page is patched and equals a clean build."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.pipeline.build import update
from sitegen.pipeline.request import BuildResult
from sitegen.pipeline.steps import Steps
from sitegen.pipeline.user_cache import cache_of_site

AS_OF = dt.date(2026, 11, 30)
LOG = "content/worklog/log.md"
DAY = """2026-11-{day:02} (T - {left})

Worked on [rings](https://example.org/{day}), and {{term}}`warp`; the long first sentence of this day is all that lists
show of it, because an excerpt ends before the sentence with which it would be longer than 160 characters.

A paragraph of the day with `code` in it.

- [ ] plot run {day}
"""
FILES = {
    "content/site.yaml": "title: K\nbase_url: https://example.org/\n",
    "content/terms/warp.md": "---\ntitle: Warp\n---\nText.\n",
    "content/terms/lane.md": "---\ntitle: Lane\n---\nText.\n",
    LOG: "Every day: measure.\n\n" + "\n".join(DAY.format(day=day, left=60 - day) for day in range(1, 21)),
    "content/worklog/2026-11-25.md": DAY.format(day=25, left=35),
    "content/worklog/2026-11-26.md": "---\ntitle: A day\n---\n\n" + DAY.format(day=26, left=34).partition("\n\n")[2],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        write(tmp_path / "site", path, text)
    return tmp_path / "site"


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture
def searched(root: Path) -> None:
    """Give the site search and Markdown twins, before `edit` builds it."""
    with (root / "content/site.yaml").open("a") as config:
        config.write("search: true\ntwins: true\n")


@pytest.fixture
def edit(root: Path) -> Callable[..., tuple[bool, BuildResult]]:
    """Edit a built site; return whether pages were patched, and the result, after a comparison with a clean build."""
    update(root, root / "public", as_of=AS_OF, processes=1)

    def go(old: str, new: str, *paths: str) -> tuple[bool, BuildResult]:
        for path in paths or (LOG,):
            text = (root / path).read_text(encoding="utf-8")
            assert old in text
            write(root, path, text.replace(old, new, 1))
        steps = Steps()
        result = update(root, root / "public", as_of=AS_OF, processes=1, steps=steps)
        clean = root.with_name("clean")
        shutil.rmtree(clean, ignore_errors=True)
        shutil.rmtree(cache_of_site(clean))
        shutil.copytree(root, clean, ignore=shutil.ignore_patterns("public"))
        assert update(clean, clean / "public", as_of=AS_OF, processes=1).report == result.report
        assert tree(root / "public") == tree(clean / "public")
        return [step.name for step in steps.all] == ["read", "patch", "publish"], result

    return go


SEVENTH = "\n- [ ] plot run 7\n"


def test_words_and_code_of_a_day_are_patched_with_the_sums_that_count_them(edit) -> None:
    patched, result = edit(SEVENTH, "\nTwo more `words` < three.\n" + SEVENTH)
    pages = ("2026-11-07", "2026", "2026-11", "2026-w45")
    assert patched and set(result.printed) == {f"worklog/{page}/index.html" for page in pages}


def test_a_day_with_as_many_words_as_before_changes_one_page(edit) -> None:
    patched, result = edit("A paragraph of the day", "A sentence of the day")
    assert patched and result.printed == ("worklog/2026-11-01/index.html",)


@pytest.mark.parametrize("path", [LOG, "content/worklog/2026-11-25.md"])
def test_with_a_day_its_twin_and_the_search_index_are_patched(searched, edit, root: Path, path: str) -> None:
    patched, result = edit("A paragraph of the day", "A sentence of the day", path)
    day = "01" if path == LOG else "25"
    assert patched and result.printed == (f"worklog/2026-11-{day}/index.html", "search/pages.json")
    assert "A sentence of" in (root / f"public/worklog/2026-11-{day}/index.md").read_text()


def test_days_are_patched_again_and_again_and_back(edit) -> None:
    for old, new in (
        (SEVENTH, "\nOne.\n" + SEVENTH),
        ("One.", "Two.\n\nThree."),
        ("run 9", "run 9"),
        ("\nTwo.\n", "\n"),
    ):
        assert edit(old, new)[0] == (old != new)
    assert edit("with `code` in it.\n\n- [ ] plot run 12\n", "in it.\n\n- [ ] plot run 12\n")[0]  # lines are moved
    assert not edit("- [ ] plot run 9", "- [x] plot run 9")[0]
    assert edit("in it.\n\n- [ ] plot run 12\n", "with `code` in it.\n\n- [ ] plot run 12\n")[0]


@pytest.mark.parametrize("path", [LOG, "content/worklog/2026-11-25.md"])
@pytest.mark.parametrize("day", [19, 20])
def test_lines_at_the_end_of_a_day_are_patched(edit, path: str, day: int) -> None:
    end = f"- [ ] plot run {day}\n" if path == LOG else "- [ ] plot run 25\n"
    assert edit(end, f"{end}\nSaved: text.\n", path)[0]
    assert edit("\nSaved: text.\n", "\nSaved: text.\n\nMore.\n", path)[0]
    assert edit("\nSaved: text.\n\nMore.\n", "", path)[0]


def test_a_file_of_one_day_is_patched(edit) -> None:
    paths = ("content/worklog/2026-11-25.md", "content/worklog/2026-11-26.md")
    assert edit("paragraph of the day", "paragraph of that very day", *paths)[0]


def test_a_day_with_a_title_is_patched(edit) -> None:
    assert not edit("2026-11-05 (T - 55)\n", "## 2026-11-05: Rings\n")[0]
    assert edit(SEVENTH, "\nMore.\n" + SEVENTH)[0]
    assert edit("\n- [ ] plot run 5\n", "\nMore, too.\n\n- [ ] plot run 5\n")[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SEVENTH, "\n- [x] plot run 7\n"),
        (SEVENTH, SEVENTH + "- [ ] another task\n"),
        (SEVENTH, "\nPlotted run 6.\n" + SEVENTH),  # closes the task of another day
        (SEVENTH, "\nThe lane is the reason.\n" + SEVENTH),  # a mention
        (SEVENTH, "\nSee [more](https://example.org/more).\n" + SEVENTH),
        (SEVENTH, "\nAbout https://example.org/x, as `code`: `https://example.org`.\n" + SEVENTH),
        (SEVENTH, "\n## A heading\n" + SEVENTH),
        (SEVENTH, "\n**Q: Why?**\nA: Because.\n" + SEVENTH),
        (SEVENTH, "\n" + "word " * 90 + "\n" + SEVENTH),  # a larger square on calendars
        (SEVENTH, "\n2026-11-22\n\nA new day.\n" + SEVENTH),
        (SEVENTH, SEVENTH.rstrip("\n")),
        (SEVENTH, "\n```\ncode\n```\n" + SEVENTH),
        (SEVENTH, "\n<!-- a comment -->\n" + SEVENTH),
        (SEVENTH, "\n[a half link](\n" + SEVENTH),
        ("Worked on [rings](https://example.org/7)", "Worked for long on [rings](https://example.org/7)"),
        ("2026-11-07 (T - 53)", "2026-11-07"),
        ("2026-11-07 (T - 53)", "2026-11-21 (T - 39)"),
        (DAY.format(day=7, left=53), ""),
        ("Every day: measure.", "Each day: measure."),
    ],
)
def test_whatever_others_could_show_is_left_to_a_whole_build(edit, old: str, new: str) -> None:
    assert not edit(old, new)[0]


@pytest.mark.parametrize("end", ["private: a secret\n", "```python\nx\n"])
def test_a_block_without_an_end_is_left_to_a_whole_build(edit, end: str) -> None:
    edit(SEVENTH, f"\n{end}{SEVENTH}")
    edit("run 9", "run 9, and more")


def test_a_day_that_is_no_utf_8_is_left_to_a_whole_build(edit, root) -> None:
    data = (root / LOG).read_bytes()
    (root / LOG).write_bytes(data.replace(b"- [ ] plot run 7", b"Caf\xe9.\n\n- [ ] plot run 7"))
    patched, result = edit("title: K", "title: K", "content/site.yaml")
    assert not patched and "SG001" in result.report


def test_two_days_of_a_file_are_left_to_a_whole_build(edit, root) -> None:
    text = (root / LOG).read_text(encoding="utf-8")
    write(root, LOG, text.replace("A paragraph", "A sentence", 2))
    assert not edit("run 9", "run 9")[0]


def test_a_patched_day_and_an_older_version_of_it_are_told_apart(edit, root) -> None:
    before = (root / LOG).read_text(encoding="utf-8")
    assert edit(SEVENTH, "\nMore words.\n" + SEVENTH)[0]
    write(root, LOG, before)
    assert not edit("title: K", "title: L", "content/site.yaml")[0]
    assert edit(SEVENTH, "\nMore words.\n" + SEVENTH)[0]
    write(root, LOG, before)
    write(root, "content/terms/warp.md", FILES["content/terms/warp.md"] + "More.\n")
    assert not edit("A paragraph of the day", "A sentence of the day")[0]


def test_a_feed_that_shows_whole_days_leaves_the_newest_to_a_whole_build(edit) -> None:
    edit("title: K\n", "title: K\nfeeds: [worklog]\n", "content/site.yaml")
    assert not edit(SEVENTH, "\nMore.\n" + SEVENTH)[0]
    assert edit("\n- [ ] plot run 1\n", "\nMore.\n\n- [ ] plot run 1\n")[0]


@pytest.mark.parametrize("shown", ["", "{{ page.word_sum }} {{ page.word_sum }}", "{{ page.word_sum|striptags }}"])
def test_a_template_with_another_place_for_sums_is_left_to_a_whole_build(edit, root, shown: str) -> None:
    own = Path(__file__).parents[2] / "templates/period.html"
    write(root, "templates/period.html", own.read_text(encoding="utf-8").replace("{{ page.word_sum }}", shown))
    edit("title: K", "title: L", "content/site.yaml")
    assert not edit(SEVENTH, "\nMore words.\n" + SEVENTH)[0]
