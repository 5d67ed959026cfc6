"""Runs that are killed, stopped and resumed end with exactly the planned repeats, and leave nothing behind."""

import contextlib
import os
import pty
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from killing import GUARD, Start, engines_of, kill_engine, strike, wait_for_line
from run_tools import ASSAY, SLOW, assay, check_nothing_left, check_whole, needs_engine, only_run, study
from soak import times

from assay.run.interruption import Interruption
from assay.store import ENGINE_LOCK, RunStore, list_runs
from assay.store.lock import is_locked

pytestmark = needs_engine


KILLS = times(3, 34)
"""Of each kind."""


@pytest.mark.parametrize("victim", ["workbench", *times([], ["engine"]), "both"])
def test_kill_9_at_random_moments_then_resume(tmp_path: Path, start: Start, victim: str) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    file = str(study(tmp_path, **SLOW))
    kills = 0
    while kills < KILLS:
        runs = list_runs(tmp_path / "assay-runs")
        if runs and runs[0].status == "complete":
            # It was done before the last kill: look at it and begin anew.
            check_whole(tmp_path, phases=2)
            shutil.rmtree(runs[0].folder)
            runs = []
        process = start(file, *(["--resume"] if runs else []))
        kills += strike(process, victim, chance, KILLS - kills)
        output, _ = process.communicate(timeout=GUARD)
        assert "Traceback" not in output, output
    runs = list_runs(tmp_path / "assay-runs")
    if not runs:
        assay(tmp_path, "run", file)
    elif runs[0].status != "complete":
        assay(tmp_path, "run", file, "--resume")
    check_whole(tmp_path, phases=2)


def test_crashed_engine_is_a_result_until_resumed(tmp_path: Path, start: Start) -> None:
    file = str(study(tmp_path, **SLOW))
    process = start(file)
    assert kill_engine(process)
    output, _ = process.communicate(timeout=GUARD)
    assert process.returncode == 1, output
    assert "killed by SIGKILL" in output
    run = only_run(tmp_path)
    with RunStore.open(run) as store:
        (crashed,) = [job for job in store.jobs() if job.status == "crashed"]
        assert store.info().finished == store.info().planned == 12
        assert store.info().status == "complete with errors"
    check_nothing_left(tmp_path)
    assay(tmp_path, "run", "--resume")
    with RunStore.open(run) as store:
        again = next(job for job in store.jobs(crashed.case) if job.repeat == crashed.repeat)
        assert (again.status, again.attempts) == ("ok", 2)
        assert "killed by SIGKILL" in " ".join(attempt.reason for attempt in store.attempts(crashed.case))
    check_whole(tmp_path, phases=2)
    done = assay(tmp_path, "run", "--resume", expect=2)
    assert "there is no unfinished run" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_removes_the_data_and_says_how_to_go_on(
    tmp_path: Path, start: Start, number: signal.Signals
) -> None:
    file = str(study(tmp_path, **SLOW))
    process = start(file)
    wait_for_line(process, "[3/12]")
    time.sleep(0.1)
    process.send_signal(number)
    output = process.communicate(timeout=GUARD)[0]
    assert process.returncode == 130, output
    assert f"continue with: assay run {Path('assay-runs') / only_run(tmp_path).name} --resume" in output
    check_nothing_left(tmp_path)
    with RunStore.open(only_run(tmp_path)) as store:
        done = store.info().finished
        assert 3 <= done < 12
        assert store.info().status == "interrupted"
    assert "interrupted" in assay(tmp_path, "list").stdout
    assert f"{done} of 12 repeats done" in assay(tmp_path, "show", "last").stdout
    assay(tmp_path, "run", only_run(tmp_path).name, "--resume")
    check_whole(tmp_path, phases=2)


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    seen = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interruption = Interruption()
        with interruption.watch():
            for number in (signal.SIGHUP, signal.SIGTERM):
                signal.raise_signal(number)
                seen.append(interruption.count)
        assert seen == [0, 1] and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_resume_refuses_a_changed_study_and_a_run_in_progress(tmp_path: Path, start: Start) -> None:
    file = study(tmp_path, **SLOW)
    process = start(str(file))
    wait_for_line(process, "[1/12]")
    # Stopped, it holds its locks for as long as the test takes.
    process.send_signal(signal.SIGSTOP)
    name = only_run(tmp_path).name
    assert "is being executed by another process" in assay(tmp_path, "run", name, "--resume", expect=3).stderr
    assert f"is in use by run {name}" in assay(tmp_path, "run", str(file), expect=3).stderr
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=GUARD)
    file.write_text(file.read_text() + "# changed\n")
    assert "no unfinished run of exactly this study" in assay(tmp_path, "run", str(file), "--resume", expect=2).stderr
    assay(tmp_path, "run", "--resume")
    check_whole(tmp_path, phases=2)


