"""From a design to what its stack consists of; refuses designs that no template can build."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import Design, LocalDisks, Servers
from assay.money.cost.bill import volume_count, volume_size
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template
from assay.rooms.deploy.model.cloud import MIB, Architecture, CloudRules
from assay.rooms.deploy.model.stack_plan import DataVolumes, HostGroup, StackPlan
from assay.rooms.deploy.work.templates.families import FAMILIES
from assay.rooms.deploy.work.templates.hosts import DEVICES
from assay.rooms.deploy.work.templates.parameters import ARM_TYPE
from assay.rooms.deploy.work.templates.services import SERVICES

GIB = 2**30
MAX_HOSTS = 100
"""Servers of a stack at most: a template has at most 500 resources."""
AWS = CloudRules(
    providers=(None, "aws"),
    engine="CloudFormation",
    families=tuple(FAMILIES),
    services=SERVICES,
    client_instance={"amd64": "c6in.2xlarge", "arm64": "c7gn.2xlarge"},
    max_volumes=len(DEVICES),
    rate_unit=MIB,
    types=r"[a-z][a-z0-9-]*[.][a-z0-9-]+",
    arm=ARM_TYPE,
)


@dataclass(frozen=True)
class HostOptions:
    """What is asked for beside the design.

    Attributes:
        clients: Number of clients; None: as the design has them, or one.
        client_instance: Type of the clients; empty: as the design has them, or a default.
        login: Type of the login host; empty: none.
        attaches: Whether the hosts join a file system that exists.
    """

    clients: int | None = None
    client_instance: str = ""
    login: str = ""
    attaches: bool = False


def make_plan(
    template: Template, values: Mapping[str, Any], options: HostOptions, cloud: CloudRules = AWS
) -> StackPlan:
    """Return what the stack of a design consists of.

    Args:
        template: The design.
        values: Values of its parameters that differ from their defaults.
        options: Clients and login host.
        cloud: Where it is built.

    Raises:
        AssayError: No template can build the design, or an instance type is unknown or does not fit.
    """
    design = template.build(values)
    if design.provider not in cloud.providers or design.hardware or design.link:
        hint = "it builds designs of aws; `assay deploy template` writes those of azure and gcp for OpenTofu"
        raise AssayError(f"design {design.design}: {cloud.engine} cannot build it", hint)
    if design.service is not None:
        plan = _service_plan(design, cloud)
    elif design.family in cloud.families and design.served:
        plan = _server_plan(design, template, options, cloud)
    else:
        message = f"design {design.design}: there is no template for {design.family}"
        raise AssayError(message, f"docs/guides/deploy.md lists the designs with a template: those of {cloud.known}")
    return _with_clients(replace(plan, values=dict(values)), design, options, cloud)


def _server_plan(design: Design, template: Template, options: HostOptions, cloud: CloudRules) -> StackPlan:
    family = FAMILIES[design.family]
    servers = [each for each in design.servers if each.role != "client"]
    if design.copies not in family.copies or design.erasure is not None:
        hint = f"its roles make {' or '.join(map(str, family.copies))}; take such a design"
        raise AssayError(f"design {design.design}: no role of {design.family} sets up its copies", hint)
    unknown = next((each for each in servers if each.role not in family.roles), None)
    if unknown is not None:
        roles = ", ".join(family.roles)
        raise AssayError(f"design {design.design}: {design.family} has no {unknown.role} hosts", f"there are: {roles}")
    if options.attaches:
        servers = [each for each in servers if each.role != family.main]
        if not servers or design.family not in ATTACHING:
            hint = f"leave --attach out; it is for {', '.join(ATTACHING)}"
            raise AssayError(f"design {design.design}: its hosts cannot join a file system that exists", hint)
    if sum(each.count for each in servers) > MAX_HOSTS:
        raise AssayError(f"design {design.design} has more than {MAX_HOSTS} servers", "take fewer and larger ones")
    groups = tuple(_group(each, design, template, cloud) for each in servers)
    return StackPlan(
        design=design.design,
        about=design.about,
        values={},
        family=design.family,
        groups=tuple(sorted(groups, key=lambda group: [*family.roles].index(group.role))),
        client_script=family.client,
        mount_type=family.mount_type,
        mount_point=family.mount_point,
        mount_options=family.mount_options,
        architecture=_one_architecture([group.instance for group in groups], cloud),
        attaches=options.attaches,
        copies=design.copies,
    )


ATTACHING = ("beegfs",)
"""Families to whose file systems storage hosts can be added by the address of the management host."""


def _group(servers: Servers, design: Design, template: Template, cloud: CloudRules) -> HostGroup:
    family = FAMILIES[design.family]
    disks = servers.local or servers.volumes
    group = HostGroup(
        role=servers.role,
        script=family.roles[servers.role],
        count=servers.count,
        instance=servers.instance,
        layout=disks.layout if disks else None,
        has_fixed_addresses=servers.role in family.fixed,
    )
    if isinstance(servers.local, LocalDisks):
        choices = _choices(template, servers.instance, cloud, has_disks=True)
        mapped = max(_mapped_disks(name) for name in choices)
        return replace(group, choices=choices, mapped_disks=mapped)
    if servers.volumes is not None:
        volumes = _volumes(servers, design, cloud)
        return replace(group, volumes=volumes, choices=_choices(template, servers.instance, cloud, has_disks=False))
    return group


def _volumes(servers: Servers, design: Design, cloud: CloudRules) -> DataVolumes:
    written = servers.volumes
    assert written is not None
    count = volume_count(written)
    if count > cloud.max_volumes:
        message = f"design {design.design}: {count} volumes are more than an instance takes"
        raise AssayError(message, f"take up to {cloud.max_volumes}")
    return DataVolumes(
        type=written.type,
        count=count,
        size_gib=-(-volume_size(written) // GIB),
        iops=written.iops,
        throughput_mib=None if written.throughput is None else round(written.throughput / cloud.rate_unit),
    )


def _choices(template: Template, instance: str, cloud: CloudRules, has_disks: bool) -> tuple[str, ...]:
    """Return the instance types that fit the template as well: of the design's choices those like this one."""
    parameter = template.parameters.get("instance")
    offered = (instance, *(parameter.choices if parameter else ()))
    same = [name for name in dict.fromkeys(offered) if cloud.architecture(name) == cloud.architecture(instance)]
    return tuple(name for name in same if not has_disks or catalog().instance(name).disks)


