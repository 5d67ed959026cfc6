"""Walks from a target through every layer below it: file system, loop devices and their files, mappings, disks.

Only /proc, /sys and the nodes in /dev are read: no file system below a target is touched, since one that hangs would
block the caller. Where the kernel reveals no more, there is a layer of kind `unknown`.
"""

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from assay.launch.device_mapper import Table, mapped_device, no_table
from assay.launch.environment.reading import THIS_MACHINE, Files
from assay.launch.mounts import MOUNTS, Mount, read_mounts, unescaped
from assay.model.escape import escape_line
from assay.model.result.layers import Compresses, Layer, LayerKind
from assay.model.secret import redact_word

MAX_DEPTH = 24
MAX_LAYERS = 200
"""Most depth and most layers; beyond them the walk ends with an `unknown` layer."""
SYSFS_BYTES = 4096
"""Bytes that are read of a sysfs file; the kernel shows no more."""

BUFFERED = "a loop device without direct I/O"
SERVING_KINDS = ("program", "shared", "network")
"""Kinds of layers that serve I/O themselves; the devices below them do not matter."""

MEMORY = ("tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs")
SHARED = ("9p", "virtiofs", "vboxsf", "vmhgfs", "prl_fs")
"""File systems that share a directory of a virtual machine's host."""
NETWORK = (
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "lustre", "beegfs", "gpfs", "afs", "coda", "pvfs2", "orangefs"),
    *("wekafs", "panfs", "acfs"),
)
"""File systems whose client is in the kernel and whose data is on servers."""
COMPRESSING = {"btrfs": "compress", "f2fs": "compress_algorithm", "bcachefs": "compression", "zfs": "compression"}
"""File system that can compress -> beginning of the mount option for it. Files and directories can also be set to
compress, which no mount shows."""
VM_DISK = re.compile(
    r"QEMU|VMware|VBOX|Msft|Virtual|Google|PersistentDisk|Amazon Elastic Block Store|nvme_card|Xen", re.IGNORECASE
)
"""Vendors and models of the disks of virtual machines."""
NETWORK_DISK = re.compile(r"etherd!|rbd\d|drbd\d")
ISCSI_PATH = re.compile(r"/session\d+/")
FABRICS = ("tcp", "rdma", "fc")
"""Transports of NVMe over fabrics."""
PROGRAM_DISK = re.compile(r"nbd\d|ublkb\d")
RAM_DISK = re.compile(r"ram\d+$|zram\d+$")
MEMORY_DISK = re.compile(r"scsi_debug|RAMDISK|rd_mcp", re.IGNORECASE)
"""Models of SCSI disks that a kernel's own driver keeps in memory (scsi_debug, LIO)."""


def layers_of_path(
    real: str, number: str = "", files: Files = THIS_MACHINE, table: Table = no_table
) -> tuple[Layer, ...]:
    """Return the layers below a directory.

    Args:
        real: Its path without symbolic links; it is not touched.
        number: Its file system as major:minor, if known: of several mounts on one point only the last is visible.
        files: The files of /proc and /sys.
        table: Returns the table of a mapped device.
    """
    walk = _Walk(files, table)
    walk.directory(real, number, 0, ())
    return tuple(walk.found)


def layers_of_device(path: str, files: Files = THIS_MACHINE, table: Table = no_table) -> tuple[Layer, ...]:
    """Return the layers of a block device, itself included; arguments as for `layers_of_path`."""
    walk = _Walk(files, table)
    number = _node_number(path, files)
    if number:
        walk.block(number, 0, ())
    else:
        walk.add("unknown", path, "no visible block device", 0)
    return tuple(walk.found)


def layers_of_type(filesystem: str) -> tuple[Layer, ...]:
    """Return the layer that the type of a file system alone implies, for other hosts; empty if it implies none."""
    found = _by_type(filesystem, "")
    return (found,) if found is not None else ()


def device_of(layers: Iterable[Layer]) -> str | None:
    """Return the uppermost block device below a local file system, such as /dev/vda1; None if there is none."""
    passing = itertools.takewhile(lambda layer: layer.kind not in SERVING_KINDS, layers)
    return next((layer.name for layer in passing if layer.name.startswith("/dev/")), None)


