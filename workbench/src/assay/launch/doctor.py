"""Checks what this machine can do for a measurement, with remedies for what it cannot."""

import contextlib
import ctypes
import errno
import mmap
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.journal.process_journal import process_journal
from assay.launch.binary import MPI_NAME, find_mpi_engine, load_engine
from assay.launch.cgroup import MemoryCap, find_controller
from assay.launch.machine_checks import DROP_CACHES, drop_caches_fault
from assay.model.base import AssayError
from assay.model.result.run import MEMORY_FILESYSTEMS

Status = Literal["ok", "limited", "missing"]

TOOLS = {
    "strace": "apt-get install strace (only for `assay record`)",
    "fio": "apt-get install fio (only to compare with)",
    "iozone": "install iozone3 (only to compare with)",
    "chromium": "apt-get install chromium (only to test reports)",
}
BLOCK = 4096
LOW_SPACE = 10 * 10**9


@dataclass(frozen=True)
class Fact:
    """The result of one check of the machine.

    Attributes:
        name: What was checked.
        status: `ok`, `limited` or `missing`.
        found: What was observed, one line.
        remedy: What to do if it is not `ok`; empty if nothing need be done.
    """

    name: str
    status: Status
    found: str
    remedy: str = ""


def examine() -> list[Fact]:
    """Check everything that a measurement may need; nothing is left behind."""
    checks: list[Callable[[], Fact]] = [
        _engine,
        _mpi_engine,
        _io_uring,
        lambda: _direct("/var/tmp"),
        lambda: _direct("/dev/shm"),
        _drop_caches,
        _memory_cgroup,
        _namespaces,
        _clock,
        lambda: _space("/var/tmp"),
        lambda: _space("/dev/shm"),
        _other_load,
    ]
    return [check() for check in checks] + [_tool(name, remedy) for name, remedy in TOOLS.items()]


def examine_settings(wanted: Mapping[str, str], targets: Mapping[str, tuple[bool, str]]) -> list[Fact]:
    """Compare the settings of this machine with those a study requires: a fact for each difference, or one `ok`.

    Args:
        wanted: Name of a setting -> value in the study.
        targets: As for `capture_environment`.
    """
    from assay.analyse.environments.settings import SETTINGS, WANTED, unwanted_settings
    from assay.launch.environment import capture_environment

    environment = {**capture_environment(targets), WANTED: dict(wanted)}
    facts = []
    for name, found, value in unwanted_settings(environment):
        setting = SETTINGS[name]
        label = f"{setting.label} of {found.part}" if found.part else setting.label
        remedy = setting.remedy.format(value=value, part=found.part)
        facts.append(Fact(label, "limited", f"{' and '.join(found.values)}; the study requires {value}", remedy))
    return facts or [Fact("settings", "ok", "as the study requires: " + ", ".join(wanted))]


def _engine() -> Fact:
    try:
        engine = load_engine()
    except AssayError as error:
        return Fact("assay-engine", "missing", error.message, error.hint)
    contract = engine.capabilities.spec_version
    return Fact("assay-engine", "ok", f"{engine.path}, version {engine.version}, contract {contract}")


def _mpi_engine() -> Fact:
    """Check the engine for MPI-IO, which needs an MPI to be built and started."""
    remedy = "only needed for targets of kind mpiio: "
    try:
        engine = load_engine(find_mpi_engine())
    except AssayError as error:
        wrapper = shutil.which(os.environ.get("MPICC", "mpicc"))
        if wrapper is None:
            need = "apt-get install openmpi-bin libopenmpi-dev, or load your MPI's module, then `make engine`"
            return Fact(MPI_NAME, "missing", "not built, and there is no mpicc to build it with", remedy + need)
        return Fact(MPI_NAME, "missing", f"{error.message}, though there is {wrapper}", f"{remedy}`make engine`")
    found = f"{engine.path}, {engine.capabilities.mpi or 'linked to no MPI'}"
    if not any(shutil.which(name) for name in ("mpirun", "srun")):
        need = "put the MPI's mpirun on PATH (apt-get install openmpi-bin), or Slurm's srun"
        return Fact(MPI_NAME, "limited", f"{found}; neither mpirun nor srun is on PATH", remedy + need)
    return Fact(MPI_NAME, "ok", found)


