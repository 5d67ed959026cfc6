"""`assay-engine conform`: storage that does what it should holds, and each way of being wrong is found and named."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faulty import faulty_mount, needs_faults, tree
from loop_devices import loop_device, need_root, small_file_system
from run_tools import ENGINE, needs_engine
from soak import times

pytestmark = needs_engine
MIB = 1 << 20


def started(target: dict[str, Any], *words: str) -> subprocess.CompletedProcess[str]:
    """The suite, run on a target."""
    command = [ENGINE, "conform", *words, "-"]
    return subprocess.run(command, input=json.dumps(target), capture_output=True, text=True, check=False)


def conform(target: dict[str, Any], only: str, expect: int) -> dict[str, Any]:
    """The report of the checks whose words have `only` in them; it ends with the exit code that is expected."""
    done = started(target, "--json", "--only", only)
    assert done.returncode == expect, (done.stdout, done.stderr)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def wrong(answer: dict[str, Any]) -> dict[str, set[str]]:
    """Checks that do not hold -> what they look like."""
    found: dict[str, set[str]] = {}
    for row in answer["report"]["rows"]:
        if row["verdict"] == "does_not_hold":
            found.setdefault(row["check"], set()).update(finding["symptom"] for finding in row["findings"])
    return found


def holding(answer: dict[str, Any]) -> set[str]:
    """Checks that hold in all ways."""
    rows = answer["report"]["rows"]
    return {row["check"] for row in rows} - {row["check"] for row in rows if row["verdict"] != "holds"}


@dataclass(frozen=True)
class Lie:
    """A way in which storage is wrong.

    Attributes:
        rule: What `assay-faultfs` is told.
        only: Which checks are run.
        wrong: Checks that must not hold, and what that must look like.
        holds: Checks that must hold all the same.
        left: Whether names stay that cannot be removed.
    """

    rule: str
    only: str
    wrong: dict[str, str]
    holds: tuple[str, ...] = ()
    left: bool = False


LIES = [
    Lie("stale on read path */f*", "data: rewrite (shared", {"rewrite": "stale"}),
    Lie("stale on read path */f* after 16", "flush: own writes", {"own writes": "stale"}),
    Lie("lost on write path */f*", "data: write (shared", {"write": "zeros"}),
    Lie("torn on write path */f* after 16", "flush: own writes", {"own writes": "torn"}),
    Lie("corrupt on read path */f*", "data: read (", {"read": "corrupt"}),
    Lie("short on read path */f*", "ends: the end", {"the end": "length"}),
    Lie("eio on fsync path */f*", "flush: flushed and closed", {"flushed and closed": "refused"}),
    Lie(
        "vanish on write path */f*",
        "flush",
        {"flushed and closed": "unstable"},
        ("own writes", "writes seen by others", "flushed, seen by others", "flushed, opened anew"),
    ),
    Lie("size on getattr,lookup path */t0/*", "names: sizes", {"sizes": "size"}),
    Lie("forget on readdir path */t0", "names: listing", {"listing": "listing"}, ("removal",)),
    Lie(
        "lost on unlink path */t0/*",
        "names: a name that",
        {"a name that is given up": "name", "removal": "remains"},
        ("a name that is taken", "a name that is not there"),
        left=True,
    ),
    Lie("lost on rename path */t0/*", "names: renaming", {"renaming": "name"}, ("removal",)),
    Lie("corrupt on read path */t0/*", "names: renaming", {"renaming": "contents"}, ("removal",)),
    Lie("corrupt on read path */t1/*", "names: create (a tree per lane, sync", {"create": "contents"}, ("removal",)),
]


@needs_faults
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.rule.replace(" ", "_").replace("/", "."))
def test_what_is_wrong_is_found_and_named(tmp_path: Path, lie: Lie) -> None:
    with faulty_mount(tmp_path) as mount:
        mount.set(lie.rule)
        answer = conform({"root": f"{mount.path}/conform"}, lie.only, expect=1)
        assert mount.injected(), "nothing went wrong"
        found = wrong(answer)
        for check, symptom in lie.wrong.items():
            assert symptom in found.get(check, set()), (check, answer)
        assert set(lie.holds) <= holding(answer), found
        assert bool(answer["left"]) == lie.left == bool(tree(mount.backing)), answer["left"]


@needs_faults
def test_a_finding_has_object_offset_and_both_values(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        mount.set("corrupt on read path */f0")
        answer = conform({"root": f"{mount.path}/conform"}, "data: read (shared, buffered, sync", expect=1)
    row = next(row for row in answer["report"]["rows"] if row["check"] == "read")
    finding = row["findings"][0]
    # A third of the way of each read is another byte; what is read again is a record of 4096.
    place = re.escape(f"{tmp_path}/faulty/conform")
    assert re.fullmatch(rf"{place}/c0001-r\d+/f0", finding["object"]), finding
    assert finding["offset"] % 4096 == 4096 // 3
    assert int(finding["expected"], 16) ^ int(finding["found"], 16) == 0x40


@needs_faults
def test_the_table_says_what_is_wrong(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        mount.set("vanish on write path */f*")
        done = started({"root": f"{mount.path}/conform"}, "--only", "flush")
    assert done.returncode == 1, done.stderr
    assert "flushed and closed" in done.stdout and "DOES NOT HOLD in 4 of 4 ways" in done.stdout, done.stdout
    assert "flushed data is gone when the file is opened anew (4 checks)" in done.stdout
    assert "no mmap: the file system has no shared mappings of files" in done.stdout


@needs_faults
@pytest.mark.parametrize("options", times([()], [(), ("--cached",)]), ids=" ".join)
def test_a_right_file_system_in_user_space_holds(tmp_path: Path, options: tuple[str, ...]) -> None:
    with faulty_mount(tmp_path, *options) as mount:
        for only in ("data: write (", "data: random_write (shared", "flush", "ends", "names: a name", "listing"):
            assert wrong(conform({"root": f"{mount.path}/conform"}, only, expect=0)) == {}
        assert tree(mount.backing) == set()


def test_a_device_holds(tmp_path: Path) -> None:
    with loop_device(tmp_path, 64 * MIB) as device:
        answer = conform({"kind": "device", "path": device, "destroy": True}, "", expect=0)
        rows = answer["report"]["rows"]
        assert {row["group"] for row in rows} == {"data", "flush", "ends", "end"}
        assert not [row for row in rows if "separate" in row["way"]]


def test_a_device_that_lets_nothing_be_written_is_refused(tmp_path: Path) -> None:
    with loop_device(tmp_path, 64 * MIB) as device:
        subprocess.run(["blockdev", "--setro", device], check=True)
        try:
            done = started({"kind": "device", "path": device, "destroy": True})
        finally:
            # Or whoever gets the loop device next could write nothing either.
            subprocess.run(["blockdev", "--setrw", device], check=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is read-only" in done.stderr


def test_a_file_system_with_few_inodes_is_not_blamed(tmp_path: Path) -> None:
    need_root()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,nr_inodes=100", "tmpfs", str(tmp_path)], check=True)
    try:
        done = started({"root": str(tmp_path / "conform")})
        assert (done.returncode, done.stdout) == (2, "")
        assert "inodes are free" in done.stderr
        assert list(tmp_path.iterdir()) == []
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@needs_faults
def test_what_was_found_before_the_storage_hangs_is_told(tmp_path: Path) -> None:
    with faulty_mount(tmp_path) as mount:
        mount.set("hang on rename path */t0/*")
        command = [ENGINE, "conform", "--patience", "2", "--only", "names: ", "-"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
            assert process.stdin and process.stdout and process.stderr
            process.stdin.write(json.dumps({"root": f"{mount.path}/conform"}))
            process.stdin.close()
            said = process.stderr.readline()
            # Its thread in the kernel keeps the process until then.
            mount.release()
            table = process.stdout.read()
    assert process.returncode == 2, table
    assert "storage does not answer" in said
    assert re.search(r"a name that is taken +is not made again, and its file stays as it was +holds", table), table
    assert "renaming" not in table


def test_a_file_system_of_another_kind_holds_and_its_device_is_refused(tmp_path: Path) -> None:
    with small_file_system(tmp_path, 400 * MIB, kind="xfs") as (device, place):
        assert wrong(conform({"root": str(place)}, "", expect=0)) == {}
        assert list(place.iterdir()) == []
        busy = started({"kind": "device", "path": device, "destroy": True})
        assert (busy.returncode, busy.stdout) == (2, "")
        assert "is mounted or in use" in busy.stderr


def test_too_little_room_is_told_before(tmp_path: Path) -> None:
    with loop_device(tmp_path, 8 * MIB) as device:
        small = started({"kind": "device", "path": device, "destroy": True})
        assert (small.returncode, small.stdout) == (2, "")
        assert "has 8388608 bytes" in small.stderr
