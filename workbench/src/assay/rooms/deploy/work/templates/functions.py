"""Intrinsic functions of CloudFormation as plain dicts."""

from collections.abc import Iterator, Mapping
from typing import Any

NO_VALUE = {"Ref": "AWS::NoValue"}
"""Leaves a property out."""
STACK_NAME = {"Ref": "AWS::StackName"}


def ref(name: str) -> dict[str, Any]:
    """Return a reference to a parameter or resource."""
    return {"Ref": name}


def attribute(resource: str, name: str) -> dict[str, Any]:
    """Return an attribute of a resource."""
    return {"Fn::GetAtt": [resource, name]}


def sub(text: str, **values: Any) -> dict[str, Any]:
    """Return a text in which `${Name}` and `${Resource.Attribute}` stand for values, or for one of `values`."""
    used = {name: value for name, value in values.items() if f"${{{name}}}" in text}
    return {"Fn::Sub": [text, used] if used else text}


def join(separator: str, parts: list[Any]) -> dict[str, Any]:
    """Return the parts as one text."""
    return {"Fn::Join": [separator, parts]}


def either(condition: str, yes: Any, no: Any = NO_VALUE) -> dict[str, Any]:
    """Return one of two values, by a condition; without the second the property is left out."""
    return {"Fn::If": [condition, yes, no]}


def equals(left: Any, right: Any) -> dict[str, Any]:
    """Return the condition that both are the same text."""
    return {"Fn::Equals": [left, right]}


def differs(left: Any, right: Any) -> dict[str, Any]:
    """Return the condition that both are not the same text."""
    return {"Fn::Not": [equals(left, right)]}


def references(body: Any) -> Iterator[tuple[str, str | None]]:
    """Yield each name that a part of a template refers to, and the condition under which it does.

    The condition is that of the innermost `Fn::If`, with `!` in front for its second value; None: always.
    """
    yield from _references(body, None)


def _references(body: Any, condition: str | None) -> Iterator[tuple[str, str | None]]:
    if isinstance(body, list):
        for each in body:
            yield from _references(each, condition)
    elif isinstance(body, Mapping):
        for key, value in body.items():
            if key == "Ref":
                yield value, condition
            elif key == "Fn::GetAtt":
                yield value[0], condition
            elif key == "Fn::Sub":
                text, own = (value, {}) if isinstance(value, str) else value
                yield from ((name, condition) for name in substituted_names(text) if name not in own)
                yield from _references(own, condition)
            elif key == "Fn::If":
                yield from _references(value[1], value[0])
                yield from _references(value[2], f"!{value[0]}")
            else:
                yield from _references(value, condition)


def substituted_names(text: str) -> Iterator[str]:
    """Yield the names of parameters and resources in a text of `Fn::Sub`."""
    for part in text.split("${")[1:]:
        name = part.split("}", 1)[0]
        if not name.startswith("!"):
            yield name.split(".")[0]
