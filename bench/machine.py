"""The machine and the versions of the programs, for the page."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from measure import run
from model import BenchError, Setting
from peers.bare import figures

VERSION_WORDS = {
    "fio": (["--version"], r"fio-(\S+)"),
    "fio-new": (["--version"], r"fio-(\S+)"),
    "elbencho": (["--version"], r"Version: (\S+)"),
    "ior": (["--dryRun"], r"IOR-(\S+)"),
    "mdtest": (["-n", "1"], r"mdtest-(\S+)"),
    "iozone": (["-v"], r"Revision: (\S+)"),
    "warp": (["--version"], r"version v?([\d.]+)"),
    "versitygw": (["--version"], r"Version\s*: v?([\d.]+)"),
}


def describe(setting: Setting) -> dict[str, str]:
    """What the figures depend on, in words."""
    return {
        "processor": f"{_processor()}, {len(os.sched_getaffinity(0))} cores",
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown"),
        "disk": _file_system(setting.disk),
        "clock source": _text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "one reading of the clock": _clock(setting),
    }


def _text(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return "unknown"


def _processor() -> str:
    found = re.search(r"^model name\s*: (.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    return found[1] if found else platform.machine()


def _file_system(folder: Path) -> str:
    """Type, device and options of the mount that holds the folder."""
    best, words = "", "unknown"
    # The longest mount point above it, and of equals the last.
    for line in _text("/proc/self/mounts").splitlines():
        device, mount, kind, options = line.split()[:4]
        inside = folder == Path(mount) or Path(mount) in folder.parents
        if inside and len(mount) >= len(best):
            best, words = mount, f"{kind} on {device} ({options})"
    return words


def _clock(setting: Setting) -> str:
    bare = setting.tool("assay-bare")
    done = run(bare, [bare, "clock", "--seconds", "0.2"], setting.memory)
    return f"{figures(done)['cpu_ns']:.0f} ns (clock_gettime, CLOCK_MONOTONIC)"


def versions(setting: Setting) -> dict[str, str]:
    """Versions by program; those that are not found are left out."""
    found = {"assay-engine": _engine(setting)}
    for name, (words, pattern) in VERSION_WORDS.items():
        if name in setting.tools:
            done = subprocess.run(
                [setting.tool(name), *words], capture_output=True, text=True, check=False, cwd=setting.memory
            )
            match = re.search(pattern, done.stdout + done.stderr)
            found[name] = match[1].rstrip(",:") if match else "unknown"
    return found


def _engine(setting: Setting) -> str:
    done = subprocess.run([setting.tool("assay-engine"), "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"assay-engine: {(done.stderr.strip() or 'does not start').splitlines()[0]}")
    return done.stdout.split()[-1]
