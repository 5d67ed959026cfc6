"""Makes the files, the loop device and the mount that the rows need, and removes them."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from measure import run
from model import BenchError, Setting

ROOT = Path(__file__).resolve().parent.parent
NAME = "assay-bench"
MEMORY = Path("/dev/shm") / NAME
MARKER = ".assay-target"
GIB = 1 << 30
WRITTEN_BYTES = 512 << 20
"""Size of the file that is written over."""
LOOP_BYTES = 1 << 30
LOOP_INODES = 200_000
PEERS = ("fio", "fio-new", "fio-t-io_uring", "elbencho", "ior", "mdtest", "iozone", "warp")
SERVERS = ROOT / "target" / "servers"
"""Where tools/servers.py puts what it builds."""


def find_tools() -> dict[str, Path]:
    """The engine and the bare loops, from the build or as ASSAY_ENGINE and ASSAY_BARE say, peers and servers.

    Raises:
        BenchError: Assay's own programs are not built.
    """
    found = {}
    for name, variable in (("assay-engine", "ASSAY_ENGINE"), ("assay-bare", "ASSAY_BARE")):
        path = Path(os.environ.get(variable) or ROOT / "target" / "release" / name)
        if not os.access(path, os.X_OK):
            raise BenchError(f"{path} is missing: cargo build --release -p assay-cli -p assay-bare")
        found[name] = path.resolve()
    for name in (*PEERS, "perf", "bpftrace"):
        path = shutil.which(name)
        if path:
            found[name] = Path(path)
    return found | _servers()


def _servers() -> dict[str, Path]:
    """The S3 services that are there: built, on PATH, or as ASSAY_SERVICE says."""
    null = os.environ.get("ASSAY_SERVICE") or shutil.which("assay-service", path=ROOT / "target" / "release")
    gateway = shutil.which("versitygw") or shutil.which("versitygw", path=SERVERS)
    return {name: Path(path) for name, path in (("assay-service", null), ("versitygw", gateway)) if path}


@contextlib.contextmanager
def prepared(seconds: float, parent: Path) -> Iterator[Setting]:
    """A setting with its files, those on disk below `parent`; one bench at a time.

    Raises:
        BenchError: There is no room, or another bench runs.
    """
    elbencho = Path(f"/var/tmp/elbencho_results_{getpass.getuser()}")
    keep = elbencho.exists()
    with directories(seconds, parent, 3 * GIB, 4 * GIB) as setting:
        try:
            (setting.disk / "tmpfs").symlink_to(MEMORY)
            setting.loop, setting.loop_absent = _mount_loop(setting.disk / "ext4")
            for root in (setting.disk, MEMORY):
                _write_data(setting, root, "data", GIB)
                _write_data(setting, root, "written", WRITTEN_BYTES)
            yield setting
        finally:
            if not keep:
                # elbencho makes it whatever its options say.
                with contextlib.suppress(OSError):
                    elbencho.rmdir()


@contextlib.contextmanager
def one_file(seconds: float, parent: Path, size: int = GIB) -> Iterator[Setting]:
    """A setting with nothing but the file of `size` bytes on disk below `parent`; one bench at a time.

    Raises:
        BenchError: There is no room, or another bench runs.
    """
    with directories(seconds, parent, 2 * size, size >> 4) as setting:
        _write_data(setting, setting.disk, "data", size)
        yield setting


@contextlib.contextmanager
def directories(seconds: float, parent: Path, on_disk: int, in_memory: int) -> Iterator[Setting]:
    """Marked directories with room for so many bytes on disk and in memory; removed afterwards with all in them."""
    tools = find_tools()
    disk = parent / NAME
    for folder, needed in ((disk, on_disk), (MEMORY, in_memory)):
        if shutil.disk_usage(folder.parent).free < needed:
            raise BenchError(f"{folder.parent} has less than {needed / GIB:.3g} GiB free")
    with _lock():
        remove(disk)
        try:
            for folder in (disk, MEMORY):
                folder.mkdir(mode=0o700)
                (folder / MARKER).touch()
            yield Setting(disk, MEMORY, None, "", seconds, tools)
        finally:
            remove(disk)


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """Held while a bench runs; the kernel lets go of it when the process ends, however it ends."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    path = Path(f"/tmp/assay-bench-{os.geteuid()}.lock")
    handle = os.open(path, flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise BenchError("another bench is running") from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def remove(disk: Path) -> None:
    """Takes away whatever a bench has made, this one or one that was killed.

    Raises:
        BenchError: A directory of this name is not the bench's.
    """
    mount = disk / "ext4"
    if os.path.ismount(mount):
        _command("umount", str(mount))
    image = MEMORY / "disk.img"
    if image.exists() and os.geteuid() == 0:
        listing = subprocess.run(["losetup", "--associated", str(image)], capture_output=True, text=True, check=False)
        for line in listing.stdout.splitlines():
            _command("losetup", "--detach", line.partition(":")[0])
    for folder in (disk, MEMORY):
        if not folder.exists() and not folder.is_symlink():
            continue
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid() or not (folder / MARKER).exists():
            raise BenchError(f"{folder} is not this user's bench: remove it by hand")
        shutil.rmtree(folder)


def _command(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{words[0]}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")


def _mount_loop(mount: Path) -> tuple[Path | None, str]:
    """ext4 on a loop device whose file is in memory; or why not."""
    if os.geteuid() != 0:
        return None, "needs root: a loop device and a mount"
    image = MEMORY / "disk.img"
    try:
        with image.open("wb") as file:
            # Written, not sparse: no block is first touched while something is measured.
            for _ in range(LOOP_BYTES >> 20):
                file.write(bytes(1 << 20))
        options = ["-E", "lazy_itable_init=0,lazy_journal_init=0", "-J", "size=256", "-N", str(LOOP_INODES)]
        _command("mkfs.ext4", "-q", "-F", *options, str(image))
        mount.mkdir()
        _command("mount", "-o", "loop", str(image), str(mount))
    except (BenchError, OSError) as error:
        return None, str(error)
    (mount / MARKER).touch()
    return mount, ""


def _write_data(setting: Setting, root: Path, name: str, size: int) -> None:
    """A file that the rows find, written by Assay."""
    target = {"kind": "file", "root": str(root), "directory": name}
    sizes = {"file_size_bytes": size, "record_size_bytes": 4096}
    phases = [{"operation": "prepare", "measured": False}]
    job = {"spec_version": 2, "id": "bench", "target": target, "keep_files": True, "phases": phases} | sizes
    file = root / "job.json"
    file.write_text(json.dumps(job))
    run(setting.tool("assay-bare"), [setting.tool("assay-engine"), "run", str(file)], root)


def read_into_cache(file: Path) -> None:
    """Reads the file, so that it is in the page cache."""
    buffer = bytearray(1 << 20)
    with file.open("rb", buffering=0) as source:
        while source.readinto(buffer):
            pass


def new_folder(folder: Path, flush: bool) -> Path:
    """The folder, new and empty, with nothing of what was there before left to write."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if flush:
        os.sync()
    return folder
