"""Scenarios: what happens to source, replica and link in a repeat."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from . import trees
from .processes import DriverError, Sync, wait_until
from .replicators import SET_ASIDE, BtrfsSend
from .source import MEND_SECONDS, SAMPLE_SECONDS, SourceSide, SyncMeter, Writer
from .standby import FIRST_WRITE, SILENCE_SECONDS
from .watch import TreeWatch

MAX_IDLE_SECONDS = 0.05
MAX_TIMEOUTS = 10
"""A replicator that has not given up after so many of its timeouts is killed."""
LATE_SECONDS = 0.2
"""A sync that begins so long after its time on the schedule is late: the one before took too long."""
ENDLESS_SECONDS = 3.0
"""How long a replicator that never ends tries to write to a promoted replica."""
PROMOTION_SECONDS = 0.5
"""Time that the replica has for its promotion before the source asks again: an answer would be a sign of life."""
CHANGED = "d0/changing"
"""A file that changes while it is copied."""


def initial(source: SourceSide) -> None:
    """Copy everything to an empty replica."""
    begin(source)
    source.stop()
    source.compare()


def begin(source: SourceSide) -> None:
    """Copy everything, and see that the replica is read-only."""
    source.measured("initial")
    source.print("write refused", float(bool(source.call("refused_write"))))


def update(source: SourceSide) -> None:
    """Copy everything, change the source, and copy the changes."""
    begin(source)
    source.change(seed=source.job.seed + 1)
    source.measured("update")
    source.stop()
    source.compare()


def steady(source: SourceSide) -> None:
    """Let an application write at the source while its replication goes on, and see how far the replica is behind."""
    begin(source)
    period = Period(source)
    period.run()
    period.end()
    if source.replicator.is_continuous:
        source.wait_equal()
    elif (sync := source.running) is not None:
        # A sync that is under way when the application ends is brought to its end.
        period.finish(sync)
    period.print(source.there())
    if not source.replicator.is_continuous and source.finish(source.start()):
        raise DriverError(f"{source.job.replicator} failed after the application had ended")
    source.stop()
    source.compare()


class Period:
    """The time in which an application writes at the source, and the replica follows by the trigger of the study."""

    def __init__(self, source: SourceSide) -> None:
        """Begin: the application writes from now on, and what has arrived is sampled."""
        self.source, self.syncs, self.late, self.failures = source, 0, 0, 0
        self._before, self._meter = source.there(), SyncMeter(source, "steady")
        source.call("sample", every_s=SAMPLE_SECONDS)
        self.writer = Writer(source.tree, source.job.write_every).start()

    def run(self) -> None:
        """Let it go on for the runtime; a sync may be under way afterwards."""
        job, end = self.source.job, time.monotonic() + self.source.job.runtime
        if self.source.replicator.is_continuous:
            time.sleep(job.runtime)
            return
        watch, due = TreeWatch(self.source.tree), time.monotonic()
        while (now := time.monotonic()) < end:
            if job.every is None and not watch.wait(min(MAX_IDLE_SECONDS, end - now)):
                continue
            if job.every is not None and now < due:
                time.sleep(min(due - now, end - now))
                continue
            # A schedule that a sync has overrun goes on at once.
            self.late += int(job.every is not None and now - due > LATE_SECONDS)
            due = max(due + (job.every or 0.0), now)
            sync = self.source.start()
            if sync_until(sync, end):
                self.finish(sync)
        watch.close()

    def finish(self, sync: Sync) -> None:
        """Note the end of a sync."""
        self.syncs += 1
        self.failures += int(self.source.finish(sync) != 0)

    def end(self) -> None:
        """End sampling and the application."""
        self.sampled()
        self.writer.stop()

    def sampled(self) -> None:
        """End sampling, and print how old the oldest write was that the replica did not have."""
        samples, ended, writer = self.source.call("sampled"), time.time(), self.writer
        times = [(now - self.source.offset, arrived) for now, arrived in samples]
        lags = sorted(writer.lag(now, arrived) for now, arrived in times if now <= ended)
        if not lags or not writer.times:
            raise DriverError("nothing was written: let the application write for longer (`runtime`)")
        self.source.print("lag median", median(lags))
        self.source.print("lag 95 %", lags[min(len(lags) - 1, int(0.95 * len(lags)))])
        self.source.print("lag longest", lags[-1])
        self._meter.stop()

    def print(self, after: dict[str, str]) -> None:
        """Print the numbers of the period.

        Args:
            after: The replica after it.
        """
        self._meter.print(self._before, after, self.failures)
        if not self.source.replicator.is_continuous:
            self.source.print("syncs", self.syncs)
            self.source.print("late syncs", self.late)
        self.source.print("writes", len(self.writer.times))


def sync_until(sync: Sync, end: float) -> bool:
    """Wait for a sync until a time; false if it has not ended."""
    while sync.is_running:
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def half_way(source: SourceSide, sync: Sync, size: int, what: str) -> None:
    """Wait until a sync has sent half of the new data.

    Raises:
        DriverError: It ended before.
    """
    begin_bytes = source.link.counters()[1]
    while source.link.counters()[1] - begin_bytes < size / 2:
        if not sync.is_running:
            raise DriverError(f"the sync ended before {what}: copy more data (`new`, `file_size`); {sync.complaint}")
        time.sleep(0.002)


@dataclass
class Fault:
    """What happens to a sync.

    Attributes:
        label: Name of the sync.
        about: What happens, for messages.
        before: Done before it starts.
        half_way: Done when half of the data was sent; gets the sync.
        after: Undoes it, when the sync has ended.
    """

    label: str
    about: str
    before: Callable[[], object] | None = None
    half_way: Callable[[Sync], object] | None = None
    after: Callable[[], object] | None = None


def disturbed(source: SourceSide, fault: Fault) -> dict[str, str]:
    """Let a sync of changes fail, and see what of them was there; returns the files of the replica then."""
    begin(source)
    source.stop()
    before = source.there()
    source.change(seed=source.job.seed + 1)
    wanted = trees.manifest(source.tree)
    if fault.before is not None:
        fault.before()
    meter, sync = SyncMeter(source, fault.label), source.start()
    if fault.half_way is not None:
        half_way(source, sync, source.job.new * source.job.file_size, fault.about)
        fault.half_way(sync)
    code = sync.wait()
    meter.stop()
    if fault.after is not None:
        fault.after()
    if isinstance(source.replicator, BtrfsSend):
        source.finish(sync)
    # What was sent before may arrive a moment later.
    wait_until(lambda: not source.call("receivers"), MEND_SECONDS, "the replica still receives")
    # When a link is there again, the kernel still sends what it had taken from the replicator.
    found = source.call("seen_when_silent") or source.there()
    if not code:
        raise DriverError(f"{source.job.replicator} reports no error although {fault.about}")
    meter.print(before, found, 1)
    done = trees.changes(before, wanted)
    there = [path for path in [*done.new, *done.updated] if found.get(path) == wanted[path]]
    there += [path for path in done.deleted if path not in found]
    source.print("changes", len(done.new) + len(done.updated) + len(done.deleted))
    source.print("changes there", len(there))
    source.print("torn files", len(trees.torn(before, wanted, found)))
    if trees.differing(wanted, trees.manifest(source.tree)):
        raise DriverError("the source is not what it was before the sync failed")
    return found


def cut(source: SourceSide) -> None:
    """Cut the link during a sync, and let it carry again when the replicator has given up."""
    began = 0.0

    def prepare() -> None:
        # Before the sync: an answer would take time while the link is full.
        source.call("expect_silence", seconds=SILENCE_SECONDS + 2 * MAX_TIMEOUTS * source.job.timeout)
        source.call("look_when_silent", seconds=source.job.timeout / 2)

    def disturb(sync: Sync) -> None:
        nonlocal began
        began = time.monotonic()
        source.link.cut()
        end = began + MAX_TIMEOUTS * source.job.timeout
        while sync.is_running:
            if time.monotonic() > end:
                sync.kill()
            time.sleep(0.01)

    def mend() -> None:
        source.link.mend()
        source.print("seconds cut", time.monotonic() - began)
        source.channel.connect(MEND_SECONDS)

    try:
        found = disturbed(source, Fault("cut", "the link was cut", prepare, half_way=disturb, after=mend))
    finally:
        source.link.mend()
    finish_again(source, "resumed", found)


def kill(source: SourceSide) -> None:
    """Kill the replicator during a sync, and start it again."""
    found = disturbed(source, Fault("killed", "it was killed", half_way=lambda sync: sync.kill()))
    finish_again(source, "restarted", found)


def full(source: SourceSide) -> None:
    """Let the replica's storage be full during a sync, and give it space again."""
    leave = source.job.new * source.job.file_size // 2
    found = disturbed(
        source,
        Fault(
            "full",
            "the storage of the replica was full",
            before=lambda: source.call("fill", leave=leave),
            after=lambda: source.call("empty"),
        ),
    )
    finish_again(source, "repeated", found)


