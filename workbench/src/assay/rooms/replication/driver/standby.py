"""The replica's side: holds the replica read-only, samples what has arrived, and takes over when the source is lost.

It serves requests that the source sends over ssh (`channel.py`), each one line of JSON, on a socket in its directory.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import socket
import threading
import time
from typing import Any

from . import trees
from .link import BOX_INTERFACE, queue_bytes
from .processes import DriverError, kill_users, run, users_of

REPLICA, VIEW, PROMOTED, RECEIVED = "replica", "view", "promoted", "received"
INCOMING, FILLER, SOCKET = "incoming", "filler", "standby.sock"
"""What is in the directory of the replica: what replicators write, the read-only view of it for its users, the same
after promotion, the snapshots that had arrived by then, files that are not whole yet, what fills the storage up, and
the socket."""
WRITES = "writes"
"""Folder of the source into which its steady writer writes, one file after the other."""
FIRST_WRITE = "first-write"
"""The first file that is written at a promoted replica."""
WRITE_BYTES = 4096
FILL_BYTES = 256 << 20
SILENCE_SECONDS = 20.0
"""Without a request for so long the source is gone, and with it the repeat, unless it announced a longer silence."""
_NEW_MOUNT_NAMESPACE = 0x20000


def write_name(number: int) -> str:
    """Return the path of a write of the steady writer."""
    return f"{WRITES}/{number:08d}"


class Standby:
    """The replica of one repeat."""

    def __init__(self, folder: str, read_only: bool, is_btrfs: bool) -> None:
        """Make the replica.

        Args:
            folder: An empty directory for it.
            read_only: Its users cannot write until it is promoted.
            is_btrfs: Its states arrive as snapshots of btrfs.
        """
        self.folder, self.read_only, self.is_btrfs = folder, read_only, is_btrfs
        self.is_promoted, self.latest = False, ""
        self.takeover: dict[str, Any] = {}
        self.last_request, self.detect_s, self.silence_s = time.monotonic(), 0.0, SILENCE_SECONDS
        self.samples: list[tuple[float, int]] = []
        self.sampling, self.has_ended = threading.Event(), threading.Event()
        self.arrived_writes = 0
        self.lock = threading.RLock()
        self.look_s = 0.0
        self.seen: dict[str, str] = {}
        self.fault = ""
        for name in (REPLICA, INCOMING):
            os.mkdir(self.path(name))
        if read_only and not is_btrfs:
            try:
                self._mount_view()
            except DriverError as error:
                self.fault = str(error)

    def path(self, name: str) -> str:
        """Return a path in its directory."""
        return os.path.join(self.folder, name)

    @property
    def current(self) -> str:
        """The directory with the newest state of the replica."""
        if self.is_promoted:
            return self.path(PROMOTED)
        return os.path.join(self.path(REPLICA), self.latest) if self.is_btrfs else self.path(REPLICA)

    @property
    def users_path(self) -> str:
        """The directory that users of the replica see."""
        return self.path(VIEW) if self.read_only and not self.is_btrfs else self.current

    def _mount_view(self) -> None:
        """Mount a read-only view of the replica, which only this process has: it goes with it."""
        library = ctypes.CDLL(None, use_errno=True)
        if library.unshare(_NEW_MOUNT_NAMESPACE):
            why = os.strerror(ctypes.get_errno())
            raise DriverError(f"a read-only replica needs root: {why}; or write `read_only: false`")
        run(["mount", "--make-rprivate", "/"])
        os.mkdir(self.path(VIEW))
        run(["mount", "--bind", self.path(REPLICA), self.path(VIEW)])
        run(["mount", "-o", "remount,bind,ro", self.path(VIEW)])

    def close(self) -> None:
        """Remove what is more than files."""
        if self.is_btrfs and os.path.isdir(self.folder):
            delete_subvolumes(self.folder)

    # Requests.

    def hello(self, programs: list[str]) -> dict[str, Any]:
        """Answer with the clock, and with what this host lacks."""
        if self.fault:
            raise DriverError(self.fault)
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read()
        return {
            "now": time.time(),
            "boot": boot,
            "folder": self.folder,
            "missing": [name for name in programs if shutil.which(name) is None],
        }

    def expect_silence(self, seconds: float) -> None:
        """Wait for so long without a request before the source counts as gone."""
        self.silence_s = seconds

    def sent_bytes(self) -> int | None:
        """Return the bytes that this host of a box has sent; None if its link has no shaper."""
        return queue_bytes(BOX_INTERFACE)

    def look_when_silent(self, seconds: float) -> None:
        """Note the files of the replica as soon as there was no request for so many seconds, while a link is cut."""
        self.look_s = seconds

    def seen_when_silent(self) -> dict[str, str]:
        """Return the files that were noted then; empty if there was no such silence."""
        return self.seen

    def ping(self) -> None:
        """Do nothing: each request shows that the source is alive."""

    def manifest(self) -> dict[str, str]:
        """Return the files of the replica."""
        return trees.manifest(self.current) if os.path.isdir(self.current) else {}

    def arrived(self, latest: str) -> None:
        """Note the snapshot that a sync has brought."""
        self.latest = latest

    def attributes(self) -> dict[str, str]:
        """Return the attributes of each file of the replica."""
        return trees.attributes(self.current)

    def special(self) -> dict[str, str]:
        """Return what the replica has of links, sparse files and the like."""
        return trees.special(self.current)

    def special_files(self) -> dict[str, str]:
        """Return the contents of the plain files among these."""
        return trees.special_files(self.current)

    def receivers(self) -> int:
        """Return how many processes still write what a sync has sent."""
        return len(users_of(self.path(REPLICA)))

    def refused_write(self) -> str:
        """Try to write as a user of the replica would; returns the error, empty if it was possible."""
        path = os.path.join(self.users_path, "written-by-a-user")
        try:
            with open(path, "x"):
                pass
        except OSError as error:
            return os.strerror(error.errno or 0)
        os.unlink(path)
        return ""

    def sample(self, every_s: float) -> None:
        """Begin to sample which write of the source is there."""
        self.samples = []
        self.sampling.set()
        threading.Thread(target=self._sample, args=(every_s,), daemon=True).start()

    def _sample(self, every_s: float) -> None:
        while self.sampling.is_set():
            with self.lock:
                self.advance()
                self.samples.append((time.time(), self.arrived_writes))
            time.sleep(every_s)

    def advance(self) -> None:
        """Count the writes that have arrived: those before which none is missing."""
        while True:
            path = os.path.join(self.users_path, write_name(self.arrived_writes))
            try:
                if os.stat(path).st_size < WRITE_BYTES:
                    return
            except OSError:
                return
            self.arrived_writes += 1

    def sampled(self) -> list[tuple[float, int]]:
        """End sampling; returns the time of each look, and how many writes were there."""
        self.sampling.clear()
        with self.lock:
            return self.samples

    def fill(self, leave: int) -> None:
        """Fill the storage up until so many bytes are left."""
        with open(self.path(FILLER), "wb") as file:
            end, piece = 0, FILL_BYTES
            # The file system needs some of its space itself: what it refuses is asked for in smaller pieces.
            while piece >= WRITE_BYTES:
                found = os.statvfs(self.folder)
                piece = min(piece, found.f_bfree * found.f_frsize - leave)
                try:
                    if piece >= WRITE_BYTES:
                        os.posix_fallocate(file.fileno(), end, piece)
                        end += piece
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    piece //= 2

    def empty(self) -> None:
        """Give the storage its space back."""
        os.unlink(self.path(FILLER))

    def arm(self, detect_s: float) -> None:
        """Take over as soon as there was no request for so many seconds; 0: not by itself."""
        self.detect_s = detect_s

    def promote(self, detected: float | None = None) -> dict[str, Any]:
        """Make the replica writable and refuse what its source still sends; returns when each step ended.

        Args:
            detected: When the loss of the source was noticed; None: now.
        """
        begin = time.time() if detected is None else detected
        with self.lock:
            # A receiver that is half way must not write into what users write from now on.
            ended = kill_users(self.path(REPLICA))
            self.advance()
            if self.is_btrfs:
                run(["btrfs", "-q", "subvolume", "snapshot", self.current, self.path(PROMOTED)])
                os.rename(self.path(REPLICA), self.path(RECEIVED))
            else:
                os.rename(self.path(REPLICA), self.path(PROMOTED))
            # A file in its place: replicators cannot write below it.
            with open(self.path(REPLICA), "x"):
                pass
            if self.read_only and not self.is_btrfs:
                run(["mount", "-o", "remount,bind,rw", self.path(VIEW)])
            self.is_promoted, self.detect_s = True, 0.0
            promoted = time.time()
            self._first_write()
            self.takeover = {
                "detected": begin,
                "promoted": promoted,
                "written": time.time(),
                "arrived": self.arrived_writes,
                "receivers": ended,
            }
        return self.takeover

    def _first_write(self) -> None:
        path = os.path.join(self.users_path, FIRST_WRITE)
        with open(path, "xb") as file:
            file.write(b"written at the replica\n")
            os.fsync(file.fileno())

    def state(self) -> dict[str, Any]:
        """Return when it took over; empty if it did not."""
        return self.takeover

    def change(self, new: int, updated: int, deleted: int, size: int, seed: int, first: int) -> None:
        """Change the promoted replica, as applications do that go on there."""
        trees.change_tree(self.users_path, new, updated, deleted, size, seed, first)

    def snapshot(self, name: str) -> None:
        """Take a snapshot of the promoted replica, beside those that have arrived."""
        run(["btrfs", "-q", "subvolume", "snapshot", "-r", self.path(PROMOTED), self.path(f"{RECEIVED}/{name}")])
        self.latest = name

    def demote(self) -> None:
        """Make it a replica again, after its state was brought back to the source."""
        with self.lock:
            os.unlink(self.path(REPLICA))
            if self.is_btrfs:
                os.rename(self.path(RECEIVED), self.path(REPLICA))
            else:
                if self.read_only:
                    run(["mount", "-o", "remount,bind,ro", self.path(VIEW)])
                os.rename(self.path(PROMOTED), self.path(REPLICA))
            self.is_promoted = False

    def quit(self) -> None:
        """End after this request."""
        self.close()
        self.has_ended.set()

    # Serving.

    def serve(self) -> None:
        """Answer requests until the source says that it is done, is silent for too long, or the repeat is removed."""
        with socket.socket(socket.AF_UNIX) as server:
            # A path of any length would not fit into the address.
            os.chdir(self.folder)
            server.bind(SOCKET)
            server.listen()
            server.settimeout(0.02)
            while not self.has_ended.is_set():
                try:
                    connection, _ = server.accept()
                    connection.settimeout(None)
                    threading.Thread(target=self._answer, args=(connection,), daemon=True).start()
                except TimeoutError:
                    self._look()

    def _look(self) -> None:
        silent = time.monotonic() - self.last_request
        if self.look_s and silent > self.look_s:
            self.look_s = 0.0
            self.seen = self.manifest()
        if self.detect_s and silent > self.detect_s:
            self.promote(time.time())
        if silent > self.silence_s or not os.path.isdir(self.folder):
            self.has_ended.set()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            for line in stream:
                self.last_request = time.monotonic()
                request = json.loads(line)
                try:
                    reply = {"result": getattr(self, request.pop("do"))(**request)}
                except (DriverError, OSError) as error:
                    reply = {"error": str(error)}
                self.last_request = time.monotonic()
                try:
                    stream.write(json.dumps(reply).encode() + b"\n")
                    stream.flush()
                except OSError:
                    return


def delete_subvolumes(folder: str) -> None:
    """Delete the subvolumes of btrfs below a directory, which rmdir(2) refuses while they are read-only."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.islink(path) or not os.path.isdir(path):
            continue
        if os.stat(path).st_ino == 256:
            run(["btrfs", "-q", "subvolume", "delete", path])
        else:
            delete_subvolumes(path)
