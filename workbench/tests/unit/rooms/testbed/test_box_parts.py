"""What a box becomes, its journal and its removal: without root, namespaces or networks."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from journal_lines import claim
from testbed_tools import assert_soon, written

from assay.journal.entry import DIRECTORY, PROCESS
from assay.journal.processes import ProcessIdentity, boot_id, start_time
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box_servers import BoxMount
from assay.model.site.box_state import BoxState, RunningHost
from assay.rooms.testbed.work import layout, programs, ssh
from assay.rooms.testbed.work.box import load_box
from assay.rooms.testbed.work.clean import remove_lost_disks, remove_parts, take_down
from assay.rooms.testbed.work.disks import find_hierarchy
from assay.rooms.testbed.work.find import remove_dead_boxes, running_boxes
from assay.rooms.testbed.work.folders import MARKER, box_lock, boxes_root, disks_root, make_disks_folder
from assay.rooms.testbed.work.journal import BoxJournal, read_journal
from assay.rooms.testbed.work.process import is_init_of, kill_inits, wait_reaped
from assay.rooms.testbed.work.state import read_state, write_state
from assay.site import installed


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_BOXES", str(tmp_path / "place"))


@pytest.fixture
def sleeper() -> "subprocess.Popen[bytes]":
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def test_the_kernel_s_bridge_does_where_nothing_is_delayed() -> None:
    (segment,) = layout.segments(load_box("cluster-8", Path("/")))
    assert not segment.needs_assay_switch
    assert [port.interface for port in segment.ports] == [f"p{number}" for number in range(1, 10)]


def test_delay_and_loss_of_a_path_are_shared_by_its_two_ports(tmp_path: Path) -> None:
    text = "name: x\nhosts:\n  a: {delay: 1ms, loss: 1%}\n  b: {}\nnetwork: {delay: 250us, loss: 0.01%}\n"
    (segment,) = layout.segments(written(tmp_path, text))
    assert segment.ports == (layout.Port("p1", 1_125_000, 10_050), layout.Port("p2", 125_000, 50))
    box = written(tmp_path, text)
    words = ["assay-switch", "switch", "--port", "p1:1125000:10050", "--port", "p2:125000:50"]
    assert layout.switch_commands(box, "assay-switch") == [words]
    assert not any("bridge" in line for line in layout.switch_links(box, {"a": 1, "b": 2}))
    assert "gso_max_segs 1" in layout.host_script(box.all_hosts()[0], box)


def test_each_card_of_a_host_has_a_port_and_the_first_one_the_address(tmp_path: Path) -> None:
    served = "servers: [{kind: vblade, devices: [d], options: {shelf: 7, interface: eth1}}]"
    text = "name: x\nhosts:\n  a: {interfaces: 2, link: 1 Gbit/s}\n  b: {interfaces: CARDS, disks: [DISK], SERVED}\n"
    text = text.replace("SERVED", served).replace("DISK", "{size: 64MiB, device: d}")
    box = written(tmp_path, text.replace("CARDS", "2"))
    (segment,) = layout.segments(box)
    assert [port.interface for port in segment.ports] == ["p1", "p1c1", "p2", "p2c1"]
    links = layout.switch_links(box, {"a": 11, "b": 12})
    assert "link add p1c1 mtu 1500 type veth peer name eth1 mtu 1500 netns 11" in links
    script = layout.host_script(box.all_hosts()[0], box)
    assert script.count("addr add") == 1 and "link set eth1 arp off" in script and "link set eth0 arp" not in script
    assert script.count("rate 1000000000bit") == 2
    with pytest.raises(AssayError, match="eth1 is not a network card of this host"):
        written(tmp_path, text.replace("CARDS", "1"))


def test_sites_meet_at_a_further_switch_with_one_shaped_link_each() -> None:
    box = load_box("wan", Path("/"))
    here, there, wan = layout.segments(box)
    assert [port.interface for port in here.ports] == ["p1", "p3", "t1"]
    assert [port.interface for port in there.ports] == ["p2", "p4", "t2"]
    assert wan.ports == (layout.Port("w1", 21_750_000), layout.Port("w2", 21_750_000))
    assert [segment.needs_assay_switch for segment in (here, there, wan)] == [False, False, True]
    shaped = [line.split()[3] for line in layout.switch_shapers(box) if "100000000bit" in line]
    assert shaped == ["t1", "w1", "t2", "w2"]


def test_links_are_shaped_at_both_ends() -> None:
    box = load_box("office", Path("/"))
    lines = layout.switch_shapers(box)
    assert len([line for line in lines if "rate 1000000000bit ceil 1000000000bit" in line]) == 4
    assert "class add dev eth0 parent 1: classid 1:1 htb rate 1000000000bit" in layout.host_script(
        box.all_hosts()[0], box
    )


@pytest.mark.parametrize(("speed", "burst"), [(10**8, 131072), (10**9, 250_000), (10**10, 2_500_000)])
def test_the_burst_fits_the_rate(speed: int, burst: int) -> None:
    assert f"burst {burst} cburst {burst} quantum 60000" in layout.shaper("eth0", speed)[1]


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        (1, ["blkio.throttle.read_bps_device' 5", "blkio.throttle.write_bps_device' 7"]),
        (1, ["blkio.throttle.read_iops_device' 11", "blkio.throttle.write_iops_device' 13"]),
        (2, ["io.max' rbps=5", "io.max' wbps=7", "io.max' riops=11", "io.max' wiops=13"]),
    ],
)
def test_limits_of_disks(tmp_path: Path, version: int, lines: list[str]) -> None:
    limits = "read_limit: 5B/s, write_limit: 7B/s, read_iops: 11, write_iops: 13"
    text = f"name: x\nhosts:\n  a: {{disks: [{{size: 1GiB, mount: /x, {limits}}}]}}\n"
    (member,) = written(tmp_path, text).all_hosts()
    script = layout.disk_script(member.spec.disks[0], ["/dev/loop9"], "/g", version)
    for line in lines:
        file, value = line.split("' ")
        assert f"echo \"$number {value}\" > '/g/{file}'" in script


def test_several_disks_as_one_are_limited_each(tmp_path: Path) -> None:
    disk = "{size: 1GiB, raid: {level: 10, disks: 4}, mount: /x, write_iops: 7}"
    (member,) = written(tmp_path, f"name: x\nhosts:\n  a: {{disks: [{disk}]}}\n").all_hosts()
    devices = [f"/dev/loop{number}" for number in range(4)]
    script = layout.disk_script(member.spec.disks[0], devices, "/g", 2).splitlines()
    assert "mkfs.btrfs -q -f -d raid10 -m raid1 /dev/loop0 /dev/loop1 /dev/loop2 /dev/loop3" in script
    named = ",".join(f"device={device}" for device in devices)
    assert f"mount -t btrfs -o {named} /dev/loop0 '/x'" in script
    assert script.count("echo \"$number wiops=7\" > '/g/io.max'") == 4
    assert [line for line in script if "mountpoint -x" in line] == [f"number=$(mountpoint -x {one})" for one in devices]


def test_where_disks_are_limited(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="disks cannot be limited"):
        find_hierarchy(tmp_path)
    (tmp_path / "cgroup.controllers").write_text("cpu io memory\n")
    assert find_hierarchy(tmp_path).version == 2
    (tmp_path / "blkio").mkdir()
    (tmp_path / "blkio" / "blkio.throttle.read_bps_device").write_text("")
    assert find_hierarchy(tmp_path).version == 1


def test_ssh_knows_hosts_and_reads_nothing_of_the_user_s(tmp_path: Path) -> None:
    box = load_box("office", Path("/"))
    text = ssh.client_text(
        tmp_path, box.all_hosts(), {member.name: ["enter", member.name] for member in box.all_hosts()}
    )
    for line in ("StrictHostKeyChecking yes", "GlobalKnownHostsFile /dev/null", "IdentitiesOnly yes", "  User root"):
        assert line in text
    assert 'Match originalhost server1 exec "test ! -e /run/assay-host"\n  ProxyCommand enter server1 ' in text


def test_without_root_one_line_says_what_works_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(AssayError) as caught:
        programs.check_rights()
    assert "needs root" in caught.value.message
    assert "over ssh" in caught.value.hint
    assert caught.value.exit_code == EXIT_REFUSED


@pytest.mark.parametrize(
    ("effective", "missing"),
    [
        ("000001ffffffffff", []),
        (f"{1 << 12 | 1 << 21:016x}", []),
        (f"{1 << 21:016x}", ["CAP_NET_ADMIN"]),
        # A greater bit is another capability.
        (f"{1 << 12 | 1 << 22:016x}", ["CAP_SYS_ADMIN"]),
        ("0000000000000000", ["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]),
    ],
)
def test_capabilities_are_read_from_what_is_in_effect(effective: str, missing: list[str]) -> None:
    status = f"Name:\tassay\nCapPrm:\t{'f' * 16}\nCapEff:\t{effective}\nCapBnd:\t{'f' * 16}\n"
    assert programs.missing_capabilities(status) == missing


def test_root_without_a_capability_is_told_which_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(programs, "missing_capabilities", lambda _: [])
    programs.check_rights()
    monkeypatch.setattr(programs, "missing_capabilities", lambda _: ["CAP_NET_ADMIN", "CAP_SYS_ADMIN"])
    with pytest.raises(AssayError, match=r"needs root \(CAP_NET_ADMIN and CAP_SYS_ADMIN missing\)"):
        programs.check_rights()


def test_missing_programs_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = ("sshd", "ganesha.nfsd")
    monkeypatch.setattr(programs, "find_program", lambda name: None if name in absent else f"/bin/{name}")
    with pytest.raises(AssayError) as caught:
        programs.check_programs(load_box("office", Path("/")))
    assert "needs sshd, ganesha.nfsd, which are not installed" in caught.value.message
    assert "apt-get install openssh-server nfs-ganesha nfs-ganesha-vfs rpcbind netbase" in caught.value.hint
    assert caught.value.exit_code == EXIT_REFUSED


def test_a_server_in_no_debian_package_is_missed_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "description: d\nstart: [[x]]\nready: ['1']\npidfile: /p\nexport: ''\n"
    (tmp_path / "ours.yaml").write_text(f"kind: ours\n{text}python: [no_such_package_of_ours]\n")
    (tmp_path / "theirs.yaml").write_text(f"kind: theirs\n{text}programs: [their-server]\ninstall_hint: ask them\n")
    monkeypatch.setenv("ASSAY_SERVERS", str(tmp_path))
    for module in (programs, installed):
        monkeypatch.setattr(module, "find_program", lambda name: None if name == "their-server" else f"/bin/{name}")
    disk = "disks: [{size: 1GiB, mount: /x}]"
    servers = "servers: [{kind: ours, exports: [/x]}, {kind: theirs, exports: [/x]}]"
    with pytest.raises(AssayError) as caught:
        programs.check_programs(written(tmp_path, f"name: x\nhosts:\n  a: {{{disk}, {servers}}}\n"))
    needs = "needs the Python package no_such_package_of_ours, their-server, which are not installed"
    assert needs in caught.value.message
    assert caught.value.hint.startswith("pip install no_such_package_of_ours; ask them; without a box")


def test_a_bare_device_is_attached_and_stays(tmp_path: Path) -> None:
    text = "name: x\nhosts:\n  a: {disks: [{size: 1GiB, device: raw, read_limit: 5B/s}]}\n"
    (member,) = written(tmp_path, text).all_hosts()
    script = layout.disk_script(member.spec.disks[0], ["/dev/loop9"], "/g", 2)
    assert "mount -t" not in script
    assert "--detach" not in script
    assert "echo \"$number rbps=5\" > '/g/io.max'" in script


@pytest.mark.parametrize(
    ("more", "credentials", "words"),
    [
        ({}, "", []),
        ({"options": "ro,vers=4.2"}, "", ["-o", "ro,vers=4.2"]),
        ({"options": "ro"}, "/run/x", ["-o", "ro,credentials=/run/x"]),
        ({}, "/run/x", ["-o", "credentials=/run/x"]),
    ],
)
def test_what_a_host_mounts(more: dict[str, str], credentials: str, words: list[str]) -> None:
    mount = BoxMount.model_validate({"source": "//s/share", "at": "/m", "type": "cifs", **more})
    assert layout.mount_command(mount, credentials) == ["mount", "-t", "cifs", *words, "//s/share", "/m"]


def test_a_process_is_known_by_its_start_and_its_command(tmp_path: Path, sleeper: "subprocess.Popen[bytes]") -> None:
    start = start_time(sleeper.pid)
    assert start is not None
    stranger = ProcessIdentity(sleeper.pid, start + 1)
    assert not stranger.is_alive
    assert kill_inits([stranger, ProcessIdentity(sleeper.pid, start)], tmp_path, 1) == []
    assert sleeper.poll() is None, "a process that has the id by chance, or is no init of a box, is left alone"
    (tmp_path / "init").write_text("read line\n")
    words = ["sh", "init", "--folder", str(tmp_path)]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE) as init:
        found = ProcessIdentity(init.pid, start_time(init.pid) or 0)
        assert_soon(lambda: is_init_of(init.pid, tmp_path), lambda: "it has no such command line")
        assert kill_inits([found], tmp_path / "other", 1) == []
        assert init.poll() is None, "an init of another box is left alone"
        assert kill_inits([found], tmp_path, 10) == []
        assert (found.is_alive, found.is_listed) == (False, True), "its parent has not asked how it ended"
        assert wait_reaped([found], 10) == []
        assert not found.is_listed
    assert start_time(found.pid) is None


def test_the_journal_survives_a_line_cut_short(tmp_path: Path) -> None:
    journal = BoxJournal(tmp_path, tmp_path / "disks")
    journal.group(tmp_path / "group")
    journal.init(ProcessIdentity(7, 8))
    journal.close()
    with (tmp_path / "journal").open("a") as file:
        file.write('{"id": 9, "kind": "process", "na')
    made = read_journal(tmp_path)
    assert made is not None
    assert (made.disks, made.groups, made.inits) == (
        tmp_path / "disks",
        (tmp_path / "group",),
        (ProcessIdentity(7, 8),),
    )
    assert made.processes() == [ProcessIdentity(7, 8)]
    assert read_journal(tmp_path / "none") is None


def test_processes_of_an_earlier_boot_are_left_alone(tmp_path: Path, sleeper: "subprocess.Popen[bytes]") -> None:
    init = claim(2, PROCESS, str(sleeper.pid), pid=sleeper.pid, start=start_time(sleeper.pid))
    lines = [claim(1, DIRECTORY, str(tmp_path / "d"), boot="another"), init]
    (tmp_path / "journal").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert remove_parts(tmp_path) == []
    assert sleeper.poll() is None
    assert list(tmp_path.iterdir()) == []


def _made(name: str) -> Path:
    """A box of which only files were made."""
    folder, disks = boxes_root() / name, disks_root() / name
    folder.mkdir(parents=True)
    BoxJournal(folder, disks).close()
    make_disks_folder(disks, folder)
    (disks / "a-0.img").write_bytes(b"x")
    (folder / "ssh").mkdir()
    (folder / "ssh" / "key").write_text("x")
    return folder


def test_the_next_look_removes_what_a_killed_up_left(tmp_path: Path) -> None:
    _made("dead")
    assert remove_dead_boxes() == (["dead"], [])
    assert [path.name for path in (tmp_path / "place").iterdir()] == []


def test_what_is_no_box_stays_and_is_not_said_to_be_removed() -> None:
    _made("dead")
    for name in ("empty", "full/below"):
        (boxes_root() / name).mkdir(parents=True)
    names, problems = remove_dead_boxes()
    assert names == ["dead"]
    assert [problem.endswith("full: has no journal of a box: left alone") for problem in problems] == [True]
    assert sorted(path.name for path in boxes_root().iterdir()) == ["empty", "full"]


def test_a_box_that_somebody_is_making_is_left_alone(tmp_path: Path) -> None:
    _made("busy")
    with box_lock("busy", 0.0) as folder:
        assert remove_dead_boxes() == ([], [])
        assert (folder / "journal").exists()
        with pytest.raises(AssayError, match="busy is being brought up or taken down") as caught, box_lock("busy", 0.0):
            pass
    assert caught.value.exit_code == EXIT_REFUSED
    take_down("busy")
    assert not boxes_root().exists()


def test_taking_down_what_is_not_there() -> None:
    with pytest.raises(AssayError, match="no box ghost is up"):
        take_down("ghost")
    assert not boxes_root().exists()


def test_disks_whose_box_is_gone_are_removed_and_others_are_not(tmp_path: Path) -> None:
    folder = _made("lost")
    (folder / "ssh" / "key").unlink()
    (folder / "ssh").rmdir()
    (folder / "journal").unlink()
    folder.rmdir()
    stranger = disks_root() / "stranger"
    stranger.mkdir()
    (stranger / "file").write_text("mine")
    assert remove_lost_disks() == []
    assert [path.name for path in disks_root().iterdir()] == ["stranger"]
    assert (stranger / "file").read_text() == "mine"


def test_a_folder_of_disks_that_is_not_assay_s_is_left_alone_and_said(tmp_path: Path) -> None:
    folder = _made("odd")
    (disks_root() / "odd" / MARKER).unlink()
    problems = remove_parts(folder)
    assert problems == [f"{disks_root()}/odd: holds files that are not of this box"]
    assert (folder / "journal").exists(), "so that a later try finds it"
    with pytest.raises(AssayError, match="could not be removed completely"):
        take_down("odd")


def test_files_of_others_among_the_disks_stay(tmp_path: Path) -> None:
    folder = _made("guest")
    (disks_root() / "guest" / "letter.txt").write_text("mine")
    assert any("guest" in problem for problem in remove_parts(folder))
    assert (disks_root() / "guest" / "letter.txt").read_text() == "mine"


def _state(pid: int, start: int) -> BoxState:
    host = RunningHost(name="a", address="10.77.0.1", pid=pid, start=start)
    return BoxState(name="x", box="x", boot=boot_id(), switch_pid=pid, switch_start=start, hosts=(host,))


def test_a_box_is_up_while_its_inits_live(sleeper: "subprocess.Popen[bytes]") -> None:
    folder = _made("x")
    write_state(folder, _state(sleeper.pid, start_time(sleeper.pid) or 0))
    (box,) = running_boxes()
    assert (box.name, box.is_alive("a"), box.enter("a")[-1]) == ("x", True, "--")
    assert read_state(folder) == box.state
    assert remove_dead_boxes() == ([], [])
    owned = box.state.model_copy(update={"owner_pid": os.getpid(), "owner_start": start_time(os.getpid())})
    write_state(folder, owned)
    assert [one.name for one in running_boxes()] == ["x"]
    write_state(folder, owned.model_copy(update={"owner_start": 1}))
    assert running_boxes() == (), "the process that it belongs to is no more"
    write_state(folder, box.state)
    sleeper.kill()
    sleeper.wait()
    assert running_boxes() == ()
    with pytest.raises(AssayError, match="host a of box x is dead"):
        box.enter("a")
    with pytest.raises(AssayError, match="has no host b"):
        box.enter("b")
    assert remove_dead_boxes() == (["x"], [])