def finish_again(source: SourceSide, label: str, before: dict[str, str] | None = None) -> None:
    """Sync once more, which must bring everything.

    Args:
        source: The source.
        label: Name of the sync.
        before: The files of the replica before it; None: those that it has now.
    """
    source.measured(label, before=before)
    source.stop()
    source.compare()


def changing(source: SourceSide) -> None:
    """Change a file again and again while it is copied: the next sync, of a source at rest, must bring it whole."""
    begin(source)
    source.stop()
    path, versions, has_ended = os.path.join(source.tree, CHANGED), [], threading.Event()
    source.change(seed=source.job.seed + 1)
    trees.write_file(path, source.job.file_size, "first")
    versions.append(trees.file_hash(path))

    def keep_changing() -> None:
        while not has_ended.is_set():
            trees.update_file(path, f"{source.job.seed} {len(versions)}")
            versions.append(trees.file_hash(path))

    thread = threading.Thread(target=keep_changing, daemon=True)
    thread.start()
    try:
        source.measured("changing", must_succeed=False)
    finally:
        has_ended.set()
        thread.join()
    found = source.there().get(CHANGED)
    source.print("torn files", float(found is not None and found not in versions))
    source.print("changed meanwhile", len(versions) - 1)
    finish_again(source, "final")


def failover(source: SourceSide) -> None:
    """Lose the source while it is written to, go on at the replica, and fail back."""
    job = source.job
    begin(source)
    period = Period(source)
    period.run()
    period.sampled()
    lose(source, period.writer)
    takeover = source.call("state")
    print_takeover(source, takeover, period.writer)
    base = source.there()
    period.print({path: stored for path, stored in base.items() if path != FIRST_WRITE})
    refused_sync(source, base)
    source.call(
        "change", new=job.new, updated=job.updated, deleted=job.deleted, size=job.file_size, seed=job.seed + 7, first=0
    )
    fail_back(source, base)


