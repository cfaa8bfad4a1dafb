"""Where jobs may go: the GPUs of this machine, of hosts over SSH, or of a Dask scheduler that exists.

Found through nvidia-smi, so that nothing here needs torch.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sitegen.model.gpu import gpu_id

QUERY = ("nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader")


class NoTarget(ValueError):
    """Why nothing can run there, in a sentence."""


@dataclass(frozen=True, slots=True)
class Device:
    """What one worker has for itself."""

    gpu: str = ""
    """The GPU's id, `nvidia-h200`; empty: no GPU, Triton's interpreter checks correctness and nothing is timed."""
    uuid: str = ""
    host: str = ""
    """Over SSH; empty: this machine."""

    @property
    def environment(self) -> dict[str, str]:
        """Of the worker's process."""
        if not self.gpu:
            return {"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"}
        return {"CUDA_VISIBLE_DEVICES": self.uuid, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@dataclass(frozen=True, slots=True)
class Target:
    devices: tuple[Device, ...] = ()
    """All of one model: a run is about one kind of GPU."""
    scheduler: str = ""
    """Address of a running Dask scheduler whose workers have the resource GPU; then `devices` is empty."""
    bind: str = ""
    """Our address, at which the workers over SSH connect to us, by TLS; never all interfaces."""
    python: str = "python3"
    """On hosts over SSH: a Python that has this package."""

    @property
    def gpu(self) -> str:
        return self.devices[0].gpu if self.devices else ""

    @property
    def is_here(self) -> bool:
        """Whether all jobs run on this machine."""
        return not self.scheduler and not any(device.host for device in self.devices)


def local_target() -> Target:
    """This machine's GPUs of the model that it has most of; without a GPU one worker for Triton's interpreter."""
    return Target(_of_one_model(_visible(_devices(_smi(QUERY)))) or (Device(),))


def configured_target(name: str, targets: Mapping[str, Mapping[str, Any]]) -> Target:
    """A target of site.yaml: `{scheduler: tcp://…}`, or `{hosts: [gpu1, gpu2], bind: 10.0.0.1, python: python3}` with
    our own address in the network of the hosts.  `local` is this machine.  Raises NoTarget.
    """
    if name == "local":
        return local_target()
    if name not in targets:
        raise NoTarget(f"site.yaml has no target `{name}`; it has {', '.join(['local', *sorted(targets)])}")
    settings = targets[name]
    if settings.get("scheduler"):
        return Target(scheduler=str(settings["scheduler"]))
    if not settings.get("bind"):
        raise NoTarget(f"the target `{name}` needs `bind`: this machine's address in the network of its hosts")
    hosts = [str(host) for host in settings.get("hosts", ())]
    devices = _of_one_model([d for host in hosts for d in _devices(_smi(_over_ssh(host)), host)])
    if not devices:
        raise NoTarget(f"no host of the target `{name}` answers to nvidia-smi over SSH")
    return Target(devices, bind=str(settings["bind"]), python=str(settings.get("python", "python3")))


def _over_ssh(host: str) -> tuple[str, ...]:
    return ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host, " ".join(QUERY))


def _smi(command: Sequence[str]) -> str:
    """What nvidia-smi says; nothing where there is none, or where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _devices(listing: str, host: str = "") -> list[Device]:
    rows = [[field.strip() for field in line.split(",", 2)] for line in listing.splitlines()]
    return [Device(gpu_id(row[2]), row[1], host) for row in rows if len(row) == 3]


def _visible(devices: list[Device]) -> list[Device]:
    """Those that CUDA_VISIBLE_DEVICES leaves to us: indices or (the beginnings of) UUIDs."""
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
