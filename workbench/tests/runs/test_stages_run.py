"""Runs in stages: each only after the one before is accepted; what is killed, stopped or refused goes on later."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from killing import GUARD
from run_tools import ASSAY, assay, needs_engine, only_run

from assay.model.result.stage import MeasuredStage
from assay.store import RunStore

pytestmark = needs_engine

STUDY = """
study: stages
question: Does it go on?
targets:
  none: {{kind: "null", latency: {{distribution: fixed, time: 1ms}}}}
workloads:
  grid:
    operations: [write]
    file_size: 1MiB
    record_size: 64KiB
    lanes: [4, 1, 2]
    runtime: 100ms
    {extra}
repeats: 3
ceilings: none
{rest}
"""
PRICED = """
prices:
  book: aws-eu-west-1-2016
  designs:
    none: {design: nfs-volumes, set: {instance: c4.large, volume: st1, capacity: 5TB}}
"""


def study(folder: Path, extra: str = "", rest: str = "") -> str:
    path = folder / "study.yaml"
    path.write_text(STUDY.format(extra=extra, rest=rest))
    return str(path)


def stages(folder: Path) -> tuple[MeasuredStage, ...]:
    with RunStore.open(only_run(folder)) as store:
        return store.info().stages


def lanes_done(folder: Path) -> list[int]:
    """Lanes of the repeats that have an outcome, in the order of their execution."""
    with RunStore.open(only_run(folder)) as store:
        lanes = {case.id: case.parameters.lanes for case in store.cases()}
        return [lanes[attempt.case] for attempt in store.attempts()]


def status(folder: Path) -> str:
    with RunStore.open(only_run(folder)) as store:
        return store.info().status


def test_each_stage_is_measured_told_and_accepted_by_going_on(tmp_path: Path) -> None:
    first = assay(tmp_path, "run", study(tmp_path), "--stage")
    assert lanes_done(tmp_path) == [1] * 3 and status(tmp_path) == "interrupted"
    assert "stage 1 of 3, lanes 1:" in first.stdout and "none, grid, write: " in first.stdout
    assert "next: lanes 2, about " in first.stdout
    run = only_run(tmp_path)
    assert f"accept it and continue with: assay run assay-runs/{run.name} --resume --stage" in first.stderr
    (done,) = stages(tmp_path)
    assert (done.axis, done.value, done.efficiency, done.accepted_by) == ("lanes", 1, 1.0, "")
    shown = assay(tmp_path, "show", "last").stdout
    assert "1 stage measured, up to lanes 1, which is not accepted yet; then it was stopped" in shown
    second = assay(tmp_path, "run", "--resume", "last", "--stage")
    assert lanes_done(tmp_path) == [1] * 3 + [2] * 3
    assert "stage 2 of 3, lanes 2:" in second.stdout and "stage 1" not in second.stdout
    accepted, open_still = stages(tmp_path)
    assert "@" in accepted.accepted_by and accepted.accepted_how == "by going on" and not open_still.accepted_by
    assert accepted.accepted_at is not None and accepted.accepted_at >= accepted.ended_at
    third = assay(tmp_path, "run", "--resume", "--stage")
    assert "complete:" in third.stderr and status(tmp_path) == "complete"
    assert lanes_done(tmp_path) == [1] * 3 + [2] * 3 + [4] * 3
    assert [stage.value for stage in stages(tmp_path)] == [1, 2, 4]
    assay(tmp_path, "report", "last")
    page = (run / "report.html").read_text()
    assert 'id="scaling-stages"' in page and accepted.accepted_by in page and "by going on" in page


def test_without_stage_all_that_is_left_is_measured(tmp_path: Path) -> None:
    assay(tmp_path, "run", study(tmp_path), "--stage")
    assay(tmp_path, "run", "--resume", "last")
    assert sorted(lanes_done(tmp_path)) == [1] * 3 + [2] * 3 + [4] * 3 and status(tmp_path) == "complete"
    found = [(stage.value, stage.accepted_how) for stage in stages(tmp_path)]
    assert found == [(1, "by going on"), (2, "without a stop after it"), (4, "")]


def test_the_rule_of_the_study_goes_on_as_long_as_efficiency_allows(tmp_path: Path) -> None:
    # In open loop the total stays as it is, so that efficiency is one half with two lanes, and a quarter with four.
    words = study(tmp_path, "rate: 200/s", "stages: {efficiency: 40%}")
    done = assay(tmp_path, "run", words, "--stage")
    assert done.stderr.count("accepted by the study's rule") == 2 and status(tmp_path) == "complete"
    assert [stage.accepted_how for stage in stages(tmp_path)] == ["by the study's rule", "by the study's rule", ""]


def test_the_rule_of_the_study_stops_where_efficiency_is_too_low(tmp_path: Path) -> None:
    done = assay(tmp_path, "run", study(tmp_path, "rate: 200/s", "stages: {efficiency: 70%}"), "--stage")
    assert lanes_done(tmp_path) == [1] * 3 + [2] * 3 and status(tmp_path) == "interrupted"
    first, second = stages(tmp_path)
    assert first.accepted_how == "by the study's rule" and not second.accepted_by
    assert second.efficiency == pytest.approx(0.5, abs=0.1)
    assert (
        "not accepted by the study's rule: its efficiency is" in done.stderr
        and "the study requires 70 %" in done.stderr
    )
    # Who goes on by hand accepts it all the same.
    assay(tmp_path, "run", "--resume", "--stage")
    assert status(tmp_path) == "complete"
    assert stages(tmp_path)[1].accepted_how == "by going on"


@pytest.mark.parametrize(("cost", "measured"), [("1000USD", 9), ("0.0000001USD", 3)])
def test_the_rule_of_the_study_stops_where_more_costs_too_much(tmp_path: Path, cost: str, measured: int) -> None:
    done = assay(tmp_path, "run", study(tmp_path, rest=f"{PRICED}stages: {{cost: {cost}}}"), "--stage")
    assert len(lanes_done(tmp_path)) == measured
    assert "the designs have cost " in done.stdout and stages(tmp_path)[0].cost.endswith("USD")
    if measured < 9:
        assert "with the next stage it would cost" in done.stderr


def test_a_stage_that_was_killed_is_finished_before_anything_is_accepted(tmp_path: Path) -> None:
    """Also one whose last repeat was done, when nobody had been told of it."""
    file = study(tmp_path)
    assay(tmp_path, "run", file, "--stage")
    with RunStore.open(only_run(tmp_path), write=True) as store:
        # As after a kill between the last repeat and the record of the stage.
        store.store_stages(())
        store.set_status("running")
    again = assay(tmp_path, "run", "--resume", "--stage")
    assert "stage 1 of 3, lanes 1:" in again.stdout
    assert lanes_done(tmp_path) == [1] * 3
    (done,) = stages(tmp_path)
    assert not done.accepted_by


def test_kill_9_in_a_stage_and_between_stages_loses_nothing(tmp_path: Path) -> None:
    file = study(tmp_path)
    for stage in (1, 2, 3):
        words = [ASSAY, "run", *([file] if stage == 1 else ["--resume", "last"]), "--stage"]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("["):
                # The first repeat of the stage is stored.
                process.send_signal(signal.SIGKILL)
                break
        process.communicate(timeout=GUARD)
        assert len(stages(tmp_path)) == stage - 1
        assay(tmp_path, "run", "--resume", "last", "--stage")
        assert len(stages(tmp_path)) == stage
        assert set(lanes_done(tmp_path)) == {1, 2, 4} - ({2, 4} if stage == 1 else {4} if stage == 2 else set())
    with RunStore.open(only_run(tmp_path)) as store:
        assert store.outcome_counts() == {"ok": 9} and store.info().status == "complete"
        assert [stage.accepted_how for stage in store.info().stages] == ["by going on", "by going on", ""]


def test_on_a_terminal_it_asks(tmp_path: Path) -> None:
    file = study(tmp_path)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(ASSAY, [ASSAY, "run", file, "--stage"], {**os.environ, "TERM": "dumb"})
    answers = [b"y\n", b"n\n"]
    seen = b""
    while answers:
        seen += os.read(terminal, 4096)
        if b"[y/N]" in seen:
            seen = b""
            os.write(terminal, answers.pop(0))
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert [(stage.value, stage.accepted_how) for stage in stages(tmp_path)] == [(1, "asked on a terminal"), (2, "")]


def test_a_program_gets_the_stages(tmp_path: Path) -> None:
    done = assay(tmp_path, "run", study(tmp_path), "--stage", "--json")
    found = json.loads(done.stdout)
    assert found["status"] == "interrupted" and [stage["value"] for stage in found["stages"]] == [1]
    plan = json.loads(assay(tmp_path, "plan", "study.yaml", "--json").stdout)
    assert [(stage["axis"], stage["value"], len(stage["cases"])) for stage in plan["stages"]] == [
        ("lanes", 1, 1),
        ("lanes", 2, 1),
        ("lanes", 4, 1),
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "lanes=2"], "the study has no stages: no workload has several numbers of hosts, tasks or lanes"),
        ([], "a study with a schedule cannot be measured in stages"),
    ],
)
def test_what_has_no_stages_is_refused_in_one_line(tmp_path: Path, more: list[str], message: str) -> None:
    rest = "" if more else "schedule: {over: 1h}"
    done = assay(tmp_path, "run", study(tmp_path, rest=rest), "--stage", *more, expect=2)
    assert message in done.stderr and len(done.stderr.splitlines()) == 2
    assert not (tmp_path / "assay-runs").exists()
