"""`assay aoe raid`: a file system over disks behind AoE, for as long as the command runs."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from assay.launch.aoe import discover_disks
from assay.launch.mirrored.array import Array, servers_of
from assay.model.base import EXIT_REFUSED, EXIT_USAGE, AssayError
from assay.model.escape import escape_line
from assay.model.units import choices_hint
from assay.terminal.output import note

LEVELS = ("raid10", "raid1", "raid0")


def serve_raid(at: str, disks: Sequence[str], interfaces: Sequence[str], level: str, destroy: bool) -> None:
    """Make and mount the file system, watch its disks until SIGTERM or SIGINT, then unmount it and detach the disks.

    Raises:
        AssayError: The disks cannot be mirrored across servers, or a step fails.
    """
    if level not in LEVELS:
        raise AssayError(f"there is no level `{escape_line(level)}`", choices_hint(level, list(LEVELS)), EXIT_USAGE)
    if not destroy:
        raise AssayError("all data on the disks would be lost", "add --destroy if it may be", EXIT_REFUSED)
    if os.geteuid() != 0:
        raise AssayError("mounting a file system needs root", "run it with sudo", EXIT_REFUSED)
    servers = servers_of(discover_disks(interfaces, 1000, False), list(dict.fromkeys(disks)))
    array, stop = Array(Path(at).resolve(), interfaces, servers, note), Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        array.make(level)
        array.mount_point.chmod(0o1777)
        note(f"{array.mount_point} is mounted")
        array.watch(stop)
    finally:
        for problem in array.remove():
            note(problem)
