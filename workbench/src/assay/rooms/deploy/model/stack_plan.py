"""What a stack consists of: groups of hosts with their disks, a service, clients and how they mount the storage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.money.design import Layout, Service

HostRole = Literal["storage", "metadata", "management", "client", "login"]


@dataclass(frozen=True)
class DataVolumes:
    """Network volumes of each host of a group.

    Attributes:
        type: Name in the EC2 API: gp3, st1, ...
        size_gib: GiB of each volume.
        iops, throughput_mib: Of each volume; None: the type takes none, or the included ones.
    """

    type: str
    count: int
    size_gib: int
    iops: int | None = None
    throughput_mib: int | None = None


@dataclass(frozen=True)
class HostGroup:
    """Identical hosts of a stack.

    Attributes:
        role: What the hosts are for; the value of their tag `assay:role`.
        script: Name of the role whose script sets each of them up.
        instance: Default type; choices: the types that a person who launches the template may choose.
        layout: How the disks of a host are combined.
        mapped_disks: Local disks that the operating system only sees if the launch template maps them.
        has_fixed_addresses: Whether addresses are known before the hosts are made, because a host needs its own.
    """

    role: HostRole
    script: str
    count: int
    instance: str
    choices: tuple[str, ...] = ()
    layout: Layout | None = None
    mapped_disks: int = 0
    volumes: DataVolumes | None = None
    has_fixed_addresses: bool = False

    @property
    def title(self) -> str:
        """The role as the beginning of logical ids: `Storage`."""
        return self.role.capitalize()


@dataclass(frozen=True)
class SystemImage:
    """The Linux of all hosts, in AWS.

    Attributes:
        parameter: Parameter of the Systems Manager that has the newest image.
        user: User who logs in.
        packages: What it lacks before the script of a role begins.
    """

    parameter: str
    user: str
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class StackPlan:
    """All that a template is made of.

    Attributes:
        design: Name of the design, and the values that it was built with.
        family: File system or service, as designs name it: nfs, beegfs, efs.
        groups: Hosts that hold the storage; empty for services.
        client_script: Role script of the clients.
        client_count: Clients; a person who launches the template may choose another number.
        login_instance: Type of the login host; empty: none.
        mount_type, mount_point, mount_options: As in /etc/fstab; empty for storage without a mount.
        architecture: Of all hosts, as in names of images: amd64 or arm64.
        has_exports: Whether what serves the clients has a list of addresses that may mount.
        attaches: Whether the hosts join a file system that exists, whose management address is a parameter.
        copies: How often the file system stores each byte.
    """

    design: str
    about: str
    values: Mapping[str, Any]
    family: str
    groups: tuple[HostGroup, ...] = ()
    service: Service | None = None
    client_script: str = ""
    client_count: int = 0
    client_instance: str = ""
    login_instance: str = ""
    mount_type: str = ""
    mount_point: str = ""
    mount_options: str = ""
    architecture: Literal["amd64", "arm64"] = "amd64"
    has_exports: bool = True
    attaches: bool = False
    copies: int = 1

    def group(self, role: HostRole) -> HostGroup | None:
        """Return the group of a role; None: the stack has none."""
        return next((group for group in self.groups if group.role == role), None)

    @property
    def image(self) -> SystemImage:
        """Debian; Amazon Linux for FSx for Lustre, whose clients AWS does not have for Debian."""
        if self.mount_type == "lustre":
            processor = {"amd64": "x86_64", "arm64": "arm64"}[self.architecture]
            name = f"/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-6.1-{processor}"
            return SystemImage(name, "ec2-user")
        return SystemImage(f"/aws/service/debian/release/12/latest/{self.architecture}", "admin", ("curl",))
