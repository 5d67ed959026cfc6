"""Starting `assay run` to kill it or its engines, at moments that are counted in what it has done, not in seconds."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from run_tools import ENGINE

Start = Callable[..., subprocess.Popen[str]]

GUARD = 600.0
"""Seconds after which something that must come has not come. No test comes near, on whatever machine."""


def engines_of(workbench: int) -> list[int]:
    """The workbench's child processes."""
    with contextlib.suppress(OSError):
        return [int(pid) for pid in Path(f"/proc/{workbench}/task/{workbench}/children").read_text().split()]
    return []


def command_of(pid: int) -> list[str]:
    """The words of a process, whatever bytes they are; empty if it has ended."""
    with contextlib.suppress(OSError):
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
    return []


def kill_engine(process: subprocess.Popen[str], busy_with: str = "run") -> bool:
    """Kill the engine as soon as there is one, with that command; False if the run was over before."""
    end = time.monotonic() + GUARD
    while process.poll() is None:
        assert time.monotonic() < end, f"no engine was seen in {GUARD:.0f} s"
        for pid in engines_of(process.pid):
            with contextlib.suppress(OSError):
                command = command_of(pid)
                if command[:1] == [ENGINE] and busy_with in command:
                    os.kill(pid, signal.SIGKILL)
                    return True
        time.sleep(0.001)
    return False


def wait_for_line(process: subprocess.Popen[str], start: str) -> None:
    """Read what a run prints up to the first line that starts like this."""
    assert process.stdout
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.startswith(start):
            return
    raise AssertionError("".join(seen))


def strike(process: subprocess.Popen[str], victim: str, chance: random.Random, most: int) -> int:
    """Kill -9 at a random moment of a run: while it starts, or after some repeats, within one or between two.

    Args:
        process: The run, of which nothing was read.
        victim: `workbench`, `engine` (several, one after the other) or `both`.
        chance: Decides on the moment.
        most: So many engines at most.

    Returns:
        How many were killed; 0 if the run was over before.
    """
    early = chance.random() < 0.25
    if early:
        time.sleep(chance.random())
    else:
        _pass_repeats(process, chance.randrange(1, 5))
        time.sleep(chance.random() * 0.3)
    if victim == "workbench":
        return _kill_workbench(process)
    killed = int(kill_engine(process, chance.choice(("run", "capabilities")) if early else "run"))
    if victim == "both":
        return _kill_workbench(process)
    while killed < most and _pass_repeats(process, chance.randrange(1, 3)):
        killed += kill_engine(process)
    return killed


def _kill_workbench(process: subprocess.Popen[str]) -> int:
    alive = process.poll() is None
    process.kill()
    return int(alive)


def _pass_repeats(process: subprocess.Popen[str], count: int) -> bool:
    """Read until so many repeats have ended; False if the output ended before."""
    assert process.stdout
    for line in process.stdout:
        count -= line.startswith("[")
        if not count:
            return True
    return False
