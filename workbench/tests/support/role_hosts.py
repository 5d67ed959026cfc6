"""A host in namespaces of its own, where scripts of roles run for real, with programs that only record what they do.

Real are the shell, the loop devices, mkfs, mount, fstab and the host name. Fake, because they would change this machine
or need a kernel that has them, are packages, services, exports and arrays: each call stands in `calls`.
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.rooms.deploy.work.roles.scripts import env_path, role_env, role_script, script_path

ETC = (
    *("passwd", "group", "nsswitch.conf", "ld.so.cache", "mke2fs.conf", "machine-id", "mtab", "debian_version"),
    *("netconfig", "protocols", "rpc", "services"),
)
SETUP = """
set -e
mount --bind "$0/etc" /etc
mount --bind "$0/state" /var/lib
mkdir -p /run/systemd/system /run/lock
mount -t tmpfs none /proc/fs
mkdir /proc/fs/nfsd && echo 8 >/proc/fs/nfsd/threads
mkdir /run/dev && mount -t tmpfs none /run/dev
for node in null zero full urandom tty; do cp -a /dev/$node /run/dev; done
cp -a /dev/loop[0-9]* /run/dev
if [ $# -gt 0 ]; then
    mkdir -p /run/block
    for disk; do
        cp -a "${disk#*=}" "/run/dev/${disk%%=*}"
        ln -s "/sys/devices/virtual/block/${disk#*=/dev/}" "/run/block/${disk%%=*}"
    done
    mount --bind /run/block /sys/class/block
    mount --bind /run/block /sys/block
fi
mount --bind /run/dev /dev
"""
"""For sh in the namespaces of a host, which has a /run of its own: its folder, and NAME=DEVICE of each of its disks."""
BOOT = f"mount -t tmpfs none /run\n{SETUP}echo up\nexec sleep infinity\n"
_LOG = """echo "${0##*/} $*" >>"$HOST_FOLDER/calls"
[ ! -e "$HOST_FOLDER/fail-${0##*/}" ] || { echo "E: ${0##*/} fails"; exit 1; }
"""
FAKES = {
    "apt-get": """
for word; do
  case $word in -*|update|install|*=*) ;; *) touch "$HOST_FOLDER/installed-$word" ;; esac
done""",
    "dpkg-query": 'for word; do last=$word; done; [ -e "$HOST_FOLDER/installed-$last" ] && printf installed',
    "systemctl": """
for word; do unit=$word; done
case "$*" in
  *is-active*|*is-enabled*) [ -e "$HOST_FOLDER/unit-$unit" ] ;;
  restart*|start*) touch "$HOST_FOLDER/unit-$unit" ;;
esac""",
    "exportfs": '[ "$1" = -s ] || exit 0; cat /etc/exports.d/*.exports',
    "rpc.nfsd": "echo $1 >/proc/fs/nfsd/threads",
    "nfsconf": 'at=$HOST_FOLDER/nfsconf-$2-$3; if [ "$1" = --get ]; then cat "$at"; else echo "$4" >"$at"; fi',
    "udevadm": "",
    "sleep": '[ ! -e "$HOST_FOLDER/impatient" ]',
    "curl": """
cat >>"$HOST_FOLDER/signals"
for word; do last=$word; done
printf '%s\\n' "$last" >>"$HOST_FOLDER/signals\"""",
}
QUIET = ("dpkg-query", "sleep")
"""Fakes whose calls are not worth a line."""


