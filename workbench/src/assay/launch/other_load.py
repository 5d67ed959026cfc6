"""Other load on this machine: which CPUs and disks are busy, and whether the CPUs are slowed down.

It is sampled for a moment in which nothing is measured, so that all load belongs to others.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.units import about_number

SAMPLE_SECONDS = 0.25
"""Seconds between the two samples."""
CPU_SHARE, STOLEN_SHARE, DISK_SHARE = 0.2, 0.03, 0.15
"""Shares of the time from which on a cause is reported."""
FULL_FREQUENCY_SHARE = 0.95
"""CPUs whose frequency limit is below this share of their maximum frequency are reported as limited."""
_CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True)
class LoadCounters:
    """The kernel's counters at one moment.

    Attributes:
        at_s: Seconds of the monotonic clock.
        busy_ticks: Ticks in which CPUs were busy, over all CPUs.
        stolen_ticks: Ticks that the hypervisor took (steal).
        total_ticks: All ticks.
        disks: Device as major:minor -> its name, and milliseconds in which it was busy.
        throttle_count: How often CPUs were slowed down because of their temperature.
    """

    at_s: float
    busy_ticks: int
    stolen_ticks: int
    total_ticks: int
    disks: Mapping[str, tuple[str, int]]
    throttle_count: int = 0


@dataclass(frozen=True)
class LoadCause:
    """Why results may vary, and what to do."""

    text: str
    remedy: str


def read_counters(root: Path = Path("/")) -> LoadCounters:
    """Read the counters now; sources: proc_stat(5), Documentation/admin-guide/iostats.rst."""
    user, nice, system, idle, wait, irq, soft, stolen = (
        int(word) for word in _text(root / "proc/stat").split("\n", 1)[0].split()[1:9] or ("0",) * 8
    )
    busy = user + nice + system + irq + soft
    disks = {}
    for line in _text(root / "proc/diskstats").splitlines():
        words = line.split()
        if len(words) > 12:
            disks[f"{words[0]}:{words[1]}"] = (words[2], int(words[12]))
    counts = (root / _CPUS).glob("cpu[0-9]*/thermal_throttle/core_throttle_count")
    throttled = sum(int(_text(path) or 0) for path in counts)
    return LoadCounters(time.monotonic(), busy, stolen, busy + idle + wait + stolen, disks, throttled)


def load_causes(
    before: LoadCounters, after: LoadCounters, devices: Sequence[str] | None = None, root: Path = Path("/")
) -> list[LoadCause]:
    """Return the other load between two moments that is large enough to change results.

    Args:
        before: The first moment; between the two we ran nothing ourselves.
        after: The second moment.
        devices: The disks that matter, as major:minor; None: all.
        root: `/`, or a folder in its place.
    """
    ticks, cpus, causes_found = max(1, after.total_ticks - before.total_ticks), os.cpu_count() or 1, []
    busy, stolen = (after.busy_ticks - before.busy_ticks) / ticks, (after.stolen_ticks - before.stolen_ticks) / ticks
    if busy >= CPU_SHARE:
        load = _text(root / "proc/loadavg").split(" ", 1)[0]
        of_cpus = f"{cpus} CPU{'s' * (cpus != 1)}"
        text = f"other processes use {cpus * busy:.1f} of {of_cpus} (load {load})"
        causes_found.append(LoadCause(text, "stop what else runs, or measure later"))
    if stolen >= STOLEN_SHARE:
        text = f"the hypervisor takes {100 * stolen:.0f} % of the CPU time (steal)"
        causes_found.append(LoadCause(text, "measure at another time, or on a machine with CPUs of its own"))
    causes_found += _frequency_limits(root)
    if after.throttle_count > before.throttle_count:
        causes_found.append(LoadCause("CPUs are throttled because of their temperature", "let the machine cool down"))
    seconds = max(1e-3, after.at_s - before.at_s)
    for number, (name, spent) in after.disks.items():
        share = (spent - before.disks.get(number, (name, spent))[1]) / 1000 / seconds
        if share >= DISK_SHARE and (devices is None or number in devices):
            text = f"other processes keep {name} busy {100 * min(1.0, share):.0f} % of the time"
            causes_found.append(
                LoadCause(text, f"find the process that uses {name} with `iotop -o`, then wait for it or stop it")
            )
    return causes_found


def load_message(found: Sequence[LoadCause]) -> str:
    """Return all causes with their remedies in one line; empty if there are none."""
    if not found:
        return ""
    remedies = "; ".join(dict.fromkeys(cause.remedy for cause in found))
    return f"this machine is not idle: {', and '.join(cause.text for cause in found)}. Results will vary: {remedies}"


def sample_load(devices: Sequence[str] | None = None) -> list[LoadCause]:
    """Sample the load of this machine for `LOOK_SECONDS`, while we run nothing ourselves."""
    before = read_counters()
    time.sleep(SAMPLE_SECONDS)
    return load_causes(before, read_counters(), devices)


def _frequency_limits(root: Path) -> list[LoadCause]:
    """Return the cause if a frequency limit slows CPUs down (Documentation/admin-guide/pm/cpufreq.rst)."""
    policies = sorted((root / _CPUS).glob("cpufreq/policy*"))
    pairs = [(_text(path / "scaling_max_freq"), _text(path / "cpuinfo_max_freq")) for path in policies]
    known = [(int(now), int(most)) for now, most in pairs if now.isdigit() and most.isdigit()]
    slowest = min((pair for pair in known if pair[1] and pair[0] < FULL_FREQUENCY_SHARE * pair[1]), default=None)
    if slowest is None:
        return []
    now, most = (f"{about_number(khz / 1e6)} GHz" for khz in slowest)
    return [LoadCause(f"CPUs are limited to {now} of {most}", f"`cpupower frequency-set -u {slowest[1]}kHz`")]


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
