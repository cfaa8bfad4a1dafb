"""Three hosts with one GPU each, as an author sees them: OpenSSH servers on this machine, with a false nvidia-smi.

`three_hosts` starts them.  Their user is the one who runs the tests, their addresses are ports of 127.0.0.1, and their
names are those of the SSH configuration that it writes.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
NAMES = ("gpu1", "gpu2", "gpu3")


@dataclass
class Host:
    """A host: its name, and the process of its SSH server."""

    name: str
    server: subprocess.Popen[bytes]

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the host, its SSH server last."""
        if not psutil.pid_exists(self.server.pid):
            return []
        server = psutil.Process(self.server.pid)
        return [*reversed(server.children(recursive=True)), server]

    def signal(self, number: int) -> None:
        """Send a signal to all processes: SIGSTOP makes the host silent, SIGCONT lets it answer again."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def end(self) -> None:
        """Take the host away."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.server.wait()


@contextlib.contextmanager
def three_hosts(folder: Path, modules: Path) -> Iterator[dict[str, Host]]:
    """Yield the hosts by name.

    `folder` gets a home folder, and a folder of programs with a Python that finds `modules`.
    """
    home, programs = folder / "home" / ".ssh", folder / "bin"
    for one in (home, programs):
        one.mkdir(parents=True)
    for key in ("user", "server"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(home / key)], check=True)
    write_program(programs / "python", f'PYTHONPATH="{ROOT}:{modules}" exec "{sys.executable}" "$@"')
    write_program(programs / "ssh", f'exec "{shutil.which("ssh")}" -F "{home / "config"}" "$@"')
    ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
    public = (home / "server.pub").read_text()
    (home / "known_hosts").write_text("".join(f"[127.0.0.1]:{port} {public}" for port in ports.values()))
    (home / "config").write_text("".join(client_settings(name, port, home) for name, port in ports.items()))
    hosts = {name: start(name, port, folder, home) for name, port in ports.items()}
    try:
        yield hosts
    finally:
        for host in hosts.values():
            host.end()


def start(name: str, port: int, folder: Path, home: Path) -> Host:
    """Start the SSH server of a host, and wait until it listens."""
    own = folder / name
    own.mkdir()
    write_program(own / "nvidia-smi", f'echo "0, GPU-{name}, NVIDIA H200, 00000000:1B:00.0, 143771 MiB"')
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    (own / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {home / 'server'}\nAuthorizedKeysFile {home / 'user.pub'}\n"
        f'PidFile none\nUsePAM no\nStrictModes no\nForceCommand PATH={own}:$PATH; eval "$SSH_ORIGINAL_COMMAND"\n'
    )
    with (own / "log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(own / "sshd_config")], stdout=log, stderr=log)
    until = time.monotonic() + 20
    while not reachable(port):
        assert time.monotonic() < until and server.poll() is None, (own / "log").read_text()
        time.sleep(0.05)
    return Host(name, server)


def client_settings(name: str, port: int, home: Path) -> str:
    settings = {
        "HostName": "127.0.0.1",
        "Port": port,
        "User": getpass.getuser(),
        "IdentityFile": home / "user",
        "IdentitiesOnly": "yes",
        "UserKnownHostsFile": home / "known_hosts",
    }
    return f"Host {name}\n" + "".join(f"  {key} {value}\n" for key, value in settings.items())


def write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in sockets]


def reachable(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
