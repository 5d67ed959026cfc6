"""When a command shall have ended, by a clock of the test's own."""

from assay.model.deadline import (
    ATTEMPT_SECONDS,
    PATIENCE_SECONDS,
    SEEN_FACTOR,
    STOPPING_SECONDS,
    Deadline,
    delayed_so_far,
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
    left = deadline.left()
    assert abs(left - (10 - 2 * (STOPPING_SECONDS + 1))) < 1e-9
    assert deadline.allows(left - 0.1) and not deadline.allows(left)
    clock.now += left - 0.5
    assert not deadline.over() and deadline.stop() == 0
    clock.now += 0.6
    assert deadline.over() and deadline.stop() == 1
    clock.now += PATIENCE_SECONDS
    assert deadline.stop() == 2


def test_what_a_first_look_took_to_end_is_kept_free_if_it_is_longer() -> None:
    deadline = Deadline(110.0, 0.2, Clock(), lambda: 1.0)
    before = deadline.left()
    deadline.seen(0.1)
    assert deadline.left() == before
    deadline.seen(2.0)
    assert abs(deadline.left() - (10 - 2.0 * SEEN_FACTOR)) < 1e-9


def test_more_repeats_take_longer_to_judge() -> None:
    deadline = Deadline(110.0, 1.0, Clock(), lambda: 1.0)
    before = deadline.left()
    for _ in range(100):
        deadline.repeated()
    assert abs(before - deadline.left() - 100 * ATTEMPT_SECONDS) < 1e-9


def test_a_part_has_its_share_and_what_it_leaves_is_there_for_the_rest() -> None:
    clock = Clock()
    deadline = Deadline(110.0, 0.0, clock, lambda: 1.0)
    whole = deadline.left()
    with deadline.part(0.4):
        assert abs(deadline.left() - 0.4 * whole) < 1e-9
        clock.now += 0.4 * whole
        assert deadline.over()
    assert abs(deadline.left() - 0.6 * whole) < 1e-9


def test_a_process_is_never_faster_than_alone() -> None:
    assert delayed_so_far() >= 1.0