def buffered_loop(layers: Iterable[Layer]) -> str | None:
    """Return the uppermost loop device that reads its file through the page cache, in words; None if there is none."""
    found = next((layer for layer in layers if layer.kind == "loop" and layer.detail.startswith(BUFFERED)), None)
    return f"{found.name}, {BUFFERED}" if found is not None else None


@dataclass
class _Walk:
    """The layers found so far.

    Each method adds the layers that it finds at `depth`; `above` names the layers on the way down.
    """

    files: Files
    table: Table
    found: list[Layer] = field(default_factory=list)
    mounts: list[Mount] | None = None

    def add(self, kind: LayerKind, name: str, detail: str, depth: int, compresses: Compresses = "") -> None:
        layer = Layer(kind=kind, name=escape_line(name), detail=escape_line(detail), depth=depth, compresses=compresses)
        self.found.append(layer)

    def ended(self, key: str, depth: int, above: tuple[str, ...]) -> bool:
        """Return whether the walk must not go on to `key`; if so, add a layer with the reason."""
        if key in above:
            self.add("unknown", key, "is below itself", depth)
            return True
        if depth >= MAX_DEPTH or len(self.found) >= MAX_LAYERS:
            self.add("unknown", key, "more layers than Assay follows", depth)
            return True
        return False

    def directory(self, real: str, number: str, depth: int, above: tuple[str, ...]) -> None:
        """Add the file system that contains a path, and the layers below it."""
        mount = self._mount_at(real, number)
        if mount is None:
            self.add("unknown", real, "its mount is not visible", depth)
        elif not self.ended(f"{mount.number} {mount.point}", depth, above):
            self._mounted(mount, depth, (*above, f"{mount.number} {mount.point}"))

    def _mount_at(self, real: str, number: str) -> Mount | None:
        if self.mounts is None:
            with contextlib.suppress(OSError, ValueError):
                self.mounts = read_mounts(self.files.path(MOUNTS))
        inside = [
            mount
            for mount in self.mounts or ()
            if real == mount.point or real.startswith(mount.point.rstrip("/") + "/")
        ]
        # Of two mounts at the same place the later one hides the earlier one.
        longest = max(inside, key=lambda mount: (len(mount.point), inside.index(mount)), default=None)
        of_number = [mount for mount in inside if mount.number == number]
        return max(of_number, key=lambda mount: len(mount.point), default=longest)

    def _mounted(self, mount: Mount, depth: int, above: tuple[str, ...]) -> None:
        name, source = mount.filesystem, mount.source
        known = _by_type(name, redact_word(source))
        if known is not None:
            self.found.append(known.model_copy(update={"depth": depth}))
            if name == "fuseblk":
                self._devices(mount, depth + 1, above)
        elif name == "overlay":
            self._overlay(mount, depth, above)
        elif name == "ecryptfs":
            self.add("file system", name, "", depth)
            self.directory(source, "", depth + 1, above)
        elif name == "zfs":
            detail = f"{source}; has its own cache in memory"
            self.add("cache", name, detail, depth, "may")
        else:
            options = _compression(mount)
            self.add("file system", name, options, depth, "does" if options else "may" if name in COMPRESSING else "")
            self._devices(mount, depth + 1, above)

    def _overlay(self, mount: Mount, depth: int, above: tuple[str, ...]) -> None:
        """Add an overlay and the layers below its upper directory, which gets all writes (overlayfs, `upperdir`)."""
        upper_options = (option.partition("=")[2] for option in mount.options if option.startswith("upperdir="))
        upper = unescaped(next(upper_options, ""))
        self.add("overlay", mount.filesystem, f"upper directory {upper}" if upper else "no upper directory", depth)
        if upper.startswith("/"):
            self.directory(upper, "", depth + 1, above)
        else:
            self.add("unknown", upper or "nothing", "not visible", depth + 1)

    def _devices(self, mount: Mount, depth: int, above: tuple[str, ...]) -> None:
        """Add the devices of a file system; btrfs has a number of its own and only names a device."""
        numbers = [mount.number] if self._folder(mount.number) is not None else []
        for path in () if numbers else re.split(":(?=/)", mount.source):
            # A path elsewhere may lead to anything, even to a dead server.
            numbers += filter(None, [_node_number(path, self.files) if path.startswith("/dev/") else ""])
        if mount.filesystem == "btrfs":
            numbers = self._of_btrfs(numbers)
        for number in dict.fromkeys(numbers):
            self.block(number, depth, above)
        if not numbers:
            major = mount.number.partition(":")[0]
            what = f"device {mount.number}" if major != "0" else f"source {redact_word(mount.source)}"
            self.add("unknown", what, "the kernel shows no device below", depth)

    def _of_btrfs(self, numbers: list[str]) -> list[str]:
        """Return all devices of the btrfs that has these (Documentation/ABI: /sys/fs/btrfs/UUID/devices)."""
        names = {folder.name for number in numbers if (folder := self._folder(number)) is not None}
        for one in self.files.names("/sys/fs/btrfs"):
            devices = self.files.names(f"/sys/fs/btrfs/{one}/devices")[:MAX_LAYERS]
            if names & set(devices):
                found = [_read(self.files.path(f"/sys/fs/btrfs/{one}/devices/{name}"), "dev") for name in devices]
                return [*numbers, *filter(None, found)]
        return numbers

    def _folder(self, number: str) -> Path | None:
        """Return the sysfs folder of a block device; None if there is none."""
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            folder = self.files.path("/sys/dev/block") / number
            return folder.resolve() if number and folder.exists() else None
        return None

    def block(self, number: str, depth: int, above: tuple[str, ...]) -> None:
        """Add a block device and the layers below it."""
        folder = self._folder(number)
        if folder is None:
            self.add("unknown", f"device {number}", "not in sysfs", depth)
        elif not self.ended(f"/dev/{folder.name}", depth, above):
            self._device(folder, depth, (*above, f"/dev/{folder.name}"))

    def _device(self, folder: Path, depth: int, above: tuple[str, ...]) -> None:
        name, place = f"/dev/{folder.name.replace('!', '/')}", len(self.found)
        if _exists(folder / "partition"):
            self.add("partition", name, "", depth)
            self._devices_at([folder.parent], depth + 1, above)
        elif _exists(folder / "loop" / "backing_file"):
            self._loop(folder, name, depth, above)
        elif _exists(folder / "dm"):
            self._mapped(folder, name, depth, above)
        elif _exists(folder / "md"):
            self.add("array", name, _read(folder / "md", "level"), depth)
            self._devices_at(self._slaves_of(folder), depth + 1, above)
        elif folder.name.startswith("bcache"):
            self.add("cache", name, "bcache: with a cache device in front", depth)
            self._devices_at(self._slaves_of(folder), depth + 1, above)
        else:
            self._disk(folder, name, depth, above)
        number = _read(folder, "dev")
        if re.fullmatch(r"\d+:\d+", number):
            self.found[place] = self.found[place].model_copy(update={"number": number})

    def _disk(self, folder: Path, name: str, depth: int, above: tuple[str, ...]) -> None:
        """Add a device that names no other device below it: a disk, or what looks like one."""
        reported = [_read(folder / "device", one) for one in ("vendor", "model")]
        model = " ".join(word for word in reported if word and not word.startswith("0x"))
        transport = _read(folder / "device", "transport") or _read(folder / "device" / "device", "transport")
        driver = self._driver(folder)
        if RAM_DISK.match(folder.name):
            compressed = folder.name.startswith("zram")
            detail = "memory, compressed" if compressed else "memory: a RAM disk"
            self.add("memory", name, detail, depth, "does" if compressed else "")
        elif MEMORY_DISK.search(model):
            self.add("memory", name, f"memory: {model}", depth)
        elif folder.name.startswith("nullb"):
            self.add("nothing", name, "null_blk: nothing is stored, or in memory", depth)
        elif PROGRAM_DISK.match(folder.name):
            self.add("program", name, "served by a user-space program", depth)
        elif NETWORK_DISK.match(folder.name) or transport in FABRICS or ISCSI_PATH.search(folder.as_posix()):
            self.add("network disk", name, "across a network", depth)
        elif re.match(r"zd\d", folder.name):
            self.add("cache", name, "a volume of ZFS, which has its own cache in memory", depth, "may")
        elif _entries(folder / "slaves"):
            self.add("mapped", name, "", depth)
            self._devices_at(self._slaves_of(folder), depth + 1, above)
        elif driver.startswith("virtio") or re.match(r"vd[a-z]|xvd[a-z]", folder.name) or VM_DISK.search(model):
            words = ": ".join(filter(None, ["disk of a virtual machine", model]))
            self.add("virtual disk", name, words, depth)
        elif "/devices/virtual/block/" in folder.as_posix() and not model:
            self.add("unknown", name, "a device without hardware behind it", depth)
        else:
            self.add("disk", name, model, depth)

    def _driver(self, folder: Path) -> str:
        with contextlib.suppress(OSError, RuntimeError):
            driver = folder / "device" / "driver"
            return driver.resolve().name if driver.exists() else ""
        return ""

    def _loop(self, folder: Path, name: str, depth: int, above: tuple[str, ...]) -> None:
        """Add a loop device and its file (Documentation/ABI/testing/sysfs-block-loop: `backing_file`, `dio`)."""
        backing = _read(folder / "loop", "backing_file")
        path = backing.removesuffix(" (deleted)")
        how = {"0": BUFFERED, "1": "a loop device with direct I/O"}.get(_read(folder / "loop", "dio"), "a loop device")
        gone = ", deleted," if path != backing else ""
        self.add("loop", name, f"{how}, its file {path}{gone}" if path else how, depth)
        # The backing file may be a block device.
        number = _node_number(path, self.files) if path.startswith("/dev/") else ""
        if number:
            self.block(number, depth + 1, above)
        elif path.startswith("/"):
            self.directory(path, "", depth + 1, above)
        else:
            self.add("unknown", path or "its file", "not visible", depth + 1)

    def _mapped(self, folder: Path, name: str, depth: int, above: tuple[str, ...]) -> None:
        slaves = self._slaves_of(folder)
        mapping = mapped_device(
            _read(folder / "dm", "uuid"),
            [_read(slave / "dm", "uuid") for slave in slaves],
            self.table(_read(folder / "dm", "name")),
        )
        self.add(mapping.kind, name, mapping.words, depth, mapping.compresses)
        if mapping.kind != "nothing":
            self._devices_at(slaves, depth + 1, above)

    def _slaves_of(self, folder: Path) -> list[Path]:
        found = []
        for path in _entries(folder / "slaves"):
            with contextlib.suppress(OSError, RuntimeError):
                found.append(path.resolve())
        return found

    def _devices_at(self, folders: list[Path], depth: int, above: tuple[str, ...]) -> None:
        for folder in folders:
            if not self.ended(f"/dev/{folder.name}", depth, above):
                self._device(folder, depth, (*above, f"/dev/{folder.name}"))
        if not folders:
            self.add("unknown", "nothing", "the kernel shows no device below", depth)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, RuntimeError):
        return False


