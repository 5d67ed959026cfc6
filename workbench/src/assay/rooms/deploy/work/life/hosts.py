"""The instances of a stack, and what its group of clients lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.model.site.instance import INTERRUPTIONS
from assay.rooms.deploy.model.faults import FaultKind
from assay.rooms.deploy.model.stack import ROLE_TAG, STACK_TAG, Stack, StackHost
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.faults import clean_text, kind_of_text

ROLES = ("management", "metadata", "storage", "login", "client")


@dataclass(frozen=True)
class GroupState:
    """The group of clients of a stack.

    Attributes:
        name: Its name.
        wanted: Clients that it is to have.
        running: Clients that are in service.
        kind: Why the newest launch failed; None if it did not.
        reason: The same in EC2's words; empty if it did not.
    """

    name: str
    wanted: int
    running: int
    kind: FaultKind | None
    reason: str

    @property
    def is_short(self) -> bool:
        """Whether it has fewer clients than it is to have."""
        return self.running < self.wanted


def stack_hosts(cloud: Cloud, stack: Stack, group: GroupState | None = None) -> list[StackHost]:
    """Return the instances of a stack, by role and name; ended ones as long as EC2 remembers them, about an hour.

    Raises:
        CloudError: EC2 cannot be queried.
    """
    filters = [{"Name": f"tag:{STACK_TAG}", "Values": [stack.name]}]
    reservations = cloud.pages("ec2", "describe_instances", "Reservations", Filters=filters)
    if group is not None:
        # Instances that the group launched without the tags of the stack.
        filters = [{"Name": "tag:aws:autoscaling:groupName", "Values": [group.name]}]
        reservations += cloud.pages("ec2", "describe_instances", "Reservations", Filters=filters)
    answers = {each["InstanceId"]: each for found in reservations for each in found["Instances"]}
    # An earlier stack of this name may have had instances that EC2 still remembers; EC2 counts whole seconds.
    begin = stack.created.replace(microsecond=0)
    hosts = [read_host(each) for each in answers.values() if each.get("LaunchTime", begin) >= begin]
    order = {role: place for place, role in enumerate(ROLES)}
    return sorted(hosts, key=lambda host: (order.get(host.role, len(ROLES)), host.name, host.id))


def read_host(answer: Mapping[str, Any]) -> StackHost:
    """Return an instance as DescribeInstances describes it."""
    tags = {each["Key"]: each["Value"] for each in answer.get("Tags", [])}
    code = answer.get("StateReason", {}).get("Code", "")
    reason = answer.get("StateReason", {}).get("Message", "")
    return StackHost(
        id=answer["InstanceId"],
        name=tags.get("Name", ""),
        role=tags.get(ROLE_TAG, ""),
        state=answer.get("State", {}).get("Name", ""),
        address=answer.get("PrivateIpAddress", ""),
        public_address=answer.get("PublicIpAddress", ""),
        type=answer.get("InstanceType", ""),
        zone=answer.get("Placement", {}).get("AvailabilityZone", ""),
        is_spot=answer.get("InstanceLifecycle") == "spot",
        is_interrupted=code in INTERRUPTIONS,
        reason=clean_text(reason),
    )


def client_group(cloud: Cloud, stack: Stack) -> GroupState | None:
    """Return the state of a stack's group of clients; None if it has none.

    Raises:
        CloudError: Auto Scaling cannot be queried.
    """
    name = stack.outputs.get("ClientGroup", "")
    if not name:
        return None
    groups = cloud.call("autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=[name])
    if not groups["AutoScalingGroups"]:
        return None
    group = groups["AutoScalingGroups"][0]
    running = sum(each.get("LifecycleState") == "InService" for each in group.get("Instances", []))
    wanted = int(group["DesiredCapacity"])
    kind, reason = (None, "") if running >= wanted else _launch_failure(cloud, name)
    return GroupState(name, wanted, running, kind, reason)


def _launch_failure(cloud: Cloud, name: str) -> tuple[FaultKind | None, str]:
    answer = cloud.call("autoscaling", "describe_scaling_activities", AutoScalingGroupName=name)
    return launch_failure(answer.get("Activities", []))


def launch_failure(activities: Sequence[Mapping[str, Any]]) -> tuple[FaultKind | None, str]:
    """Return kind and text of the newest failed launch among a group's activities, which come newest first."""
    for activity in activities:
        if activity.get("StatusCode") in ("Failed", "Cancelled"):
            text = activity.get("StatusMessage", "")
            return kind_of_text(text)[0], clean_text(text)
    return None, ""
