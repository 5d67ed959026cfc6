"""The machine as a whole: host, kernel, memory, kernel settings, limits of the process."""

import os
import platform
import resource
import sys

from assay.launch.environment.cpu import first_processor
from assay.launch.environment.reading import Files, Section, bracketed_value, value_or_unknown

DMI = "/sys/class/dmi/id"
NOT_OFFERED = "not offered by this kernel"
CLOCK = "/sys/devices/system/clocksource/clocksource0"
HUGE = "/sys/kernel/mm/transparent_hugepage"
NODES = "/sys/devices/system/node"

INITIAL_NAMESPACES = {"ipc": 4026531839, "uts": 4026531838, "user": 4026531837, "pid": 4026531836, "cgroup": 4026531835}
"""Inode numbers of the initial namespaces of the kernel. Source: include/linux/proc_ns.h of Linux."""

CONTAINER_SIGNS = {"docker": "/.dockerenv", "podman": "/run/.containerenv", "apptainer": "/.singularity.d"}

SETTINGS = (
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "vm.zone_reclaim_mode",
    "vm.min_free_kbytes",
    "kernel.numa_balancing",
    "kernel.io_uring_disabled",
    "fs.aio-max-nr",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.default_qdisc",
    "net.core.busy_read",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_mtu_probing",
)
NFS_SETTINGS = ("sunrpc.tcp_slot_table_entries", "sunrpc.tcp_max_slot_table_entries")


def describe_host(files: Files) -> Section:
    """Return name, operating system and make of the machine, and whether it is virtual."""
    no_dmi = "the firmware provides no DMI data"
    return {
        "name": platform.node(),
        "system": value_or_unknown(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "vendor": files.read(f"{DMI}/sys_vendor", no_dmi),
        "product": files.read(f"{DMI}/product_name", no_dmi),
        "firmware": files.read(f"{DMI}/bios_version", no_dmi),
        "hypervisor": _hypervisor(files),
        "container": _container(files),
        "user": "root" if os.geteuid() == 0 else f"uid {os.geteuid()}",
        "python": sys.version.split()[0],
    }


def _hypervisor(files: Files) -> str:
    first = first_processor(files)
    if files.exists("/sys/hypervisor/type"):
        return files.read("/sys/hypervisor/type")
    if "flags" not in first:
        return "unknown: only x86 CPUs have a flag for it"
    return "yes: the CPUs have the flag hypervisor" if "hypervisor" in first["flags"].split() else "none: no such flag"


def _container(files: Files) -> str:
    """Return the signs that this is a container."""
    signs = []
    if files.exists("/run/systemd/container"):
        signs.append(files.read("/run/systemd/container"))
    signs += [f"{name} ({sign})" for name, sign in CONTAINER_SIGNS.items() if files.exists(sign)]
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        signs.append("kubernetes")
    own = []
    for kind, number in INITIAL_NAMESPACES.items():
        try:
            link = files.path(f"/proc/self/ns/{kind}").readlink()
        except OSError:
            continue
        if str(link) != f"{kind}:[{number}]":
            own.append(kind)
    if own:
        signs.append(f"own namespaces: {', '.join(own)}")
    return "; ".join(signs) or "none found"


def describe_kernel(files: Files) -> Section:
    """Return kernel version, command line and clock source."""
    return {
        "release": platform.release(),
        "version": platform.version(),
        "architecture": platform.machine(),
        "command_line": files.read("/proc/cmdline"),
        "clock_source": files.read(f"{CLOCK}/current_clocksource"),
        "clock_sources": files.read(f"{CLOCK}/available_clocksource"),
    }


def describe_memory(files: Files) -> Section:
    """Return memory sizes, NUMA nodes and huge pages."""
    wanted = {"MemTotal": "total", "MemAvailable": "available", "SwapTotal": "swap"}
    pairs = (line.partition(":")[::2] for line in files.lines("/proc/meminfo"))
    sizes = {wanted[name]: value.strip().replace("kB", "KiB") for name, value in pairs if name in wanted}
    return {
        "total": "unknown: /proc/meminfo cannot be read",
        **sizes,
        **_nodes(files),
        "transparent_huge_pages": bracketed_value(files.read(f"{HUGE}/enabled", NOT_OFFERED)),
        "transparent_huge_pages_defrag": bracketed_value(files.read(f"{HUGE}/defrag", NOT_OFFERED)),
        "transparent_huge_pages_shmem": bracketed_value(files.read(f"{HUGE}/shmem_enabled", NOT_OFFERED)),
        **_huge_pages(files),
    }


def _nodes(files: Files) -> Section:
    found = {}
    for name in files.names(NODES):
        if name.startswith("node") and name[4:].isdigit():
            line = next((line for line in files.lines(f"{NODES}/{name}/meminfo") if "MemTotal:" in line), "")
            size = line.partition("MemTotal:")[2].strip().replace("kB", "KiB") or "unknown size"
            found[f"numa_{name}"] = f"{size}, CPUs {files.read(f'{NODES}/{name}/cpulist')}"
    return {"numa_nodes": str(len(found)) if found else f"none: {NOT_OFFERED}", **found}


def _huge_pages(files: Files) -> Section:
    """Return the numbers of reserved huge pages, by size."""
    folder = "/sys/kernel/mm/hugepages"
    found = {}
    for name in files.names(folder):
        size = name.removeprefix("hugepages-").replace("kB", "KiB")
        found[f"huge_pages_{size}"] = files.read(f"{folder}/{name}/nr_hugepages")
    return found or {"huge_pages": f"none: {NOT_OFFERED}"}


def describe_settings(files: Files) -> Section:
    """Return the kernel settings (sysctl) that storage and network results depend on."""
    names = SETTINGS + (NFS_SETTINGS if files.exists("/proc/sys/sunrpc") else ())
    return {name: files.read(f"/proc/sys/{name.replace('.', '/')}", NOT_OFFERED) for name in names}


def describe_limits() -> Section:
    """Return the limits of this process (getrlimit(2)), which the engine inherits, and its priority."""
    kinds = {
        "open_files": resource.RLIMIT_NOFILE,
        "locked_memory": resource.RLIMIT_MEMLOCK,
        "address_space": resource.RLIMIT_AS,
        "file_size": resource.RLIMIT_FSIZE,
    }
    found = {}
    for name, kind in kinds.items():
        unit = "" if name == "open_files" else " bytes"
        soft, hard = (
            "unlimited" if value == resource.RLIM_INFINITY else f"{value}{unit}" for value in resource.getrlimit(kind)
        )
        found[name] = soft if soft == hard else f"{soft}, may be raised to {hard}"
    return found | {"nice": str(os.getpriority(os.PRIO_PROCESS, 0))}
