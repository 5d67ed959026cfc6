"""Machines of a stack of AWS CloudFormation: the instances that it has made, by their tags, and its outputs.

What is read is the JSON of `aws cloudformation describe-stacks`, of `aws ec2 describe-instances`, or both in one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.instance import InstanceState
from assay.site.inventory.foreign import ReportLine
from assay.site.inventory.machines.machine import CLIENT, LOGIN, SERVER, CloudMachine, refuse_first_page
from assay.site.inventory.machines.outputs import machines_of_outputs

USABLE = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "IMPORT_COMPLETE")
"""States in which a stack has what its template describes."""
INSTANCES_HINT = "add what `aws ec2 describe-instances` prints of them, or name the stack: hosts: {stack: NAME}"
ROLE_TAG, GROUP_TAG, LOGICAL_TAG = "assay:role", "aws:autoscaling:groupName", "aws:cloudformation:logical-id"
_CHANGED = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)")
"""The time in the reason of an instance's last change of state (EC2 API, Instance.StateTransitionReason)."""
_ROLES = {CLIENT: CLIENT, LOGIN: LOGIN}


def is_stack(document: Mapping[str, Any]) -> bool:
    """Whether a document describes a stack, or instances."""
    return isinstance(document.get("Stacks"), list) or isinstance(document.get("Reservations"), list)


def stack_outputs(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of the stack: name -> value."""
    stacks = document.get("Stacks") or []
    return {item["OutputKey"]: item.get("OutputValue", "") for stack in stacks for item in stack.get("Outputs") or ()}


def region_of(document: Mapping[str, Any]) -> str:
    """Return the region of the stack, from its ARN (arn:aws:cloudformation:REGION:...); empty if it has none."""
    stacks = document.get("Stacks") or []
    parts = str(stacks[0].get("StackId", "")).split(":") if stacks else []
    return parts[3] if len(parts) > 3 else ""


def read_stack(document: Mapping[str, Any], report: ReportLine) -> list[CloudMachine]:
    """Return the machines of a stack.

    Raises:
        AssayError: The stack is not complete, there are several, or nothing names a machine.
    """
    stacks = document.get("Stacks") or []
    refuse_first_page(document.get("NextToken"))
    if len(stacks) > 1:
        raise AssayError(
            f"describes {len(stacks)} stacks", "name one: `aws cloudformation describe-stacks --stack-name NAME`"
        )
    for stack in stacks:
        state = str(stack.get("StackStatus", ""))
        if state and state not in USABLE:
            reason = f": {stack['StackStatusReason']}" if stack.get("StackStatusReason") else ""
            message = f"the stack is in the state {state}{reason}"
            hint = "wait until it is complete" if state.endswith("_IN_PROGRESS") else "delete it and create it again"
            raise AssayError(message, hint, EXIT_REFUSED)
    outputs = stack_outputs(document)
    instances, running = _instances(document)
    if len(running) < len(instances):
        left_out = f"{len(instances) - len(running)} of {len(instances)} instances"
        report(f"note: {left_out} not running, or with Windows, left out")
    running.sort(
        key=lambda item: (str(item.get("LaunchTime")), item.get("AmiLaunchIndex", 0), str(item.get("InstanceId")))
    )
    merged = machines_of_outputs(outputs, list(_machines(running)))
    if not merged:
        raise AssayError("nothing there names a machine", INSTANCES_HINT)
    return merged


def host_types(document: Mapping[str, Any]) -> dict[str, int]:
    """Return type and number of the running instances that generate load or are for logins, by the tags of Assay."""
    roles = [(_tags(item).get(ROLE_TAG, ""), str(item.get("InstanceType", ""))) for item in _instances(document)[1]]
    return dict(Counter(kind for role, kind in roles if role in _ROLES and kind))


def network_parts(document: Mapping[str, Any]) -> dict[str, int]:
    """Return what is paid for by the hour of the network of a stack of Assay: its NAT gateway and public addresses.

    A stack whose parameter `VpcId` is empty has a network of its own, with one gateway, which has an address.
    """
    listed = [item for stack in document.get("Stacks") or [] for item in stack.get("Parameters") or ()]
    gateways = int(any(item["ParameterKey"] == "VpcId" and not item.get("ParameterValue") for item in listed))
    addresses = gateways + sum(bool(item.get("PublicIpAddress")) for item in _instances(document)[1])
    return {name: count for name, count in (("nat-gateway", gateways), ("public-ipv4", addresses)) if count}


def instance_states(document: Mapping[str, Any]) -> dict[str, InstanceState]:
    """Return the state of each instance of a stack by its id, also of those that have ended."""
    return {str(item.get("InstanceId")): _state(item) for item in _instances(document)[0]}


def _state(item: Mapping[str, Any]) -> InstanceState:
    code = str((item.get("StateReason") or {}).get("Code", ""))
    changed = _CHANGED.search(str(item.get("StateTransitionReason") or ""))
    ended_at = datetime.fromisoformat(changed[1]).replace(tzinfo=UTC).timestamp() if changed else None
    return InstanceState(
        str((item.get("State") or {}).get("Name", "running")), code, ended_at, GROUP_TAG in _tags(item)
    )


def _instances(document: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return all instances, and those that run a system on which the engine runs, too."""
    instances = [item for one in document.get("Reservations") or () for item in one.get("Instances") or ()]
    running = [item for item in instances if (item.get("State") or {}).get("Name", "running") == "running"]
    return instances, [item for item in running if str(item.get("Platform") or "").lower() != "windows"]


def _tags(item: Mapping[str, Any]) -> dict[str, str]:
    return {str(tag["Key"]): str(tag["Value"]) for tag in item.get("Tags") or ()}


def _machines(instances: list[Mapping[str, Any]]) -> Iterator[CloudMachine]:
    roles: Counter[str] = Counter()
    for item in instances:
        tags = _tags(item)
        role = tags.get(ROLE_TAG, "")
        roles[role] += 1
        group = role or tags.get(LOGICAL_TAG) or tags.get(GROUP_TAG) or "instances"
        name = (
            f"{role}{roles[role]}" if role else tags.get("Name") or tags.get(LOGICAL_TAG) or str(item.get("InstanceId"))
        )
        public = str(item.get("PublicIpAddress") or item.get("PublicDnsName") or "")
        private = str(item.get("PrivateIpAddress") or item.get("PrivateDnsName") or "")
        own_role, instance = _ROLES.get(role, SERVER) if role else "", item.get("InstanceId")
        yield CloudMachine(name, (group,), public, private, role=own_role, instance=instance)
