"""The benchmarks measure what they say, on sites of a few posts."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path

import build
import preview
import pytest
import worklog
from corpus import Corpus
from diary import Diary
from process import MAXRSS_BYTES, CommandError, Usage, medians, run

from sitegen.pipeline.in_memory import build_in_memory as build_files


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    made = Corpus(tmp_path / "site", 5)
    made.write()
    return made


def program(folder: Path, text: str) -> str:
    """Make a program that stands in for sitegen."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def test_a_build_that_leaves_an_edit_out_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="does not show what was changed"):
        build.build_round(corpus, program(tmp_path, "exit 0"), "0")


def test_what_a_failed_command_said_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="exit status 3\nno room"):
        run([program(tmp_path, "echo no room >&2; exit 3")], tmp_path)


def test_the_corpus_is_the_same_each_time(corpus: Corpus, tmp_path: Path) -> None:
    again = Corpus(tmp_path / "again", 5)
    again.write()
    for path in corpus.root.rglob("*.*"):
        assert path.read_bytes() == (again.root / path.relative_to(corpus.root)).read_bytes()


def test_the_corpus_has_no_mistakes_and_every_form_of_text(corpus: Corpus) -> None:
    built = build_files(corpus.root)
    assert not built.diagnostics
    page = str(built.files[f"{corpus.url(3)}index.html"])
    for form, count in {"<table": 1, "<figure": 4, "<math": 2, 'class="fnref"': 2, "<h2": 3}.items():
        assert page.count(form) >= count, form


def test_a_post_is_as_long_as_said(corpus: Corpus) -> None:
    sizes = [corpus.source(number).stat().st_size for number in range(5)]
    assert all(9_000 < size < 11_000 for size in sizes), sizes


@pytest.mark.parametrize("one_file", [True, False])
def test_a_diary_has_all_days_and_an_edit_changes_one(tmp_path: Path, one_file: bool) -> None:
    diary = Diary(tmp_path / "site", 20, one_file)
    diary.write()
    built = build_files(diary.root)
    assert not built.diagnostics
    pages = [str(built.files[f"{diary.url(number)}index.html"]) for number in range(20)]
    assert all("Notes on the" in page and "<small>term</small>" in page for page in pages)
    assert 1000 < sum(file.stat().st_size for file in (diary.root / "content/worklog").iterdir()) / 20 < 2000
    diary.edit(7, "marked")
    edited = build_files(diary.root).files
    assert [n for n in range(20) if "marked" in str(edited[f"{diary.url(n)}index.html"])] == [7]


def test_a_worklog_is_timed_beside_as_many_posts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worklog.main(["--days", "5", "--rounds", "1", "--json", str(tmp_path / "figures.json")])
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [*figures] == ["5 posts", "5 days, one file", "5 days, a file each"]
    assert figures["5 posts"]["ratios"] == dict.fromkeys(worklog.CASES, 1.0)
    assert all(ratio > 0 for ratio in figures["5 days, one file"]["ratios"].values())
    assert re.search(r"\| beside the posts \| \d+\.\d\d ×", capsys.readouterr().out)


def test_an_edit_changes_the_text_and_not_the_front_matter(corpus: Corpus) -> None:
    before = corpus.source(2).read_text()
    corpus.edit(2, "marked")
    after = corpus.source(2).read_text()
    assert after.startswith(before)
    assert "marked" in after


def test_medians_are_figure_by_figure_and_memory_is_the_largest() -> None:
    assert medians([Usage(1, 9, 5), Usage(2, 8, 7), Usage(9, 1, 6)]) == Usage(2, 8, 7)


def test_the_memory_is_that_of_the_largest_process_also_of_one_that_the_command_started(tmp_path: Path) -> None:
    """The process must be larger than pytest: until it runs the program, it counts as large as its parent."""
    pytest_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_BYTES // 2**20
    size_mib = pytest_mib + 200
    used = run([program(tmp_path, f"python3 -c 'b\"x\" * ({size_mib} << 20)'; true")], tmp_path)
    assert size_mib < used.peak_mib < size_mib + 40


def test_a_percentile_is_one_of_the_values() -> None:
    assert preview.percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert preview.percentile([float(n) for n in range(1, 101)], 0.95) == 95.0


def test_builds_are_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build.main(["--posts", "5", "--rounds", "1", "--json", str(tmp_path / "figures.json")])
    figures = json.loads((tmp_path / "figures.json").read_text())
    (size,) = figures["builds"]
    assert size["posts"] == 5
    assert all(size[case]["wall_s"] > 0 for case in ("cold", "unchanged", "post", "template"))
    assert figures["help"]["wall_s"] < size["cold"]["wall_s"]
    assert re.search(r"\| 5 \| \d+\.\d\d s \|", capsys.readouterr().out)


def test_the_preview_is_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    preview.main(["--posts", "5", "--edits", "2", "--json", str(tmp_path / "figures.json")])
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert 0 < figures["median_ms"] <= figures["p95_ms"] <= figures["longest_ms"]
    assert figures["first_page_ms"] > 0
    assert figures["template_ms"] > 0
    assert "| 5 | " in capsys.readouterr().out
