"""Machine code → registers, spills, shared memory, instructions by class, and listings of PTX and SASS.

`cuobjdump` reads cubins and shared libraries, whichever compiler made them.  Where it is missing there is no
`Compilation`, and nothing fails.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sitegen.measure.occupancy import RESERVED_SHARED, number_of
from sitegen.model.record import Compilation

MOST_BYTES = 256 * 1024
"""The largest size of one artefact, compressed."""
_COUNTS_RESERVED = 90
"""From this architecture on, the static shared memory of a cubin includes the kilobyte of the driver."""
_INSTRUCTION = re.compile(
    r"^\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<guard>@!?U?P\w+\s+)?(?P<opcode>[A-Z][\w.]*)(?P<rest>.*?);", re.M
)
_SCHEDULING = re.compile(r"\s+(?:&\w+=\S+|\?\w+)")
"""Scheduling annotations that newer tools print beside an instruction: `&wr=0x0 ?trans1`."""
_ENCODING = re.compile(r"/\* (0x[0-9a-f]{16}) \*/")
_USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
_UNNAMED = re.compile(r"(?<=_GLOBAL__N__)[0-9a-f]{8}(?=_)|(?<=_INTERNAL_)[0-9a-f]{8}(?=_)")
"""The hash of the file's path that nvcc puts into the names of an anonymous namespace."""
_MEMORY = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDGSTS")
_WIDTHS = {"U8": "8", "S8": "8", "U16": "16", "S16": "16", "64": "64", "128": "128", "256": "256"}
_COUNTED = re.compile(
    r"^(?:"
    r"F(?:ADD|MUL|FMA)2?|F(?:SETP|MNMX3?)|D(?:ADD|MUL|FMA)|H(?:ADD|MUL|FMA)2|MUFU|IMAD|F2\w+|I2F\w*|"  # arithmetic
    r"[HIBDQO]MMA|[HIQB]GMMA|UTC\w*MMA|WARPGROUP|USETMAXREG|"  # tensor cores
    r"LDSM|STSM|LDTM|STTM|UTCCP|UTCBAR|UBLK\w+|UTMALDG|UTMASTG|UTMAREDG|UTMAPF|"  # their operands, and bulk copies
    r"SHFL|C?REDUX|VOTEU?|MATCH|ATOM[GS]?|RED|REDG|REDAS|STAS|"  # between threads
    r"BAR|SYNCS|UCGABAR_\w+|MEMBAR|FENCE|WARPSYNC|BSYNC|LDGDEPBAR|ACQBULK|PREEXIT|"  # barriers
    r"BRA|CALL"
    r")$"
)
"""Opcodes that are counted because they say how a kernel works; moves, addresses and predicates are left out."""
_MOVE_LIKE = re.compile(r"IMAD\.(?:MOV|IADD|SHL|X)\b|HFMA2\S*\s+\w+, -RZ, RZ,")
"""Moves, sums and shifts that the assembler encodes as a multiplication, to use another pipe of the SM."""


@dataclass(frozen=True, slots=True)
class Binary:
    """Machine code of one compilation."""

    data: bytes
    """A cubin or a shared library."""
    entries: tuple[str, ...] = ()
    """Names of the kernels that are launched, in order; empty: all."""
    ptx: bytes = b""
    """Empty when it is not known."""
    flags: str = ""
    dynamic_shared: int = 0


@dataclass(frozen=True, slots=True)
class KernelResources:
    """Resources that one kernel uses."""

    registers: int
    """Registers of a thread."""
    local_bytes: int
    """Local memory of a thread: spilled registers, and arrays that registers cannot hold."""
    shared_bytes: int
    """Static shared memory of a block, without the part of the driver."""


@dataclass(frozen=True, slots=True)
class BinaryListing:
    """Listing of one binary."""

    usage: Mapping[str, KernelResources]
    """Resources by kernel."""
    sass: str
    """SASS without addresses and encodings, which a reader does not need."""
    code: str
    """Encodings of the instructions, with their scheduling."""
    lengths: Mapping[str, int]
    """Instructions of each kernel."""


