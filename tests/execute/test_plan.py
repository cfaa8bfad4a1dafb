"""The plan of a run: the jobs that are due, and the completeness of each job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.execute.plan import DueTools, UnknownName, due_tools, only_named, plan, status, without_tools
from sitegen.execute.session import commit_of, goals_by_gpu, store_results
from sitegen.model.gpu import yours
from sitegen.model.job import InspectJob, KernelJob, NotebookJob, PreviousRatios, RejectJob
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Counters, Ratio, Role
from sitegen.results import keys
from sitegen.results.accept import RunHeader, accept_results

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
        "double@128:float32",
        "posts/first",
        "double@64:bfloat16",
        "double@128:bfloat16",
        "double/wrong",
        "double/tools",
    ]


def checked(root, made, *names):
    """Return the implementations of each job of a kernel that a run without a GPU checks."""
    jobs = only_named(plan(made.inventory(root), GPU, names), names)
    kernels = [job for job in jobs if isinstance(job, KernelJob | InspectJob)]
    return {job.id: [one.name for one in job.kernel.implementations] for job in kernels}


def test_a_run_that_times_nothing_leaves_out_the_implementations_beside_a_named_one(root, made):
    every = ["right", "other"]
    assert set(map(tuple, checked(root, made).values())) == {tuple(every)}
    assert set(map(tuple, checked(root, made, "double/right").values())) == {("right",)}
    assert checked(root, made, "double/right@64:float32") == {"double/tools": ["right"], "double@64:float32": ["right"]}
    for names in (["double"], ["double@64:float32"], ["double/right", "double"], ["double/torch"], ["double/tools"]):
        assert set(map(tuple, checked(root, made, *names).values())) == {tuple(every)}, names


def test_a_run_without_a_gpu_has_no_job_of_the_tools_unless_it_is_the_only_one(root, made):
    def left(*names):
        return [job.id for job in without_tools(plan(made.inventory(root), GPU, names)) if job.id != "ceilings"]

    assert left("double/right@64:float32") == ["double@64:float32"]
    assert "double/tools" in left("double/tools")


def with_seconds(root, made, **seconds):
    """Store records of everything, of which each job took as long as is said of the part of its id after `double`."""
    inventory = made.inventory(root)
    jobs = plan(inventory, GPU)
    results = [made.measured(job) for job in jobs if isinstance(job, KernelJob)]
    timed = [replace(result, seconds={"total": seconds.get(result.id[6:], 1.0)}) for result in results]
    store_results(root, inventory, jobs, made.results(*timed))


def test_the_longest_job_comes_first_by_the_seconds_of_the_record_and_ceilings_before_it(root, made):
    with_seconds(root, made, **{"@128:bfloat16": 70.0, "@64:bfloat16": 50.0})
    due = ids(plan(made.inventory(root), GPU, everything=True))
    assert due[:3] == ["ceilings", "double@128:bfloat16", "double@64:bfloat16"]
    assert {"double@64:float32", "double@128:float32"} < set(due[3:])


def test_tools_come_after_the_jobs_that_compile_what_they_call_also_when_they_take_longest(root, made):
    with_seconds(root, made, **{"/tools": 500.0})
    due = ids(plan(made.inventory(root), GPU, everything=True))
    assert due[-1] == "double/tools" and "double@128:bfloat16" in due


def test_another_gpu_says_how_long_a_job_is_likely_to_take(root, made):
    with_seconds(root, made, **{"@128:bfloat16": 70.0})
    assert ids(plan(made.inventory(root), "nvidia-a100"))[:2] == ["ceilings", "double@128:bfloat16"]


def test_names_keep_the_order_in_which_they_were_given(root, made):
    names = ["double/wrong", "posts/first", "double@128:bfloat16", "double"]
    due = ids(plan(made.inventory(root), GPU, names))
    assert due[:5] == ["ceilings", "double/wrong", "posts/first", "double@128:bfloat16", "double/tools"]
    assert due[5:] == ["double@64:float32", "double@128:float32", "double@64:bfloat16"]


def test_a_job_that_failed_or_was_run_before_the_stored_run_leaves_the_seconds_of_the_record(root, made):
    with_seconds(root, made, **{"@128:bfloat16": 70.0})
    inventory = made.inventory(root)
    jobs = [job for job in plan(inventory, GPU, everything=True) if isinstance(job, KernelJob)]
    failed = [replace(made.measured(job), seconds={"total": 3.0}, error="the worker was lost") for job in jobs]
    new = accept_results(inventory.site, inventory.records, RunHeader("2030-01-01T00:00:00Z", ""), failed)
    assert all(record.seconds["double@128:bfloat16"] == 70.0 for record in new.records)
    older = [replace(made.measured(job), seconds={"total": 3.0}) for job in jobs]
    old = accept_results(inventory.site, inventory.records, RunHeader("2001-01-01T00:00:00Z", ""), older)
    assert old.older and not old.records


def test_what_was_measured_is_not_due_again(root, made):
    keep_all(root, made)
    assert ids(plan(made.inventory(root), GPU)) == ["ceilings", "posts/first", "double/wrong"]
    assert ids(plan(made.inventory(root), GPU, ["double/right"])) == []
    assert len(plan(made.inventory(root), GPU, everything=True)) == 8


def test_the_tools_of_a_fresh_kernel_run_alone_when_they_are_named(root, made):
    keep_all(root, made)
    tools = plan(made.inventory(root), GPU, ["double/tools"])
    assert ids(tools) == ["ceilings", "double/tools"] and tools[1].sweep == ({},)
    assert ids(plan(made.inventory(root), GPU, ["double/wrong", "double/tools"])) == [
        *("ceilings", "double/wrong", "double/tools")
    ]
    assert "double/tools" not in status(made.inventory(root), GPU)


def keep_counters(root, made, *names, watched=()):
    """Store records of everything but the post and the variants.

    At 64:float32 only `names` have counters; a sanitizer found nothing in those of `watched`.
    """
    inventory = made.inventory(root)
    jobs = [job for job in plan(inventory, GPU) if isinstance(job, KernelJob)]
    counters = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})

    def counted(result):
        here = result.id == "double@64:float32"
        ones = (
            replace(
                one,
                counters=None if here and one.name not in names else counters,
                sanitizer={"memcheck": ""} if one.name in watched else {},
            )
            for one in result.evaluations
        )
        return replace(result, evaluations=tuple(ones))

    store_results(root, inventory, plan(inventory, GPU), made.results(*(counted(made.measured(job)) for job in jobs)))


def test_without_any_counters_on_a_gpu_no_tools_are_due(root, made):
    keep_all(root, made)
    assert due_tools(made.inventory(root), GPU) == {}
    assert "double/tools" not in ids(plan(made.inventory(root), GPU))


def test_tools_are_due_for_a_fastest_implementation_without_counters(root, made):
    keep_counters(root, made)
    inventory = made.inventory(root)
    assert due_tools(inventory, GPU) == {"double/tools": DueTools(uncounted=("double/other@64:float32",))}
    assert due_tools(inventory, "nvidia-a100") == {}
    assert ids(plan(inventory, GPU, ["double"])) == ["ceilings", "double/wrong", "double/tools"]
    assert ids(plan(inventory, GPU, ["double/right", "posts/first"])) == ["ceilings", "posts/first"]
    assert "double/tools" not in status(inventory, GPU), "`build --require-fresh` does not ask for counters"


def test_tools_that_are_due_run_only_the_implementations_without_counters(root, made):
    def inspected(*names, everything=False):
        jobs = plan(made.inventory(root), GPU, names, everything=everything)
        return next([one.name for one in job.kernel.implementations] for job in jobs if job.id == "double/tools")

    keep_counters(root, made)
    assert inspected("double/tools") == ["right", "other"], "asked for by name"
    assert inspected("double", everything=True) == ["right", "other"], "with their times"
    assert inspected() == inspected("double") == ["other"]


def test_tools_count_nothing_where_only_findings_are_missing(root, made):
    keep_counters(root, made, "right", "other", watched=["right"])
    inventory = made.inventory(root)
    assert due_tools(inventory, GPU) == {"double/tools": DueTools(unwatched=("double/other@128:float32",))}
    (job,) = (one for one in plan(inventory, GPU, ["double"]) if one.id == "double/tools")
    assert [one.name for one in job.kernel.implementations] == ["other"] and job.sweep == ()


def test_tools_count_and_watch_where_both_are_missing(root, made):
    keep_counters(root, made, watched=["other"])
    inventory = made.inventory(root)
    due = DueTools(("double/other@64:float32",), ("double/right@128:bfloat16", "double/right@128:float32"))
    assert due_tools(inventory, GPU) == {"double/tools": due}
    (job,) = (one for one in plan(inventory, GPU, ["double"]) if one.id == "double/tools")
    assert [one.name for one in job.kernel.implementations] == ["right", "other"] and job.sweep == ({},)


def test_tools_are_not_due_for_sources_that_are_timed_again_anyway(root, made):
    keep_counters(root, made)
    (root / "kernels/double/other.py").write_text("def double(x, *, out=None): return 2 * x\n")
    assert due_tools(made.inventory(root), GPU) == {}
    assert "double/tools" in ids(plan(made.inventory(root), GPU, ["double"]))


def test_a_record_of_another_gpu_does_not_count(root, made):
    keep_all(root, made)
    assert len(plan(made.inventory(root), "nvidia-a100")) == 8


def test_one_changed_file_makes_the_jobs_of_its_dtypes_due_and_no_others(root, made):
    keep_all(root, made)
    (root / "kernels/double/other.py").write_text("def double(x, *, out=None): return x\n")
    due = plan(made.inventory(root), GPU, ["double"])
    assert ids(due) == ["ceilings", "double@64:float32", "double@128:float32", "double/wrong", "double/tools"]
    assert set(due[2].keys) == {"right", "other"}, "all implementations run in common rounds"


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
    assert all(from_plain(type(job), to_plain(job)) == job for job in jobs)
    first = {type(job): job for job in reversed(jobs)}
    assert set(first[KernelJob].sources) == {f"kernels/double/{name}.py" for name in ("reference", "right", "other")}
    assert set(first[RejectJob].sources) == {"kernels/double/reference.py", "kernels/double/wrong/off.py"}
    assert set(first[InspectJob].sources) == set(first[KernelJob].sources) and first[InspectJob].sweep == ({},)
    assert set(first[NotebookJob].sources) == {"kernels/double/right.py"}


def test_a_variant_that_races_goes_through_the_tools_although_nothing_is_timed(root, made):
    keep_all(root, made)
    yaml = root / "kernels/double/kernel.yaml"
    yaml.write_text(yaml.read_text().replace("fails: incorrect", "fails: race"))
    _, rejects, tools = plan(made.inventory(root), GPU, ["double"])
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
