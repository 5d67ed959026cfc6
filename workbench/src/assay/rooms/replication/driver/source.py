"""The source's side of a repeat: its tree, its syncs with their numbers, and its writer."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from typing import Any

from . import report, trees
from .channel import Channel, LostError
from .link import Link, queue_bytes, ssh_words
from .processes import DriverError, Sync, run, wait_until
from .replicators import SNAPSHOTS, SOURCE, WORDS, BtrfsSend, Ends, OwnCommand
from .standby import WRITE_BYTES, write_name

EQUAL_SECONDS = 120.0
"""Longest wait until a replicator that goes on by itself has brought everything."""
SAMPLE_SECONDS = 0.05
MEND_SECONDS = 60.0


@dataclass
class ReplicationJob:
    """What a repeat does, from the study: sizes in bytes, times in seconds."""

    scenario: str
    replicator: str
    run: list[str]
    back: list[str]
    replica: str
    every: float | None
    snapshots: bool
    read_only: bool
    streams: int
    options: list[str]
    files: int
    file_size: int
    new: int
    updated: int
    deleted: int
    seed: int
    write_every: float
    runtime: float
    detect: float
    timeout: float
    link: float | None

    @property
    def is_btrfs(self) -> bool:
        """Whether states arrive as snapshots of btrfs."""
        return self.replicator == "btrfs"


class SourceSide:
    """The source of one repeat, connected to its replica."""

    def __init__(self, job: ReplicationJob, folder: str, remote: str) -> None:
        """Connect nothing yet.

        Args:
            job: What is to be done.
            folder: An empty directory.
            remote: Directory of the replica's side, on its host.
        """
        self.job, self.tree = job, os.path.join(folder, SOURCE)
        ssh = ssh_words(job.timeout)
        self.ends = Ends(folder, job.replica, remote, ssh, job.options, job.streams, job.timeout)
        self.channel = Channel(ssh, job.replica, remote)
        self.lost_at = 0.0
        """When the source was lost, by its own clock."""
        self.running: Sync | None = None
        self._snapshots = 0

    def begin(self, name: str) -> None:
        """Connect to the replica's side, and make the tree.

        Args:
            name: Name of this host.

        Raises:
            DriverError: The replica cannot be reached, or a host lacks something.
        """
        job, ssh = self.job, self.ends.ssh
        programs = () if job.replicator not in WORDS else WORDS[job.replicator].programs
        if job.snapshots or job.is_btrfs:
            programs = (*programs, "btrfs")
        self._require(programs)
        self.channel.connect()
        self._greet(programs)
        lines = run([*ssh, "-G", job.replica]).splitlines()
        address = next(line.split()[1] for line in lines if line.startswith("hostname "))
        self.link = Link(address, job.link, name, job.replica)
        self._make_tree()
        self.replicator = WORDS[job.replicator](self.ends) if not job.run else OwnCommand(self.ends, job.run, job.back)

    def _require(self, programs: tuple[str, ...]) -> None:
        import shutil

        for name in programs:
            if shutil.which(name) is None:
                raise DriverError(f"the source's host has no program {name}; install it there")

    def _greet(self, programs: tuple[str, ...]) -> None:
        before = time.time()
        answer = self.channel.call("hello", programs=list(programs))
        middle = (before + time.time()) / 2
        with open("/proc/sys/kernel/random/boot_id") as file:
            is_same = file.read() == answer["boot"]
        self.offset = 0.0 if is_same else answer["now"] - middle
        """Seconds by which the clock of the replica's host is ahead; known to half a round trip."""
        if answer["missing"]:
            raise DriverError(f"{self.job.replica} has no program {answer['missing'][0]}; install it there")

    def _make_tree(self) -> None:
        job = self.job
        if job.snapshots or job.is_btrfs:
            run(["btrfs", "-q", "subvolume", "create", self.tree])
            os.mkdir(self.ends.here(SNAPSHOTS))
        else:
            os.mkdir(self.tree)
        trees.make_tree(self.tree, job.files, job.file_size, job.seed)
        self._special, self._special_files = trees.special(self.tree), trees.special_files(self.tree)

    def print(self, name: str, value: float) -> None:
        """Print a number of the repeat."""
        print(report.line(name, value), flush=True)

    # Syncs.

    def start(self) -> Sync:
        """Start a sync of the source as it is, or of a snapshot of it."""
        tree = self.tree
        if self.job.snapshots or self.job.is_btrfs:
            self._snapshots += 1
            tree = self.ends.here(f"{SNAPSHOTS}/{self._snapshots:06d}")
            run(["btrfs", "-q", "subvolume", "snapshot", "-r", self.tree, tree])
        self.running = self.replicator.start(tree)
        return self.running

    def finish(self, sync: Sync) -> int:
        """Wait for a sync, and note what it has brought; returns its exit code."""
        code = sync.wait()
        name = f"{self._snapshots:06d}"
        if isinstance(self.replicator, BtrfsSend):
            if code:
                self.replicator.remove_part(name)
            else:
                self.replicator.parent = self.ends.here(f"{SNAPSHOTS}/{name}")
                self.channel.call("arrived", latest=name)
        self.running = None
        return code

    def measured(self, label: str, must_succeed: bool = True, before: dict[str, str] | None = None) -> int:
        """Run one sync, and print its numbers; returns its exit code.

        Args:
            label: Name of the sync.
            must_succeed: It is an error if it fails.
            before: The files that the replica had; None: those that it has now.

        Raises:
            DriverError: It failed, and must not.
        """
        before, meter = before if before is not None else self.there(), SyncMeter(self, label)
        if self.replicator.is_continuous:
            code = self._measure_until_equal(meter)
        else:
            sync = self.start()
            code = sync.wait()
            meter.stop()
            complaint = sync.complaint
            self.finish(sync)
            if code and must_succeed:
                raise DriverError(f"{label}: {self.job.replicator} ended with exit code {code}: {complaint}")
        meter.print(before, self.there(), int(code != 0))
        return code

    def _measure_until_equal(self, meter: SyncMeter) -> int:
        """Let a replicator that goes on by itself bring everything."""
        if self.running is None:
            self.start()
        self.wait_equal()
        meter.stop()
        return 0

    def wait_equal(self) -> None:
        """Wait until source and replica are equal, looking at both."""
        wanted = trees.manifest(self.tree)
        wait_until(lambda: not trees.differing(wanted, self.there()), EQUAL_SECONDS, "the replica is not equal")

    def there(self) -> dict[str, str]:
        """Return the files of the replica."""
        found: dict[str, str] = self.channel.call("manifest")
        return found

    def stop(self) -> None:
        """End a replicator that goes on by itself."""
        if self.running is not None:
            self.running.kill()
            self.running = None

    def carried(self) -> tuple[int, int]:
        """Return the bytes that the link has received and sent, with the headers of all packets on the line."""
        received, sent = self.link.counters()
        ours, theirs = queue_bytes(self.link.interface), None
        with contextlib.suppress(LostError):
            theirs = self.call("sent_bytes")
        return received if theirs is None else theirs, sent if ours is None else ours

    # Changes.

    def change(self, seed: int, first: int = 0) -> None:
        """Change the source as the study says, so much later that the replicator sees the difference in time."""
        job = self.job
        time.sleep(self.replicator.resolution_s)
        trees.change_tree(self.tree, job.new, job.updated, job.deleted, job.file_size, seed, first)

    def compare(self) -> None:
        """Compare both trees and print how many files differ.

        Raises:
            DriverError: Some differ.
        """
        different = trees.differing(trees.manifest(self.tree), self.there())
        different += trees.differing(self._special_files, self.call("special_files"))
        self.print("different files", len(different))
        found = self.call("special")
        for kind, made in self._special.items():
            self.print(f"{kind} kept", float(found.get(kind) == made))
        attributes = trees.differing(trees.attributes(self.tree), self.call("attributes"))
        self.print("different attributes", len(attributes))
        if different:
            what = f"source and replica differ in {len(different)} files, such as {different[0]}"
            raise DriverError(f"{what}, and {self.job.replicator} reports no error")

    def call(self, do: str, **fields: Any) -> Any:
        """Have the replica's side do something."""
        return self.channel.call(do, **fields)


