"""File systems are mounted anew between the phases of a case: what a host has in memory of them is gone.

Seen where it cannot be disputed: by the bytes that come over the link of the host that reads. The link is slow, so that
a phase is long enough to be counted.
"""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from nfs_tools import Run, box_of
from run_tools import ASSAY, assay, only_run
from ssh_tools import path_with_ssh
from testbed_tools import GUARD, left, said

from assay.model.result.sample import Sample
from assay.store import RunStore

HOSTS = """
  client[1-2]:
    link: 200 Mbit/s
    mounts: [{source: "server1:/", at: /boxed, type: moosefs}]
  server1: {disks: [{size: 512MiB, mount: /store}], servers: [{kind: moosefs, exports: [/store]}]}
"""
BOXED = "  boxed: {kind: file, path: /boxed/assay-boxed}\n"
BOTH = "server_cache: [keep, drop]\n    zip: [[cache, server_cache]]"
STUDY = """
study: remounted
question: What does the client have in memory?
testbed: box.yaml
targets:
  own:
    kind: file
    path: /assay-remounted/assay
    mounts: [{{source: "server1:/", at: /assay-remounted, type: moosefs}}]
{boxed}workloads:
  w:
    operations: [write, read, reread]
    hosts: 2
    file_size: 32MiB
    record_size: 1MiB
    cache: [keep, remount]
    verify: true
    {extra}
repeats: 1
ceilings: none
network: none
order: sequential
"""


def received(sample: Sample) -> float:
    """Bytes per second that came over the links of the clients."""
    return sum(link.received for use in sample.uses if use.host.startswith("client") for link in use.links)


def disk_reads(sample: Sample) -> float:
    """Bytes per second that the disk of the server was read."""
    return sum(disk.read for use in sample.uses if use.host == "server1" for disk in use.own_disks)


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until something is true that lasts shortly: between two mounts are some tens of milliseconds."""
    end = time.monotonic() + GUARD
    while not true():
        assert time.monotonic() < end, "not mounted anew"
        time.sleep(0.002)


def test_what_was_mounted_anew_is_read_from_the_servers(root: Path, tmp_path: Path) -> None:
    """By a mount of the study's, and by one of the box's."""
    run = Run(tmp_path, HOSTS, STUDY.format(boxed=BOXED, extra=BOTH), quick=True)
    run.ends(0)
    assert {status for status, _ in run.outcomes().values()} == {"ok"}
    links = 2 * 200e6 / 8
    samples = run.samples()
    for of_target in (("c0001", "c0002"), ("c0003", "c0004")):
        kept, cold = ([sample for sample in samples if sample.case == case] for case in of_target)
        assert kept[-1].throughput > 4 * links, "what was read comes from memory when it is read again"
        for sample in cold[1:]:
            assert sample.throughput < links, "no read can be faster than the links"
            assert received(sample) > 0.9 * sample.throughput
            assert disk_reads(sample) > 0.5 * sample.throughput, "servers are emptied before each phase, too"
        assert disk_reads(kept[-1]) < 0.01 * kept[-1].throughput
        assert [sample.cache_done for sample in kept] == ["", "", ""]
        assert [sample.cache_done for sample in cold] == ["unmounted and mounted again"] * 3
        assert all(sample.verified_bytes == sample.bytes for sample in cold[1:])
    assert left(root) == {}
    assert not Path("/assay-remounted").exists()


def test_a_run_that_is_killed_between_two_phases_leaves_nothing_when_it_goes_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hosts and their server stay, as real ones do: nobody else removes files and mounts there."""
    with box_of(tmp_path, HOSTS, "ssh") as box:
        monkeypatch.setenv("PATH", path_with_ssh(tmp_path, box.ssh_config))
        (tmp_path / "hosts.yaml").write_text("hosts: {client1: {}, client2: {}}\n")
        text = STUDY.format(boxed="", extra="").replace("testbed: box.yaml", "hosts: {inventory: hosts.yaml}")
        (tmp_path / "study.yaml").write_text(text.replace("[keep, remount]", "remount"))
        points = Path(f"/proc/{box.host('client1').pid}/mountinfo")
        with subprocess.Popen([ASSAY, "run", "study.yaml"], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
            for _ in range(2):
                for there in (True, False):
                    wait_until(
                        lambda there=there: (
                            ("/assay-remounted" in points.read_text()) is there or run.poll() is not None
                        )
                    )
            run.kill()
            told = run.communicate(timeout=GUARD)[1]
        assert run.returncode == -signal.SIGKILL, told
        with RunStore.open(only_run(tmp_path)) as store:
            assert store.samples() == (), "it was killed in its first repeat"
        assay(tmp_path, "run", "--resume")
        with RunStore.open(only_run(tmp_path)) as store:
            assert [job.status for job in store.jobs()] == ["ok"]
            assert [entry.name for entry in store.entries()] == []
        assert "/assay-remounted" not in points.read_text()
        assert said(box, "client1", "find", "/boxed", "-mindepth", "1") == ""
