"""`assay ceilings` on real places: it measures, refuses, and leaves nothing, also if it is stopped or killed."""

import json
import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import MIB
from killing import GUARD
from loop_devices import loop_device, small_ext4
from run_tools import ASSAY, needs_engine
from soak import times

from assay.plan import device_ceilings as plan
from assay.run.ceilings.place import OWN_DIRECTORY
from assay.store import run_is_alive
from assay.store.lookup import run_folders

pytestmark = needs_engine


@pytest.fixture
def leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder of the temporary files of `assay ceilings`; at the end nothing may be in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture(params=times(["/var/tmp"], ["/var/tmp", "/dev/shm"]))
def root(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A new folder on a disk, in `make soak` also one in memory; it must be empty at the end."""
    folder = Path(request.param, f"assay-test-ceilings-{os.getpid()}")
    folder.mkdir()
    try:
        yield folder
        assert [path.name for path in folder.iterdir()] in ([], ["mine"])
    finally:
        (folder / "mine").unlink(missing_ok=True)
        folder.rmdir()


def ceilings(*arguments: str | Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([ASSAY, "ceilings", *arguments], capture_output=True, text=True, timeout=GUARD, check=False)
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def test_measures_a_directory_and_leaves_nothing(root: Path, leftovers: Path) -> None:
    done = ceilings(root, "--json")
    assert "measuring for about 5 s" in done.stderr
    found = json.loads(done.stdout)
    assert found["target"] == str(root / "assay-ceilings")
    values = {item["name"]: item["value"] for item in found["ceilings"]}
    assert {"memory copy", "cache copy", "page cache read"} <= set(values)
    assert ("device read" in values) == ("device random write" in values) == found["place"]["direct_bypasses_cache"]
    assert ("device write" in values) == (not found["place"]["memory_backed"])
    assert all(value and value > 0 for value in values.values())
    for item in found["ceilings"]:
        assert item["lowest"] is None or item["lowest"] <= item["value"]


def test_uses_a_directory_of_its_own_in_one_that_holds_other_things(root: Path, leftovers: Path) -> None:
    (root / "mine").write_text("kept")
    done = ceilings(root)
    assert str(root / "assay-ceilings") in done.stdout
    for name in ("memory copy", "page cache read", "best pass", "worst pass", "how"):
        assert name in done.stdout
    assert (root / "mine").read_text() == "kept"


def test_device_is_overwritten_only_with_destroy(tmp_path: Path, leftovers: Path) -> None:
    # 128 KiB in front hold a pattern that a refused call must leave.
    with loop_device(tmp_path, 512 * MIB, direct=True) as device:
        pattern = b"precious" * 16384
        Path(device).write_bytes(pattern)
        refused = ceilings(device, expect=3)
        assert "all data on it would be overwritten" in refused.stderr and "--destroy" in refused.stderr
        with Path(device).open("rb") as file:
            assert file.read(len(pattern)) == pattern
        found = json.loads(ceilings(device, "--destroy", "--json").stdout)
        assert {item["name"] for item in found["ceilings"] if item["value"]} >= {"device read", "device random write"}


def test_mounted_device_is_refused_even_with_destroy(tmp_path: Path, leftovers: Path) -> None:
    with small_ext4(tmp_path, 64 * MIB) as (device, point):
        assert f"mounted at {point}" in ceilings(device, "--destroy", expect=3).stderr


def test_too_small_a_place_is_told_and_the_exit_code_says_so(tmp_path: Path, leftovers: Path) -> None:
    with small_ext4(tmp_path, 48 * MIB) as (_, point):
        done = ceilings(point, expect=1)
        assert "not measured: less than 64 MiB are free" in done.stdout
        assert "a loop device without direct I/O: the ceilings are partly those of this machine's memory" in done.stdout
        assert "1 of 3 ceilings could not be measured" in done.stderr


@pytest.mark.parametrize(
    ("target", "words", "code"),
    [
        ("/etc/hostname", "exists and is not a directory", 3),
        ("/dev/null", "exists and is not a directory", 3),
        ("/no-such-place/x", "/no-such-place/x: no such directory", 2),
        ("", "TARGET is empty", 2),
        ("/" + "x" * 300, "File name too long", 2),
        ("../x", "has a `.` or `..` part", 2),
    ],
)
def test_refusals_are_one_clear_line(target: str, words: str, code: int, leftovers: Path) -> None:
    done = ceilings(target, expect=code)
    assert words in done.stderr and done.stderr.count("error: ") == 1 and "hint: " in done.stderr
    assert done.stdout == ""


def started(target: Path) -> "subprocess.Popen[str]":
    """The command, once its engine is writing at the target."""
    command = [ASSAY, "ceilings", str(target)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + GUARD
    while not (target / OWN_DIRECTORY / plan.DIRECTORY).exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_removes_everything(root: Path, leftovers: Path, number: signal.Signals) -> None:
    process = started(root)
    process.send_signal(number)
    output, errors = process.communicate(timeout=GUARD)
    assert (process.returncode, output) == (130, "")
    assert "stopped: no measurement was completed, and the test data is removed" in errors


def test_what_a_killed_call_left_the_next_one_removes_wherever_it_was(root: Path, leftovers: Path) -> None:
    killed, following = root / "killed", root / "next"
    killed.mkdir()
    following.mkdir()
    process = started(killed)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (killed / OWN_DIRECTORY / ".assay-target").is_file()
    (folder,) = run_folders(leftovers / f"assay-ceilings-{os.getuid()}")
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    while run_is_alive(folder):
        time.sleep(0.01)
    assert "warning" not in ceilings(following).stderr
    killed.rmdir()
    following.rmdir()


def test_two_calls_do_not_share_a_place(root: Path, leftovers: Path) -> None:
    process = started(root)
    process.send_signal(signal.SIGSTOP)
    try:
        assert "is in use by run " in ceilings(root, expect=3).stderr
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=GUARD)
    assert process.returncode == 0


def test_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    trap = tmp_path / f"assay-ceilings-{os.getuid()}"
    trap.symlink_to("/var/tmp")
    assert "not a folder that only this user can use" in ceilings("/dev/shm", expect=3).stderr
    assert trap.is_symlink()
    trap.unlink()
    trap.mkdir()
    trap.chmod(0o777)
    assert "not a folder that only this user can use" in ceilings("/dev/shm", expect=3).stderr
