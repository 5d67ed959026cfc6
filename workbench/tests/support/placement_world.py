"""Directories of others for tests of placements: made at random, and compared name by name and byte by byte."""

import contextlib
import hashlib
import json
import os
import random
import socket
import stat
from collections.abc import Collection
from pathlib import Path

MARKER = ".assay-target"
OTHER = "5" * 32
"""Identity of a run that is not there."""
OLD_NS = 1_500_000_000_000_000_000
ODD_NAMES = (b"-rf", b"two\nlines", b"\xff\xfe", b" ", b"*", b"a\x1b[31m")
"""Names that shells, terminals and text files do not like."""

Manifest = dict[bytes, tuple[object, ...]]


def marker_text(run: str = "20200101-000000-other", identity: str = OTHER, folder: str = "") -> str:
    """A target's marker, as a run writes it; without the run's folder it is of another machine."""
    mark = {"run": run, "run_folder": folder, "identity": identity, "created_by_assay": True, "keep": False}
    return json.dumps({**mark, "written_by": "assay"}, indent=2) + "\n"


def foreign_tree(chance: random.Random, root: Path, marked: bool = False) -> None:
    """A directory of somebody else's with one of everything, and names that look like Assay's.

    Args:
        chance: Decides on contents.
        root: Is made.
        marked: It is the target of another run.
    """
    folders = ["", "t0", "c0001-r1", "c0001-r1/d0.1", "b3", "empty", "deep1/" + "/".join("d" * 12), ".target.assay-new"]
    for name in folders:
        (root / name).mkdir(parents=True, exist_ok=True)
    files = ["f0", "f1", "t0/f0.1", "c0001-r1/f0", "c0001-r1/d0.1/f3", "b3/r1", ".assay-job", "deep2", "data.txt"]
    for name in [*files, f"c0001-r1/.assay-job-{OTHER}", folders[6] + "/f1"]:
        (root / name).write_bytes(chance.randbytes(chance.randrange(0, 5000)))
    if marked:
        (root / MARKER).write_text(marker_text())
    for name in chance.sample(ODD_NAMES, 3):
        (Path(os.fsdecode(bytes(root) + b"/" + name))).write_bytes(chance.randbytes(10))
    (root / "f5").symlink_to("data.txt")
    (root / "t5").symlink_to("c0001-r1")
    (root / "away").symlink_to("/nowhere")
    os.link(root / "f1", root / "c0001-r1" / "f1")
    os.mkfifo(root / "f6")
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(root):
        made.bind("f8")
    (root / "f0").chmod(0o4755)
    (root / "b3").chmod(0o2770)
    with contextlib.suppress(OSError):
        os.setxattr(root / "data.txt", "user.owner", b"somebody")
    if os.geteuid() == 0:
        os.chown(root / "data.txt", 12345, 54321)
    for above, names, plain in os.walk(os.fsencode(root), topdown=False):
        for name in [*plain, *names, b"."]:
            moment = OLD_NS + chance.randrange(10**15)
            os.utime(above + b"/" + name, ns=(moment, moment), follow_symlinks=False)


def manifest(root: Path, without: Collection[str] = (), moments: bool = True) -> Manifest:
    """All that can be seen of a directory and everything below it, by relative path.

    Args:
        root: A directory, or anything else.
        without: Names right below it that are left out.
        moments: Take the time of the directory itself as well, which changes with every name in it.
    """
    found: Manifest = {b".": _seen(os.fsencode(root), moments)}
    if root.is_dir() and not root.is_symlink():
        for entry in os.scandir(os.fsencode(root)):
            if os.fsdecode(entry.name) not in without:
                below = manifest(Path(os.fsdecode(entry.path)))
                found |= {entry.name + b"/" + name: seen for name, seen in below.items()}
    return found


def _seen(path: bytes, moments: bool = True) -> tuple[object, ...]:
    entry = os.lstat(path)
    kind, content = stat.S_IFMT(entry.st_mode), ""
    if stat.S_ISREG(entry.st_mode):
        content = hashlib.sha256(Path(os.fsdecode(path)).read_bytes()).hexdigest()
    elif stat.S_ISLNK(entry.st_mode):
        content = str(Path(os.fsdecode(path)).readlink())
    attributes: list[tuple[str, bytes]] = []
    with contextlib.suppress(OSError):
        names = sorted(os.listxattr(path, follow_symlinks=False))
        attributes = [(name, os.getxattr(path, name, follow_symlinks=False)) for name in names]
    size = 0 if kind == stat.S_IFDIR else entry.st_size
    moment = entry.st_mtime_ns if moments else 0
    links = entry.st_nlink if moments else 0
    owner = (entry.st_mode, entry.st_uid, entry.st_gid)
    return (*owner, size, links, moment, entry.st_ino, entry.st_rdev, tuple(attributes), content)


def differences(before: Manifest, now: Manifest, more: bool = True) -> list[str]:
    """What has changed, one line each.

    Args:
        before: As it was.
        now: As it is.
        more: Names that were not there before count as changes.
    """
    gone = [f"gone: {os.fsdecode(name)!r}" for name in before if name not in now]
    new = [f"new: {os.fsdecode(name)!r}" for name in now if name not in before] if more else []
    fields = ("mode", "owner", "group", "size", "links", "mtime", "inode", "device", "attributes", "content")
    changed = []
    for name, seen in before.items():
        if name in now and now[name] != seen:
            which = [field for field, old, new_value in zip(fields, seen, now[name], strict=True) if old != new_value]
            changed.append(f"changed: {os.fsdecode(name)!r}: {', '.join(which)}")
    return [*gone, *new, *changed]
