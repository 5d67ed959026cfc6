"""Mounts for tests, which are gone afterwards."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

needs_mounts = pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: mounting needs root")


@contextlib.contextmanager
def bind_mount(source: Path, point: Path) -> Iterator[None]:
    """Show a file or directory at another place meanwhile."""
    subprocess.run(["mount", "--bind", str(source), str(point)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)
