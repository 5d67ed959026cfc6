"""A file system over disks behind AoE: mirrored across their servers, striped over the mirrors.

Of four disks and more btrfs alone decides which hold the copies of a part, again with each part that it adds, and
may take two of one server. So each mirror here is a btrfs of two disks, which can but use both. It has one file, as
large as it can be, and the file system of all stripes is over these files (RAID 1+0).
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
from assay.launch.attached import attach, attached, detach, run
from assay.launch.mirrored.copies import one_server, read_chunks
from assay.launch.mounts import read_mounts
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import LEAST_BTRFS
from assay.model.site.mirrors import mirrors

ROOT = Path("/run/assay/mirrors")
SILENT_SECONDS = 15.0
"""A disk that does not answer for so long is given up while its copy does. The engine's own patience, 60 s, ends later:
no write has failed by then that would have been taken for done."""
LOOK_SECONDS = 1.0
LOOK_MS = 500
"""Time in which disks may answer to a look."""
RETRY_SECONDS = 30.0
"""Time between two tries to rebuild a disk."""
MOST_CHUNK, LEAST_FREE = 1 << 30, 64 << 20
"""Bytes of the largest part that btrfs adds to a mirror (of small ones a fifth), and of all small ones together."""
_DISK_LINE = re.compile(r"devid\s+(\d+) size (\d+) used \d+ path (\S+)")


@dataclass
class Mirror:
    """Two disks that hold the same.

    Attributes:
        disks: Their addresses.
        point: Where its own file system is mounted.
        devices: Address -> block device.
        given_up: The one of them that does not answer any more, if any.
        tried: When it was last tried to rebuild that one.
    """

    disks: tuple[str, str]
    point: Path
    devices: dict[str, str] = field(default_factory=dict)
    given_up: str | None = None
    tried: float = float("-inf")


@dataclass
class Array:
    """A file system over disks.

    Attributes:
        at: Where it is mounted.
        interfaces: Where its disks answer.
        holders: Disk -> its server.
        say: Told what happens.
        mirrors: Its mirrors; none of RAID 0.
    """

    at: Path
    interfaces: Sequence[str]
    holders: Mapping[str, str]
    say: Callable[[str], None]
    mirrors: list[Mirror] = field(default_factory=list)

    def make(self, level: str) -> None:
        """Attach the disks, make the file system, see where its copies are, and mount it.

        Args:
            level: raid0, raid1 or raid10.

        Raises:
            AssayError: The disks cannot be mirrored across servers, or something fails.
        """
        pairs = mirrors(self.holders) if level != "raid0" else []
        devices = {disk: attach(disk, self.interfaces).device for disk in self.holders}
        if not pairs:
            make_btrfs("raid0", list(devices.values()), self.at)
            run("losetup", "--detach", *devices.values())
            return
        for number, pair in enumerate(pairs):
            point = ROOT / str(os.getpid()) / str(number) if len(pairs) > 1 else self.at
            self.mirrors.append(Mirror(pair, point, {disk: devices[disk] for disk in pair}))
        for mirror in self.mirrors:
            self._make_mirror(mirror)
        if len(pairs) == 1:
            return
        files: list[str] = []
        try:
            files += (fill(mirror.point) for mirror in self.mirrors)
            make_btrfs("raid0" if level == "raid10" else "single", files, self.at)
        finally:
            # They go with the mount, or now.
            run("losetup", "--detach", *files)

    def _make_mirror(self, mirror: Mirror) -> None:
        self.say("mirror: " + " and ".join(f"{disk} of {self.holders[disk]}" for disk in mirror.disks))
        devices = list(mirror.devices.values())
        make_btrfs("raid1", devices, mirror.point)
        # They go with the mount.
        run("losetup", "--detach", *devices)
        self.check(mirror)

    def check(self, mirror: Mirror) -> None:
        """See that all parts of a mirror are on both of its servers.

        Raises:
            AssayError: One is not.
        """
        disks = {device: disk for disk, device in mirror.devices.items()}
        shown = run("btrfs", "filesystem", "show", "--raw", str(mirror.point))
        numbers = {int(number): disks[path] for number, _, path in _DISK_LINE.findall(shown) if path in disks}
        for device in mirror.devices.values():
            # What was read of it before may be old.
            run("blockdev", "--flushbufs", device)
        dump = run("btrfs", "inspect-internal", "dump-tree", "-t", "chunk", "--noscan", *mirror.devices.values())
        servers = {number: self.holders[disk] for number, disk in numbers.items()}
        if why := one_server(read_chunks(dump), servers):
            raise AssayError(f"the mirror of {' and '.join(mirror.disks)} is none: {why}", "", EXIT_REFUSED)

    def watch(self, over: Event) -> None:
        """Give up disks that do not answer, so that their copies are read at once; rebuild them when they are back.

        Args:
            over: Set when it is to end.
        """
        seen = dict.fromkeys(self.holders, time.monotonic())
        while not over.wait(LOOK_SECONDS):
            now = time.monotonic()
            with contextlib.suppress(AssayError):
                for found in discover_disks(self.interfaces, LOOK_MS, False):
                    seen[str(found["address"])] = now
            silent = {disk: now - last for disk, last in seen.items()}
            for mirror in self.mirrors:
                self._tend(mirror, silent)

    def _tend(self, mirror: Mirror, silent: Mapping[str, float]) -> None:
        if mirror.given_up is not None:
            if silent[mirror.given_up] == 0 and time.monotonic() - mirror.tried > RETRY_SECONDS:
                mirror.tried = time.monotonic()
                self._rebuild(mirror, mirror.given_up)
            return
        for disk, other in (mirror.disks, mirror.disks[::-1]):
            if silent[disk] > SILENT_SECONDS and silent[other] == 0:
                mirror.given_up, mirror.tried = disk, float("-inf")
                self.say(f"{disk} does not answer and is given up: {other} has all of it")
                detach(disk, force=True)
                return

    def _rebuild(self, mirror: Mirror, disk: str) -> None:
        """Copy everything to a disk that is back: it has missed what was written meanwhile."""
        self.say(f"{disk} answers again: it is rebuilt")
        try:
            device = attach(disk, self.interfaces).device
            try:
                # A loop device goes when nobody has it open any more: this process has until the mirror has it.
                held = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    run("losetup", "--detach", device)
                    run("wipefs", "--all", "--quiet", device)
                    number = self._number(mirror, disk)
                    run("btrfs", "replace", "start", "-B", "-f", "-r", number, device, str(mirror.point))
                finally:
                    os.close(held)
            except (AssayError, OSError):
                detach(disk, force=True)
                raise
            mirror.devices[disk], mirror.given_up = device, None
            self.check(mirror)
        except (AssayError, OSError) as error:
            self.say(f"{disk} cannot be rebuilt: {error}")
        else:
            self.say(f"{disk} is whole again")

    def _number(self, mirror: Mirror, disk: str) -> str:
        """What the file system calls a disk of it that is given up: the one that is not the other."""
        other = next(mirror.devices[one] for one in mirror.disks if one != disk)
        shown = run("btrfs", "filesystem", "show", "--raw", str(mirror.point))
        number = next((number for number, _, path in _DISK_LINE.findall(shown) if path == other), "1")
        return "2" if number == "1" else "1"

    def take_away(self) -> list[str]:
        """Unmount all, and detach the disks; returns what could not be."""
        points = [self.at, *(mirror.point for mirror in reversed(self.mirrors) if mirror.point != self.at)]
        for point in points:
            if any(mount.point == str(point) and mount.filesystem == "btrfs" for mount in read_mounts()):
                try:
                    run("umount", str(point))
                except AssayError as error:
                    return [error.message]
        left: list[str] = []
        for disk in {one.disk for one in attached()} & set(self.holders):
            try:
                detach(disk, force=True)
            except AssayError as error:
                left.append(error.message)
        for mirror in self.mirrors:
            with contextlib.suppress(OSError):
                if mirror.point != self.at:
                    mirror.point.rmdir()
                    mirror.point.parent.rmdir()
        return left


def make_btrfs(data: str, devices: Sequence[str], point: Path) -> None:
    """Make a btrfs of loop devices, and mount it."""
    kept = "raid1" if data == "raid1" else "single"
    run("mkfs.btrfs", "-q", "-f", "-K", "-d", data, "-m", kept, *devices)
    point.mkdir(mode=0o755, parents=True, exist_ok=True)
    options = ",".join(f"device={device}" for device in devices)
    run("mount", "-t", "btrfs", "-o", options, devices[0], str(point))


def fill(point: Path) -> str:
    """Make the file of a mirror; returns a loop device on it.

    It is as large as can be kept and rebuilt: while a disk is copied, btrfs needs room for one more part of data and
    one of metadata, and the last of data may have been begun just now.

    Raises:
        AssayError: The disks are too small.
    """
    path = point / "half"
    path.touch(mode=0o600)
    # Written in place: a copy of each block that is overwritten would need room for two.
    run("chattr", "+C", str(path))
    free = os.statvfs(point).f_bavail * os.statvfs(point).f_frsize
    size = (free - 3 * min(MOST_CHUNK, free // 5) - LEAST_FREE) >> 20 << 20
    if size < LEAST_BTRFS:
        raise AssayError("the disks are too small for a RAID over several mirrors", "use disks of 1 GiB or more")
    os.truncate(path, size)
    return run("losetup", "--direct-io=on", "--sector-size", "4096", "--find", "--show", str(path))


def servers_of(found: Sequence[Mapping[str, object]], disks: Sequence[str]) -> dict[str, str]:
    """Disk -> its server, for messages by its shelf; shelves that one station serves are one.

    Args:
        found: As `discover_disks` says.
        disks: Those that are wanted.

    Raises:
        AssayError: One does not answer.
    """
    by_station: dict[object, str] = {}
    holders = {}
    for disk in disks:
        stations = [one["station"] for one in found if one["address"] == disk]
        if not stations:
            raise AssayError(f"{disk} does not answer", "`assay aoe discover` lists the disks that do", EXIT_REFUSED)
        shelf = f"shelf {disk[1:].partition('.')[0]}"
        known = next((by_station[station] for station in stations if station in by_station), shelf)
        for station in stations:
            by_station.setdefault(station, known)
        holders[disk] = known
    return holders
