"""The plan of a run: the jobs that are due, and the completeness of each job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.execute.plan import UnknownName, plan, status
from sitegen.execute.session import commit_of, goals_by_gpu, store_results
from sitegen.model.gpu import yours
from sitegen.model.job import InspectJob, KernelJob, NotebookJob, PreviousRatios, RejectJob
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Ratio, Role
from sitegen.results import keys

GPU = "nvidia-h200"


def ids(jobs):
    return [job.id for job in jobs]


def keep_all(root, made):
    """Store records of everything, as if a GPU had measured it once."""
    inventory = made.inventory(root)
    jobs = [job for job in plan(inventory, GPU) if isinstance(job, KernelJob)]
    store_results(root, inventory, plan(inventory, GPU), made.results(*(made.measured(job) for job in jobs)))


def test_without_records_everything_is_due_ceilings_first(root, made):
    assert ids(plan(made.inventory(root), GPU)) == [
        "ceilings",
        "double@64:float32",
        "double@64:bfloat16",
        "double@128:float32",
        "double@128:bfloat16",
        "double/wrong",
        "double/tools",
        "posts/first",
    ]


def test_what_was_measured_is_not_due_again(root, made):
    keep_all(root, made)
    assert ids(plan(made.inventory(root), GPU)) == ["ceilings", "double/wrong", "posts/first"]
    assert ids(plan(made.inventory(root), GPU, ["double/right"])) == []
    assert len(plan(made.inventory(root), GPU, everything=True)) == 8


def test_a_record_of_another_gpu_does_not_count(root, made):
    keep_all(root, made)
    assert len(plan(made.inventory(root), "nvidia-a100")) == 8


def test_one_changed_file_makes_the_jobs_of_its_dtypes_due_and_no_others(root, made):
    keep_all(root, made)
    (root / "kernels/double/other.py").write_text("def double(x, *, out=None): return x\n")
    due = plan(made.inventory(root), GPU, ["double"])
    assert ids(due) == ["ceilings", "double@64:float32", "double@128:float32", "double/wrong", "double/tools"]
    assert set(due[1].keys) == {"right", "other"}, "all implementations run in common rounds"


def test_a_translation_is_not_measured_again(root, made):
    before = ids(plan(made.inventory(root), GPU))
    original = root / "content/posts/first/index.md"
    original.with_name("index.ko.md").write_text(original.read_text(encoding="utf-8"), encoding="utf-8")
    assert ids(plan(made.inventory(root), GPU)) == before


def test_prose_makes_nothing_due(root, made):
    keep_all(root, made)
    yaml = root / "kernels/double/kernel.yaml"
    yaml.write_text(yaml.read_text().replace("Twice each element.", "Two times.").replace("100 %", "99 %"))
    assert ids(plan(made.inventory(root), GPU, ["double/right", "double/other"])) == []


@pytest.mark.parametrize(
    ("name", "due"),
    [
        ("double/other", ["ceilings", "double@64:float32", "double@128:float32", "double/tools"]),
        ("double/wrong", ["ceilings", "double/wrong"]),
        ("posts/first", ["ceilings", "posts/first"]),
        ("double/wrong/off", ["ceilings", "double/wrong"]),
        ("double/right@64:bfloat16", ["ceilings", "double@64:bfloat16", "double/tools"]),
        ("double@64:bfloat16", ["ceilings", "double@64:bfloat16", "double/tools"]),
        ("posts/first#answer", ["ceilings", "posts/first"]),
    ],
)
def test_a_name_selects_its_jobs(root, made, name, due):
    assert ids(plan(made.inventory(root), GPU, [name])) == due


def test_everything_that_status_prints_can_be_run(root, made):
    inventory = made.inventory(root)
    titles = list(status(inventory, GPU))
    assert {"double/wrong/off", "double/torch@64:float32", "posts/first#answer"} <= set(titles)
    assert all(plan(inventory, GPU, [title]) for title in titles)


def test_an_unknown_name_is_an_error_with_a_suggestion(root, made):
    with pytest.raises(UnknownName, match="did you mean `double/right`"):
        plan(made.inventory(root), GPU, ["double/rihgt"])


def with_ratios(result):
    """Return a record in which every implementation is twice as fast as torch."""
    ratios = (Ratio("torch", 2.0, 1.99, 2.01),)
    ours = [e.role is Role.IMPLEMENTATION for e in result.evaluations]
    timed = (
        (e, replace(e.performance, ratios=ratios if our else ()))
        for e, our in zip(result.evaluations, ours, strict=True)
    )
    return replace(result, evaluations=tuple(replace(e, performance=p) for e, p in timed))


def test_a_job_says_what_the_record_of_that_gpu_says_of_implementations_that_have_changed(root, made):
    assert all(job.previous == {} for job in plan(made.inventory(root), GPU) if isinstance(job, KernelJob))
    inventory = made.inventory(root)
    jobs = [job for job in plan(inventory, GPU) if isinstance(job, KernelJob)]
    store_results(
        root, inventory, plan(inventory, GPU), made.results(*(with_ratios(made.measured(job)) for job in jobs))
    )
    (root / "kernels/double/other.py").write_text("def double(x, *, out=None): return x\n")
    job = next(job for job in plan(made.inventory(root), GPU) if isinstance(job, KernelJob))
    assert job.previous == {"other": PreviousRatios(GPU, {"torch": 2.0}, 0.01)}
    assert from_plain(KernelJob, to_plain(job)) == job
    there = [one for one in plan(made.inventory(root), "nvidia-a100") if isinstance(one, KernelJob)]
    assert all(one.previous == {} for one in there)


def test_what_was_measured_by_older_rules_is_no_previous_record(root, made, monkeypatch):
    keep_all(root, made)
    monkeypatch.setattr(keys, "MEASURE_VERSION", keys.MEASURE_VERSION + 1)
    jobs = [job for job in plan(made.inventory(root), GPU) if isinstance(job, KernelJob)]
    assert jobs and all(job.previous == {} for job in jobs)


def test_a_job_carries_every_source_and_survives_json(root, made):
    jobs = plan(made.inventory(root), GPU)
    for job, cls in zip(jobs[1:], [KernelJob] * 4 + [RejectJob, InspectJob, NotebookJob], strict=True):
        assert from_plain(cls, to_plain(job)) == job
    assert set(jobs[1].sources) == {f"kernels/double/{name}.py" for name in ("reference", "right", "other")}
    assert set(jobs[5].sources) == {"kernels/double/reference.py", "kernels/double/wrong/off.py"}
    assert set(jobs[6].sources) == set(jobs[1].sources) and jobs[6].sweep == ({},)
    assert set(jobs[7].sources) == {"kernels/double/right.py"}


def test_a_variant_that_races_goes_through_the_tools_although_nothing_is_timed(root, made):
    keep_all(root, made)
    yaml = root / "kernels/double/kernel.yaml"
    yaml.write_text(yaml.read_text().replace("fails: incorrect", "fails: race"))
    *_, rejects, tools = plan(made.inventory(root), GPU, ["double"])
    assert (rejects.id, tools.id, tools.sweep) == ("double/wrong", "double/tools", ())
    assert "kernels/double/wrong/off.py" in tools.sources


def test_status_lists_everything_that_can_be_recorded(root, made):
    keep_all(root, made)
    found = {title: state.sentence for title, state in status(made.inventory(root), GPU).items()}
    assert found["double/right@64:float32"] == "fresh"
    assert found["double/wrong/off"] == "missing"
    assert found["posts/first#answer"] == "missing"
    assert "double/other@64:bfloat16" not in found


def test_goals_are_listed_for_each_gpu_with_records(root, made):
    yaml = root / "kernels/double/kernel.yaml"
    yaml.write_text(yaml.read_text() + 'goals: ["best >= 0.9 of-copy @ 64:float32"]\n')
    assert goals_by_gpu(made.inventory(root)) == {}
    keep_all(root, made)
    assert [result.state for result in goals_by_gpu(made.inventory(root))[GPU]] == ["unknown"]


def test_a_commit_is_marked_when_sources_differ_but_not_for_records(root, made):
    commit = commit_of(root)
    assert len(commit) >= 7 and not commit.endswith("+")
    keep_all(root, made)
    assert commit_of(root) == commit
    (root / "kernels/double/right.py").write_text("pass\n")
    assert commit_of(root) == f"{commit}+"


def test_outside_of_a_repository_there_is_no_commit(tmp_path):
    assert commit_of(tmp_path) == ""


def test_the_records_of_a_reader_s_gpu_stand_beside_the_published_ones_of_its_model(root, made):
    keep_all(root, made)
    published = (root / "kernels/double/results/nvidia-h200.json").read_bytes()
    inventory = made.inventory(root)
    assert len(plan(inventory, yours(GPU))) == 8, "the published records say nothing about the reader's GPU"
    jobs = [job for job in plan(inventory, yours(GPU)) if isinstance(job, KernelJob)]
    results = made.results(*(made.measured(job) for job in jobs))
    outcome = store_results(root, inventory, plan(inventory, yours(GPU)), results, beside=True)
    assert outcome.diagnostics == () and outcome.stored is not None
    assert (root / "kernels/double/results/nvidia-h200.json").read_bytes() == published
    found = made.inventory(root).records
    assert set(found.of_kernel("double")) == {GPU, yours(GPU)}
    assert ids(plan(made.inventory(root), yours(GPU), ["double/right"])) == []
