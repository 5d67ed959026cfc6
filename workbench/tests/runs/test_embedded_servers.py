"""Servers that Assay starts on this machine for a run: they answer, they are shared, and nothing of them stays."""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from killing import GUARD, Start, command_of, engines_of, wait_for_line
from run_tools import assay, check_whole, needs_engine, only_run
from s3_servers import ACCESS_KEY, BUILT, FLAVOURS, SECRET_KEY, S3Server

from assay.store import RunStore

pytestmark = needs_engine

STUDY = """
study: embedded
question: Does it work?
targets:
{targets}
workloads:
  all: {{operations: [put, get], object_size: 2KiB, objects: 10, verify: true}}
repeats: {repeats}
ceilings: none
"""
BOTH = """
  bucket: {kind: s3, server: moto, bucket: assay-demo}
  table: {kind: dynamodb, server: moto, table: assay-demo}
"""
BROKEN = """
kind: broken
description: a server that has no luck
install_hint: "get it from its maker"
start:
  - [$python, -c, "import sys; print('no luck today'); sys.exit(3)"]
foreground: true
port: 9999
ready: ["http://$address:$port/"]
pidfile: /run/broken.pid
bucket: ""
"""


@pytest.fixture(autouse=True)
def away(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where journals and temporary folders of the test go; the user has no keys but those that a test sets."""
    away = tmp_path_factory.mktemp("away")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_JOURNALS", str(away / "journals"))
    (away / "tmp").mkdir()
    (away / "own").mkdir()
    monkeypatch.setenv("TMPDIR", str(away / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return away


OTHERS: set[int] = set()
"""Servers that this process had before a test, which other tests share."""


@pytest.fixture(autouse=True)
def _others() -> None:
    OTHERS.clear()
    OTHERS.update(servers_of(os.getpid()))


def write(folder: Path, targets: str = BOTH, repeats: int = 3) -> str:
    (folder / "study.yaml").write_text(STUDY.format(targets=targets.strip("\n"), repeats=repeats))
    return str(folder / "study.yaml")


def servers_of(workbench: int) -> list[int]:
    """The servers that a workbench has started."""
    return [pid for pid in engines_of(workbench) if any("moto.server" in word for word in command_of(pid))]


def wait_gone(pid: int) -> None:
    """Wait until a process that is no child of ours has ended."""
    end = time.monotonic() + GUARD
    while command_of(pid):
        assert time.monotonic() < end, f"{pid} still runs"
        time.sleep(0.01)


def nothing_left(away: Path) -> None:
    """No server, no folder of one, and no journal of either."""
    assert set(servers_of(os.getpid())) <= OTHERS
    assert list((away / "tmp").glob("assay-server-*")) == []
    assert not (away / "journals").exists()


def test_a_bucket_and_a_table_share_a_server_that_goes_with_the_run(tmp_path: Path, away: Path) -> None:
    done = assay(tmp_path, "run", write(tmp_path))
    assert done.stderr.count("server moto starts on this machine, for bucket, table") == 1
    check_whole(tmp_path, phases=2)
    with RunStore.open(only_run(tmp_path)) as store:
        info = store.info()
        assert info.environment["server moto"]["version"][0].isdigit()
        assert [(place.target, place.started_server, place.memory_backed) for place in info.places] == [
            ("bucket", "moto", True),
            ("table", "moto", True),
        ]
        assert info.places[0].path == "moto on this machine/assay-demo/assay"
        assert info.network is None
    nothing_left(away)
    assay(tmp_path, "report", "last")
    assert "on this machine, not AWS" in next(only_run(tmp_path).glob("report.html")).read_text()


def test_its_keys_are_for_its_own_targets_and_the_users_for_theirs(
    tmp_path: Path, away: Path, services: Callable[[str], S3Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    if FLAVOURS["versitygw"].why_not():
        pytest.skip(FLAVOURS["versitygw"].why_not())
    elsewhere = services("versitygw").endpoint
    monkeypatch.setenv("PATH", f"{BUILT}:{os.environ['PATH']}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    targets = f"""
  theirs: {{kind: s3, endpoint: "{elsewhere}", bucket: assay-theirs}}
  ours: {{kind: s3, server: versitygw, bucket: assay-ours}}
"""
    assay(tmp_path, "run", write(tmp_path, targets))
    check_whole(tmp_path, phases=2)
    nothing_left(away)
    kept = b"".join(path.read_bytes() for path in only_run(tmp_path).rglob("*") if path.is_file())
    assert SECRET_KEY.encode() not in kept


def test_kill_9_of_the_workbench_takes_the_server_with_it_and_resume_starts_another(
    tmp_path: Path, away: Path, start: Start
) -> None:
    file = write(tmp_path, repeats=6)
    process = start(file)
    wait_for_line(process, "[3/12]")
    (server,) = servers_of(process.pid)
    process.kill()
    process.wait()
    wait_gone(server)
    assert len(list((away / "tmp").glob("assay-server-*"))) == 1
    assay(tmp_path, "run", file, "--resume")
    check_whole(tmp_path, phases=2)
    nothing_left(away)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_server(tmp_path: Path, away: Path, start: Start, number: signal.Signals) -> None:
    process = start(write(tmp_path, repeats=6))
    wait_for_line(process, "[3/12]")
    (server,) = servers_of(process.pid)
    process.send_signal(number)
    output = process.communicate(timeout=GUARD)[0]
    assert process.returncode == 130, output
    assert "warning" not in output.split("stopped:")[0].split("[3/12]")[-1]
    assert not command_of(server)
    nothing_left(away)


def test_a_server_that_dies_shows_in_the_results(tmp_path: Path, away: Path, start: Start) -> None:
    process = start(write(tmp_path, repeats=6))
    wait_for_line(process, "[3/12]")
    (server,) = servers_of(process.pid)
    os.kill(server, signal.SIGKILL)
    output = process.communicate(timeout=GUARD)[0]
    assert process.returncode == 1, output
    assert "Traceback" not in output
    assert "warning: server moto ended before the run was complete: it was killed by signal 9" in output
    assert "could not be removed" not in output
    with RunStore.open(only_run(tmp_path)) as store:
        counts = store.outcome_counts()
        assert counts["ok"] >= 3 and sum(counts.values()) == 12 and counts["ok"] < 12
        assert store.entries() == []
    nothing_left(away)
    assay(tmp_path, "run", "--resume")
    check_whole(tmp_path, phases=2)


def test_a_server_that_does_not_start_says_what_it_said(
    tmp_path: Path, away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (away / "own" / "broken.yaml").write_text(BROKEN)
    monkeypatch.setenv("ASSAY_SERVERS", str(away / "own"))
    targets = "  first: {kind: s3, server: moto, bucket: assay-demo}\n  next: {kind: s3, server: broken, bucket: abc}"
    done = assay(tmp_path, "run", write(tmp_path, targets), expect=3)
    assert (
        "error: server broken does not start\nhint: it ended with exit code 3; last line of its log: no luck today"
        in done.stderr
    )
    assert not list((tmp_path / "assay-runs").glob("*"))
    nothing_left(away)


def test_a_server_that_is_not_installed_is_told_before_anything_starts(
    tmp_path: Path, away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = BROKEN.replace("install_hint:", "programs: [assay-no-such-program]\ninstall_hint:")
    (away / "own" / "broken.yaml").write_text(text)
    monkeypatch.setenv("ASSAY_SERVERS", str(away / "own"))
    file = write(tmp_path, "  only: {kind: s3, server: broken, bucket: abc}", repeats=5)
    for command, code in (("check", 2), ("run", 3)):
        done = assay(tmp_path, command, file, expect=code)
        told = "error: server broken needs assay-no-such-program, which is not installed"
        hint = "hint: get it from its maker; or leave out the targets with `server: broken`"
        assert told in done.stderr and hint in done.stderr
    assert "broken on this machine/abc/assay" in assay(tmp_path, "plan", file).stdout
    nothing_left(away)


def test_the_preset_of_objects_runs_where_nothing_is(tmp_path: Path, away: Path) -> None:
    assay(tmp_path, "init", "objects.yaml", "--from", "objects")
    text = (tmp_path / "objects.yaml").read_text()
    (tmp_path / "objects.yaml").write_text(text.replace("objects: 40", "objects: 5") + "\nrepeats: 1\nceilings: none\n")
    assay(tmp_path, "run", "objects.yaml")
    with RunStore.open(only_run(tmp_path)) as store:
        assert set(store.outcome_counts()) == {"ok"}
    nothing_left(away)
