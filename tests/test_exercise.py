"""`sitegen exercise start` writes a folder that checks itself without sitegen."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.measure.exercise import COUNTS, NoAnswerError
from sitegen.model.exercise import Diagnosis, ExerciseResult, Traffic

ROOT = Path(__file__).parent.parent


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("kernels/vector_add", "content/exercises/vector_add"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("results", "__pycache__"))
    (tmp_path / "content/site.yaml").write_text("title: A site\nbase_url: https://example.org/\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_unknown_exercise_names_a_near_one(site: Path) -> None:
    ended = CliRunner().invoke(main, ["exercise", "start", "vector_ad"])
    assert ended.exit_code == 2 and "did you mean `vector_add`?" in ended.output


def test_the_readme_is_plain_text_that_says_how_to_check(site: Path) -> None:
    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    text = (site / "mine/README.md").read_text()
    assert "Edit `vector_add.py`, then run `python check.py`." in text
    assert "\n### The mask\nA place exists" in text and ":::" not in text


def test_the_readme_has_the_words_of_terms_figures_and_links(site: Path) -> None:
    page = site / "content/exercises/vector_add/index.md"
    added = (
        "{term}`Fuse <fusion>` each {term}`tile`: {given}`2 · F / D; F gates` as in "
        "[another](../vector_add/index.md), [online](https://example.org/a).\n\n## Hints\n"
    )
    page.write_text(page.read_text().replace("## Hints\n", added))
    (site / "content/terms").mkdir()
    for name in ("fusion", "tile"):
        (site / f"content/terms/{name}.md").write_text(f"---\ntitle: {name}\n---\nA thing.\n")
    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    text = (site / "mine/README.md").read_text()
    assert "Fuse each tile: 2 · F / D as in another, [online](https://example.org/a)." in text


def test_a_folder_that_exists_is_not_overwritten(site: Path) -> None:
    (site / "mine").mkdir()
    ended = CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"])
    assert ended.exit_code == 1 and not list((site / "mine").iterdir())


def test_only_a_folder_of_an_exercise_is_checked(site: Path) -> None:
    ended = CliRunner().invoke(main, ["exercise", "check", "kernels"])
    assert ended.exit_code == 2 and "was not written by" in ended.output


@pytest.mark.torch
def test_the_starter_is_wrong_and_the_mended_starter_is_right(site: Path) -> None:
    pytest.importorskip("triton")
    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    wrong = _check(site / "mine")
    assert wrong.returncode == 1 and "the tail of the last block is not masked" in wrong.stdout
    code = (site / "mine/vector_add.py").read_text()
    mended = code.replace("i = tl", "i = tl.program_id(0) * BLOCK + tl").replace("i >= 0", "i < N")
    (site / "mine/vector_add.py").write_text(mended)
    right = _check(site / "mine")
    assert right.returncode == 0 and "RIGHT at all 3 shapes" in right.stdout
    assert right.stdout.splitlines()[-1].startswith("SOLVED: ")
    (site / "mine/vector_add.py").write_text(mended.replace("i < N", "i < M"))
    assert "name 'M' is not defined, at vector_add.py:11" in _check(site / "mine").stdout
    (site / "mine/vector_add.py").write_text(mended.replace("    return out\n", ""))
    assert "End the function with `return out`" in _check(site / "mine").stdout
    (site / "mine/vector_add.py").write_text(mended.replace("tl.load(a + i, mask=inside)", "a[i]"))
    assert "at vector_add.py:12. A kernel reads a vector by `tl.load`: write" in _check(site / "mine").stdout


@pytest.mark.torch
def test_the_archive_beside_the_page_checks_itself(site: Path) -> None:
    pytest.importorskip("triton")
    shutil.rmtree(site / "content/exercises/vector_add")
    for name in ("content/exercises/environment", "kernels/copy"):
        shutil.copytree(ROOT / name, site / name, ignore=shutil.ignore_patterns("results", "__pycache__"))
    assert CliRunner().invoke(main, ["build", "--quiet"]).exit_code == 0
    page = (site / "public/exercises/environment/index.html").read_text()
    steps = ["python -m pip install torch", 'href="environment.zip"', "python -m zipfile -e environment.zip ."]
    assert sorted(steps, key=page.index) == steps
    shutil.unpack_archive(site / "public/exercises/environment/environment.zip", site / "unpacked")
    checked = _check(site / "unpacked/environment")
    assert checked.returncode == 0 and "RIGHT at all 3 shapes" in checked.stdout, checked.stdout + checked.stderr
    assert "ok       torch" in checked.stdout  # `machine: true` lists what the machine has


def test_a_machine_without_torch_is_told_what_to_install(site: Path) -> None:
    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    alone = [sys.executable, "-S", "check.py"]  # without the packages of this environment
    done = subprocess.run(alone, cwd=site / "mine", env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "MISSING: torch: pip install torch" in done.stdout, done.stdout + done.stderr


def _check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the folder's own checker as a machine does that has torch and no sitegen.

    With -S Python reads no .pth files, through which sitegen is installed here.
    """
    packages = Path(importlib.util.find_spec("torch").origin).parents[1]  # type: ignore[union-attr, arg-type]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    words = [sys.executable, "-S", "check.py"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@contextmanager
