"""Parallel file systems that hosts mount, and shares by SMB, on real servers: every byte is checked."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nfs_tools import MIB, SECOND, after, box_of, boxes_below, errnos, execute
from run_tools import ENGINE
from soak import times
from testbed_tools import inside, said

from assay.contract._generated import Job
from assay.contract.messages import Event, PhaseStartEvent
from assay.model.result.sample import Sample
from assay.rooms.testbed.work.running import RunningBox

STORE = "disks: [{size: 512MiB, mount: /store}]"


def gluster(volume: str, servers: int = 4) -> str:
    """A GlusterFS volume that two clients mount at /files."""
    # Listings of a dispersed volume bring sizes that are out of date: docs/guides/parallel-file-systems.md.
    options = ", options: use-readdirp=no" if volume == "dispersed" else ""
    return f"""
  client[1-2]: {{mounts: [{{source: "server1:/assay", at: /files, type: glusterfs{options}}}]}}
  server[1-{servers}]: {{{STORE}, servers: [{{kind: glusterfs, exports: [/store], options: {{volume: {volume}}}}}]}}
"""


MOOSEFS = f"""
  client[1-2]: {{mounts: [{{source: "server1:/", at: /files, type: moosefs}}]}}
  server[1-3]: {{{STORE.replace("512MiB", "1GiB")}, servers: [{{kind: moosefs, exports: [/store/chunks]}}]}}
"""
CEPH_OPTIONS = "ceph.mon-host=server1,ceph.auth-client-required=none,ceph.client-oc=false"
CEPH = f"""
  client[1-2]: {{mounts: [{{source: none, at: /files, type: fuse.ceph, options: "{CEPH_OPTIONS}"}}]}}
  server[1-3]: {{disks: [{{size: 4GiB, device: d0}}], servers: [{{kind: ceph, devices: [d0]}}]}}
"""
SYSTEMS = {
    "distributed": gluster("distributed"),
    **times({}, {"replica-2": gluster("replica-2"), "dispersed": gluster("dispersed")}),
    "moosefs": MOOSEFS,
    "ceph": CEPH,
}
ONLY = times(("data: rewrite", "names: rename"), ("",))
"""Checks of the contract suite: a few that tell much, or all."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("parallel")
    with boxes_below(place):
        yield place


def claimed(box: RunningBox, tmp_path: Path) -> dict[str, Any]:
    """The target of jobs on the mount, made and marked by a client."""
    root, identity = "/files/assay", "0" * 32
    claim = tmp_path / "claim.json"
    claim.write_text(json.dumps({"root": root, "mark": {"run": "t", "identity": identity, "created_by_assay": True}}))
    said(box, "client1", ENGINE, "claim", str(claim))
    return {"kind": "file", "root": root, "directory": "job", "run": identity}


def job(target: dict[str, Any], **fields: Any) -> Job:
    """A job that reads what it has written, and compares every byte."""
    base: dict[str, Any] = {
        "spec_version": 2,
        "id": "files",
        "seed": 5,
        "target": target,
        "lanes": 2,
        "file_size_bytes": 4 * MIB,
        "record_size_bytes": 65536,
        "interval_ns": SECOND // 10,
        "data": {"verify": True},
        "phases": [{"operation": name} for name in ("write", "read", "rewrite", "random_read")],
    }
    return Job.model_validate({**base, **fields})


def check(samples: tuple[Sample, ...], whole: int) -> None:
    for sample in samples:
        assert (sample.status, sample.errors) == ("done", ()), (sample.operation, sample.errors)
        assert sample.read_bytes + sample.write_bytes == whole, sample.operation
        assert sample.verified_bytes == sample.read_bytes


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_byte_is_kept(folder: Path, tmp_path: Path, system: str) -> None:
    with box_of(folder, SYSTEMS[system]) as box:
        described = tmp_path / "target.json"
        described.write_text(json.dumps({"kind": "file", "root": "/files/conform"}))
        for only in ONLY:
            words = [ENGINE, "conform", "--json", "--only", only, str(described)]
            done = inside(box, "client1", *words, seconds=times(120, 900))
            assert done.returncode == 0, done.stdout + done.stderr
        done_together, samples = execute(box, ["client1", "client2"], job(claimed(box, tmp_path)))
        assert done_together.status == "ok", done_together.reason
        check(samples, 2 * 2 * 4 * MIB)
        assert all(share.bytes > 0 for sample in samples for share in sample.hosts)


def at_read(action: Callable[[], None]) -> Callable[[str, Event], None]:
    """For `execute`: something is done a little after the random reads have begun, once."""
    begun: list[str] = []

    def hear(_host: str, event: Event) -> None:
        if isinstance(event, PhaseStartEvent) and event.operation.value == "random_read" and not begun:
            begun.append("")
            after(0.5, action)

    return hear


def kill_brick(box: RunningBox, host: str) -> Callable[[], None]:
    """What serves a host's brick is killed; the daemon that manages it goes on."""

    def action() -> None:
        said(box, host, "sh", "-c", "kill -KILL $(cat /run/gluster/vols/assay/*.pid)")

    return action


def test_a_brick_that_goes_down_without_copies(folder: Path, tmp_path: Path) -> None:
    """What lies on it cannot be read any more; test_redundancy has volumes with copies."""
    phases = [{"operation": "write"}, {"operation": "random_read", "runtime_ns": 5 * SECOND}]
    with box_of(folder, gluster("distributed", servers=2)) as box:
        one = job(claimed(box, tmp_path), lanes=8, file_size_bytes=MIB, phases=phases, direct=True, error_limit=1)
        done, samples = execute(box, ["client1"], one, on_event=at_read(kill_brick(box, "server2")))
        assert done.status != "ok"
        # What glusterfs says of a brick that it has lost (ENOTCONN).
        assert errnos(samples[-1]) == {"ENOTCONN"}


def test_shares_by_smb_are_kept_apart_and_want_the_right_password(folder: Path, tmp_path: Path) -> None:
    hosts = """
  client1: {}
  server1:
    disks: [{size: 64MiB, mount: /export}, {size: 64MiB, mount: /data}]
    servers: [{kind: samba, exports: [/export, /data], users: [alice, bob], options: {signing: mandatory}}]
"""
    with box_of(folder, hosts, "smbclient") as box:
        (server,) = box.host("server1").servers
        data = tmp_path / "data"
        data.write_bytes(os.urandom(3_000_001))
        alice, bob = (server.credentials[user] for user in ("alice", "bob"))
        said(box, "client1", "smbclient", "//server1/export", "-A", alice, "-c", f"put {data} one")
        said(box, "client1", "smbclient", "//server1/data", "-A", bob, "-c", f"put {data} two; get two {tmp_path}/back")
        assert (tmp_path / "back").read_bytes() == data.read_bytes()
        assert said(box, "server1", "ls", "/export").split() == ["lost+found", "one"]
        wrong = inside(box, "client1", "smbclient", "//server1/export", "-U", "alice%wrong", "-c", "ls")
        assert wrong.returncode != 0 and "NT_STATUS_LOGON_FAILURE" in wrong.stdout
    assert "alice" not in Path("/etc/passwd").read_text()


def test_a_server_without_such_an_option_says_which_it_has(folder: Path) -> None:
    from assay.model.base import AssayError

    for options, message in (({"volume": "raid"}, "glusterfs has no volume: raid"), ({"x": "y"}, "no option x")):
        hosts = gluster("distributed").replace("{volume: distributed}", json.dumps(options))
        with pytest.raises(AssayError, match=message), box_of(folder, hosts):
            pytest.fail("the box came up")
