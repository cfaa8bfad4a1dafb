"""Names of `sitegen try` → jobs; and a bundle of several candidates, which only `try` takes."""

from __future__ import annotations

import pytest

from sitegen.execute.archive import BadArchive
from sitegen.execute.bundle import read_bundle
from sitegen.execute.plan import UnknownName
from sitegen.execute.try_plan import try_job
from sitegen.execute.try_run import read_try_bundle, write_try_bundle


@pytest.fixture
def site(root, made):
    (root / "kernels/double/right.py").write_text("ROWS = 4\n\n\ndef double(x, *, out=None): ...\n")
    return made.inventory(root).site


def test_the_first_workload_and_dtype_are_the_default(site):
    job = try_job(site, "double/right", {})
    assert (job.workload.name, job.dtype) == ("64", "float32")
    assert [one.name for one in job.kernel.implementations] == ["right"]
    assert job.sources.keys() == {"kernels/double/right.py", "kernels/double/reference.py"}


def test_a_workload_and_a_dtype_can_be_named(site):
    job = try_job(site, "double/right@128:bfloat16", {})
    assert (job.workload.name, job.dtype) == ("128", "bfloat16")


def test_each_combination_is_a_candidate_with_its_own_source(site):
    job = try_job(site, "double/right", {"ROWS": ("1", "2")})
    assert list(job.constants.values()) == ["ROWS=1", "ROWS=2"]
    assert [one.source.splitlines()[0] for one in job.kernel.implementations] == ["ROWS = 1", "ROWS = 2"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("double/rihgt", "did you mean `double/right`"),
        ("double/right@46", "no workload of double is called `46`; known: 64, 128; for another size, add `{N: 46}` to"),
        ("double/right@4K", "add `{name: 4K, N: …}` to `workloads` in kernels/double/kernel.yaml"),
        ("double/right@64:float", "did you mean `float32`"),
        ("double/other@64:bfloat16", "dtype of double/other is called `bfloat16`"),
    ],
)
def test_an_unknown_name_has_a_suggestion(site, name, hint):
    with pytest.raises(UnknownName, match=hint):
        try_job(site, name, {})


def test_a_bundle_carries_the_candidates_of_several_implementations(site, tmp_path):
    jobs = try_job(site, "double/right", {"ROWS": ("1", "2")}), try_job(site, "double/other", {})
    write_try_bundle(jobs, tmp_path / "try.zip")
    assert read_try_bundle(tmp_path / "try.zip") == jobs
    with pytest.raises(BadArchive, match="it holds try, not jobs"):
        read_bundle(tmp_path / "try.zip")
