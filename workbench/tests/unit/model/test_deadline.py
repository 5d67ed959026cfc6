"""When a command shall have ended, by a clock of the test's own."""

import os
import time
from pathlib import Path

import pytest

from assay.model.deadline import (
    AFTER_RUN_FACTOR,
    REPEAT_JUDGING_SECONDS,
    STOP_GRACE_SECONDS,
    STOPPING_SECONDS,
    Deadline,
    process_age,
    slowdown_so_far,
)


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_comes_after_the_repeats_is_kept_free() -> None:
    clock = Clock()
    deadline = Deadline(110.0, 1.0, clock, lambda: 2.0)
    left = deadline.seconds_left()
    assert abs(left - (10 - 2 * (STOPPING_SECONDS + 1))) < 1e-9
    assert deadline.allows(left - 0.1) and not deadline.allows(left)
    clock.now += left - 0.5
    assert not deadline.is_over() and deadline.stop_level() == 0
    clock.now += 0.6
    assert deadline.is_over() and deadline.stop_level() == 1
    clock.now += STOP_GRACE_SECONDS
    assert deadline.stop_level() == 2


def test_what_a_first_look_took_to_end_is_kept_free_if_it_is_longer() -> None:
    deadline = Deadline(110.0, 0.2, Clock(), lambda: 1.0)
    before = deadline.seconds_left()
    deadline.note_first_look(0.1)
    assert deadline.seconds_left() == before
    deadline.note_first_look(2.0)
    assert abs(deadline.seconds_left() - (10 - 2.0 * AFTER_RUN_FACTOR)) < 1e-9


def test_more_repeats_take_longer_to_judge() -> None:
    deadline = Deadline(110.0, 1.0, Clock(), lambda: 1.0)
    before = deadline.seconds_left()
    for _ in range(100):
        deadline.add_repeat()
    assert abs(before - deadline.seconds_left() - 100 * REPEAT_JUDGING_SECONDS) < 1e-9


def test_a_part_has_its_share_and_what_it_leaves_is_there_for_the_rest() -> None:
    clock = Clock()
    deadline = Deadline(110.0, 0.0, clock, lambda: 1.0)
    whole = deadline.seconds_left()
    with deadline.limit_to_share(0.4):
        assert abs(deadline.seconds_left() - 0.4 * whole) < 1e-9
        clock.now += 0.4 * whole
        assert deadline.is_over()
    assert abs(deadline.seconds_left() - 0.6 * whole) < 1e-9


@pytest.mark.parametrize(("started", "age"), [(0.0, 0.0), (4.0, 4.0), (400.0, 0.0)])
def test_how_long_a_program_took_to_load_is_known(
    started: float, age: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    ticks = int((now - started) * os.sysconf("SC_CLK_TCK"))
    stat = tmp_path / "stat"
    stat.write_text(f"7 (as (say) x) S {'0 ' * 18}{ticks} 0 0\n")
    monkeypatch.setattr("assay.model.deadline.STAT_FILE", stat)
    monkeypatch.setattr(time, "clock_gettime", lambda _clock: now)
    assert abs(process_age() - age) < 0.1
    monkeypatch.setattr("assay.model.deadline.STAT_FILE", tmp_path / "none")
    assert process_age() == 0.0


def test_a_process_is_never_faster_than_alone() -> None:
    assert slowdown_so_far() >= 1.0
