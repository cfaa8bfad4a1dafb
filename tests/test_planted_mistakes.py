"""Mistakes of authors, planted one at a time into a small site: `sitegen check` says where each is and what to do.

`planted/mistakes.yaml` has a row for each: where it is planted, and the place and the words of the message.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from sitegen.cli import main

HERE = Path(__file__).parent
ROWS = yaml.load((HERE / "planted" / "mistakes.yaml").read_text(encoding="utf-8"), yaml.BaseLoader)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "site"
    shutil.copytree(HERE / "planted" / "site", root)
    kernel = "kernels/vector_add"
    shutil.copytree(HERE.parent / kernel, root / kernel, ignore=shutil.ignore_patterns("nvidia-h100-*"))
    monkeypatch.chdir(root)
    return root


def plant(root: Path, row: dict[str, str]) -> None:
    path = root / row["file"]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if "bytes" in row:
        path.write_bytes(bytes.fromhex(row["bytes"]))
        return
    if "old" in row:
        assert row["old"] in text
        text = text.replace(row["old"], row["new"], 1)
    path.write_text(text + row["add"] if "add" in row else text if "old" in row else row["new"], encoding="utf-8")


def checked() -> tuple[int, list[dict[str, Any]]]:
    done = CliRunner().invoke(main, ["check", "--as-of", "2026-11-30", "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, json.loads(done.stdout)


def test_there_are_fifty() -> None:
    assert len(ROWS) >= 50 and len({row["what"] for row in ROWS}) == len(ROWS)


def test_the_site_without_a_mistake_has_none(site: Path) -> None:
    assert checked() == (0, [])


@pytest.mark.parametrize("row", ROWS, ids=[row["what"] for row in ROWS])
def test_the_message_says_where_the_mistake_is_and_what_to_do(site: Path, row: dict[str, Any]) -> None:
    plant(site, row)
    code, found = checked()
    first = found[0]
    assert f"{first['file']}:{first['line']}" == row["place"]
    assert [word for word in row["words"] if word not in f"{first['message']}\n{first['hint']}"] == []
    assert first["hint"]
    assert code == (1 if first["severity"] == "error" or row.get("exit") == "1" else 0)
    assert len(found) == int(row.get("messages", "1"))


def test_a_renamed_folder_of_a_kernel_is_one_mistake(site: Path) -> None:
    (site / "kernels/vector_add").rename(site / "kernels/vector_sum")
    note = site / "content/posts/note.md"
    note.write_text(f"{note.read_text(encoding='utf-8')}\nSee [it](/kernels/vector_add/).\n", encoding="utf-8")
    code, [found] = checked()
    assert (code, found["code"], found["file"]) == (1, "SG024", "kernels/vector_sum/kernel.yaml")
    assert found["message"] == "the kernel `vector_add` is not named like its folder, `vector_sum`"
    assert found["hint"].startswith("rename the folder to `kernels/vector_add`, or write `vector_sum` here")


ENDS = {
    "content/worklog/2026-11-20.md": (
        "- [https://example.org/talk](A talk)",
        1,
        "but exit 1: the worklog has warnings",
    ),
    "content/posts/vector-add/index.md": ("It reaches 4.04 TB/s.", 1, "but exit 1: a figure is typed"),
    "content/posts/note.md": ("See [the guide][hopper].", 0, "warnings only: exit 0"),
}


@pytest.mark.parametrize("path", ENDS)
def test_the_last_line_says_why_warnings_end_a_check_with_1_or_0(site: Path, path: str) -> None:
    added, code, line = ENDS[path]
    plant(site, {"file": path, "add": f"\n{added}\n"})
    done = CliRunner().invoke(main, ["check", "--as-of", "2026-11-30"])
    assert done.exit_code == code and done.output.rstrip().endswith(line)
