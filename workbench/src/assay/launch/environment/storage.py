"""What is below a target: its mount, its file system, its block device, and the devices below that."""

import os
import stat
from pathlib import Path

from assay.contract._answers import Look, Space
from assay.launch.environment.reading import (
    THIS_MACHINE,
    Files,
    Section,
    bracketed_value,
    value_or_unknown,
    yes_or_no,
)
from assay.launch.mounts import MOUNTS, read_mounts
from assay.model.secret import redact_word

NOT_OFFERED = "not offered for this device"
UNSIZED = "unknown: this file system has no size of its own"
MAX_LAYERS = 8
"""Most levels of devices that are followed."""

OVERLAY_FOLDERS = ("lowerdir", "upperdir", "workdir")
"""Options of overlayfs that name the folders of a container: long, different each time, without effect on speed."""

QUEUE = {
    "scheduler": "scheduler",
    "requests": "nr_requests",
    "hardware_queues": "",
    "read_ahead_kib": "read_ahead_kb",
    "largest_request_kib": "max_sectors_kb",
    "rotational": "rotational",
    "write_cache": "write_cache",
    "write_throttle_us": "wbt_lat_usec",
    "merges": "nomerges",
    "completion_cpu": "rq_affinity",
    "polling": "io_poll",
    "logical_block_bytes": "logical_block_size",
    "physical_block_bytes": "physical_block_size",
    "discard_bytes": "discard_max_bytes",
}
"""Our name -> file in the folder `queue` of a device. Source: Documentation/ABI/stable/sysfs-block."""
MERGES = {"0": "all", "1": "simple ones only", "2": "none"}
COMPLETION = {"0": "any", "1": "of the same group", "2": "the submitting CPU"}


def describe_target(is_device: bool, path: str, files: Files, look: Look | None = None) -> Section:
    """Describe what is below a device or directory; with a `look` of the engine, the directory is not touched."""
    section = {"path": path}
    if not is_device:
        real = look.real_path if look is not None else os.path.realpath(path)
        section |= _mount(real, files) | (_space(path) if look is None else _look_space(look.space))
        number = value_or_unknown(lambda: _number_below(mount_at(real, files), files))
    else:
        number = value_or_unknown(lambda: _number(Path(path).stat().st_rdev))
    spread = _of_btrfs(number, files) if section.get("filesystem") == "btrfs" else {}
    return section | spread | describe_device(number, files)


def _of_btrfs(number: str, files: Files) -> Section:
    """Return the devices of a btrfs and its profiles. Source: fs/btrfs/sysfs.c of the kernel, /sys/fs/btrfs/UUID.

    Args:
        number: major:minor of one of its devices.
        files: The files of /proc and /sys.
    """
    for folder in files.path("/sys/fs/btrfs").glob("*/devices"):
        disks = {path.name: path for path in sorted(folder.iterdir())}
        if number not in [_read(path / "dev") for path in disks.values()]:
            continue
        profiles = {
            f"{kind}_profile": ", ".join(sorted(path.name for path in (folder.parent / "allocation" / kind).glob("*/")))
            for kind in ("data", "metadata")
        }
        missing = sum(_read(path) == "1" for path in folder.parent.glob("devinfo/*/missing"))
        return {
            "filesystem_devices": ", ".join(f"/dev/{name}" for name in disks),
            "missing_devices": str(missing),
            **profiles,
            **{
                f"other device {name}": f"model {_model(_disk(path.resolve()))}"
                for name, path in disks.items()
                if _read(path / "dev") != number
            },
        }
    return {}


