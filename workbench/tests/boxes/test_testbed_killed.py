"""Whatever of a box is killed, and whenever: nothing is left after it is taken down.

ASSAY_BOX_SEED says with which seed; each cycle prints what it killed.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import command_of
from run_tools import ASSAY
from soak import times
from testbed_tools import (
    GUARD,
    assert_nothing_left,
    assert_soon,
    left,
    listed_inits,
    need_box,
    own_processes,
    written,
)

from assay.journal.processes import ProcessIdentity
from assay.model.site.box import Box
from assay.rooms.testbed.work import journal
from assay.rooms.testbed.work.clean import take_down
from assay.rooms.testbed.work.find import remove_dead_boxes, running_boxes
from assay.rooms.testbed.work.folders import boxes_root, disks_root, make_disks_folder
from assay.rooms.testbed.work.up import bring_up
from assay.site.installed import find_program

CYCLES = times(3, 50)
SEED = int(os.environ.get("ASSAY_BOX_SEED", "20261122"))
SERVED = "servers: [{kind: nfs-ganesha, exports: [/export]}]"
TEXT = """name: victim
hosts:
  client[1-2]: {link: 1 Gbit/s}
  server1:
    disks: [{size: 64MiB, mount: /export, write_limit: 50MB/s}, {size: 16MiB, device: raw}]
    mounts: [{source: none, at: /seen, type: tmpfs}]
    SERVED
network: {delay: 100us}
"""
"""Has one of everything: links, shaping, assay-switch, disks, a mount, a control group, a server."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / f"boxes-{os.getpid()}"
    folder.mkdir()
    monkeypatch.setenv("ASSAY_BOXES", str(folder))
    yield folder
    for box in running_boxes():
        box.down()


def _text() -> str:
    """With a server if it is installed; everything else is tried without."""
    return TEXT.replace("SERVED", SERVED if find_program("ganesha.nfsd") else "roles: [server]")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _victims(chance: random.Random, root: Path, up: int) -> list[int]:
    """Processes to kill: of the box, or the one that makes it, or some of all."""
    made = journal.read_journal(boxes_root() / "victim") or journal.BoxRecord()
    inits = [process.pid for process in made.inits if process.is_alive]
    everything = [up, *own_processes(root)]
    choice = chance.choice(("up", "inits", "init", "some", "all"))
    if choice == "init" and inits:
        return [chance.choice(inits)]
    some = [pid for pid in everything if chance.random() < 0.3]
    return {"up": [up], "init": inits, "inits": inits, "some": some, "all": everything}[choice] or everything


def _wait_for_journal(up: "subprocess.Popen[str]") -> None:
    """Until something is made, or all is over."""
    while up.poll() is None and not (boxes_root() / "victim" / journal.NAME).exists():
        time.sleep(0.005)


def _remove(box: Box, how: int) -> None:
    """By `down`, by the next look, by the next `up` in turn."""
    if how == 0 and boxes_root().joinpath("victim").exists():
        take_down("victim")
    if how == 2 and not running_boxes():
        bring_up(box).down()
    for running in running_boxes():
        running.down()
    assert remove_dead_boxes()[1] == []


def test_nothing_is_left_whatever_is_killed(root: Path, tmp_path: Path) -> None:
    box = written(tmp_path, _text())
    need_box(box)
    begin = time.monotonic()
    bring_up(box).down()
    assert_nothing_left(root)
    longest = 1.2 * (time.monotonic() - begin)
    chance = random.Random(SEED)
    for cycle in range(CYCLES):
        with subprocess.Popen(
            [ASSAY, "testbed", "up", str(tmp_path / "box.yaml")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as up:
            if cycle % 4:
                _wait_for_journal(up)
            time.sleep(chance.uniform(0.0, longest))
            victims = _victims(chance, root, up.pid)
            for pid in victims:
                _kill(pid)
            said = up.communicate(timeout=GUARD)[1]
        found = {what: len(items) for what, items in left(root).items()}
        print(f"cycle {cycle}: killed {len(victims)}, then there were {found}; up said {said.strip()!r}")
        assert "bug" not in said
        _remove(box, cycle % 3)
        assert_nothing_left(root)


def test_a_disk_that_was_attached_but_not_mounted_yet_is_detached(root: Path, tmp_path: Path) -> None:
    need_box(written(tmp_path, _text()))
    folder, disks = boxes_root() / "victim", disks_root() / "victim"
    folder.mkdir(parents=True)
    journal.BoxJournal(folder, disks).close()
    make_disks_folder(disks, folder)
    image = disks / "server1-0.img"
    image.touch()
    os.truncate(image, 2**20)
    subprocess.run(["losetup", "--find", str(image)], check=True)
    assert "loops" in left(root)
    assert remove_dead_boxes() == (["victim"], [])
    assert left(root) == {}


def test_a_box_goes_after_the_process_it_belongs_to(root: Path, tmp_path: Path) -> None:
    need_box(written(tmp_path, _text()))
    code = (
        "import sys, time; from pathlib import Path; from assay.rooms.testbed.work.box import load_box; "
        "from assay.rooms.testbed.work.up import bring_up; bring_up(load_box(sys.argv[1], Path('/')), owned=True); "
        "print('up', flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "box.yaml")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
        assert [box.name for box in running_boxes()] == ["victim"]
        assert remove_dead_boxes() == ([], [])
        assert set(left(root)) == {"processes", "namespaces", "loops", "groups", "files"}, (
            "that is what there is to find"
        )
        owner.kill()
    assert running_boxes() == ()
    assert remove_dead_boxes() == (["victim"], [])
    assert_nothing_left(root)


def _recorded(name: str) -> list[ProcessIdentity]:
    return (journal.read_journal(boxes_root() / name) or journal.BoxRecord()).processes()


def test_when_a_box_is_down_its_processes_are_gone(root: Path, tmp_path: Path) -> None:
    """No process is even listed as ended: with whatever is killed before, by whoever the box is taken down."""
    box = written(tmp_path, _text())
    need_box(box)
    words = [ASSAY, "testbed", "up", str(tmp_path / "box.yaml")]
    for kind in ("command", "one init", "all inits", "owner"):
        if kind == "owner":
            bring_up(box)
        else:
            subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        inits = _recorded("victim")
        assert len(inits) == 4
        for process in inits[: {"one init": 1, "all inits": 4}.get(kind, 0)]:
            _kill(process.pid)
        if kind == "owner":
            take_down("victim")
        else:
            subprocess.run([ASSAY, "testbed", "down", "victim"], check=True, stderr=subprocess.DEVNULL)
        assert listed_inits(root, inits) == [], kind
        assert left(root) == {}


def test_a_killed_up_takes_the_hosts_that_are_not_recorded_with_it(root: Path, tmp_path: Path) -> None:
    box = written(tmp_path, _text())
    need_box(box)
    up = subprocess.Popen([ASSAY, "testbed", "up", str(tmp_path / "box.yaml")], stderr=subprocess.DEVNULL)
    assert_soon(lambda: bool(own_processes(root)), lambda: "no process of the box was seen")
    up.kill()
    up.wait()
    recorded = {process.pid for process in (journal.read_journal(boxes_root() / "victim") or journal.BoxRecord()).inits}

    def unrecorded() -> list[int]:
        return [pid for pid in own_processes(root) if command_of(pid)[1:2] == ["init"] and pid not in recorded]

    assert_soon(lambda: not unrecorded(), lambda: f"without anybody's knowledge live {unrecorded()}")
    take_down("victim")
    assert_nothing_left(root)