class RoleHost:
    """A host in namespaces: its /etc, /var/lib and mounts are its own."""

    def __init__(self, folder: Path, fakes: Mapping[str, str]) -> None:
        """Make the files of the host; `up` starts it."""
        self.folder = folder
        for name in ("etc", "state", "bin"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in ETC:
            with contextlib.suppress(OSError):
                shutil.copy(f"/etc/{name}", folder / "etc" / name, follow_symlinks=False)
        shutil.copytree("/etc/alternatives", folder / "etc/alternatives", symlinks=True, dirs_exist_ok=True)
        (folder / "etc/hosts").write_text("127.0.0.1 localhost\n")
        (folder / "etc/fstab").write_text("# the machine's own\nUUID=0000 / ext4 defaults 0 1")
        for name, body in {**FAKES, **fakes}.items():
            path = folder / "bin" / name
            path.write_text(f"#!/bin/sh\n{'' if name in QUIET else _LOG}{body}\n")
            path.chmod(0o755)

    @contextlib.contextmanager
    def up(self, disks: Mapping[str, str] | None = None) -> Iterator[None]:
        """The host is up meanwhile; its mounts are gone afterwards, as at a reboot.

        With `disks`, name -> loop device, it has these disks and no others, each by that name.
        """
        named = [f"{name}={device}" for name, device in (disks or {}).items()]
        command = ["unshare", "-m", "-u", "-p", "-f", "--mount-proc", "--kill-child", "--propagation", "private"]
        with subprocess.Popen(
            [*command, "sh", "-c", BOOT, str(self.folder), *named], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
                assert line == b"up\n", line + process.stdout.read()
                self.pid = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
                yield
            finally:
                process.kill()

    def enter(self, pid: int, disks: Mapping[str, str]) -> None:
        """Be a host that exists already: the process is in its namespaces of mounts, network, processes and name."""
        self.pid = pid
        named = [f"{name}={device}" for name, device in disks.items()]
        self.must(SETUP, str(self.folder), *named)

    def sh(self, text: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run shell text on the host, with the fakes first in PATH."""
        variables = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOST_FOLDER": str(self.folder)}
        return subprocess.run(
            ["nsenter", "-t", str(self.pid), "-m", "-n", "-u", "-p", "--", "/bin/sh", "-c", text, *words],
            env=variables, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def must(self, text: str, *words: str) -> str:
        """Run shell text that must succeed; return what it printed."""
        done = self.sh(text, *words)
        assert done.returncode == 0, f"{text}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def status(self) -> dict[str, Any]:
        """Return what the script of the role has recorded."""
        found: dict[str, Any] = json.loads((self.folder / "state/assay/role.status.json").read_text())
        return found

    def write(self, role: str, values: Mapping[str, str]) -> str:
        """Write the script of a role and its values; return the command that runs it."""
        (self.folder / "etc/assay").mkdir(exist_ok=True)
        (self.folder / env_path(role)[1:]).write_text(role_env(values))
        (self.folder / script_path(role)[1:]).write_text(role_script(role))
        return f"sh {script_path(role)}"

    def set_up(self, role: str, values: Mapping[str, str], *options: str) -> dict[str, Any]:
        """Run the script of a role; return its JSON with `code`, the exit code."""
        done = self.sh(f'exec {self.write(role, values)} --json "$@"', "sh", *options)
        assert done.stdout.startswith("{"), (done.stdout, done.stderr)
        return {**json.loads(done.stdout), "code": done.returncode, "stderr": done.stderr}

    def calls(self) -> list[str]:
        """Return the calls of fakes so far, and forget them."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def files(self) -> dict[str, str]:
        """Return path -> text of all files of /etc and /var/lib that a role may write."""
        found = (path for part in ("etc", "state") for path in (self.folder / part).rglob("*"))
        return {
            str(path.relative_to(self.folder)): path.read_text(errors="replace")
            for path in found
            if path.is_file() and not path.is_symlink()
        }


def states(result: Mapping[str, Any]) -> dict[str, str]:
    """Return step -> state of the JSON of a script."""
    return {step["step"]: step["state"] for step in result["steps"]}


@contextlib.contextmanager
def role_host(folder: Path, fakes: Mapping[str, str] | None = None) -> Iterator[RoleHost]:
    """A host that is up meanwhile; the test is skipped where namespaces cannot be made."""
    if os.geteuid() != 0:
        pytest.skip("SKIPPED: hosts in namespaces need root")
    host = RoleHost(folder, fakes or {})
    with host.up():
        yield host
