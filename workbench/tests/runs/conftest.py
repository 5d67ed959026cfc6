"""What tests of whole runs are given."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import Start
from run_tools import ASSAY


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `assay run` in the test's folder; what still runs at the end of the test is killed."""
    started = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        command = [ASSAY, "run", *arguments]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
