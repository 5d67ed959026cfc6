"""Programs and rights that boxes need, and a function that runs programs."""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.launch.binary import INSTALL_HINT, find_shipped
from assay.launch.commands import MAX_STDOUT_BYTES, run_program
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.extras import is_installed
from assay.model.own_program import absolute_folders
from assay.model.secret import redact
from assay.model.units import about_size
from assay.servers.filled_server import find_words, install_hint
from assay.servers.kinds import ServerKind, load_kind

if TYPE_CHECKING:
    from assay.model.site.box import Box

SWITCH = "assay-switch"
PROGRAM_TIMEOUT_SECONDS = 60
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""Capability -> its bit in `CapEff` of /proc/self/status (linux/capability.h)."""
PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "mountpoint": "util-linux",
    "findmnt": "util-linux",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "mkfs.ext3": "e2fsprogs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "mount.nfs": "nfs-common",
    "mount.nfs4": "nfs-common",
    "mount.glusterfs": "glusterfs-client",
    "mount.moosefs": "moosefs-client",
    "mount.ceph": "ceph-common",
}
"""Program -> Debian package that contains it."""
NO_BOX_HINT = "without a box, targets on this machine and hosts over ssh can be measured"


def checked_output(words: Sequence[str], what: str, input_text: str = "") -> str:
    """Run a program to its end.

    Args:
        words: The command.
        what: What it does, for messages.
        input_text: Text for its standard input.

    Returns:
        Its standard output.

    Raises:
        AssayError: It fails, takes too long, prints too much, or is not installed.
    """
    environment = {**os.environ, "PATH": search_path(), "LC_ALL": "C"}
    try:
        output = run_program(words, PROGRAM_TIMEOUT_SECONDS, input_text.encode(), environment)
    except OSError as error:
        raise AssayError(f"{what}: {words[0]} cannot be started: {error.strerror}", "", EXIT_REFUSED) from error
    if output.timed_out or output.overflowed:
        how = (
            f"printed more than {about_size(MAX_STDOUT_BYTES)}"
            if output.overflowed
            else f"has not ended in {PROGRAM_TIMEOUT_SECONDS} s"
        )
        raise AssayError(f"{what}: {words[0]} {how}", "", EXIT_REFUSED)
    if output.code != 0:
        lines = [line.strip() for line in output.err.decode("utf-8", "replace").splitlines() if line.strip()]
        complaint = escape_line(redact(lines[0])) if lines else f"exit code {output.code}"
        raise AssayError(f"{what}: {complaint.removeprefix('error: ')}", "", EXIT_REFUSED)
    return output.out.decode("utf-8", "replace")


def search_path() -> str:
    """Return $PATH with the sbin folders, which users often lack."""
    return f"{absolute_folders(os.environ.get('PATH', '')) or '/usr/bin:/bin'}:/usr/local/sbin:/usr/sbin:/sbin"


def find_program(name: str) -> str | None:
    """Return the absolute path of a program; None if it is not installed."""
    return shutil.which(name, path=search_path())


def find_switch() -> str:
    """Return the path of assay-switch: $ASSAY_SWITCH, in this package, in the source tree, or on PATH.

    Raises:
        AssayError: It was not found.
    """
    override = os.environ.get("ASSAY_SWITCH")
    found = Path(override).absolute() if override else find_shipped(SWITCH)
    if found is not None and found.is_file() and os.access(found, os.X_OK):
        return str(found)
    on_path = None if override else find_program(SWITCH)
    if on_path:
        return on_path
    raise AssayError(f"{SWITCH} was not found", f"{INSTALL_HINT}, or set ASSAY_SWITCH to its path", EXIT_REFUSED)


def check_rights() -> None:
    """Check that this process may make namespaces.

    Raises:
        AssayError: It may not; the hint says what works instead.
    """
    missing = missing_capabilities(Path("/proc/self/status").read_text())
    if os.geteuid() != 0 or missing:
        lack = f" ({' and '.join(missing)} missing)" if missing else ""
        raise AssayError(f"a cluster in a box needs root{lack}", f"run it as root; {NO_BOX_HINT}", EXIT_REFUSED)


def missing_capabilities(status: str) -> list[str]:
    """Return the names of `CAPABILITIES` that a process lacks.

    Args:
        status: Text of its /proc/PID/status.
    """
    effective = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:")), 0)
    return [name for name, bit in CAPABILITIES.items() if not effective >> bit & 1]


def check_programs(box: "Box", types: Iterable[str] = ()) -> None:
    """Check that the programs that a box needs are installed.

    Args:
        box: The box.
        types: Types of file systems that a study mounts on its hosts.

    Raises:
        AssayError: Programs or their files are missing; the hint names packages, or another source.
    """
    needed = {"ip": "", "tc": "", "nsenter": "", "sshd": "", "ssh-keygen": ""}
    needed |= {"setpriv": ""} if box.users else {}
    others: dict[str, str] = {}
    kinds: list[ServerKind] = []
    mounted = [*types, *(mount.type for spec in box.hosts.values() for mount in spec.mounts)]
    needed |= {"mount": ""} if mounted else {}
    needed |= {helper: "" for kind in mounted if (helper := f"mount.{kind}") in PACKAGES}
    for spec in box.hosts.values():
        for disk in spec.disks:
            needed |= {"losetup": "", "mount": "", "mountpoint": ""}
            needed |= {f"mkfs.{disk.filesystem_type}": ""} if disk.mount is not None else {}
        for server in spec.servers:
            kind = load_kind(server.kind)
            needed |= dict.fromkeys(kind.programs, " ".join(kind.packages)) if kind.packages else {}
            needed |= {"findmnt": "", "umount": ""} if server.mount is not None else {}
            others |= dict.fromkeys(missing_requirements(kind, programs=not kind.packages), install_hint(kind))
            kinds.append(kind)
    missing = [name for name in needed if find_program(name) is None]
    if missing or others:
        packages = dict.fromkeys(needed[name] or PACKAGES[name] for name in missing)
        ways = [f"apt-get install {' '.join(packages)}"] if missing else []
        names = [*missing, *others]
        raise AssayError(
            f"box {box.name} needs {', '.join(names)}, which {'is' if len(names) == 1 else 'are'} not installed",
            "; ".join([*ways, *dict.fromkeys(others.values()), NO_BOX_HINT]),
            EXIT_REFUSED,
        )
    for kind in kinds:
        find_words(kind)


def missing_requirements(kind: ServerKind, programs: bool = True) -> list[str]:
    """Return what a kind of server needs and is not installed, in words.

    Args:
        kind: The kind.
        programs: Include programs; else only Python packages.
    """
    missing = [name for name in kind.programs if programs and find_program(name) is None]
    return missing + [f"the Python package {name}" for name in kind.python if not is_installed(name)]
