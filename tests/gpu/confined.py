"""Use CUDA under the limits and without the network that code of a site gets, and print what it needed.

    python tests/gpu/confined.py

Shows that CUDA, pinned memory and a Triton kernel work in a process that sitegen/measure/confinement.py started, and
how far its memory and its open files stay below the limits.  Exit 1 when they do not work, or when the process still
reaches the network although the system allows it to be taken away.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, resource, socket
import torch, triton, triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

pinned = torch.arange(1 << 28, dtype=torch.float32).pin_memory()
x = pinned.cuda()
y = torch.empty_like(x)
double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
assert torch.equal(y, torch.compile(lambda x: 2 * x)(x))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
for name in ("VmPeak", "VmData", "VmRSS", "Threads"):
    print(f"{name:<12}{status[name].strip()}")
for name in ("RLIMIT_DATA", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_FSIZE"):
    print(f"{name:<14}{resource.getrlimit(getattr(resource, name))[0]}")
print("open files", len(os.listdir("/proc/self/fd")))
print("networks", [name for _, name in socket.if_nameindex()])
"""


def main() -> int:
    """Run the program as a command that is confined; return 0 when it worked."""
    with tempfile.TemporaryDirectory() as name:
        program, network = Path(name, "program.py"), Path(name, "network")
        program.write_text(PROGRAM)  # a file, because Triton reads the source of a kernel
        launcher = [sys.executable, "-I", "-S", str(ROOT / "sitegen" / "measure" / "confinement.py"), str(network)]
        done = subprocess.run([*launcher, sys.executable, str(program)], stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, end="")
        print(network.read_text() if network.exists() else "no network but its own")
        works = done.returncode == 0 and (network.exists() or "networks ['lo']" in done.stdout)
    print("CUDA works" if works else f"failed: exit code {done.returncode}")
    return 0 if works else 1


if __name__ == "__main__":
    sys.exit(main())
