"""A file system that fails as a test says: `assay-faultfs` mounted in a folder of the test."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.launch.binary import find_engine
from assay.launch.mounts import read_mounts
from assay.model.base import AssayError

HANG_GUARD = 600.0
"""Seconds after which a wait for something that must come is over. No test is meant to come near."""


def _program() -> Path | None:
    named = os.environ.get("ASSAY_FAULTFS")
    if named and Path(named).is_file():
        return Path(named)
    try:
        found = find_engine().with_name("assay-faultfs")
    except AssayError:
        return None
    return found if found.is_file() else None


def why_not() -> str:
    """Why there can be no such file system here; empty if there can."""
    if os.geteuid() != 0:
        return "only root may mount the file system that fails"
    if not Path("/dev/fuse").exists():
        return "there is no /dev/fuse to mount the file system that fails: try `modprobe fuse`"
    if _program() is None:
        return "assay-faultfs is not built: run `make faultfs`"
    return ""


needs_faults = pytest.mark.skipif(bool(why_not()), reason=why_not())


@dataclass(frozen=True)
class Injected:
    """A fault that happened.

    Attributes:
        path: Of the file, below the mount point.
        offset: In the file, in bytes; with `corrupt` the byte at `offset + length // 3` is another.
        pid: The process (or thread) that made the call, 0 for the kernel.
    """

    fault: str
    operation: str
    path: str
    offset: int
    length: int
    pid: int


class FaultyMount:
    """A mounted file system that passes `backing` on.

    Attributes:
        path: Where it is mounted.
        backing: What is really stored, to look at without asking the file system that fails.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        """Mount it.

        Args:
            folder: Where the two directories and the log are made.
            options: Further words for `assay-faultfs`, such as `--cached`.
        """
        self.path, self.backing, self._log = folder / "faulty", folder / "backing", folder / "faults.ndjson"
        for place in (self.path, self.backing):
            place.mkdir()
        words = [str(_program()), str(self.backing), str(self.path), str(self._log), *options]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1)
        ready = self._answer()
        if ready != "ready":
            raise AssertionError(f"assay-faultfs: {ready or (self.process.stderr and self.process.stderr.read())}")

    def set(self, rule: str) -> None:
        """Have calls fail, such as `set("eio on write path *c0001-r1* after 3")`."""
        self._say(f"set {rule}")

    def clear(self) -> None:
        """Have no further calls fail."""
        self._say("clear")

    def release(self) -> None:
        """Let calls that hang go on."""
        self._say("release")

    @property
    def waiting(self) -> int:
        """How many calls hang."""
        return int(self._say("state").rpartition("=")[2])

    def injected(self) -> list[Injected]:
        """Everything that happened so far."""
        if not self._log.exists():
            return []
        lines: list[dict[str, Any]] = [json.loads(line) for line in self._log.read_text().splitlines()]
        return [Injected(**line) for line in lines]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Look until something is so."""
        until = time.monotonic() + HANG_GUARD
        while not condition():
            assert time.monotonic() < until, f"waited {HANG_GUARD:.0f} s in vain for {what}"
            time.sleep(0.02)

    def unmount_lazily(self) -> None:
        """As `umount -l` does: no longer at its path, but open files go on."""
        subprocess.run(["umount", "-l", str(self.path)], check=True)

    def die(self) -> None:
        """End the server by SIGKILL: it stays mounted, each call fails with ENOTCONN."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Unmount it, whatever hangs in it."""
        with contextlib.suppress(OSError):
            self.process.stdin and self.process.stdin.close()
        try:
            self.process.wait(timeout=HANG_GUARD)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        if any(mount.point == str(self.path) for mount in read_mounts()):
            subprocess.run(["umount", "-l", str(self.path)], check=True)

    def _say(self, line: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n")
        answer = self._answer()
        assert not answer.startswith("error") and answer, f"{line}: {answer}"
        return answer

    def _answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()


@contextlib.contextmanager
def faulty_mount(folder: Path, *options: str) -> Iterator[FaultyMount]:
    """A mounted file system, gone afterwards."""
    mount = FaultyMount(folder, *options)
    try:
        yield mount
    finally:
        mount.end()


def tree(folder: Path) -> set[str]:
    """Every name below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
