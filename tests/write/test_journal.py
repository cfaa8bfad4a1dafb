"""Today's entry is made in the form of the others, and lines that are added at the same time are all kept."""

import datetime as dt
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sitegen.write.journal import with_line, with_today

LOG = "content/worklog/log.md"
DIARY = "- Tea\n\n12/08/2025 (T - 23)\n\n- [ ] plot the tail\n\n12/09/2025 (T - 22)\n\nRest."
DAY = dt.date(2025, 12, 12)


def test_a_new_entry_has_the_form_of_the_last_the_routine_and_the_open_tasks() -> None:
    path, text = with_today({LOG: DIARY}, DAY, None)
    assert (path, text) == (LOG, f"{DIARY}\n\n12/12/2025 (T - 19)\n\n- [ ] Tea\n- [ ] plot the tail\n")


def test_an_entry_that_is_there_is_left_as_it_is() -> None:
    assert with_today({LOG: DIARY}, dt.date(2025, 12, 9), None) == (LOG, DIARY)


def test_a_diary_with_the_newest_day_first_gets_it_there() -> None:
    newest_first = "2025-12-09\n\nB.\n\n2025-12-08\n\nA.\n"
    assert with_today({LOG: newest_first}, DAY, None)[1] == f"2025-12-12\n\n\n{newest_first}"


def test_a_worklog_of_files_gets_another_file_with_the_countdown_of_the_site() -> None:
    path, text = with_today({"content/worklog/2025-12-09.md": "Rest.\n"}, DAY, dt.date(2025, 12, 31))
    assert (path, text) == ("content/worklog/2025-12-12.md", "2025-12-12 (T - 19)\n\n")


def test_a_line_goes_to_the_end_of_its_day_and_changes_no_other() -> None:
    text = with_line(DIARY, LOG, dt.date(2025, 12, 8), "Read on.")
    assert text == DIARY.replace("plot the tail\n\n", "plot the tail\n\nRead on.\n\n")
    assert with_line(DIARY, LOG, dt.date(2025, 12, 9), "More.") == f"{DIARY}\n\nMore.\n"


def test_lines_of_two_terminals_at_once_are_all_there(tmp_path: Path) -> None:
    (tmp_path / "content/worklog").mkdir(parents=True)
    (tmp_path / "content/site.yaml").write_text("title: K\nbase_url: https://example.org/\n")
    (tmp_path / LOG).write_bytes(DIARY.replace("\n", "\r\n").encode())

    def add(line: str) -> None:
        words = [sys.executable, "-m", "sitegen", "worklog", "add", line, "--date", "2025-12-09"]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)

    with ThreadPoolExecutor() as pool:
        list(pool.map(add, [f"line {n}" for n in range(4)]))
    text = (tmp_path / LOG).read_bytes().decode()
    assert [n for n in range(4) if f"\r\nline {n}\r\n" not in text] == []
    assert text.startswith(DIARY.replace("\n", "\r\n"))
