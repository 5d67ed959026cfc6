"""A file system that takes requests and answers none of them, as a dead server does."""

import contextlib
import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hang_guard import SECONDS

_LIBC = ctypes.CDLL(None, use_errno=True)
_NOSUID, _NODEV, _FORCE, _DETACH = 2, 4, 1, 2
_INIT = 26
"""Opcode of the first request. Source: include/uapi/linux/fuse.h of Linux."""

need_fuse = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/fuse").exists(),
    reason="needs root and /dev/fuse: storage that hangs is not tried",
)


class Hung:
    """The file system while it is mounted.

    Attributes:
        folder: Where.
        asked: Set once somebody waits for an answer.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = threading.Event()
        self._fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._fd},rootmode=40000,user_id=0,group_id=0".encode()
        if _LIBC.mount(b"hung", os.fsencode(folder), b"fuse", _NOSUID | _NODEV, options):
            raise OSError(ctypes.get_errno(), "cannot mount")
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        # A request that was read can not be taken back, even by SIGKILL: whoever waits for it is in state D.
        with contextlib.suppress(OSError):
            while request := os.read(self._fd, 1 << 20):
                _, opcode, unique = struct.unpack_from("<IIQ", request)
                if opcode == _INIT:
                    body = struct.pack("<IIIIHHII", 7, 31, 65536, 0, 12, 9, 65536, 1) + bytes(36)
                    os.write(self._fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
                else:
                    self.asked.set()

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Whatever in the block waits for it is freed after ten minutes, and fails the test."""
        timer = threading.Timer(SECONDS, self.unmount)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
        assert self._fd >= 0, f"it hangs: not done after {SECONDS} s"

    def unmount(self) -> None:
        """End it; whoever waits gets an error. A second call does nothing."""
        if self._fd < 0:
            return
        _LIBC.umount2(os.fsencode(self.folder), _FORCE | _DETACH)
        self._thread.join(30)
        os.close(self._fd)
        self._fd = -1


@contextlib.contextmanager
def hung(folder: Path) -> Iterator[Hung]:
    """The file system, mounted on a folder for the length of the block."""
    storage = Hung(folder)
    try:
        yield storage
    finally:
        storage.unmount()
