"""Control groups: the limits that apply to this process and to the engine it starts.

A limit of a group holds for all groups below it, so each is looked for from the group of the process up to the root.
Sources: Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from assay.launch.environment.reading import Files, Section
from assay.launch.mounts import MOUNTS, read_mounts

NO_LIMIT = 1 << 60
"""Version 1 writes "no limit" as a number of bytes about as large as this or larger."""
THROTTLES = {
    "blkio.throttle.read_bps_device": "rbps",
    "blkio.throttle.write_bps_device": "wbps",
    "blkio.throttle.read_iops_device": "riops",
    "blkio.throttle.write_iops_device": "wiops",
}
"""File of version 1 -> what version 2 calls it in io.max."""


@dataclass(frozen=True)
class Group:
    """The group of this process in the hierarchy of one controller.

    Attributes:
        mount: Where the hierarchy is mounted.
        name: Of the group below there, such as `/system.slice/x`.
    """

    version: int
    mount: str
    name: str

    def folders(self) -> Iterator[tuple[str, str]]:
        """(name, folder) of the group and of all above it, the root last."""
        name = self.name.rstrip("/")
        while name:
            yield name, self.mount + name
            name = name.rpartition("/")[0]
        yield "/", self.mount


def describe_groups(files: Files) -> Section:
    """The limits on memory, CPU and I/O; `no limit` where there is none."""
    groups = find_groups(files)
    if not groups:
        return {"version": "none: no control groups are mounted"}
    memory, cpu, cpuset = groups.get("memory"), groups.get("cpu"), groups.get("cpuset")
    v1 = [name for name, group in groups.items() if group.version == 1]
    versions = sorted({group.version for group in groups.values()})
    return {
        "version": " and ".join(map(str, versions)) + (f" ({', '.join(v1)} in 1)" if len(versions) > 1 else ""),
        "groups": ", ".join(dict.fromkeys(group.name for group in groups.values())),
        "memory": _least(files, memory, ("memory.limit_in_bytes", "memory.max")),
        "memory_high": _least(files, memory, ("", "memory.high")),
        "memory_and_swap": _least(files, memory, ("memory.memsw.limit_in_bytes", "")),
        "swap": _least(files, memory, ("", "memory.swap.max")),
        "cpu_quota": _quota(files, cpu),
        "cpu_weight": _weight(files, cpu, ("cpu.shares", "cpu.weight"), ("1024", "100")),
        "cpus": _nearest(files, cpuset, ("cpuset.effective_cpus", "cpuset.cpus.effective")),
        "memory_nodes": _nearest(files, cpuset, ("cpuset.effective_mems", "cpuset.mems.effective")),
        "io_limits": _throttles(files, groups.get("io")),
        "io_weight": _weight(files, groups.get("io"), ("blkio.bfq.weight", "io.weight"), ("100", "default 100")),
    }


def find_groups(files: Files) -> dict[str, Group]:
    """Controller (memory, cpu, cpuset, io) -> the group of this process, of the version that has that controller."""
    mounts: dict[str, tuple[str, str]] = {}
    unified = ("", "")
    for mount in read_mounts(files.path(MOUNTS)) if files.exists(MOUNTS) else ():
        if mount.filesystem == "cgroup":
            mounts |= dict.fromkeys(mount.options, (mount.root, mount.point))
        elif mount.filesystem == "cgroup2":
            unified = (mount.root, mount.point)
    found: dict[str, Group] = {}
    for line in files.lines("/proc/self/cgroup"):
        if line.count(":") < 2:
            continue
        _, controllers, name = line.split(":", 2)
        for controller in controllers.split(","):
            if controller in mounts:
                group = Group(1, mounts[controller][1], _inside(name, mounts[controller][0]))
                found["io" if controller == "blkio" else controller] = group
        if not controllers and unified[1]:
            group = Group(2, unified[1], _inside(name, unified[0]))
            for controller in files.read(f"{unified[1]}/cgroup.controllers").split():
                found.setdefault(controller, group)
    return {name: found[name] for name in ("memory", "cpu", "cpuset", "io") if name in found}


def _inside(name: str, root: str) -> str:
    """Name of a group as seen from the group that is mounted; in a container that is not the real root."""
    root = root.rstrip("/")
    return name[len(root) :] or "/" if name == root or name.startswith(f"{root}/") else name


def _values(files: Files, group: Group, file: str) -> Iterator[tuple[str, str]]:
    """(name of the group, content) of this file in the group and those above it, where it is and can be read."""
    for name, folder in group.folders():
        if files.exists(f"{folder}/{file}"):
            yield name, files.read(f"{folder}/{file}")


def _file(group: Group, names: tuple[str, str]) -> str:
    return names[group.version - 1]


def _bytes(text: str) -> int | None:
    return int(text) if text.isdigit() and int(text) < NO_LIMIT else None


def _least(files: Files, group: Group | None, names: tuple[str, str]) -> str:
    """The least of the limits of the group and those above it."""
    if group is None:
        return "none: no such controller"
    file = _file(group, names)
    if not file:
        return f"none: not in version {group.version}"
    limits = [(value, name) for name, text in _values(files, group, file) if (value := _bytes(text)) is not None]
    if not limits:
        return "no limit"
    value, name = min(limits)
    return f"{value} bytes ({name})"


def _quota(files: Files, group: Group | None) -> str:
    """CPU time per period, as a number of CPUs."""
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


def _nearest(files: Files, group: Group | None, names: tuple[str, str]) -> str:
    """The value of the group, or of the nearest above it that has one."""
    if group is None:
        return "none: no such controller"
    file = _file(group, names)
    return next((text for _, text in _values(files, group, file)), f"none: no group has {file}")


def _weight(files: Files, group: Group | None, names: tuple[str, str], defaults: tuple[str, str]) -> str:
    """Share among the groups beside it; where no group has a weight all have the default."""
    text = _nearest(files, group, names)
    if group is None or not (text.startswith("none") or text == defaults[group.version - 1]):
        return text
    return "default"


def _throttles(files: Files, group: Group | None) -> str:
    """Limits of block devices, all that hold: `major:minor rbps=... (group)`."""
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
