"""What a result depends on besides the study: the machine, its kernel and its storage.

Everything is text; a thing that could not be found out says why instead.
"""

import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

Section = dict[str, str]
MOUNTS = Path("/proc/self/mountinfo")
SECRET = re.compile(
    r"""(\S*(?:key|token|passw|passphrase|pwd|secret|credential)[^\s=]*)=("[^"]*"|\S*)""", re.IGNORECASE
)
"""A kernel parameter whose name looks like a credential's: name and value."""
USER_IN_URL = re.compile(r"://[^/\s@]+@")


def capture_environment(targets: Mapping[str, tuple[str, str]]) -> dict[str, Section]:
    """Look at this machine.

    Args:
        targets: Name -> (kind, path) of each target.

    Returns:
        Section -> name -> value: `host`, `kernel`, `cpu`, `memory`, and `target NAME` for each one.
    """
    found = {"host": _host(), "kernel": _kernel(), "cpu": _cpu(), "memory": _memory()}
    for name, (kind, path) in targets.items():
        if kind != "null":
            found[f"target {name}"] = _target(kind, path)
    return found


def _read(path: str) -> str:
    try:
        return " ".join(Path(path).read_text(encoding="utf-8", errors="replace").split())
    except OSError as error:
        return f"unknown: {path}: {error.strerror}"


def _attempt(find: Callable[[], str]) -> str:
    try:
        return find()
    except (OSError, ValueError, LookupError) as error:
        return f"unknown: {error}"


def _chosen(text: str) -> str:
    """The value in brackets of a sysfs file such as `always [madvise] never`."""
    return text.split("[")[1].split("]")[0] if "[" in text and "]" in text else text


def _host() -> Section:
    return {
        "name": platform.node(),
        "system": _attempt(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "python": sys.version.split()[0],
        "user": "root" if os.geteuid() == 0 else f"uid {os.geteuid()}",
        "product": _read("/sys/class/dmi/id/product_name"),
    }


def _kernel() -> Section:
    return {
        "release": platform.release(),
        "version": platform.version(),
        "architecture": platform.machine(),
        "command_line": without_secrets(_read("/proc/cmdline")),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "transparent_huge_pages": _chosen(_read("/sys/kernel/mm/transparent_hugepage/enabled")),
        "io_uring_disabled": _read("/proc/sys/kernel/io_uring_disabled"),
        "dirty_ratio": _read("/proc/sys/vm/dirty_ratio"),
        "dirty_background_ratio": _read("/proc/sys/vm/dirty_background_ratio"),
    }


def without_secrets(command_line: str) -> str:
    """A kernel command line without the values of parameters that look like credentials, which are never stored."""
    return USER_IN_URL.sub("://...@", SECRET.sub(r"\1=(not kept)", command_line))


def _cpu() -> Section:
    return {
        "model": _attempt(_cpu_model),
        "online": str(os.cpu_count()),
        "usable": str(len(os.sched_getaffinity(0))),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_before": _attempt(lambda: " ".join(f"{load:.2f}" for load in os.getloadavg())),
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "Model", "cpu model")):
            return line.partition(":")[2].strip()
    raise LookupError("/proc/cpuinfo names no model")


def _memory() -> Section:
    wanted = {"MemTotal": "total", "MemAvailable": "available", "SwapTotal": "swap"}
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError as error:
        return {"total": f"unknown: /proc/meminfo: {error.strerror}"}
    pairs = (line.split(":", 1) for line in lines)
    return {wanted[name]: value.strip().replace("kB", "KiB") for name, value in pairs if name in wanted}


def _target(kind: str, path: str) -> Section:
    section = {"path": path}
    number = _attempt(lambda: _device_number(kind, path))
    if kind == "file":
        section |= _mount(path)
    return section | describe_device(number)


def _device_number(kind: str, path: str) -> str:
    if kind == "device":
        device = Path(path).stat().st_rdev
        return f"{os.major(device)}:{os.minor(device)}"
    return mount_of(path)["number"]


def _mount(path: str) -> Section:
    try:
        mount = mount_of(path)
    except (OSError, LookupError) as error:
        return {"mount": f"unknown: {error}"}
    return {name: mount[name] for name in ("filesystem", "source", "mount_point", "options")}


def mount_of(path: str) -> Section:
    """The mount that a path lies on, from /proc/self/mountinfo (proc_pid_mountinfo(5)).

    Args:
        path: A path; if it does not exist, its nearest ancestor counts.

    Returns:
        number (major:minor), mount_point, filesystem, source, options.

    Raises:
        OSError: /proc is not there.
        LookupError: No mount fits.
    """
    real = os.path.realpath(path)
    best: Section = {}
    for line in MOUNTS.read_text().splitlines():
        fields = line.split()
        point = fields[4].encode().decode("unicode_escape")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        # Of two mounts at the same place the later one hides the earlier one.
        if inside and len(point) >= len(best.get("mount_point", "")):
            dash = fields.index("-")
            options = ",".join(dict.fromkeys(f"{fields[5]},{fields[dash + 3]}".split(",")))
            best = {
                "number": fields[2],
                "mount_point": point,
                "filesystem": fields[dash + 1],
                "source": fields[dash + 2],
                "options": options,
            }
    if not best:
        raise LookupError(f"{path}: no mount found")
    return best


def describe_device(number: str) -> Section:
    """Block device of this major:minor, as sysfs tells; says so if there is none."""
    folder = Path("/sys/dev/block") / number
    if not folder.exists():
        return {"device": "none: not on a block device of this machine"}
    folder = folder.resolve()
    disk = folder.parent if (folder / "partition").exists() else folder
    return {
        "device": f"/dev/{folder.name}",
        "model": _read(f"{disk}/device/model") if (disk / "device" / "model").exists() else "unknown: not told",
        "bytes": _attempt(lambda: str(int((folder / "size").read_text()) * 512)),
        "scheduler": _chosen(_read(f"{disk}/queue/scheduler")),
        "read_ahead_kib": _read(f"{disk}/queue/read_ahead_kb"),
        "rotational": {"0": "no", "1": "yes"}.get(rotational := _read(f"{disk}/queue/rotational"), rotational),
        "write_cache": _read(f"{disk}/queue/write_cache"),
        "requests": _read(f"{disk}/queue/nr_requests"),
    }


def device_below(path: str) -> str | None:
    """Block device that a directory's file system lies on, such as /dev/vda; None if there is none."""
    try:
        number = mount_of(path)["number"]
    except (OSError, LookupError):
        return None
    folder = Path("/sys/dev/block") / number
    return f"/dev/{folder.resolve().name}" if folder.exists() else None
