"""Whether policies of IAM allow a request: as much of the evaluation as the policies of the guide need.

Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Context = Mapping[str, str | list[str]]
"""Condition key -> its value, or values, in a request."""


def allows(statements: Iterable[Mapping[str, Any]], action: str, resource: str, context: Context) -> bool:
    """Whether one statement allows the request, and none denies it."""
    return {each["Effect"] for each in statements if _applies(each, action, resource, context)} == {"Allow"}


def _applies(statement: Mapping[str, Any], action: str, resource: str, context: Context) -> bool:
    unknown = statement.keys() - {"Sid", "Effect", "Action", "Resource", "Condition"}
    assert not unknown, f"elements that are not evaluated: {unknown}"
    return (
        any(_is_like(action.lower(), each.lower()) for each in _listed(statement["Action"]))
        and any(_is_like(resource, _filled(each, context)) for each in _listed(statement["Resource"]))
        and all(
            _holds(operator, key, _listed(wanted), context)
            for operator, tests in statement.get("Condition", {}).items()
            for key, wanted in tests.items()
        )
    )


def _holds(operator: str, key: str, wanted: list[str], context: Context) -> bool:
    quantifier, _, name = operator.rpartition(":")
    if name == "Null":
        return (key not in context) is (wanted == ["true"])
    test = OPERATORS[name]
    found = [any(test(value, _filled(each, context)) for each in wanted) for value in _listed(context.get(key, []))]
    # Without the key, only ForAllValues holds.
    return all(found) if quantifier == "ForAllValues" else any(found)


def _arn_is_like(value: str, pattern: str) -> bool:
    """Each of the six parts by itself, so that `*` for the account cannot be part of a name."""
    parts = value.split(":", 5), pattern.split(":", 5)
    return len(parts[0]) == len(parts[1]) and all(map(_is_like, *parts))


def _is_like(value: str, pattern: str) -> bool:
    return fnmatchcase(value, pattern.replace("[", "[[]"))


OPERATORS: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": str.__eq__,
    "StringLike": _is_like,
    "ArnEquals": _arn_is_like,
    "ArnLike": _arn_is_like,
}
"""Operator of a condition -> whether a value of the request satisfies one of the policy."""


def _filled(text: str, context: Context) -> str:
    """The text with its variables; one without a value matches nothing."""
    return re.sub(r"\$\{([^}]+)\}", lambda found: str(context.get(found[1], "\0")), text)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
