"""Reads the mounts that this process sees."""

import re
from pathlib import Path
from typing import NamedTuple

MOUNTS = "/proc/self/mountinfo"


class Mount(NamedTuple):
    """One mount.

    Source: Documentation/filesystems/proc.rst of the kernel, /proc/PID/mountinfo.

    Attributes:
        number: Device as major:minor.
        root: The directory of the file system that is mounted.
        point: Mount point.
        filesystem: Type of the file system.
        source: What is mounted, such as a device; `none` if empty.
        options: Options of the mount and of the file system, each once.
    """

    number: str
    root: str
    point: str
    filesystem: str
    source: str
    options: tuple[str, ...]


def read_mounts(file: Path | None = None) -> list[Mount]:
    """Return all mounts that this process sees.

    Args:
        file: A file in place of `MOUNTS`.

    Raises:
        OSError: /proc is not mounted.
    """
    found = []
    for line in (file or Path(MOUNTS)).read_text(encoding="utf-8", errors="replace").split("\n"):
        before, dash, after = line.partition(" - ")
        fields, about = before.split(" "), after.split(" ")
        if dash and len(fields) >= 6 and len(about) >= 3:
            options = tuple(dict.fromkeys(f"{fields[5]},{about[2]}".split(",")))
            root, point, source = (unescaped(field) for field in (fields[3], fields[4], about[1]))
            found.append(Mount(fields[2], root, point, about[0], source or "none", options))
    return found


def unescaped(field: str) -> str:
    r"""Decode a field of mountinfo, where blanks and the like are written as `\040`."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field)
