"""Engines that behave, crash, hang, babble; memory caps; what is known of the machine."""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from paths import SUPPORT, this_python

from assay.journal.file import FileJournal
from assay.launch import cgroup, machine_checks
from assay.launch.binary import find_engine, load_engine
from assay.launch.conversation import Conversation, Grace
from assay.launch.doctor import examine
from assay.launch.engine import Outcome, run_job
from assay.launch.launcher import LocalLauncher
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.study.case import Case
from assay.model.study.parameters import Parameters
from assay.model.study.study import Study
from assay.plan.expand import expand
from assay.plan.load import load_study

QUICK = Grace(stop_s=0.3, terminate_s=0.3, kill_s=600.0, exit_s=0.3)
PATIENT = Grace(stop_s=600, terminate_s=600, kill_s=600, exit_s=600)
SLEEPS = 600
"""Seconds that the fake engine sleeps where it does not end by itself."""


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """The fake engine as an executable file of this interpreter."""
    path = tmp_path / "assay-engine"
    text = (SUPPORT / "fake_engine.py").read_text()
    path.write_text(text.replace("#!/usr/bin/env python3\n", this_python(), 1))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def job(how: str, **more: object) -> str:
    value = {
        "spec_version": 2,
        "id": how,
        "target": {"kind": "null"},
        "file_size_bytes": 1,
        "record_size_bytes": 1,
        "phases": [{"operation": "read"}],
    }
    return json.dumps({**value, **more})


def execute(fake: Path, how: str, silence: float = 600.0, grace: Grace = QUICK, **options: Any) -> Outcome:
    return run_job(LocalLauncher(fake), job(how), silence, grace=grace, **options)


def execute_until_heard(fake: Path, how: str, **options: Any) -> Outcome:
    """It is asked to stop once it has said something: then it does what it is to do."""
    heard: list[Any] = []
    return execute(fake, how, on_event=heard.append, stop=lambda: int(bool(heard)), **options)


def test_normal_job(fake: Path) -> None:
    events: list[Any] = []
    pids: list[int] = []
    begun, started = time.time(), time.monotonic()
    outcome = execute(fake, "normal", on_event=events.append, on_start=pids.append)
    assert (outcome.status, outcome.reason, outcome.stop_requested) == ("ok", "", False)
    assert [event.event for event in events] == ["hello", "bye"]
    assert events[0].pid == pids[0]
    assert len(outcome.events.splitlines()) == 2
    assert 0 < outcome.seconds <= time.monotonic() - started
    assert begun <= outcome.started_at <= time.time()


