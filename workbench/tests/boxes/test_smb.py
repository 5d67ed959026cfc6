"""The SMB client against real servers (Samba): everything that it says it can do, and what goes wrong on the way."""

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export_contract import (
    capabilities_of,
    check_operations_on_data,
    check_operations_on_names,
    find_changed_byte,
    names,
)
from nfs_tools import (
    MIB,
    SECOND,
    at_phase,
    box_of,
    boxes_below,
    errnos,
    execute,
    job,
    longer_than,
    restarted,
)
from run_tools import ENGINE
from soak import times
from testbed_tools import inside, said

from assay.contract._generated import BackendCapabilities
from assay.model.study.names import DATA, METADATA, STDIO
from assay.rooms.testbed.work.running import RunningBox

SAMBA = "{kind: samba, exports: [/export], users: [alice]"
HOSTS = f"""
  client[1-2]: {{}}
  server1:
    disks: [{{size: 512MiB, mount: /export}}, {{size: 256MiB, mount: /data}}]
    servers: [{{kind: samba, exports: [/export, /data], users: [alice], options: {{multichannel: "yes"}}}}]
  signed: {{disks: [{{size: 256MiB, mount: /export}}], servers: [{SAMBA}, options: {{signing: mandatory}}}}]}}
  sealed: {{disks: [{{size: 256MiB, mount: /export}}], servers: [{SAMBA}, options: {{encryption: required}}}}]}}
  small: {{disks: [{{size: 64MiB, mount: /export}}], servers: [{SAMBA}}}]}}
"""
HOUR = 3600 * SECOND
"""In ns: a phase that no test waits for to end."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBox]:
    folder = tmp_path_factory.mktemp("smb")
    with boxes_below(folder), box_of(folder, HOSTS, "smbd", "smbpasswd") as running:
        yield running


@pytest.fixture(scope="module")
def able() -> BackendCapabilities:
    return capabilities_of("smb")


@pytest.fixture(autouse=True)
def mended(box: RunningBox) -> Iterator[None]:
    """Whatever a test did to a server is mended, and what it left there is removed."""
    yield
    for host in box.hosts:
        for server in host.servers:
            if box.server_fault(host.name, server):
                box.start_server(host.name, server)
            said(box, host.name, "sh", "-c", "rm -rf /export/assay /data/assay")


def target(box: RunningBox, *servers: str, shares: tuple[str, ...] = ("export",), **fields: Any) -> dict[str, Any]:
    """A share of these servers, as jobs are told of it; requests fail after 10 s."""
    names = servers or ("server1",)
    (known,) = box.host(names[0]).servers
    base = {"kind": "smb", "root": "assay", "directory": "job", "timeout_ns": 10 * SECOND}
    login = {"credentials": known.credentials["alice"]}
    addresses = [box.host(name).address for name in names]
    return {**base, **login, "servers": addresses, "shares": list(shares), **fields}


def test_the_operations_are_all_that_make_sense_without_a_file_system(able: BackendCapabilities) -> None:
    assert names(able, DATA) == [name for name in DATA if name not in STDIO]
    assert names(able, METADATA) == list(METADATA)


WAYS: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
    (("server1",), {}, "SMB 3.1.1, neither signed nor encrypted"),
    *times(
        [],
        [(("server1",), {"version": "3.0", "encryption": True, "rsize": 4097}, "SMB 3.0, encrypted with AES-128-CCM")],
    ),
]
"""Servers, how they are used, and what is said of the session."""
OTHER_WAYS: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
    (("server1",), {"shares": ("export", "data"), "channels": 2, "signing": True}, "SMB 3.1.1, signed with AES-128-"),
    (("server1",), {"version": "2.1", "wsize": 5000}, "SMB 2.1, neither signed nor encrypted"),
    (("signed",), {"version": "2.1"}, "SMB 2.1, signed with HMAC-SHA256"),
    (("signed",), {"version": "3.0.2", "channels": 1}, "SMB 3.0.2, signed with AES-128-CMAC"),
    (("sealed",), {}, "SMB 3.1.1, encrypted with AES-128-GCM"),
]
"""The same, which differ from those above by how bytes are sealed only."""


@pytest.mark.parametrize(("servers", "how", "about"), WAYS)
def test_everything_holds_of_a_real_server(
    box: RunningBox,
    able: BackendCapabilities,
    tmp_path: Path,
    servers: tuple[str, ...],
    how: dict[str, Any],
    about: str,
) -> None:
    described = tmp_path / "target.json"
    described.write_text(json.dumps(target(box, *servers, **how)))
    done = inside(box, "client1", ENGINE, "conform", "--json", str(described), seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)["report"]
    assert {operation.value for operation in able.operations} <= {row["check"] for row in report["rows"]}
    assert {f"sync {policy.value}" for policy in able.sync} <= {row["check"] for row in report["rows"]}
    assert about in done.stdout
    nothing_stays(box)


@pytest.mark.parametrize(("servers", "how", "about"), OTHER_WAYS)
def test_every_byte_is_as_written_in_the_other_ways(
    box: RunningBox, servers: tuple[str, ...], how: dict[str, Any], about: str
) -> None:
    phases = [{"operation": "write"}, {"operation": "read"}, {"operation": "random_read"}]
    one = job(target=target(box, *servers, **how), data={"verify": True}, lanes=2, queue_depth=4, phases=phases)
    done, samples = execute(box, ["client1"], one)
    assert done.status == "ok", done.reason
    assert [(sample.status, sample.errors) for sample in samples] == [("done", ())] * 3
    assert all(sample.verified_bytes == sample.read_bytes > 0 for sample in samples[1:3])
    assert about in samples[0].method_reason
    nothing_stays(box)


CASES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    # layout, sync, of the target, of the job
    ("separate", "fsync", {"shares": ("export", "data"), "rsize": 8192}, {"lanes": 2, "queue_depth": 8}),
    ("separate", "o_sync", {"channels": 2, "wsize": 16384}, {"lanes": 2, "queue_depth": 1}),
    ("shared", "none", {"rsize": 9999, "signing": True}, {"lanes": 3, "queue_depth": 16}),
    ("shared", "fsync", {"encryption": True, "wsize": 4097}, {"lanes": 1, "queue_depth": 2}),
]


@pytest.mark.parametrize(("layout", "sync", "how", "fields"), CASES)
def test_every_operation_on_data_by_two_hosts(
    box: RunningBox, able: BackendCapabilities, layout: str, sync: str, how: dict[str, Any], fields: dict[str, Any]
) -> None:
    check_operations_on_data(box, able, layout, target=target(box, **how), sync=sync, **fields)
    nothing_stays(box)


@pytest.mark.parametrize("layout", ["separate", "shared"])
def test_every_operation_on_names_by_two_hosts(box: RunningBox, able: BackendCapabilities, layout: str) -> None:
    check_operations_on_names(box, able, layout, target(box, wsize=1999))
    nothing_stays(box)


def test_a_byte_that_was_changed_on_the_server_is_found_by_another_host(box: RunningBox) -> None:
    """Otherwise nothing above would mean anything."""
    find_changed_byte(box, target(box))


def nothing_stays(box: RunningBox) -> None:
    """A job takes its directory with it, in each share."""
    for host in box.hosts:
        if host.servers:
            found = inside(box, host.name, "sh", "-c", "find /export /data -mindepth 2 -not -name .assay-target")
            assert "assay" not in found.stdout, found.stdout


def test_a_server_that_is_killed_and_restarted_while_it_is_read_is_one_long_wait(box: RunningBox) -> None:
    phases = [{"operation": "prepare", "measured": False}, {"operation": "random_read", "runtime_ns": 5 * SECOND}]
    one = job(target=target(box), data={"verify": True}, phases=phases)
    killed = at_phase("random_read", 1, restarted(box, "server1", 1.5))
    done, (read,) = execute(box, ["client1"], one, on_event=killed)
    assert done.status == "ok", done.reason
    assert (read.status, read.errors) == ("done", ())
    assert read.verified_bytes == read.read_bytes > 0
    assert read.latency["max"] > 1.4 * SECOND, read.latency
    assert longer_than(read, 0.5 * read.latency["max"]) == 1
    assert read.service is not None and read.service.sessions_lost == 1


def test_what_was_written_and_flushed_around_a_restart_is_there(box: RunningBox) -> None:
    phases = [{"operation": "write", "runtime_ns": 3 * SECOND}, {"operation": "read"}]
    one = job(target=target(box), queue_depth=4, sync="fsync", data={"verify": True}, phases=phases)
    killed = at_phase("write", 0.5, restarted(box, "server1", 0.5))
    done, (write, read) = execute(box, ["client1"], one, on_event=killed)
    assert done.status == "ok", done.reason
    assert (write.status, write.errors) == ("done", ())
    assert write.service is not None and write.service.sessions_lost >= 1
    assert read.verified_bytes == read.bytes == MIB


def test_names_that_were_under_way_when_the_server_died_fail_and_the_others_do_not(box: RunningBox) -> None:
    one = job(
        target=target(box),
        tree={"files": 200, "depth": 1, "width": 2},
        record_size_bytes=4096,
        file_size_bytes=0,
        phases=[
            {"operation": "create"},
            {"operation": "stat", "runtime_ns": 3 * SECOND},
            {"operation": "unlink"},
        ],
    )
    killed = at_phase("stat", 0.5, restarted(box, "server1", 0.5))
    _, (create, looked, unlink) = execute(box, ["client1"], one, on_event=killed)
    assert create.errors == () and unlink.errors == ()
    (tally,) = looked.errors
    assert (tally.count, tally.name) == (1, "ECONNRESET"), looked.errors
    assert looked.ops > 200, "it went on with a new session"


def test_a_server_that_stays_away_is_said_after_the_stated_time(box: RunningBox) -> None:
    (service,) = box.host("server1").servers
    phases = [{"operation": "write", "measured": False}, {"operation": "read", "runtime_ns": HOUR}]
    one = job(target=target(box, timeout_ns=3 * SECOND), error_limit=1, phases=phases)
    gone = at_phase("read", 0.5, lambda: box.stop_server("server1", service, "KILL"))
    done, (read,) = execute(box, ["client1"], one, on_event=gone)
    assert (done.status, read.status, errnos(read)) == ("errors", "failed", {"ETIMEDOUT"})
    done, _ = execute(box, ["client1"], one)
    assert "nobody answers there" in done.reason, done.reason


def with_password(box: RunningBox, folder: Path, password: str) -> str:
    """A file with another password of the same user."""
    file = folder / "login"
    file.write_text(f"username=alice\npassword={password}\n")
    file.chmod(stat.S_IRUSR)
    return str(file)


def test_a_wrong_password_and_an_unknown_share_are_told_so(box: RunningBox, tmp_path: Path) -> None:
    wrong = target(box, credentials=with_password(box, tmp_path, "not this one"))
    done, _ = execute(box, ["client1"], job(target=wrong))
    assert done.status == "refused"
    assert "STATUS_LOGON_FAILURE" in done.reason and "password of alice" in done.reason, done.reason
    assert "not this one" not in done.reason
    done, _ = execute(box, ["client1"], job(target=target(box, shares=("missing",))))
    assert done.status == "refused" and "STATUS_BAD_NETWORK_NAME" in done.reason, done.reason


def test_a_server_that_wants_more_than_the_version_has_is_told_so(box: RunningBox) -> None:
    done, _ = execute(box, ["client1"], job(target=target(box, "sealed", version="2.1")))
    assert done.status == "refused" and "STATUS_ACCESS_DENIED" in done.reason, done.reason
    done, samples = execute(box, ["client1"], job(target=target(box, "signed"), data={"verify": True}))
    assert done.status == "ok", done.reason
    assert all("signed with AES-128-" in sample.method_reason for sample in samples), samples


def test_a_full_share_is_named_and_the_next_job_goes_well(box: RunningBox) -> None:
    phases = [{"operation": "write"}, {"operation": "read"}]
    large = job(
        target=target(box, "small"),
        file_size_bytes=128 * MIB,
        record_size_bytes=MIB,
        queue_depth=4,
        error_limit=3,
        phases=phases,
    )
    done, (write, read) = execute(box, ["client1"], large)
    assert done.status == "errors"
    assert (write.status, errnos(write), read.status) == ("failed", {"STATUS_DISK_FULL"}, "skipped")
    assert 20 * MIB < write.write_bytes < 64 * MIB, "what went well counts"
    one = job(target=target(box, "small"), data={"verify": True})
    done, samples = execute(box, ["client1", "client2"], one)
    assert done.status == "ok", done.reason
    assert [sample.status for sample in samples] == ["done", "done"]
    assert said(box, "small", "ls", "-A", "/export/assay").split() == [".assay-target"]


def test_a_share_for_reading_only_is_told_so(box: RunningBox) -> None:
    said(box, "small", "mount", "-o", "remount,ro", "/export")
    try:
        done, _ = execute(box, ["client1"], job(target=target(box, "small")))
        assert done.status == "refused", done.reason
        assert "STATUS_MEDIA_WRITE_PROTECTED" in done.reason or "STATUS_ACCESS_DENIED" in done.reason, done.reason
    finally:
        said(box, "small", "mount", "-o", "remount,rw", "/export")


def test_a_link_that_is_down_for_seconds_is_one_whole_stall(box: RunningBox) -> None:
    def cut() -> None:
        said(box, "client1", "ip", "link", "set", "eth0", "down")
        time.sleep(2)
        said(box, "client1", "ip", "link", "set", "eth0", "up")

    phases = [{"operation": "prepare", "measured": False}, {"operation": "read", "runtime_ns": 5 * SECOND}]
    one = job(target=target(box, timeout_ns=20 * SECOND), data={"verify": True}, phases=phases)
    done, (read,) = execute(box, ["client1"], one, on_event=at_phase("read", 1, cut))
    assert done.status == "ok", done.reason
    assert (read.status, read.errors) == ("done", ())
    assert read.latency["max"] > 1.9 * SECOND, read.latency
