"""What goes wrong between hosts and NFS servers is in the result as what it is; nothing waits longer than stated."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from nfs_tools import MIB, SECOND, at_phase, box_of, boxes_below, errnos, execute, job, longer_than, restarted, target
from soak import times
from testbed_tools import said

from assay.rooms.testbed.work.running import RunningBox

HOSTS = """
  client[1-2]: {}
  server1: {disks: [{size: 512MiB, mount: /export}], servers: [{kind: nfs-ganesha, exports: [/export]}]}
  small: {disks: [{size: 64MiB, mount: /export}], servers: [{kind: nfs-ganesha, exports: [/export]}]}
"""
HOUR = 3600 * SECOND
"""In ns: a phase that no test waits for to end."""
TIMEOUT = 3
"""Seconds after which a call without an answer fails, where a test waits for that."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBox]:
    folder = tmp_path_factory.mktemp("faults")
    with boxes_below(folder), box_of(folder, HOSTS) as running:
        yield running


@pytest.fixture
def server(box: RunningBox) -> Iterator[str]:
    """Address of a server; whatever a test did to it is mended, and what it left there is removed."""
    yield box.host("server1").address
    (service,) = box.host("server1").servers
    if box.server_fault("server1", service):
        box.start_server("server1", service)
    said(box, "server1", "sh", "-c", "mount -o remount,rw /export; rm -rf /export/assay; chmod 1777 /export")


def test_a_server_that_is_killed_and_restarted_while_it_is_read_is_one_long_wait(box: RunningBox, server: str) -> None:
    phases = [{"operation": "prepare", "measured": False}, {"operation": "random_read", "runtime_ns": 5 * SECOND}]
    one = job(target=target(server), data={"verify": True}, phases=phases)
    done, (read,) = execute(box, ["client1"], one, on_event=at_phase("random_read", 1, restarted(box, "server1", 1.5)))
    assert done.status == "ok", done.reason
    assert (read.status, read.errors) == ("done", ())
    assert read.verified_bytes == read.read_bytes > 0
    assert read.latency["max"] > 1.4 * SECOND, read.latency
    assert longer_than(read, 0.5 * read.latency["max"]) == 1, (
        "with one call in flight one operation has the whole stall, and no other any"
    )


def test_a_server_that_is_restarted_before_commit_may_have_lost_what_was_written(box: RunningBox, server: str) -> None:
    phases = [{"operation": "write", "runtime_ns": 4 * SECOND}]
    one = job(target=target(server), queue_depth=4, sync="fsync", phases=phases)
    done, (write,) = execute(box, ["client1"], one, on_event=at_phase("write", 1, restarted(box, "server1", 0.5)))
    assert done.status == "errors" and "client1" in done.reason
    assert write.status == "failed"
    (tally,) = write.errors
    assert (tally.name, tally.count) == ("EIO", 1)
    assert tally.example.startswith("client1: sync "), tally.example
    assert write.latency["max"] > 0.4 * SECOND


def test_stable_writes_survive_a_restart(box: RunningBox, server: str) -> None:
    phases = [{"operation": "write", "runtime_ns": 3 * SECOND}, {"operation": "read"}]
    one = job(target=target(server), sync="o_sync", data={"verify": True}, phases=phases)
    done, (write, read) = execute(
        box, ["client1"], one, on_event=at_phase("write", 0.5, restarted(box, "server1", 0.5))
    )
    assert done.status == "ok", done.reason
    assert (write.status, write.errors) == ("done", ())
    assert write.latency["max"] > 0.4 * SECOND
    assert read.verified_bytes == read.bytes == MIB


def test_writes_that_nobody_waits_for_are_not_lost_in_silence(box: RunningBox, server: str) -> None:
    """With `sync: none` the engine commits when the clock has stopped, so that a loss is known."""
    one = job(target=target(server), sync="none", phases=[{"operation": "write", "runtime_ns": 2 * SECOND}])
    done, (write,) = execute(box, ["client1"], one, on_event=at_phase("write", 0.5, restarted(box, "server1", 0.3)))
    assert done.status == "errors" and "flush" in done.reason and "client1" in done.reason, done.reason
    assert (write.status, errnos(write)) == ("failed", {"EIO"})


def test_a_server_that_stays_away_is_said_after_the_stated_time(box: RunningBox, server: str) -> None:
    (service,) = box.host("server1").servers
    phases = [{"operation": "write", "measured": False}, {"operation": "read", "runtime_ns": HOUR}]
    one = job(target=target(server, timeout_ns=TIMEOUT * SECOND), error_limit=1, phases=phases)
    gone = at_phase("read", 0.5, lambda: box.stop_server("server1", service, "KILL"))
    done, (read,) = execute(box, ["client1"], one, on_event=gone)
    # Far from the end of the phase, and before the engine counts as hung.
    assert (done.status, read.status, errnos(read)) == ("errors", "failed", {"ETIMEDOUT"})
    assert read.errors[0].example.startswith("client1: read ")
    done, _ = execute(box, ["client1"], one)
    assert (done.status == "refused" and "server" in done.reason) or server in done.reason, done.reason


