"""Checks the file system of each target: whether the test data fits, and whether it is the intended file system."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as OsPath
from pathlib import PurePosixPath
from typing import NamedTuple

from assay.contract._answers import BackendCapabilities, CacheAction, PlaceCapabilities, Space
from assay.kinds.handler import Inspection
from assay.launch.mounts import Mount, read_mounts, unescaped
from assay.model.study.study import Study
from assay.model.units import about_size

RESERVE_PARTS = 20
"""One part in so many of a file system is left free ..."""
MAX_RESERVE_BYTES = 2 << 30
"""... but at most this many bytes: full file systems are slow, and other programs fail on them."""
MEMORY_INFO = OsPath("/proc/meminfo")
FSTAB = OsPath("/etc/fstab")
MOUNT_FOLDERS = ("/mnt", "/media", "/run/media", "/net", "/nfs")
"""Folders for mount points (hier(7), FHS 3.0: /mnt and /media)."""
IN_MEMORY = ("tmpfs", "ramfs")
BY_SECTORS = ("ext2", "ext3", "ext4", "xfs")
"""File systems whose direct I/O must be in whole sectors of the device (open(2), O_DIRECT); others have other rules."""

Problem = tuple[str, str]


class MountInfo(NamedTuple):
    """The file system of a directory that exists or will be made.

    Attributes:
        path: The directory, without symbolic links.
        mount: The mount that contains it; None if unknown.
        space: Space of the file system; None if unknown, or if it has no size of its own.
    """

    path: str
    mount: Mount | None
    space: Space | None

    @property
    def words(self) -> str:
        """In words, such as `ext4 on /dev/vda, mounted at /, 72.1 GB free`."""
        where = "an unknown file system"
        if self.mount is not None:
            source = f" on {self.mount.source}" if self.mount.source not in ("none", self.mount.filesystem) else ""
            where = f"{self.mount.filesystem}{source}, mounted at {self.mount.point}"
        return where + (f", {about_size(self.space.free_bytes)} free" if self.space is not None else "")

    @property
    def in_memory(self) -> bool:
        """Whether its files are in memory of the host."""
        return self.mount is not None and self.mount.filesystem in IN_MEMORY


def mount_info(path: str, space: Space | None, mounts: Sequence[Mount] | None = None) -> MountInfo:
    """Return the file system of a directory, by its path alone: storage that hangs is not touched.

    Args:
        path: The directory, absolute and without symbolic links.
        space: Space of its file system, as the engine reported it.
        mounts: All mounts; those of this machine if None.
    """
    if mounts is None:
        try:
            mounts = read_mounts()
        except OSError:
            mounts = ()
    above = [mount for mount in mounts if _within(path, mount.point)]
    # Of several mounts on one point the last one hides the others.
    found = max(enumerate(above), key=lambda pair: (len(pair[1].point), pair[0]), default=(0, None))[1]
    return MountInfo(path, found, space)


def _within(path: str, folder: str) -> bool:
    return folder == "/" or path == folder or path.startswith(f"{folder}/")


def reserve(size: int) -> int:
    """Return the bytes of a file system of this size that are left free."""
    return min(size // RESERVE_PARTS, MAX_RESERVE_BYTES)


def space_problems(needs: Mapping[str, int], places: Mapping[str, MountInfo], adds_up: bool) -> dict[str, Problem]:
    """Return target -> why its test data does not fit.

    Args:
        needs: Target -> most bytes of test data at any time.
        places: Target -> its file system.
        adds_up: Data is kept, so the needs of all targets of a file system add up; else only one has data at a time.
    """
    groups: dict[object, list[str]] = {}
    for name, place in places.items():
        if (place.space is not None or place.in_memory) and needs.get(name):
            groups.setdefault(place.mount.number if place.mount is not None else name, []).append(name)
    found: dict[str, Problem] = {}
    for names in groups.values():
        every = [needs[name] for name in names]
        need = sum(every) if adds_up else max(every)
        worst = max(names, key=lambda name: needs[name])
        problem = _space_problem(need, places[worst])
        if problem is not None:
            found[worst] = problem
    return found


def _space_problem(need: int, place: MountInfo) -> Problem | None:
    reserved, free, what = 0, None, f"of {place.words}"
    if place.space is not None:
        reserved, free = reserve(place.space.size_bytes), place.space.free_bytes
    memory = _available_memory() if place.in_memory else None
    if memory is not None and (free is None or memory < free):
        free, what = memory, f"of {place.words}; but only {about_size(memory)} of this machine's memory are available"
    if free is None or need <= free - reserved:
        return None
    usable = f"{about_size(max(0, free - reserved))} can be used" if free > reserved else "nothing can be used"
    message = f"{about_size(need)} of test data at once do not fit: {usable} {what}"
    reason = f" (Assay leaves {about_size(reserved)} free)" if reserved else ""
    return (
        f"{message}{reason}",
        "free some space there, use less data (file_size, lanes, hosts), or name another directory",
    )


def _available_memory() -> int | None:
    """Return the bytes of memory that programs can still get (proc_meminfo(5), MemAvailable); None if unknown."""
    try:
        lines = MEMORY_INFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    numbers = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(numbers[0]) * 1024 if numbers and numbers[0].isdigit() else None


def root_mount_problem(place: MountInfo, fstab: Iterable[str] | None = None) -> Problem | None:
    """Return the problem that a directory is below a mount point but on the root file system; None if it is not.

    Args:
        place: The file system of the directory.
        fstab: Lines of /etc/fstab; those of this machine if None.
    """
    if place.mount is None or place.mount.point != "/":
        return None
    points = [point for point in _points(fstab) if point != "/" and _within(place.path, point)]
    parents = [folder for folder in MOUNT_FOLDERS if _within(place.path, folder) and place.path != folder]
    if not points and not parents:
        return None
    looks = f"{points[0]} is a mount point of {FSTAB}" if points else f"paths in {parents[0]} are meant for mounts"
    message = f"{place.path} is on the root file system ({place.mount.filesystem} on {place.mount.source}), but {looks}"
    return (
        f"{message}: nothing is mounted there",
        "mount it; or write on_root: true in the target, or use --yes-on-root",
    )


def _points(fstab: Iterable[str] | None) -> list[str]:
    """Return the mount points of /etc/fstab (fstab(5)), the longest first."""
    if fstab is None:
        try:
            fstab = FSTAB.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            fstab = ()
    fields = [line.split() for line in fstab if not line.lstrip().startswith("#")]
    points = [unescaped(found[1]) for found in fields if len(found) > 1 and found[1].startswith("/")]
    return sorted((str(PurePosixPath(point)) for point in points), key=len, reverse=True)


def known_capabilities(general: BackendCapabilities, place: MountInfo) -> BackendCapabilities:
    """Return the capabilities in a directory that are known from its file system, without touching it.

    Args:
        general: What the engine can do in any directory.
        place: The file system of the directory.
    """
    if place.mount is None:
        return general
    filesystem = place.mount.filesystem
    known = PlaceCapabilities(path=place.path, filesystem=filesystem, limits=[])
    changes: dict[str, object] = {"place": known}
    if filesystem in IN_MEMORY:
        changes |= {"direct_bypasses_cache": False, "cache": [CacheAction.keep]}
    if filesystem in BY_SECTORS:
        changes["direct_alignment_bytes"] = sector_bytes(place.mount.number) or general.direct_alignment_bytes
    return general.model_copy(update=changes)


def sector_bytes(number: str, blocks: OsPath = OsPath("/sys/dev/block")) -> int | None:
    """Return the bytes of a logical sector of a block device; None if unknown.

    Args:
        number: The device as major:minor.
        blocks: Folder of the block devices in sysfs.
    """
    folder = blocks / number
    for queue in (folder / "queue", folder.resolve().parent / "queue"):
        try:
            return int((queue / "logical_block_size").read_text())
        except (OSError, ValueError):
            continue
    return None


@dataclass(frozen=True)
class SpaceRequirement:
    """What a study requires of its targets' file systems.

    Attributes:
        bytes_by_target: Target -> most bytes of test data at any time.
        allows_root: The user has confirmed that directories for mounts may lie on the root file system.
    """

    bytes_by_target: Mapping[str, int] = field(default_factory=dict)
    allows_root: bool = False


def mount_infos(study: Study, inspections: Mapping[str, Inspection]) -> dict[str, MountInfo]:
    """Return target -> its file system, for targets that are directories of this machine."""
    return {
        name: mount_info(found.real_path, found.space)
        for name, found in inspections.items()
        if study.targets[name].is_directory and found.real_path
    }


def place_problems(
    study: Study, inspections: Mapping[str, Inspection], requirement: SpaceRequirement
) -> dict[str, list[tuple[str, str]]]:
    """Return target -> problems of its file system: nothing is mounted there, or the test data does not fit."""
    places = mount_infos(study, inspections)
    found: dict[str, list[tuple[str, str]]] = {}
    for name, place in places.items():
        problem = (
            None
            if requirement.allows_root or getattr(study.targets[name], "on_root", False)
            else root_mount_problem(place)
        )
        if problem is not None:
            found.setdefault(name, []).append(problem)
    for name, problem in space_problems(requirement.bytes_by_target, places, study.output.keep_files).items():
        found.setdefault(name, []).append(problem)
    for name, one in inspections.items():
        need = requirement.bytes_by_target.get(name, 0)
        if study.targets[name].whole_device and one.space is not None and need > one.space.size_bytes:
            has = f"{one.real_path} has {about_size(one.space.size_bytes)}"
            hint = "use a smaller file_size, or another device"
            found.setdefault(name, []).append((f"{about_size(need)} of test data do not fit: {has}", hint))
    return found
