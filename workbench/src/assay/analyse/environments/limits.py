"""Reads the limits that control groups set on the engine: its CPU time and the rates of devices below its targets.

They are in the environment of a run, in the section `control groups` and, if they changed by the end of the run,
`control groups (end)`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace
from assay.model.study.names import READS, WRITES
from assay.model.units import about_count, about_number, about_size

GROUPS, AT_END = "control groups", "control groups (end)"
"""Sections of the environment: at the beginning of the run, and at its end if they differ."""
LIMITS = ("cpu_quota", "io_limits")
"""Items of these sections that limit rates."""

Environment = Mapping[str, Mapping[str, str]]

_QUOTA = re.compile(r"(?P<cpus>[\d.]+) CPUs")
_MEMORY = re.compile(r"(?P<bytes>\d+) bytes")
_DEVICE = re.compile(r"(?P<number>\d+:\d+) (?P<limits>(?:[rw](?:bps|iops)=\d+ ?)+)\(")
REACHED_SHARE = 0.8
"""A result at this share of a limit or above may be held back by the limit."""


class DeviceLimit(NamedTuple):
    """The rate limit of a control group for a device.

    Attributes:
        device: Device below a target, such as /dev/vda.
        reads: The limit is for reads; else for writes.
        counted: The rate is in requests per second; else in bytes per second.
        rate: The limit.
    """

    device: str
    reads: bool
    counted: bool
    rate: float

    @property
    def words(self) -> str:
        """The limit as text: `reads of 25 MB/s`, `writes of 800 a second`."""
        rate = f"{about_count(self.rate)} a second" if self.counted else f"{about_size(self.rate)}/s"
        return f"{'reads' if self.reads else 'writes'} of {rate}"

    def concerns(self, row: ResultRow, places: Sequence[TargetPlace]) -> bool:
        """Whether a result does what is limited, reads or writes, on a target that lies on the device."""
        below = {layer.name for place in places if place.target == row.case.target for layer in place.layers}
        return self.device in below and row.operation in (READS if self.reads else WRITES)


class GroupLimits(NamedTuple):
    """The limits at one time.

    Attributes:
        cpus: CPUs' worth of time that the engine may use; None if not below the CPUs of the machine.
        devices: Limits of devices below targets.
    """

    cpus: float | None
    devices: tuple[DeviceLimit, ...]

    @property
    def words(self) -> str:
        """All limits as text; empty if there are none."""
        parts = [] if self.cpus is None else [f"the engine to {about_number(self.cpus)} CPUs"]
        for device in dict.fromkeys(limit.device for limit in self.devices):
            limits = ", ".join(limit.words for limit in self.devices if limit.device == device)
            parts.append(f"{device} to {limits}")
        return " and ".join(parts)


def group_limits(environment: Environment, places: Sequence[TargetPlace], section: str = GROUPS) -> GroupLimits:
    """Return the limits of control groups on what a run uses.

    Args:
        environment: Environment of the run.
        places: Places of its targets; limits of devices below none of them are left out.
        section: `GROUPS` or `AT_END`.
    """
    found = environment.get(section, {})
    quota = _QUOTA.match(found.get("cpu_quota", ""))
    threads = environment.get("cpu", {}).get("threads", "")
    cpus = float(quota["cpus"]) if quota else None
    if cpus is not None and threads.isdigit() and cpus >= int(threads):
        cpus = None
    names = {layer.number: layer.name for place in places for layer in place.layers if layer.number}
    return GroupLimits(cpus, tuple(_limits(found.get("io_limits", ""), names)))


def _limits(text: str, names: Mapping[str, str]) -> Iterator[DeviceLimit]:
    """Yield the limits of devices that have a name."""
    for item in _DEVICE.finditer(text):
        for limit in item["limits"].split() if item["number"] in names else ():
            kind, _, value = limit.partition("=")
            yield DeviceLimit(names[item["number"]], kind[0] == "r", kind[1:] == "iops", float(value))


def near_limits(found: GroupLimits, places: Sequence[TargetPlace], rows: Iterable[ResultRow]) -> GroupLimits:
    """Return the limits that a result comes close to, so that they may hold it back.

    A quota of CPU time always counts as reached: even results that do not use it up may wait for it, since it is
    granted in periods of 100 ms (Linux, Documentation/scheduler/sched-bwc.rst).

    Args:
        found: The limits.
        places: Places of the targets.
        rows: All rows of the run.
    """
    measured = [row for row in rows if row.rate is not None]

    def near(limit: DeviceLimit) -> bool:
        rates = (row.iops if limit.counted else row.throughput for row in measured if limit.concerns(row, places))
        return any(rate is not None and rate.median >= REACHED_SHARE * limit.rate for rate in rates)

    return found._replace(devices=tuple(limit for limit in found.devices if near(limit)))


def memory_limit(environment: Environment) -> int | None:
    """Return the bytes of memory that the engine may use, page cache included; None without a limit."""
    found = _MEMORY.match(environment.get(GROUPS, {}).get("memory", ""))
    return int(found["bytes"]) if found else None


def limits_changed(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a limit on rates changed between two captures of a section."""
    return any(before.get(name) != now.get(name) for name in LIMITS)
