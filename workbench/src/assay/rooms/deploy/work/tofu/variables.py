"""Variables that documents of both clouds have, and the outputs that make one a source of hosts."""

import json
from typing import Any

from assay import __version__
from assay.rooms.deploy.model.stack_plan import DataVolumes, HostGroup, StackPlan
from assay.rooms.deploy.work.templates.parameters import CIDR_PATTERN, MAX_CLIENTS, TIME_PATTERN
from assay.rooms.deploy.work.templates.volumes import LAYOUTS, POOLS
from assay.rooms.deploy.work.tofu.document import TofuDocument, matches

OWN_RANGE, OWN_HOSTS, OWN_SERVICE = "10.42.0.0/16", "10.42.16.0/20", "10.42.32.0/24"
"""Addresses of an own network, of its hosts, and of a managed service in it."""
LOGIN_USER = "assay"
TYPES = {"azurerm": "Standard_[A-Za-z0-9_-]+", "google": "[a-z][a-z0-9]*-[a-z0-9-]+"}
"""Provider -> pattern of the names of its instance types."""


def add_run_variables(document: TofuDocument) -> None:
    """Add who runs what, and until when."""
    document.variable(
        "run_name",
        "Name of the run. The names of all resources begin with it.",
        check=matches("run_name", "^[a-z][a-z0-9-]{0,22}[a-z0-9]$"),
        words="2 to 24 lower-case letters, digits or hyphens, beginning with a letter",
    )
    document.variable(
        "owner",
        "Person or team that pays. Written on all resources.",
        check=matches("owner", "^[A-Za-z0-9_.@+-]{1,63}$"),
        words="a name or e-mail address of at most 63 characters without blanks",
    )
    document.variable(
        "expiry_time",
        "Time in UTC after which all of this can be deleted, such as 2026-12-31T18:00:00. It is written on all "
        "resources; nothing deletes them by itself.",
        check=matches("expiry_time", TIME_PATTERN),
        words="a time in UTC such as 2026-12-31T18:00:00",
    )


def add_access_variables(document: TofuDocument, has_exports: bool) -> None:
    """Add who may reach the hosts."""
    document.variable(
        "login_cidr",
        "Addresses from which ssh is open to the login host, or without one to the clients. Empty: none.",
        "",
        check=matches("login_cidr", f"^(|{CIDR_PATTERN})$"),
        words="a range of addresses such as 192.0.2.7/32, or empty",
    )
    document.variable(
        "assign_public_address",
        "Whether the login host, or without one the clients, get public addresses. Servers never do.",
        False,
        "bool",
    )
    if has_exports:
        document.variable(
            "allowed_cidr",
            "Addresses that may mount, in an existing network.",
            "10.0.0.0/8",
            check=matches("allowed_cidr", f"^{CIDR_PATTERN}$"),
            words="a range of addresses such as 10.0.0.0/16",
        )


def add_host_variables(document: TofuDocument, plan: StackPlan) -> None:
    """Add user, key, clients and servers."""
    document.variable(
        "login_user",
        "User who logs in by ssh, who may become root.",
        LOGIN_USER,
        check=matches("login_user", "^[a-z_][a-z0-9_-]{0,31}$")
        + ' && !contains(["root", "admin", "administrator", "user", "test", "guest"], var.login_user)',
        words="a name of a Linux user, and none that clouds refuse, such as admin",
    )
    document.variable(
        "ssh_public_key",
        "Public key of that user, as in ~/.ssh/id_ed25519.pub. Passwords are never accepted.",
        check=matches("ssh_public_key", "^(ssh-(rsa|ed25519)|ecdsa-sha2-nistp[0-9]+) [A-Za-z0-9+/=]+"),
        words="the text of a public key, such as ssh-ed25519 AAAA",
    )
    document.variable(
        "client_count",
        "Number of client hosts.",
        plan.client_count,
        "number",
        check=f"var.client_count >= 0 && var.client_count <= {MAX_CLIENTS} && floor(var.client_count) == "
        "var.client_count",
        words=f"a whole number from 0 to {MAX_CLIENTS}",
    )
    _add_type(document, "client_instance_type", "Type of each client host.", plan.client_instance)
    if plan.login_instance:
        _add_type(document, "login_instance_type", "Type of the login host.", plan.login_instance)
    choice(document, "mpi", "MPI that is installed on clients and the login host.", "openmpi", ("none", "mpich"))
    for group in plan.groups:
        about = f"Type of each {group.role} host. Another one replaces the host."
        document.variable(f"{group.role}_instance_type", about, group.instance, **_one_of(group))
        _add_disk_variables(document, group)


