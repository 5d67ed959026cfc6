"""Hosts of a stack at their first boot: a server with pooled disks, a client that mounts it, both with real kernels.

User data is that of `assay deploy template`. It boots in Debian's own cloud-init, and what it sets up is measured.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from guest_image import guest_image
from guests import PROGRAM, Guest, GuestPlan, Signals, signals, started
from resolved_stack import ResolvedStack, stack_template
from run_tools import assay, only_run
from ssh_tools import path_with_ssh

from assay.store import RunStore

GIB = 1 << 30
STUDY = """study: mounted
question: Does the export that was set up at first boot store what it is given?
hosts: {inventory: hosts.yaml}
targets:
  export: TARGET
workloads:
  grid:
    operations: [write, read]
    lanes: 1
    file_size: 1MiB
    record_size: 64KiB
    runtime: 2s
    cache: keep
    verify: true
repeats: 1
ceilings: none
"""
MOUNTED = "{kind: file, path: /scratch/study}"
ENGINE_MOUNTS = "{kind: nfs, servers: 10.9.0.1, export: /export}"
"""Measured by Assay's own client, which is not root here and so uses a port above 1023."""

HOSTS = """
roles:
  - hosts: client
    role: nfs-server
    values: {ALLOWED: 10.9.0.0/24, EXPORT: /local, POOL: lvm, FILE_SYSTEM: ext4, NFSD_THREADS: 16,
             THP: never, SCHEDULER: deadline, READ_AHEAD_KB: 512, MTU: 8900}
"""


