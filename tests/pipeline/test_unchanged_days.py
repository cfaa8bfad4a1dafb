"""An edit of one day of a diary parses and prints that day, and the places of mistakes on other days stay right."""

import datetime as dt
import re
from pathlib import Path

import pytest

from sitegen.pipeline import parse_texts
from sitegen.pipeline.build import update

AS_OF = dt.date(2026, 11, 30)
DAY = "2026-11-{day:02}\n\nWorked on [rings](https://example.org/{day}), and {{term}}`warp`.\n\n- [ ] plot run {day}\n"
LOG = "content/worklog/log.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "content/worklog").mkdir(parents=True)
    (tmp_path / "content/terms").mkdir()
    (tmp_path / "content/site.yaml").write_text("title: K\nbase_url: https://example.org/\n")
    (tmp_path / "content/terms/warp.md").write_text("---\ntitle: Warp\n---\nText.\n")
    (tmp_path / LOG).write_text("\n".join(DAY.format(day=day) for day in range(1, 21)))
    return tmp_path


def edit(root: Path, old: str, new: str) -> None:
    text = (root / LOG).read_text()
    assert old in text
    (root / LOG).write_text(text.replace(old, new, 1))


def built(root: Path, output: str = "public", *, anew: bool = False) -> tuple[dict[str, bytes], str, set[str]]:
    """Return the files of a build, its report, and the sheets that it printed."""
    result = update(root, root / output, as_of=AS_OF, processes=1, everything=anew)
    files = {str(one.relative_to(root / output)): one.read_bytes() for one in (root / output).rglob("*.*")}
    return files, result.report, set(result.printed)


def test_lines_above_a_day_move_its_mistakes_and_nothing_else(root: Path) -> None:
    edit(root, "run 15", "run 15\n\n[Later](/posts/later/)")
    built(root)
    edit(root, "run 3", "run 3\n\nTwo more\nlines.")
    files, report, _ = built(root)
    lines = [int(line) for line in re.findall(rf"{LOG}:(\d+):", report)]
    written = (root / LOG).read_text().split("\n")
    assert ["Later" in written[line - 1] for line in lines] == [True]
    assert (files, report) == built(root, "again", anew=True)[:2]


def test_an_edit_of_a_day_prints_its_page_and_the_lists(root: Path) -> None:
    built(root)
    edit(root, "run 3\n", "run 3\n\nA note.\n")
    days = {name for name in built(root)[2] if re.search(r"worklog/2026-11-\d\d/", name)}
    assert days == {"worklog/2026-11-03/index.html"}


def test_only_the_edited_day_is_parsed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(root)
    parsed: list[int] = []
    texts_of = parse_texts.TextParser._texts

    def counted(*given: object) -> object:
        texts = texts_of(*given)  # type: ignore[arg-type]
        parsed.append(len(texts))
        return texts

    monkeypatch.setattr(parse_texts.TextParser, "_texts", counted)
    edit(root, "run 3\n", "run 3\n\nA note.\n")
    built(root)
    assert sum(parsed) == 1


def test_another_setting_parses_every_day(root: Path) -> None:
    before = built(root)[0]["worklog/2026-11-07/index.html"]
    (root / "content/site.yaml").write_text("title: K\nbase_url: https://example.org/\nlanguage: de\n")
    files, report, _ = built(root)
    assert files["worklog/2026-11-07/index.html"] != before
    assert (files, report) == built(root, "again", anew=True)[:2]


def test_days_are_parsed_on_all_cores_as_on_one(root: Path) -> None:
    edit(root, "2026-11-01\n", "Each day: measure.\n\n2026-11-01\n")
    edit(root, "run 15", "run 15\n\n[Later](/posts/later/) and {nothing}`x`, {none}`y`")
    made = [update(root, root / name, as_of=AS_OF, processes=cores) for cores, name in ((2, "public"), (1, "again"))]
    assert made[0].report == made[1].report and made[0].report.count(LOG) >= 3
    assert built(root)[0] == built(root, "again")[0]


def test_a_worklog_that_was_only_touched_is_not_parsed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = built(root)[0]
    monkeypatch.setattr(parse_texts, "unchanged_days", lambda part, before: pytest.fail("the worklog is read again"))
    (root / LOG).write_text((root / LOG).read_text())
    (root / "content/terms/warp.md").write_text("---\ntitle: Warps\n---\nText.\n")
    after = built(root)[0]
    assert after != before
    monkeypatch.undo()
    assert after == built(root, "again", anew=True)[0]
