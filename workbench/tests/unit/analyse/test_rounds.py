"""Runs that go on until they have decided: when they are looked at, what goes on, and when the time is spent."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from builders import make_case, make_meta, make_row, make_sample
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import study

from assay.analyse.compare import compare
from assay.analyse.decide import decide, undecided_cases
from assay.model.result.decision import PointOutcome
from assay.model.result.run import TargetPlace
from assay.model.study.case import Case
from assay.model.study.repeats import Repeats, look_schedule
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.plan.study_warnings import study_warnings
from assay.run.analysis import rows_up_to_round
from assay.run.settle import RoundRules
from assay.store import RunStore

TWO = {"n": {"kind": "null"}, "m": {"kind": "null"}}
MAX_REPEATS = 14
REPEATS = Repeats(max=MAX_REPEATS, min=5, decide=0.05)
RATIOS = {"clear": 2.0, "equal": 1.0, "close": 1.05}
NOISE = {"clear": 0.02, "equal": 0.002, "close": 0.1}
SIZES = {name: 4096 << place for place, name in enumerate(RATIOS)}


@given(st.integers(4, 1000), st.integers(0, 996))
def test_a_run_is_looked_at_seldom_and_at_its_end(least: int, more: int) -> None:
    most = min(1000, least + more)
    found = look_schedule(least, most)
    assert (found[0], found[-1]) == (least, most) and len(found) <= 18
    assert all(before < after for before, after in pairwise(found))
    assert all(after <= 1.5 * before for before, after in pairwise(found))


def cases() -> tuple[Case, ...]:
    """Three points, on a disk and on memory; the second of memory's is twice as fast, and so on."""
    return tuple(
        make_case(f"{target}-{name}", target, axes={"record_size": size})
        for name, size in SIZES.items()
        for target in ("disk", "memory")
    )


def create(root: Path, more: tuple[Case, ...] = (), time: float | None = None) -> RunStore:
    every = (*cases(), *more)
    details = {"repeats_decide": 0.05, "repeats_min": 5, "repeats_time": time}
    places = tuple(place(target) for target in ("disk", "memory"))
    meta = make_meta(repeats=MAX_REPEATS, places=places, **details)
    order = [(case.id, repeat) for repeat in range(1, MAX_REPEATS + 1) for case in every]
    return RunStore.create(root, meta, every, (), order, "study: s\n")


def place(target: str) -> TargetPlace:
    return TargetPlace(
        target=target,
        kind="null",
        path="",
        filesystem="null",
        memory_backed=True,
        direct_bypasses_cache=False,
        free_bytes=0,
        device=None,
    )


def execute(store: RunStore, repeat: int, seconds: float = 0.5) -> None:
    """One round of what is still asked for."""
    chance = np.random.default_rng([7, repeat])
    for case_id, number in store.pending():
        if number != repeat:
            continue
        target, name = case_id.split("-")
        times = RATIOS.get(name, 1.0) if target == "memory" else 1.0
        rate = 1e8 * times * float(np.exp(chance.normal(0, NOISE.get(name, 0.02))))
        attempt = store.begin_attempt(case_id, repeat, {})
        store.finish_repeat(attempt, "ok", seconds, "", "", [make_sample(case_id, repeat, rate)])


def test_what_is_decided_is_not_repeated_and_what_is_open_goes_on(tmp_path: Path) -> None:
    alone = make_case("disk-alone", "disk", axes={"record_size": 1 << 20})
    with create(tmp_path, (alone,)) as store:
        rounds = RoundRules(store, REPEATS, store.cases())
        for repeat in range(1, 6):
            assert rounds.settle_before_round(repeat) == {}
            execute(store, repeat)
        fewer = rounds.settle_before_round(6)
        assert set(fewer.values()) == {MAX_REPEATS - 5} and store.info().planned == 7 * MAX_REPEATS - len(fewer) * (
            MAX_REPEATS - 5
        )
        assert {"disk-clear", "memory-clear", "disk-alone"} <= set(fewer)
        assert {case for case, repeat in store.pending() if repeat == 6} >= {"disk-close", "memory-close"}
        assert store.settled()["disk-clear"] == "after 5 repeats: more repeats would decide nothing further"
        for repeat in range(6, MAX_REPEATS + 1):
            rounds.settle_before_round(repeat)
            execute(store, repeat)
        assert store.pending() == []
        assert "disk-close" not in store.settled()


