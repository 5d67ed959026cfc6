"""File systems that stacks build: which role each kind of host has, and what clients mount."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.rooms.deploy.model.stack_plan import HostRole


@dataclass(frozen=True)
class Family:
    """A file system on hosts of a stack.

    Attributes:
        roles: Role of the design -> role script, several with `+` between them.
        client: Role script of the clients.
        mount_type, mount_point, mount_options: As in /etc/fstab.
        mount: What is mounted; `{main}` stands for the address of the main host.
        main: Role of the hosts of which the first is the main one.
        servers: Role of the hosts whose addresses all hosts need in SERVERS.
        has_pool: Whether disks are pooled under a local file system; Ceph uses each disk by itself.
        copies: Copies of each byte -> values of the roles that make so many.
        fixed: Roles whose hosts have addresses that are known before they are made: their scripts need their own.
    """

    roles: Mapping[HostRole, str]
    client: str
    mount_type: str
    mount: str
    mount_point: str = "/scratch"
    mount_options: str = ""
    main: HostRole = "storage"
    servers: HostRole = "storage"
    fixed: tuple[HostRole, ...] = ()
    has_pool: bool = True
    copies: Mapping[int, Mapping[str, str]] = field(default_factory=lambda: {1: {}})


FAMILIES = {
    "nfs": Family({"storage": "nfs-server"}, "nfs-client", "nfs4", "{main}:/export", mount_options="hard,noatime"),
    "beegfs": Family(
        {"metadata": "beegfs-management+beegfs-metadata", "storage": "beegfs-storage"},
        "beegfs-client",
        "beegfs",
        "{main}",
        mount_point="/sharedscratch",
        main="metadata",
        servers="metadata",
        fixed=("metadata",),
    ),
    "orangefs": Family(
        {"storage": "orangefs-server"}, "orangefs-client", "pvfs2", "tcp://{main}:3334/orangefs", fixed=("storage",)
    ),
    "glusterfs": Family(
        {"storage": "glusterfs-server"},
        "glusterfs-client",
        "glusterfs",
        "{main}:/assay",
        fixed=("storage",),
        copies={1: {}, 2: {"VOLUME": "replica-2"}, 3: {"VOLUME": "replica-3"}},
    ),
    "moosefs": Family(
        {"management": "moosefs-master", "storage": "moosefs-chunkserver"},
        "moosefs-client",
        "moosefs",
        "{main}:",
        main="management",
        servers="management",
        fixed=("management",),
        # The master has a goal of its own for new files, which a design does not set.
        copies={1: {}, 2: {}, 3: {}},
    ),
    "ceph": Family(
        {"storage": "ceph-node"},
        "ceph-client",
        "ceph",
        "{main}:/",
        fixed=("storage",),
        has_pool=False,
        copies={2: {}},
    ),
}
"""Family of a design -> its file system."""
