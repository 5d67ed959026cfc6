"""A file system over AoE disks: mirrored across their servers, striped over the mirrors.

With four or more disks btrfs itself chooses, for each chunk, the disks that hold the copies, and may choose two of one
server. So each mirror here is a btrfs of two disks, which must use both. It holds one file, as large as possible, and
the striped file system is over these files (RAID 1+0).
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from assay.launch.aoe import discover_disks
from assay.launch.attach_disks import attach, detach, list_attached, run_command
from assay.launch.mirrored.copies import chunk_on_one_server, read_chunks
from assay.launch.mounts import read_mounts
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import MIN_BTRFS_BYTES
from assay.model.site.mirrors import mirror_pairs

ROOT = Path("/run/assay/mirrors")
SILENT_SECONDS = 15.0
"""A disk that does not answer for this many seconds is given up if its copy answers. The engine's own patience is
longer, 60 s, so no write has failed by then that was reported as done."""
LOOK_SECONDS = 1.0
LOOK_MS = 500
"""Milliseconds that disks have to answer a discovery."""
RETRY_SECONDS = 30.0
"""Seconds between two attempts to rebuild a disk."""
MAX_CHUNK, MIN_FREE = 1 << 30, 64 << 20
"""Bytes of the largest chunk that btrfs allocates (on small mirrors a fifth), and of all small chunks together."""
_DISK_LINE = re.compile(r"devid\s+(\d+) size (\d+) used \d+ path (\S+)")


@dataclass
class Mirror:
    """Two disks that hold the same data.

    Attributes:
        disks: Their addresses.
        mount_point: Mount point of its own file system.
        devices: Address -> block device.
        failed_disk: Address of the disk that was given up; None if both work.
        attempted_at: When a rebuild of that disk was last attempted, in monotonic seconds.
    """

    disks: tuple[str, str]
    mount_point: Path
    devices: dict[str, str] = field(default_factory=dict)
    failed_disk: str | None = None
    attempted_at: float = float("-inf")


@dataclass
class Array:
    """A file system over AoE disks.

    Attributes:
        mount_point: Its mount point.
        interfaces: Network interfaces by which its disks are reached.
        holders: Disk -> its server.
        print_line: Called with a line about each change.
        mirrors: Its mirrors; empty for RAID 0.
    """

    mount_point: Path
    interfaces: Sequence[str]
    holders: Mapping[str, str]
    print_line: Callable[[str], None]
    mirrors: list[Mirror] = field(default_factory=list)

    def make(self, level: str) -> None:
        """Attach the disks, make and mount the file system, and check where its copies are.

        Args:
            level: raid0, raid1 or raid10.

        Raises:
            AssayError: The disks cannot be mirrored across servers, or something fails.
        """
        pairs = mirror_pairs(self.holders) if level != "raid0" else []
        devices = {disk: attach(disk, self.interfaces).device for disk in self.holders}
        if not pairs:
            make_btrfs("raid0", list(devices.values()), self.mount_point)
            run_command("losetup", "--detach", *devices.values())
            return
        for number, pair in enumerate(pairs):
            point = ROOT / str(os.getpid()) / str(number) if len(pairs) > 1 else self.mount_point
            self.mirrors.append(Mirror(pair, point, {disk: devices[disk] for disk in pair}))
        for mirror in self.mirrors:
            self._make_mirror(mirror)
        if len(pairs) == 1:
            return
        files: list[str] = []
        try:
            files += (make_backing_file(mirror.mount_point) for mirror in self.mirrors)
            make_btrfs("raid0" if level == "raid10" else "single", files, self.mount_point)
        finally:
            # The loop devices disappear with the mount, or now.
            run_command("losetup", "--detach", *files)

    def _make_mirror(self, mirror: Mirror) -> None:
        self.print_line("mirror: " + " and ".join(f"{disk} of {self.holders[disk]}" for disk in mirror.disks))
        devices = list(mirror.devices.values())
        make_btrfs("raid1", devices, mirror.mount_point)
        # The loop devices disappear with the mount.
        run_command("losetup", "--detach", *devices)
        self.check(mirror)

    def check(self, mirror: Mirror) -> None:
        """Check that every chunk of a mirror is on both of its servers.

        Raises:
            AssayError: One is not.
        """
        disks = {device: disk for disk, device in mirror.devices.items()}
        listing = run_command("btrfs", "filesystem", "show", "--raw", str(mirror.mount_point))
        numbers = {int(number): disks[path] for number, _, path in _DISK_LINE.findall(listing) if path in disks}
        for device in mirror.devices.values():
            # Cached blocks of the device may be stale.
            run_command("blockdev", "--flushbufs", device)
        dump = run_command(
            "btrfs", "inspect-internal", "dump-tree", "-t", "chunk", "--noscan", *mirror.devices.values()
        )
        servers = {number: self.holders[disk] for number, disk in numbers.items()}
        if why := chunk_on_one_server(read_chunks(dump), servers):
            raise AssayError(
                f"the mirror of {' and '.join(mirror.disks)} is not on two servers: {why}", "", EXIT_REFUSED
            )

    def watch(self, stop: Event) -> None:
        """Give up disks that do not answer, so that their copies are used at once; rebuild them when they answer again.

        Args:
            stop: Set when the watch is to end.
        """
        last_answer = dict.fromkeys(self.holders, time.monotonic())
        while not stop.wait(LOOK_SECONDS):
            now = time.monotonic()
            with contextlib.suppress(AssayError):
                for found in discover_disks(self.interfaces, LOOK_MS, False):
                    last_answer[str(found["address"])] = now
            silent = {disk: now - last for disk, last in last_answer.items()}
            for mirror in self.mirrors:
                self._check_disks(mirror, silent)

    def _check_disks(self, mirror: Mirror, silent: Mapping[str, float]) -> None:
        if mirror.failed_disk is not None:
            if silent[mirror.failed_disk] == 0 and time.monotonic() - mirror.attempted_at > RETRY_SECONDS:
                mirror.attempted_at = time.monotonic()
                self._rebuild(mirror, mirror.failed_disk)
            return
        for disk, other in (mirror.disks, mirror.disks[::-1]):
            if silent[disk] > SILENT_SECONDS and silent[other] == 0:
                mirror.failed_disk, mirror.attempted_at = disk, float("-inf")
                self.print_line(f"{disk} does not answer and is removed from the mirror; {other} has all its data")
                detach(disk, force=True)
                return

    def _rebuild(self, mirror: Mirror, disk: str) -> None:
        """Rebuild a disk that answers again: it missed the writes since it was given up."""
        self.print_line(f"{disk} answers again: rebuilding it")
        try:
            device = attach(disk, self.interfaces).device
            try:
                # A detached loop device disappears at its last close, so keep it open until the mirror uses it.
                keep_open = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    run_command("losetup", "--detach", device)
                    run_command("wipefs", "--all", "--quiet", device)
                    number = self._number(mirror, disk)
                    run_command("btrfs", "replace", "start", "-B", "-f", "-r", number, device, str(mirror.mount_point))
                finally:
                    os.close(keep_open)
            except (AssayError, OSError):
                detach(disk, force=True)
                raise
            mirror.devices[disk], mirror.failed_disk = device, None
            self.check(mirror)
        except (AssayError, OSError) as error:
            self.print_line(f"{disk} cannot be rebuilt: {error}")
        else:
            self.print_line(f"{disk} is rebuilt")

    def _number(self, mirror: Mirror, disk: str) -> str:
        """Return the btrfs device id of the disk that is given up: the one that is not of the other disk."""
        other = next(mirror.devices[one] for one in mirror.disks if one != disk)
        listing = run_command("btrfs", "filesystem", "show", "--raw", str(mirror.mount_point))
        number = next((number for number, _, path in _DISK_LINE.findall(listing) if path == other), "1")
        return "2" if number == "1" else "1"

    def remove(self) -> list[str]:
        """Unmount everything and detach the disks; return the errors, one line each."""
        points = [
            self.mount_point,
            *(mirror.mount_point for mirror in reversed(self.mirrors) if mirror.mount_point != self.mount_point),
        ]
        for point in points:
            if any(mount.point == str(point) and mount.filesystem == "btrfs" for mount in read_mounts()):
                try:
                    run_command("umount", str(point))
                except AssayError as error:
                    return [error.message]
        left: list[str] = []
        for disk in {one.disk for one in list_attached()} & set(self.holders):
            try:
                detach(disk, force=True)
            except AssayError as error:
                left.append(error.message)
        for mirror in self.mirrors:
            with contextlib.suppress(OSError):
                if mirror.mount_point != self.mount_point:
                    mirror.mount_point.rmdir()
                    mirror.mount_point.parent.rmdir()
        return left


def make_btrfs(data: str, devices: Sequence[str], point: Path) -> None:
    """Make a btrfs of loop devices, and mount it at `point`."""
    metadata = "raid1" if data == "raid1" else "single"
    run_command("mkfs.btrfs", "-q", "-f", "-K", "-d", data, "-m", metadata, *devices)
    point.mkdir(mode=0o755, parents=True, exist_ok=True)
    options = ",".join(f"device={device}" for device in devices)
    run_command("mount", "-t", "btrfs", "-o", options, devices[0], str(point))


def make_backing_file(point: Path) -> str:
    """Make the file of a mirror, and return a loop device on it.

    The file is as large as a rebuild allows: while a disk is copied, btrfs needs space for one more chunk of data and
    one of metadata, and the last chunk of data may just have been begun.

    Raises:
        AssayError: The disks are too small.
    """
    path = point / "half"
    path.touch(mode=0o600)
    # Write in place: copy-on-write would need space for two copies of an overwritten block.
    run_command("chattr", "+C", str(path))
    free = os.statvfs(point).f_bavail * os.statvfs(point).f_frsize
    size = (free - 3 * min(MAX_CHUNK, free // 5) - MIN_FREE) >> 20 << 20
    if size < MIN_BTRFS_BYTES:
        raise AssayError("the disks are too small for a RAID over several mirrors", "use disks of 1 GiB or more")
    os.truncate(path, size)
    return run_command("losetup", "--direct-io=on", "--sector-size", "4096", "--find", "--show", str(path))


def servers_of(found: Sequence[Mapping[str, object]], disks: Sequence[str]) -> dict[str, str]:
    """Return disk -> its server, named by shelf; shelves that one station serves are one server.

    Args:
        found: The answer of `discover_disks`.
        disks: Addresses of the disks.

    Raises:
        AssayError: A disk does not answer.
    """
    by_station: dict[object, str] = {}
    holders = {}
    for disk in disks:
        stations = [one["station"] for one in found if one["address"] == disk]
        if not stations:
            raise AssayError(
                f"{disk} does not answer", "`assay aoe discover` lists the disks that answer", EXIT_REFUSED
            )
        shelf = f"shelf {disk[1:].partition('.')[0]}"
        known = next((by_station[station] for station in stations if station in by_station), shelf)
        for station in stations:
            by_station.setdefault(station, known)
        holders[disk] = known
    return holders
