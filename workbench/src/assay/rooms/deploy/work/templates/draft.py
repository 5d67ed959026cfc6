"""A template while its parts are added, and its sections in the usual order when it is complete."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.rooms.deploy.work.templates.functions import STACK_NAME, ref

STATEFUL = frozenset(
    {
        "AWS::DynamoDB::Table",
        "AWS::EFS::FileSystem",
        "AWS::FSx::FileSystem",
        "AWS::FSx::StorageVirtualMachine",
        "AWS::FSx::Volume",
        "AWS::S3::Bucket",
    }
)
"""Types of resources that hold data: their deletion policy is stated."""


@dataclass
class Draft:
    """The sections of a template.

    Attributes:
        groups: Label of each group of parameters, and its parameters in order.
        labels: Short name of each parameter, which the console prints beside its field.
    """

    description: str
    parameters: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    mappings: dict[str, Any] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, dict[str, Any]] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)

    def parameter(self, group: str, name: str, label: str, about: str, **properties: Any) -> None:
        """Add a parameter; its type is String unless `Type` is among its properties."""
        self.groups.setdefault(group, []).append(name)
        self.labels[name] = label
        self.parameters[name] = {"Type": "String", "Description": about, **properties}

    def resource(
        self,
        name: str,
        kind: str,
        properties: Mapping[str, Any],
        condition: str | None = None,
        after: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        """Add a resource; `after` are resources that it does not refer to and that are made before it."""
        body: dict[str, Any] = {"Type": kind}
        if condition:
            body["Condition"] = condition
        if after:
            body["DependsOn"] = after[0] if len(after) == 1 else list(after)
        if kind in STATEFUL:
            body |= {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}
        body |= attributes
        if properties:
            body["Properties"] = dict(properties)
        self.resources[name] = body

    def output(self, name: str, about: str, value: Any, condition: str | None = None) -> None:
        """Add an output."""
        body = {"Description": about, "Value": value}
        self.outputs[name] = {"Condition": condition, **body} if condition else body

    def document(self) -> dict[str, Any]:
        """Return the template, its sections in the usual order; empty ones are left out."""
        interface = {
            "ParameterGroups": [
                {"Label": {"default": label}, "Parameters": names} for label, names in self.groups.items()
            ],
            "ParameterLabels": {name: {"default": label} for name, label in self.labels.items()},
        }
        names = [name for names in self.groups.values() for name in names]
        sections = {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Description": self.description,
            "Metadata": {"AWS::CloudFormation::Interface": interface},
            "Parameters": {name: self.parameters[name] for name in names},
            "Rules": self.rules,
            "Mappings": self.mappings,
            "Conditions": self.conditions,
            "Resources": self.resources,
            "Outputs": self.outputs,
        }
        return {name: section for name, section in sections.items() if section}


def lasting_tags(name: str | None = None, **more: Any) -> list[dict[str, Any]]:
    """Return the tags of what a later `ExpiryTime` must leave as it is: all but `assay:expires`.

    A launch template with other tags has a new version, and a new version or placement group replaces the hosts, with
    the data on them.
    """
    return [tag for tag in tags(name, **more) if tag["Key"] != "assay:expires"]


def tags(name: str | None = None, **more: Any) -> list[dict[str, Any]]:
    """Return the tags of a resource: of which stack and run it is, of which owner, until when, and its `Name`.

    Args:
        name: Appended to the name of the stack; None: no tag `Name`.
        more: Further tags `assay:KEY`.
    """
    found = {
        **({"Name": {"Fn::Sub": f"${{AWS::StackName}}-{name}"}} if name else {}),
        "assay:stack": STACK_NAME,
        "assay:run": ref("RunName"),
        "assay:owner": ref("Owner"),
        "assay:expires": ref("ExpiryTime"),
        **{f"assay:{key}": value for key, value in more.items()},
    }
    return [{"Key": key, "Value": value} for key, value in found.items()]