@dataclass(frozen=True, slots=True)
class Disassembly:
    """Compiled code of one call."""

    compilation: Compilation
    """The code of all kernels, with the most registers, all local memory and the most shared memory."""
    artefacts: Mapping[str, bytes]
    """PTX and SASS by `<sha256>.<kind>`."""
    resources: Mapping[str, KernelResources]
    """Resources of each kernel, by name, without a name that two binaries have."""
    lengths: Mapping[str, int]
    """Instructions of each kernel, by name; the most of two with the same name."""


def disassemble(binaries: Sequence[Binary], arch: str) -> Disassembly | None:
    """Return the compiled code of all kernels that one call launches, in order.

    Returns None without cuobjdump, or when the binaries have none of their entries.
    """
    tool = cuobjdump()
    listings = [_listing(tool, binary, arch) for binary in binaries] if tool else []
    usages = [usage for listing in listings for usage in listing.usage.values()]
    if not usages:
        return None
    sass = "\n".join(listing.sass for listing in listings).encode()
    ptx = "\n".join(clean_ptx(binary.ptx.decode()) for binary in binaries if binary.ptx).encode()
    artefacts = {**_named(ptx, "ptx"), **_named(sass, "sass")}
    compilation = Compilation(
        arch=arch,
        registers=max(usage.registers for usage in usages),
        spill_bytes=sum(usage.local_bytes for usage in usages),
        shared_bytes=max(_shared(listing, binary) for listing, binary in zip(listings, binaries, strict=True)),
        sass_hash=hashlib.sha256("\n".join(listing.code for listing in listings).encode()).hexdigest(),
        instructions=count_instructions(sass.decode()),
        flags=" | ".join(dict.fromkeys(binary.flags for binary in binaries if binary.flags)),
        ptx=_hash_of(artefacts, "ptx"),
        sass=_hash_of(artefacts, "sass"),
    )
    return Disassembly(compilation, artefacts, _resources(listings), _lengths(listings))


def _resources(listings: Sequence[BinaryListing]) -> dict[str, KernelResources]:
    names = Counter(name for listing in listings for name in listing.usage)
    return {name: used for one in listings for name, used in one.usage.items() if names[name] == 1}