def lose(source: SourceSide, writer: Writer) -> None:
    """Lose the source as if its power failed: a sync that is under way is killed, and nothing more is sent."""
    job = source.job
    source.call("expect_silence", seconds=SILENCE_SECONDS + 2 * job.detect)
    source.call("arm", detect_s=job.detect)
    source.lost_at, lost = time.time(), time.monotonic()
    source.channel.silence()
    source.stop()
    writer.stop()
    # What the source wrote last never left it: a new file, and files that the replica will change, too.
    trees.change_tree(source.tree, 1, job.updated, 0, job.file_size, job.seed + 5)
    time.sleep(max(0.0, lost + job.detect + PROMOTION_SECONDS - time.monotonic()))
    source.channel.connect(MEND_SECONDS)
    wait_until(lambda: bool(source.call("state")), MEND_SECONDS, "the replica was not promoted")


def print_takeover(source: SourceSide, takeover: dict[str, float], writer: Writer) -> None:
    """Print recovery time and recovery point of a failover, by the source's clock."""
    offset, lost = source.offset, source.lost_at
    source.print("recovery time", takeover["written"] - offset - lost)
    source.print("detection", takeover["detected"] - offset - lost)
    source.print("promotion", takeover["promoted"] - takeover["detected"])
    source.print("recovery point", writer.lag(lost, int(takeover["arrived"])))
    source.print("writes lost", len(writer.times) - takeover["arrived"])


def refused_sync(source: SourceSide, base: dict[str, str]) -> None:
    """Sync as if nothing had happened: the promoted replica must refuse it, and stay as it is."""
    sync = source.start()
    if source.replicator.is_continuous:
        time.sleep(ENDLESS_SECONDS)
        sync.kill()
    code = sync.wait()
    source.running = None
    if trees.differing(base, source.there()):
        raise DriverError("a sync from the old source changed the promoted replica")
    source.print("refused syncs", float(code != 0))


def fail_back(source: SourceSide, base: dict[str, str]) -> None:
    """Bring the state of the replica back to the source, keep what only the source had, and replicate again.

    Args:
        source: The source.
        base: The replica when it was promoted.
    """
    job = source.job
    here, there = trees.manifest(source.tree), source.there()
    ours = trees.differing(base, here)
    conflicts = [path for path in ours if base.get(path) != there.get(path) and here.get(path) != there.get(path)]
    source.print("conflicts", len(conflicts))
    meter = SyncMeter(source, "failback")
    if job.is_btrfs:
        source.call("snapshot", name="back")
    sync = source.replicator.back()
    code = sync.wait()
    meter.stop()
    if code:
        raise DriverError(f"failback: exit code {code}: {sync.complaint}")
    if isinstance(source.replicator, BtrfsSend):
        source.replicator.finish_back()
    now = trees.manifest(source.tree)
    meter.print(here, now, 0)
    if different := trees.differing(now, there):
        raise DriverError(f"after failback {len(different)} files differ, such as {different[0]}")
    aside = source.ends.here(SET_ASIDE)
    kept = set(trees.manifest(aside).values()) if os.path.isdir(aside) else set()
    lost = [path for path in ours if path in here and here[path] not in kept and here[path] != now.get(path)]
    source.print("files set aside", len(kept))
    if lost:
        raise DriverError(f"failback lost {len(lost)} files that only the source had, such as {lost[0]}")
    source.call("demote")
    trees.change_tree(source.tree, 1, 0, 0, job.file_size, job.seed + 9)
    source.measured("again")
    source.stop()
    source.compare()


SCENARIOS = {
    "initial": initial,
    "update": update,
    "steady": steady,
    "cut": cut,
    "kill": kill,
    "full": full,
    "changing": changing,
    "failover": failover,
}
"""Word of a study -> what is done."""
