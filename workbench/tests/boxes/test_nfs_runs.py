"""Whole runs in a cluster in a box in which something dies or is slow: the case says so, the others go on."""

import json
import os
import signal
import time
from pathlib import Path

from nfs_tools import SERVED, Run
from run_tools import assay
from testbed_tools import assert_nothing_left, assert_soon, left, own_processes

HOSTS = f"""
  client[1-2]: {{}}
  server1: {{disks: [{{size: 256MiB, mount: /export}}], {SERVED}}}
"""
STUDY = """
study: faults
question: What is said when something goes wrong?
testbed: box.yaml
targets:
  nfs: {{kind: nfs, servers: server1, export: /export, timeout: 3s}}
workloads:
  w:
    operations: [{operations}]
    hosts: {count}
    file_size: {size}
    record_size: {record}
    {extra}
repeats: 1
ceilings: none
order: sequential
"""


def start(folder: Path, hosts: str = HOSTS, **fields: str) -> Run:
    """Start a run in which some of the study is another."""
    values = {"operations": "read", "count": "2", "size": "1MiB", "extra": "", "record": "64KiB"}
    return Run(folder, hosts, STUDY.format(**{**values, **fields}), quick=True)


def test_a_client_whose_engine_is_killed_is_named_and_the_next_case_goes_well(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, record="[64KiB, 128KiB]", extra="runtime: 3s")
    os.kill(run.engine(run.box(), "client2"), signal.SIGKILL)
    said = run.ends(1)
    assert "1 crashed" in said
    first, second = run.outcomes().values()
    assert first == ("crashed", "client2: the engine was killed by SIGKILL before it was done")
    assert second == ("ok", "")
    lost, well = run.samples()
    assert (lost.status, [share.status for share in lost.hosts]) == ("crashed", ["stopped", "crashed"])
    assert (well.status, [share.status for share in well.hosts]) == ("done", ["done", "done"])
    shown = run.shown()
    assert (shown["status"], shown["outcomes"]) == ("complete with errors", {"crashed": 1, "ok": 1})
    assert "incomplete" in json.dumps(shown["results"][0]), shown["results"]


def test_a_client_that_dies_is_named_and_the_cases_without_it_go_well(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, count="[2, 1]", extra="runtime: 3s")
    box = run.box()
    run.engine(box, "client2")
    os.kill(box.host("client2").pid, signal.SIGKILL)
    run.ends(1)
    outcomes = run.outcomes()
    assert [status for status, _ in outcomes.values()] == ["crashed", "ok"], outcomes
    assert next(iter(outcomes.values()))[1].startswith("client2: ")
    assert_nothing_left(root)


def test_a_client_that_is_five_times_slower_is_seen_in_the_shares(root: Path, tmp_path: Path) -> None:
    hosts = HOSTS.replace("client[1-2]: {}", "client1: {link: 250 Mbit/s}\n  client2: {link: 50 Mbit/s}")
    run = start(tmp_path, hosts, size="24MiB", record="1MiB", operations="write, read", extra="sync: none")
    run.ends(0)
    for result in run.shown()["results"]:
        assert "skewed" in (result["verdict"], *result["further_verdicts"]), result
    for sample in run.samples():
        fast, slow = sample.hosts
        assert (fast.host, slow.host, fast.bytes) == ("client1", "client2", slow.bytes)
        assert 3.5 < fast.throughput / slow.throughput < 6.5, sample.hosts
        assert fast.stonewall_bytes > 0.9 * fast.bytes
        assert slow.stonewall_bytes < 0.35 * slow.bytes
        assert sample.finish_spread_ns > 0.6 * sample.elapsed_ns


def test_a_controller_that_is_killed_leaves_nothing_for_long(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, extra="runtime: 1h")
    box = run.box()
    pids = [run.engine(box, host) for host in ("client1", "client2")]
    time.sleep(1)
    run.process.kill()
    assert_soon(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), lambda: "engines live on")
    run.process.communicate()
    assert own_processes(root), "the box is still there"
    done = assay(tmp_path, "testbed", "status")
    assert f"nfs-{os.getpid()}-run" in done.stdout + done.stderr, "it says what it has removed"
    assert_nothing_left(root)


def test_a_run_that_is_stopped_takes_its_box_with_it(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, extra="runtime: 1h")
    run.engine(run.box(), "client1")
    run.process.send_signal(signal.SIGINT)
    run.ends(130)
    assert left(root) == {}


def test_a_full_disk_is_the_fault_of_the_cases_that_fill_it(root: Path, tmp_path: Path) -> None:
    hosts = HOSTS.replace("256MiB", "64MiB")
    run = start(tmp_path, hosts, operations="write", size="[48MiB, 1MiB]", record="1MiB", extra="queue_depth: 4")
    said = run.ends(1)
    outcomes = run.outcomes()
    assert [status for status, _ in outcomes.values()] == ["errors", "ok"], outcomes
    assert "NFS3ERR_NOSPC" in str(run.samples()[0].errors), run.samples()[0].errors
    assert "1 errors" in said
    assert left(root) == {}
