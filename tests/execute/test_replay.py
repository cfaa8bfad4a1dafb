"""A replay: the job that measures a recorded evaluation again, and its comparison with the record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.execute.plan import UnknownName, plan
from sitegen.execute.replay import compare_replays, replay_jobs, replay_of
from sitegen.execute.session import store_results
from sitegen.model.job import KernelJob
from sitegen.results.verdicts import Verdict

GPU, TITLE = "nvidia-h200", "double/right@64:float32"


@pytest.fixture
def inventory(root, made):
    """The site with a record of everything."""
    found = made.inventory(root)
    jobs = plan(found, GPU)
    store_results(root, found, jobs, made.results(*(made.measured(job) for job in jobs if isinstance(job, KernelJob))))
    return made.inventory(root)


@pytest.mark.parametrize(
    ("title", "gpu", "reason"),
    [
        ("doble/right@64:float32", GPU, "the site has no kernel `doble`; did you mean `double`?"),
        ("double/right@64:flaot32", GPU, f"recorded as `double/right@64:flaot32` on {GPU}; did you mean `{TITLE}`?"),
        ("double/torch@64:float32", GPU, "no implementation is recorded as `double/torch@64:float32`"),
        (TITLE, "nvidia-h100", "double has records of nvidia-h200, and this GPU is nvidia-h100"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_its_reason(inventory, title, gpu, reason):
    with pytest.raises(UnknownName) as refused:
        replay_of(inventory, gpu, title)
    assert reason in str(refused.value)


def test_a_replay_measures_one_implementation_beside_one_baseline_after_the_ceilings(inventory):
    one = replay_of(inventory, GPU, TITLE)
    jobs = replay_jobs([one])
    assert [job.id for job in jobs] == ["ceilings", TITLE]
    assert [i.name for i in one.job.kernel.implementations] == ["right"]
    assert one.is_same_code
    assert set(one.job.keys) == {"right"}


def test_changed_code_is_not_the_code_of_the_record(root, made, inventory):
    (root / "kernels/double/right.py").write_text("def double(x, *, out=None): return 2 * x\n")
    assert not replay_of(made.inventory(root), GPU, TITLE).is_same_code


@pytest.mark.parametrize(("us", "verdict"), [(2.0, Verdict.SAME), (2.4, Verdict.AMBIGUOUS)])
def test_a_replay_is_compared_with_its_record_and_with_nothing_else(inventory, made, us, verdict):
    one = replay_of(inventory, GPU, TITLE)
    rows = compare_replays(
        inventory.site, [one], "2026-11-22T06:00:00Z", made.results(made.measured(one.job, us)).results
    )
    assert {title: row.verdict for title, row in rows.items()} == {TITLE: verdict}


def test_a_job_without_a_result_has_no_verdict(inventory, made):
    one = replay_of(inventory, GPU, TITLE)
    lost = replace(made.measured(one.job), evaluations=(), error="the worker was lost")
    assert compare_replays(inventory.site, [one], "2026-11-22T06:00:00Z", made.results(lost).results) == {}


def test_without_a_gpu_the_command_says_so(root, monkeypatch):
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", "")
    ended = CliRunner().invoke(main, ["replay", TITLE])
    assert ended.exit_code == 1
    assert "this machine has no GPU" in ended.output
