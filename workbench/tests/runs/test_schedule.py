"""Repeats spread over hours."""

import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import load
from run_tools import ASSAY, needs_engine

from assay.plan.expand import expand
from assay.plan.schedule import timetable
from assay.store import RunStore, list_runs

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
        ("schedule: {repeats: 5, over: 24h}\nrepeats: 3", "repeats is written in schedule and beside it"),
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


@needs_engine
def test_a_run_waits_says_so_and_goes_on_where_it_was(tmp_path: Path) -> None:
    text = STUDY.format(rest="schedule: {repeats: 3, over: 30s, order: sequential}")
    (tmp_path / "study.yaml").write_text(text)
    begun = time.time()
    run = subprocess.Popen([ASSAY, "run", "study.yaml"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    said = ""
    for line in run.stderr:
        said += line
        if "is due at" in line:
            break
    run.terminate()
    run.communicate(timeout=60)
    assert time.time() - begun < 20, said
    (summary,) = list_runs(tmp_path / "assay-runs")
    with RunStore.open(Path(summary.folder)) as store:
        assert len(store.pending()) == 12
        began = store.info().created_at
    done = subprocess.run([ASSAY, "run", "--resume"], cwd=tmp_path, capture_output=True, text=True, check=True)
    with RunStore.open(Path(summary.folder)) as store:
        starts = {(item.case, item.repeat): item.started_at for item in store.attempts()}
    assert all(start >= began + (repeat - 1) * 10 for (_, repeat), start in starts.items()), done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name not in ("study.yaml", "assay-runs")]