def _lengths(listings: Sequence[BinaryListing]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for name, length in (pair for listing in listings for pair in listing.lengths.items()):
        lengths[name] = max(length, lengths.get(name, 0))
    return lengths


def _shared(listing: BinaryListing, binary: Binary) -> int:
    return binary.dynamic_shared + max((usage.shared_bytes for usage in listing.usage.values()), default=0)


def count_instructions(sass: str) -> dict[str, int]:
    """Count instructions by class, memory accesses by their width in bits: `LDG.128`, `FFMA`, `BAR`."""
    counted = Counter(instruction_class(line.strip()) for line in sass.splitlines() if line.startswith(" "))
    return {name: counted[name] for name in sorted(counted) if name}


def clean_ptx(ptx: str) -> str:
    """Return PTX without debug information, which holds paths of this machine."""
    code = ptx.partition("\t.section\t.debug")[0]
    return "\n".join(line for line in code.splitlines() if not line.lstrip().startswith((".loc", ".file"))) + "\n"


def instruction_class(instruction: str) -> str:
    """Return the class of an instruction: `LDG.128` for `LDG.E.128.CONSTANT R4, …`; empty when it is not counted."""
    name, *modifiers = instruction.split()[0].rstrip(";").split(".")
    if name in _MEMORY:
        return f"{name}.{next((_WIDTHS[m] for m in modifiers if m in _WIDTHS), '32')}"
    return name if _COUNTED.match(name) and not _MOVE_LIKE.match(instruction) else ""


def pack(content: bytes) -> str | None:
    """Return base64 of gzip without a time stamp; None when it is larger than an artefact may be."""
    packed = gzip.compress(content, mtime=0)
    return base64.b64encode(packed).decode() if len(packed) <= MOST_BYTES else None


def unpack(packed: str) -> bytes:
    """Return the content of an artefact that `pack` made."""
    return gzip.decompress(base64.b64decode(packed))


def pack_all(artefacts: Mapping[str, bytes]) -> dict[str, str]:
    """Return the artefacts packed, without those that are too large."""
    return {name: packed for name, content in artefacts.items() if (packed := pack(content))}


def artefact_name(content: bytes, kind: str) -> str:
    """Return `<sha256>.<kind>`."""
    return f"{hashlib.sha256(content).hexdigest()}.{kind}"


def digest_of_log(log: str) -> str:
    """Return the SHA-256 of the log of a failure; empty without one."""
    return hashlib.sha256(log.encode()).hexdigest() if log else ""


def log_artefact(log: str) -> dict[str, str]:
    """Return the log of a failure packed, by its name; none without one."""
    return pack_all({artefact_name(log.encode(), "log"): log.encode()} if log else {})


def _named(content: bytes, kind: str) -> dict[str, bytes]:
    """Return the artefact by its name; no artefact when it is empty or too large."""
    return {artefact_name(content, kind): content} if content and pack(content) else {}


def _hash_of(artefacts: Mapping[str, bytes], kind: str) -> str:
    return next((name.split(".")[0] for name in artefacts if name.endswith(kind)), "")


def _listing(tool: str, binary: Binary, arch: str) -> BinaryListing:
    entries = [stable_name(entry) for entry in binary.entries]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "code"
        file.write_bytes(binary.data)
        with ThreadPoolExecutor(2) as side_by_side:
            usage, sass = side_by_side.map(partial(_run, tool, file), ("--dump-resource-usage", "--dump-sass"))
    functions = _functions(sass, entries)
    resources = {stable_name(m[1]): _usage(m, arch) for m in _USAGE.finditer(usage)}
    texts = {name: readable(body) for name, body in functions.items()}
    return BinaryListing(
        usage={name: resources[name] for name in entries or resources if name in resources},
        sass="".join(f"{name}:\n{text}" for name, text in texts.items()),
        code="".join(f"{name}:\n{' '.join(_ENCODING.findall(body))}\n" for name, body in functions.items()),
        lengths={name: text.count("\n") for name, text in texts.items()},
    )


def _usage(match: re.Match[str], arch: str) -> KernelResources:
    registers, stack, shared, local = (int(number) for number in match.groups()[1:])
    reserved = RESERVED_SHARED if int(number_of(arch)) >= _COUNTS_RESERVED else 0
    return KernelResources(registers, stack + local, max(0, shared - reserved))


def _functions(sass: str, entries: Sequence[str]) -> dict[str, str]:
    """Return the listing of each entry, by its stable name."""
    parts = [part.partition("\n") for part in sass.split("Function : ")[1:]]
    named = [(stable_name(name.strip()), body) for name, _, body in parts]
    return {name: body for name, body in named if not entries or name in entries}


def stable_name(name: str) -> str:
    """Return the name of a kernel in the machine code, which does not depend on the path of its file."""
    return _UNNAMED.sub("0" * 8, name)


def readable(body: str) -> str:
    """Return one instruction a line, without the padding at the end: a branch to itself, and NOPs."""
    instructions = list(_INSTRUCTION.finditer(body))
    while instructions and instructions[-1]["opcode"] == "NOP":
        instructions.pop()
    if instructions and _branches_to_itself(instructions[-1]):
        instructions.pop()
    return "".join(f"  {_predicated(match)}\n" for match in instructions)


def _branches_to_itself(match: re.Match[str]) -> bool:
    target = re.search(r"0x([0-9a-f]+)", match["rest"])
    return match["opcode"] == "BRA" and target is not None and int(target[1], 16) == int(match["address"], 16)


def _predicated(match: re.Match[str]) -> str:
    """Return the instruction with its guard behind it, so that every line begins with the opcode."""
    text = f"{match['opcode']}{_SCHEDULING.sub('', match['rest']).rstrip()} ;"
    return f"{text} {match['guard'].strip()}" if match["guard"] else text


def _run(tool: str, file: Path, option: str) -> str:
    done = subprocess.run([tool, option, str(file)], capture_output=True, text=True, timeout=60)
    return done.stdout


def cuobjdump() -> str:
    """Return the path of cuobjdump, of the CUDA toolkit or of Triton; empty when there is none."""
    if on_path := shutil.which("cuobjdump"):
        return on_path
    spec = importlib.util.find_spec("triton")
    places = [Path("/usr/local/cuda/bin/cuobjdump")]
    if spec and spec.origin:
        places.append(Path(spec.origin).parent / "backends" / "nvidia" / "bin" / "cuobjdump")
    return next((str(place) for place in places if place.exists()), "")
