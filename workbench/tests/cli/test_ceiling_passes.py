"""When the ceilings of devices are measured while a run goes on, and what becomes of a pass that fails."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from builders import make_case, make_ceiling, make_meta, make_place, make_sample
from hypothesis import given
from hypothesis import strategies as st

from assay.model.base import AssayError
from assay.model.result.ceiling import Ceiling, CeilingPass
from assay.plan.ceiling_times import MIN_PASS_SPACING, PASSES_BETWEEN
from assay.run.analysis import with_raised_ceilings
from assay.run.ceilings.passes import CeilingPasses
from assay.store import RunStore

CASE = make_case("c0001", operations=("read",), cache="direct", record_size=4096)


class Clock:
    def __init__(self) -> None:
        self.now = 1.8e9

    def __call__(self) -> float:
        return self.now


class Meter:
    """Stands for the engine: each pass takes its time and finds a value."""

    def __init__(self, clock: Clock, takes: float = 1.0) -> None:
        self.said: list[str] = []
        self.say = self.said.append
        self.clock, self.takes = clock, takes
        self.devices = ["disk"]
        self.asked: list[tuple[str, float]] = []
        self.stopped = 0
        self.error: AssayError | None = None

    def stop(self) -> int:
        return self.stopped

    def found(self, when: Any, value: float) -> list[Ceiling]:
        self.asked.append((when, self.clock.now))
        one = CeilingPass(at=self.clock.now, when=when, value=value, how="made up")
        self.clock.now += self.takes
        if self.error is not None:
            raise self.error
        return [make_ceiling("device read", value, passes=(one,))]

    def measure_target(self, name: str, when: Any) -> list[Ceiling]:
        assert name == "disk"
        return self.found(when, 1e9)

    def measure_again(self, exceeded: Any) -> list[Ceiling]:
        assert [key[:2] for key in exceeded] == [("disk", "device read")]
        return self.found("again", 1.5e9)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    meta = make_meta(id="r1", repeats=3, places=(make_place(),))
    with RunStore.create(tmp_path, meta, [CASE], (), [(CASE.id, n) for n in (1, 2, 3)], "study: s\n") as made:
        first = CeilingPass(at=1.8e9, when="before", value=1e9, how="made up")
        made.describe(ceilings=[make_ceiling("device read", 1e9, passes=(first,))])
        yield made


class NoStore:
    """A run of which nothing is kept."""

    def info(self) -> Any:
        class Info:
            ceilings = ()

        return Info

    def describe(self, ceilings: object) -> None:
        pass


@given(st.floats(1, 1e5), st.floats(0.01, 60), st.lists(st.floats(0.01, 600), min_size=1, max_size=200))
def test_passes_take_a_bounded_share_and_are_few(estimated: float, takes: float, repeats: list[float]) -> None:
    clock = Clock()
    meter = Meter(clock, takes)
    passes = CeilingPasses(meter, NoStore(), estimated, clock=clock)  # type: ignore[arg-type]
    begun = clock.now
    for number, seconds in enumerate(repeats):
        passes.before_repeat(1 + number // 10)
        clock.now += seconds
    asked = [moment for _, moment in meter.asked]
    assert all(when == "between" for when, _ in meter.asked)
    # The first one is due at once here: nothing was measured before.
    gaps = [two - one for one, two in pairwise(asked)]
    assert all(gap >= MIN_PASS_SPACING * takes for gap in gaps)
    assert all(gap >= estimated / (PASSES_BETWEEN + 1) for gap in gaps)
    assert takes * (len(asked) - 1) <= (clock.now - begun) / MIN_PASS_SPACING


def test_a_pass_is_made_between_rounds_unless_a_round_is_long(store: RunStore) -> None:
    clock = Clock()
    meter = Meter(clock)
    passes = CeilingPasses(meter, store, 100.0, clock=clock)  # type: ignore[arg-type]
    for repeat, wait in ((1, 0.0), (1, 31.0), (1, 1.0), (2, 1.0), (2, 45.0)):
        clock.now += wait
        passes.before_repeat(repeat)
    assert [round(moment - 1.8e9) for _, moment in meter.asked] == [33, 79]
    (kept,) = store.info().ceilings
    assert [item.when for item in kept.passes] == ["before", "between", "between"]


def test_a_run_ends_with_a_pass_and_what_was_exceeded_is_measured_again(store: RunStore) -> None:
    attempt = store.begin_attempt(CASE.id, 1, {})
    sample = make_sample(CASE.id, 1, 2e9, operation="read", read_bytes=4096, device_read_bytes=4096)
    store.finish_repeat(attempt, "ok", 1.0, "", "", [sample])
    clock = Clock()
    clock.now += 1.0
    meter = Meter(clock)
    passes = CeilingPasses(meter, store, 100.0, clock=clock)  # type: ignore[arg-type]
    passes.before_repeat(1)
    passes.finish()
    assert [when for when, _ in meter.asked] == ["after", "again"]
    (found,) = with_raised_ceilings(store, store.info()).ceilings
    assert found.exceeded is not None
    assert (found.value, found.exceeded.measured) == (2e9, 1.5e9)
    assert [item.when for item in found.passes] == ["before", "after", "again"]
    # Resumed with nothing left to do, it is not measured once more.
    CeilingPasses(meter, store, 100.0, clock=clock).finish()  # type: ignore[arg-type]
    assert len(meter.asked) == 2


def test_a_resumed_run_goes_on_with_what_it_has(store: RunStore) -> None:
    clock = Clock()
    clock.now += 3600.0
    meter = Meter(clock)
    CeilingPasses(meter, store, 100.0, clock=clock).before_repeat(2)  # type: ignore[arg-type]
    assert [when for when, _ in meter.asked] == ["between"]
    (kept,) = store.info().ceilings
    assert len(kept.passes) == 2


def test_a_pass_that_fails_ends_nothing(store: RunStore) -> None:
    clock = Clock()
    meter = Meter(clock)
    meter.error = AssayError("the engine cannot be started")
    before = store.info().ceilings
    passes = CeilingPasses(meter, store, 1.0, clock=clock)  # type: ignore[arg-type]
    passes.finish()
    assert store.info().ceilings == before
    assert meter.said == ["warning: ceilings could not be measured again: the engine cannot be started"]


@pytest.mark.parametrize("hindrance", ["stop", "budget", "no device"])
def test_nothing_is_measured_where_it_must_not_be(store: RunStore, hindrance: str) -> None:
    clock = Clock()
    clock.now += 3600.0
    meter = Meter(clock)
    meter.stopped = int(hindrance == "stop")
    if hindrance == "no device":
        meter.devices.clear()
    affords = (lambda _: False) if hindrance == "budget" else (lambda _: True)
    passes = CeilingPasses(meter, store, 100.0, affords, clock)  # type: ignore[arg-type]
    passes.before_repeat(1)
    passes.finish()
    assert meter.asked == []
