"""What a template makes with certain values of its parameters: its conditions, mappings and references evaluated."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

NO_VALUE = "AWS::NoValue"
_IN_SUB = re.compile(r"\$\{(!?)([\w.:-]+)\}")


class Unknown:
    """A value that exists only after creation, such as the address of an instance."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Resolver:
    """A template with values for its parameters.

    Attributes:
        template: The template, with functions in their long form.
        values: Value of each parameter.
        pseudo: Value of pseudo parameters, such as AWS::Region.
    """

    template: Mapping[str, Any]
    values: Mapping[str, str]
    pseudo: Mapping[str, str]

    def resources(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return type and properties of each resource whose condition is true."""
        made = {}
        for name, written in self.template["Resources"].items():
            condition = written.get("Condition")
            if condition is None or self.condition(condition):
                properties = self.value(written.get("Properties") or {})
                made[name] = (str(written["Type"]), properties if isinstance(properties, dict) else {})
        return made

    def condition(self, name: str) -> bool:
        """Return whether a condition is true; one that is missing or circular counts as false."""
        if name not in self._conditions:
            self._conditions[name] = False
            self._conditions[name] = bool(self.value(self.template.get("Conditions", {}).get(name)))
        return self._conditions[name]

    @cached_property
    def _conditions(self) -> dict[str, bool]:
        return {}

    def value(self, node: Any) -> Any:
        """Return a value with its functions evaluated; None for AWS::NoValue, `UNKNOWN` where only AWS knows it."""
        if isinstance(node, dict) and len(node) == 1:
            ((key, argument),) = node.items()
            if key == "Ref" or (key == "Condition" and isinstance(argument, str)) or str(key).startswith("Fn::"):
                return self._call(str(key), argument)
        if isinstance(node, dict):
            found = {key: self.value(each) for key, each in node.items()}
            return {key: each for key, each in found.items() if each is not None}
        if isinstance(node, list):
            return [each for each in map(self.value, node) if each is not None]
        return node

    def _call(self, name: str, argument: Any) -> Any:
        try:
            return self._function(name, argument)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # A function with wrong arguments: CloudFormation refuses the template and says so.
            return UNKNOWN

    def _function(self, name: str, argument: Any) -> Any:
        if name == "Ref":
            return self._reference(str(argument))
        if name == "Condition":
            return self.condition(str(argument))
        if name == "Fn::If":
            condition, then, otherwise = argument
            return self.value(then if self.condition(str(condition)) else otherwise)
        if name == "Fn::Sub":
            return self._substitute(argument)
        arguments = self.value(argument)
        if name == "Fn::Not":
            return not arguments[0]
        if name in ("Fn::And", "Fn::Or"):
            return all(arguments) if name == "Fn::And" else any(arguments)
        if name == "Fn::Equals":
            return len(arguments) == 2 and _text(arguments[0]) == _text(arguments[1])
        if name == "Fn::FindInMap":
            return self._mapped(arguments)
        return self._on_text(name, arguments)

    def _on_text(self, name: str, arguments: Any) -> Any:
        if _has_unknown(arguments):
            return UNKNOWN
        if name == "Fn::Join":
            return str(arguments[0]).join(map(_text, arguments[1]))
        if name == "Fn::Split":
            return str(arguments[1]).split(str(arguments[0]))
        if name == "Fn::Select":
            return arguments[1][int(arguments[0])] if int(arguments[0]) < len(arguments[1]) else UNKNOWN
        return UNKNOWN

    def _reference(self, name: str) -> Any:
        if name == NO_VALUE:
            return None
        if name in self.values:
            kind = str(self.template["Parameters"][name].get("Type", ""))
            is_list = kind == "CommaDelimitedList" or kind.startswith("List<")
            return self.values[name].split(",") if is_list else self.values[name]
        return self.pseudo.get(name, Reference(name) if name in self.template["Resources"] else UNKNOWN)

    def _mapped(self, keys: list[Any]) -> Any:
        found: Any = self.template.get("Mappings", {})
        for key in keys[:3]:
            found = found.get(_text(key), UNKNOWN) if isinstance(found, dict) else UNKNOWN
        return found

    def _substitute(self, argument: Any) -> Any:
        text, own = (argument[0], self.value(argument[1])) if isinstance(argument, list) else (argument, {})

        def replacement(found: re.Match[str]) -> str:
            if found[1]:
                return f"${{{found[2]}}}"
            value = own.get(found[2]) if found[2] in own else self._reference(found[2])
            return found[0] if isinstance(value, Unknown | Reference) or value is None else _text(value)

        return _IN_SUB.sub(replacement, str(text))


class Reference(str):
    """The id of another resource of the template, which only AWS knows; the text is its name in the template."""

    __slots__ = ()


def _has_unknown(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_unknown, value))
    return isinstance(value, Unknown | Reference)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
