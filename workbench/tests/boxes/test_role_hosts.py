"""Scripts of roles, run for real on a host in namespaces: twice, after a reboot, with a failure at each step.

Above all they must never overwrite what is on a disk, nor hide or change what an administrator has set up.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import run_here
from loop_devices import loop_device, need_root
from role_hosts import RoleHost, role_host, states

from assay.model.site.host import Host
from assay.rooms.deploy.work.hosts.file import HostTask
from assay.rooms.deploy.work.hosts.setup import plan_hosts, set_up_hosts
from assay.rooms.deploy.work.roles.description import load_role

MIB = 1 << 20
SERVER_STEPS = load_role("nfs-server").steps


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A loop device, which tests empty before they use it."""
    with loop_device(tmp_path_factory.mktemp("disk"), 400 * MIB) as device:
        yield device


@pytest.fixture
def blank(disk: str) -> str:
    """The loop device, all zeros."""
    return emptied(disk)


def emptied(disk: str) -> str:
    """Return a device when it is all zeros; the mounts of a host that is gone may still be on their way out."""
    for _ in range(200):
        if subprocess.run(["blkdiscard", "-z", disk], capture_output=True, check=False).returncode == 0:
            return disk
        time.sleep(0.05)
    raise AssertionError(f"{disk} stays busy")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[RoleHost]:
    """A host that is up."""
    with role_host(tmp_path) as made:
        yield made


def values(host: RoleHost, disk: str, **more: str) -> dict[str, str]:
    """What an NFS server on one disk needs."""
    export = str(host.folder / "export")
    return {"ALLOWED": "10.0.0.0/16", "POOL": "single", "POOL_DISKS": disk, "EXPORT": export, **more}


def test_a_server_is_set_up_once_and_planned_without_a_change(host: RoleHost, blank: str) -> None:
    """The plan changes nothing, the first run does it, the second finds all so, and after a reboot only mounts."""
    asked = values(
        host, blank, HOST_NAME="storage1", NFSD_THREADS="32", CLUSTER_FILE="/etc/cluster.yml", CLUSTER_ROLE="slave"
    )
    cloud = host.folder / "etc/cloud/cloud.cfg.d/99-assay-hostname.cfg"
    cloud.parent.mkdir(parents=True)
    before = host.files()
    plan = host.set_up("nfs-server", asked, "--plan")
    assert {path: text for path, text in host.files().items() if "etc/assay/" not in path} == before
    assert host.calls() == []
    assert plan["code"] == 0
    assert {step for step, state in states(plan).items() if state == "would do"} == {
        "hostname", "packages", "pool", "filesystem", "local_mount", "nfs_export", "nfs_threads", "cluster_file",
    }  # fmt: skip

    first = host.set_up("nfs-server", asked)
    assert first["code"] == 0, first
    assert {step: "done" for step, state in states(plan).items() if state == "would do"}.items() <= states(
        first
    ).items()
    assert [call for call in host.calls() if call.startswith(("exportfs -ra", "rpc.nfsd", "systemctl enable"))] == [
        "systemctl enable nfs-server", "exportfs -ra", "rpc.nfsd 32",
    ]  # fmt: skip
    # Else cloud-init gives the host its old name, and writes /etc/hosts without the new one, at each boot.
    assert cloud.read_text() == "preserve_hostname: true\nmanage_etc_hosts: false\n"
    after = host.files()
    table = after["etc/fstab"].splitlines()
    assert table[:2] == ["# the machine's own", "UUID=0000 / ext4 defaults 0 1"]
    assert [line.split()[1:] for line in table[2:]] == [[asked["EXPORT"], "xfs", "noatime,nofail", "0", "0"]]
    assert after["etc/exports.d/assay.exports"] == (
        f"{asked['EXPORT']} 10.0.0.0/16(rw,sync,no_subtree_check,no_root_squash,insecure,mp)\n"
    )
    assert host.sh("stat -c %a /etc/cluster.yml; hostname; findmnt -no FSTYPE $0", asked["EXPORT"]).stdout.split() == [
        "640", "storage1", "xfs",
    ]  # fmt: skip
    assert json.loads(after["state/assay/nfs-server.status.json"])["state"] == "done"

    second = host.set_up("nfs-server", asked)
    assert set(states(second).values()) == {"already so"}
    assert not [
        call for call in host.calls() if call.startswith(("apt-get", "rpc.nfsd", "exportfs -r", "systemctl enable"))
    ]
    host.sh("umount $0; hostname before; echo 8 >/proc/fs/nfsd/threads", asked["EXPORT"])
    again = states(host.set_up("nfs-server", asked))
    assert {step for step, state in again.items() if state == "done"} == {"hostname", "local_mount", "nfs_threads"}


