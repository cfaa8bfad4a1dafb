"""Rows of a table from records: floors, ceilings, probes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Role
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.rows import Group, groups, run_of, select_groups


def first(kernel: Kernel, record: Record) -> Group:
    return groups(kernel, record, Evidence())[0]


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
    assert group.ceiling[0] == "memory 1:0"


def test_the_read_probe_is_not_credited_with_bytes_that_it_did_not_write(make: SimpleNamespace) -> None:
    group = first(read_kernel(make), with_read_probe(make))
    assert group.probe is not None
    assert group.probe.bytes_per_s == pytest.approx(8192 * 8192 * 4 / 62e-6)


def test_an_implementation_that_beats_the_probes_raises_the_ceiling_and_the_roof(make: SimpleNamespace) -> None:
    record: Record = make.record()
    fused = make.evaluation("fused")
    faster = replace(fused, performance=replace(fused.performance, median_us=120.0, p20_us=119.0, p80_us=121.0))
    kept = [e for e in record.evaluations if (e.name, e.workload, e.dtype) != ("fused", "8192x8192", "float32")]
    group = first(make.kernel(), replace(record, evaluations=(*kept, faster)))
    assert group.ceiling == ("memory 1:1", pytest.approx(2 * 8192 * 8192 * 4 / 120e-6))
    assert group.best is not None
    assert group.best.share("of-ceiling") == pytest.approx(1.0)


def test_every_value_of_a_swept_param_is_a_group(make: SimpleNamespace) -> None:
    kernel = replace(make.kernel(), params={"causal": (False, True)})
    record: Record = make.record()
    causal = tuple(replace(e, params={"causal": True}) for e in record.evaluations)
    found = select_groups(groups(kernel, replace(record, evaluations=causal), Evidence()), ["8192x8192"], ["float32"])
    assert [(dict(group.params), group.best is not None) for group in found] == [
        ({"causal": False}, False),
        ({"causal": True}, True),
    ]


def test_an_implementation_that_does_not_offer_a_dtype_has_no_row_in_it(make: SimpleNamespace) -> None:
    kernel: Kernel = make.kernel()
    only = tuple(replace(i, dtypes=("bfloat16",)) if i.name == "naive" else i for i in kernel.implementations)
    names = [row.name for row in first(replace(kernel, implementations=only), make.record()).rows if row.ours]
    assert names == ["online", "fused"]


def test_only_the_named_rows_are_selected_and_the_best_is_the_best_of_them(make: SimpleNamespace) -> None:
    every = groups(make.kernel(), make.record(), Evidence())
    found = select_groups(every, rows=["naive", "online"])
    assert found[0].best is not None
    assert found[0].best.name == "online"
    assert [row.name for row in found[0].rows] == ["naive", "online"]
    found = select_groups(every, rows=["online", "torch", "copy"])
    assert [row.name for row in found[0].rows] == ["copy", "torch", "online"]


def test_a_group_without_a_named_row_is_left_out(make: SimpleNamespace) -> None:
    kernel: Kernel = make.kernel()
    only = tuple(replace(i, dtypes=("bfloat16",)) if i.name == "naive" else i for i in kernel.implementations)
    every = groups(replace(kernel, implementations=only), make.record(), Evidence())
    assert {group.dtype for group in select_groups(every, rows=["naive"])} == {"bfloat16"}


def test_the_newest_run_is_not_one_of_tools_alone(make: SimpleNamespace) -> None:
    record = make.record()
    later = replace(record.runs[0], id="2026-11-30T06:00:00Z", date="2026-11-30")
    assert run_of(replace(record, runs=(*record.runs, later)), None) == record.runs[0]


def test_the_noise_of_a_record_is_computed_once_for_all_its_groups(
    make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Record] = []
    monkeypatch.setattr("sitegen.render.inputs.rows.noise_by_timing", lambda record: asked.append(record) or {})
    kernel = replace(make.kernel(), params={"causal": (False, True)})
    assert len(groups(kernel, make.record(), Evidence())) > 1
    assert len(asked) == 1
