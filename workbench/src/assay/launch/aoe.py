"""ATA over Ethernet disks that this machine reaches, listed and described by the engine."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from assay.launch.binary import find_engine, last_line
from assay.launch.commands import MAX_STDOUT_BYTES
from assay.model.base import AssayError
from assay.model.escape import escape_line

MAX_LINE_BYTES = 64 << 10
"""Most bytes of a line that describes a traced frame."""


def discover_disks(interfaces: Sequence[str], wait_ms: int, trace: bool) -> list[dict[str, Any]]:
    """Return the disks that answer, as `assay-engine aoe discover` prints them.

    Args:
        interfaces: Network interfaces to search; empty: all that are up.
        wait_ms: Milliseconds to wait for answers.
        trace: Print the frames to standard error.

    Raises:
        AssayError: An interface cannot be used.
    """
    words = ["discover", "--wait", str(wait_ms), *_options(interfaces, trace)]
    return [json.loads(line) for line in _run_engine(words).splitlines()]


def describe_disk(address: str, interfaces: Sequence[str], trace: bool) -> dict[str, Any]:
    """Return the facts of a disk, as `assay-engine aoe info` prints them.

    Raises:
        AssayError: It does not answer, or cannot be used.
    """
    found: dict[str, Any] = json.loads(_run_engine(["info", *_options(interfaces, trace), "--", address]))
    return found


def _options(interfaces: Sequence[str], trace: bool) -> list[str]:
    named = [word for interface in interfaces for word in ("--interface", interface)]
    return [*named, *(["--trace"] if trace else [])]


def _run_engine(words: Sequence[str]) -> str:
    """Run `assay-engine aoe` and return its output; traced frames are passed on to standard error as they come."""
    command = [str(find_engine()), "aoe", *words]
    with tempfile.TemporaryFile() as out, subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE) as process:
        error = b""
        while line := process.stderr.readline(MAX_LINE_BYTES) if process.stderr else b"":
            if line.startswith(b"error: "):
                error = line
            else:
                sys.stderr.write(escape_line(line.decode("utf-8", "replace").rstrip("\n")) + "\n")
        process.wait()
        if process.returncode:
            raise AssayError(last_line(error) or f"assay-engine aoe: exit code {process.returncode}")
        out.seek(0)
        return out.read(MAX_STDOUT_BYTES).decode()
