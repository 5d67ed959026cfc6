"""Control groups: the limits that apply to this process and to the engine it starts.

A limit of a group applies to all groups below it, so limits are read from the group of the process up to the root.
Sources: Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.launch.environment.reading import Files, Section
from assay.launch.mounts import MOUNTS, read_mounts

NO_LIMIT = 1 << 60
"""Bytes from which on a limit of version 1 means "no limit"."""
THROTTLES = {
    "blkio.throttle.read_bps_device": "rbps",
    "blkio.throttle.write_bps_device": "wbps",
    "blkio.throttle.read_iops_device": "riops",
    "blkio.throttle.write_iops_device": "wiops",
}
"""File of version 1 -> name of the same limit in io.max of version 2."""


@dataclass(frozen=True)
class ControlGroup:
    """The group of this process in the hierarchy of one controller.

    Attributes:
        version: Version of control groups, 1 or 2.
        mount: Mount point of the hierarchy.
        name: Path of the group below the mount point, such as `/system.slice/x`.
    """

    version: int
    mount: str
    name: str

    def folders(self) -> Iterator[tuple[str, str]]:
        """Yield (name, folder) of the group and of all groups above it, the root last."""
        name = self.name.rstrip("/")
        while name:
            yield name, self.mount + name
            name = name.rpartition("/")[0]
        yield "/", self.mount


def describe_groups(files: Files) -> Section:
    """Return the limits of memory, CPU and I/O; `no limit` where there is none."""
    groups = find_groups(files)
    if not groups:
        return {"version": "none: no control groups are mounted"}
    memory, cpu, cpuset = groups.get("memory"), groups.get("cpu"), groups.get("cpuset")
    v1 = [name for name, group in groups.items() if group.version == 1]
    versions = sorted({group.version for group in groups.values()})
    return {
        "version": " and ".join(map(str, versions)) + (f" ({', '.join(v1)} in 1)" if len(versions) > 1 else ""),
        "groups": ", ".join(dict.fromkeys(group.name for group in groups.values())),
        "memory": _lowest_limit(files, memory, ("memory.limit_in_bytes", "memory.max")),
        "memory_high": _lowest_limit(files, memory, ("", "memory.high")),
        "memory_and_swap": _lowest_limit(files, memory, ("memory.memsw.limit_in_bytes", "")),
        "swap": _lowest_limit(files, memory, ("", "memory.swap.max")),
        "cpu_quota": _quota(files, cpu),
        "cpu_weight": _weight(files, cpu, ("cpu.shares", "cpu.weight"), ("1024", "100")),
        "cpus": _nearest(files, cpuset, ("cpuset.effective_cpus", "cpuset.cpus.effective")),
        "memory_nodes": _nearest(files, cpuset, ("cpuset.effective_mems", "cpuset.mems.effective")),
        "io_limits": _throttles(files, groups.get("io")),
        "io_weight": _weight(files, groups.get("io"), ("blkio.bfq.weight", "io.weight"), ("100", "default 100")),
    }


def find_groups(files: Files) -> dict[str, ControlGroup]:
    """Return controller (memory, cpu, cpuset, io) -> group of this process, in the version that has the controller."""
    mounts: dict[str, tuple[str, str]] = {}
    unified = ("", "")
    for mount in read_mounts(files.path(MOUNTS)) if files.exists(MOUNTS) else ():
        if mount.filesystem == "cgroup":
            mounts |= dict.fromkeys(mount.options, (mount.root, mount.point))
        elif mount.filesystem == "cgroup2":
            unified = (mount.root, mount.point)
    found: dict[str, ControlGroup] = {}
    for line in files.lines("/proc/self/cgroup"):
        if line.count(":") < 2:
            continue
        _, controllers, name = line.split(":", 2)
        for controller in controllers.split(","):
            if controller in mounts:
                group = ControlGroup(1, mounts[controller][1], _relative_name(name, mounts[controller][0]))
                found["io" if controller == "blkio" else controller] = group
        if not controllers and unified[1]:
            group = ControlGroup(2, unified[1], _relative_name(name, unified[0]))
            for controller in files.read(f"{unified[1]}/cgroup.controllers").split():
                found.setdefault(controller, group)
    return {name: found[name] for name in ("memory", "cpu", "cpuset", "io") if name in found}


def _relative_name(name: str, root: str) -> str:
    """Return the name of a group relative to the mounted group, which in a container is not the real root."""
    root = root.rstrip("/")
    return name[len(root) :] or "/" if name == root or name.startswith(f"{root}/") else name


def _values(files: Files, group: ControlGroup, file: str) -> Iterator[tuple[str, str]]:
    """Yield (name of the group, content) of a file, for the group and all above it that have the file."""
    for name, folder in group.folders():
        if files.exists(f"{folder}/{file}"):
            yield name, files.read(f"{folder}/{file}")


def _file_name(group: ControlGroup, names: tuple[str, str]) -> str:
    return names[group.version - 1]


def _bytes(text: str) -> int | None:
    return int(text) if text.isdigit() and int(text) < NO_LIMIT else None


def _lowest_limit(files: Files, group: ControlGroup | None, names: tuple[str, str]) -> str:
    """Return the lowest limit of the group and those above it."""
    if group is None:
        return "none: no such controller"
    file = _file_name(group, names)
    if not file:
        return f"none: not in version {group.version}"
    limits = [(value, name) for name, text in _values(files, group, file) if (value := _bytes(text)) is not None]
    if not limits:
        return "no limit"
    value, name = min(limits)
    return f"{value} bytes ({name})"


def _quota(files: Files, group: ControlGroup | None) -> str:
    """Return the lowest limit of CPU time per period, as a number of CPUs."""
    if group is None:
        return "none: no such controller"
    found = []
    for name, folder in group.folders():
        if group.version == 1:
            text = f"{files.read(f'{folder}/cpu.cfs_quota_us')} {files.read(f'{folder}/cpu.cfs_period_us')}"
        else:
            text = files.read(f"{folder}/cpu.max")
        quota, _, period = text.partition(" ")
        if quota.isdigit() and period.isdigit():
            found.append((int(quota) / int(period), f"{quota} of every {period} us", name))
    if not found:
        return "no limit"
    cpus, text, where = min(found)
    return f"{cpus:g} CPUs, {text} ({where})"


def _nearest(files: Files, group: ControlGroup | None, names: tuple[str, str]) -> str:
    """Return the value of the group, or of the nearest group above it that has one."""
    if group is None:
        return "none: no such controller"
    file = _file_name(group, names)
    return next((text for _, text in _values(files, group, file)), f"none: no group has {file}")


def _weight(files: Files, group: ControlGroup | None, names: tuple[str, str], defaults: tuple[str, str]) -> str:
    """Return the weight among sibling groups; `default` if it is the default or no group has one."""
    text = _nearest(files, group, names)
    if group is None or not (text.startswith("none") or text == defaults[group.version - 1]):
        return text
    return "default"


def _throttles(files: Files, group: ControlGroup | None) -> str:
    """Return all limits of block devices: `major:minor rbps=... (group)`."""
    if group is None:
        return "none: no such controller"
    found = []
    if group.version == 2:
        for name, folder in group.folders():
            for line in files.lines(f"{folder}/io.max"):
                device, *limits = line.split()
                limited = [limit for limit in limits if not limit.endswith("=max")]
                if limited:
                    found.append(f"{device} {' '.join(limited)} ({name})")
    else:
        for file, short in THROTTLES.items():
            for name, folder in group.folders():
                pairs = (line.split() for line in files.lines(f"{folder}/{file}"))
                found += [f"{device} {short}={limit} ({name})" for device, limit in pairs]
    return "; ".join(found) or "no limit"