def _mkfs(disk: str) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)


def _table(disk: str) -> None:
    """Write a partition table of DOS with one partition."""
    with Path(disk).open("r+b") as file:
        file.seek(446)
        file.write(bytes((0, 0, 2, 0, 0x83, 0, 0, 0)) + struct.pack("<II", 2048, 100_000))
        file.seek(510)
        file.write(b"\x55\xaa")


def _swap(disk: str) -> None:
    subprocess.run(["mkswap", disk], check=True, capture_output=True)


def _middle(disk: str) -> None:
    """Write data without any known signature, far from both ends."""
    with Path(disk).open("r+b") as file:
        file.seek(30 * MIB)
        file.write(b"\1" * (4 * MIB))


def _last(disk: str) -> None:
    with Path(disk).open("r+b") as file:
        file.seek(-MIB, os.SEEK_END)
        file.write(b"x")


def _label(disk: str) -> None:
    """Write a label that no program takes for one any more."""
    with Path(disk).open("r+b") as file:
        file.seek(512)
        file.write(b"LABELONE" + bytes(16) + b"LVM2 001")


def test_a_disk_with_anything_on_it_is_left_alone(host: RoleHost, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Known or not, at the beginning or not: it is refused, in a plan too, and not a byte changes."""
    with loop_device(tmp_path_factory.mktemp("full"), 64 * MIB) as disk:
        for fill, words in (
            (_mkfs, "holds ext4"), (_table, "holds dos"), (_swap, "holds swap"), (_label, "is not blank"),
            (_middle, "is not blank"), (_last, "is not blank"),
        ):  # fmt: skip
            fill(emptied(disk))
            image = hashlib.sha256(Path(disk).read_bytes())
            result = host.set_up("nfs-server", values(host, disk))
            assert (result["code"], result["steps"][-1]["step"]) == (1, "pool")
            assert f"{disk.removeprefix('/dev/')} {words}" in _detail(result, "pool")
            assert hashlib.sha256(Path(disk).read_bytes()).digest() == image.digest()
        assert states(host.set_up("nfs-server", values(host, disk), "--plan"))["pool"] == "failed"
        assert "state/assay/pool" not in host.files()


def test_a_disk_in_use_is_left_alone(host: RoleHost, blank: str) -> None:
    """Blank, but open in a process or mounted somewhere."""
    with Path(blank).open("rb") as file:
        held = subprocess.Popen(["nsenter", "-t", str(host.pid), "-m", "-p", "sleep", "100"], stdin=file)
    try:
        result = host.set_up("nfs-server", values(host, blank), "--plan")
        assert "is open in process" in _detail(result, "pool")
    finally:
        held.kill()
        held.wait()
    result = host.set_up("nfs-server", values(host, "/dev/null"), "--plan")
    assert "is no block device" in _detail(result, "pool")


def _detail(result: dict, name: str) -> str:
    return next(step["detail"] for step in result["steps"] if step["step"] == name)


def test_what_an_administrator_has_set_up_is_left_alone(host: RoleHost, blank: str) -> None:
    """A directory with files, a line of fstab, an export, a missing disk: each refusal names what is there."""
    asked = values(host, blank)
    export = Path(asked["EXPORT"])
    export.mkdir()
    (export / "thesis.tex").write_text("years of work")
    assert "holds files" in _detail(host.set_up("nfs-server", asked, "--plan"), "local_mount")
    (export / "thesis.tex").unlink()
    with (host.folder / "etc/fstab").open("a") as file:
        file.write(f"\nLABEL=old {export} ext4 defaults 0 2\n")
    assert "LABEL=old" in _detail(host.set_up("nfs-server", asked, "--plan"), "local_mount")
    (host.folder / "etc/exports").write_text(f"{export} *(ro)\n")
    assert "*(ro)" in _detail(host.set_up("nfs-server", asked, "--plan"), "nfs_export")
    assert "needs 2 disks" in _detail(host.set_up("nfs-server", {**asked, "POOL": "raid1"}, "--plan"), "pool")
    assert "must not force" in _detail(
        host.set_up("nfs-server", {**asked, "MKFS_OPTIONS": "-f"}, "--plan"), "filesystem"
    )


def test_a_pool_that_is_gone_is_not_made_again_by_itself(host: RoleHost, blank: str) -> None:
    """As after the stop of a host with an instance store; and a file system that was not finished is made again."""
    asked = values(host, blank)
    assert host.set_up("nfs-server", asked)["code"] == 0
    host.sh("umount $0", asked["EXPORT"])
    pool = host.folder / "state/assay/pool"
    text = pool.read_text()
    emptied(blank)
    result = host.set_up("nfs-server", asked)
    assert (result["code"], states(result)["filesystem"]) == (1, "failed")
    pool.write_text(text.replace("uuid=", "uuid=gone").replace("disk=", "disk=gone"))
    assert "remove that file" in _detail(host.set_up("nfs-server", asked), "pool")
    pool.write_text("".join(f"{line}\n" for line in text.splitlines() if not line.startswith("fs=")) + "fs=making\n")
    _mkfs(blank)
    (host.folder / "etc/fstab").write_text("")
    assert host.set_up("nfs-server", asked)["code"] == 0


FAILURES = {
    "hostname": "hostname",
    "apt-get": "packages",
    "mkfs.xfs": "filesystem",
    "systemctl": "local_mount",
    "mount": "local_mount",
    "exportfs": "nfs_export",
    "rpc.nfsd": "nfs_threads",
}
"""Program that fails -> the step in which it does, in the order of the steps."""


def test_the_step_that_fails_is_named(tmp_path: Path, blank: str) -> None:
    """Status file, output and signal have it with its last lines; the next run goes on from there."""
    real = {name: f'exec {shutil.which(name)} "$@"' for name in ("mkfs.xfs", "mount", "hostname")}
    with role_host(tmp_path, real) as host:
        asked = values(host, blank, HOST_NAME="storage1", SIGNAL_URL="https://signal.example/?key=secret")
        for fake, step in FAILURES.items():
            (tmp_path / f"fail-{fake}").touch()
            result = host.set_up("nfs-server", asked)
            last = result["steps"][-1]
            assert (result["code"], result["state"], last["step"]) == (1, "failed", step), last
            assert last["detail"] == f"E: {fake} fails"
            assert json.loads(host.files()["state/assay/nfs-server.status.json"])["steps"] == result["steps"]
            (tmp_path / f"fail-{fake}").unlink()
        assert host.set_up("nfs-server", asked)["code"] == 0
        url, first, *_, good = (tmp_path / "signals").read_text().splitlines()
        assert url == 'url = "https://signal.example/?key=secret"'
        assert json.loads(first)["Status"] == "FAILURE"
        assert "hostname: E: hostname fails" in json.loads(first)["Reason"]
        assert json.loads(good)["Status"] == "SUCCESS"
        assert not any("secret" in call for call in host.calls())
        assert "secret" not in host.files()["state/assay/nfs-server.status.json"]


def test_values_are_never_executed(host: RoleHost) -> None:
    """Whatever stands in the file of values is a value."""
    (host.folder / "etc/assay").mkdir()
    lines = [
        "HOST_NAME=$(touch /etc/pwned)",
        "CLUSTER_NAME=`touch /etc/pwned`\r",
        "STEPS=hostname",
        "x y=1",
        "POOL touch=1",
    ]
    asked = {"CLUSTER_FILE": "/etc/cluster.yml", "CLUSTER_ROLE": "'; touch /etc/pwned; '"}
    env = "\n".join([*lines, *(f"{name}={value}" for name, value in asked.items())])
    from assay.rooms.deploy.work.roles.scripts import role_script

    (host.folder / "etc/assay/client.sh").write_text(role_script("client"))
    (host.folder / "etc/assay/client.env").write_text(env)
    done = host.sh("sh /etc/assay/client.sh; echo $?")
    assert "$(touch /etc/pwned) is no host name" in done.stdout
    (host.folder / "etc/assay/client.env").write_text(env.replace("HOST_NAME", "HOSTS"))
    assert host.sh("sh /etc/assay/client.sh").returncode == 0
    assert "etc/pwned" not in host.files()
    assert 'name: "`touch /etc/pwned`"\n  role: "\'; touch /etc/pwned; \'"' in host.files()["etc/cluster.yml"]


def test_hosts_are_set_up_over_their_shells(host: RoleHost, blank: str) -> None:
    """The same script by the command's own way: planned from standard input, then copied and run; one at a time."""
    enter = ("nsenter", "-t", str(host.pid), "-m", "-u", "-p", "--", "env", f"HOST_FOLDER={host.folder}")
    reached = Host(name="storage1", kind="box", enter=(*enter, f"PATH={host.folder}/bin:{os.environ['PATH']}"))
    task = HostTask(reached, "nfs-server", 0, values(host, blank))
    before = host.files()
    (planned,) = plan_hosts([task])
    assert not planned.has_failed and host.files() == before
    later = HostTask(Host(name="later", kind="box", enter=("false",)), "client", 1)
    seen: list[str] = []
    first, second = set_up_hosts([task, later], lambda outcome: seen.append(outcome.task.host.name))
    assert not first.has_failed and {step.state for step in first.steps} == {"done", "already so"}
    assert second.fault and seen == ["storage1", "later"]
    # A second role changes nothing of the first; the last one has fixed names, too.
    (other,) = set_up_hosts(
        [HostTask(reached, "client", 0, {"CLUSTER_FILE": "/etc/cluster.yml"})], lambda outcome: None
    )
    assert not other.has_failed and host.files()["etc/cluster.yml"]
    again = json.loads(host.sh("sh /etc/assay/nfs-server.sh --plan --json").stdout)
    assert set(states(again).values()) == {"already so"}
    for path, role in (("nfs-server.status.json", "nfs-server"), ("role.status.json", "client")):
        assert json.loads((host.folder / "state/assay" / path).read_text())["role"] == role
    assert "ROLE=client\n" in (host.folder / "etc/assay/role.sh").read_text()
    held = subprocess.Popen(["flock", str(host.folder / "state/assay/lock"), "sleep", "60"])
    try:
        while (
            subprocess.run(["flock", "-n", str(host.folder / "state/assay/lock"), "true"], check=False).returncode == 0
        ):
            pass
        (locked,) = set_up_hosts([task], lambda outcome: None)
        assert "still at work here: " in locked.fault
    finally:
        held.kill()
        held.wait()


def test_what_a_killed_run_left_behind_is_not_disturbed(tmp_path: Path, blank: str) -> None:
    """With all shells of a run killed, its mkfs goes on; the next run refuses until that has ended, then goes on."""
    wait = f"""if mkdir "$HOST_FOLDER/first" 2>/dev/null; then
        until [ -e "$HOST_FOLDER/go" ]; do {shutil.which("sleep")} 0.05; done
    fi
    exec {shutil.which("mkfs.xfs")} "$@\""""
    with role_host(tmp_path, {"mkfs.xfs": wait, "dpkg": "rm /var/lib/dpkg/updates/0001"}) as host:
        asked = values(host, blank)
        # What a dpkg leaves that was interrupted, after which apt-get refuses.
        (tmp_path / "state/dpkg/updates").mkdir(parents=True)
        (tmp_path / "state/dpkg/updates/0001").touch()
        first = threading.Thread(target=host.sh, args=(host.write("nfs-server", asked),))
        first.start()
        while not (tmp_path / "calls").exists() or "mkfs.xfs" not in (tmp_path / "calls").read_text():
            time.sleep(0.05)
        host.sh("pkill -9 -f /etc/assay/nfs-server.sh")
        first.join()
        refused = host.sh("sh /etc/assay/nfs-server.sh")
        assert (refused.returncode, refused.stdout) == (3, "")
        assert re.search(r"still at work here: mkfs.xfs \(process \d+\)", refused.stderr)
        (tmp_path / "go").touch()
        subprocess.run(["flock", str(tmp_path / "state/assay/lock"), "true"], check=True)
        assert host.set_up("nfs-server", asked)["code"] == 0
        calls = host.calls()
        assert calls[0] == "dpkg --configure -a" and calls[1].startswith("apt-get") and calls.count(calls[0]) == 1


MDADM = """
case "$*" in
  --create*) mkdir -p /dev/md && ln -s /dev/md127 "$2"; touch "$HOST_FOLDER/array" ;;
  "--detail --export"*) [ -e "$HOST_FOLDER/array" ] && echo MD_UUID=12:34 ;;
  "--detail --scan") echo 'ARRAY /dev/md/assay metadata=1.2 name=vm:assay UUID=12:34' ;;
esac"""
LVM = {
    "pvs": "exit 5",
    "pvcreate": "",
    "vgcreate": 'touch "$HOST_FOLDER/group"',
    "vgs": '[ -e "$HOST_FOLDER/group" ] || exit 5; echo "  Aa-Bb"',
    "lvs": "exit 5",
    "lvcreate": "mkdir -p /dev/assay && ln -s /dev/dm-0 /dev/assay/data",
}
DISKS = "/dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1 /dev/sdb"
CREATE = "mdadm --create /dev/md/{} --run --metadata=1.2 --name={} --level={}"
POOLS = {
    "raid10-nested": [
        f"{CREATE.format('assay-0', 'assay-0', '1')} --raid-devices=2 /dev/nvme1n1 /dev/nvme2n1",
        f"{CREATE.format('assay-1', 'assay-1', '1')} --raid-devices=2 /dev/nvme3n1 /dev/sdb",
        f"{CREATE.format('assay', 'assay', '0')} --chunk=64 --raid-devices=2 /dev/md/assay-0 /dev/md/assay-1",
    ],
    "lvm": [f"vgcreate assay {DISKS}", "lvcreate -n data -i 4 -I 64k -l 100%FREE assay"],
}


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Loop devices: four for disks, one for what is made of them, and one that must not be taken."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(loop_device(tmp_path_factory.mktemp("loop"), 1024 * MIB)) for _ in range(6)]


@pytest.mark.parametrize("pool", POOLS)
def test_all_empty_disks_are_pooled_and_found_by_other_names(tmp_path: Path, loops: list[str], pool: str) -> None:
    """Devices of other kinds are left out; a reboot may give the disks each other's names."""
    emptied(loops[4])
    top = "dm-0" if pool.startswith("lvm") else "md127"
    names = dict(zip(("nvme1n1", "nvme2n1", "nvme3n1", "sdb"), loops, strict=False))
    host = RoleHost(tmp_path, {"mdadm": MDADM, **LVM})
    asked = values(
        host, "auto", POOL=pool, POOL_CHUNK_KB="64", POOL_DISK_COUNT="4", FILE_SYSTEM="ext3", MKFS_OPTIONS="-b 4096"
    )
    with host.up({**names, top: loops[4], "sr0": loops[5], "loop9": loops[5]}):
        result = host.set_up("nfs-server", asked)
        assert result["code"] == 0, result["steps"][-1]
        makers = ("mdadm --create", "vgcreate", "lvcreate")
        assert [call for call in host.calls() if call.startswith(makers)] == POOLS[pool]
        assert "ARRAY /dev/md/assay" in host.files().get(
            "etc/mdadm.conf", "ARRAY /dev/md/assay" * pool.startswith("lvm")
        )
    swapped = {"nvme1n1": loops[2], "nvme2n1": loops[3], "nvme3n1": loops[1], "sda": loops[0], top: loops[4]}
    with host.up(swapped):
        host.sh("mkdir -p /dev/md /dev/assay; ln -s /dev/md127 /dev/md/assay; ln -s /dev/dm-0 /dev/assay/data")
        result = host.set_up("nfs-server", asked)
        assert {"pool", "filesystem"} <= {step for step, state in states(result).items() if state == "already so"}
        assert (result["code"], states(result)["local_mount"]) == (0, "done")
        assert not [call for call in host.calls() if call.startswith(makers)]


def test_a_pool_waits_for_disks_and_goes_on_after_a_kill(tmp_path: Path, loops: list[str]) -> None:
    """A volume that is not attached yet would leave a smaller pool; disks that were recorded are gone on with."""
    emptied(loops[4])
    host = RoleHost(tmp_path, {"mdadm": MDADM})
    asked = values(host, "auto", POOL="raid0", POOL_DISK_COUNT="2", FILE_SYSTEM="ext4")
    with host.up({"nvme1n1": loops[0], "md127": loops[4]}):
        assert "wait until there are 2" in _detail(host.set_up("nfs-server", asked, "--plan"), "pool")
        (tmp_path / "impatient").touch()
        assert "fewer than 2 empty disks" in _detail(host.set_up("nfs-server", asked), "pool")
        assert "state/assay/pool" not in host.files()
    with host.up({"nvme1n1": loops[0], "nvme2n1": loops[1], "nvme3n1": loops[2], "md127": loops[4]}):
        (tmp_path / "fail-mdadm").touch()
        assert _detail(host.set_up("nfs-server", asked), "pool") == "E: mdadm fails"
        (tmp_path / "fail-mdadm").unlink()
        pool = tmp_path / "state/assay/pool"
        pool.write_text("".join(line for line in pool.read_text().splitlines(keepends=True) if loops[2] not in line))
        assert host.set_up("nfs-server", {**asked, "POOL_DISKS": "auto"})["code"] == 0
    assert pool.read_text().count("disk=") == 3


def test_a_client_mounts_once_and_checks_what_it_has(host: RoleHost) -> None:
    """One line of fstab, the right source, a file written; a server that is down, or another mount, is named."""
    point = str(host.folder / "scratch")
    asked = {
        "MOUNT": "storage1:/export",
        "MOUNT_TYPE": "tmpfs",
        "MOUNT_POINT": point,
        "MOUNT_OPTIONS": "size=1m",
        "MOUNT_WAIT_S": "5",
    }
    assert states(host.set_up("nfs-client", asked))["client_mount"] == "done"
    assert set(states(host.set_up("nfs-client", asked)).values()) == {"already so"}
    assert host.files()["etc/fstab"].splitlines()[2:] == [f"storage1:/export {point} tmpfs _netdev,nofail,size=1m 0 0"]
    other = {**asked, "MOUNT": "storage2:/export"}
    assert "storage1:/export tmpfs" in _detail(host.set_up("nfs-client", other), "client_mount")
    host.sh("umount $0", point)
    result = host.set_up("nfs-client", other)
    assert result["code"] == 0, result["steps"][-1]
    assert host.files()["etc/fstab"].count(point) == 1
    host.sh("umount $0", point)
    for more, words in (
        ({"MOUNT_OPTIONS": "ro,nosuch=1"}, "wrong fs type"),
        ({"MOUNT_TYPE": "nfs4", "MOUNT": "127.0.0.1:/export"}, "does not answer at port 2049"),
        ({"MOUNT_POINT": "/usr/lib"}, "holds files"),
    ):
        result = host.set_up("nfs-client", {**asked, **more})
        assert (result["code"], words in json.dumps(result["steps"][-1])) == (1, True), result["steps"][-1]


def test_the_command_plans_on_this_machine(tmp_path: Path) -> None:
    """Exit code 0 if all can be set up, 1 if a host cannot, with its reason, 2 for an unknown host."""
    need_root()
    file = tmp_path / "hosts.yaml"
    file.write_text("roles: [{hosts: localhost, role: client, values: {CLUSTER_FILE: /none/cluster.yml}}]")
    done = run_here(tmp_path, "deploy", "hosts", file, "--plan")
    assert (done.returncode, done.stderr.strip()) == (0, "1 host planned; nothing was changed")
    assert "  would do    cluster_file         write /none/cluster.yml" in done.stdout
    values_text = "{ALLOWED: 10.0.0.0/8, POOL_DISKS: [/dev/null], EXPORT: /nowhere}"
    file.write_text(f"roles: [{{hosts: localhost, role: nfs-server, values: {values_text}}}]")
    done = run_here(tmp_path, "deploy", "hosts", file, "--plan", "--json")
    steps = {step["step"]: step for step in json.loads(done.stdout)[0]["steps"]}
    assert (done.returncode, steps["pool"]["state"]) == (1, "failed")
    assert steps["pool"]["detail"].strip() == "null is no block device"
    assert run_here(tmp_path, "deploy", "hosts", file, "--only", "other").returncode == 2
