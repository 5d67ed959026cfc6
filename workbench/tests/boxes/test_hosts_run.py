"""Whole runs on several hosts: in a cluster in a box, over ssh, and what stays as it was with one machine."""

import hashlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_runs import INVENTORY, end_connections, study, two_hosts
from killing import command_of
from run_tools import ASSAY, assay, needs_engine, only_run
from ssh_tools import Sshd
from testbed_tools import GUARD, assert_nothing_left, assert_soon, need_box, own_processes, written

from assay.launch.binary import find_engine
from assay.rooms.testbed.work.find import running_boxes
from assay.store import RunStore

pytestmark = needs_engine

BOX = """name: three
hosts:
  client[1-3]: {}
"""


def hosts_of(folder: Path) -> list[list[str]]:
    """Host names of each sample, by number of hosts."""
    with RunStore.open(only_run(folder)) as store:
        assert {job.status for job in store.jobs()} == {"ok"}
        found = [[share.host for share in sample.hosts] for sample in store.samples()]
    return sorted(found, key=len)


@pytest.fixture
def boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for boxes; nothing of them is left in the end."""
    folder = tmp_path / f"run-boxes-{os.getpid()}"
    folder.mkdir()
    monkeypatch.setenv("ASSAY_BOXES", str(folder))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "box.yaml").write_text(BOX)
    need_box(written(tmp_path, BOX))
    yield folder
    for box in running_boxes():
        box.down()
    assert_nothing_left(folder)


def test_a_run_brings_its_box_up_uses_its_hosts_and_takes_it_down(boxes: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    done = assay(work, "run", study(work, "testbed: box.yaml"))
    assert "box three" in done.stderr
    assert_nothing_left(boxes)
    names = ["client1", "client2", "client3"]
    assert hosts_of(work) == [names[:count] for count in (1, 2, 3)]
    with RunStore.open(only_run(work)) as store:
        info = store.info()
        assert list(info.hosts) == names
        # Hosts that are alike share a section.
        assert any(re.match(r"hosts? client(1|\[1-)", section) for section in info.environment)
        (most,) = [sample for sample in store.samples() if len(sample.hosts) == 3]
        assert most.ops == sum(share.ops for share in most.hosts) > 0
        assert most.skew_ns < 100_000_000 and most.clock_uncertainty_ns < 20_000_000
    assert (only_run(work) / "testbed.yaml").read_text() == BOX
    shown = assay(work, "show", "last", "c0003").stdout
    assert re.search(r"Operation +Host +Rate", shown)
    assert all(re.search(rf"read +{name} ", shown) for name in names)
    assay(work, "report", "last")
    page = (only_run(work) / "report.html").read_text()
    assert 'id="hosts"' in page and "1 host alone reaches" in page


def test_a_box_without_enough_hosts_is_one_line_and_nothing_is_left(boxes: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    done = assay(work, "run", study(work, "testbed: box.yaml", hosts=5), expect=3)
    assert "the study needs 5 hosts, and has 3: client1, client2, client3" in done.stderr
    assert_nothing_left(boxes)
    done = assay(work, "run", study(work, "testbed: box.yaml\nhosts: client[2-9]", hosts=2), expect=3)
    assert "the box has no host client4" in done.stderr
    assert_nothing_left(boxes)
    done = assay(work, "run", study(work, "testbed: nobox.yaml", hosts=2), expect=2)
    assert "nobox.yaml" in done.stderr
    (work / "box.yaml").write_text(BOX + "  client3: {}\n  client4: {speed: 3}\n")
    done = assay(work, "run", study(work, "testbed: box.yaml", hosts=2), expect=2)
    assert "box.yaml:" in done.stderr
    assert not [*(work / "assay-runs").glob("*")]


def test_hosts_of_a_box_may_be_chosen(boxes: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    assay(work, "run", study(work, "testbed: box.yaml\nhosts: client[2-3]", hosts="[1, 2]"))
    assert hosts_of(work) == [["client2"], ["client2", "client3"]]


def test_a_killed_workbench_leaves_no_engine_for_long_and_its_box_is_removed(boxes: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    file = study(work, "testbed: box.yaml", hosts=3, runtime="1h")
    with subprocess.Popen([ASSAY, "run", file], cwd=work, stderr=subprocess.DEVNULL) as run:
        try:
            assert_soon(lambda: len(engines(boxes)) == 3, lambda: f"engines: {engines(boxes)}")
            time.sleep(0.5)
        finally:
            run.kill()
    assert_soon(lambda: engines(boxes) == [], lambda: f"engines: {engines(boxes)}")
    assay(work, "testbed", "status")
    assert_nothing_left(boxes)


def engines(boxes: Path) -> list[int]:
    """Engines that measure in the boxes of this folder."""
    return [pid for pid in own_processes(boxes) if command_of(pid)[:2] == [str(find_engine()), "run"]]


def test_a_host_that_dies_is_named_and_the_run_goes_on(boxes: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    file = study(work, "testbed: box.yaml\norder: sequential", hosts="[3, 1]", runtime="3s")
    with subprocess.Popen([ASSAY, "run", file], cwd=work, stderr=subprocess.PIPE, text=True) as run:
        assert_soon(lambda: len(engines(boxes)) == 3, lambda: f"engines: {engines(boxes)}")
        (box,) = running_boxes()
        os.kill(box.host("client2").pid, signal.SIGKILL)
        said = run.communicate(timeout=GUARD)[1]
    assert run.returncode == 1, said
    with RunStore.open(only_run(work)) as store:
        outcomes = {job.case: (job.status, job.reason) for job in store.jobs()}
        shares = [sample.hosts for sample in store.samples() if sample.case == "c0001"]
    assert outcomes["c0001"][0] == "crashed" and outcomes["c0001"][1].startswith("client2: ")
    assert outcomes["c0002"][0] == "ok"
    assert [share.status for share in shares[0]] == ["stopped", "crashed", "stopped"]
    assert "incomplete" in assay(work, "show", "last").stdout
    assert_nothing_left(boxes)


def test_without_the_first_host_every_repeat_is_told_and_the_run_ends(boxes: Path, tmp_path: Path) -> None:
    """Its directory cannot be cleaned any more; what the others can reach is removed."""
    work = tmp_path / "work"
    file = study(work, "testbed: box.yaml\norder: sequential", hosts="[3, 1]", runtime="3s")
    text = (work / "study.yaml").read_text()
    place = f"nowhere: {{kind: file, path: {work}/data}}"
    (work / "study.yaml").write_text(re.sub("nowhere: .*", place, text))
    with subprocess.Popen([ASSAY, "run", file], cwd=work, stderr=subprocess.PIPE, text=True) as run:
        assert_soon(lambda: len(engines(boxes)) == 3, lambda: f"engines: {engines(boxes)}")
        time.sleep(1)
        (box,) = running_boxes()
        os.kill(box.host("client1").pid, signal.SIGKILL)
        said = run.communicate(timeout=GUARD)[1]
    assert run.returncode == 1 and "Traceback" not in said, said
    with RunStore.open(only_run(work)) as store:
        outcomes = {job.case: (job.status, job.reason) for job in store.jobs()}
    assert {status for status, _ in outcomes.values()} == {"crashed"}
    assert all("client1" in reason for _, reason in outcomes.values()), outcomes
    assert not (work / "data").exists()


def test_this_machine_alone_is_as_ever(tmp_path: Path) -> None:
    """With and without the word for it."""
    for place, rest in enumerate(("", "hosts: localhost", "hosts: [localhost]")):
        work = tmp_path / str(place)
        work.mkdir()
        assay(work, "run", study(work, rest, hosts=1))
        with RunStore.open(only_run(work)) as store:
            assert store.info().hosts == () and store.info().network is None
            (sample,) = store.samples()
            assert sample.hosts == () and sample.status == "done"
            assert '"event":"host"' not in store.events("c0001", 1)
            (job,) = store.jobs()
            assert (job.job["ranks"], job.job["wait_for_go"]) == (1, False)
        assert "Moved when the first host ended" not in assay(work, "show", "last", "c0001").stdout


@pytest.mark.parametrize("rest", ["", "hosts: localhost"])
def test_more_hosts_than_there_are_is_one_line(tmp_path: Path, rest: str) -> None:
    done = assay(tmp_path, "run", study(tmp_path, rest, hosts=2), expect=3)
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert "the study needs 2 hosts, but names none" in line
    assert not [*(tmp_path / "assay-runs").glob("*")]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def engine_copies(node: Sshd) -> list[Path]:
    return sorted(node.home.glob(".cache/assay/engine-*/assay-engine"))


def remote_engines(*nodes: Sshd) -> list[int]:
    """Engines that were started from the copies on these hosts."""
    copies = {str(path) for node in nodes for path in engine_copies(node)}
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in found if copies.intersection(command_of(pid)[:1])]


def test_a_run_over_ssh_copies_the_engine_once_and_checks_it_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with two_hosts(tmp_path, monkeypatch) as nodes:
        work = tmp_path / "work"
        file = study(work, INVENTORY, hosts="[1, 2]")
        assay(work, "run", file)
        assert hosts_of(work) == [["node1"], ["node1", "node2"]]
        (first,), (second,) = (engine_copies(node) for node in nodes)
        hashes = {sha256(path) for path in (first, second)}
        assert hashes == {sha256(find_engine())}
        before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in (first, second)]
        second.write_bytes(b"#!/bin/sh\nexit 0\n")
        assay(work, "run", file, "--out", "again")
        assert (first.stat().st_ino, first.stat().st_mtime_ns) == before[0]
        assert sha256(second) in hashes
        assert remote_engines(*nodes) == []


def test_hosts_that_share_an_empty_directory_give_it_back_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with two_hosts(tmp_path, monkeypatch):
        work, target = tmp_path / "work", tmp_path / "target"
        target.mkdir()
        file = Path(study(work, INVENTORY, hosts=2))
        text = file.read_text().replace("operations: [read]", "operations: [write]")
        places = f"targets:\n  shared: {{kind: file, path: {target}}}\nworkloads:"
        file.write_text(re.sub(r"(?s)targets:.*?workloads:", places, text))
        done = assay(work, "run", str(file))
        assert "could not be removed" not in done.stderr, done.stderr
        assert list(target.iterdir()) == []
        with RunStore.open(only_run(work)) as store:
            assert store.entries() == []


def test_a_host_that_refuses_is_one_line_and_nothing_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with two_hosts(tmp_path, monkeypatch) as nodes:
        work = tmp_path / "work"
        text = (work / "hosts.yaml").read_text()
        (work / "hosts.yaml").write_text(text.replace(f"port: {nodes[1].port}", "port: 1"))
        done = assay(work, "run", study(work, INVENTORY, hosts=2), expect=3)
        assert "host node2: refuses the connection" in done.stderr
        (work / "hosts.yaml").write_text("hosts:\n  node1: {user name: x}\n")
        done = assay(work, "run", study(work, "hosts: {inventory: hosts.yaml}", hosts=1), expect=3)
        assert "hosts.yaml:2: node1: there is no field `user name`" in done.stderr
        assert not [*(work / "assay-runs").glob("*")]


def test_a_stopped_run_goes_on_from_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the inventory is needed any more: the run has a copy, with the paths of the keys in full."""
    with two_hosts(tmp_path, monkeypatch) as nodes:
        work = tmp_path / "work"
        file = study(work, INVENTORY, hosts=2, runtime="1s", repeats=4)
        with subprocess.Popen([ASSAY, "run", file], cwd=work, stderr=subprocess.PIPE, text=True) as run:
            assert run.stderr is not None
            for line in run.stderr:
                if line.startswith("[1/4]"):
                    break
            run.send_signal(signal.SIGINT)
            said = run.communicate(timeout=GUARD)[1]
        assert run.returncode == 130, said
        assert remote_engines(*nodes) == []
        with RunStore.open(only_run(work)) as store:
            assert 1 <= store.info().finished < 4
        (work / "hosts.yaml").unlink()
        (work / "study.yaml").unlink()
        assay(work, "run", "--resume")
        assert hosts_of(work) == [["node1", "node2"]] * 4


def test_engines_over_ssh_end_by_themselves_when_the_workbench_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with two_hosts(tmp_path, monkeypatch) as nodes:
        work = tmp_path / "work"
        file = study(work, INVENTORY, hosts=2, runtime="1h")
        with subprocess.Popen([ASSAY, "run", file], cwd=work, stderr=subprocess.DEVNULL) as run:
            try:
                # One measures on each, and one counts.
                assert_soon(lambda: len(remote_engines(*nodes)) == 4, lambda: "no engines were seen")
                time.sleep(0.5)
            finally:
                run.kill()
        assert_soon(lambda: not remote_engines(*nodes), lambda: f"still there: {remote_engines(*nodes)}")
        end_connections(tmp_path, run.pid)