@dataclass(frozen=True)
class Pair:
    """A server and a client that have booted and signalled."""

    server: Guest
    client: Guest
    signals: Signals
    folder: Path


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The client is created when the server has signalled, as in a stack."""
    if shutil.which(PROGRAM) is None:
        pytest.fail(f"there is no {PROGRAM}: apt-get install qemu-system-x86 qemu-utils")
    image = guest_image()
    if isinstance(image, str):
        pytest.fail(image)
    folder = tmp_path_factory.mktemp("guests")
    with signals() as place:
        stack = ResolvedStack(
            stack_template("nfs-gp3", "volumes=4"),
            {
                "NfsdThreads": "48",
                "VpcId": "vpc-1",
                "SubnetId": "subnet-1",
                "AllowedCidr": "10.9.0.0/24",
                "Mpi": "none",
            },
            {"ServersHandle": place.url, "ClientsHandle": place.url, "Storage1.PrivateIp": "10.9.0.1"},
        )
        first = GuestPlan(1, stack.user_data("StorageLaunchTemplate"), folder / "wire", (GIB,) * 4)
        second = GuestPlan(2, stack.user_data("ClientLaunchTemplate"), folder / "wire", (GIB,) * 2)
        with started(image, first, folder / "server") as server:
            assert place.wait(1)[0]["Status"] == "SUCCESS", place.bodies
            with started(image, second, folder / "client") as client:
                place.wait(2)
                yield Pair(server, client, place, folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def work(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a command, whose ssh reaches both guests by name."""
    monkeypatch.setenv("PATH", path_with_ssh(tmp_path, pair.folder / "ssh.conf"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def all_already_so(guest: Guest) -> None:
    """A second run of the host's own script finds nothing to do."""
    printed = guest.must("sh /etc/assay/role.sh")
    assert {line[:12].strip() for line in printed.splitlines() if line[:1] != " "} == {"already so"}, printed


def fstab(guest: Guest, at: str) -> list[str]:
    """The fields of the only line for a mount point."""
    (line,) = [row.split() for row in guest.must("cat /etc/fstab").splitlines() if row.split()[1:2] == [at]]
    return line


def mounted(guest: Guest, at: str) -> tuple[str, str, set[str]]:
    """Source, type and options of a mount, as the kernel has them; a mount that is not there is tried first."""
    guest.run(f"ls {at}")
    (line,) = [row.split() for row in guest.must("cat /proc/mounts").splitlines() if row.split()[1] == at]
    return line[0], line[2], set(line[3].split(","))


def serves_as_asked(server: Guest) -> None:
    """The facts of the server."""
    assert server.must("cat /proc/fs/nfsd/threads") == "48"
    assert server.must("uname -n") == "storage1"
    array, kind, options = mounted(server, "/export")
    assert (kind, options >= {"rw", "noatime"}) == ("xfs", True)
    assert server.must(f"cat /sys/class/block/{Path(server.must(f'readlink -f {array}')).name}/md/level") == "raid0"
    uuid = server.must(f"blkid -p -o value -s UUID {array}")
    assert fstab(server, "/export") == [f"UUID={uuid}", "/export", "xfs", "noatime,nofail", "0", "0"]
    assert server.must("stat -c %a /export") == "1777"
    assert "/export 10.9.0.0/24(" in server.must("exportfs -s").replace("\t", " ").replace("  ", " ")


def mounts_as_asked(client: Guest) -> None:
    """The facts of the client."""
    source, kind, options = mounted(client, "/scratch")
    assert (source, kind) == ("10.9.0.1:/export", "nfs4")
    assert options >= {"rw", "hard", "noatime", "vers=4.2"}
    assert fstab(client, "/scratch")[2:] == ["nfs4", "_netdev,nofail,hard,noatime", "0", "0"]


def test_both_signal_success_once(pair: Pair) -> None:
    assert [body["Status"] for body in pair.signals.bodies] == ["SUCCESS", "SUCCESS"]
    assert {body["Reason"] for body in pair.signals.bodies} == {"nfs-server is set up", "nfs-client is set up"}
    # CloudFormation counts one signal for each id.
    assert len({body["UniqueId"] for body in pair.signals.bodies}) == 2


def test_cloud_init_ends_without_errors(pair: Pair) -> None:
    for guest in (pair.server, pair.client):
        guest.must("cloud-init status --wait")
        assert json.loads(guest.must("cat /run/cloud-init/result.json"))["v1"]["errors"] == []
        assert guest.run('grep -E "WARNING|ERROR" /var/log/cloud-init.log').stdout == ""


def test_the_server_is_what_the_stack_asks_for(pair: Pair) -> None:
    assert pair.server.status()["state"] == "done"
    serves_as_asked(pair.server)


def test_the_client_mounts_it(pair: Pair) -> None:
    assert pair.client.status()["state"] == "done"
    mounts_as_asked(pair.client)


def test_a_second_run_changes_nothing(pair: Pair) -> None:
    for guest in (pair.server, pair.client):
        before = guest.must("cat /etc/fstab /var/lib/assay/fstab")
        all_already_so(guest)
        assert guest.must("cat /etc/fstab /var/lib/assay/fstab") == before


@pytest.mark.parametrize("target", [MOUNTED, ENGINE_MOUNTS])
def test_a_study_runs_on_the_export(pair: Pair, work: Path, target: str) -> None:
    (work / "hosts.yaml").write_text("hosts: {client: {}}\n")
    (work / "study.yaml").write_text(STUDY.replace("TARGET", target))
    assay(work, "run", "study.yaml")
    with RunStore.open(only_run(work)) as store:
        assert {job.status for job in store.jobs()} == {"ok"}
        operations = {sample.operation: sample.ops for sample in store.samples()}
    assert set(operations) == {"write", "read"} and min(operations.values()) > 0


def test_a_reboot_keeps_all(pair: Pair) -> None:
    for guest in (pair.server, pair.client):
        guest.reboot()
    serves_as_asked(pair.server)
    mounts_as_asked(pair.client)
    for guest in (pair.server, pair.client):
        all_already_so(guest)


def test_hosts_that_exist_get_volumes_and_tuning(pair: Pair, work: Path) -> None:
    """By ssh, on a host that has run for a while: LVM, ext4, huge pages, scheduler, read-ahead and MTU."""
    (work / "hosts.yaml").write_text(HOSTS)
    assay(work, "deploy", "hosts", "hosts.yaml")
    is_tuned(pair.client)
    pair.client.reboot()
    is_tuned(pair.client)
    again = assay(work, "deploy", "hosts", "hosts.yaml", "--json")
    (host,) = json.loads(again.stdout)
    assert {step["state"] for step in host["steps"]} == {"already so"}


def is_tuned(client: Guest) -> None:
    """The facts of the second role."""
    source, kind, _ = mounted(client, "/local")
    assert (source, kind) == ("/dev/mapper/assay-data", "ext4")
    assert "striped,2" in client.must("lvs --noheadings --separator , -o segtype,stripes assay/data")
    assert fstab(client, "/local")[0].startswith("UUID=")
    assert client.must("cat /proc/fs/nfsd/threads") == "16"
    assert "[never]" in client.must("cat /sys/kernel/mm/transparent_hugepage/enabled")
    for disk in ("nvme0n1", "nvme1n1"):
        assert "[mq-deadline]" in client.must(f"cat /sys/block/{disk}/queue/scheduler")
        assert client.must(f"cat /sys/block/{disk}/queue/read_ahead_kb") == "512"
    interface = client.must("ip -o route show default").split()[4]
    assert client.must(f"cat /sys/class/net/{interface}/mtu") == "8900"
