"""Several engines that do one job together: the same start, exact totals, and what happens when one is lost."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from group_tools import GUARD, HOUR, MS, job, members, samples
from run_tools import ENGINE, needs_engine
from soak import times

from assay.analyse import histograms
from assay.contract._generated import Job
from assay.contract.messages import Event, IntervalEvent
from assay.launch.conversation import Grace
from assay.launch.group import run_group
from assay.launch.launcher import LocalLauncher
from assay.model.site.host import Host
from assay.plan.jobs import joint_job
from assay.run.fleet import Fleet
from assay.run.read_events import samples_of_hosts

pytestmark = needs_engine


def once_reading(action: Callable[[], object]) -> Callable[[str, Event], None]:
    """For `run_group`: something is done once, when an engine has told what it has read so far."""
    told: list[Event] = []

    def hear(_host: str, event: Event) -> None:
        if isinstance(event, IntervalEvent) and not told:
            told.append(event)
            action()

    return hear


def test_engines_start_together_and_their_results_add_up() -> None:
    done = run_group(members(joint_job(job(file_size_bytes=4 << 20), 4)), GUARD)
    assert (done.status, done.reason) == ("ok", "")
    read, write = samples(done)
    assert (read.ops, read.bytes) == (4 * 2 * 1024, 4 * 2 << 22)
    assert read.status == write.status == "done"
    assert read.skew_ns < 0.5 * read.elapsed_ns
    assert 0 < read.clock_uncertainty_ns < 0.5 * read.elapsed_ns
    assert [share.host for share in read.hosts] == ["h1", "h2", "h3", "h4"]
    assert sum(share.bytes for share in write.hosts) == write.bytes
    assert all(share.throughput > 0 and share.latency["p50"] >= 0.9 * MS for share in write.hosts)
    assert write.histogram and histograms.decode(write.histogram).total == write.ops
    assert max(share.stonewall_bytes for share in write.hosts) <= max(share.bytes for share in write.hosts)
    assert write.steady
    assert write.course is not None
    assert write.cpus == os.cpu_count() or write.cpus <= len(os.sched_getaffinity(0))


def test_percentiles_of_all_are_those_of_all_latencies_together() -> None:
    """One host is ten times slower than the others: no average of percentiles says what the pooled ones do."""

    def slower(rank: int, one: Job) -> Job:
        latency = {"distribution": "fixed", "ns": 100 * MS if rank == 2 else 10 * MS}
        return Job.model_validate({**one.model_dump(mode="json"), "target": {"kind": "null", "latency": latency}})

    done = run_group(
        members(joint_job(job(file_size_bytes=16 << 12, phases=[{"operation": "read"}]), 3), slower), GUARD
    )
    (read,) = samples(done)
    parts = []
    for part in done.parts:
        ends = [json.loads(line) for line in part.events.splitlines() if '"phase_end"' in line]
        parts.append(histograms.decode(ends[0]["operations"][0]["latency"]["histogram"]))
    pooled = histograms.merge(parts)
    assert pooled.total == read.ops
    for name, value in histograms.summary(pooled).items():
        assert read.latency[name] == min(value, read.latency["max"])
    assert read.finish_spread_ns > 0.5 * read.elapsed_ns
    slow = read.hosts[2]
    for fast in read.hosts[:2]:
        assert slow.throughput < 0.5 * fast.throughput
        assert slow.stonewall_bytes < 0.5 * fast.stonewall_bytes
    assert slow.bytes == read.hosts[0].bytes


def test_after_a_time_limit_every_lane_of_every_host_does_as_much_as_the_fastest() -> None:
    def slower(rank: int, one: Job) -> Job:
        latency = {"distribution": "fixed", "ns": (20 if rank == 1 else 2) * MS}
        return Job.model_validate({**one.model_dump(mode="json"), "target": {"kind": "null", "latency": latency}})

    shift = {"order": "shift", "lanes": 2}
    phases = [
        {"operation": "write", "time_limit_ns": 200 * MS, "wear_out": True},
        {"operation": "read", "reorder": shift},
    ]
    done = run_group(members(joint_job(job(file_size_bytes=1 << 30, phases=phases), 3), slower), GUARD)
    assert (done.status, done.reason) == ("ok", "")
    write, read = samples(done)
    wall = write.at_limit
    assert wall is not None and read.at_limit is None
    assert 0 <= wall.min_ops < wall.max_ops
    assert wall.ops < write.ops == 3 * 2 * wall.max_ops
    assert wall.elapsed_ns >= 200 * MS and write.elapsed_ns > wall.elapsed_ns
    assert read.ops == write.ops
    assert [share.bytes for share in read.hosts] == [write.bytes // 3] * 3


def test_an_engine_that_is_killed_stops_all_and_is_named() -> None:
    pids: list[int] = []
    whole = joint_job(job(phases=[{"operation": "read", "runtime_ns": HOUR}]), 3)
    done = run_group(members(whole), GUARD, once_reading(lambda: os.kill(pids[1], signal.SIGKILL)), pids.append)
    assert done.status == "crashed" and done.reason == "h2: the engine was killed by SIGKILL before it was done"
    assert [part.status for part in done.parts] == ["stopped", "crashed", "stopped"]
    (read,) = samples(done)
    assert read.status == "crashed"
    assert [share.status for share in read.hosts] == ["stopped", "crashed", "stopped"]


def test_a_host_on_which_a_phase_fails_is_named_and_no_other_waits_for_it() -> None:
    def broken(rank: int, one: Job) -> Job:
        errors = [{"at_op": 3, "errno": 5}] if rank == 1 else []
        target = {"kind": "null", "errors": errors}
        return Job.model_validate({**one.model_dump(mode="json"), "target": target, "error_limit": 1})

    phases = [{"operation": "read", "runtime_ns": HOUR}, {"operation": "write"}]
    done = run_group(members(joint_job(job(phases=phases), 3), broken), GUARD)
    assert done.status == "errors" and done.reason.startswith("h2: phase 0 (read) failed")
    read, _ = samples(done)
    assert read.status == "failed"
    assert read.errors[0].name == "EIO" and read.errors[0].example.startswith("h2: read ")


def test_an_engine_that_is_frozen_counts_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.launch.group.HOST_TIMEOUT_SECONDS", 4.0)
    pids: list[int] = []
    whole = joint_job(job(phases=[{"operation": "read", "runtime_ns": HOUR}]), 2)
    done = run_group(
        members(whole),
        GUARD,
        once_reading(lambda: os.kill(pids[0], signal.SIGSTOP)),
        pids.append,
        grace=Grace(stop_s=5.0),
    )
    assert done.status == "crashed" and done.reason.startswith("h1: the host has not answered for ")
    assert done.parts[1].status == "stopped"


def test_ranks_write_and_check_one_directory(tmp_path: Path) -> None:
    (tmp_path / ".assay-target").write_text("{}")
    target = {"kind": "file", "root": str(tmp_path), "directory": "job"}
    for layout in ("separate", "shared"):
        phases = [{"operation": name} for name in ("write", "read", "random_write", "random_read")]
        whole = joint_job(job(target=target, layout=layout, data={"verify": True}, phases=phases), 3)
        done = run_group(members(whole), GUARD)
        assert done.status == "ok", done.reason
        found = samples(done)
        expected = (6 if layout == "separate" else 1) << 20
        assert [sample.bytes for sample in found] == [expected] * 4
        assert found[1].verified_bytes == found[3].verified_bytes == expected
        assert sorted(path.name for path in tmp_path.iterdir()) == [".assay-target"]


def test_a_fleet_keeps_who_said_what() -> None:
    hosts = tuple(Host(name=f"c{number}", kind="local") for number in (1, 2))
    fleet = Fleet(hosts, (LocalLauncher(Path(ENGINE)), LocalLauncher(Path(ENGINE))))
    heard: list[str] = []
    done = fleet.run(joint_job(job(), 2), GUARD, lambda host, _event: heard.append(host), lambda: 0)
    assert set(heard) == {"c1", "c2"}
    read, write = samples_of_hosts("c0001", 2, joint_job(job(), 2), done.events, done.seconds)
    assert [share.host for share in read.hosts] == ["c1", "c2"] and write.repeat == 2
    assert '"event":"pong"' not in done.events


def test_many_engines_work_in_one_run() -> None:
    # Slow operations and few intervals, so that two CPUs are enough for all of them to get their turn.
    count = times(32, 256)
    target = {"kind": "null", "latency": {"distribution": "fixed", "ns": 20 * MS}}
    phases = [{"operation": "read", "runtime_ns": 1500 * MS}]
    whole = joint_job(job(lanes=1, target=target, interval_ns=1000 * MS, phases=phases), count)
    done = run_group(members(whole), GUARD)
    assert done.status == "ok", done.reason
    (read,) = samples(done)
    assert len(read.hosts) == count and all(share.ops > 0 for share in read.hosts)
