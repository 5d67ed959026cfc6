"""Engines that attack from another host: each ends within its limit as a result, and the run's report opens."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_runs import INVENTORY, two_hosts
from host_runs import study as hosts_study
from hostile_tools import WAYS, check, make_hostile, shorten
from in_process import run_here
from run_tools import ENGINE, needs_engine
from soak import times

pytestmark = needs_engine


@contextlib.contextmanager
def nothing_running(folder: Path) -> Iterator[None]:
    """End what still runs of a program below a folder: an engine on another host may heed no end of its input."""
    try:
        yield
    finally:
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
                if f"{folder}/".encode() in words and b"assay-engine" in words:
                    os.kill(int(process.name), signal.SIGKILL)


FEW = ("exits", "never-reads", "pongs", "child-floods", "endless-line", "edit-forged")
"""One of each kind: ends, is silent, talks in vain, floods, and says what cannot be."""


@pytest.mark.parametrize("how", WAYS if times(0, 1) else FEW)
def test_a_hostile_engine_over_ssh_ends_as_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    shorten(monkeypatch, make_hostile(tmp_path, how, ENGINE), how)
    with two_hosts(tmp_path, monkeypatch), nothing_running(tmp_path):
        folder = tmp_path / "work"
        file = hosts_study(folder, INVENTORY, hosts=2)
        text = Path(file).read_text().replace("operations: [read]", "operations: [write, read]")
        Path(file).write_text(text.replace("runtime: 200ms", ""))
        done = run_here(folder, "run", file)
        assert done.returncode == 1, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        check(folder, how, "ssh")