def _io_uring() -> Fact:
    """Try io_uring_setup(2), system call 425 on every architecture except alpha."""
    remedy = "not needed: the engine takes threads instead; sysctl kernel.io_uring_disabled=0 allows it"
    libc = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(120)
    fd = libc.syscall(425, 1, parameters)
    if fd >= 0:
        os.close(fd)
        return Fact("io_uring", "ok", f"offered by kernel {platform.release()}")
    return Fact("io_uring", "limited", f"refused by the kernel: {os.strerror(ctypes.get_errno())}", remedy)


def _direct(folder: str) -> Fact:
    name = f"O_DIRECT on {folder}"
    try:
        fd, path = tempfile.mkstemp(prefix="assay-doctor-", dir=folder)
    except OSError as error:
        return Fact(name, "missing", f"no file can be made there: {error.strerror}", "use another directory")
    try:
        os.close(fd)
        direct = os.open(path, os.O_RDWR | os.O_DIRECT)
        try:
            with mmap.mmap(-1, BLOCK) as block:
                os.write(direct, block)
        finally:
            os.close(direct)
    except OSError as error:
        known = error.errno == errno.EINVAL
        reason = "the file system has no O_DIRECT" if known else str(error.strerror)
        return Fact(name, "limited", reason, "use cache: drop, evict or limit there")
    finally:
        Path(path).unlink()
    if _is_memory(folder):
        return Fact(
            name,
            "limited",
            "accepted, but the storage is memory: there is no cache to bypass",
            "name a directory on a disk",
        )
    return Fact(name, "ok", "works")


def _is_memory(folder: str) -> bool:
    from assay.launch.environment import mount_of

    with contextlib.suppress(OSError, LookupError):
        return mount_of(folder)["filesystem"] in MEMORY_FILESYSTEMS
    return False


def _drop_caches() -> Fact:
    fault = drop_caches_fault()
    if fault:
        return Fact("drop caches", "missing", fault, "run as root, or use cache: direct or evict")
    return Fact("drop caches", "ok", f"{DROP_CACHES} can be written")


def _memory_cgroup() -> Fact:
    try:
        hierarchy = find_controller()
        with process_journal() as journal:
            cap = MemoryCap("doctor", 64 << 20, journal, hierarchy)
            cap.create()
            cap.remove()
    except AssayError as error:
        return Fact("memory cgroup", "missing", error.message, error.hint)
    return Fact("memory cgroup", "ok", f"version {hierarchy.version} in {hierarchy.folder}")


def _namespaces() -> Fact:
    """Make a network namespace in a child process; it disappears with the child (unshare(2), CLONE_NEWNET)."""
    remedy = "only needed to test servers on one machine: run as root"
    if not Path("/proc/self/ns/net").exists():
        return Fact("network namespaces", "missing", "the kernel has none", remedy)
    libc = ctypes.CDLL(None, use_errno=True)
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(0x40000000) == 0 else ctypes.get_errno() or 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 0:
        return Fact("network namespaces", "ok", "can be made")
    return Fact("network namespaces", "missing", os.strerror(max(code, 1)), remedy)


def _clock() -> Fact:
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    try:
        source = path.read_text().strip()
    except OSError as error:
        return Fact("clock source", "limited", f"{path}: {error.strerror}", "")
    if source in ("hpet", "acpi_pm", "jiffies", "refined-jiffies"):
        return Fact(
            "clock source", "limited", f"{source}: reading it is slow", "boot with a stable tsc, if there is one"
        )
    return Fact("clock source", "ok", source)


def _other_load() -> Fact:
    """Check for other load at this moment."""
    from assay.launch.other_load import sample_load

    found = sample_load()
    if not found:
        return Fact("other work", "ok", "none at this moment that would affect results")
    text = ", and ".join(cause.text for cause in found)
    return Fact("other work", "limited", text, "; ".join(dict.fromkeys(cause.remedy for cause in found)))


def _space(folder: str) -> Fact:
    name = f"space in {folder}"
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Fact(name, "missing", str(error.strerror), "use another directory")
    found = f"{free / 1e9:.1f} GB free"
    if free < LOW_SPACE:
        return Fact(name, "limited", found, "enough for the quickstart; use another directory for larger studies")
    return Fact(name, "ok", found)


def _tool(name: str, remedy: str) -> Fact:
    path = shutil.which(name)
    return Fact(name, "ok", path) if path else Fact(name, "missing", "not on PATH", remedy)
