"""The probes do what their names say: their machine code for Hopper shows it without a GPU."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from sitegen.measure.artefacts import count_instructions, disassemble
from sitegen.measure.compile import compile_device

PROBES = Path(__file__).parents[2] / "sitegen" / "measure" / "probes"
HOPPER = "sm_90a"
WGMMA = {
    "bf16": "HGMMA.64x256x16.F32.BF16",
    "tf32": "HGMMA.64x256x8.F32.TF32",
    "e4m3": "QGMMA.64x256x32.F32.E4M3.E4M3",
}
TILE = {"THREADS": 512, "UNROLL": 8, "STREAMING": 1}
LOOP = {"WARPGROUPS": 2, "SLABS": 4, "ROUNDS": 4}
EVERY_PROBE = {
    "bulk read": ("bulk", "bulk_1_0", {"CHUNK": 32768, "STAGES": 6}),
    "bulk copy": ("bulk", "bulk_1_1", {"CHUNK": 32768, "STAGES": 6}),
    "bulk mix": ("bulk", "bulk_2_1", {"CHUNK": 16384, "STAGES": 6}),
    "bulk write": ("bulk", "bulk_0_1", {"CHUNK": 32768, "STAGES": 6}),
    "clock": ("clock", "sm_clock", {}),
    "empty": ("empty", "empty", {}),
    "fma": ("fma", "fma_chains", {"THREADS": 512, "CHAINS": 8, "STEPS": 128}),
    "l2": ("l2", "l2_read", {"THREADS": 256, "UNROLL": 8}),
    "memory read": ("memory", "read_1_0", TILE),
    "memory copy": ("memory", "copy_1_1", TILE),
    "memory mix": ("memory", "mix_2_1", TILE),
    "memory write": ("memory", "write_0_1", TILE),
    "shared": ("shared", "shared_read", {"THREADS": 1024, "UNROLL": 8}),
    **{f"wgmma {name}": ("wgmma", "products", {"TYPE": name, **LOOP}) for name in WGMMA},
}
"""File, entry point, and the largest of the constants that ceilings use."""

pytestmark = pytest.mark.nvrtc


@cache
def compiled(probe):
    """Return the compiler's output for a probe, and its SASS."""
    file, entry, defines = EVERY_PROBE[probe]
    values = tuple((name, str(value)) for name, value in defines.items())
    code = compile_device(PROBES / f"{file}.cu", entry, HOPPER, values, [])
    found = disassemble([code.binary(0)], HOPPER)
    sass = next(content.decode() for name, content in found.artefacts.items() if name.endswith(".sass"))
    return found.compilation, sass


def hottest_loop(sass):
    """Return the longest loop: a stretch that a branch at its end repeats; an instruction has 16 bytes."""
    code = [line.strip() for line in sass.splitlines() if line.startswith("  ")]
    jumps = [(int(m[1], 16) // 16, i) for i, line in enumerate(code) if (m := re.match(r"BRA (0x\w+)", line))]
    return max((code[first : last + 1] for first, last in jumps if first < last), key=len)


def loop_of(probe):
    return hottest_loop(compiled(probe)[1])


def counted(code):
    return count_instructions("\n".join(f"  {line}" for line in code))


@pytest.mark.parametrize("probe", EVERY_PROBE)
def test_no_probe_spills_a_register(probe):
    assert compiled(probe)[0].spill_bytes == 0


def test_every_probe_is_looked_at_here():
    assert {file.stem for file in PROBES.glob("*.cu")} == {file for file, _, _ in EVERY_PROBE.values()}


@pytest.mark.parametrize("name", WGMMA)
def test_the_wgmma_loop_queues_all_products_of_a_round_before_it_waits(name):
    loop = loop_of(f"wgmma {name}")
    sequence = [line.split()[0] for line in loop if re.match("WARPGROUP|HGMMA|QGMMA", line)]
    products = LOOP["SLABS"] * 4
    assert sequence == ["WARPGROUP.ARRIVE", *[WGMMA[name]] * products, "WARPGROUP.DEPBAR.LE"]
    assert not {"LDS.128", "LDG.128", "STS.128", "BAR"} & set(counted(loop))


def test_a_round_of_wgmma_waits_for_the_round_before_it_only():
    waits = [line for line in loop_of("wgmma bf16") if "DEPBAR" in line]
    assert waits == ["WARPGROUP.DEPBAR.LE gsb0, 0x1 ;"]


def test_the_l2_is_read_by_16_bytes_past_the_l1():
    loads = [line for line in loop_of("l2") if line.startswith("LDG")]
    assert len(loads) == EVERY_PROBE["l2"][2]["UNROLL"]
    assert all(line.startswith("LDG.E.128.STRONG.GPU") for line in loads)


def test_shared_memory_is_read_by_16_bytes_in_every_pass():
    loop = counted(loop_of("shared"))
    assert loop["LDS.128"] % EVERY_PROBE["shared"][2]["UNROLL"] == 0
    assert not {"LDS.32", "LDS.64"} & set(loop)


def test_the_fma_loop_is_hardly_anything_but_fma():
    loop = loop_of("fma")
    assert counted(loop)["FFMA"] / len(loop) > 0.99


@pytest.mark.parametrize(("entry", "loads", "stores"), [("read", 1, 0), ("copy", 1, 1), ("mix", 2, 1), ("write", 0, 1)])
def test_memory_is_read_and_written_by_16_bytes_only(entry, loads, stores):
    found = compiled(f"memory {entry}")[0].instructions
    unroll = EVERY_PROBE[f"memory {entry}"][2]["UNROLL"]
    assert found.get("LDG.128", 0) >= loads * unroll
    assert found.get("STG.128", 0) >= stores * unroll
    assert not {"LDG.32", "LDG.64", "STG.32", "STG.64"} & set(found)
