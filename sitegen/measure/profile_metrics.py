"""The metrics that ncu reads for `sitegen try --ncu`, on Hopper, with their units.

Names and meaning are those of Nsight Compute (its profiling guide, and `ncu --query-metrics`).  A GPU without one of
them lists no such column.  The kernels of a call are combined by sums, or by a mean that is weighted with another
metric.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProfileMetric:
    """One metric of ncu."""

    name: str
    unit: str
    weight: str = ""
    """The metric that weights each kernel of a call in a mean; empty: the kernels are added up."""


ISSUED = ProfileMetric("smsp__issue_active.sum", "scheduler cycles in which an instruction was issued")
ELAPSED = ProfileMetric("sm__cycles_elapsed.max", "SM cycles")
STALL_REASONS = (
    *("barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard"),
    *("math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "short_scoreboard"),
    *("sleeping", "tex_throttle", "wait"),
)
"""Reasons for which a warp issues nothing in a cycle.  `gmma`, the wait for wgmma, exists on Hopper only."""
STALLS = {
    reason: ProfileMetric(
        f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio",
        "cycles that a warp waits for each instruction that it issues",
        ISSUED.name,
    )
    for reason in STALL_REASONS
}
TENSOR = ProfileMetric(
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "percent of the SM cycles", ELAPSED.name
)
LOAD_SECTORS = ProfileMetric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors of 32 bytes")
LOAD_REQUESTS = ProfileMetric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "load instructions of a warp")
STORE_SECTORS = ProfileMetric("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors of 32 bytes")
STORE_REQUESTS = ProfileMetric("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "store instructions of a warp")
LOAD_CONFLICTS = ProfileMetric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "bank conflicts")
STORE_CONFLICTS = ProfileMetric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "bank conflicts")
PROFILE_METRICS = (
    *(ISSUED, ELAPSED, *STALLS.values(), TENSOR),
    *(LOAD_SECTORS, LOAD_REQUESTS, STORE_SECTORS, STORE_REQUESTS, LOAD_CONFLICTS, STORE_CONFLICTS),
)
