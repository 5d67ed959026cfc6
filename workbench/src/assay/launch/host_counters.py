"""Records the use of links, CPUs and disks of hosts during a run, by `assay-engine counters` on each host."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import TracebackType
from typing import IO, Literal, NamedTuple

from pydantic import ValidationError

from assay.contract._generated import Counters
from assay.launch.binary import Engine
from assay.launch.install import launcher_for
from assay.launch.launcher import Process
from assay.launch.mounts import unescaped
from assay.model.base import AssayError, PrintLine, warning
from assay.model.result.host_use import LOOPBACK, DiskUse, HostUse, HostUsePoint, LinkUse, MountUse
from assay.model.site.host import Host

MAX_POINTS = 40
_MIN_RATE = 1000.0
"""Bytes per second below which a link without drops is left out."""
_MIN_BUSY = 0.005
EVERY_MS = 500
COMMAND_EVERY_MS = 50
"""For runs with commands, whose bytes are summed up from these counts."""
_MAX_LINES = 20_000
"""Lines kept of each host, the last ones: almost three hours, or a quarter of an hour of a command."""
_LEAVE_SECONDS = 2.0


class CountersLine(NamedTuple):
    """A line of counters, and when it arrived.

    Attributes:
        at: Seconds since 1970, by the clock of this machine.
    """

    at: float
    counters: Counters


class CounterRecorder:
    """Records the counters of some hosts, between entry and exit."""

    def __init__(
        self,
        hosts: Sequence[Host],
        engine: Engine,
        print_line: PrintLine,
        links: Mapping[str, float],
        of_commands: bool = False,
    ) -> None:
        """Start nothing yet.

        Args:
            hosts: The hosts to record.
            engine: The engine that reads the counters.
            print_line: Called with a warning for each host where that fails.
            links: Host -> bytes per second of its link, where it is stated.
            of_commands: Count more often, and from the last count before a phase to the first one after it: a program
                may be short.
        """
        self._of_commands = of_commands
        self._hosts, self._engine, self._say, self._links = hosts, engine, print_line, links
        self._lines: dict[str, deque[CountersLine]] = {}
        self._processes: list[Process] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "CounterRecorder":
        """Start on all hosts; a host where that fails is left out."""
        every_ms = COMMAND_EVERY_MS if self._of_commands else EVERY_MS
        for host in self._hosts:
            try:
                process = launcher_for(host, self._engine).start(["counters", "--every-ms", str(every_ms)])
            except AssayError as error:
                self._say(warning(f"{host.name}: its links and disks are not counted: {error.message}"))
                continue
            lines: deque[CountersLine] = deque(maxlen=_MAX_LINES)
            thread = threading.Thread(target=_read, args=(process, lines), daemon=True)
            thread.start()
            self._lines[host.name] = lines
            self._processes.append(process)
            self._threads.append(thread)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        """End the processes, by closing their standard input, and the threads that read them."""
        for process in self._processes:
            with contextlib.suppress(OSError):
                if process.stdin is not None:
                    process.stdin.close()
        end = time.monotonic() + _LEAVE_SECONDS
        for process in self._processes:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except Exception:
                process.kill()
                process.wait()
        for thread in self._threads:
            thread.join(_LEAVE_SECONDS)
        for process in self._processes:
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def between(self, start: float, end: float) -> tuple[HostUse, ...]:
        """Return the use of each host between two moments, in seconds since 1970, without hosts of unknown use."""
        shared = {host.name: host.kind == "box" for host in self._hosts}
        found = []
        for name, lines in self._lines.items():
            speeds = {"eth0": self._links[name]} if name in self._links else {}
            found.append(host_use(name, shared[name], tuple(lines), start, end, speeds, self._of_commands))
        return tuple(use for use in found if use is not None)


def _available(pipe: IO[bytes]) -> bytes:
    """Return what has arrived; empty when the process has ended."""
    with contextlib.suppress(OSError, ValueError):
        return pipe.read(65536)
    return b""


def _read(process: Process, lines: deque[CountersLine]) -> None:
    if process.stdout is None:
        return
    buffer = b""
    while part := _available(process.stdout):
        *whole, buffer = (buffer + part).split(b"\n")
        for line in whole:
            # Other output of a host is ignored.
            with contextlib.suppress(ValidationError):
                lines.append(CountersLine(time.time(), Counters.model_validate_json(line)))


def host_use(
    host: str,
    shared: bool,
    lines: Sequence[CountersLine],
    start: float,
    end: float,
    speeds: Mapping[str, float],
    around: bool = False,
) -> HostUse | None:
    """Return the use of a host between two moments; None with fewer than two lines.

    Args:
        host: Name of the host.
        shared: It shares CPUs and disks with other hosts.
        lines: Its counters in the order of arrival.
        start: Seconds since 1970.
        end: Seconds since 1970.
        speeds: Link -> bytes per second, which override what the host reports.
        around: Also take the last line before the first moment and the first one after the last.
    """
    inside = [line for line in lines if start <= line.at <= end]
    if around:
        before = [line for line in lines if line.at < start][-1:]
        after = next(((line,) for line in lines if line.at > end), ())
        inside = [*before, *inside, *after]
    if len(inside) < 2:
        return None
    first, last = inside[0].counters, inside[-1].counters
    seconds = (last.at_ns - first.at_ns) / 1e9
    if seconds <= 0:
        return None
    pairs = [(a.counters, b.counters) for a, b in pairwise(inside)]
    cpu_shares = [_cpu(a, b) for a, b in pairs]
    shares = [share for share in cpu_shares if share is not None]
    return HostUse(
        host=host,
        shared=shared,
        seconds=seconds,
        cpu=_cpu(first, last),
        cpu_peak=max(shares, default=None),
        cpus=last.cpus,
        links=tuple(_links(first, last, pairs, speeds, shared)),
        disks=tuple(_disks(first, last, pairs)),
        mounts=tuple(_mounts(first, last)),
        io_some=_io_share(first, last, "some_ns"),
        io_full=_io_share(first, last, "full_ns"),
        segments=_increase(first.segments, last.segments),
        segments_again=_increase(first.segments_again, last.segments_again),
        softnet_drops=_increase(first.softnet_drops, last.softnet_drops),
        course=_points(inside, start),
    )


def _increase(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)


def _cpu(a: Counters, b: Counters) -> float | None:
    if a.cpu is None or b.cpu is None:
        return None
    busy = b.cpu.busy_ns - a.cpu.busy_ns
    whole = busy + b.cpu.idle_ns - a.cpu.idle_ns + b.cpu.stolen_ns - a.cpu.stolen_ns
    return min(1.0, max(0.0, busy / whole)) if whole > 0 else None


def _per_s(a: Counters, b: Counters, more: int) -> float:
    took = (b.at_ns - a.at_ns) / 1e9
    return max(0, more) / took if took > 0 else 0.0


def _link_rates(a: Counters, b: Counters, name: str) -> tuple[float, float]:
    """Return bytes per second received and sent by a link."""
    if name not in a.links or name not in b.links:
        return 0.0, 0.0
    before, after = a.links[name], b.links[name]
    received = _per_s(a, b, after.received_bytes - before.received_bytes)
    return received, _per_s(a, b, after.sent_bytes - before.sent_bytes)


def _links(
    first: Counters,
    last: Counters,
    pairs: Sequence[tuple[Counters, Counters]],
    speeds: Mapping[str, float],
    shared: bool,
) -> list[LinkUse]:
    found = []
    for name in sorted(first.links.keys() & last.links.keys()):
        old, new = first.links[name], last.links[name]
        drops = new.receive_drops - old.receive_drops + new.send_drops - old.send_drops
        received, sent = _link_rates(first, last, name)
        if max(received, sent) < _MIN_RATE and drops <= 0:
            continue
        rates = [_link_rates(a, b, name) for a, b in pairs]
        # A virtual interface of a namespace reports a made-up speed.
        own = new.speed / 8 if new.speed and not shared else None
        found.append(
            LinkUse(
                name=name,
                received=received,
                sent=sent,
                received_peak=max(rate for rate, _ in rates),
                sent_peak=max(rate for _, rate in rates),
                drops=max(0, drops),
                speed=speeds.get(name, own),
            )
        )
    return found


def _mounts(first: Counters, last: Counters) -> list[MountUse]:
    found = []
    for name in sorted(first.mounts.keys() & last.mounts.keys()):
        old, new = first.mounts[name], last.mounts[name]
        read = _per_s(first, last, new.read_bytes - old.read_bytes)
        written = _per_s(first, last, new.write_bytes - old.write_bytes)
        if read or written:
            found.append(MountUse(name=unescaped(name), read=read, written=written))
    return found


def _io_share(first: Counters, last: Counters, field: Literal["some_ns", "full_ns"]) -> float | None:
    """Return the share of the time in which threads waited for I/O; None if the kernel does not count it."""
    if first.io_pressure is None or last.io_pressure is None:
        return None
    waited = getattr(last.io_pressure, field) - getattr(first.io_pressure, field)
    return min(1.0, _per_s(first, last, waited) / 1e9)


def _busy(a: Counters, b: Counters, name: str) -> float:
    if name not in a.disks or name not in b.disks:
        return 0.0
    return min(1.0, _per_s(a, b, b.disks[name].busy_ns - a.disks[name].busy_ns) / 1e9)


def _disks(first: Counters, last: Counters, pairs: Sequence[tuple[Counters, Counters]]) -> list[DiskUse]:
    found = []
    for name in sorted(first.disks.keys() & last.disks.keys()):
        old, new, busy = first.disks[name], last.disks[name], _busy(first, last, name)
        if busy < _MIN_BUSY:
            continue
        waited = new.read_ns - old.read_ns + new.write_ns - old.write_ns
        found.append(
            DiskUse(
                name=name,
                busy=busy,
                busy_peak=max(_busy(a, b, name) for a, b in pairs),
                read=_per_s(first, last, new.read_bytes - old.read_bytes),
                written=_per_s(first, last, new.write_bytes - old.write_bytes),
                queue=_per_s(first, last, waited) / 1e9,
            )
        )
    return found


def _points(lines: Sequence[CountersLine], start: float) -> tuple[HostUsePoint, ...]:
    """Return the use over time: at most about `MAX_POINTS` points, each over the same number of lines."""
    step = max(1, -(-(len(lines) - 1) // MAX_POINTS))
    chosen = [*lines[::step], *(lines[-1:] if (len(lines) - 1) % step else [])]
    points = []
    for before, after in pairwise(chosen):
        a, b = before.counters, after.counters
        rates = [_link_rates(a, b, name) for name in a.links.keys() & b.links.keys() if name != LOOPBACK]
        points.append(
            HostUsePoint(
                at=(before.at + after.at) / 2 - start,
                cpu=_cpu(a, b),
                received=sum(rate for rate, _ in rates),
                sent=sum(rate for _, rate in rates),
                disk=max((_busy(a, b, name) for name in a.disks), default=0.0),
            )
        )
    return tuple(points)