def _mapped_disks(instance: str) -> int:
    """Return how many local disks have to be mapped; NVMe disks are there without."""
    disks = catalog().instance(instance).disks
    return sum(each.count for each in disks if each.kind != "nvme")


def _one_architecture(instances: list[str], cloud: CloudRules) -> Architecture:
    found = sorted({cloud.architecture(name) for name in instances})
    if len(found) > 1:
        names = ", ".join(instances)
        raise AssayError(f"one image cannot start both amd64 and arm64: {names}", "take types of one architecture")
    return "arm64" if found == ["arm64"] else "amd64"


def _service_plan(design: Design, cloud: CloudRules) -> StackPlan:
    service = design.service
    assert service is not None
    builder = cloud.services.get(design.family)
    if builder is None:
        message = f"design {design.design}: there is no template for {design.family}"
        raise AssayError(message, f"docs/guides/deploy.md lists the designs with a template: those of {cloud.known}")
    builder.check(design)
    return StackPlan(
        design=design.design,
        about=design.about,
        values={},
        family=design.family,
        service=service,
        client_script=builder.client,
        mount_type=builder.mount_type,
        mount_point="/scratch" if builder.mount_type else "",
        mount_options=builder.mount_options,
        has_exports=builder.has_exports,
    )


def _with_clients(plan: StackPlan, design: Design, options: HostOptions, cloud: CloudRules) -> StackPlan:
    own = next((each for each in design.servers if each.role == "client"), None)
    count = options.clients if options.clients is not None else (own.count if own else 1)
    servers = [group.instance for group in plan.groups]
    default = cloud.client_instance[plan.architecture if servers else "amd64"]
    instance = options.client_instance or (own.instance if own else default)
    for name in (instance, options.login):
        if name:
            catalog().instance(name)
    foreign = [name for name in (*servers, instance, options.login) if name and not re.fullmatch(cloud.types, name)]
    if foreign:
        message = f"design {design.design}: {foreign[0]} is a type of another cloud"
        raise AssayError(message, f"take one such as {default}")
    hosts = [*servers, instance, *([options.login] if options.login else [])]
    return replace(
        plan,
        client_count=count,
        client_instance=instance,
        login_instance=options.login,
        architecture=_one_architecture(hosts, cloud),
    )