def test_new_run_clears_what_a_dead_run_left(tmp_path: Path, start: Start) -> None:
    file = str(study(tmp_path, **SLOW))
    process = start(file)
    wait_for_line(process, "[2/12]")
    engines = engines_of(process.pid)
    for pid in [process.pid, *engines]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()
    dead = only_run(tmp_path)
    assert (tmp_path / "target" / ".assay-target").is_file()
    (tmp_path / "target" / "c0001-r1").mkdir(exist_ok=True)
    while is_locked(dead / ENGINE_LOCK):
        time.sleep(0.01)
    assay(tmp_path, "run", file)
    check_nothing_left(tmp_path)
    statuses = [run.status for run in list_runs(tmp_path / "assay-runs")]
    assert statuses == ["interrupted", "complete"]
    assay(tmp_path, "run", "--resume")
    check_nothing_left(tmp_path)


def test_kept_files_stay_and_are_not_overwritten(tmp_path: Path, start: Start) -> None:
    file = study(tmp_path, **SLOW)
    file.write_text(file.read_text() + "output: {keep_files: true}\n")
    process = start(str(file))
    wait_for_line(process, "[2/12]")
    process.kill()
    process.wait()
    assay(tmp_path, "run", "--resume")
    kept = {path.name for path in (tmp_path / "target").iterdir()}
    with RunStore.open(only_run(tmp_path)) as store:
        assert kept == {".assay-target", *(f"{case}-r{repeat}" for case, repeat in store.order())}
    assert "keeps there" in assay(tmp_path, "run", str(file), expect=3).stderr


def test_group_of_a_killed_run_is_closed_in_the_journal_when_it_is_resumed(tmp_path: Path, start: Start) -> None:
    groups = Path("/sys/fs/cgroup/memory")
    if os.geteuid() != 0 or not groups.exists():
        pytest.skip("needs root and a version 1 memory controller")
    file = str(study(tmp_path, **{**SLOW, "cache": "limit", "extra": "memory_limit: 128MiB\n    runtime: 120ms"}))
    process = start(file)
    wait_for_line(process, "[2/12]")
    run = only_run(tmp_path)
    end = time.monotonic() + GUARD
    # Between two repeats there is no group.
    while process.send_signal(signal.SIGSTOP) or not list(groups.glob(f"assay-{run.name}*")):
        process.send_signal(signal.SIGCONT)
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.kill()
    process.communicate()
    with RunStore.open(run) as store:
        open_groups = [entry.name for entry in store.entries() if entry.kind == "cgroup"]
    assert open_groups
    assay(tmp_path, "run", "--resume")
    assert not list(groups.glob(f"assay-{run.name}*"))
    check_whole(tmp_path, phases=2)


@pytest.mark.parametrize("term", ["xterm", *times([], ["dumb"])])
def test_terminal_that_is_closed_interrupts_the_run(tmp_path: Path, term: str) -> None:
    file = str(study(tmp_path, **SLOW))
    pid, terminal = pty.fork()
    if pid == 0:
        # Under nohup the tests, and what they start, would not hear of it.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.chdir(tmp_path)
        os.execve(ASSAY, [ASSAY, "run", file], {**os.environ, "TERM": term})
    seen = b""
    while b"/12" not in seen:
        seen += os.read(terminal, 4096)
    time.sleep(0.5)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    check_nothing_left(tmp_path)
    with RunStore.open(only_run(tmp_path)) as store:
        assert store.info().status == "interrupted"
    assay(tmp_path, "run", "--resume")
    check_whole(tmp_path, phases=2)


def test_of_runs_started_together_one_gets_the_target(tmp_path: Path, start: Start) -> None:
    file = str(study(tmp_path, **{**SLOW, "extra": "runtime: 10m"}))
    runs = [start(file, "--out", str(tmp_path / "assay-runs" / str(number))) for number in range(times(3, 8))]
    end = time.monotonic() + GUARD
    while len(alive := [run for run in runs if run.poll() is None]) > 1:
        assert time.monotonic() < end, "several go on"
        time.sleep(0.05)
    for run in runs:
        if run not in alive:
            said, _ = run.communicate(timeout=GUARD)
            assert run.returncode == 3 and "is in use by run " in said, said
    (winner,) = alive
    assert kill_engine(winner)
    winner.send_signal(signal.SIGINT)
    assert "continue with: " in winner.communicate(timeout=GUARD)[0]
    assert winner.returncode == 130
    check_nothing_left(tmp_path)
