"""Starting `assay run` to kill it or its engines."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from run_tools import ENGINE

Start = Callable[..., subprocess.Popen[str]]


def engines_of(workbench: int) -> list[int]:
    """The workbench's child processes."""
    with contextlib.suppress(OSError):
        return [int(pid) for pid in Path(f"/proc/{workbench}/task/{workbench}/children").read_text().split()]
    return []


def kill_engine(process: subprocess.Popen[str], seconds: float, busy_with: str = "run") -> bool:
    """Kill the engine as soon as there is one, with that command if given; returns whether it was there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        for pid in engines_of(process.pid):
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
                if command[0] == ENGINE and busy_with in command:
                    os.kill(pid, signal.SIGKILL)
                    return True
    return False
