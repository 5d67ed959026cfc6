"""What is on a block device, so that who gives it up knows what will be lost."""

import contextlib
import json
import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from assay.launch.shell import LocalShell
from assay.model.base import AssayError
from assay.model.foreign import plain
from assay.model.own_program import absolute_only
from assay.model.site.host import THIS_HOST
from assay.model.units import about_size

SYS = Path("/sys/dev/block")
PROGRAM = "wipefs"
KEYS = ("type", "label", "uuid")
SECONDS = 10.0
"""Longest that a device may take to show its first and last sectors."""
SHOWN = 4
"""Partitions and signatures that are named; of more it is said how many there are."""
MOST = 64
"""Characters of a label, a model or a name that are shown."""
TABLES = frozenset({"atari", "bsd", "dos", "gpt", "mac", "minix", "PMBR", "sgi", "solaris_x86", "sun", "unixware"})
"""What wipefs(8) calls partition tables."""
PARTS = frozenset({"bcache", "ceph_bluestore", "drbd", "stratis"})
"""Devices that are parts of something larger, besides those that wipefs(8) calls `..._member`."""
SECTOR = 512
"""Bytes in which sysfs counts the size of a device, whatever its own sectors are."""


@dataclass(frozen=True)
class Signature:
    """Something that is recognised on a device, in the words of wipefs(8).

    Attributes:
        kind: Such as `ext4`, `gpt`, `LVM2_member`, `crypto_LUKS`.
        label: Its name; empty if it has none.
        uuid: Its identity; empty if it has none.
    """

    kind: str
    label: str = ""
    uuid: str = ""

    @property
    def words(self) -> str:
        """Such as `ext4 "photos" (UUID 5033eb94-...)`."""
        what = f"partition table {self.kind}" if self.kind in TABLES else self.kind
        return what + (f' "{self.label}"' if self.label else "") + (f" (UUID {self.uuid})" if self.uuid else "")


def signatures(path: str) -> tuple[Signature, ...]:
    """What is recognised on a device: file systems, partition tables, members of arrays and pools, encryption, swap.

    Args:
        path: The device; it is only read.

    Raises:
        AssayError: That cannot be found out; the message says why.
    """
    program = _program()
    if program is None:
        raise AssayError(f"{PROGRAM} of util-linux is not installed")
    answer = LocalShell(THIS_HOST).run([program, "--json", "--no-act", path], SECONDS)
    if answer.code:
        raise AssayError(plain(answer.last_line))
    try:
        # Of a blank device nothing at all is printed.
        found = json.loads(answer.out)["signatures"] if answer.out.strip() else []
        read = [Signature(*(plain(str(item.get(key) or ""), MOST) for key in KEYS)) for item in found]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise AssayError(f"the answer of {PROGRAM} is not understood") from None
    # Copies of a signature, as LUKS and gpt have, are one.
    return tuple(dict.fromkeys(read))


def _program() -> str | None:
    return shutil.which(PROGRAM, path=f"{absolute_only(os.environ.get('PATH', ''))}:/usr/sbin:/sbin")


def part_of(path: str) -> str:
    """What larger thing a device is a part of, by what is on it, though nothing may use it at the moment.

    Args:
        path: The device.

    Returns:
        Such as `LVM2_member (UUID ...)`; empty if there is no such sign, or nothing to look with.

    Raises:
        AssayError: The device cannot be read, or does not answer.
    """
    for found in signatures(path) if _program() else ():
        if found.kind.endswith("_member") or found.kind in PARTS:
            return found.words
        if found.kind == "btrfs" and (devices := _btrfs_devices(path)) > 1:
            return f"{found.words} on {devices} devices"
    return ""


def _btrfs_devices(path: str) -> int:
    """`num_devices` of the superblock at 64 KiB (on-disk format of btrfs, struct btrfs_super_block)."""
    with contextlib.suppress(OSError, struct.error):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return int(struct.unpack("<Q", os.pread(fd, 8, 0x10000 + 0x88))[0])
        finally:
            os.close(fd)
    return 1


def contents(number: str, path: str) -> str:
    """Size, model and all that is recognised on a device and its partitions, in one line.

    Args:
        number: Of the device, as major:minor.
        path: The device.
    """
    folder = (SYS / number).resolve()
    with contextlib.suppress(OSError):
        parts = sorted(item.name for item in folder.iterdir() if (item / "partition").exists())
        named = [f"{name}: {_found(f'/dev/{name}')}" for name in parts[:SHOWN]]
        more = [f"{len(parts) - SHOWN} more partitions"] if len(parts) > SHOWN else []
        return "; ".join([", ".join(_hardware(folder)), _found(path), *named, *more])
    return _found(path)


def _found(path: str) -> str:
    try:
        found = signatures(path)
    except AssayError as error:
        return f"what is on it cannot be told: {error.message}"
    words = [one.words for one in found[:SHOWN]] + ([f"{len(found) - SHOWN} more"] if len(found) > SHOWN else [])
    return ", ".join(words) or "no known file system, table or other signature on it"


def _hardware(folder: Path) -> list[str]:
    """Size, and the model or the file behind it."""
    size = _read(folder / "size")
    words = [about_size(int(size) * SECTOR)] if size.isdigit() else []
    words += [found] if (found := _read(folder / "device" / "model")) else []
    words += [f"file {found}"] if (found := _read(folder / "loop" / "backing_file")) else []
    return words or ["of unknown size"]


def _read(path: Path) -> str:
    try:
        return plain(path.read_text(errors="replace").strip(), MOST)
    except OSError:
        return ""
