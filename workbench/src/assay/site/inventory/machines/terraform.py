"""Machines in what Terraform and OpenTofu print and store: `output -json`, `show -json`, and a state file.

Sources: developer.hashicorp.com/terraform, "terraform output", "JSON Output Format"; state format version 4.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay.model.base import AssayError
from assay.site.inventory.foreign import ReportLine
from assay.site.inventory.machines.machine import CloudMachine, is_ip
from assay.site.inventory.machines.outputs import machine_of_object, machines_of_outputs, may_have_machines

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
_STOPPED = ("stopped", "stopping", "terminated", "shutting-down", "TERMINATED", "STOPPED", "SUSPENDED", "SHUTOFF")


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
    images = {
        str(values.get("id")): str(values.get("name")) for mode, kind, _, values in resources if kind == "aws_ami"
    }
    machines, stopped = [], []
    for mode, kind, name, values in resources:
        if mode != "managed" or kind not in MACHINE_TYPES:
            continue
        machine = _machine(kind, name, values, images)
        state = values.get("instance_state", values.get("current_status", values.get("power_state")))
        if state in _STOPPED or machine is None:
            stopped.append(name)
        else:
            machines.append(machine)
    outputs = state_outputs(document)
    if stopped:
        report(f"note: not running, or without an address, and left out: {', '.join(stopped[:8])}")
    merged = machines_of_outputs(outputs, machines)
    if not merged:
        types = sorted({kind for mode, kind, _, _ in resources if mode == "managed" and kind.endswith("_group")})
        hint = f"machines of {', '.join(types)} are not in the state: " if types else ""
        raise AssayError("the state has no machine with an address", hint + OUTPUT_HINT)
    return merged


def _machine(kind: str, name: str, values: Mapping[str, Any], images: Mapping[str, str]) -> CloudMachine | None:
    machine = machine_of_object(values, name)
    if machine is None:
        return None
    image = images.get(str(values.get("ami")), "").lower()
    guess = next((user for word, user in _IMAGE_USERS if word in image), MACHINE_TYPES[kind])
    return replace(machine, groups=(name.partition("[")[0],), user=machine.user or guess)


Resource = tuple[str, str, str, Mapping[str, Any]]
"""Mode (managed or data), type, name with index, attributes."""


def _state_resources(document: Mapping[str, Any]) -> Iterator[Resource]:
    """Yield the resources of a state file."""
    for item in document["resources"]:
        for one in item.get("instances") or ():
            yield (
                item.get("mode", "managed"),
                item["type"],
                _indexed(item["name"], one.get("index_key")),
                one["attributes"],
            )


def _shown_resources(document: Mapping[str, Any]) -> Iterator[Resource]:
    """Yield the resources of what `terraform show -json` prints, of all modules."""
    modules = [(document.get("values") or {}).get("root_module") or {}]
    while modules:
        module = modules.pop(0)
        modules += module.get("child_modules") or ()
        for item in module.get("resources") or ():
            yield item.get("mode", "managed"), item["type"], _indexed(item["name"], item.get("index")), item["values"]


def _indexed(name: str, index: object) -> str:
    return name if index is None else f"{name}[{index}]"