def test_engine_that_ends_before_anybody_looks_is_heard(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send = Conversation._send

    def send_and_linger(talk: Conversation, pipe: Any) -> None:
        send(talk, pipe)
        talk.process.wait(timeout=600)

    monkeypatch.setattr(Conversation, "_send", send_and_linger)
    assert execute(fake, "normal").status == "ok"


@pytest.mark.parametrize(
    ("how", "status", "reason"),
    [
        ("errors", "errors", "3 operations failed"),
        ("refuse", "refused", "phases[0]: not today"),
        ("no-credentials", "refused", "find credentials: there are none"),
        ("crash", "crashed", "the engine ended with exit code 101 before it was done: panicked: out of luck"),
        ("killed", "crashed", "the engine was killed by SIGKILL before it was done"),
        ("cut", "crashed", "the engine ended with exit code 0 before it was done"),
        ("flood", "crashed", "the engine ended with exit code 1 before it was done: the end"),
        ("descendant", "crashed", "the engine ended with exit code 1 before it was done"),
        ("much-garbage", "crashed", "the engine printed more than 1000 lines that are not events"),
    ],
)
def test_bad_ends(fake: Path, how: str, status: str, reason: str) -> None:
    outcome = execute(fake, how)
    assert (outcome.status, outcome.reason) == (status, reason)


def test_a_little_garbage_does_not_cost_the_repeat(fake: Path) -> None:
    outcome = execute(fake, "garbage")
    assert outcome.status == "ok"
    assert outcome.reason.startswith("2 lines of the engine's output are not events; the first:")


def test_unreadable_hello_is_no_good_result(fake: Path) -> None:
    outcome = execute(fake, "bad-hello")
    assert outcome.status == "crashed"
    assert outcome.reason.startswith("the engine's hello cannot be read: ")


def test_silence_is_a_crash(fake: Path) -> None:
    outcome = execute(fake, "silent", silence=0.5)
    assert (outcome.status, outcome.stop_requested) == ("crashed", False)
    assert outcome.reason.startswith("hung: no progress for ")
    assert outcome.seconds < SLEEPS


def test_a_list_that_grows_is_no_silence_and_one_that_does_not_is(fake: Path) -> None:
    assert execute(fake, "lists", silence=1.5).status == "ok"
    outcome = execute(fake, "lists-nothing-more", silence=1.5)
    assert outcome.status == "crashed" and outcome.reason.startswith("hung: no progress for ")


def test_engine_that_took_its_leave_but_stays_is_ended(fake: Path) -> None:
    outcome = execute(fake, "lingers")
    assert outcome.status == "ok"
    assert outcome.seconds < SLEEPS


def test_orderly_stop(fake: Path) -> None:
    outcome = execute_until_heard(fake, "waits", grace=PATIENT)
    assert (outcome.status, outcome.stop_requested) == ("stopped", True)
    assert outcome.reason == 'asked: {"stop":true}'


def test_stubborn_engine_is_killed(fake: Path) -> None:
    pids: list[int] = []
    outcome = execute_until_heard(fake, "stubborn", on_start=pids.append)
    assert (outcome.status, outcome.stop_requested) == ("crashed", True)
    assert "SIGKILL" in outcome.reason
    assert not Path("/proc", str(pids[0])).exists()


def test_second_request_skips_the_orderly_stop(fake: Path) -> None:
    pids: list[int] = []
    outcome = execute(fake, "silent", grace=PATIENT, on_start=pids.append, stop=lambda: 2 * len(pids))
    assert outcome.reason == "the engine was killed by SIGTERM before it was done"
    assert outcome.seconds < SLEEPS


def test_large_job_and_events_do_not_block_each_other(fake: Path) -> None:
    stalls = [{"at_op": number, "duration_ns": 1} for number in range(10_000)]
    text = job("normal", target={"kind": "null", "stalls": stalls})
    assert len(text) > 200_000
    outcome = run_job(LocalLauncher(fake), text, 600, grace=QUICK)
    assert outcome.status == "ok"
    assert len(outcome.events) > 200_000


def test_error_before_the_job_is_sent_leaves_no_process(fake: Path) -> None:
    pids: list[int] = []

    def refuse(pid: int) -> None:
        pids.append(pid)
        raise AssayError("no cap")

    with pytest.raises(AssayError, match="no cap"):
        execute(fake, "silent", on_start=refuse)
    assert not Path("/proc", str(pids[0])).exists()


def test_engine_inherits_only_what_it_is_given(fake: Path, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock, (tmp_path / "other").open("w") as other:
        os.set_inheritable(other.fileno(), True)
        seen: list[list[str]] = []

        def look(pid: int) -> None:
            seen.append([])
            for path in Path("/proc", str(pid), "fd").iterdir():
                with contextlib.suppress(FileNotFoundError):
                    seen[0].append(str(path.readlink()))

        run_job(LocalLauncher(fake, [lock.fileno()]), job("normal"), 600, grace=QUICK, on_start=look)
    assert str(tmp_path / "lock") in seen[0]
    assert str(tmp_path / "other") not in seen[0]


def test_replaced_engine_is_refused(fake: Path) -> None:
    launcher = LocalLauncher(fake)
    copy = fake.with_name("new")
    shutil.copy2(fake, copy)
    copy.rename(fake)
    with pytest.raises(AssayError, match="was replaced"):
        launcher.start(["run", "-"])


def test_engine_that_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="cannot be started"):
        LocalLauncher(tmp_path / "none").start(["run"])


def test_engine_is_found_by_environment(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENGINE", str(fake))
    assert find_engine() == fake
    engine = load_engine()
    assert engine.version == "fake"
    assert engine.sha256 == hashlib.sha256(fake.read_bytes()).hexdigest()
    monkeypatch.setenv("ASSAY_ENGINE", "/nowhere/assay-engine")
    with pytest.raises(AssayError, match="ASSAY_ENGINE=/nowhere/assay-engine: not an executable file"):
        find_engine()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('{"spec_version": 3, "engine_version": "9"}', "speaks version 3 of the contract, this workbench version 2"),
        ("nonsense", "its answer cannot be parsed"),
        ('{"spec_version": 2}', "its answer cannot be parsed"),
    ],
)
def test_engine_of_another_contract_is_refused(
    fake: Path, monkeypatch: pytest.MonkeyPatch, answer: str, message: str
) -> None:
    monkeypatch.setenv("FAKE_CAPABILITIES", answer)
    with pytest.raises(AssayError, match=message) as caught:
        load_engine(fake)
    assert caught.value.exit_code == EXIT_REFUSED


