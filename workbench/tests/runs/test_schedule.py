"""Repeats spread over hours."""

import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import load
from run_tools import assay, needs_engine

from assay.plan.expand import expand
from assay.plan.schedule import timetable
from assay.run import executor as execute
from assay.run import session
from assay.store import RunStore, list_runs
from assay.store import run as store_run

STUDY = """
study: day
question: Does the hour matter?
targets: {{null: {{kind: "null"}}}}
workloads:
  down: {{operations: [read], file_size: 1MiB, record_size: 4KiB, queue_depth: [1, 2, 4]}}
  up: {{operations: [write], file_size: 1MiB, record_size: 4KiB, queue_depth: [1, 2, 4], cache: keep}}
defaults: {{cache: keep}}
ceilings: none
{rest}
"""


def planned(rest: str) -> tuple[list[tuple[str, int]], dict[tuple[str, int], float], dict[str, str]]:
    loaded = load(STUDY.format(rest=rest))
    assert loaded.study is not None, loaded.problems
    cases = expand(loaded.study).cases
    order, due = timetable(loaded.study, cases)
    return list(order), dict(due), {case.id: case.operations[0] for case in cases}


@given(st.integers(0, 2**53 - 1), st.integers(1, 9), st.sampled_from(["random", "sequential"]))
def test_each_repeat_keeps_to_its_part_of_the_time(seed: int, repeats: int, order: str) -> None:
    rest = f"schedule: {{repeats: {repeats}, over: 24h, order: {order}, alternate: [read, write]}}\nseed: {seed}"
    jobs, due, operations = planned(rest)
    length = 86400 / repeats
    assert sorted(jobs) == sorted((case, repeat) for case in operations for repeat in range(1, repeats + 1))
    assert list(due) == jobs and list(due.values()) == sorted(due.values())
    for (_, repeat), moment in due.items():
        assert (repeat - 1) * length <= moment < repeat * length or order == "sequential"
    kinds = [operations[case] for case, _ in jobs]
    assert all(one != other for one, other in pairwise(kinds))


def test_moments_are_spread_and_follow_from_the_seed() -> None:
    rest = "schedule: {repeats: 5, over: 24h}\nseed: 3"
    _, due, _ = planned(rest)
    assert planned(rest)[1] == due
    assert planned(rest.replace("seed: 3", "seed: 4"))[1] != due
    assert len(set(due.values())) == len(due) == 30


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("schedule: {repeats: 5, over: 24h}\nrepeats: 3", "repeats is written both in and outside of `schedule`"),
        ("schedule: {over: 24h, alternate: [read]}", "is not a list of operations"),
        ("schedule: {over: 24h, alternate: [read, reed]}", "is not an operation"),
        ("schedule: {repeats: 5}", "`over` is missing"),
        ("schedule: {over: soon}", "soon"),
    ],
)
def test_wrong_schedules_are_told(rest: str, words: str) -> None:
    loaded = load(STUDY.format(rest=rest))
    assert loaded.study is None
    assert words in loaded.problems[0].text("study.yaml"), loaded.problems


class Clock:
    """The module `time`, with a clock that sleeping puts forward at once."""

    def __init__(self, at_sleep: Callable[[], None] = lambda: None) -> None:
        """What is done at the beginning of each sleep."""
        self.at_sleep, self.slept = at_sleep, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def time(self) -> float:
        return time.time() + self.slept

    def sleep(self, seconds: float) -> None:
        self.at_sleep()
        self.slept += seconds


@needs_engine
def test_a_run_waits_says_so_and_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def use(clock: Clock) -> None:
        for module in (execute, store_run, session):
            monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(execute, "steady_time", clock.time)

    text = STUDY.format(rest="schedule: {repeats: 3, over: 24h, order: sequential}")
    (tmp_path / "study.yaml").write_text(text)
    use(Clock(lambda: signal.raise_signal(signal.SIGTERM)))
    said = assay(tmp_path, "run", "study.yaml", expect=130).stderr
    assert "is due at" in said, said
    (summary,) = list_runs(tmp_path / "assay-runs")
    with RunStore.open(Path(summary.folder)) as store:
        assert len(store.pending()) == 12
        began = store.info().created_at
    later = Clock()
    use(later)
    done = assay(tmp_path, "run", "--resume")
    with RunStore.open(Path(summary.folder)) as store:
        starts = {(item.case, item.repeat): item.started_at for item in store.attempts()}
    assert len(starts) == 18
    assert all(start >= began + (repeat - 1) * 28_800 for (_, repeat), start in starts.items()), done.stderr
    assert later.slept < 57_600 < max(starts.values()) - began
    assert not [path for path in tmp_path.iterdir() if path.name not in ("study.yaml", "assay-runs")]