def test_a_look_takes_no_later_round_into_account(tmp_path: Path) -> None:
    """As if the workbench had been killed in round 6, when some repeats of it were done."""
    with create(tmp_path / "a") as store, create(tmp_path / "b") as killed:
        for repeat in range(1, 6):
            execute(store, repeat)
            execute(killed, repeat)
        whole = RoundRules(store, REPEATS, store.cases()).settle_before_round(6)
        attempt = killed.begin_attempt("disk-close", 6, {})
        killed.finish_repeat(attempt, "ok", 0.5, "", "", [make_sample("disk-close", 6, 9e9)])
        assert RoundRules(killed, REPEATS, killed.cases()).settle_before_round(6).keys() == whole.keys()
        assert RoundRules(killed, REPEATS, killed.cases()).settle_before_round(6) == {}, (
            "deciding twice changes nothing"
        )
        assert len(rows_up_to_round(killed, 5)) == 6
        assert all(len(row.samples) == 5 for row in rows_up_to_round(killed, 5))


def test_no_round_begins_that_the_time_is_not_enough_for(tmp_path: Path) -> None:
    limited = REPEATS.model_copy(update={"time": 17 * 10**9})
    with create(tmp_path, time=17.0) as store:
        rounds = RoundRules(store, limited, store.cases())
        for repeat in range(1, MAX_REPEATS + 1):
            rounds.settle_before_round(repeat)
            execute(store, repeat)
        spent = sum(attempt.seconds or 0.0 for attempt in store.attempts())
        assert 5 * 6 * 0.5 <= spent <= 17.0
        assert store.pending() == []
        assert any("spent" in reason or "no time" in reason for reason in store.settled().values())


def test_the_fewest_repeats_are_made_whatever_the_time(tmp_path: Path) -> None:
    limited = REPEATS.model_copy(update={"time": 10**9})
    with create(tmp_path, time=1.0) as store:
        rounds = RoundRules(store, limited, store.cases())
        for repeat in range(1, MAX_REPEATS + 1):
            rounds.settle_before_round(repeat)
            execute(store, repeat)
        assert {len(row.samples) for row in rows_up_to_round(store, MAX_REPEATS)} == {5}


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.2])
def test_the_repeats_that_are_said_to_be_needed_decide(tmp_path: Path, sigma: float) -> None:
    """From a first look, the number is right within a few times; after as many the point is decided as a rule."""
    decided = tried = 0
    for seed in range(20):
        chance = np.random.default_rng(seed)
        rates = {name: 1e8 * np.exp(chance.normal(0, sigma, 400)) for name in ("disk", "memory")}
        rates["memory"] = rates["memory"] * 1.3
        need = needed(rates, 6)
        if need is None or need > 200:
            continue
        tried += 1
        decided += needed(rates, 2 * need) is None
    assert tried and decided >= 0.8 * tried


def needed(rates: dict[str, "np.ndarray[tuple[int], np.dtype[np.float64]]"], count: int) -> int | None:
    """Repeats that are said to be needed after so many; None if it is decided by then."""
    rows = [make_row(name, [float(rate) for rate in found[:count]]) for name, found in rates.items()]
    (decision,) = decide(rows, compare(rows))
    (point,) = decision.points
    if point.outcome is not PointOutcome.OPEN:
        return None
    assert set(undecided_cases([decision], [row.case for row in rows]).values()) == {point.needs}
    return point.needs


def test_a_study_that_cannot_tell_says_so() -> None:
    def said(**fields: object) -> str:
        made = study(**fields)
        cases = expand(made).cases
        return " ".join(study_warnings(made, cases, estimate_study(made, cases)))

    assert said(targets=TWO) == "" == said(repeats=5) == said(targets=TWO, repeats=4)
    assert "3 repeats cannot show which target is faster" in said(targets=TWO, repeats=3)
    assert "2 repeats give no useful confidence interval" in said(repeats=2)
    short = said(targets=TWO, repeats={"decide": "5%", "max": 20, "time": "1s"}, w_runtime="10s")
    assert "longer than the 1.0 s" in short
