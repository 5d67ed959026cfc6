"""Machines for the instances of a stack at moto's server: hosts in namespaces that execute the instances' user data.

Each instance becomes a host of a cluster in a box, with its address in the stack, and a blank disk if it has a data
volume. Its user data is followed as cloud-init does: files are written, then commands run, which set up its role.
Shell, disks, mkfs and mount are real. Stand-ins, because the kernel here has no NFS: packages, services and exports
are recorded (see `role_hosts`), NFS-Ganesha serves what the server exports, and of a client's mount only the line of
/etc/fstab and the answer of the server are real. The study has an NFS client of its own.
"""

import base64
import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cloud_server import CloudServer
from loop_devices import loop_device
from role_hosts import RoleHost
from ssh_tools import path_with_ssh
from testbed_tools import need_box, written

from assay.model.site.box import BoxHost
from assay.model.site.box_servers import BoxServer
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.servers import READY_TIMEOUT_SECONDS, new_server
from assay.rooms.testbed.work.ssh import server_command
from assay.rooms.testbed.work.up import bring_up

DISK_BYTES = 4 << 30
SERVER = "nfs-ganesha"
LINKS = {"client": "300 Mbit/s", "storage": "1 Gbit/s"}
"""Role -> link of its hosts: one client cannot fill the server's."""
ROOT_DISKS = ("/dev/xvda", "/dev/sda1")
LIVE = {"Name": "instance-state-name", "Values": ["running"]}
CLIENT_FAKES = {
    "mount": """
line=$(grep -F " $1 nfs4 " /etc/fstab) || exec /bin/mount "$@"
echo "$line" | cut -d ' ' -f 1,3 >"$HOST_FOLDER/nfs-mount\"""",
    "awk": """
case "$*" in *mountinfo*) [ ! -s "$HOST_FOLDER/nfs-mount" ] || exec cat "$HOST_FOLDER/nfs-mount" ;; esac
exec /usr/bin/awk "$@\"""",
}
"""What stands in for a mount of NFS, and for its line in the kernel's list."""
WRITE = 'mkdir -p "$(dirname "$0")" && {} >"$0" && chmod "$1" "$0"'
"""Writes a file from what `{}` prints: its path, its mode, its content."""


@dataclass(frozen=True)
class Instance:
    """An instance as EC2 describes it.

    Attributes:
        role: `storage` or `client`.
        address: In the network of the stack.
        has_data: Whether it has a volume besides its root disk.
        user_data: Parsed.
    """

    role: str
    address: str
    has_data: bool
    user_data: dict[str, Any]


def instances_of(cloud: CloudServer, stack: str) -> list[Instance]:
    """Return the running instances of a stack, servers first."""
    ec2 = cloud.client("ec2")
    of_stack = {"Name": "tag:assay:stack", "Values": [stack]}
    found = []
    for reservation in ec2.describe_instances(Filters=[LIVE, of_stack])["Reservations"]:
        for item in reservation["Instances"]:
            role = next(tag["Value"] for tag in item["Tags"] if tag["Key"] == "assay:role")
            attribute = ec2.describe_instance_attribute(InstanceId=item["InstanceId"], Attribute="userData")
            user_data = yaml.safe_load(base64.b64decode(attribute["UserData"]["Value"]))
            has_data = any(disk["DeviceName"] not in ROOT_DISKS for disk in item["BlockDeviceMappings"])
            found.append(Instance(role, item["PrivateIpAddress"], has_data, user_data))
    return sorted(found, key=lambda one: (one.role != "storage", one.address))


@dataclass(frozen=True)
class StackHost:
    """A host after its first boot.

    Attributes:
        instance: What it stands for.
        name: In the box.
        role: What the script of its role has recorded.
        signals: What it sent to the wait condition.
    """

    instance: Instance
    name: str
    role: dict[str, Any]
    signals: str


