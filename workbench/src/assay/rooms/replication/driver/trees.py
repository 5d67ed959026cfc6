"""Trees of files: made from a seed, changed, hashed and compared."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import random
from collections.abc import Iterator
from typing import NamedTuple

PIECE_BYTES = 1 << 20
FOLDERS = 8
"""Folders of a tree, among which its files are shared out."""
PATCH_BYTES = 64 << 10
"""Bytes of an updated file that change: the middle, so that its size and most of it stay."""


SPECIAL = "special"
"""Folder of a tree with what is more than contents under a name. It counts as no file of the tree."""
_ATTRIBUTE, _SPARSE_BYTES = "user.assay", 256 << 10


class Changes(NamedTuple):
    """How two manifests differ: paths by what became of them."""

    new: list[str]
    updated: list[str]
    deleted: list[str]
    unchanged: list[str]


def write_file(path: str, size: int, seed: str) -> None:
    """Write a file of bytes that do not compress, from a seed. It is there whole, or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    source, part = random.Random(seed), f"{path}.new"
    with open(part, "wb") as file:
        for begin in range(0, size, PIECE_BYTES):
            file.write(source.randbytes(min(PIECE_BYTES, size - begin)))
    os.replace(part, path)


def make_tree(root: str, files: int, size: int, seed: int) -> None:
    """Make the files of a source.

    Args:
        root: An empty directory.
        files: Number of files.
        size: Bytes of each.
        seed: Seed of their bytes.
    """
    for number in range(files):
        write_file(os.path.join(root, file_name(number)), size, f"{seed} {number}")
    make_special(root)


def make_special(root: str) -> None:
    """Make links, a sparse file, a file with an extended attribute, and an empty directory.

    What the file system of the source does not have is left out.
    """
    folder = os.path.join(root, SPECIAL)
    os.makedirs(os.path.join(folder, "empty"))
    write_file(os.path.join(folder, "plain"), 4096, "plain")
    write_file(os.path.join(folder, "tagged"), 4096, "tagged")
    with open(os.path.join(folder, "sparse"), "wb") as file:
        file.seek(_SPARSE_BYTES - 4096)
        file.write(b"x" * 4096)
    with contextlib.suppress(OSError):
        os.symlink("plain", os.path.join(folder, "link"))
    with contextlib.suppress(OSError):
        os.link(os.path.join(folder, "plain"), os.path.join(folder, "second-name"))
    with contextlib.suppress(OSError):
        os.setxattr(os.path.join(folder, "tagged"), _ATTRIBUTE, b"kept")


def special(root: str) -> dict[str, str]:
    """Return what a tree has of that: its kind -> how it is there; kinds that are not there are missing."""
    folder, found = os.path.join(root, SPECIAL), {}
    path = functools.partial(os.path.join, folder)
    if os.path.islink(path("link")):
        found["symbolic links"] = os.readlink(path("link"))
    with contextlib.suppress(OSError):
        if os.path.samefile(path("plain"), path("second-name")):
            found["hard links"] = "one file"
    with contextlib.suppress(OSError):
        if os.stat(path("sparse")).st_blocks * 512 < _SPARSE_BYTES // 2:
            found["sparse files"] = "sparse"
    with contextlib.suppress(OSError):
        found["extended attributes"] = os.getxattr(path("tagged"), _ATTRIBUTE).hex()
    if os.path.isdir(path("empty")):
        found["empty directories"] = "there"
    return found


def special_files(root: str) -> dict[str, str]:
    """Return the contents of the plain files among that, as `manifest` does: these must arrive in any case."""
    return {
        name: file_hash(path)
        for name in ("plain", "sparse", "tagged")
        if os.path.isfile(path := os.path.join(root, SPECIAL, name))
    }


def file_name(number: int) -> str:
    """Return the path of a file in its tree."""
    return f"d{number % FOLDERS}/f{number:06d}"


def update_file(path: str, seed: str) -> None:
    """Change the middle of a file in place, as a database or an editor of large files does."""
    size = os.path.getsize(path)
    length = min(PATCH_BYTES, size)
    with open(path, "r+b") as file:
        file.seek((size - length) // 2)
        file.write(random.Random(seed).randbytes(length))


def change_tree(root: str, new: int, updated: int, deleted: int, size: int, seed: int, first: int = 0) -> None:
    """Add, update and delete files.

    Args:
        root: The tree, as `make_tree` makes it.
        new: Files to add.
        updated: Files to update: those with the lowest numbers from `first` on.
        deleted: Files to delete: those that follow.
        size: Bytes of a new file.
        seed: Seed of the new bytes.
        first: Number of the first file that is touched.
    """
    for number in range(first, first + updated):
        update_file(os.path.join(root, file_name(number)), f"{seed} updated {number}")
    for number in range(first + updated, first + updated + deleted):
        os.unlink(os.path.join(root, file_name(number)))
    for number in range(new):
        write_file(os.path.join(root, "new", f"s{seed}-{number:06d}"), size, f"{seed} new {number}")


def manifest(root: str) -> dict[str, str]:
    """Return path -> size and SHA-256 of each file of a tree; of a symbolic link, where it leads."""
    found = {}
    for folder, names in _folders(root):
        for name in names:
            path = os.path.join(folder, name)
            is_link = os.path.islink(path)
            found[os.path.relpath(path, root)] = f"0:{os.readlink(path)}" if is_link else file_hash(path)
    return found


def attributes(root: str) -> dict[str, str]:
    """Return path -> mode, owner, group and time of change (ns) of each file of a tree."""
    found = {}
    for folder, names in _folders(root):
        for name in names:
            path = os.path.join(folder, name)
            one = os.lstat(path)
            found[os.path.relpath(path, root)] = f"{one.st_mode:o}:{one.st_uid}:{one.st_gid}:{one.st_mtime_ns}"
    return found


def _folders(root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder of a tree and the names of its files, without those of `SPECIAL`."""
    for folder, inner, names in os.walk(root):
        if folder == root and SPECIAL in inner:
            inner.remove(SPECIAL)
        yield folder, names


def file_hash(path: str) -> str:
    """Return size and SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
            size += len(piece)
    return f"{size}:{digest.hexdigest()}"


def size_of(stored: str) -> int:
    """Return the bytes of a file, from its entry in a manifest."""
    return int(stored.partition(":")[0])


def changes(before: dict[str, str], after: dict[str, str]) -> Changes:
    """Return what was done to a tree between two manifests."""
    both = [path for path in after if path in before]
    return Changes(
        new=[path for path in after if path not in before],
        updated=[path for path in both if after[path] != before[path]],
        deleted=[path for path in before if path not in after],
        unchanged=[path for path in both if after[path] == before[path]],
    )


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the paths that two trees do not have alike."""
    return sorted(path for path in {*one, *other} if one.get(path) != other.get(path))


def torn(before: dict[str, str], wanted: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the files of a replica that are neither the version before a sync nor the one that it was to bring."""
    return [path for path, stored in found.items() if stored not in (before.get(path), wanted.get(path))]
