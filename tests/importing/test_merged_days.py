"""Two copies of a day become one, in which no line of either is lost and the cleaner form of a line wins."""

from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from sitegen.cli import main
from sitegen.importing.merged_days import merge
from sitegen.importing.worklog import import_worklog

CLEAN = "[Rings](https://a.example/r)\n\nIt doesn’t stall; - Done\n\n- a note"
WORN = "[https://a.example/r](Rings)\n\nIt doesnâ€™t stall; - Done\n\nhttps://a.example/t\n\n- a note"


def test_the_cleaner_form_of_a_line_wins_whichever_came_first() -> None:
    merged = "[Rings](https://a.example/r)\n\nIt doesn’t stall; - Done\n\nhttps://a.example/t\n\n- a note"
    assert merge(WORN, CLEAN) == merged
    assert merge(CLEAN, WORN).replace("\n\n", "\n") == merged.replace("\n\n", "\n")


def test_a_titled_link_replaces_its_bare_address() -> None:
    assert merge("https://a.example/r?utm_source=x", "[Rings](https://a.example/r)") == "[Rings](https://a.example/r)"


def test_lines_that_differ_are_kept_from_both() -> None:
    assert merge("one\ntwo", "one\nthree") == "one\ntwo\nthree"


@given(st.lists(st.sampled_from(["a", "b", "", "https://a.example/r"])).map("\n".join))
def test_a_copy_adds_nothing(text: str) -> None:
    assert merge(text, text) == text


def imported(root: Path, text: str, *options: str) -> str:
    (root / "diary.md").write_text(text, encoding="utf-8")
    words = ["import", "worklog", str(root / "diary.md"), "--into", str(root), *options]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def site(root: Path, worklog: str, name: str = "log.md") -> Path:
    (root / "content/worklog").mkdir(parents=True)
    (root / "content/site.yaml").write_text("title: K\nbase_url: https://example.org/\n")
    (root / "content/worklog" / name).write_text(worklog, encoding="utf-8")
    return root / "content/worklog" / name


def test_a_day_is_merged_into_the_diary_that_has_it(tmp_path: Path) -> None:
    log = site(tmp_path, f"Tea.\n\n11/02/26 (T - 9)\n\n{WORN}\n\n11/03/26 (T - 8)\n\nRest.\n")
    shown = imported(tmp_path, f"Tea.\n\n11/02/26 (T - 9)\n\n{CLEAN}\n\n11/04/26 (T - 7)\n\nNew.\n")
    text = log.read_text(encoding="utf-8")
    assert "+[Rings](https://a.example/r)\n" in shown
    assert text.startswith("Tea.\n\n11/02/26 (T - 9)\n\n[Rings](https://a.example/r)\n\nIt doesn’t")
    assert text.endswith("\n\n11/03/26 (T - 8)\n\nRest.\n") and "https://a.example/t" in text
    assert (tmp_path / "content/worklog/2026-11-04.md").read_text() == "2026-11-04 (T - 7)\n\nNew.\n"
    again = log.read_text(encoding="utf-8")
    imported(tmp_path, f"11/02/26 (T - 9)\n\n{WORN}\n\n11/03/26 (T - 8)\n")
    assert log.read_text(encoding="utf-8") == again


def test_a_file_of_one_day_is_merged_too(tmp_path: Path) -> None:
    day = site(tmp_path, "A note.\n", "2026-11-02.md")
    imported(tmp_path, "2026-11-02\n\nA note.\n\nMore.\n")
    assert day.read_text() == "A note.\n\nMore.\n"


def test_a_dry_run_says_what_each_line_is_and_writes_nothing(tmp_path: Path) -> None:
    log = site(tmp_path, "11/02/26 (T - 9)\n\nA note.\n")
    before = sorted(tmp_path.rglob("*"))
    text = "Tea.\n\n11/02/26 (T - 9)\n\nRead it; - Done\n- [ ] Plot\nQ: Why?\nA: Ask.\n[x](https://a.example)\n"
    lines = imported(tmp_path, text, "--dry-run").splitlines()
    assert [line.split("  ", 2)[1].strip() or line[7:31].strip() for line in lines[:7]] == [
        "introduction",
        "2026-11-02, T - 9",
        "task, done by its words",
        "task, open",
        "question",
        "answer",
        "link",
    ]
    assert "+Read it; - Done" in lines
    assert log.read_text() == "11/02/26 (T - 9)\n\nA note.\n"
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "diary.md"])


def test_the_countdown_of_the_other_copy_is_kept_when_it_differs(tmp_path: Path) -> None:
    there = {"content/worklog/diary.md": "2025-12-09 (T - 154)\n\nRead.\n\n2025-12-10 (T - 153)\n\nWrote.\n"}
    (tmp_path / "copy.md").write_text("2025-12-09 (T - 150)\n\nRead.\n\n2025-12-10 (T - 153)\n\nWrote.\n")
    merged = import_worklog(tmp_path / "copy.md", there).merged
    assert [days.count("T - 154") + days.count("T - 150") for days in merged.values()] == [2]
    again = import_worklog(tmp_path / "copy.md", merged)
    assert again.merged == {} and again.files == {}