class _Boot:
    """One host at its first boot."""

    def __init__(self, box: RunningBox, folder: Path, name: str, instance: Instance, disk: str) -> None:
        self.box, self.name, self.instance = box, name, instance
        self.host = RoleHost(folder / name, CLIENT_FAKES if instance.role == "client" else {})
        self.host.enter(box.host(name).pid, {"nvme1n1": disk} if disk else {})
        # Without a line there, sshd refuses every login.
        self.host.must("echo 'root:*:19000::::::' >/etc/shadow")
        self.host.must(f"ip address add {instance.address}/16 dev eth0")

    def run(self) -> StackHost:
        """Do what the user data says."""
        for file in self.instance.user_data["write_files"]:
            reads = 'printf %s "$2" | base64 -d | gunzip' if "encoding" in file else 'printf %s "$2"'
            self.host.must(WRITE.format(reads), file["path"], file["permissions"], file["content"])
        for words in self.instance.user_data["runcmd"]:
            self.host.must('exec "$0" "$@"', *words)
        if self.instance.role == "storage":
            self._serve()
        signals = (self.host.folder / "signals").read_text()
        return StackHost(self.instance, self.name, self.host.status(), signals)

    def _serve(self) -> None:
        """Serve what was exported, as the kernel's server would."""
        exports = [line.split()[0] for line in self.host.must("cat /etc/exports.d/*.exports").splitlines()]
        state = self.box.host(self.name).model_copy(update={"address": self.instance.address})
        server = BoxServer(kind=SERVER, exports=tuple(exports))
        serving = new_server(self.box.enter(self.name), state, server, self.box.folder, {}, {}, "")
        serving.begin()
        serving.wait(READY_TIMEOUT_SECONDS)


@contextlib.contextmanager
def stack_hosts(folder: Path, cloud: CloudServer, stack: str) -> Iterator[list[StackHost]]:
    """The hosts of a stack while they are needed; ssh reaches them by the addresses of their instances meanwhile."""
    instances = instances_of(cloud, stack)
    names = [f"{one.role}{number}" for number, one in enumerate(instances, 1)]
    hosts = "".join(f"  {name}: {{link: {LINKS[one.role]}}}\n" for name, one in zip(names, instances, strict=True))
    box = written(folder, f"name: stack-{os.getpid()}\nhosts:\n{hosts}")
    need_box(box, programs=("ganesha.nfsd", "rpcbind", "mkfs.xfs"))
    with contextlib.ExitStack() as stack_:
        disks = [
            _disk(stack_, folder / name) if one.has_data else "" for name, one in zip(names, instances, strict=True)
        ]
        running = bring_up(box)
        stack_.callback(running.down)
        boots = [_Boot(running, folder, *each) for each in zip(names, instances, disks, strict=True)]
        found = [boot.run() for boot in boots]
        stack_.enter_context(_reached_by_ssh(folder, running, box.all_hosts(), instances))
        yield found


def _disk(stack: contextlib.ExitStack, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    return stack.enter_context(loop_device(folder, DISK_BYTES))


@contextlib.contextmanager
def _reached_by_ssh(
    folder: Path, box: RunningBox, members: tuple[BoxHost, ...], instances: list[Instance]
) -> Iterator[None]:
    """An `ssh` that knows the hosts by the addresses of their instances, first in PATH."""
    keys = box.folder / "ssh"
    lines = []
    for member, instance in zip(members, instances, strict=True):
        command = shlex.join([*box.enter(member.name), *server_command(keys, member), "-i"]).replace("%", "%%")
        lines += [f"Host {instance.address}", f"  ProxyCommand {command}", f"  HostKeyAlias {member.name}"]
    lines += ["Host *", "  User root", f"  IdentityFile {keys}/client_key", f"  UserKnownHostsFile {keys}/known_hosts"]
    lines += ["  GlobalKnownHostsFile /dev/null", "  IdentityAgent none"]
    config = folder / "ssh_config"
    config.write_text("\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path_with_ssh(folder, config))
        yield