def _number(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def _number_below(mount: Section, files: Files) -> str:
    """Return major:minor of the mounted device; btrfs has a number of its own, and only names its device."""
    if not _folder(mount["number"], files).exists() and mount["source"].startswith("/dev/"):
        found = files.path(mount["source"])
        if found.exists() and stat.S_ISBLK(found.stat().st_mode):
            return _number(found.stat().st_rdev)
    return mount["number"]


def _mount(path: str, files: Files) -> Section:
    try:
        mount = mount_at(path, files)
    except (OSError, LookupError) as error:
        return {"mount": f"unknown: {error}"}
    return {name: mount[name] for name in ("filesystem", "source", "mount_point", "options")}


def mount_of(path: str, files: Files = THIS_MACHINE) -> Section:
    """Return the mount that a path is on, from /proc/self/mountinfo (proc_pid_mountinfo(5)).

    Args:
        path: A path; it need not exist.
        files: The files of /proc.

    Returns:
        number (major:minor), mount_point, filesystem, source, options; without credentials.

    Raises:
        OSError: /proc is not mounted.
        LookupError: No mount contains the path.
    """
    return mount_at(os.path.realpath(path), files)


def mount_at(real: str, files: Files = THIS_MACHINE) -> Section:
    """Return the mount of a path without symbolic links, as `mount_of` does; the path is not touched."""
    best: Section = {}
    for mount in read_mounts(files.path(MOUNTS)):
        inside = real == mount.point or real.startswith(mount.point.rstrip("/") + "/")
        # Of two mounts at the same place the later one hides the earlier one.
        if inside and len(mount.point) >= len(best.get("mount_point", "")):
            options = (option for option in mount.options if option.partition("=")[0] not in OVERLAY_FOLDERS)
            best = {
                "number": mount.number,
                "mount_point": mount.point,
                "filesystem": mount.filesystem,
                "source": redact_word(mount.source),
                "options": redact_word(",".join(options)),
            }
    if not best:
        raise LookupError(f"{real}: no mount found")
    return best


def _space(path: str) -> Section:
    """Return size and free space of the file system, from statvfs(3)."""
    place = Path(os.path.realpath(path))
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        found = os.statvfs(place)
    except OSError as error:
        return {"filesystem_bytes": f"unknown: {error.strerror}"}
    if not found.f_blocks:
        return {"filesystem_bytes": UNSIZED}
    size, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
    return _space_words(found.f_bsize, size, free, found.f_files, found.f_favail)


def _look_space(space: Space | None) -> Section:
    if space is None:
        return {"filesystem_bytes": UNSIZED}
    return _space_words(space.block_bytes, space.size_bytes, space.free_bytes, space.files, space.free_files)


def _space_words(block: int, size: int, free: int, inodes: int, free_inodes: int) -> Section:
    return {
        "filesystem_block_bytes": str(block),
        "filesystem_bytes": str(size),
        "free_bytes": str(free),
        "free_inodes": str(free_inodes) if inodes else "none: not counted by this file system",
    }


def _folder(number: str, files: Files) -> Path:
    return files.path("/sys/dev/block") / number


def describe_device(number: str, files: Files = THIS_MACHINE) -> Section:
    """Describe a block device by major:minor, from sysfs; `none: ...` if there is none.

    The devices below, such as the disks of a logical volume, have one item `below NAME` each.
    """
    if number.startswith("unknown"):
        return {"device": number}
    folder = _folder(number, files)
    if not folder.exists():
        return {"device": "none: not on a block device of this machine"}
    folder = folder.resolve()
    disk = _disk(folder)
    section = {
        "device": f"/dev/{folder.name}",
        "model": _model(disk),
        "bytes": value_or_unknown(lambda: str(int((folder / "size").read_text()) * 512)),
        **_link(disk),
        **_queue(disk),
        "stacked": _stacked(disk, files),
    }
    for lower in _all_below(disk, files):
        queue = _queue(lower)
        facts = ", ".join(f"{name} {value}" for name, value in queue.items() if not value.startswith("none:"))
        section[f"below {lower.name}"] = f"model {_model(lower)}; {facts}"
    return section


def _disk(folder: Path) -> Path:
    return folder.parent if (folder / "partition").exists() else folder


def _read(path: Path, missing: str = NOT_OFFERED) -> str:
    return Files(path.parent).read(path.name, missing)


def _model(disk: Path) -> str:
    """Return vendor, model and firmware as the disk reports them; for a mapped device its name."""
    parts = [_read(disk / "device" / name, "") for name in ("vendor", "model", "firmware_rev", "rev")]
    known = [part for part in parts if not part.startswith(("unknown", "none", "0x"))]
    if known:
        return " ".join(known)
    if (disk / "dm" / "name").exists():
        return _read(disk / "dm" / "name")
    driver = disk / "device" / "driver"
    return f"unknown: {driver.resolve().name if driver.exists() else 'this kind of device'} does not report it"


def _link(disk: Path) -> Section:
    """Return speed and width of the PCIe link of a disk that has its own link, and its NUMA node."""
    controller = disk / "device" / "device"
    found = {}
    if (controller / "current_link_speed").exists():
        width = _read(controller / "current_link_width")
        found["pcie_link"] = f"{_read(controller / 'current_link_speed')} x{width}"
    node = _read(controller / "numa_node", "")
    if node.isdigit():
        found["numa_node"] = node
    return found


def _queue(disk: Path) -> Section:
    found = {}
    for name, file in QUEUE.items():
        found[name] = _read(disk / "queue" / file) if file else _hardware_queues(disk)
    found["scheduler"] = bracketed_value(found["scheduler"])
    for name in ("rotational", "polling"):
        found[name] = yes_or_no(found[name])
    found["merges"] = MERGES.get(found["merges"], found["merges"])
    found["completion_cpu"] = COMPLETION.get(found["completion_cpu"], found["completion_cpu"])
    return found


def _hardware_queues(disk: Path) -> str:
    folder = disk / "mq"
    return str(sum(1 for _ in folder.iterdir())) if folder.is_dir() else f"none: {NOT_OFFERED}"


def _stacked(disk: Path, files: Files) -> str:
    """Return what a device consists of; `no` for a plain disk."""
    if (disk / "loop" / "backing_file").exists():
        direct = {"0": "off", "1": "on"}.get(_read(disk / "loop" / "dio"), "not known")
        return f"loop device of {_read(disk / 'loop' / 'backing_file')}, direct I/O {direct}"
    names = ", ".join(lower.name for lower in _below(disk, files))
    if (disk / "md" / "level").exists():
        chunk = _read(disk / "md" / "chunk_size")
        return f"{_read(disk / 'md' / 'level')} of {names}, chunk {chunk} bytes, {_read(disk / 'md' / 'array_state')}"
    if (disk / "dm" / "uuid").exists():
        # LVM-..., CRYPT-..., mpath-...: the part before the first dash names the program that mapped it.
        return f"mapped ({_read(disk / 'dm' / 'uuid').partition('-')[0]}) on {names}"
    return f"on {names}" if names else "no"


def _below(disk: Path, files: Files) -> list[Path]:
    """Return the devices right below a device; for a loop device the device of its file."""
    backing = disk / "loop" / "backing_file"
    if backing.exists():
        try:
            number = _number_below(mount_of(_read(backing), files), files)
        except (OSError, LookupError):
            return []
        found = [_folder(number, files)]
    else:
        slaves = disk / "slaves"
        found = sorted(slaves.iterdir()) if slaves.is_dir() else []
    return [path.resolve() for path in found if path.exists()]


def _all_below(disk: Path, files: Files) -> list[Path]:
    """Return the disks below a device at any depth, each once."""
    found: dict[Path, None] = {}
    level = [disk]
    for _ in range(MAX_LAYERS):
        level = [_disk(lower) for upper in level for lower in _below(upper, files)]
        level = [path for path in dict.fromkeys(level) if path not in found and path != disk]
        found |= dict.fromkeys(level)
    return list(found)