class SyncMeter:
    """Numbers of one sync, or of the syncs of a time."""

    def __init__(self, source: SourceSide, label: str) -> None:
        """Begin."""
        self._source, self._label = source, label
        self._bytes = source.carried()
        self._start, self._begin = time.time(), time.monotonic()
        self._seconds, self._received, self._sent = 0.0, 0, 0

    def stop(self) -> None:
        """End."""
        self._seconds = time.monotonic() - self._begin
        now = self._source.carried()
        self._received, self._sent = (after - before for after, before in zip(now, self._bytes))  # noqa: B905

    def print(self, before: dict[str, str], after: dict[str, str], errors: int) -> None:
        """Print the numbers.

        Args:
            before: The files of the side that is written to, before it.
            after: The same after it.
            errors: Syncs that failed.
        """
        found = trees.changes(before, after)
        # A link carries both directions at once.
        rate = max(self._sent, self._received) * 8 / self._seconds / 1e6
        values = {
            "start": self._start,
            "duration": self._seconds,
            "sent": self._sent,
            "received": self._received,
            "data": sum(trees.size_of(after[path]) for path in [*found.new, *found.updated]),
            "new": len(found.new),
            "updated": len(found.updated),
            "deleted": len(found.deleted),
            "unchanged": len(found.unchanged),
            "errors": errors,
            "rate": rate,
        }
        if self._source.link.mbit_s:
            values["utilisation"] = 100 * rate / self._source.link.mbit_s
        for name, value in values.items():
            self._source.print(f"{self._label} {name}", value)


class Writer:
    """A steady writer at the source: one small file after the other."""

    def __init__(self, tree: str, every_s: float) -> None:
        """Write nothing yet."""
        self._tree, self._every_s = tree, every_s
        self._has_ended, self._thread = threading.Event(), threading.Thread(target=self._write, daemon=True)
        self.times: list[float] = []
        """When each write had been flushed, by the source's clock."""
        self._error: OSError | None = None

    def start(self) -> Writer:
        """Begin to write."""
        os.makedirs(os.path.dirname(os.path.join(self._tree, write_name(0))), exist_ok=True)
        self._thread.start()
        return self

    def _write(self) -> None:
        try:
            while not self._has_ended.wait(self._every_s):
                with open(os.path.join(self._tree, write_name(len(self.times))), "xb", buffering=0) as file:
                    file.write(f"{len(self.times):08d}".encode().ljust(WRITE_BYTES, b"."))
                    os.fdatasync(file.fileno())
                self.times.append(time.time())
        except OSError as error:
            self._error = error

    def lag(self, now: float, arrived: int) -> float:
        """Return the seconds since the oldest write that has not arrived; 0 if all have.

        Args:
            now: A time, by the source's clock.
            arrived: Number of writes that had arrived then.
        """
        return max(0.0, now - self.times[arrived]) if arrived < len(self.times) else 0.0

    def stop(self) -> None:
        """End, and wait for the write that is under way.

        Raises:
            DriverError: A write failed.
        """
        self._has_ended.set()
        self._thread.join()
        if self._error is not None:
            raise DriverError(f"the application at the source could not write: {self._error}")
