"""After any series of edits of a worklog the output is, byte for byte, that of a clean build of the site."""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory
from sitegen.pipeline.steps import Steps

AS_OF = dt.date(2026, 11, 30)
DIARY = "content/worklog/diary.md"
DAYS = st.integers(1, 9)
SITE = {
    "content/site.yaml": "title: K\nbase_url: https://example.org/\n",
    "content/terms/warp.md": "---\ntitle: Warp\naliases: [two tiles]\n---\nText.\n",
    "content/posts/tiles.md": "---\ntitle: On tiles\ndate: 2026-11-01\n---\nText.\n",
}
LONG = "A first sentence that is so long that an excerpt of the day has no place for anything else that follows it " * 2
PROSE = st.sampled_from(
    ["Prose.", "More prose with `code`.", "Prose, *other* prose.", "$x^2$ and words.", "two\nlines", "", "word " * 9]
)
LINES = st.sampled_from(
    [
        *(
            "- [ ] plot the scan",
            "- [x] plot the scan",
            "- [>] plot the scan",
            "plot the scan; - Done;",
            "Next:\n- read",
        ),
        *("Plotted the scan.", "Plotted.", "Will plot the scan tmr;", "#scan and #tiles", "word " * 30),
        *("The warp waits.", "On tiles, again.", "{term}`warp`", "[tiles](../posts/tiles.md)", "two\ntiles"),
        *("[Rings](https://example.org/rings), read", "- read half of it", "https://example.org/rings?utm_source=x"),
        *("**Q: Why?**\nA: Because.", "## A heading", "### Another", "[nowhere](/posts/none/)", "{nothing}`x`"),
        *("```", "```python\nx = 1\n```", "<!--", "-->", "<!-- a comment -->", "private: all of this"),
        *("2026-11-03", "11/12/26", "12/11/2026", "2026-11-40", "---", "   ", "\ufeff", "a\rb"),
        *("Caf\udce9", "[half](", "(text)[https://example.org]", "Itâ€™s"),
    ]
)
HEADINGS = st.sampled_from(
    [
        "2026-11-{day:02}",
        "11/{day:02}/26 (T - {left})",
        "## 2026-11-{day:02}: Rings",
        "{day}/11/2026",
        "T-{left} 2026-11-{day:02}",
    ]
)
FRONT = st.sampled_from(
    [
        "",
        "---\ntitle: A month\n---\n",
        "<!--\n---\ntitle: x\n---\n-->\n",
        "---\ntitel: x\n---\n",
        "Each day: measure.\n\n",
    ]
)


