"""Loop devices and small file systems for tests; everything made is removed, by its own name."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def need_root() -> None:
    """Skip unless loop devices and mounts can be made."""
    if os.geteuid() != 0 or not shutil.which("losetup") or not shutil.which("mkfs.ext4"):
        pytest.skip("needs root, losetup and mkfs.ext4")


@contextlib.contextmanager
def loop_device(folder: Path, size: int, direct: bool = False) -> Iterator[str]:
    """A block device of `size` bytes backed by a file in `folder`, which it reads with O_DIRECT if `direct`."""
    need_root()
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(size)
    how = ["--direct-io=on"] if direct else []
    command = ["losetup", "--find", "--show", *how, str(image)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no loop device: {done.stderr.strip()}")
    device = done.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
        image.unlink()


@contextlib.contextmanager
def small_file_system(folder: Path, size: int, direct: bool = False, kind: str = "ext4") -> Iterator[tuple[str, Path]]:
    """A mounted file system of `size` bytes: (device, mount point); `direct` as of `loop_device`."""
    if not shutil.which(f"mkfs.{kind}"):
        pytest.skip(f"there is no mkfs.{kind}")
    with loop_device(folder, size, direct) as device:
        quietly = ["-q", *(["-m", "0"] if kind == "ext4" else [])]
        subprocess.run([f"mkfs.{kind}", *quietly, device], capture_output=True, check=True)
        point = folder / "mount"
        point.mkdir()
        subprocess.run(["mount", device, str(point)], check=True)
        try:
            yield device, point
        finally:
            subprocess.run(["umount", str(point)], check=True)
            point.rmdir()


def small_ext4(folder: Path, size: int, direct: bool = False) -> contextlib.AbstractContextManager[tuple[str, Path]]:
    """`small_file_system` of ext4."""
    return small_file_system(folder, size, direct)
