"""CloudFormation templates as mappings, and the values of their parameters. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from assay.model.base import AssayError
from assay.model.units import choices_hint, display_value

MAX_BODY_BYTES, MAX_BYTES = 51_200, 1 << 20
"""Largest template that CreateStack takes in a request, and from a bucket (CloudFormation API, CreateStack)."""
NAMED_IAM = ("RoleName", "InstanceProfileName", "ManagedPolicyName", "GroupName", "UserName")
"""Properties that give something of IAM a name, which needs CAPABILITY_NAMED_IAM."""


class _Loader(yaml.SafeLoader):
    """Reads the short forms of CloudFormation's functions, `!Ref x`, as their long ones."""


def _function(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _function)
# A date such as that of AWSTemplateFormatVersion stays text.
_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for letter, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse_template(text: str, name: str) -> dict[str, Any]:
    """Return a template, of YAML or JSON, with functions in their long form.

    Args:
        text: Its text.
        name: Name of its file, for messages.

    Raises:
        AssayError: It is no YAML, or no template.
    """
    try:
        template = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise AssayError(f"{name}:{line}: not valid YAML: {error.problem}", "check the indentation there") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise AssayError(f"{name}: not valid YAML", "check it with cfn-lint") from error
    if not isinstance(template, dict) or not isinstance(template.get("Resources"), dict):
        raise AssayError(f"{name}: has no mapping `Resources`", "give a CloudFormation template")
    for key in ("Parameters", "Conditions", "Mappings", "Outputs"):
        if not isinstance(template.get(key, {}), dict):
            raise AssayError(f"{name}: {key}: is not a mapping", "check it with cfn-lint")
    faulty = [name for name, each in template["Resources"].items() if not isinstance(each, dict) or "Type" not in each]
    if faulty:
        raise AssayError(f"{name}: resource {faulty[0]} has no Type", "check it with cfn-lint")
    return template


@dataclass(frozen=True)
class TemplateBody:
    """A template and the text that is sent.

    Attributes:
        template: As a mapping.
        text: As text of at most `MAX_BYTES`; above `MAX_BODY_BYTES` it has to be sent by way of a bucket.
    """

    template: Mapping[str, Any]
    text: str

    @property
    def needs_bucket(self) -> bool:
        """Whether it is too long for a request."""
        return len(self.text.encode()) > MAX_BODY_BYTES


def body_of(template: Mapping[str, Any], text: str, name: str) -> TemplateBody:
    """Return a template with the text to send: its own, or compact JSON where that is too long.

    Raises:
        AssayError: It is too long even so.
    """
    if len(text.encode()) > MAX_BODY_BYTES:
        text = json.dumps(template, separators=(",", ":"), ensure_ascii=False)
    size = len(text.encode())
    if size > MAX_BYTES:
        raise AssayError(
            f"{name}: {size:,} bytes, more than the {MAX_BYTES:,} that CloudFormation takes", "make it smaller"
        )
    return TemplateBody(template, text)


def capabilities(template: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the capabilities that creation must name, because the template makes roles."""
    iam = [each for each in template["Resources"].values() if str(each["Type"]).startswith("AWS::IAM::")]
    if not iam:
        return ()
    is_named = any(name in (each.get("Properties") or {}) for each in iam for name in NAMED_IAM)
    return ("CAPABILITY_NAMED_IAM",) if is_named else ("CAPABILITY_IAM",)


def parse_pairs(written: Sequence[str]) -> dict[str, str]:
    """Return `--parameter KEY=VALUE` options as a mapping.

    Raises:
        AssayError: One has no `=`, or is given twice.
    """
    pairs: dict[str, str] = {}
    for text in written:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise AssayError(f"--parameter: {display_value(key)} is not KEY=VALUE", "such as ClientCount=4")
        if key.strip() in pairs:
            raise AssayError(f"--parameter: {key.strip()} is given twice", "give it once")
        pairs[key.strip()] = value
    return pairs


def parameter_values(
    template: Mapping[str, Any], written: Mapping[str, str], automatic: Mapping[str, str]
) -> dict[str, str]:
    """Return the value of each parameter that differs from its default, checked as CloudFormation checks it.

    Args:
        template: The template.
        written: What the user gives.
        automatic: What Assay gives to a parameter of this name, if the template has it and the user gives nothing.

    Raises:
        AssayError: A parameter is unknown or has no value, or a value does not satisfy the template's constraints.
    """
    declared = template.get("Parameters", {})
    for key in written:
        if key not in declared:
            raise AssayError(f"--parameter {key}: the template has no such parameter", choices_hint(key, declared))
    values = {key: value for key, value in automatic.items() if key in declared} | dict(written)
    for key, rule in declared.items():
        if key in values:
            _check(key, values[key], rule)
        elif "Default" not in rule:
            raise AssayError(f"parameter {key} has no value and no default", f"add --parameter {key}=VALUE")
    return values


def all_values(template: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each parameter, defaults included."""
    declared = template.get("Parameters", {})
    return {key: values.get(key, _as_text(rule.get("Default", ""))) for key, rule in declared.items()}


def secret_parameters(template: Mapping[str, Any]) -> frozenset[str]:
    """Return the parameters whose values must never be shown or stored (NoEcho)."""
    return frozenset(
        key for key, rule in template.get("Parameters", {}).items() if _as_text(rule.get("NoEcho", "")) == "true"
    )


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check(key: str, value: str, rule: Mapping[str, Any]) -> None:
    shown = "the value" if _as_text(rule.get("NoEcho", "")) == "true" else display_value(value)
    constraint = str(rule.get("ConstraintDescription", ""))
    allowed = [_as_text(each) for each in rule.get("AllowedValues", [])]
    if allowed and value not in allowed:
        raise AssayError(f"parameter {key}: {shown} is not allowed", constraint or choices_hint(value, allowed))
    pattern = rule.get("AllowedPattern")
    if pattern is not None and not _matches(str(pattern), value):
        hint = constraint or f"it must match {pattern}"
        raise AssayError(f"parameter {key}: {shown} is not of the form it needs", hint)
    if rule.get("Type") == "Number":
        _check_number(key, value, rule, constraint)
    length, least, most = len(value), rule.get("MinLength"), rule.get("MaxLength")
    if (least is not None and length < int(least)) or (most is not None and length > int(most)):
        raise AssayError(f"parameter {key}: {shown} has {length} characters", constraint or f"{least} to {most} fit")


def _check_number(key: str, value: str, rule: Mapping[str, Any], constraint: str) -> None:
    try:
        number = float(value)
    except ValueError:
        raise AssayError(f"parameter {key}: {display_value(value)} is not a number", constraint) from None
    least, most = rule.get("MinValue"), rule.get("MaxValue")
    if (least is not None and number < float(least)) or (most is not None and number > float(most)):
        range_text = " and ".join(
            text
            for text in (
                f"at least {least}" if least is not None else "",
                f"at most {most}" if most is not None else "",
            )
            if text
        )
        raise AssayError(f"parameter {key}: {value} is out of range", constraint or range_text)


def _matches(pattern: str, value: str) -> bool:
    """Whether a value matches a pattern of Java's regular expressions; those that Python lacks are left to AWS."""
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return True
