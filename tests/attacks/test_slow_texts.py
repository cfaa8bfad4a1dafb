"""Short texts that took seconds or minutes to read; each now takes less than `SECONDS` of the processor.

With each is the time that it took before it was mended.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from tests.processor_time import within

SECONDS = 3.0
RANDOM = random.Random(1)
DIAGRAM = "\n".join(f"n{RANDOM.randrange(60)} --> n{RANDOM.randrange(60)}" for _ in range(120))
TEXTS = {
    "5,000 equal headings, 5 s": "# same\n\n" * 5000,
    "8,000 citations in a line, 14 s": "@a " * 8000,
    "20,000 footnotes that never end, 6 s": "[^" * 20_000,
    "10,000 footnotes that never end beside one that does, 20 s": "[^" * 10_000 + "\n\n[^a]\n\n[^a]: b\n",
    "20,000 brackets of citations that never end, 2 s": "[@a; " * 20_000,
    "an ordered list of 4,000 items, 10 s": "\n".join(f"{number}. x" for number in range(4000)),
    "6,000 raw strings that never end, 4 s": "```cpp\n" + 'R"a(' * 6000 + "\n```\n",
    "a paragraph of 3,000 addresses, 7 s": "<http://" * 3000,
    "a diagram with a mistake in its last line, 8 s": f"```{{mermaid}}\nflowchart TD\n{DIAGRAM}\n]]((\n```\n",
}
DAYS = {
    "6,000 marks of a comment, 30 s": "<!--" * 6000,
    "20,000 spaces in a line, 4 s": "a" + " " * 20_000 + "b",
    "3,000 fences that never end": "````\n" * 3000,
}


def seconds_of_check(root: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> float:
    for path, text in {"content/site.yaml": "title: a\nbase_url: https://example.org/\n", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.chdir(root)
    start = time.process_time()
    done = CliRunner().invoke(main, ["check"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return time.process_time() - start


@pytest.mark.parametrize("body", TEXTS.values(), ids=TEXTS)
def test_a_post(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    text = f"---\ntitle: a\ndate: 2026-01-01\n---\n{body}"
    assert within(seconds_of_check(tmp_path, monkeypatch, **{"content/posts/a.md": text}), SECONDS)


def test_front_matter_of_8000_unknown_keys_14_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = "".join(f"k{number}: 1\n" for number in range(8000))
    text = f"---\ntitle: a\ndate: 2026-01-01\n{keys}---\n"
    assert within(seconds_of_check(tmp_path, monkeypatch, **{"content/posts/a.md": text}), SECONDS)


@pytest.mark.parametrize("body", DAYS.values(), ids=DAYS)
def test_a_day_of_the_worklog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    assert within(seconds_of_check(tmp_path, monkeypatch, **{"content/worklog/2026-01-01.md": body}), SECONDS)
