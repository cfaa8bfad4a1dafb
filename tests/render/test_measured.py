"""From records to rows: floors, ceilings, probes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.model.kernel import Kernel
from sitegen.model.record import Ceiling, Evaluation, Ratio, Record, Role
from sitegen.render.costs import Cost, cost_of, limit_of, nearest_mix
from sitegen.render.evidence import Evidence
from sitegen.render.measured import Group, groups

CEILINGS = (
    Ceiling("memory 1:0", 4.4e12, {}),
    Ceiling("memory 2:1", 4.35e12, {}),
    Ceiling("memory 1:1", 4.3e12, {}),
    Ceiling("memory 0:1", 4.7e12, {}),
    Ceiling("fp32", 50e12, {}),
    Ceiling("bf16", 700e12, {}),
)


def first(kernel: Kernel, record: Record) -> Group:
    return groups(kernel, record, Evidence())[0]


@pytest.mark.parametrize(
    ("share", "mix"),
    [(1.0, "1:0"), (0.99, "1:0"), (2 / 3, "2:1"), (0.5, "1:1"), (0.1, "0:1"), (0.0, "0:1")],
)
def test_the_memory_ceiling_is_that_of_the_nearest_mix(share: float, mix: str) -> None:
    found = nearest_mix(share, CEILINGS)
    assert found is not None
    assert found.name == f"memory {mix}"


def test_the_floor_is_the_longer_of_bytes_and_arithmetic() -> None:
    light = limit_of(Cost(4.3e9, 4.3e9, 1e9), "float32", CEILINGS)
    heavy = limit_of(Cost(4.3e9, 4.3e9, 7e12), "bfloat16", CEILINGS)
    assert light is not None
    assert heavy is not None
    assert (light.name, round(light.floor_us)) == ("memory 1:1", 2000)
    assert (heavy.name, round(heavy.floor_us)) == ("bf16", 10_000)


def test_a_dtype_whose_arithmetic_has_no_ceiling_is_held_to_memory() -> None:
    found = limit_of(Cost(1e9, 1e9, 1e15), "int32", CEILINGS)
    assert found is not None
    assert found.is_memory


def test_without_a_memory_ceiling_there_is_no_limit() -> None:
    assert limit_of(Cost(1e9, 1e9, 1e9), "float32", (Ceiling("fp32", 50e12, {}),)) is None


def test_a_dim_called_like_a_param_wins_and_itemsize_follows_the_dtype(make: SimpleNamespace) -> None:
    kernel = make.kernel()
    assert cost_of(kernel, kernel.workloads[0], "bfloat16", {"M": 1}).bytes == 2 * 8192 * 8192 * 2


def read_kernel(make: SimpleNamespace) -> Kernel:
    return replace(make.kernel(), writes="itemsize")


def with_read_probe(make: SimpleNamespace) -> Record:
    record: Record = make.record()
    probe = replace(make.evaluation("copy"), name="read", performance=replace(timing(make), median_us=62.0))
    return replace(record, evaluations=(*record.evaluations, probe))


def timing(make: SimpleNamespace) -> object:
    return make.evaluation("copy").performance


def test_a_reduction_stands_beside_the_read_of_its_bytes_and_not_the_copy(make: SimpleNamespace) -> None:
    group = first(read_kernel(make), with_read_probe(make))
    assert [row.name for row in group.rows if row.role is Role.PROBE] == ["read"]
    assert group.limit is not None
    assert group.limit.name == "memory 1:0"


def test_the_read_probe_is_not_credited_with_bytes_that_it_did_not_write(make: SimpleNamespace) -> None:
    group = first(read_kernel(make), with_read_probe(make))
    assert group.probe is not None
    assert group.probe.bytes_per_s == pytest.approx(8192 * 8192 * 4 / 62e-6)


def test_a_share_of_the_copy_comes_from_the_rounds_where_they_were_compared(make: SimpleNamespace) -> None:
    record: Record = make.record()
    fused: Evaluation = make.evaluation("fused")
    assert fused.performance is not None
    compared = replace(fused.performance, ratios=(*fused.performance.ratios, Ratio("copy", 0.97, 0.96, 0.98)))
    kept = [e for e in record.evaluations if (e.name, e.workload, e.dtype) != ("fused", "8192x8192", "float32")]
    better = replace(record, evaluations=(*kept, replace(fused, performance=compared)))
    shares = [
        group.best.of_probes["copy"]
        for group in (first(make.kernel(), record), first(make.kernel(), better))
        if group.best
    ]
    assert shares == [pytest.approx(126 / 132), 0.97]


def test_a_probe_of_another_run_is_no_yardstick(make: SimpleNamespace) -> None:
    record: Record = make.record()
    moved = tuple(replace(e, run="2026-11-20T00:00:00Z") if e.name == "copy" else e for e in record.evaluations)
    group = first(make.kernel(), replace(record, evaluations=moved))
    assert group.best is not None
    assert group.best.of_probes == {}


def test_every_value_of_a_swept_param_is_a_group(make: SimpleNamespace) -> None:
    kernel = replace(make.kernel(), params={"causal": (False, True)})
    record: Record = make.record()
    causal = tuple(replace(e, params={"causal": True}) for e in record.evaluations)
    found = groups(kernel, replace(record, evaluations=causal), Evidence(), workloads=["8192x8192"], dtypes=["float32"])
    assert [(dict(group.params), group.best is not None) for group in found] == [
        ({"causal": False}, False),
        ({"causal": True}, True),
    ]


def test_an_implementation_that_does_not_offer_a_dtype_has_no_row_in_it(make: SimpleNamespace) -> None:
    kernel: Kernel = make.kernel()
    only = tuple(replace(i, dtypes=("bfloat16",)) if i.name == "naive" else i for i in kernel.implementations)
    names = [row.name for row in first(replace(kernel, implementations=only), make.record()).rows if row.ours]
    assert names == ["online", "fused"]
