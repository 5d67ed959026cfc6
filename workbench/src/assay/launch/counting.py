"""Counts what links, CPUs and disks of hosts do while a run goes on: `assay-engine counters` on each of them."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType

from pydantic import ValidationError

from assay.contract._generated import Counters
from assay.contract.uses import Counted, host_use
from assay.launch.binary import Engine
from assay.launch.install import launcher_for
from assay.launch.launcher import Process
from assay.model.base import AssayError, Say
from assay.model.result.uses import HostUse
from assay.model.site.host import Host

EVERY_MS = 500
_MOST_LINES = 20_000
"""Of a host, the last ones: almost three hours."""
_LEAVE_SECONDS = 2.0


class Counting:
    """The counters of some hosts, as long as it is entered."""

    def __init__(self, hosts: Sequence[Host], engine: Engine, say: Say, links: Mapping[str, float]) -> None:
        """Nothing is started yet.

        Args:
            hosts: Where to count.
            engine: What counts.
            say: Told of a host where that does not succeed.
            links: Host -> bytes per second of its link, where that is stated.
        """
        self._hosts, self._engine, self._say, self._links = hosts, engine, say, links
        self._lines: dict[str, deque[Counted]] = {}
        self._processes: list[Process] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "Counting":
        """Start; a host where that is impossible is left out."""
        for host in self._hosts:
            try:
                process = launcher_for(host, self._engine).start(["counters", "--every-ms", str(EVERY_MS)])
            except AssayError as error:
                self._say(f"warning: {host.name}: its links and disks are not counted: {error.message}")
                continue
            lines: deque[Counted] = deque(maxlen=_MOST_LINES)
            thread = threading.Thread(target=_read, args=(process, lines), daemon=True)
            thread.start()
            self._lines[host.name] = lines
            self._processes.append(process)
            self._threads.append(thread)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        """The processes end when nobody listens any more."""
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

    def between(self, start: float, end: float) -> tuple[HostUse, ...]:
        """What each host did between two moments, in seconds since 1970, as far as that is known."""
        shared = {host.name: host.kind == "box" for host in self._hosts}
        found = []
        for name, lines in self._lines.items():
            speeds = {"eth0": self._links[name]} if name in self._links else {}
            found.append(host_use(name, shared[name], tuple(lines), start, end, speeds))
        return tuple(use for use in found if use is not None)


def _read(process: Process, lines: deque[Counted]) -> None:
    if process.stdout is None:
        return
    buffer = b""
    while part := process.stdout.read(65536):
        *whole, buffer = (buffer + part).split(b"\n")
        for line in whole:
            # Whatever else a host may print is no line of ours.
            with contextlib.suppress(ValidationError):
                lines.append(Counted(time.time(), Counters.model_validate_json(line)))
