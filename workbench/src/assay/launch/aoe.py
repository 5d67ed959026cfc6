"""Disks behind ATA over Ethernet, as an engine of this machine sees them."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from assay.launch.answers import MOST_OUT
from assay.launch.binary import find_engine, last_line
from assay.model.base import AssayError
from assay.model.foreign import plain

MOST_LINE = 64 << 10
"""Bytes of a frame in words."""


def discover_disks(interfaces: Sequence[str], wait_ms: int, trace: bool) -> list[dict[str, Any]]:
    """The disks that answer, as `assay-engine aoe discover` says.

    Args:
        interfaces: Where to look; empty: on all that are up.
        wait_ms: Milliseconds in which they may answer.
        trace: The engine prints frames to standard error.

    Raises:
        AssayError: An interface cannot be used.
    """
    words = ["discover", "--wait", str(wait_ms), *_options(interfaces, trace)]
    return [json.loads(line) for line in _asked(words).splitlines()]


def describe_disk(address: str, interfaces: Sequence[str], trace: bool) -> dict[str, Any]:
    """What a disk is, as `assay-engine aoe info` says.

    Raises:
        AssayError: It does not answer, or cannot be used.
    """
    found: dict[str, Any] = json.loads(_asked(["info", *_options(interfaces, trace), "--", address]))
    return found


def _options(interfaces: Sequence[str], trace: bool) -> list[str]:
    named = [word for interface in interfaces for word in ("--interface", interface)]
    return [*named, *(["--trace"] if trace else [])]


def _asked(words: Sequence[str]) -> str:
    """What the engine prints; the frames that it traces are passed on as they come."""
    command = [str(find_engine()), "aoe", *words]
    with tempfile.TemporaryFile() as out, subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE) as process:
        told = b""
        while line := process.stderr.readline(MOST_LINE) if process.stderr else b"":
            if line.startswith(b"error: "):
                told = line
            else:
                sys.stderr.write(plain(line.decode("utf-8", "replace").rstrip("\n")) + "\n")
        process.wait()
        if process.returncode:
            raise AssayError(last_line(told) or f"assay-engine aoe: exit code {process.returncode}")
        out.seek(0)
        return out.read(MOST_OUT).decode()
