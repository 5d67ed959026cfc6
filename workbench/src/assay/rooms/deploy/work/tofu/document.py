"""A document of OpenTofu while its parts are added, and as JSON when it is complete."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = dict[str, Any]
REQUIRED = object()
"""Stands for the default of a variable that has none."""
TERRAFORM = ">= 1.6.0"
"""Releases of OpenTofu and Terraform: the first OpenTofu has this number."""


@dataclass
class TofuDocument:
    """The parts of a `main.tf.json`.

    Attributes:
        comment: Lines at the top.
        provider: Name of the provider, its source and releases, and its block.
        resources: Type -> name -> body; data: likewise, of what is only read.
    """

    comment: Sequence[str]
    provider: str
    versions: str
    settings: Values = field(default_factory=dict)
    variables: dict[str, Values] = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    data: dict[str, dict[str, Values]] = field(default_factory=dict)
    resources: dict[str, dict[str, Values]] = field(default_factory=dict)
    outputs: dict[str, Values] = field(default_factory=dict)

    def variable(
        self,
        name: str,
        about: str,
        default: Any = REQUIRED,
        kind: str = "string",
        check: str = "",
        words: str = "",
    ) -> None:
        """Add a variable.

        Args:
            name: Its name.
            about: What it is for.
            default: Value if none is given; None: null.
            kind: Its type.
            check: Expression that holds for the values it may have; empty: all of its type.
            words: What that means, for the error.
        """
        body: Values = {"description": about, "type": kind}
        if default is not REQUIRED:
            body["default"] = default
        if default is not None:
            body["nullable"] = False
        if check:
            body["validation"] = [{"condition": f"${{{check}}}", "error_message": f"{name} must be {words}."}]
        self.variables[name] = body

    def resource(self, kind: str, label: str, /, **body: Any) -> None:
        """Add a resource; `label` is its name in the document."""
        self.resources.setdefault(kind, {})[label] = body

    def output(self, name: str, about: str, value: Any, is_sensitive: bool = False) -> None:
        """Add an output."""
        self.outputs[name] = {"description": about, "value": value, **({"sensitive": True} if is_sensitive else {})}

    def content(self) -> Values:
        """Return the document; empty parts are left out."""
        source = {"source": f"hashicorp/{self.provider}", "version": self.versions}
        parts: Values = {
            "//": list(self.comment),
            "terraform": {"required_version": TERRAFORM, "required_providers": {self.provider: source}},
            "provider": {self.provider: self.settings},
            "variable": self.variables,
            "locals": self.values,
            "data": self.data,
            "resource": self.resources,
            "output": self.outputs,
        }
        return {name: part for name, part in parts.items() if part}


def matches(variable: str, pattern: str) -> str:
    """Return the condition that a variable matches a regular expression, whose backslashes are written once."""
    escaped = pattern.replace("\\", "\\\\")
    return f'can(regex("{escaped}", var.{variable}))'


def tofu_json(content: Mapping[str, Any]) -> str:
    """Return a document as the text of `main.tf.json`."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