def memory_groups() -> cgroup.MemoryController:
    try:
        return cgroup.find_controller()
    except AssayError as error:
        pytest.skip(error.message)


def test_memory_cap_holds_the_process_and_goes_away(tmp_path: Path) -> None:
    hierarchy = memory_groups()
    limit = 64 << 20
    journal = FileJournal(tmp_path / "journal")
    cap = cgroup.MemoryCap("test", limit, journal, hierarchy)
    cap.create()
    try:
        assert int((cap.path / hierarchy.limit_file).read_text()) == limit
        assert [entry.name for entry in journal.entries()] == [str(cap.path)]
        eater = "input(); block = bytearray(256 << 20); print(sum(block[::4096]))"
        process = subprocess.Popen([sys.executable, "-c", eater], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        cap.add(process.pid)
        assert not cap.was_oom_killed()
        process.communicate(b"\n", timeout=600)
        assert process.returncode == -9
        assert cap.was_oom_killed()
    finally:
        assert cap.remove()
    assert not cap.path.exists()
    assert journal.entries() == []


def test_memory_groups_of_dead_workbenches_are_removed_and_no_others() -> None:
    hierarchy = memory_groups()
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = hierarchy.folder / f"assay-20261122-101010-a-study-{dead.pid}"
    others = [hierarchy.folder / f"assay-20261122-101010-a-study-{os.getpid()}"]
    others += [hierarchy.folder / name.format(dead.pid) for name in ("assay-theirs-{}", "assay-box-0123abcd-x-{}")]
    for group in (left, *others):
        group.mkdir()
    try:
        assert left not in cgroup.remove_leftovers()
        assert not left.exists()
        assert all(group.exists() for group in others)
    finally:
        for group in others:
            group.rmdir()


RUN = "20261122-101010-a-study"


def test_a_memory_group_of_the_journal_is_removed_if_it_is_of_the_run(tmp_path: Path) -> None:
    cap = cgroup.MemoryCap(RUN, 64 << 20, FileJournal(tmp_path / "journal"), memory_groups())
    cap.create()
    assert cgroup.release_group(str(cap.path), RUN) == []
    assert not cap.path.exists()
    assert cgroup.release_group(str(cap.path), RUN) == [], "it is gone"


def test_what_a_journal_calls_a_memory_group_stays_unless_it_is_one_of_the_run(tmp_path: Path) -> None:
    """A run's folder may come from somebody else, with any path in its journal."""
    hierarchy = memory_groups().folder
    number = os.getpid()
    own = hierarchy / f"assay-{RUN}-{number}"
    empty = [
        tmp_path / "empty",
        tmp_path / own.name,
        hierarchy / f"theirs-{number}",
        hierarchy / f"assay-{RUN}-2-{number}",
    ]
    below = own / own.name
    link = tmp_path / "link"
    link.symlink_to(hierarchy)
    try:
        for path in (own, *empty, below):
            path.mkdir()
        dotted = [
            f"{tmp_path}/../{tmp_path.name}/empty",
            f"{own}/../theirs-{number}",
            f"{link}/{own.name}",
            f"{own}/..",
        ]
        for name in (*map(str, empty), str(below), *dotted, "", ".", "relative", str(tmp_path)):
            known = os.path.lexists(Path(name))
            assert len(cgroup.release_group(name, RUN)) == known, name
        assert all(path.is_dir() for path in (own, *empty, below))
        assert not cgroup.remove_group(empty[0])
        assert not cgroup.remove_group(empty[1])
        assert all(path.is_dir() for path in empty[:2]), "what is no control group is left alone in any case"
    finally:
        for path in (below, own, *empty):
            path.rmdir()


def test_no_memory_controller_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="memory cannot be capped") as caught:
        cgroup.find_controller(tmp_path)
    assert caught.value.exit_code == EXIT_REFUSED


def test_version_2_hierarchy_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu io memory\n")
    assert cgroup.find_controller(tmp_path).version == 2
    (tmp_path / "cgroup.controllers").write_text("cpu io\n")
    with pytest.raises(AssayError):
        cgroup.find_controller(tmp_path)


