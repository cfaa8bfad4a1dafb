"""`sitegen try` as an author types it: messages, the table, a watch, a bundle."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sitegen.cli import main, try_
from sitegen.cli.common import require_installed
from sitegen.model.job import JobResult
from sitegen.model.kernel import Status
from sitegen.model.record import Environment, Evaluation, LaunchRecord, Performance, Ratio, Role

ROOT = Path(__file__).parent.parent
GPU = Environment(
    *("NVIDIA H200", "sm_90", 132, 1, 1), *("580.1", "13.0", "2.11.0", "3.6.0", "3.12", 1980.0, 700.0, True)
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with the kernel softmax, in which every package seems to be installed."""
    shutil.copytree(ROOT / "kernels/softmax", tmp_path / "kernels/softmax", ignore=shutil.ignore_patterns("results"))
    (tmp_path / "content").mkdir()
    (tmp_path / "content/site.yaml").write_text("title: Bytes\nbase_url: https://example.org/\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(try_, "require_installed", lambda packages: None)
    return tmp_path


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let a made-up GPU answer: each candidate is slower than the one before; return the jobs that it did."""
    jobs: list[str] = []

    def run(job):
        jobs.append(job.id)
        found = tuple(evaluation(job, one.name, n) for n, one in enumerate(reversed(job.kernel.implementations), 1))
        return JobResult(1, job.id, "try", GPU, evaluations=found)

    monkeypatch.setattr("sitegen.execute.try_run.run_try_job", run)
    return jobs


def evaluation(job, name: str, us: float) -> Evaluation:
    ratios = Ratio("torch", 2 / us, 1.9 / us, 2.1 / us), Ratio("copy", 1 / us, 0.9 / us, 1.1 / us)
    performance = Performance(*(float(us),) * 6, samples=3, rounds_us=(us,), ratios=ratios)
    launch = LaunchRecord((1,), (1,), (1,), 0, occupancy=0.5)
    place = (Role.IMPLEMENTATION, name, job.workload.name, job.dtype)
    return Evaluation(*place, run="", status=Status.PASSED, performance=performance, launch=launch)


def sitegen(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def test_a_missing_package_is_named(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_, "require_installed", require_installed)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    said = sitegen("try", "softmax/fused")
    assert said.exit_code == 1
    assert "not installed here: psutil, torch" in said.stderr


def test_mistakes_of_usage_have_a_suggestion(site: Path) -> None:
    for words, hint in (
        (("softmax/regsiters",), "did you mean `softmax/registers`?"),
        (("softmax/registers", "--set", "THREDS=1"), "did you mean `THREADS`?; it has `COLUMNS`, `THREADS`"),
        ((), "give either NAME or --bundle"),
    ):
        said = sitegen("try", *words)
        assert (said.exit_code, hint in said.stderr) == (2, True), said.stderr


def test_a_sweep_is_a_table_sorted_by_time(site: Path, tried: list[str]) -> None:
    said = sitegen("try", "softmax/registers", "--set", "THREADS=128,256")
    assert said.exit_code == 0, said.output
    rows = [line.split("  ")[0] for line in said.stdout.splitlines()[2:4]]
    assert rows == ["THREADS=256", "THREADS=128"]
    assert "1.000 [0.900, 1.100]" in said.stdout
    assert not (site / "kernels/softmax/results").exists()


def test_a_watch_tries_again_after_a_save_and_survives_a_mistake(
    site: Path, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = site / "kernels/softmax/kernel.yaml"
    text = yaml.read_text()

    def watch(*folders, **_):
        yield {(2, str(site / "kernels/softmax/results/x.json"))}
        yaml.write_text("kernel: [")
        yield {(2, str(yaml))}
        yaml.write_text(text)
        yield {(2, str(yaml))}

    monkeypatch.setattr("watchfiles.watch", watch)
    said = sitegen("try", "softmax/fused", "--watch")
    assert (said.exit_code, len(tried)) == (0, 2), said.output
    assert "kernel.yaml" in said.stderr


def test_a_bundle_is_tried_without_its_site(
    site: Path, tried: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = sitegen("bundle", "--try", "softmax/fused", "softmax/rows", "-o", "try.zip")
    assert (made.exit_code, made.stderr) == (0, "2 candidates in try.zip\n")
    shutil.rmtree(site / "content")
    said = sitegen("try", "--bundle", "try.zip")
    assert said.exit_code == 0, said.output
    assert tried == ["softmax/fused@8192x8192:float32", "softmax/rows@8192x8192:float32"]


@pytest.mark.torch
@pytest.mark.nvrtc
def test_a_compile_error_names_the_authors_file_and_line(site: Path) -> None:
    file = site / "kernels/softmax/naive.cu"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(["#define EXTRA 1", "int wrong() { return missing + EXTRA; }", *lines]))
    said = sitegen("try", "softmax/naive", "--set", "EXTRA=2")
    assert said.exit_code == 1
    assert "naive.cu(2): error" in said.output
    assert "_cell_" not in said.output
