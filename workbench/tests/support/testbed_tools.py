"""What the tests of the cluster in a box share."""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from killing import command_of

from assay.journal.processes import ProcessIdentity
from assay.launch.mounts import read_mounts
from assay.model.base import AssayError
from assay.model.site.box import Box
from assay.rooms.testbed.work.box import load_box
from assay.rooms.testbed.work.disks import CGROUP_ROOT, find_hierarchy, group_prefix
from assay.rooms.testbed.work.programs import check_programs, check_rights, find_switch
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.up import bring_up
from assay.site.installed import find_program

GUARD = 300.0
"""Seconds after which something that must come has not come."""


def written(folder: Path, text: str) -> Box:
    """The box of this text."""
    path = folder / "box.yaml"
    path.write_text(text)
    return load_box(str(path), folder)


def need_box(*boxes: Box, programs: tuple[str, ...] = ()) -> None:
    """Skip the test if such boxes cannot be made here."""
    try:
        check_rights()
        find_switch()
        for box in boxes:
            check_programs(box)
            if any(disk.is_limited for spec in box.hosts.values() for disk in spec.disks):
                find_hierarchy()
    except AssayError as error:
        pytest.skip(f"{error.message}; {error.hint}")
    missing = [name for name in programs if find_program(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def inside(box: RunningBox, host: str, *words: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """A command run on a host."""
    return subprocess.run([*box.enter(host), *words], capture_output=True, text=True, timeout=seconds, check=False)


def said(box: RunningBox, host: str, *words: str) -> str:
    """What a command on a host prints; it must succeed."""
    done = inside(box, host, *words)
    assert done.returncode == 0, f"{words}: {done.stderr or done.stdout}"
    return done.stdout


def own_processes(root: Path) -> list[int]:
    """Processes that live in boxes below `root`, or have the path in their command line: no others are ever touched."""
    mark, found = f"{root}/", []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            state = re.search(r"\) (\w)", (entry / "stat").read_text())
            text = os.fsdecode((entry / "mountinfo").read_bytes() + (entry / "cmdline").read_bytes())
        except OSError:
            continue
        if mark in text and state and state[1] not in "ZX":
            found.append(int(entry.name))
    return found


def listed_inits(root: Path, recorded: Iterable[ProcessIdentity]) -> list[int]:
    """Inits of boxes below `root` that the kernel still lists, ended and not reaped ones among them."""
    living = [pid for pid in own_processes(root) if command_of(pid)[1:2] == ["init"]]
    return sorted({*living, *(process.pid for process in recorded if process.is_listed)})


def left(root: Path) -> dict[str, list[str]]:
    """All that is there of boxes below `root`."""
    processes = [f"{pid}: {' '.join(command_of(pid)) or 'ended'}" for pid in own_processes(root)]
    spaces = {
        str(link)
        for pid in own_processes(root)
        for kind in ("net", "mnt", "pid", "uts", "ipc")
        if (link := _space(pid, kind)) and link != _space(1, kind)
    }
    seen = read_mounts()
    mounts = [one.point for one in seen if any(f"{root}/" in part for part in (one.point, one.root, one.source))]
    prefix = group_prefix(root / "boxes")
    groups = [str(path) for pattern in (f"blkio/{prefix}*", f"{prefix}*") for path in CGROUP_ROOT.glob(pattern)]
    files = [str(path) for path in root.rglob("*")]
    # Of a mount that is gone the kernel shows but the end of the path. Other boxes may be up beside these.
    ends = (f"/{root.parent.name}/{root.name}/", f"//{root.name}/")
    files_of_loops = {path.parts[3]: _text(path) for path in Path("/sys/block").glob("loop*/loop/backing_file")}
    loops = [f"{name}: {file}" for name, file in files_of_loops.items() if any(end in f"/{file}" for end in ends)]
    found = {"processes": processes, "namespaces": sorted(spaces), "mounts": mounts, "loops": loops}
    return {what: items for what, items in {**found, "groups": groups, "files": files}.items() if items}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _space(pid: int, kind: str) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/{kind}").readlink())
    except OSError:
        return ""


def assert_nothing_left(root: Path) -> None:
    """Nothing is left; programs of a killed `up` may take a moment to see that."""
    assert_soon(lambda: not left(root), lambda: str(left(root)))


def assert_soon(true: Callable[[], bool], message: Callable[[], str]) -> None:
    """Wait until something is true that must come about, however busy the machine is."""
    end, pause = time.monotonic() + GUARD, 0.02
    while not true():
        assert time.monotonic() < end, message()
        # Some looks go over all processes: they are not to keep the machine busy while others work.
        time.sleep(pause)
        pause = min(2 * pause, 0.32)


@contextlib.contextmanager
def brought_up(folder: Path, text: str) -> Iterator[RunningBox]:
    """A box for one test, removed after it."""
    box = written(folder, text)
    need_box(box, programs=("ping", "iperf3"))
    running = bring_up(box)
    try:
        yield running
    finally:
        running.down()
