"""The whole template of a stack, put together from its parts."""

import json
from typing import Any

from assay import __version__
from assay.model.base import AssayError
from assay.model.money.design import Efs
from assay.rooms.deploy.model.stack_plan import HostGroup, StackPlan
from assay.rooms.deploy.model.storage_facts import StorageFacts
from assay.rooms.deploy.work.roles.scripts import packed_script, role_variables
from assay.rooms.deploy.work.templates import hosts, network, parameters
from assay.rooms.deploy.work.templates.boot import MAX_USER_DATA_BYTES, FirstBoot, HostFile, user_data, user_data_bytes
from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.ending import add_ending
from assay.rooms.deploy.work.templates.families import FAMILIES
from assay.rooms.deploy.work.templates.functions import attribute, either, ref, sub
from assay.rooms.deploy.work.templates.rights import unique_name
from assay.rooms.deploy.work.templates.services import SERVICES
from assay.rooms.deploy.work.templates.simplify import decide
from assay.rooms.deploy.work.templates.volumes import add_snapshots, add_volume_parameters

MAX_DESCRIPTION_BYTES = 1024
MAX_RESOURCES = 500
APT_PROXY = 'Acquire::http::Proxy "${ProxyUrl}";'
BY_BYTE = "EFS is charged for each GB that is read or written, which no budget of Assay counts. "


def build_template(plan: StackPlan) -> dict[str, Any]:
    """Return the template of a stack, as CloudFormation takes it.

    Raises:
        AssayError: The stack would be larger than CloudFormation allows.
    """
    draft = Draft(_description(plan))
    parameters.add_run_parameters(draft)
    if plan.attaches:
        parameters.add_existing_network(draft, plan)
    else:
        parameters.add_optional_network(draft)
    parameters.add_access_parameters(draft, plan.has_exports)
    parameters.add_host_parameters(draft, plan)
    add_volume_parameters(draft, plan)
    parameters.add_price_parameters(draft, plan)
    if not plan.attaches:
        network.add_network(draft)
    network.add_security_groups(draft)
    hosts.add_placement_group(draft)
    storage = _add_storage(draft, plan)
    _add_load_hosts(draft, plan, storage)
    parameters.add_budget(draft, unique_name("budget"), tags("budget"))
    _add_outputs(draft, plan, storage)
    if plan.attaches:
        decide(draft, network.OWN, holds=False)
        decide(draft, "HasSecurityGroup", holds=True)
    add_ending(draft)
    if len(draft.resources) > MAX_RESOURCES:
        raise AssayError(f"{len(draft.resources)} resources are more than a stack may have", "take fewer hosts")
    return draft.document()


def _description(plan: StackPlan) -> str:
    is_by_byte = isinstance(plan.service, Efs) and plan.service.type == "efs-elastic"
    text = (
        f"{plan.about} (design {plan.design}), with client hosts, to be measured. {BY_BYTE if is_by_byte else ''}"
        "It is charged until it is deleted, which it does by itself at ExpiryTime. All data in it is lost then."
    )
    return text[:MAX_DESCRIPTION_BYTES]


def _add_storage(draft: Draft, plan: StackPlan) -> StorageFacts:
    if plan.service is not None:
        facts = SERVICES[plan.family].add(draft, plan)
        hosts.add_host_role(draft, facts.rights)
        return facts
    hosts.add_host_role(draft)
    family = FAMILIES[plan.family]
    main, servers = plan.group(family.main), plan.group(family.servers)
    address = "${ManagementAddress}" if plan.attaches or main is None else hosts.addresses(main)[0]
    known = address if servers is None else " ".join(hosts.addresses(servers))
    facts = StorageFacts(family.mount.format(main=address), known, ("ServersReady",))
    hosts.add_handle(draft, "Servers")
    for group in plan.groups:
        _add_group(draft, plan, group, facts)
    names = [name for group in plan.groups for name in hosts.host_ids(group)]
    hosts.add_wait(draft, "Servers", len(names), names)
    if any(group.volumes for group in plan.groups):
        add_snapshots(draft)
    return facts


def _add_group(draft: Draft, plan: StackPlan, group: HostGroup, facts: StorageFacts) -> None:
    if group.has_fixed_addresses:
        hosts.add_interfaces(draft, group)
    name = f"{group.role}1" if group.count == 1 else ""
    values = {
        "SIGNAL_URL": "${ServersHandle}",
        "SERVERS": facts.servers,
        "ALLOWED": "${Allowed}",
        "NFSD_THREADS": "${NfsdThreads}",
        **({"POOL": "${PoolLayout}", "FILE_SYSTEM": "${DiskFileSystem}"} if group.layout else {"POOL": "none"}),
        **({"POOL_DISK_COUNT": str(group.volumes.count)} if group.volumes else {}),
        **FAMILIES[plan.family].copies[plan.copies],
    }
    data: dict[str, Any] = {"EbsOptimized": True} if group.volumes else {}
    if group.role == "storage":
        data |= hosts.spot_market("StorageSpotMaxPrice", "UseStorageSpot")
    boot = first_boot(plan, group.script, values, name)
    _add_launch_template(draft, group.title, data, group, boot)
    is_reachable = not plan.login_instance and not plan.client_script
    hosts.add_servers(draft, group, is_reachable)


