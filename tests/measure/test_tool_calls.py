"""The calls of a kernel that the tools examine."""

from __future__ import annotations

from dataclasses import replace

from sitegen.measure.tool_calls import calls_to_count, calls_to_sanitize, small_shapes
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Status, Tensor, Workload, Wrong
from sitegen.model.record import Role


def triton(name: str, **changes) -> Implementation:
    return replace(Implementation(name, f"kernels/rows/{name}.py", Language.TRITON), **changes)


KERNEL = Kernel(
    name="rows",
    summary="",
    dims=("M", "N"),
    inputs=(Tensor("x", ("M", "N")),),
    outputs=(Tensor("y", ("M", "N")),),
    dtypes=("float32", "bfloat16"),
    flops="M * N",
    reads="M * N * itemsize",
    writes="M * N * itemsize",
    tolerance={"float32": 1e-6, "bfloat16": 1e-2},
    checks=({"M": 1, "N": 1}, {"M": 13, "N": 781}, {"M": 2, "N": 16411}, {"M": 5, "N": 4096}, {"M": 16385, "N": 8191}),
    workloads=(Workload("big", {"M": 8192, "N": 8192}), Workload("wide", {"M": 16, "N": 65536})),
    baselines=("torch",),
    implementations=(triton("a"), triton("b", dtypes=("bfloat16",))),
    params={"causal": (True, False)},
    wrong=(Wrong(triton("races"), Status.RACE), Wrong(triton("off"), Status.INCORRECT)),
)


def job(kernel: Kernel = KERNEL, sweep=({"causal": True}, {"causal": False})) -> InspectJob:
    return InspectJob("rows/tools", kernel, {}, sweep)


def test_who_does_not_offer_a_dtype_is_not_counted_in_it():
    first = [(c.role, c.name) for c in calls_to_count(job()) if c.dtype == "float32"][:2]
    assert first == [(Role.IMPLEMENTATION, "a"), (Role.BASELINE, "torch")]
    assert [c.name for c in calls_to_count(job()) if c.dtype == "bfloat16"][:3] == ["a", "b", "torch"]


def test_calls_at_one_place_stand_together_since_they_share_their_inputs():
    places = [call.inputs_key for call in calls_to_count(job())]
    assert len(places) == 2 * 2 * (2 + 3)
    assert len(list(dict.fromkeys(places))) == sum(a != b for a, b in zip([None, *places], places, strict=False))


def test_without_a_sweep_nothing_is_counted():
    assert calls_to_count(job(sweep=())) == ()


def test_the_raggedest_small_shape_and_the_largest_are_looked_at():
    shapes = small_shapes(KERNEL, "float32", {})
    assert shapes == ({"M": 13, "N": 781}, {"M": 2, "N": 16411})


def test_when_no_check_is_small_the_smallest_is_taken():
    large = replace(KERNEL, checks=({"M": 32767, "N": 8191}, {"M": 16385, "N": 8191}))
    assert small_shapes(large, "float32", {}) == ({"M": 16385, "N": 8191},)


def test_a_kernel_without_checks_is_looked_at_in_its_smallest_workload():
    assert small_shapes(replace(KERNEL, checks=()), "float32", {}) == ({"M": 16, "N": 65536},)


def test_every_dtype_is_watched_and_of_the_wrong_variants_only_those_that_race():
    found = [(s.implementation.name, s.dtype, s.wrong) for s in calls_to_sanitize(job())]
    assert found == [
        ("a", "float32", False),
        ("a", "bfloat16", False),
        ("b", "bfloat16", False),
        ("races", "float32", True),
    ]


def test_the_shapes_that_a_kernel_declares_for_the_sanitizer_replace_the_derived_ones():
    declared = replace(KERNEL, sanitizer=({"M": 2, "N": 65544},))
    assert [call.shapes for call in calls_to_sanitize(job(declared))] == [({"M": 2, "N": 65544},)] * 4


def test_without_a_gpu_the_tools_say_nothing_and_nothing_fails(measure):
    result = measure(job())
    assert (result.kind, result.environment, result.error) == ("inspect", None, "")
    assert result.counted == () and result.sanitized == () and result.warnings == ()
