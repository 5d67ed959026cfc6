"""Machines in what Terraform and OpenTofu print and store: `output -json`, `show -json`, and a state file.

Sources: developer.hashicorp.com/terraform, "terraform output", "JSON Output Format"; state format version 4.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from assay.model.base import AssayError
from assay.site.inventory.foreign import ReportLine
from assay.site.inventory.machines.machine import CloudMachine, has_role_word, words_in
from assay.site.inventory.machines.outputs import machine_of_object, machines_of_outputs, may_have_machines
from assay.site.inventory.names import is_ip

OUTPUT_HINT = (
    "add outputs such as `client_ips` and `ssh_user`, apply, and try again; docs/guides/hosts.md has the forms"
)
MACHINE_TYPES = {
    "aws_instance": None,
    "aws_spot_instance_request": None,
    "azurerm_linux_virtual_machine": None,
    "google_compute_instance": None,
    "openstack_compute_instance_v2": None,
    "yandex_compute_instance": None,
    "oci_core_instance": "opc",
    "hcloud_server": "root",
    "digitalocean_droplet": "root",
    "linode_instance": "root",
    "vultr_instance": "root",
    "scaleway_instance_server": "root",
    "vsphere_virtual_machine": None,
    "libvirt_domain": None,
    "proxmox_vm_qemu": None,
    "proxmox_virtual_environment_vm": None,
}
"""Type of a resource that is a machine -> the user of its usual images; None if they differ."""
_IMAGE_USERS = (
    ("ubuntu", "ubuntu"),
    ("debian", "admin"),
    ("amzn", "ec2-user"),
    ("al2023", "ec2-user"),
    ("rhel", "ec2-user"),
    ("suse", "ec2-user"),
    ("fedora", "fedora"),
    ("rocky", "rocky"),
    ("alma", "ec2-user"),
    ("centos", "centos"),
)
"""Word in the name of an image of AWS -> its user. Source: docs.aws.amazon.com, EC2, "Manage system users"."""
_ATTACHED = (
    ("aws_eip", "instance", "public_ip"),
    ("aws_eip", "network_interface", "public_ip"),
    ("aws_eip_association", "instance_id", "public_ip"),
    ("openstack_compute_floatingip_associate_v2", "instance_id", "floating_ip"),
    ("openstack_networking_floatingip_associate_v2", "port_id", "floating_ip"),
    ("openstack_networking_floatingip_v2", "port_id", "address"),
)
"""Type of a resource that gives a machine an address, its attribute with what has it, and the one with the address. The
machine's own attributes lack it, or have the one that it had before. Source: registry.terraform.io, the providers."""
_MODULE = re.compile(r"(?:^|\.)module\.([\w-]+)")
_OTHER_MACHINES = re.compile(
    r"^[a-z]+_(instance|server)(_v\d)?$|_(compute_instance|compute_server|vm|virtual_machine|lxc|device|droplet)(_v\d)?$"
    r"|(autoscaling_group|scale_set|instance_group|instance_group_manager|instance_pool|node_group|node_pool|_fleet)$"
)
"""Types of resources that are machines, or groups of machines, and are not read."""
_STATE_KEYS = ("instance_state", "current_status", "power_state", "power_status", "vm_state", "status", "state")
_STOPPED = words_in("stopped stopping terminated terminating shutting-down suspended shutoff off offline paused")


class Resource(NamedTuple):
    """One instance of a resource.

    Attributes:
        mode: `managed` or `data`.
        kind: Its type.
        name: Its name, with its index in brackets.
        values: Its attributes.
        modules: Names of the modules around it, the outermost first.
    """

    mode: str
    kind: str
    name: str
    values: Mapping[str, Any]
    modules: Sequence[str]


def is_output(document: Mapping[str, Any]) -> bool:
    """Whether a document is what `terraform output -json` prints: every value states whether it is sensitive."""
    return all(isinstance(item, dict) and {"sensitive", "value"} <= set(item) for item in document.values())


def is_state(document: Mapping[str, Any]) -> bool:
    """Whether a document is a state file, or what `terraform show -json` prints of one."""
    return "terraform_version" in document or ("format_version" in document and "values" in document)


def read_output(document: Mapping[str, Any], _report: ReportLine) -> list[CloudMachine]:
    """Return the machines of what `terraform output -json` prints.

    Raises:
        AssayError: No output has machines, or one that seems to have some is sensitive.
    """
    hidden = [name for name, item in document.items() if item["sensitive"] and may_have_machines(name)]
    if hidden:
        message = f"output {hidden[0]} is sensitive, so that its addresses are not read"
        raise AssayError(message, "take `sensitive` from it, or write the hosts into an inventory of your own")
    outputs = outputs_of(document)
    machines = machines_of_outputs(outputs)
    if not machines:
        names = ", ".join(list(document)[:12])
        raise AssayError(f"no output has addresses of machines: {names}" if names else "has no outputs", OUTPUT_HINT)
    return machines


def output_of(value: object) -> dict[str, Any]:
    """Return outputs with one of a value, as `terraform output -json NAME` prints it."""
    return {"hosts": {"sensitive": False, "value": value}}