def test_impossible_limit_leaves_no_group(tmp_path: Path) -> None:
    hierarchy = memory_groups()
    journal = FileJournal(tmp_path / "journal")
    cap = cgroup.MemoryCap("test", -5, journal, hierarchy)
    with pytest.raises(AssayError, match="memory cannot be capped at -5 bytes"):
        cap.create()
    assert not cap.path.exists()
    assert journal.entries() == []


def study_of(*policies: str, optional: str = "true") -> tuple[Study, tuple[Case, ...]]:
    text = "study: s\nquestion: why?\ntargets: {a: {kind: file, path: /var/tmp/a}}\nworkloads:\n"
    for policy in policies:
        limit = ", memory_limit: 128MiB" if policy == "limit" else ""
        fields = f"file_size: 1MiB, record_size: 4KiB, cache: {policy}{limit}, optional: {optional}"
        text += f"  {policy}: {{operations: [read], {fields}}}\n"
    study = load_study(text.encode()).study
    assert study is not None
    return study, expand(study).cases


def test_what_the_host_cannot_do_of_optional_workloads_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "drop_caches_fault", lambda: "no drop")
    monkeypatch.setattr(machine_checks, "memory_cap_fault", lambda: "no limit")
    study, cases = study_of("keep", "drop", "limit", optional="false")
    assert machine_checks.exclude_unavailable(study, cases) == (cases, ())
    study, cases = study_of("keep", "drop", "limit")
    kept, left_out = machine_checks.exclude_unavailable(study, cases)
    assert kept == cases[:1]
    assert [(item.workload, item.rule, item.reason) for item in left_out] == [
        ("drop", "not supported on this machine", "no drop"),
        ("limit", "not supported on this machine", "no limit"),
    ]
    monkeypatch.setattr(machine_checks, "drop_caches_fault", lambda: None)
    assert [case.workload for case in machine_checks.exclude_unavailable(study, cases)[0]] == ["keep", "drop"]


def test_tuning_that_the_host_cannot_do_is_named(tmp_path: Path) -> None:
    (tmp_path / "devices/system/node/node0").mkdir(parents=True)
    pages = tmp_path / "kernel/mm/hugepages/hugepages-2048kB"
    pages.mkdir(parents=True)
    (pages / "nr_hugepages").write_text("0\n")

    def problems(**changes: Any) -> str:
        parameters = Parameters(file_size=4096, record_size=4096, **changes)
        return " | ".join(f"{text}; {hint}" for _, text, hint in machine_checks.tuning_problems(parameters, tmp_path))

    usable = sorted(os.sched_getaffinity(0))
    assert problems(cpus=",".join(map(str, usable)), numa_node=0) == problems() == ""
    assert "there is no CPU 1022, 1023" in problems(cpus=f"{usable[0]},1022-1023")
    assert f"usable are {usable[0]}" in problems(cpus="1023")
    assert "no node 7" in problems(numa_node=7)
    assert "none are reserved" in problems(huge_pages=True)
    (pages / "nr_hugepages").write_text("64\n")
    assert problems(huge_pages=True) == ""


def test_abilities_of_the_host_are_tried_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchy = memory_groups()
    assert cgroup.memory_cap_fault() is None
    assert not list(hierarchy.folder.glob(f"assay-probe-{os.getpid()}"))
    monkeypatch.setattr(cgroup, "find_controller", lambda: cgroup.MemoryController(1, tmp_path / "none", "limit"))
    assert "memory cannot be capped" in str(cgroup.memory_cap_fault())
    monkeypatch.setattr(machine_checks, "DROP_CACHES", tmp_path)
    assert "the page cache cannot be dropped" in str(machine_checks.drop_caches_fault())


def test_doctor_leaves_nothing_and_gives_remedies(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENGINE", str(fake))
    made, make = [], tempfile.mkstemp

    def noted(*words: Any, **options: Any) -> tuple[int, str]:
        made.append(make(*words, **options))
        return made[-1]

    monkeypatch.setattr(tempfile, "mkstemp", noted)
    facts = {fact.name: fact for fact in examine()}
    assert facts["assay-engine"].status == "ok"
    assert {"io_uring", "drop caches", "memory cgroup", "network namespaces", "clock source", "fio"} <= set(facts)
    assert all(fact.remedy for fact in facts.values() if fact.status == "missing")
    assert made and not any(Path(path).exists() for _, path in made)
    monkeypatch.setenv("ASSAY_ENGINE", "/nowhere")
    assert {fact.name: fact for fact in examine()}["assay-engine"].status == "missing"