class WorklogEdits(RuleBasedStateMachine):
    patched = 0
    """The builds of all sequences that patched pages."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "site"
        for path, text in SITE.items():
            self.write(path, text)
        self.front, self.newest_first = "", False
        self.headings = dict.fromkeys(range(1, 10, 2), "2026-11-{day:02}")
        self.texts = {day: [LONG, f"Prose of {day}.", ""] for day in self.headings}
        self.save()

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode("utf-8", "surrogateescape"))

    def save(self) -> None:
        days = sorted(self.headings, reverse=self.newest_first)
        pieces = [
            "\n".join([self.headings[day].format(day=day, left=60 - day), "", *self.texts[day], ""]) for day in days
        ]
        self.write(DIARY, self.front + "".join(pieces))
        self.compare()

    def compare(self) -> None:
        steps = Steps()
        result = update(self.root, self.root / "public", as_of=AS_OF, processes=1, steps=steps)
        WorklogEdits.patched += [step.name for step in steps.all] == ["read", "patch", "publish"]
        clean = build_in_memory(self.root, as_of=AS_OF)
        assert not result.failed and not clean.failed, result.report
        output = self.root / "public"
        files = {str(one.relative_to(output)): one.read_bytes() for one in output.rglob("*") if one.is_file()}
        whole = {path: text.encode() if isinstance(text, str) else text for path, text in clean.files.items()}
        assert files.keys() == whole.keys()
        assert [path for path in files if files[path] != whole[path]] == []

    def day(self, number: int) -> list[str]:
        """Return the lines of the day of that number, or of another one that there is."""
        return self.texts[number if number in self.texts else max(self.texts)]

    @rule(day=DAYS, line=PROSE)
    def add_prose(self, day: int, line: str) -> None:
        if self.texts:
            self.day(day).append(line)
            self.save()

    @rule(day=DAYS, line=PROSE)
    def change_prose(self, day: int, line: str) -> None:
        if self.texts:
            self.day(day)[1:] = [line, "", "The end."]
            self.save()

    @rule(day=DAYS, line=PROSE)
    def add_prose_to_a_file(self, day: int, line: str) -> None:
        path = f"content/worklog/2026-10-{day:02}.md"
        before = (self.root / path).read_text(encoding="utf-8") if (self.root / path).exists() else LONG
        self.write(path, f"{before}\n{line}\n")
        self.compare()

    @rule(day=DAYS, line=LINES, at=st.integers(1, 4))
    def add_a_line(self, day: int, line: str, at: int) -> None:
        if self.texts:
            self.day(day).insert(at, line)
            self.save()

    @rule(day=DAYS, line=LINES)
    def change_a_line(self, day: int, line: str) -> None:
        if self.texts and len(self.day(day)) > 1:
            self.day(day)[1] = line
            self.save()

    @rule(day=DAYS, at=st.integers(0, 3))
    def remove_a_line(self, day: int, at: int) -> None:
        if self.texts and len(self.day(day)) > at:
            del self.day(day)[at]
            self.save()

    @rule(days=st.tuples(DAYS, DAYS), line=LINES)
    def change_two_days(self, days: tuple[int, int], line: str) -> None:
        for day in days if self.texts else ():
            self.day(day).append(line)
        self.save()

    @rule(day=DAYS, heading=HEADINGS)
    def add_or_rename_a_day(self, day: int, heading: str) -> None:
        self.headings[day] = heading
        self.texts.setdefault(day, [LONG, "Prose.", ""])
        self.save()

    @rule(day=DAYS)
    def remove_a_day(self, day: int) -> None:
        if len(self.texts) > 1:
            self.headings.pop(day, None), self.texts.pop(day, None)
            self.save()

    @rule(front=FRONT)
    def change_the_front(self, front: str) -> None:
        self.front = front
        self.save()

    @rule()
    def turn_the_order(self) -> None:
        self.newest_first = not self.newest_first
        self.save()

    @rule(day=DAYS, lines=st.lists(LINES, max_size=4), date=st.sampled_from(["", "---\ndate: 2026-10-01\n---\n"]))
    def write_a_file_of_a_day(self, day: int, lines: list[str], date: str) -> None:
        self.write(f"content/worklog/2026-10-{day:02}.md", "\n".join([date, LONG, *lines, ""]))
        self.compare()

    @rule(day=DAYS)
    def remove_a_file(self, day: int) -> None:
        (self.root / f"content/worklog/2026-10-{day:02}.md").unlink(missing_ok=True)
        self.compare()

    @rule(line=st.sampled_from(["", "feeds: [worklog]\n", "twins: true\n", "countdown: {goal: G, date: 2026-12-31}\n"]))
    def change_the_configuration(self, line: str) -> None:
        self.write("content/site.yaml", SITE["content/site.yaml"] + line)
        self.compare()

    @rule(title=st.sampled_from(["Warp", "Prose", "Tiles"]))
    def change_a_term(self, title: str) -> None:
        self.write("content/terms/warp.md", f"---\ntitle: {title}\n---\nText of {title}.\n")
        self.compare()


def run(sequences: int, steps: int) -> None:
    WorklogEdits.patched = 0
    chosen = settings(
        max_examples=sequences, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(WorklogEdits, settings=chosen)


def test_an_incremental_build_of_a_worklog_is_a_clean_build() -> None:
    run(12, 6)


@pytest.mark.soak
def test_an_incremental_build_of_a_worklog_is_a_clean_build_after_many_edits() -> None:
    run(1000, 12)
    assert WorklogEdits.patched > 100
