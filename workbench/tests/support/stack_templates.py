"""Templates of stacks, each built once, and what a stack makes of their functions."""

import functools
import re
from typing import Any

from assay.rooms.deploy.commands.template import plan_of
from assay.rooms.deploy.work.templates.build import build_template
from assay.rooms.deploy.work.templates.nfs_2016 import nfs_2016_template
from assay.rooms.deploy.work.templates.plan import HostOptions

PAPER = "nfs-aws-2016"
WRITTEN: dict[str, tuple[list[str], HostOptions]] = {
    "nfs-gp3": ([], HostOptions()),
    "nfs-instance-store": ([], HostOptions(clients=4, login="m6g.large", client_instance="c7gn.xlarge")),
    "beegfs-volumes": ([], HostOptions(clients=8, login="m6a.large")),
    "beegfs": ([], HostOptions(attaches=True)),
    "orangefs": (["nodes=2"], HostOptions()),
    "glusterfs-volumes": (["copies=2", "servers=2"], HostOptions()),
    "ceph-volumes": (["nodes=2"], HostOptions()),
    "efs-one-zone": (["infrequent=50%"], HostOptions()),
    "fsx-lustre-hdd": ([], HostOptions()),
    "fsx-openzfs": (["iops=100000"], HostOptions()),
    "fsx-ontap-2": (["infrequent=50%"], HostOptions()),
    "s3-tiered": ([], HostOptions()),
    "dynamodb-provisioned": ([], HostOptions()),
}
"""Design -> values and options: together they use every part of the generator."""
ARM = ["instance=im4gn.4xlarge"]
NAMES = (*WRITTEN, PAPER)
SAMPLE = {
    "RunName": "scaling",
    "Owner": "ann@example.org",
    "ExpiryTime": "2026-12-31T18:00:00",
    "AWS::StackName": "nfs1",
    "AWS::Region": "eu-west-1",
    "AWS::Partition": "aws",
    "AWS::AccountId": "123456789012",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/nfs1/6f1c2a30-0000-4000-8000-0a1b2c3d4e5f",
}
"""Values of parameters without a default."""


@functools.cache
def template(name: str) -> dict[str, Any]:
    """The template of a design; it is shared, so tests copy what they change."""
    if name == PAPER:
        return nfs_2016_template()
    fixed, options = WRITTEN[name]
    return build_template(plan_of(name, fixed + (ARM if name == "nfs-instance-store" else []), "", options))


def resources(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """The properties of all resources of a type, by logical id."""
    return {name: body["Properties"] for name, body in document["Resources"].items() if body["Type"] == kind}


def launch_data(document: dict[str, Any]) -> dict[str, Any]:
    """The data of all launch templates, by logical id."""
    found = resources(document, "AWS::EC2::LaunchTemplate")
    return {name: body["LaunchTemplateData"] for name, body in found.items()}


class Values:
    """Evaluates functions of a template as CloudFormation does; what resources have is named after them."""

    def __init__(self, document: dict[str, Any], **given: str) -> None:
        defaults = {name: str(body.get("Default", "")) for name, body in document["Parameters"].items()}
        self.document, self.names = document, {**defaults, **SAMPLE, **given}

    def __call__(self, body: Any) -> Any:
        if isinstance(body, list):
            return [found for each in body if (found := self(each)) is not None]
        if not isinstance(body, dict):
            return body
        if len(body) == 1:
            ((name, value),) = body.items()
            if name == "Ref" or name.startswith("Fn::"):
                return getattr(self, f"_{name.removeprefix('Fn::').lower()}")(value)
        return {key: found for key, value in body.items() if (found := self(value)) is not None}

    def _ref(self, name: str) -> str | None:
        return None if name == "AWS::NoValue" else self.names.get(name, f"<{name}>")

    def _getatt(self, value: list[str]) -> str:
        name = ".".join(value)
        return self.names.get(name, f"<{name}>")

    def _sub(self, value: Any) -> str:
        text, own = (value, {}) if isinstance(value, str) else value
        known = {name: self(each) for name, each in own.items()}
        filled = re.sub(r"\$\{([^!}]+)\}", lambda found: str(known.get(found[1]) or self._ref(found[1])), text)
        return filled.replace("${!", "${")

    def _join(self, value: list[Any]) -> str:
        return str(value[0]).join(map(str, self(value[1])))

    def _split(self, value: list[Any]) -> list[str]:
        return str(self(value[1])).split(value[0])

    def _select(self, value: list[Any]) -> Any:
        return self(value[1])[value[0]]

    def _base64(self, value: Any) -> Any:
        return self(value)

    def _getazs(self, value: Any) -> list[str]:
        return [f"{self.names['AWS::Region']}{letter}" for letter in "abc"]

    def _findinmap(self, value: list[Any]) -> Any:
        table, row, column = map(self, value)
        return self.document["Mappings"][table][row][column]

    def _if(self, value: list[Any]) -> Any:
        return self(value[1] if self.holds(self.document["Conditions"][value[0]]) else value[2])

    def holds(self, condition: dict[str, Any]) -> bool:
        """Whether a condition is true."""
        ((name, value),) = condition.items()
        if name == "Condition":
            return self.holds(self.document["Conditions"][value])
        if name == "Fn::Equals":
            return str(self(value[0])) == str(self(value[1]))
        found = [self.holds(each) for each in value]
        return not found[0] if name == "Fn::Not" else (all if name == "Fn::And" else any)(found)

    def resources(self) -> dict[str, Any]:
        """The resources that the stack has, with their values."""
        return {
            name: self({key: value for key, value in body.items() if key != "Condition"})
            for name, body in self.document["Resources"].items()
            if "Condition" not in body or self.holds(self.document["Conditions"][body["Condition"]])
        }
