"""Nothing is waited for by a clock that somebody may set."""

import ast
import time
from types import SimpleNamespace
from typing import Any

import pytest
from paths import REPOSITORY

from assay.model.steady_clock import steady_time
from assay.run.executor import Executor

SOURCE = REPOSITORY / "workbench" / "src" / "assay"
SET_BY_OTHERS = {
    "rooms/slurm/work/facts.py": "until the end of a job, which Slurm tells by the wall clock",
    "rooms/replication/driver/source.py": "how far the clock of another host differs",
}


class Telling:
    """Keeps what is said."""

    def __init__(self) -> None:
        """Nothing was said."""
        self.lines: list[str] = []

    def print_line(self, line: str) -> None:
        """One line."""
        self.lines.append(line)


@pytest.mark.parametrize("set_by", [-3600.0, 3600.0])
def test_a_repeat_is_due_when_it_was_planned_whatever_is_set_meanwhile(
    set_by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall, shift, slept = time.time, [0.0], [0.0]
    monkeypatch.setattr(time, "time", lambda: wall() + shift[0])
    real = time.clock_gettime
    monkeypatch.setattr(time, "clock_gettime", lambda which: real(which) + slept[0])

    def sleep(seconds: float) -> None:
        slept[0] += seconds
        shift[0] = set_by

    monkeypatch.setattr(time, "sleep", sleep)
    run: Any = SimpleNamespace(interruption=SimpleNamespace(count=0))
    moment = steady_time() + 100.0
    assert Executor._wait(run, moment, Telling())  # type: ignore[arg-type]
    assert 99.0 < slept[0] < 101.0


def test_no_wait_and_no_length_is_reckoned_by_the_wall_clock() -> None:
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "time.time" in text else ():
            if isinstance(node, ast.BinOp | ast.Compare) and "time.time()" in ast.unparse(node):
                found.add(path.relative_to(SOURCE).as_posix())
    assert found == {*SET_BY_OTHERS, "model/steady_clock.py"}
