"""What tests of engines, hosts and mounts are given."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.launch.mounts import read_mounts


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder below which all mounts go at the end of the test."""
    yield tmp_path
    for mount in reversed(read_mounts()):
        if mount.point.startswith(f"{tmp_path}/"):
            subprocess.run(["umount", mount.point], check=True)
