"""Sites whose report of mistakes would be far larger than the site itself."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.diagnostics import Diagnostic, Severity, Span, render_report
from sitegen.pipeline.preview import PreviewSite
from tests.processor_time import within

LARGEST_REPORT = 32_000
"""Most characters of a report; a terminal and the browser's overlay show them at once."""


def site_with(root: Path, **posts: str) -> Path:
    (root / "content/posts").mkdir(parents=True)
    (root / "content/site.yaml").write_text("title: a\nbase_url: https://example.org/\n")
    for slug, body in posts.items():
        text = f"---\ntitle: {slug}\ndate: 2026-01-01\n---\n{body}\n"
        (root / f"content/posts/{slug}.md").write_text(text, encoding="utf-8")
    return root


def checked(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(root)
    done = CliRunner().invoke(main, ["check"])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    return done.stderr


def test_one_line_with_eight_thousand_references_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """56 KB of `@fig-a ` on one line gave 673 MB: each mistake printed the whole line."""
    report = checked(site_with(tmp_path, a="@fig-a " * 8192), monkeypatch)
    assert len(report) < 2000
    assert "no figure of this text has the label `fig-a`" in report and "8192 errors" in report


def test_the_browsers_overlay_shows_the_same_short_report(tmp_path: Path) -> None:
    """The overlay of `serve` received the 673 MB too."""
    preview = PreviewSite(site_with(tmp_path, a="@fig-a " * 8192))
    preview.follow()
    assert "8192 errors" in preview.report and len(preview.report) < 2000


def test_every_line_of_a_file_has_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3,000 different mistakes in one file: the first fifty are shown, and the rest is counted."""
    report = checked(site_with(tmp_path, a="\n\n".join(f"@fig-{n}" for n in range(3000))), monkeypatch)
    assert len(report) < LARGEST_REPORT
    assert "2,950 more of SG120" in report and "3000 errors" in report


def test_every_file_has_fifty_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 files of 50 mistakes: two hundred are shown, and the rest is counted."""
    body = "\n\n".join(f"@fig-{n}" for n in range(50))
    report = checked(site_with(tmp_path, **{f"p{n}": body for n in range(20)}), monkeypatch)
    assert report.count("error[SG120]") == 200 and "800 more of SG120" in report


def test_a_mistake_quotes_a_word_of_a_megabyte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message, the frame and the caret line each repeated a word of 1 MB."""
    report = checked(site_with(tmp_path, a=f"@fig-{'a' * 1_000_000}"), monkeypatch)
    assert len(report) < LARGEST_REPORT


def test_errors_are_shown_before_warnings_when_there_are_too_many() -> None:
    """60 warnings at the top of a file must not push its only error out of the report."""
    warnings = [Diagnostic("SG999", f"odd {n}", Span("a.md", n), severity=Severity.WARNING) for n in range(1, 61)]
    report = render_report([*warnings, Diagnostic("SG001", "wrong", Span("a.md", 90))], {})
    assert "error[SG001]: wrong" in report and "11 more of SG999" in report and "1 error, 60 warnings" in report


def test_a_caret_stays_under_its_word_when_the_line_is_cut() -> None:
    """A frame of a long line shows the part around the column, and the caret marks the same characters there."""
    text = "x" * 5000 + "wrong" + "y" * 5000
    frame = render_report([Diagnostic("SG001", "wrong", Span("a.md", 1, 5001, 5))], {"a.md": text}).split("\n")
    shown, caret = frame[2], frame[3]
    assert len(shown) < 200
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "wrong"


def test_a_column_far_behind_the_end_of_its_line() -> None:
    """A span that a cache or a generated text brings may name column 100,000,000: the caret line stays short."""
    report = render_report([Diagnostic("SG001", "wrong", Span("a.md", 1, 100_000_000, 5))], {"a.md": "short\n"})
    assert len(report) < 200


def test_a_report_of_a_hundred_thousand_mistakes_takes_less_than_two_seconds() -> None:
    """The text was split into lines again for each of its mistakes."""
    text = "\n".join(f"line {n}" for n in range(20_000))
    found = [Diagnostic("SG001", f"wrong {n}", Span("a.md", n % 20_000 + 1)) for n in range(100_000)]
    began = time.process_time()  # the machine may be busy
    report = render_report(found, {"a.md": text})
    assert within(time.process_time() - began, 2) and len(report) < LARGEST_REPORT
