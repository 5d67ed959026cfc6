"""Real runs with adaptive repeats: each case stops when it is known well enough, also when the run is killed."""

import random
import shutil
from pathlib import Path

import pytest
from killing import GUARD, Start, strike
from run_tools import assay, check_nothing_left, needs_engine, only_run
from soak import times

from assay.analyse.repeats.adaptive import is_case_precise
from assay.model.result.verdict import Verdict
from assay.model.study.case import Case
from assay.store import RunStore, list_runs

pytestmark = needs_engine

MAX_REPEATS = 11
STUDY = f"""
study: adaptive
question: When is it known?
targets:
  steady: {{kind: "null", latency: {{distribution: fixed, time: 60ms}}}}
  loose: {{kind: "null", latency: {{distribution: uniform, min: 10ms, max: 60ms}}}}
  wild: {{kind: "null", latency: {{distribution: exponential, mean: 20ms}}}}
workloads:
  one:
    operations: [random_read]
    file_size: 4KiB
    record_size: 4KiB
    cache: keep
repeats: {{within: 40%, max: {MAX_REPEATS}}}
ceilings: none
"""
"""One operation in each repeat. A fixed time is known within 40 % at once; one that varies by its own size never is."""


def write_study(folder: Path) -> str:
    path = folder / "study.yaml"
    path.write_text(STUDY)
    return str(path)


def stopped_at(store: RunStore, case: Case) -> int:
    """When a case with these samples is to stop, by looking at them one repeat after the other."""
    samples = store.samples(case.id)
    for repeat in range(8, MAX_REPEATS):
        if is_case_precise(case, [sample for sample in samples if sample.repeat <= repeat], 0.4):
            return repeat
    return MAX_REPEATS


def executed(store: RunStore) -> dict[str, int]:
    """Target -> repeats that were executed; they are the first ones, each once and well."""
    found = {}
    for case in store.cases():
        repeats = [job.repeat for job in store.jobs(case.id)]
        assert repeats == list(range(1, len(repeats) + 1))
        found[case.target] = len(repeats)
    return found


def check_complete(folder: Path) -> dict[str, int]:
    """The run counts as complete although repeats of its plan were never executed."""
    with RunStore.open(only_run(folder)) as store:
        done, info = executed(store), store.info()
        assert store.outcome_counts() == {"ok": sum(done.values())}
        assert (info.planned, info.finished, info.status) == (sum(done.values()), sum(done.values()), "complete")
        assert store.pending() == []
        assert Verdict.INCOMPLETE not in store.verdict_counts().by_worst
        short = {case.id for case in store.cases() if done[case.target] < MAX_REPEATS}
        assert short <= set(store.settled())
    check_nothing_left(folder)
    return done


def test_a_steady_case_stops_at_eight_and_a_wild_one_goes_on_to_the_end(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    plan = assay(tmp_path, "plan", file).stdout
    assert "3 cases x 8 to 11 repeats" in plan
    assert "each of up to 11 rounds has every case that still needs repeats once" in plan
    run = assay(tmp_path, "run", file)
    done = check_complete(tmp_path)
    assert (done["steady"], done["wild"]) == (8, MAX_REPEATS)
    assert "3 cases x 8 to 11 repeats: about " in run.stderr
    assert "33 of 33 repeats to do, at most about " in run.stderr
    assert "precise enough, 3 repeats saved" in run.stderr
    total = sum(done.values())
    assert f"[{total}/{total}] " in run.stderr
    with RunStore.open(only_run(tmp_path)) as store:
        assert {case.target: stopped_at(store, case) for case in store.cases()} == done
    shown = assay(tmp_path, "show", "last").stdout
    assert f"(complete, {total} of {total} repeats done)" in shown
    assert "8 to 11 of each case, until known within 40 %: " in shown
    assert "after 8 repeats" in assay(tmp_path, "show", "last", "c0001").stdout
    assert f"{total} of {total}" in assay(tmp_path, "list").stdout
    assert "there is no unfinished run" in assay(tmp_path, "run", "--resume", expect=2).stderr


@pytest.mark.parametrize("victim", ["workbench", "engine"])
def test_kill_9_at_random_moments_then_resume(
    tmp_path: Path,
    start: Start,
    victim: str,
) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    file = write_study(tmp_path)
    kills, enough = 0, times(2, 10)
    while kills < enough:
        runs = list_runs(tmp_path / "assay-runs")
        if runs and runs[0].status == "complete":
            check_complete(tmp_path)
            shutil.rmtree(runs[0].folder)
            runs = []
        process = start(file, *(["--resume"] if runs else []))
        kills += strike(process, victim, chance, enough - kills)
        output, _ = process.communicate(timeout=GUARD)
        assert "Traceback" not in output, output
    for _ in range(10):
        runs = list_runs(tmp_path / "assay-runs")
        if runs and runs[0].status == "complete":
            break
        assay(tmp_path, "run", file, *(["--resume"] if runs else []))
    done = check_complete(tmp_path)
    with RunStore.open(only_run(tmp_path)) as store:
        for case in store.cases():
            assert done[case.target] == MAX_REPEATS or is_case_precise(case, store.samples(case.id), 0.4)
        if victim == "workbench":
            # A crashed engine makes a case go on while the repeat is missing; the workbench's death loses nothing.
            assert {case.target: stopped_at(store, case) for case in store.cases()} == done
            assert (done["steady"], done["wild"]) == (8, MAX_REPEATS)


def test_the_last_decision_is_made_up_for_when_the_run_goes_on(tmp_path: Path) -> None:
    """As if the workbench had died between storing a case's eighth repeat and the decision."""
    file = write_study(tmp_path)
    assay(tmp_path, "run", file)
    with RunStore.open(only_run(tmp_path), write=True) as store:
        done = executed(store)
        for case_id in store.settled():
            store.settle(case_id, "")
        store.set_status("interrupted")
        assert store.info().planned == 3 * MAX_REPEATS
    assay(tmp_path, "run", "--resume")
    assert check_complete(tmp_path) == done
