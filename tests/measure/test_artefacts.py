"""Registers, instructions by class and listing of machine code: the listing is the same wherever it was made."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util

import pytest

from sitegen.measure.artefacts import MOST_BYTES, Binary, clean_ptx, count_instructions, disassemble, pack, readable
from sitegen.measure.artefacts import instruction_class as class_of

ADD = """
import triton
import triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)
"""


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("LDG.E.128.CONSTANT", "LDG.128"),
        ("LDG.E", "LDG.32"),
        ("LDG.E.U16.CONSTANT", "LDG.16"),
        ("STG.E.EF.64", "STG.64"),
        ("HGMMA.64x128x16.F32.BF16", "HGMMA"),
        ("BAR.SYNC.DEFER_BLOCKING", "BAR"),
        ("LDC.64", ""),
        ("LDG.E.ENL2.256 R4, R8, [R2.64] ;", "LDG.256"),
        ("LDG.E.LTC128B.64 R4, [R2.64] ;", "LDG.64"),
        ("LDGSTS.E.BYPASS.LTC128B.128 [R5], [R2.64] ;", "LDGSTS.128"),
        ("IMAD R4, R5, 0x100, R6 ;", "IMAD"),
        ("IMAD.MOV.U32 R4, RZ, RZ, R5 ;", ""),
        ("HFMA2 R4, R5, R6, R7 ;", "HFMA2"),
        ("HFMA2.MMA R9, -RZ, RZ, 0, 9.5367431640625e-07 ;", ""),
        ("UTCQMMA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0 ;", "UTCQMMA"),
        ("NOP", ""),
    ],
)
def test_an_instruction_is_counted_by_class_and_width(opcode, name):
    assert class_of(opcode) == name


def test_a_listing_has_neither_what_schedules_an_instruction_nor_what_fills_a_line():
    line = "        /*0010*/  @!P0 BRA {target}  &wr=0x0  ?trans7;  /* 0x00000000000b7919 */\n"
    tail = "        /*0020*/   BRA 0x20 ;  /* 0x1 */\n        /*0030*/   NOP ;  /* 0x2 */\n"
    assert readable(line.format(target="0x40") + tail) == "  BRA 0x40 ; @!P0\n"


def test_labels_are_no_instructions():
    assert count_instructions("LDG:\n  LDG.E R1 ; @P0\n  LDG.E.128 R4 ;\n") == {"LDG.128": 1, "LDG.32": 1}


def test_an_artefact_has_no_time_stamp_and_is_refused_when_too_large():
    content = b"x" * 100
    assert gzip.decompress(base64.b64decode(pack(content))) == content
    assert pack(content) == pack(content)
    noise = b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(MOST_BYTES // 16))
    assert pack(noise) is None


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a Triton kernel compiled for another GPU, with two folders' paths in its debug information."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("needs torch and triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    made = []
    for name in ("one", "two"):
        file = tmp_path_factory.mktemp(name) / "add.py"
        file.write_text(ADD)
        spec = importlib.util.spec_from_file_location(f"add_{name}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        signature = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        source = ASTSource(module.add, signature, {"BLOCK": 1024})
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRITON_CACHE_DIR", str(file.parent / "cache"))
            kernel = compile(source, target=GPUTarget("cuda", 90, 32))
        made.append(Binary(kernel.asm["cubin"], ("add",), kernel.asm["ptx"].encode()))
    return made


@pytest.mark.torch
def test_the_same_code_in_two_folders_is_the_same_artefact(compiled):
    one, two = (disassemble([binary], "sm_90a") for binary in compiled)
    assert compiled[0].ptx != compiled[1].ptx
    assert one == two


@pytest.mark.torch
def test_a_compilation_says_registers_loads_and_stores(compiled):
    made = disassemble(compiled[:1], "sm_90a")
    found, artefacts = made.compilation, made.artefacts
    assert 8 <= found.registers <= 64
    assert found.spill_bytes == 0
    loads = sum(count for name, count in found.instructions.items() if name.startswith("LDG"))
    stores = sum(count for name, count in found.instructions.items() if name.startswith("STG"))
    assert loads == 2 * stores > 0
    assert set(artefacts) == {f"{found.ptx}.ptx", f"{found.sass}.sass"}


@pytest.mark.torch
def test_only_entries_that_are_launched_are_counted(compiled):
    assert disassemble([Binary(compiled[0].data, ("another",))], "sm_90a") is None


def test_ptx_loses_its_debug_information_only():
    ptx = (
        '\t.file\t1 "/somewhere/x.py"\n.visible .entry add()\n{\n\t.loc\t1 3 4\n\tret;\n}\n\t.section\t.debug_str\n{}\n'
    )
    assert clean_ptx(ptx) == ".visible .entry add()\n{\n\tret;\n}\n"
