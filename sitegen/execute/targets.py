"""The name of a target → its GPUs: of this machine, of hosts over SSH, of Slurm, or of a Dask scheduler that runs.

GPUs are listed by nvidia-smi, so that nothing here needs torch.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.gpu import gpu_id
from sitegen.model.site import TargetSettings

QUERY = ("nvidia-smi", "--query-gpu=index,uuid,name,pci.bus_id,memory.total", "--format=csv,noheader")
SLURM = ("sbatch", "squeue", "scancel")


class NoTarget(ValueError):
    """A target that cannot be used; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU that one worker has for itself."""

    gpu: str = ""
    """The GPU's id, `nvidia-h200`; empty: no GPU, Triton's interpreter checks correctness and nothing is timed."""
    uuid: str = ""
    host: str = ""
    """The host over SSH; empty: this machine."""
    bus: str = ""
    """Address of the GPU on the PCI bus, `00000000:1B:00.0`; empty where it is not known."""
    memory_bytes: int = 0
    """Memory of the GPU; 0 where it is not known."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the worker's process."""
        if not self.gpu:
            return {"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"}
        return {"CUDA_VISIBLE_DEVICES": self.uuid, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@dataclass(frozen=True, slots=True)
class Target:
    """Machines on which jobs run."""

    devices: tuple[Device, ...] = ()
    """GPUs, all of one model, because a run measures one model."""
    scheduler: str = ""
    """Address of a running Dask scheduler whose workers have the resource GPU; then `devices` is empty."""
    slurm: int = 0
    """Number of GPUs that Slurm gives, each in a job of its own; then `devices` is empty."""
    sbatch: tuple[str, ...] = ()
    """Options of each job of Slurm."""
    bind: str = ""
    """Address of this machine at which workers over SSH or in Slurm connect to it, by TLS; never all interfaces."""
    python: str = "python3"
    """A Python on the hosts or nodes that has this package."""
    silent: tuple[str, ...] = ()
    """Hosts that did not answer to nvidia-smi over SSH, on which nothing runs."""

    @property
    def gpu(self) -> str:
        """The id of the GPU; empty without one, in Slurm, and for a scheduler."""
        return self.devices[0].gpu if self.devices else ""

    @property
    def is_here(self) -> bool:
        """True when all jobs run on this machine."""
        return not self.scheduler and not self.slurm and not any(device.host for device in self.devices)


def local_target() -> Target:
    """Return this machine's GPUs of its most frequent model; without a GPU, one worker for Triton's interpreter."""
    return Target(_of_one_model(_visible(_devices(_smi(QUERY)))) or (Device(),))


def configured_target(name: str, targets: Mapping[str, TargetSettings]) -> Target:
    """Return a target of site.yaml; `local` is this machine.  Raises NoTarget."""
    if name == "local":
        return local_target()
    if name not in targets:
        raise NoTarget(f"site.yaml has no target `{name}`; it has {', '.join(['local', *sorted(targets)])}")
    settings = targets[name]
    if settings.scheduler:
        return Target(scheduler=settings.scheduler)
    if not settings.bind:
        raise NoTarget(f"the target `{name}` needs `bind`: this machine's address in the network of its hosts")
    return _in_slurm(name, settings) if settings.slurm else _by_ssh(name, settings)


def _in_slurm(name: str, settings: TargetSettings) -> Target:
    if missing := [program for program in SLURM if shutil.which(program) is None]:
        raise NoTarget(f"the target `{name}` needs {' and '.join(missing)}: run sitegen on a machine that submits jobs")
    return Target(slurm=settings.slurm, sbatch=settings.sbatch, bind=settings.bind, python=settings.python)


def _by_ssh(name: str, settings: TargetSettings) -> Target:
    found = {host: _devices(_smi(_over_ssh(host)), host) for host in settings.hosts}
    devices = _of_one_model([device for several in found.values() for device in several])
    if not devices:
        raise NoTarget(f"no host of the target `{name}` answers to nvidia-smi over SSH")
    silent = tuple(host for host, several in found.items() if not several)
    return Target(devices, bind=settings.bind, python=settings.python, silent=silent)


def answers(host: str) -> bool:
    """Return whether nvidia-smi lists a GPU on the host."""
    return bool(_devices(_smi(_over_ssh(host)), host))


def _over_ssh(host: str) -> tuple[str, ...]:
    return ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host, " ".join(QUERY))


def _smi(command: Sequence[str]) -> str:
    """Return the output of nvidia-smi; empty where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _devices(listing: str, host: str = "") -> list[Device]:
    rows = [[field.strip() for field in line.split(",")] for line in listing.splitlines()]
    return [Device(gpu_id(row[2]), row[1], host, row[3], _mib(row[4])) for row in rows if len(row) == 5]


def _mib(text: str) -> int:
    """Return the bytes of `81559 MiB`; 0 where nvidia-smi does not say, as on GPUs that share the host's memory."""
    number = text.removesuffix(" MiB")
    return int(number) << 20 if number.isdigit() else 0


def _visible(devices: list[Device]) -> list[Device]:
    """Return the devices that CUDA_VISIBLE_DEVICES names by index or by the beginning of a UUID."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return devices
    names = [name.strip() for name in allowed.split(",") if name.strip()]
    return [
        d for i, d in enumerate(devices) if any(str(i) == n or (len(n) > 4 and d.uuid.startswith(n)) for n in names)
    ]


def _of_one_model(devices: Sequence[Device]) -> tuple[Device, ...]:
    models = [device.gpu for device in devices]
    most = max(models, key=models.count, default="")
    return tuple(device for device in devices if device.gpu == most)
