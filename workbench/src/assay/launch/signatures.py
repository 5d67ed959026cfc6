"""What is on a block device, to show before it is overwritten."""

import contextlib
import json
import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from assay.launch.shell import LocalShell
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.own_program import absolute_folders
from assay.model.site.host import THIS_HOST
from assay.model.units import about_size

SYS = Path("/sys/dev/block")
PROGRAM = "wipefs"
KEYS = ("type", "label", "uuid")
SECONDS = 10.0
"""Longest time to read the first and last sectors of a device."""
MAX_NAMED = 4
"""Partitions and signatures that are named; of more only the number is shown."""
MAX_CHARS = 64
"""Most characters shown of a label, a model or a name."""
TABLE_TYPES = frozenset({"atari", "bsd", "dos", "gpt", "mac", "minix", "PMBR", "sgi", "solaris_x86", "sun", "unixware"})
"""Types that wipefs(8) reports for partition tables."""
MEMBER_TYPES = frozenset({"bcache", "ceph_bluestore", "drbd", "stratis"})
"""Types of devices that are parts of something larger, in addition to the types `..._member` of wipefs(8)."""
SECTOR = 512
"""Bytes in which sysfs counts the size of a device, whatever its own sectors are."""


@dataclass(frozen=True)
class Signature:
    """A signature on a device, in the words of wipefs(8).

    Attributes:
        kind: Type such as `ext4`, `gpt`, `LVM2_member`, `crypto_LUKS`.
        label: Its name; empty if it has none.
        uuid: Its identity; empty if it has none.
    """

    kind: str
    label: str = ""
    uuid: str = ""

    @property
    def words(self) -> str:
        """The signature in words, such as `ext4 "photos" (UUID 5033eb94-...)`."""
        what = f"partition table {self.kind}" if self.kind in TABLE_TYPES else self.kind
        return what + (f' "{self.label}"' if self.label else "") + (f" (UUID {self.uuid})" if self.uuid else "")


def read_signatures(path: str) -> tuple[Signature, ...]:
    """Return the signatures on a device: file systems, partition tables, members of arrays and pools, encryption, swap.

    Args:
        path: The device; it is only read.

    Raises:
        AssayError: They cannot be read; the message says why.
    """
    program = _program()
    if program is None:
        raise AssayError(f"{PROGRAM} of util-linux is not installed")
    answer = LocalShell(THIS_HOST).run([program, "--json", "--no-act", path], SECONDS)
    if answer.code:
        raise AssayError(escape_line(answer.last_line))
    try:
        # For a blank device nothing at all is printed.
        found = json.loads(answer.out)["signatures"] if answer.out.strip() else []
        read = [Signature(*(escape_line(str(item.get(key) or ""), MAX_CHARS) for key in KEYS)) for item in found]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise AssayError(f"the answer of {PROGRAM} cannot be parsed") from None
    # Copies of a signature, as LUKS and gpt have, count once.
    return tuple(dict.fromkeys(read))


def _program() -> str | None:
    return shutil.which(PROGRAM, path=f"{absolute_folders(os.environ.get('PATH', ''))}:/usr/sbin:/sbin")


def larger_whole(path: str) -> str:
    """Return what array, pool or file system a device belongs to by its signatures, even if that is not in use now.

    Args:
        path: The device.

    Returns:
        Such as `LVM2_member (UUID ...)`; empty if there is no such signature, or wipefs is not installed.

    Raises:
        AssayError: The device cannot be read, or does not answer.
    """
    for found in read_signatures(path) if _program() else ():
        if found.kind.endswith("_member") or found.kind in MEMBER_TYPES:
            return found.words
        if found.kind == "btrfs" and (devices := _btrfs_devices(path)) > 1:
            return f"{found.words} on {devices} devices"
    return ""


def _btrfs_devices(path: str) -> int:
    """Return `num_devices` of the superblock at 64 KiB (struct btrfs_super_block); 1 if it cannot be read."""
    with contextlib.suppress(OSError, struct.error):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return int(struct.unpack("<Q", os.pread(fd, 8, 0x10000 + 0x88))[0])
        finally:
            os.close(fd)
    return 1


def describe_contents(number: str, path: str) -> str:
    """Return size, model and signatures of a device and its partitions, in one line.

    Args:
        number: The device as major:minor.
        path: The device.
    """
    folder = (SYS / number).resolve()
    with contextlib.suppress(OSError):
        parts = sorted(item.name for item in folder.iterdir() if (item / "partition").exists())
        named = [f"{name}: {_signature_words(f'/dev/{name}')}" for name in parts[:MAX_NAMED]]
        more = [f"{len(parts) - MAX_NAMED} more partitions"] if len(parts) > MAX_NAMED else []
        return "; ".join([", ".join(_hardware(folder)), _signature_words(path), *named, *more])
    return _signature_words(path)


def _signature_words(path: str) -> str:
    try:
        found = read_signatures(path)
    except AssayError as error:
        return f"its content cannot be read: {error.message}"
    words = [one.words for one in found[:MAX_NAMED]] + (
        [f"{len(found) - MAX_NAMED} more"] if len(found) > MAX_NAMED else []
    )
    return ", ".join(words) or "no known file system, table or other signature on it"


def _hardware(folder: Path) -> list[str]:
    """Return size, and model or backing file."""
    size = _read(folder / "size")
    words = [about_size(int(size) * SECTOR)] if size.isdigit() else []
    words += [found] if (found := _read(folder / "device" / "model")) else []
    words += [f"file {found}"] if (found := _read(folder / "loop" / "backing_file")) else []
    return words or ["of unknown size"]


def _read(path: Path) -> str:
    try:
        return escape_line(path.read_text(errors="replace").strip(), MAX_CHARS)
    except OSError:
        return ""