def answering(result: ExerciseResult | str) -> Iterator[SimpleNamespace]:
    """Stand in for a process that gives this result, or no answer and this reason."""

    def answer(seconds: float = 0.0) -> ExerciseResult:
        if isinstance(result, str):
            raise NoAnswerError(result)
        return result

    yield SimpleNamespace(result=answer)


def test_on_a_gpu_its_verdict_counts_and_the_interpreter_counts_the_loads(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sitegen.measure import exercise

    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    counted = ExerciseResult(shapes=3, traffic=Traffic(16, 900), author_traffic=Traffic(16, 300), traffic_at="N=32768")
    results: dict[bool, ExerciseResult | str] = {True: counted, False: ExerciseResult(shapes=4, device="cuda")}
    monkeypatch.setattr(exercise, "gpu_memory_bytes", lambda: 1 << 30)
    monkeypatch.setattr(exercise, "findings_for_triton", tuple)
    monkeypatch.setattr(exercise, "_started", lambda *_, interpreted, mode="": answering(results[interpreted]))
    passed, lines = exercise.check_folder(site / "mine")
    assert not passed and lines[:2] == ("vector_add: checked on the GPU", "RIGHT at all 4 shapes")
    assert lines[-1].startswith("SLOW: it loads 3.0 × the bytes of the author's solution, and the limit is 1.5 ×")
    results[False] = ExerciseResult("2 elements are wrong", Diagnosis("unknown", "Wrong."), device="cuda")
    assert exercise.check_folder(site / "mine")[1][1:] == ("WRONG: Wrong.", "  gate: 2 elements are wrong")
    results[False] = ExerciseResult("2 are wrong", Diagnosis("crash", "2 ARE wrong"), device="cuda")
    assert exercise.check_folder(site / "mine")[1][1:] == ("WRONG: 2 ARE wrong",)


def test_on_a_gpu_a_right_kernel_keeps_its_verdict_without_counts(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sitegen.measure import exercise

    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    results = {True: "the kernel took more than 60 s", False: ExerciseResult(shapes=4, device="cuda")}
    monkeypatch.setattr(exercise, "gpu_memory_bytes", lambda: 1 << 30)
    monkeypatch.setattr(exercise, "findings_for_triton", tuple)
    monkeypatch.setattr(exercise, "_started", lambda *_, interpreted, mode="": answering(results[interpreted]))
    passed, lines = exercise.check_folder(site / "mine")
    assert passed and lines[1] == "RIGHT at all 4 shapes"
    told = "loads not counted: Triton's interpreter could not run the kernel, so only the time says if it is slow"
    assert lines[2] == f"  {told}"


WRONG = json.dumps({"device": "cuda", "message": "wrong", "diagnosis": {"cause": "c", "sentence": "S."}})
COUNTS_FOR_EVER = f"""
import sys, time
from pathlib import Path
if {COUNTS!r} in sys.argv:
    Path(__file__).with_name("counting").touch()
    time.sleep(600)
while not Path(__file__).with_name("counting").exists():
    time.sleep(0.01)
Path(sys.argv[-1]).write_text({WRONG!r})
"""


def test_the_counts_of_a_kernel_that_is_wrong_on_the_gpu_are_not_awaited(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sitegen.measure import exercise

    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    (site / "confine.py").write_text(COUNTS_FOR_EVER)
    monkeypatch.setattr(exercise, "_CONFINEMENT", site / "confine.py")
    monkeypatch.setattr(exercise, "gpu_memory_bytes", lambda: 1 << 30)
    monkeypatch.setattr(exercise, "findings_for_triton", tuple)
    began = time.monotonic()
    assert exercise.check_folder(site / "mine")[1] == ("vector_add: checked on the GPU", "WRONG: S.", "  gate: wrong")
    assert time.monotonic() - began < 60


WITH_NETWORK = """
import sys
from pathlib import Path
Path(sys.argv[1]).write_text("code of the site can reach the network, because of this test")
{rest}
"""
ANSWERS = """Path(sys.argv[-1]).write_text('{"shapes": 3}')"""


@pytest.mark.parametrize(("rest", "verdict"), [(ANSWERS, "RIGHT at all 3 shapes"), ("sys.exit('odd')", "odd")])
def test_a_network_that_stays_is_said_once_also_beside_a_failure(
    site: Path, monkeypatch: pytest.MonkeyPatch, rest: str, verdict: str
) -> None:
    from sitegen.measure import exercise

    assert CliRunner().invoke(main, ["exercise", "start", "vector_add", "mine"]).exit_code == 0
    (site / "confine.py").write_text(WITH_NETWORK.format(rest=rest))
    monkeypatch.setattr(exercise, "_CONFINEMENT", site / "confine.py")
    monkeypatch.setattr(exercise, "findings_for_triton", tuple)
    for memory in (0, 1 << 30):  # with a GPU, the check runs twice
        monkeypatch.setattr(exercise, "gpu_memory_bytes", lambda memory=memory: memory)
        lines = CliRunner().invoke(main, ["exercise", "check", "mine"]).output.splitlines()
        assert any(verdict in line for line in lines[:-1])
        assert lines[-1] == "your code can reach the network, because of this test"
        assert sum("network" in line for line in lines) == 1