def _add_type(document: TofuDocument, name: str, about: str, default: str) -> None:
    form = matches(name, f"^{TYPES[document.provider]}$")
    document.variable(name, about, default, check=form, words=f"an instance type such as {default}")


def _one_of(group: HostGroup) -> dict[str, str]:
    listed = json.dumps(list(group.choices))
    return {
        "check": f"contains({listed}, var.{group.role}_instance_type)",
        "words": f"one of: {', '.join(group.choices)}",
    }


def choice(document: TofuDocument, name: str, about: str, default: str, others: tuple[str, ...]) -> None:
    """Add a variable that is one of some words."""
    words = sorted({default, *others})
    check = f"contains({json.dumps(words)}, var.{name})"
    document.variable(name, about, default, check=check, words=f"one of: {', '.join(words)}")


def _add_disk_variables(document: TofuDocument, group: HostGroup) -> None:
    layout = group.layout or "single"
    about = "How the disks of each storage host are combined; lvm is striped, lvm-linear is one after the other."
    choice(document, "pool_layout", about, POOLS.get(layout, layout), LAYOUTS)
    about = "File system on the combined disks of each storage host."
    choice(document, "disk_file_system", about, "xfs", ("ext4", "ext3"))
    whole = "var.nfsd_threads >= 1 && var.nfsd_threads <= 10000"
    about = "Threads of the kernel's NFS server, which distributions set to 8."
    document.variable("nfsd_threads", about, 64, "number", whole, "from 1 to 10000")
    if group.volumes is not None:
        _add_volumes(document, group.volumes)


def _add_volumes(document: TofuDocument, volumes: DataVolumes) -> None:
    unit = "MB/s" if document.provider == "azurerm" else "MiB/s"
    numbers: dict[str, tuple[str, Any, str]] = {
        "volume_count": (
            "Data disks of each storage host. A change loses the file system on them.",
            volumes.count,
            "16",
        ),
        "volume_size": ("GiB of each data disk.", volumes.size_gib, "65536"),
        "volume_iops": ("IOPS of each data disk; 3000 are included.", volumes.iops or 3000, "80000"),
        "volume_throughput": (
            f"{unit} of each data disk; {INCLUDED_RATE[document.provider]} are included.",
            volumes.throughput_mib or INCLUDED_RATE[document.provider],
            "2400",
        ),
    }
    if volumes.type not in TYPES_WITH_RATES:
        numbers = {name: each for name, each in numbers.items() if name in ("volume_count", "volume_size")}
    least = {"volume_iops": 3000, "volume_throughput": INCLUDED_RATE[document.provider]}
    for name, (about, default, most) in numbers.items():
        low = least.get(name, 1)
        check = f"var.{name} >= {low} && var.{name} <= {most} && floor(var.{name}) == var.{name}"
        document.variable(name, about, default, "number", check, f"a whole number from {low} to {most}")


TYPES_WITH_RATES = ("premium-ssd-v2", "hyperdisk-balanced")
"""Types of disks whose IOPS and rate are stated."""
INCLUDED_RATE = {"azurerm": 125, "google": 140}
"""Rate of a data disk that is included, in the unit of the cloud."""


def add_outputs(document: TofuDocument, plan: StackPlan, region: str, addresses: dict[str, str]) -> None:
    """Add the outputs by which `hosts: {terraform: FOLDER}` finds hosts and storage.

    Args:
        document: The document.
        plan: What is built.
        region: Expression of the region.
        addresses: Role -> expression of the private addresses of its hosts, a list; `clients` and `login_address` are
            the objects of the clients and the address of the login host.
    """
    for group in plan.groups:
        about = f"Private addresses of the {group.role} hosts"
        document.output(f"{group.role}_addresses", about, f"${{{addresses[group.role]}}}")
    document.output("clients", "Clients: name and addresses of each", f"${{{addresses['clients']}}}")
    if plan.login_instance:
        about = "Address of the login host, public if it has a public one"
        document.output("login_address", about, f"${{{addresses['login_address']}}}")
    document.output("login_user", "User who logs in to the hosts by ssh", "${var.login_user}")
    if "mount" in document.values:
        document.output("mount", "What clients mount, as in the first field of fstab", "${local.mount}")
        document.output("mount_type", "Type of that mount", plan.mount_type)
        document.output("mount_point", "Where clients mount it", plan.mount_point)
        document.output("mount_options", "Options of the mount", plan.mount_options)
    document.output("region", "Region of all this", f"${{{region}}}")
    document.output("expires", "Time in UTC after which all of this can be deleted", "${var.expiry_time}")
    design = {"design": plan.design, "values": dict(plan.values), "assay": __version__}
    document.output("assay_design", "Design of which this was made", json.dumps(design))
