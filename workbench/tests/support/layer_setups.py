"""Storage made of several layers, for tests: each is there while the context lasts, and is removed in the end."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from faulty import HANG_GUARD, faulty_mount, why_not

MIB = 1 << 20
IMAGE = 320 * MIB
"""Large enough for btrfs and xfs."""
ZRAM = Path("/sys/class/zram-control")


def need(*programs: str) -> None:
    """Skip unless this is root and has these programs."""
    if os.geteuid() != 0:
        pytest.skip("loop devices and mounts need root")
    for program in programs:
        if not shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
            pytest.skip(f"there is no {program}")


def call(*words: str | Path) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr.strip()}")
    return done.stdout.strip()


def undo(*words: str | Path) -> None:
    """Take away what others may look at for a moment: whoever lists the devices of a machine opens each."""
    until_free(lambda: call(*words))


def until_free(act: Callable[[], object]) -> None:
    """Do something that fails while what it is about is in use."""
    end = time.monotonic() + HANG_GUARD
    while True:
        try:
            act()
        except (AssertionError, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


@contextlib.contextmanager
def tmpfs(point: Path, size: int = 2 * IMAGE) -> Iterator[Path]:
    """A file system in memory."""
    need("mount")
    point.mkdir()
    call("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", point)
    try:
        yield point
    finally:
        undo("umount", point)


@contextlib.contextmanager
def loop(folder: Path, size: int = IMAGE, direct: bool = False) -> Iterator[str]:
    """A loop device over a file in a folder."""
    need("losetup")
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(size)
    how = ["--direct-io=on"] if direct else []
    device = call("losetup", "--find", "--show", *how, image)
    try:
        yield device
    finally:
        undo("losetup", "--detach", device)
        image.unlink()


@contextlib.contextmanager
def zram(size: int = IMAGE) -> Iterator[str]:
    """A device of compressed memory."""
    if os.geteuid() != 0 or not (ZRAM / "hot_add").exists():
        pytest.skip("there is no zram here")
    number = (ZRAM / "hot_add").read_text().strip()
    try:
        Path(f"/sys/block/zram{number}/disksize").write_text(f"{size}\n")
        yield f"/dev/zram{number}"
    finally:
        until_free(lambda: (ZRAM / "hot_remove").write_text(number))


@contextlib.contextmanager
def mounted(device: str, point: Path, kind: str = "ext4", options: str = "defaults") -> Iterator[Path]:
    """A new file system on a device."""
    need(f"mkfs.{kind}")
    quiet = {"ext4": ["-q", "-m", "0"], "xfs": ["-q"], "btrfs": ["-q"]}[kind]
    call(f"mkfs.{kind}", *quiet, device)
    point.mkdir()
    call("mount", "-t", kind, "-o", options, device, point)
    try:
        yield point
    finally:
        undo("umount", point)


@contextlib.contextmanager
def overlay(upper: Path, point: Path) -> Iterator[Path]:
    """An overlay whose upper directory is in the folder `upper`."""
    need("mount")
    for name in ("lower", "upper", "work"):
        (upper / name).mkdir()
    point.mkdir()
    options = ",".join(f"{name}dir={upper / name}" for name in ("lower", "upper", "work"))
    call("mount", "-t", "overlay", "-o", options, "overlay", point)
    try:
        yield point
    finally:
        undo("umount", point)


def zram_device(stack: ExitStack, _: Path) -> str:
    return stack.enter_context(zram())


def ext4_on_zram(stack: ExitStack, folder: Path) -> str:
    return str(stack.enter_context(mounted(stack.enter_context(zram()), folder / "point")))


def loop_over_tmpfs(stack: ExitStack, folder: Path) -> str:
    return stack.enter_context(loop(stack.enter_context(tmpfs(folder / "memory"))))


def ext4_on_loop_over_tmpfs(stack: ExitStack, folder: Path) -> str:
    return str(stack.enter_context(mounted(loop_over_tmpfs(stack, folder), folder / "point")))


def two_loops_over_tmpfs(stack: ExitStack, folder: Path) -> str:
    """A loop device over a file in ext4, which is on a loop device over a file in tmpfs."""
    outer = stack.enter_context(mounted(loop_over_tmpfs(stack, folder), folder / "outer"))
    return stack.enter_context(loop(outer, 64 * MIB, direct=True))


def ext4_on_two_loops(stack: ExitStack, folder: Path) -> str:
    return str(stack.enter_context(mounted(two_loops_over_tmpfs(stack, folder), folder / "inner")))


def overlay_on_tmpfs(stack: ExitStack, folder: Path) -> str:
    memory = stack.enter_context(tmpfs(folder / "memory"))
    return str(stack.enter_context(overlay(memory, folder / "point")))


def fuse(stack: ExitStack, folder: Path) -> str:
    """A program that answers from the page cache of its own files."""
    if reason := why_not():
        pytest.skip(reason)
    return str(stack.enter_context(faulty_mount(folder)).path)


def btrfs_compressing(stack: ExitStack, folder: Path) -> str:
    device = stack.enter_context(loop(folder, direct=True))
    return str(stack.enter_context(mounted(device, folder / "point", "btrfs", "compress=zstd")))


def ext4_on_direct_loop(stack: ExitStack, folder: Path) -> str:
    device = stack.enter_context(loop(folder, direct=True))
    return str(stack.enter_context(mounted(device, folder / "point")))


def xfs_on_direct_loop(stack: ExitStack, folder: Path) -> str:
    device = stack.enter_context(loop(folder, direct=True))
    return str(stack.enter_context(mounted(device, folder / "point", "xfs")))


def overlay_on_disk(stack: ExitStack, folder: Path) -> str:
    return str(stack.enter_context(overlay(folder, folder / "point")))


def disk(_: ExitStack, folder: Path) -> str:
    return str(folder)


Setup = Callable[[ExitStack, Path], str]
"""Makes storage with the folder of a test, and says its path: a device, or a directory."""
