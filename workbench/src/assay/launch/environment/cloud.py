"""What a cloud reports about its instance; queried only if the firmware names the cloud, and never for secrets.

Sources: the instance metadata documentation of Amazon EC2 (IMDSv2), Google Compute Engine and Microsoft Azure.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.launch.environment.machine import DMI
from assay.launch.environment.reading import Files, Section

if TYPE_CHECKING:
    from http.client import HTTPConnection

SERVICE = "http://169.254.169.254"
SECONDS = 0.5
"""Longest wait for one answer; after the first timeout nothing more is queried."""
MAX_BYTES = 65536
AZURE_TAG = "7783-7084-3265-9085-8269-3286-77"
"""Chassis tag of Azure's machines; other machines of this vendor run Hyper-V elsewhere."""


def describe_cloud(files: Files, service: str = SERVICE) -> Section:
    """Return provider, instance type and zone; on Amazon EC2 also the image and the placement group.

    Args:
        files: The files of /sys, which show what the firmware reports.
        service: Base address of the metadata service.
    """
    provider = find_provider(files)
    if not provider:
        return {"provider": "none: the firmware names no cloud provider"}
    read_facts = {"Amazon EC2": _amazon, "Google": _google, "Microsoft Azure": _azure}[provider]
    from http.client import HTTPConnection, HTTPException

    # Not urllib: it would follow redirections and use the user's proxy.
    address = urlsplit(service)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=SECONDS)
    try:
        facts = read_facts(connection)
    except (OSError, HTTPException, ValueError, LookupError) as error:
        facts = {"instance_type": f"unknown: the metadata service: {error or type(error).__name__}"}
    finally:
        connection.close()
    return {"provider": provider, **{name: _clean(value) for name, value in facts.items()}}


def find_provider(files: Files) -> str:
    """Return the cloud that the firmware names; empty if it names none."""
    firmware = {name: files.read(f"{DMI}/{name}") for name in ("sys_vendor", "bios_version", "chassis_asset_tag")}
    # Instances on Xen name Xen as their vendor, and Amazon only in the version of the firmware.
    if firmware["sys_vendor"] == "Amazon EC2" or "amazon" in firmware["bios_version"].lower():
        return "Amazon EC2"
    if firmware["sys_vendor"] == "Google":
        return "Google"
    if firmware["sys_vendor"] == "Microsoft Corporation" and firmware["chassis_asset_tag"] == AZURE_TAG:
        return "Microsoft Azure"
    return ""


def _query(connection: "HTTPConnection", path: str, headers: Mapping[str, str], method: str = "GET") -> str:
    connection.request(method, path, headers=dict(headers))
    answer = connection.getresponse()
    text = answer.read(MAX_BYTES).decode()
    if answer.status != 200:
        raise LookupError(f"{path}: status {answer.status}")
    return text


def _amazon(connection: "HTTPConnection") -> Section:
    token = _query(connection, "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
    headers = {"X-aws-ec2-metadata-token": token}
    found = {
        name: _query(connection, f"/latest/meta-data/{path}", headers)
        for name, path in (
            ("instance_type", "instance-type"),
            ("zone", "placement/availability-zone"),
            ("image", "ami-id"),
        )
    }
    group = "/latest/meta-data/placement/group-name"
    try:
        return {**found, "placement_group": _query(connection, group, headers)}
    except LookupError:
        return {**found, "placement_group": "none"}


def _google(connection: "HTTPConnection") -> Section:
    """Return the last part of answers such as `projects/123/machineTypes/n2-standard-8`."""
    headers = {"Metadata-Flavor": "Google"}
    found = {}
    for name, path in (("instance_type", "machine-type"), ("zone", "zone")):
        found[name] = _query(connection, f"/computeMetadata/v1/instance/{path}", headers).rpartition("/")[2]
    return found


def _azure(connection: "HTTPConnection") -> Section:
    path = "/metadata/instance/compute?api-version=2021-02-01"
    instance = json.loads(_query(connection, path, {"Metadata": "true"}))
    if not isinstance(instance, dict):
        raise ValueError(f"{path}: not a JSON object")
    return {"instance_type": instance["vmSize"], "zone": f"{instance['location']} {instance.get('zone', '')}"}


def _clean(value: object) -> str:
    """Return a value as one line of printable text."""
    printable = "".join(sign if sign.isprintable() else " " for sign in str(value)[:200])
    return " ".join(printable.split()) or "unknown: empty"
