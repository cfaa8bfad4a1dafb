"""Machine code → what a reader wants to know of it: registers, spills, shared memory, instructions by class.

`cuobjdump` reads cubins and shared libraries alike, whoever compiled them; where it is missing there is no
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
from dataclasses import dataclass
from pathlib import Path

from sitegen.model.record import Compilation

MOST_BYTES = 256 * 1024
"""Of one artefact, compressed."""
RESERVED_SHARED = 1024
"""The driver's own, of each block since sm_80: cuobjdump counts it where a kernel uses any."""
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*?);", re.M)
_USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
_MEMORY = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDGSTS", "LDC")
_COUNTED = re.compile(
    r"^(F(ADD|MUL|FMA|SETP|MNMX)|D(ADD|MUL|FMA)|H(ADD|MUL|FMA)2|HMMA|HGMMA|QGMMA|IGMMA|IMMA|IMAD|MUFU|SHFL|REDUX|VOTE"
    r"|BAR|SYNCS|MEMBAR|FENCE|WARPSYNC|BSYNC|ATOM|ATOMG|ATOMS|RED|REDG|UTMALDG|UTMASTG|UBLKCP|LDSM|STSM|BRA|F2F\w*)$"
)
"""Arithmetic, communication, barriers, bulk copies, branches: what says how a kernel works."""


@dataclass(frozen=True, slots=True)
class Binary:
    """What a compiler made: a cubin or a library, the entries that are launched (empty: all), the PTX when known."""

    data: bytes
    entries: tuple[str, ...] = ()
    ptx: bytes = b""
    flags: str = ""
    dynamic_shared: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Of one binary: resource use by function, and the SASS without addresses and encodings."""

    usage: Mapping[str, tuple[int, int, int]]
    """(registers, bytes of local memory, bytes of shared memory)."""
    sass: str


def compilation_of(binaries: Sequence[Binary], arch: str) -> tuple[Compilation, dict[str, bytes]] | None:
    """The compilation of all that one call launches, and its artefacts by `<sha256>.<kind>`; None without tools."""
    tool = _cuobjdump()
    if not tool or not binaries:
        return None
    listings = [_listing(tool, binary) for binary in binaries]
    usages = [usage for listing in listings for usage in listing.usage.values()]
    sass = "\n".join(listing.sass for listing in listings).encode()
    ptx = "\n".join(clean_ptx(binary.ptx.decode()) for binary in binaries if binary.ptx).encode()
    artefacts = {**_named(ptx, "ptx"), **_named(sass, "sass")}
    if not usages:
        return None
    found = Compilation(
        arch=arch,
        registers=max(registers for registers, _, _ in usages),
        spill_bytes=sum(local for _, local, _ in usages),
        shared_bytes=max(_shared(listing, binary) for listing, binary in zip(listings, binaries, strict=True)),
        sass_hash=hashlib.sha256(sass).hexdigest(),
        instructions=count_instructions(sass.decode()),
        flags=" | ".join(dict.fromkeys(binary.flags for binary in binaries if binary.flags)),
        ptx=_hash_of(artefacts, "ptx"),
        sass=_hash_of(artefacts, "sass"),
    )
    return found, artefacts


def _shared(listing: Listing, binary: Binary) -> int:
    static = max((shared for _, _, shared in listing.usage.values()), default=0)
    return binary.dynamic_shared + max(0, static - RESERVED_SHARED)


def count_instructions(sass: str) -> dict[str, int]:
    """Instructions by class, memory accesses by their width in bits: `LDG.128`, `FFMA`, `BAR`."""
    opcodes = (line.split()[0] for line in sass.splitlines() if line.startswith(" "))
    counted = Counter(filter(None, map(instruction_class, opcodes)))
    return dict(sorted(counted.items()))


def clean_ptx(ptx: str) -> str:
    """Without the debug information, which holds paths of this machine."""
    code = ptx.partition("\t.section\t.debug")[0]
    return "\n".join(line for line in code.splitlines() if not line.lstrip().startswith((".loc", ".file"))) + "\n"


def instruction_class(opcode: str) -> str:
    """`LDG.E.128.CONSTANT` → `LDG.128`; empty for what is not counted."""
    name, *modifiers = opcode.rstrip(";").split(".")
    if name in _MEMORY:
        widths = {"U8": "8", "S8": "8", "U16": "16", "S16": "16", "64": "64", "128": "128"}
        return "" if name == "LDC" else f"{name}.{next((widths[m] for m in modifiers if m in widths), '32')}"
    return name if _COUNTED.match(name) else ""


def pack(content: bytes) -> str | None:
    """Base64 of gzip without a time stamp; None when it is larger than an artefact may be."""
    packed = gzip.compress(content, mtime=0)
    return base64.b64encode(packed).decode() if len(packed) <= MOST_BYTES else None


def artefact_name(content: bytes, kind: str) -> str:
    return f"{hashlib.sha256(content).hexdigest()}.{kind}"


def _named(content: bytes, kind: str) -> dict[str, bytes]:
    """Nothing when there is nothing, or too much."""
    return {artefact_name(content, kind): content} if content and pack(content) else {}


def _hash_of(artefacts: Mapping[str, bytes], kind: str) -> str:
    return next((name.split(".")[0] for name in artefacts if name.endswith(kind)), "")


def _listing(tool: str, binary: Binary) -> Listing:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "code"
        file.write_bytes(binary.data)
        usage = _run(tool, "--dump-resource-usage", file)
        sass = _run(tool, "--dump-sass", file)
    found = {m[1]: (int(m[2]), int(m[3]) + int(m[5]), int(m[4])) for m in _USAGE.finditer(usage)}
    kept = {name: numbers for name, numbers in found.items() if not binary.entries or name in binary.entries}
    return Listing(kept, _clean(sass, binary.entries))


def _clean(sass: str, entries: Sequence[str]) -> str:
    """One instruction a line, below its function, without addresses and encodings, which move for nothing."""
    lines = []
    for part in sass.split("Function : ")[1:]:
        name, _, body = part.partition("\n")
        if not entries or name.strip() in entries:
            lines.append(f"{name.strip()}:")
            lines += [f"  {_predicated(match)}" for match in _INSTRUCTION.finditer(body)]
    return "\n".join(lines) + "\n"


def _predicated(match: re.Match[str]) -> str:
    """The instruction with its guard behind it, so that every line begins with the opcode."""
    guard = re.search(r"@!?U?P\w+", match[0])
    text = f"{match[1]}{match[2].rstrip()} ;"
    return f"{text} {guard[0]}" if guard else text


def _run(tool: str, option: str, file: Path) -> str:
    done = subprocess.run([tool, option, str(file)], capture_output=True, text=True, timeout=60)
    return done.stdout


def _cuobjdump() -> str:
    """The toolkit's, or the one that Triton brings; empty when there is none."""
    if found := shutil.which("cuobjdump"):
        return found
    spec = importlib.util.find_spec("triton")
    places = [Path("/usr/local/cuda/bin/cuobjdump")]
    if spec and spec.origin:
        places.append(Path(spec.origin).parent / "backends" / "nvidia" / "bin" / "cuobjdump")
    return next((str(place) for place in places if place.exists()), "")