def _entries(folder: Path) -> list[Path]:
    """Return the entries of a sysfs folder, sorted; empty if it cannot be read."""
    with contextlib.suppress(OSError):
        return sorted(folder.iterdir())[:MAX_LAYERS]
    return []


def _read(folder: Path, name: str) -> str:
    """Return the content of a sysfs file; empty if it cannot be read."""
    try:
        with (folder / name).open("rb") as file:
            return file.read(SYSFS_BYTES).decode(errors="replace").rstrip("\n").strip(" ")
    except (OSError, ValueError, RuntimeError):
        return ""


def _node_number(path: str, files: Files) -> str:
    """Return major:minor of a block device by its node or name; empty if the path is no block device."""
    try:
        status = files.path(path).stat()
    except (OSError, ValueError):
        number = _read(files.path("/sys/class/block") / Path(path).name, "dev")
        return number if re.fullmatch(r"\d+:\d+", number) else ""
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" if stat.S_ISBLK(status.st_mode) else ""


def _by_type(name: str, source: str) -> Layer | None:
    """Return the layer of a file system that is on no device, by its type; None if it is on a device."""
    if name in MEMORY:
        return Layer(kind="memory", name=name, detail="memory")
    if name in SHARED:
        return Layer(kind="shared", name=name, detail="a directory of this virtual machine's host")
    if name in NETWORK:
        return Layer(kind="network", name=name, detail=escape_line(f"servers: {source}" if source else "servers"))
    if name in ("fuse", "fuseblk") or name.startswith("fuse."):
        words = (
            f"a user-space program serves {source}" if name == "fuse" and source else "served by a user-space program"
        )
        return Layer(kind="program", name=name, detail=escape_line(words))
    return None


def _compression(mount: Mount) -> str:
    """Return the mount options that enable compression."""
    begin = COMPRESSING.get(mount.filesystem)
    return ", ".join(option for option in mount.options if begin and option.startswith(begin))
