"""ncu's table of a call → what its warps wait for; the rows have the form of those in tool_outputs/, with made-up
numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import pytest

from sitegen.measure import call_profile
from sitegen.measure.profile_metrics import (
    ELAPSED,
    ISSUED,
    LOAD_CONFLICTS,
    LOAD_REQUESTS,
    LOAD_SECTORS,
    PROFILE_METRICS,
    STALLS,
    STORE_CONFLICTS,
    STORE_REQUESTS,
    STORE_SECTORS,
    TENSOR,
)
from sitegen.measure.tool_runs import ToolRun
from sitegen.measure.workspace import Workspace
from sitegen.model.job import CallProfile, InspectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Tensor, Workload

KERNEL = Kernel(
    *("rows", "", ("M", "N"), (Tensor("x", ("M", "N")),), (Tensor("y", ("M", "N")),), ("float32",)),
    *("M * N", "M * N * itemsize", "M * N * itemsize", {"float32": 1e-6}, ({"M": 3, "N": 5},)),
    *((Workload("8x8", {"M": 8, "N": 8}),), ()),
    implementations=tuple(Implementation(f"v{n}", f"kernels/rows/v{n}.py", Language.TRITON) for n in range(2)),
)
WAIT, LONG = STALLS["wait"].name, STALLS["long_scoreboard"].name
ROW = {
    **{metric.name: "0" for metric in PROFILE_METRICS},
    **{ISSUED.name: "1,000", ELAPSED.name: "500", WAIT: "2.5", LONG: "8", TENSOR.name: "40"},
    **{LOAD_SECTORS.name: "1,600", LOAD_REQUESTS.name: "100", STORE_SECTORS.name: "40", STORE_REQUESTS.name: "10"},
    **{LOAD_CONFLICTS.name: "7", STORE_CONFLICTS.name: "5"},
}


def table(*rows: tuple[int, Mapping[str, str]]) -> str:
    """Rows of kernels, each with the number of its call."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    writer = csv.DictWriter(text, ["ID", "range", *names], quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows({"ID": "0", "range": f"<default domain>: sitegen {number}", **row} for number, row in rows)
    return f"==PROF== Connected\n{text.getvalue()}"


def profiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path, text: str, log: str = "", ncu: str | None = "ncu"
) -> tuple[Sequence[CallProfile], Sequence[str]]:
    ended = log or "".join(f"@@sitegen begin {n}\n@@sitegen end {n}\n" for n in range(2))
    monkeypatch.setattr(call_profile, "find_tool", lambda name: ncu)
    monkeypatch.setattr(call_profile, "ncu_tables", lambda *_: iter([(ToolRun(0, (), ended), text)]))
    return call_profile.profile(InspectJob("rows/tools", KERNEL, {}, ({},)), Workspace(tmp_path, tmp_path, gpu=True))


def test_a_call_of_one_kernel_has_its_own_numbers(monkeypatch, tmp_path):
    (one,), problems = profiled(monkeypatch, tmp_path, table((0, ROW)))
    assert problems == () and one.name == "v0"
    assert (one.stalls["wait"], one.stalls["long_scoreboard"], one.tensor_share) == (2.5, 8.0, 0.4)
    assert (one.load_sectors, one.store_sectors, one.bank_conflicts) == (16.0, 4.0, 12.0)


def test_the_kernels_of_a_call_are_weighted_by_what_they_issue_and_how_long_they_run(monkeypatch, tmp_path):
    small = {**ROW, ISSUED.name: "3000", ELAPSED.name: "1500", WAIT: "0.5", TENSOR.name: "0"}
    (one,), _ = profiled(monkeypatch, tmp_path, table((1, ROW), (1, small)))
    assert one.name == "v1"
    assert one.stalls["wait"] == pytest.approx((2.5 * 1000 + 0.5 * 3000) / 4000)
    assert one.tensor_share == pytest.approx(0.4 * 500 / 2000)
    assert (one.load_sectors, one.bank_conflicts) == (16.0, 24.0)


@pytest.mark.parametrize("no_number", ["n/a", "nan", ""])
def test_a_metric_that_the_gpu_does_not_have_is_left_out_and_the_others_stay(monkeypatch, tmp_path, no_number):
    (one,), _ = profiled(monkeypatch, tmp_path, table((0, {**ROW, STALLS["gmma"].name: no_number})))
    assert "gmma" not in one.stalls and one.stalls["wait"] == 2.5
    without = {name: value for name, value in ROW.items() if name != TENSOR.name}
    (one,), _ = profiled(monkeypatch, tmp_path, table((0, without)))
    assert one.tensor_share is None and one.load_sectors == 16.0


def test_a_call_without_global_stores_has_no_sectors_of_them(monkeypatch, tmp_path):
    (one,), _ = profiled(monkeypatch, tmp_path, table((0, {**ROW, STORE_SECTORS.name: "0", STORE_REQUESTS.name: "0"})))
    assert one.store_sectors is None


def test_a_call_that_failed_is_named_and_the_other_stays(monkeypatch, tmp_path):
    log = "@@sitegen begin 0\n@@sitegen end 0\n@@sitegen begin 1\n@@sitegen failed 1 out_of_memory: too much\n"
    found, problems = profiled(monkeypatch, tmp_path, table((0, ROW)), log)
    assert [one.name for one in found] == ["v0"]
    assert problems == ("v1 was not profiled: out_of_memory: too much",)


def test_without_ncu_or_its_permission_there_is_one_warning(monkeypatch, tmp_path):
    assert profiled(monkeypatch, tmp_path, "", ncu=None) == ((), ("no profile: ncu is not installed here",))
    assert profiled(monkeypatch, tmp_path, "==ERROR== ERR_NVGPUCTRPERM\n") == (
        (),
        ("no profile: ncu listed no kernel",),
    )


def test_every_metric_has_a_unit_and_its_weight_is_read_too():
    names = [metric.name for metric in PROFILE_METRICS]
    assert len(set(names)) == len(names)
    assert all(metric.unit and metric.weight in ("", *names) for metric in PROFILE_METRICS)
