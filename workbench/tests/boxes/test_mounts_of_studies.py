"""What a study has mounted on its hosts: there while it runs, known to its result, and gone afterwards."""

import json
import signal
from pathlib import Path

from nfs_tools import Run
from testbed_tools import assert_soon, left, said

HOSTS = """
  client[1-2]: {}
  server[1-2]:
    disks: [{size: 256MiB, mount: /store}]
    servers: [{kind: glusterfs, exports: [/store], options: {volume: distributed}}]
"""
STUDY = """
study: mounted
question: Are two ways to mount the same volume alike?
testbed: box.yaml
targets:
  plain:
    kind: file
    path: /assay-m-plain/assay
    servers: server[1-2]
    mounts: [{{source: "{source}", at: /assay-m-plain, type: glusterfs}}]
  cached:
    kind: file
    path: /assay-m-cached/other
    mounts: [{{source: "server1:/assay", at: /assay-m-cached, type: glusterfs, options: attribute-timeout=30}}]
workloads:
  w:
    operations: [write, read]
    hosts: 2
    file_size: 4MiB
    record_size: 1MiB
    {extra}
repeats: 1
ceilings: none
network: none
order: sequential
"""


def start(folder: Path, source: str = "server1:/assay", extra: str = "") -> Run:
    return Run(folder, HOSTS, STUDY.format(source=source, extra=extra), quick=True)


def test_each_host_has_the_mounts_while_the_run_lasts(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, extra="runtime: 3s")
    box = run.box()
    run.engine(box, "client2")
    seen = said(box, "client2", "cat", "/proc/self/mounts")
    assert "server1:/assay /assay-m-plain fuse.glusterfs" in seen
    assert "server1:/assay /assay-m-cached fuse.glusterfs" in seen
    run.ends(0)
    shown = json.dumps(run.shown())
    assert run.outcomes() and all(status == "ok" for status, _ in run.outcomes().values())
    assert "fuse.glusterfs" in shown
    assert left(root) == {}
    assert not Path("/assay-m-plain").exists()


def test_what_cannot_be_mounted_is_said_and_what_was_is_taken_away(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, source="server1:/nothing")
    told = run.ends(3)
    assert "host client1: /assay-m-plain: server1:/nothing cannot be mounted" in told, told
    assert left(root) == {}
    assert not Path("/assay-m-plain").exists()


def test_a_run_that_is_stopped_takes_its_mounts_with_it(root: Path, tmp_path: Path) -> None:
    run = start(tmp_path, extra="runtime: 1h")
    box = run.box()
    run.engine(box, "client1")
    run.process.send_signal(signal.SIGINT)
    assert "could not be unmounted" not in run.ends(130)
    assert_soon(lambda: left(root) == {}, lambda: str(left(root)))
    assert not Path("/assay-m-plain").exists()
