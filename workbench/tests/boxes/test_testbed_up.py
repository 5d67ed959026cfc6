"""Boxes for real: brought up, used and removed. Needs root and the programs; touches no namespace but its own."""

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import run_here
from nfs_tools import boxes_below
from run_tools import ASSAY
from testbed_tools import GUARD, assert_nothing_left, brought_up, inside, left, need_box, said, written

from assay.journal.processes import ProcessIdentity
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import Box
from assay.rooms.testbed.work.box import load_box
from assay.rooms.testbed.work.find import remove_dead_boxes
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.up import bring_up

OFFICE = load_box("office", Path("/"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with boxes_below(tmp_path_factory.mktemp("up")) as folder:
        yield folder


@pytest.fixture(scope="module")
def office(root: Path) -> Iterator[RunningBox]:
    need_box(OFFICE, programs=("ping", "iperf3", "ssh", "nfs-cp", "nfs-ls"))
    box = bring_up(OFFICE)
    yield box
    box.down()
    assert_nothing_left(root)


def _assay(*words: str) -> subprocess.CompletedProcess[str]:
    return run_here(Path.cwd(), "testbed", *words)


def test_hosts_have_names_addresses_and_a_network_of_their_own(office: RunningBox) -> None:
    assert [host.name for host in office.hosts] == ["client1", "server1", "server2", "server3"]
    for host in office.hosts:
        assert said(office, host.name, "hostname").strip() == host.name
        assert sorted(said(office, host.name, "ls", "/sys/class/net").split()) == ["eth0", "lo"]
        said(office, "client1", "ping", "-c", "1", "-W", "2", host.name)
    assert inside(office, "client1", "ping", "-c", "1", "-W", "1", "10.77.0.99").returncode != 0


def test_hosts_see_only_their_own_processes_and_a_run_of_their_own(office: RunningBox) -> None:
    assert "assay-switch" in said(office, "client1", "cat", "/proc/1/cmdline")
    assert not any("ganesha" in line for line in said(office, "client1", "ps", "-eo", "args").splitlines())
    said(office, "server1", "touch", "/run/only-here")
    assert inside(office, "server2", "test", "-e", "/run/only-here").returncode == 1
    assert not Path("/run/only-here").exists()
    assert inside(office, "client1", "test", "-e", "/export").returncode == 1, "only servers have the directory"


def test_ssh_between_hosts_and_from_outside(office: RunningBox) -> None:
    config = str(office.ssh_config)
    assert said(office, "client1", "ssh", "-F", config, "server2", "hostname").strip() == "server2"
    done = subprocess.run(["ssh", "-F", config, "server3", "hostname"], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "server3", done.stderr
    key = Path(office.folder, "ssh", "known_hosts")
    kept = key.read_text()
    # With server1's key changed to server2's, nobody is asked and nothing is added: the connection is refused.
    key.write_text(re.sub(r"(?m)^server1,(\S+) .*$", r"server1,\1 " + _key_of(office, "server2"), kept))
    refused = inside(office, "client1", "ssh", "-F", config, "server1", "hostname")
    key.write_text(kept)
    assert refused.returncode == 255


def _key_of(box: RunningBox, host: str) -> str:
    return " ".join(Path(box.folder, "ssh", f"{host}.pub").read_text().split()[:2])


@pytest.mark.parametrize("version", ["3", "4"])
def test_exports_can_be_reached(office: RunningBox, version: str, tmp_path: Path) -> None:
    for server in ("server1", "server2", "server3"):
        done = said(office, "client1", "nfs-ls", f"nfs://{server}/export?version={version}")
        assert "lost+found" in done


def test_what_is_written_to_an_export_is_on_that_server_s_disk(office: RunningBox, tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    (tmp_path / "data").write_bytes(data)
    said(office, "client1", "nfs-cp", str(tmp_path / "data"), "nfs://server2/export/data?version=3")
    said(office, "server2", "cmp", "/export/data", str(tmp_path / "data"))
    assert inside(office, "server1", "test", "-e", "/export/data").returncode == 1
    assert not Path("/export/data").exists()


def test_a_server_is_stopped_and_started_again(office: RunningBox) -> None:
    (server,) = office.host("server1").servers
    assert (server.kind, server.exports, len(server.sha256)) == ("nfs-ganesha", ("/export",), 64)
    assert re.match(r"\d", server.version)
    assert office.server_fault("server1", server) == ""
    office.stop_server("server1", server, "KILL")
    assert "refused" in office.server_fault("server1", server)
    assert office.server_fault("server2", office.host("server2").servers[0]) == ""
    office.start_server("server1", server)
    assert office.server_fault("server1", server) == ""
    assert "lost+found" in said(office, "client1", "nfs-ls", "nfs://server1/export?version=3")


def test_status_says_what_is_up(office: RunningBox) -> None:
    done = _assay("status", "office", "--json")
    (facts,) = json.loads(done.stdout)
    assert [host["name"] for host in facts["hosts"]] == ["client1", "server1", "server2", "server3"]
    assert all(host["alive"] and host["link"] == 10**9 for host in facts["hosts"])
    assert [server["ready"] for host in facts["hosts"] for server in host["servers"]] == [True] * 3
    table = _assay("status").stdout
    assert table.count("nfs-ganesha") == 3
    assert "1 Gbit/s" in table


def test_exec_gives_the_command_s_exit_code_output_and_directory(office: RunningBox, tmp_path: Path) -> None:
    done = subprocess.run(
        [ASSAY, "testbed", "exec", "server1", "--", "sh", "-c", "hostname; pwd; exit 7"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (7, ["server1", str(tmp_path)])
    assert "no running box has a host nobody" in _assay("exec", "nobody", "--", "true").stderr


def test_shell_reads_commands_from_the_user(office: RunningBox) -> None:
    words = [ASSAY, "testbed", "shell", "client1", "--box", "office"]
    done = subprocess.run(words, input="hostname\nexit 3\n", capture_output=True, text=True, timeout=GUARD, check=False)
    assert done.returncode == 3
    assert "client1" in done.stdout.splitlines()


def test_a_second_box_of_a_name_is_refused_and_one_of_another_name_is_not(office: RunningBox, tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="box office is up already") as caught:
        bring_up(OFFICE)
    assert caught.value.exit_code == EXIT_REFUSED
    (tmp_path / "b.yaml").write_text("name: b\nhosts: {client1: {}}\n")
    done = _assay("up", str(tmp_path / "b.yaml"), "--as", "twin")
    assert done.returncode == 0, done.stderr
    assert "client1 is in several boxes: office, twin" in _assay("exec", "client1", "--", "true").stderr
    # In a process of its own, which becomes the command.
    subprocess.run([ASSAY, "testbed", "exec", "client1", "--box", "twin", "--", "true"], check=True)
    assert _assay("down", "twin").returncode == 0
    assert said(office, "client1", "hostname").strip() == "client1"


def test_of_two_that_bring_up_the_same_box_at_once_one_is_refused(root: Path, tmp_path: Path) -> None:
    box = written(tmp_path, "name: race\nhosts: {a: {}, b: {}}\n")
    need_box(box)
    results: list[object] = []

    def attempt() -> None:
        try:
            results.append(bring_up(box))
        except AssayError as error:
            results.append(error.exit_code)

    threads = [threading.Thread(target=attempt) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [result for result in results if isinstance(result, RunningBox)]
    assert EXIT_REFUSED in results
    winner.down()


def test_xfs(root: Path, tmp_path: Path) -> None:
    text = "name: xfs\nhosts: {a: {disks: [{size: 512MiB, mount: /data/deep, filesystem: xfs}]}}\n"
    with brought_up(tmp_path, text) as box:
        assert said(box, "a", "stat", "-f", "-c", "%T", "/data/deep").strip() == "xfs"


def test_a_dead_host_is_said_and_the_box_still_goes(root: Path, tmp_path: Path) -> None:
    with brought_up(tmp_path, "name: half\nhosts: {a: {}, b: {}}\n") as box:
        victim = box.host("b")
        os.kill(victim.pid, 9)
        while ProcessIdentity(victim.pid, victim.start).is_alive:
            pass
        (facts,) = json.loads(_assay("status", "half", "--json").stdout)
        assert [host["alive"] for host in facts["hosts"]] == [True, False]
        assert remove_dead_boxes() == ([], []), "a box of which one host is dead is still in use"


def test_a_failing_up_leaves_nothing(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Below what a file system of this kind needs.
    box = written(tmp_path, "name: tiny\nhosts: {a: {}, b: {disks: [{size: 16MiB, mount: /data, filesystem: xfs}]}}\n")
    need_box(box)
    before = left(root)
    with pytest.raises(AssayError, match=r"file system of b-0\.img"):
        bring_up(box)
    assert left(root) == before


def test_a_disk_must_not_hide_what_hosts_need(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = written(tmp_path, "name: hide\nhosts: {a: {disks: [{size: 64MiB, mount: /boxes/x}]}}\n")
    need_box(box)
    monkeypatch.setenv("ASSAY_BOXES", "/boxes")
    with pytest.raises(AssayError, match="a disk at /boxes/x would hide /boxes/boxes"):
        bring_up(box)
    assert not Path("/boxes").exists()


def test_many_hosts_leave_the_machine_s_own_network_alone(root: Path) -> None:
    box = load_box("cluster-8", Path("/"))
    need_box(box)
    before = sorted(path.name for path in Path("/sys/class/net").iterdir())
    running = bring_up(box)
    assert sorted(path.name for path in Path("/sys/class/net").iterdir()) == before
    assert [said(running, f"client{number}", "hostname").strip() for number in (1, 8)] == ["client1", "client8"]
    running.down()


def _boxes() -> list[Box]:
    return [load_box(name, Path("/")) for name in ("wan", "scaleout-4")]


def test_the_other_presets_come_up(root: Path) -> None:
    need_box(*_boxes())
    for box in _boxes():
        running = bring_up(box)
        last = [host for host in running.hosts if host.servers][-1]
        assert running.server_fault(last.name, last.servers[0]) == ""
        running.down()


def test_several_disks_as_one(tmp_path: Path) -> None:
    """Striped, mirrored, and both: as many devices as said, each of them limited."""
    raids = {"r0": (0, 3), "r1": (1, 2), "r10": (10, 4)}
    disks = ", ".join(
        f"{{size: 128MiB, raid: {{level: {level}, disks: {count}}}, mount: /{name}, write_iops: 5000}}"
        for name, (level, count) in raids.items()
    )
    with brought_up(tmp_path, f"name: raids\nhosts:\n  a: {{disks: [{disks}]}}\n") as box:
        for name, (level, count) in raids.items():
            told = said(box, "a", "btrfs", "filesystem", "show", f"/{name}")
            assert f"Total devices {count} " in told
            used = said(box, "a", "btrfs", "filesystem", "df", f"/{name}")
            assert f"Data, RAID{level}:" in used
            said(box, "a", "sh", "-c", f"head -c 1000000 /dev/urandom > /{name}/x && sync")
        numbers = Path(box.host("a").group).parent / Path(box.host("a").group).name
        limits = [path for path in numbers.iterdir() if path.name in ("blkio.throttle.write_iops_device", "io.max")]
        assert sum(len(path.read_text().splitlines()) for path in limits) == 9


def test_disks_are_laid_out_and_mounted_as_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_BOXES", str(tmp_path / "boxes"))
    oss = "noatime,nodiratime,logbufs=8,logbsize=256k,largeio,inode64,swalloc,allocsize=131072k"
    text = f"""
name: laid-out
hosts:
  h:
    disks:
      - {{size: 512MiB, mount: /oss, filesystem: xfs, make: "-l version=2,su=128k -i size=1024", options: "{oss}"}}
      - {{size: 64MiB, mount: /old, filesystem: ext3, options: noatime}}
"""
    with brought_up(tmp_path, text) as box:
        found = said(box, "h", "findmnt", "--noheadings", "--output", "FSTYPE,OPTIONS", "/oss")
        assert {"noatime", "logbsize=256k", "swalloc", "allocsize=131072k"} <= set(
            found.replace(" ", ",").strip().split(",")
        )
        assert "isize=1024" in said(box, "h", "xfs_info", "/oss")
        assert said(box, "h", "findmnt", "--noheadings", "--output", "FSTYPE", "/old").strip() == "ext3"
    assert_nothing_left(tmp_path / "boxes")