def is_value(document: Mapping[str, Any]) -> bool:
    """Whether a document is the value of one output: a map of names to addresses, or to objects with addresses."""
    return bool(document) and all(
        is_ip(item) if isinstance(item, str) else isinstance(item, dict) and machine_of_object(item, "") is not None
        for item in document.values()
    )


def read_value(document: Mapping[str, Any], report: ReportLine) -> list[CloudMachine]:
    """Return the machines of the value of one output; see `read_output`."""
    return read_output(output_of(document), report)


def outputs_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that are not sensitive: name -> value."""
    return {
        name: item["value"]
        for name, item in document.items()
        if isinstance(item, dict) and "value" in item and not item.get("sensitive")
    }


def state_outputs(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a state that are not sensitive."""
    listed = document.get("outputs", (document.get("values") or {}).get("outputs"))
    return outputs_of(listed) if isinstance(listed, Mapping) else {}


def read_state(document: Mapping[str, Any], report: ReportLine) -> list[CloudMachine]:
    """Return the machines of a state: its resources that are machines, and those in its outputs.

    Raises:
        AssayError: There are none.
    """
    if document.get("version", 4) != 4:
        raise AssayError(
            f"is a state of version {document['version']}", "use Terraform 0.12 or later: `terraform show -json`"
        )
    resources = list(_state_resources(document) if "resources" in document else _shown_resources(document))
    images = {str(one.values.get("id")): str(one.values.get("name")) for one in resources if one.kind == "aws_ami"}
    managed = [one for one in resources if one.mode == "managed"]
    attached = _attached_addresses(managed)
    machines, stopped = [], []
    for _, kind, name, values, modules in managed:
        if kind not in MACHINE_TYPES:
            continue
        address = next((attached[one] for one in _identifiers(values) if one in attached), None)
        machine = _machine(kind, name, {**values, "public_ip": address} if address else values, images, modules)
        states = {str(values.get(key)).lower() for key in _STATE_KEYS}
        if not states.isdisjoint(_STOPPED) or machine is None:
            stopped.append(name)
        else:
            machines.append(machine)
    outputs = state_outputs(document)
    if stopped:
        report(f"note: not running, or without an address, and left out: {', '.join(stopped[:8])}")
    merged = machines_of_outputs(outputs, machines)
    types = sorted({one.kind for one in managed if one.kind not in MACHINE_TYPES and _OTHER_MACHINES.search(one.kind)})
    if merged and types:
        report(f"note: machines of {', '.join(types)} are not read: an output may name them")
    if not merged:
        hint = f"machines of {', '.join(types)} are not read: " if types else ""
        raise AssayError("the state has no machine with an address", hint + OUTPUT_HINT)
    return merged


def _attached_addresses(managed: Sequence[Resource]) -> dict[str, str]:
    """Return the addresses that resources give to machines: identifier of a machine or its interface -> address."""
    found: dict[str, str] = {}
    for _, kind, _, values, _ in managed:
        for wanted, target, key in _ATTACHED:
            address = values.get(key)
            if kind == wanted and values.get(target) and isinstance(address, str) and address:
                found[str(values[target])] = address
    return found


def _identifiers(values: Mapping[str, Any]) -> list[str]:
    """Return the identifiers of a machine and of its network interfaces."""
    networks = values.get("network")
    ports = [item.get("port") for item in networks if isinstance(item, Mapping)] if isinstance(networks, list) else []
    listed = (values.get("id"), values.get("spot_instance_id"), values.get("primary_network_interface_id"), *ports)
    return [str(item) for item in listed if item]


def _machine(
    kind: str, name: str, values: Mapping[str, Any], images: Mapping[str, str], modules: Sequence[str]
) -> CloudMachine | None:
    machine = machine_of_object(values, name)
    if machine is None:
        return None
    image = images.get(str(values.get("ami")), "").lower()
    guess = next((user for word, user in _IMAGE_USERS if word in image), MACHINE_TYPES[kind])
    group = name.partition("[")[0]
    # What a machine is for may stand in the name of its module only.
    groups = (group,) if has_role_word(group) else (group, *reversed(modules))
    return replace(machine, groups=tuple(dict.fromkeys(groups)), user=machine.user or guess)


def _state_resources(document: Mapping[str, Any]) -> Iterator[Resource]:
    """Yield the resources of a state file."""
    for item in document["resources"]:
        for one in item.get("instances") or ():
            if one.get("deposed"):
                # What a replaced machine was, and is to be destroyed.
                continue
            name = _indexed(item["name"], one.get("index_key"))
            modules = _MODULE.findall(item.get("module", ""))
            yield Resource(item.get("mode", "managed"), item["type"], name, one["attributes"], modules)


def _shown_resources(document: Mapping[str, Any]) -> Iterator[Resource]:
    """Yield the resources of what `terraform show -json` prints, of all modules."""
    waiting = [(document.get("values") or {}).get("root_module") or {}]
    while waiting:
        module = waiting.pop(0)
        waiting += module.get("child_modules") or ()
        modules = _MODULE.findall(module.get("address", ""))
        for item in module.get("resources") or ():
            name = _indexed(item["name"], item.get("index"))
            yield Resource(item.get("mode", "managed"), item["type"], name, item["values"], modules)


def _indexed(name: str, index: object) -> str:
    return name if index is None else f"{name}[{index}]"