def test_a_link_that_is_down_for_seconds_is_one_whole_stall(box: RunningBox, server: str) -> None:
    down = times(2, 5)

    def cut() -> None:
        said(box, "client1", "ip", "link", "set", "eth0", "down")
        time.sleep(down)
        said(box, "client1", "ip", "link", "set", "eth0", "up")

    phases = [{"operation": "prepare", "measured": False}, {"operation": "read", "runtime_ns": times(5, 14) * SECOND}]
    one = job(target=target(server, timeout_ns=20 * SECOND), data={"verify": True}, phases=phases)
    done, (read,) = execute(box, ["client1"], one, on_event=at_phase("read", 1, cut))
    assert done.status == "ok", done.reason
    assert (read.status, read.errors) == ("done", ())
    assert read.verified_bytes == read.read_bytes > 0
    # TCP tries again at about 0.2, 0.6, 1.4, 3, 6.2 and 12.6 s after the last answer.
    assert read.latency["max"] > 0.98 * down * SECOND, read.latency
    assert longer_than(read, 0.5 * read.latency["max"]) == 1


def test_a_user_without_rights_is_told_so(box: RunningBox, server: str) -> None:
    kept: dict[str, Any] = {"keep_files": True, "phases": [{"operation": "write"}]}
    done, _ = execute(box, ["client1"], job(target=target(server), **kept))
    assert done.status == "ok", done.reason
    nobody = target(server, uid=4711, gid=4711)
    done, _ = execute(box, ["client2"], job(target={**nobody, "directory": "another"}))
    assert done.status == "refused"
    assert "NFS3ERR_ACCES" in done.reason, done.reason
    # The directory may be entered, the file is another's. The server knows modes by heart until it is restarted.
    said(box, "server1", "chmod", "-R", "a+X", "/export/assay")
    restarted(box, "server1", 0)()
    again = job(target=nobody, reuse_files=True, keep_files=True, error_limit=3, phases=[{"operation": "read"}])
    done, samples = execute(box, ["client2"], again)
    assert samples, done.reason
    (read,) = samples
    assert (done.status, read.status, errnos(read)) == ("errors", "failed", {"NFS3ERR_ACCES"})
    assert read.errors[0].example.startswith("client2: read ")


def test_a_file_system_that_became_read_only_is_told_so(box: RunningBox, server: str) -> None:
    done, _ = execute(box, ["client1"], job(target=target(server), keep_files=True, phases=[{"operation": "write"}]))
    assert done.status == "ok", done.reason
    (service,) = box.host("server1").servers
    box.stop_server("server1", service, "KILL")
    said(box, "server1", "mount", "-o", "remount,ro", "/export")
    box.start_server("server1", service)
    phases = [{"operation": "read"}, {"operation": "rewrite"}]
    again = job(target=target(server), reuse_files=True, keep_files=True, error_limit=2, phases=phases)
    done, (read, rewrite) = execute(box, ["client1"], again)
    assert (read.status, read.errors) == ("done", ())
    assert (done.status, rewrite.status, errnos(rewrite)) == ("errors", "failed", {"NFS3ERR_ROFS"})
    done, _ = execute(box, ["client1"], job(target=target(server, directory="another")))
    assert done.status == "refused" and "for reading only" in done.reason, done.reason


def test_files_that_went_away_on_the_server_are_stale(box: RunningBox, server: str) -> None:
    def remove() -> None:
        (service,) = box.host("server1").servers
        box.stop_server("server1", service, "KILL")
        said(box, "server1", "rm", "-r", "/export/assay/job")
        box.start_server("server1", service)

    phases = [{"operation": "write", "measured": False}, {"operation": "read", "runtime_ns": HOUR}]
    one = job(target=target(server), error_limit=5, phases=phases)
    done, (read,) = execute(box, ["client1"], one, on_event=at_phase("read", 0.5, remove))
    assert (done.status, read.status, errnos(read)) == ("errors", "failed", {"NFS3ERR_STALE"})
    assert read.errors[0].count == 5


def test_a_full_disk_is_named_and_the_next_job_goes_well(box: RunningBox) -> None:
    small = target(box.host("small").address)
    phases = [{"operation": "write"}, {"operation": "read"}]
    large = job(
        target=small, file_size_bytes=128 * MIB, record_size_bytes=MIB, queue_depth=4, error_limit=3, phases=phases
    )
    done, (write, read) = execute(box, ["client1"], large)
    assert done.status == "errors"
    assert (write.status, errnos(write), read.status) == ("failed", {"NFS3ERR_NOSPC"}, "skipped")
    assert write.errors[0].example.startswith("client1: write ")
    assert 20 * MIB < write.write_bytes < 64 * MIB, "what went well counts"
    done, samples = execute(box, ["client1", "client2"], job(target=small, data={"verify": True}))
    assert done.status == "ok", done.reason
    assert [sample.status for sample in samples] == ["done", "done"]
    assert said(box, "small", "ls", "-A", "/export/assay").split() == [".assay-target"]
