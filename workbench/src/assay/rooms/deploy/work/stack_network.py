"""What is drawn of a stack: its hosts with their disks, its clients, and what they mount."""

from collections.abc import Mapping
from typing import Any

from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template
from assay.report.diagrams.designs import LAYOUT_WORDS, instance_lines, local_disks, network_labels, service_host
from assay.report.diagrams.network import NETWORK, DrawnHost, DrawnLine, Network, NetworkBar
from assay.report.diagrams.pieces import DiskSet
from assay.rooms.deploy.model.stack_plan import DataVolumes, HostGroup, StackPlan
from assay.rooms.deploy.work.templates.plan import AWS, HostOptions, make_plan
from assay.rooms.deploy.work.tofu.build import CLOUDS


def stack_network(template: Template, values: Mapping[str, Any], clients: int | None) -> Network:
    """Return what is drawn of the stack of a design.

    Args:
        template: The design.
        values: Values of its parameters that differ from their defaults.
        clients: Number of clients; None: as for `assay deploy`.

    Raises:
        AssayError: No template can build the design.
    """
    cloud = CLOUDS.get(template.build(values).provider, AWS)
    plan = make_plan(template, values, HostOptions(clients=clients), cloud)
    hosts = [_clients(plan)] if plan.client_count else []
    hosts += [_group(group) for group in plan.groups]
    if plan.service is not None:
        hosts.append(service_host(plan.service))
    bar = NetworkBar(NETWORK, NETWORK, has_article=True)
    joined = tuple(
        DrawnHost(
            host.name,
            host.count,
            host.lines,
            host.disks,
            host.is_client,
            links=tuple(DrawnLine(NETWORK, link.labels) for link in host.links),
        )
        for host in hosts
    )
    copies = (f"Each byte is stored {plan.copies} times.",) if plan.copies > 1 else ()
    return Network(joined, (bar,), remarks=copies)


def _clients(plan: StackPlan) -> DrawnHost:
    mount = (f"mounts {plan.mount_type} at {plan.mount_point}",) if plan.mount_type else ()
    found = catalog().instance(plan.client_instance)
    return DrawnHost(
        "client hosts" if plan.client_count > 1 else "client host",
        plan.client_count,
        (*instance_lines(found), *mount),
        is_client=True,
        links=(DrawnLine("", network_labels(found)),),
    )


def _group(group: HostGroup) -> DrawnHost:
    found = catalog().instance(group.instance)
    disks = []
    if group.volumes is not None:
        disks.append(_volumes(group.volumes, LAYOUT_WORDS[group.layout or "single"]))
    elif group.layout is not None:
        disks += local_disks(found, group.layout)
    roles = group.script.split("+")
    return DrawnHost(
        f"{group.role} {'hosts' if group.count > 1 else 'host'}",
        group.count,
        (f"role{'s' * (len(roles) > 1)} {', '.join(roles)}", *instance_lines(found)),
        tuple(disks),
        links=(DrawnLine("", network_labels(found)),),
    )


def _volumes(volumes: DataVolumes, layout: str) -> DiskSet:
    several, each = (f"{volumes.count} × ", " each") if volumes.count > 1 else ("", "")
    parts = [f"{several}{volumes.type}, {volumes.size_gib:,} GiB{each}"]
    parts += [layout] if layout and volumes.count > 1 else []
    parts += [f"{volumes.iops:,} IOPS"] if volumes.iops else []
    parts += [f"{volumes.throughput_mib:,} MiB/s"] if volumes.throughput_mib else []
    return DiskSet(volumes.count, ", ".join(parts))
