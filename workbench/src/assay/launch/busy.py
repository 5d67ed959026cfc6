"""What else this machine does just now: who else uses its CPUs and its disks, and whether the CPUs are held back.

It is looked at for a moment in which nothing is measured, so that all that is seen is the work of others.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.model.units import about_number

LOOK_SECONDS = 0.25
"""How long it is looked at."""
CPU_SHARE, STOLEN_SHARE, DISK_SHARE = 0.2, 0.03, 0.15
"""From these shares of the time on, it is worth a word."""
HELD_BACK = 0.95
"""CPUs that may run at no more than this share of their greatest frequency are held back."""
_CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True)
class Moment:
    """What the kernel has counted up to a moment.

    Attributes:
        at: Seconds.
        busy: Ticks of all CPUs that were spent on something.
        stolen: Ticks that the hypervisor had.
        ticks: All of them.
        disks: Device as major:minor -> its name, and milliseconds in which it had something to do.
        throttled: How often CPUs were slowed down for their temperature.
    """

    at: float
    busy: int
    stolen: int
    ticks: int
    disks: Mapping[str, tuple[str, int]]
    throttled: int = 0


@dataclass(frozen=True)
class Cause:
    """Why results may vary, and what to do."""

    text: str
    remedy: str


def moment(root: Path = Path("/")) -> Moment:
    """What is counted now; proc_stat(5), Documentation/admin-guide/iostats.rst."""
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
    return Moment(time.monotonic(), busy, stolen, busy + idle + wait + stolen, disks, throttled)


def causes(before: Moment, after: Moment, devices: Sequence[str] | None = None, root: Path = Path("/")) -> list[Cause]:
    """What others did between two moments, if that is enough to move results.

    Args:
        before: In which nothing of our own went on until `after`.
        after: Later.
        devices: Those that matter, as major:minor; None: all.
        root: `/`, or a folder that stands for it.
    """
    ticks, cpus, found = max(1, after.ticks - before.ticks), os.cpu_count() or 1, []
    busy, stolen = (after.busy - before.busy) / ticks, (after.stolen - before.stolen) / ticks
    if busy >= CPU_SHARE:
        load = _text(root / "proc/loadavg").split(" ", 1)[0]
        on = f"{cpus} CPU{'s' * (cpus != 1)}"
        text = f"other processes use {cpus * busy:.1f} of {on} (load {load})"
        found.append(Cause(text, "stop what else runs, or measure later"))
    if stolen >= STOLEN_SHARE:
        text = f"the hypervisor takes {100 * stolen:.0f} % of the CPU time (steal)"
        found.append(Cause(text, "measure at another time, or on a machine with CPUs of its own"))
    found += _held_back(root)
    if after.throttled > before.throttled:
        found.append(Cause("CPUs are slowed down for their temperature", "let the machine cool down"))
    seconds = max(1e-3, after.at - before.at)
    for number, (name, spent) in after.disks.items():
        share = (spent - before.disks.get(number, (name, spent))[1]) / 1000 / seconds
        if share >= DISK_SHARE and (devices is None or number in devices):
            text = f"others keep {name} busy {100 * min(1.0, share):.0f} % of the time"
            found.append(Cause(text, f"find who uses {name}: `iotop -o`, and wait or stop it"))
    return found


def busy_line(found: Sequence[Cause]) -> str:
    """All of it in one line, with what to do; empty without any."""
    if not found:
        return ""
    remedies = "; ".join(dict.fromkeys(cause.remedy for cause in found))
    return f"this machine is not idle: {', and '.join(cause.text for cause in found)}. Results will vary: {remedies}"


def look_around(devices: Sequence[str] | None = None) -> list[Cause]:
    """What others do on this machine while nothing of our own goes on."""
    before = moment()
    time.sleep(LOOK_SECONDS)
    return causes(before, moment(), devices)


def _held_back(root: Path) -> list[Cause]:
    """CPUs that may not run as fast as they can (Documentation/admin-guide/pm/cpufreq.rst)."""
    policies = sorted((root / _CPUS).glob("cpufreq/policy*"))
    pairs = [(_text(path / "scaling_max_freq"), _text(path / "cpuinfo_max_freq")) for path in policies]
    known = [(int(now), int(most)) for now, most in pairs if now.isdigit() and most.isdigit()]
    slow = min((pair for pair in known if pair[1] and pair[0] < HELD_BACK * pair[1]), default=None)
    if slow is None:
        return []
    now, most = (f"{about_number(khz / 1e6)} GHz" for khz in slow)
    return [Cause(f"CPUs may run at {now} only, of {most}", f"`cpupower frequency-set -u {slow[1]}kHz`")]


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
