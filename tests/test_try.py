"""`sitegen try` as an author types it: messages, the table, a watch, a bundle."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sitegen.cli import main, try_
from sitegen.cli.common import require_installed
from sitegen.execute import work
from sitegen.model.gpu import gpu_id
from sitegen.model.job import CallProfile, JobResult
from sitegen.model.kernel import Status
from sitegen.model.record import (
    Ceiling,
    Environment,
    Evaluation,
    LaunchRecord,
    Performance,
    Ratio,
    Record,
    Rejection,
    Role,
    Run,
)
from sitegen.results.store import load_records, save_record

ROOT = Path(__file__).parent.parent
GPU = Environment(
    *("NVIDIA H200", "sm_90", 132, 1, 1), *("580.1", "13.0", "2.11.0", "3.6.0", "3.12", 1980.0, 700.0, True)
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A site with the kernel softmax, in which every package seems to be installed."""
    shutil.copytree(ROOT / "kernels/softmax", tmp_path / "kernels/softmax", ignore=shutil.ignore_patterns("results"))
    (tmp_path / "content").mkdir()
    (tmp_path / "content/site.yaml").write_text("title: Bytes\nbase_url: https://example.org/\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(try_, "require_installed", lambda packages: None)
    monkeypatch.setattr("sitegen.execute.work.prepared_jobs", nullcontext)
    yield tmp_path
    while work._left:
        work._left.pop().end()


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let a made-up GPU answer: each candidate is slower than the one before; return the jobs that it did."""
    jobs: list[str] = []

    def run(job, prepare_next=False):
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
        (("softmax/registers@1M",), "name: 1M, "),
        ((), "give either NAME or --bundle"),
    ):
        said = sitegen("try", *words)
        assert (said.exit_code, hint in said.stderr) == (2, True), said.stderr
        assert said.stderr.startswith("Usage" if not words else "Error: "), said.stderr


def test_a_sweep_is_a_table_sorted_by_time(site: Path, tried: list[str]) -> None:
    said = sitegen("try", "softmax/registers", "--set", "THREADS=128,256")
    assert said.exit_code == 0, said.output
    rows = [line.split("  ")[0] for line in said.stdout.splitlines()[2:4]]
    assert rows == ["THREADS=256", "THREADS=128"]
    assert "1.000 [0.900, 1.100]" in said.stdout
    assert not (site / "kernels/softmax/results").exists()


def test_the_kernel_that_the_figures_of_the_code_belong_to_is_named(
    site: Path, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "are those of" not in sitegen("try", "softmax/registers").stdout
    launch = LaunchRecord((1,), (1,), (1,), 0, 3, 0.5, "gradients")
    one_launch = evaluation
    monkeypatch.setitem(globals(), "evaluation", lambda *given: replace(one_launch(*given), launch=launch))
    said = sitegen("try", "softmax/registers")
    assert "registers: registers to occupancy are those of gradients, one of 3 launches" in said.stdout


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


def test_a_mistake_in_a_text_does_not_keep_a_kernel_from_being_tried(site: Path, tried: list[str]) -> None:
    post = site / "content/posts/draft.md"
    post.parent.mkdir()
    post.write_text("---\ntitle: Draft\n---\n[a page](missing.md)\n")
    assert sitegen("check").exit_code == 1
    assert sitegen("try", "softmax/fused").exit_code == 0
    assert sitegen("bundle", "--try", "softmax/fused", "-o", "try.zip").exit_code == 0


def test_a_bundle_is_tried_without_its_site(
    site: Path, tried: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = sitegen("bundle", "--try", "softmax/fused", "softmax/rows", "-o", "try.zip")
    assert (made.exit_code, made.stderr) == (0, "2 candidates in try.zip\n")
    shutil.rmtree(site / "content")
    said = sitegen("try", "--bundle", "try.zip")
    assert said.exit_code == 0, said.output
    assert tried == ["softmax/fused@8192x8192:float32", "softmax/rows@8192x8192:float32"]


def with_ceilings(site: Path, gpu: str = "NVIDIA H200", kernel: str = "copy") -> None:
    """Store a record, by default of another kernel, whose run measured a memory ceiling of 4 TB/s on that GPU."""
    shutil.copytree(ROOT / "kernels/copy", site / "kernels/copy", ignore=shutil.ignore_patterns("results"))
    environment = replace(GPU, gpu=gpu)
    run = Run("2026-11-21T06:00:00Z", "2026-11-21", "abc1234", environment, (Ceiling("memory 1:1", 4e12, {"a": 4e12}),))
    rejection = Rejection("bf16", Status.INCORRECT, Status.INCORRECT, run.id)
    save_record(site, Record(1, kernel, gpu_id(gpu), (run,), (), (rejection,)), run)


def test_the_share_of_a_stored_ceiling_of_the_same_model_of_gpu_is_shown(site: Path, tried: list[str]) -> None:
    with_ceilings(site)
    said = sitegen("try", "softmax/fused")
    head, row = said.stdout.splitlines()[1:3]
    # 2 × 8192² × 4 bytes at 4 TB/s take 134.2 µs, and the made-up GPU takes 1 µs
    assert "of ceiling" in head and "13421.8%" in row, said.output
    assert said.stdout.splitlines()[-1].startswith("of ceiling: of the stored ceilings of 2026-11-21")


def test_records_of_other_kernels_are_not_read_where_the_kernel_has_ceilings(
    site: Path, tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_ceilings(site, kernel="softmax")
    read: list[list[str]] = []

    def spy(root, site):
        read.append([one.name for one in site.kernels])
        return load_records(root, site)

    monkeypatch.setattr("sitegen.results.store.load_records", spy)
    assert "13421.8%" in sitegen("try", "softmax/fused").stdout
    assert read == [["softmax"]]


def test_the_ceilings_of_another_model_say_nothing(site: Path, tried: list[str]) -> None:
    with_ceilings(site, "NVIDIA H100 80GB HBM3")
    assert "of ceiling" not in sitegen("try", "softmax/fused").output


def test_a_profile_adds_columns_and_names_the_longest_waits(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stalls = {"long_scoreboard": 8.125, "wait": 1.5, "barrier": 0.25, "selected": 0.1, "gmma": 0.0}

    def run(job, prepare_next=False):
        (name,) = (one.name for one in job.kernel.implementations)
        found = (evaluation(job, name, 1.0),)
        profiled = (CallProfile(name, stalls, 0.125, 16.0, None, 32.0),)
        return JobResult(1, job.id, "try", GPU, evaluations=found, profiled=profiled)

    monkeypatch.setattr("sitegen.execute.try_run.run_try_job", run)
    said = sitegen("try", "softmax/fused", "--ncu").stdout.splitlines()
    assert said[1].split()[-5:] == ["pipe", "sectors/load", "sectors/store", "bank", "conflicts"]
    assert said[2].split()[-4:] == ["12.5%", "16.0", "-", "32"]
    assert said[3] == "fused: warps wait for long scoreboard 8.12, wait 1.50, barrier 0.25 cycles per instruction"


def test_a_block_that_does_not_follow_a_constant_is_a_warning_and_one_that_nothing_uses_an_error(
    site: Path, tried: list[str]
) -> None:
    yaml = site / "kernels/softmax/kernel.yaml"
    text = yaml.read_text()
    start = text.index("name: naive")
    end = text.index("name:", start + 5)
    changed = text[start:end].replace("[THREADS]", "[256]").replace("THREADS: 256", "THREADS: 256, UNUSED: 3")
    assert "[256]" in changed and "UNUSED" in changed, text[start:end]
    yaml.write_text(text[:start] + changed + text[end:])
    said = sitegen("try", "softmax/naive", "--set", "THREADS=128")
    assert said.exit_code == 0, said.output
    assert "`block: [256]` of naive in kernel.yaml is a number, which does not change with `THREADS`" in said.stderr
    said = sitegen("try", "softmax/naive", "--set", "UNUSED=1,2")
    assert said.exit_code == 2 and "would change nothing" in said.stderr, said.output


@pytest.mark.torch
@pytest.mark.nvrtc
def test_a_compile_error_names_the_authors_file_and_line(site: Path) -> None:
    file = site / "kernels/softmax/naive.cu"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(["#define EXTRA 1", "int wrong() { return missing + EXTRA; }", *lines]))
    said = sitegen("try", "softmax/naive", "--set", "EXTRA=2")
    assert said.exit_code == 1
    assert "kernels/softmax/naive.cu:2: error" in said.output
    assert "_cell_" not in said.output