def first_boot(plan: StackPlan, role: str, values: dict[str, str], host_name: str) -> FirstBoot:
    """Return the first boot of a role's hosts, with those of the values that the role uses."""
    used = {name: value for name, value in values.items() if name in role_variables(role) and value}
    used["PROXY"] = "${ProxyUrl}"
    functions = {"Allowed": network.allowed_range(ref("AllowedCidr"))}
    # cloud-init installs packages of Debian before the role begins, and by no proxy unless apt knows it.
    files = [HostFile("/etc/apt/apt.conf.d/95assay", "0644", APT_PROXY)] if plan.image.packages else []
    packages = plan.image.packages
    return FirstBoot(role, packed_script(role), used, functions, host_name, files, packages=packages)


def _add_launch_template(draft: Draft, title: str, data: dict[str, Any], group: HostGroup, boot: FirstBoot) -> None:
    written = user_data(boot)
    if user_data_bytes(written) > MAX_USER_DATA_BYTES:
        size = f"{user_data_bytes(written)} bytes, and EC2 takes {MAX_USER_DATA_BYTES}"
        raise AssayError(f"user data of {group.role} hosts: {size}", "take fewer hosts, whose addresses are in it")
    is_placed, has_tagged_name = group.role != "login", not boot.host_name
    disks = hosts.data_disks(group)
    hosts.add_launch_template(draft, title, data, disks, written, group.role, has_tagged_name, is_placed)


def _add_load_hosts(draft: Draft, plan: StackPlan, storage: StorageFacts) -> None:
    """Add clients and the login host, once the storage is ready."""
    mount = {
        "SERVERS": storage.servers,
        "MOUNT": storage.mount,
        "MOUNT_TYPE": plan.mount_type,
        "MOUNT_POINT": plan.mount_point,
        "MOUNT_OPTIONS": plan.mount_options,
        "MPI": "${Mpi}",
    }
    template = {"ImageId": ref("ImageId"), "InstanceType": ref("ClientInstanceType")}
    data = {**template, **hosts.client_interface(plan), **hosts.spot_market("SpotMaxPrice", "UseSpot")}
    boot = first_boot(plan, plan.client_script, {"SIGNAL_URL": "${ClientsHandle}", **mount}, "-")
    clients = HostGroup("client", plan.client_script, 0, plan.client_instance)
    hosts.add_handle(draft, "Clients")
    _add_launch_template(draft, "Client", data, clients, boot)
    hosts.add_clients(draft, plan, storage.ready)
    hosts.add_wait(draft, "Clients", ref("ClientCount"), ["Clients"], "HasClients")
    if plan.login_instance:
        hosts.add_handle(draft, "Login")
        boot = first_boot(plan, plan.client_script, {"SIGNAL_URL": "${LoginHandle}", **mount}, "login")
        login = HostGroup("login", plan.client_script, 1, plan.login_instance)
        _add_launch_template(draft, "Login", {}, login, boot)
        hosts.add_login(draft, storage.ready)
        hosts.add_wait(draft, "Login", 1, ["Login"])


def _add_outputs(draft: Draft, plan: StackPlan, storage: StorageFacts) -> None:
    for group in plan.groups:
        value = sub(",".join(hosts.addresses(group)))
        draft.output(f"{group.title}Addresses", f"Private addresses of the {group.role} hosts", value)
    if plan.login_instance:
        address = either("UsePublicAddress", attribute("Login", "PublicIp"), attribute("Login", "PrivateIp"))
        draft.output("LoginAddress", "Address of the login host, public if it has a public one", address)
    draft.output("ClientGroup", "Name of the group of clients", ref("Clients"), "HasClients")
    draft.output("LoginUser", "User who logs in to the hosts by ssh", ref("LoginUser"))
    if storage.mount:
        draft.output("Mount", "What clients mount, as in the first field of fstab", sub(storage.mount))
        draft.output("MountType", "Type of that mount", plan.mount_type)
        draft.output("MountPoint", "Where clients mount it", plan.mount_point)
        draft.output("MountOptions", "Options of the mount", plan.mount_options)
    for name, (about, value) in storage.outputs.items():
        draft.output(name, about, value)
    design = {"design": plan.design, "values": dict(plan.values), "assay": __version__}
    draft.output("AssayDesign", "Design of which the stack was made", json.dumps(design))
