"""Attaches ATA over Ethernet disks as loop devices of this machine.

An engine process serves the disk as a file (FUSE), and a loop device makes a block device of that file. Both stay until
they are detached, by any process: a journal in the disk's folder records what was made.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.journal.entry import Entry
from assay.journal.file import FileJournal, read_entries
from assay.journal.processes import ProcessIdentity, start_time
from assay.journal.removal import Remover, remove_open
from assay.launch.binary import find_engine, last_line
from assay.launch.commands import run_program
from assay.launch.mounts import read_mounts
from assay.model.base import EXIT_REFUSED, EXIT_USAGE, AssayError
from assay.model.escape import escape_line
from assay.model.regular_files import read_regular

ROOT = Path("/run/assay/aoe")
LOOP, SERVER, FOLDER = "loop device of a disk", "server of a disk", "folder of a disk"
READY_SECONDS = 60.0
"""Longest time until a new disk has answered its first requests."""
COMMAND_SECONDS = 600.0
"""Time limit of a command; making a file system over large disks takes long."""
END_SECONDS = 10.0
MAX_LOG_BYTES = 1 << 20
"""Bytes of the log that are read; it has one line unless errors repeat."""
_DISK = re.compile(r"e\d{1,5}\.\d{1,3}")
_NAME = re.compile(r"(?P<space>\d+)-(?P<disk>e\d+\.\d+)")


class AttachedDisk(NamedTuple):
    """A disk that is attached.

    Attributes:
        disk: Its address, such as e1.0.
        device: Its block device, such as /dev/loop0; empty if it has none.
        file: The file through which it is served.
    """

    disk: str
    device: str
    file: str


def attach(disk: str, interfaces: Sequence[str]) -> AttachedDisk:
    """Make a block device of a disk.

    Args:
        disk: Its address, such as e1.0.
        interfaces: Network interfaces to reach it by; empty: any.

    Raises:
        AssayError: It is attached already, does not answer, or the user is not root.
    """
    if not _DISK.fullmatch(disk):
        raise AssayError(f"{escape_line(disk)}: not the address of a disk", "such as e1.0: shelf 1, slot 0", EXIT_USAGE)
    _check_rights()
    folder = ROOT / f"{_network_id()}-{disk}"
    if folder.exists():
        raise AssayError(f"{disk} is attached already", f"`assay aoe detach {disk}` detaches it", EXIT_REFUSED)
    _make_folder(folder)
    journal = FileJournal(folder / "journal")
    try:
        journal.record(FOLDER, str(folder))
        file = _serve(disk, interfaces, folder, journal)
        entry = journal.record(LOOP, str(file))
        device = run_command("losetup", "--direct-io=on", "--find", "--show", str(file))
        journal.amend(entry, {"device": device})
        return AttachedDisk(disk, device, str(file))
    except BaseException:
        remove_open(journal, REMOVERS)
        raise
    finally:
        journal.close()


def list_attached() -> list[AttachedDisk]:
    """Return the disks that are attached in this network namespace, by address."""
    found = []
    for folder in _folders():
        entries = [entry for entry in read_entries(folder / "journal") if entry.removed_at is None]
        device = next((str(entry.details.get("device", "")) for entry in entries if entry.kind == LOOP), "")
        disk = folder.name.partition("-")[2]
        found.append(AttachedDisk(disk, device, str(folder / "disk" / disk)))
    return found


def detach(disk: str, force: bool = False) -> None:
    """Detach a disk: remove its block device and end its server.

    Args:
        disk: Its address.
        force: Detach it even if it is in use: I/O under way and later I/O fails. The device disappears when it is no
            longer open.

    Raises:
        AssayError: It is not attached, or still in use.
    """
    _check_rights()
    folder = next((folder for folder in _folders() if folder.name.partition("-")[2] == disk), None)
    if folder is None:
        raise AssayError(f"{disk} is not attached", "`assay aoe attached` lists the attached disks")
    journal = FileJournal(folder / "journal")
    try:
        left = remove_open(journal, FORCED_REMOVERS if force else REMOVERS)
    finally:
        journal.close()
    if left:
        raise AssayError(f"{disk}: {left[0]}", "unmount its file systems, and detach it again", EXIT_REFUSED)


def _folders() -> list[Path]:
    space = str(_network_id())
    found = sorted(ROOT.iterdir()) if ROOT.is_dir() else []
    matches = ((folder, _NAME.fullmatch(folder.name)) for folder in found)
    return [folder for folder, match in matches if match is not None and match["space"] == space]


def _network_id() -> int:
    """Return the id of this network namespace: the same address may be another disk in another one."""
    return Path("/proc/self/ns/net").stat().st_ino


def _check_rights() -> None:
    if os.geteuid() != 0:
        raise AssayError("only root can make block devices", "run it with sudo", EXIT_REFUSED)


def _make_folder(folder: Path) -> None:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        (folder / "disk").mkdir()
    except OSError as error:
        raise AssayError(
            f"{folder}: {error.strerror}", "check its parent folder and its rights", EXIT_REFUSED
        ) from error


def _serve(disk: str, interfaces: Sequence[str], folder: Path, journal: FileJournal) -> Path:
    """Start the process that serves the disk as a file, and return the file once it exists."""
    named = [word for interface in interfaces for word in ("--interface", interface)]
    command = [str(find_engine()), "aoe", "serve", *named, "--", disk, str(folder / "disk")]
    entry = journal.record(SERVER, str(folder / "disk"))
    log = folder / "log"
    with log.open("wb") as log_file:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log_file, start_new_session=True
        )
    journal.amend(entry, {"pid": process.pid, "start": start_time(process.pid) or 0})
    assert process.stdout is not None
    with process.stdout as out:
        os.set_blocking(out.fileno(), False)
        output, deadline = b"", time.monotonic() + READY_SECONDS
        while b"\n" not in output and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
            output += out.read(MAX_LOG_BYTES) or b""
    if b"\n" not in output or not json.loads(output).get("ready"):
        why = last_line(read_regular(log, MAX_LOG_BYTES)) or f"no answer in {READY_SECONDS:.0f} s"
        raise AssayError(f"{disk} cannot be attached: {why}", "", EXIT_REFUSED)
    return folder / "disk" / disk


def run_command(*words: str) -> str:
    """Run a command and return what it prints.

    Raises:
        AssayError: It is missing, fails, takes too long or prints too much.
    """
    try:
        result = run_program(words, COMMAND_SECONDS)
    except FileNotFoundError:
        package = "btrfs-progs" if "btrfs" in words[0] else "mount"
        raise AssayError(f"{words[0]} is missing", f"install the Debian package {package}", EXIT_REFUSED) from None
    if result.code or result.timed_out or result.overflowed:
        raise AssayError(last_line(result.err) or f"{words[0]}: exit code {result.code}")
    return result.out.decode("utf-8", "replace").strip()


def _remove_loop(entry: Entry) -> list[str]:
    """Detach the loop devices of the file, unless one is in use."""
    for device in _loops_of(entry.name):
        try:
            # A mount, or a file system over several devices, holds it exclusively.
            os.close(os.open(device, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
        except OSError as error:
            return [f"{device}: {error.strerror}: it is in use"]
    return _detach_loops(entry)


def _detach_loops(entry: Entry) -> list[str]:
    """Detach the loop devices of the file; one that is open disappears when it is closed."""
    for device in _loops_of(entry.name):
        try:
            run_command("losetup", "--detach", device)
        except AssayError as error:
            return [error.message]
    return []


def _loops_of(file: str) -> list[str]:
    """Return the loop devices of a file. A disk of the same name in another network has its file in another folder."""
    listed = json.loads(run_command("losetup", "--list", "--json", "--output", "NAME,BACK-FILE") or "{}")
    devices: Sequence[Mapping[str, Any]] = listed.get("loopdevices", [])
    return [str(device["name"]) for device in devices if device.get("back-file") == file]


def _remove_server(entry: Entry) -> list[str]:
    """Unmount the folder; the process that serves it should then end by itself, and is killed if it does not."""
    if any(mount.point == entry.name for mount in read_mounts()):
        try:
            run_command("umount", entry.name)
        except AssayError as error:
            return [error.message]
    process = ProcessIdentity(int(entry.details.get("pid", 0)), int(entry.details.get("start", -1)))
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        if number and process.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)
        deadline = time.monotonic() + END_SECONDS
        while process.is_alive and time.monotonic() < deadline:
            time.sleep(0.01)
    return [f"process {process.pid} does not end"] if process.is_alive else []


def _end_server(entry: Entry) -> list[str]:
    """Kill the process, so that all I/O on the file fails at once, and unmount the folder."""
    process = ProcessIdentity(int(entry.details.get("pid", 0)), int(entry.details.get("start", -1)))
    if process.is_alive:
        # It leads a process group: one process serves and one waits.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if any(mount.point == entry.name for mount in read_mounts()):
        try:
            run_command("umount", "--lazy", entry.name)
        except AssayError as error:
            return [error.message]
    return []


def _remove_folder(entry: Entry) -> list[str]:
    folder = Path(entry.name)
    if folder.parent != ROOT or _NAME.fullmatch(folder.name) is None:
        return [f"{folder}: is not a folder of an attached disk: left alone"]
    try:
        with contextlib.suppress(FileNotFoundError):
            (folder / "disk").rmdir()
        for name in ("log", "journal"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    except OSError as error:
        return [f"{folder}: {error.strerror}"]
    with contextlib.suppress(OSError):
        ROOT.rmdir()
    return []


REMOVERS: Mapping[str, Remover] = {LOOP: _remove_loop, SERVER: _remove_server, FOLDER: _remove_folder}
"""Removers of the parts of an attached disk, in the order of removal (newest first): device, server, folder."""
FORCED_REMOVERS: Mapping[str, Remover] = {LOOP: _detach_loops, SERVER: _end_server, FOLDER: _remove_folder}
