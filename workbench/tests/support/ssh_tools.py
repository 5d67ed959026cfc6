"""A private sshd on this machine for tests: own keys, a high port on 127.0.0.1, killed by its own id."""

import contextlib
import getpass
import os
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from faulty import HANG_GUARD
from s3_servers import free_port

from assay.model.site.host import Host

SSHD = "/usr/sbin/sshd"


@dataclass(frozen=True)
class Sshd:
    """One that runs.

    Attributes:
        host: How to reach it.
        pid: Of the listening process.
        home: The home directory of those who log in.
    """

    host: Host
    pid: int
    folder: Path
    home: Path
    port: int


@contextlib.contextmanager
def private_sshd(folder: Path) -> Iterator[Sshd]:
    """An sshd that lets this user in, and whose sessions have a home directory of their own."""
    if not Path(SSHD).exists() or not shutil.which("ssh"):
        pytest.skip("no sshd or no ssh on this machine: apt-get install openssh-server openssh-client")
    home = folder / "home"
    home.mkdir()
    port = free_port()
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(key, check=True, stdin=subprocess.DEVNULL)
    _write_configurations(folder, home, port)
    process = subprocess.Popen(
        [*_own_run(), SSHD, "-D", "-E", str(folder / "log"), "-f", str(folder / "sshd_config")],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(process, port, folder)
        yield Sshd(_host(folder, port), process.pid, folder, home, port)
    finally:
        process.kill()
        process.wait()


def _host(folder: Path, port: int) -> Host:
    identity, config = str(folder / "user"), str(folder / "ssh_config")
    return Host(name="node1", address="127.0.0.1", port=port, identity=identity, ssh_config=config)


def _write_configurations(folder: Path, home: Path, port: int) -> None:
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
        f"PidFile {folder}/pid\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nUseDNS no\nMaxStartups 100\n"
        f"KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nSetEnv HOME={home}\n"
    )
    public = (folder / "host.pub").read_text().split()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public[0]} {public[1]}\n")
    (folder / "ssh_config").write_text(
        f"Host *\n  User {getpass.getuser()}\n  UserKnownHostsFile {folder}/known_hosts\n"
        "  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n  IdentityAgent none\n"
    )


def _own_run() -> list[str]:
    """What sshd of root is started by: it wants /run/sshd, which Debian makes when the service is started.

    It is made where only this sshd sees it: others come and go meanwhile.
    """
    if os.geteuid() != 0:
        return []
    script = 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec "$@"'
    return ["unshare", "--mount", "--propagation", "slave", "sh", "-c", script, "sh"]


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    end = time.monotonic() + HANG_GUARD
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.02)
    log = folder / "log"
    pytest.fail(f"sshd does not start: {log.read_text() if log.exists() else 'it has said nothing'}")


def path_with_ssh(folder: Path, config: Path) -> str:
    """A PATH whose `ssh`, made in `folder/bin`, has another configuration than the user's."""
    program = folder / "bin" / "ssh"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {config} "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


def fake_ssh(folder: Path, complaint: str, code: int = 255) -> None:
    """A program `ssh` in `folder` that complains and ends."""
    program = folder / "ssh"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(complaint)} >&2\nexit {code}\n")
    program.chmod(0o755)
