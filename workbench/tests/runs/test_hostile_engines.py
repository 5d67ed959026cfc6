"""Engines that attack: each ends within its limit as a result with a reason, and the run's report opens."""

import resource
from pathlib import Path

import pytest
from hostile_tools import WAYS, check, make_hostile, shorten
from in_process import run_here
from run_tools import ENGINE, needs_engine, study
from soak import times

pytestmark = needs_engine

MIN_RISE = 150 << 10
"""KiB that a process may grow by in a run with a flood: far less than what the engine would have it keep."""


@pytest.mark.parametrize("how", times(list(WAYS)[::3], list(WAYS)))
def test_a_hostile_engine_here_ends_as_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    shorten(monkeypatch, make_hostile(tmp_path, how, ENGINE), how)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run_here(folder, "run", str(study(folder, record="64KiB", repeats=1)))
    assert done.returncode == 1, done.stderr
    said = done.stdout + done.stderr
    assert "\x1b" not in said and "\x9b" not in said
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MIN_RISE
    check(folder, how, "here")
