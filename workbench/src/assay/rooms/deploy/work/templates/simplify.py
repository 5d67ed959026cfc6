"""A template in which a condition has been decided: what does not apply is left out."""

from typing import Any

from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.functions import NO_VALUE


def decide(draft: Draft, condition: str, holds: bool) -> None:
    """Decide a condition of a template, and take out what only applies otherwise."""
    draft.conditions.pop(condition, None)
    draft.resources = {
        name: _chosen(_without_condition(body, condition), condition, holds)
        for name, body in draft.resources.items()
        if holds or body.get("Condition") != condition
    }
    draft.outputs = {name: _chosen(body, condition, holds) for name, body in draft.outputs.items()}


def _without_condition(body: dict[str, Any], condition: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "Condition" or value != condition}


def _chosen(body: Any, condition: str, holds: bool) -> Any:
    if isinstance(body, list):
        found = [_chosen(each, condition, holds) for each in body]
        return [each for each in found if each != NO_VALUE]
    if not isinstance(body, dict):
        return body
    if body.keys() == {"Fn::If"}:
        name, yes, no = body["Fn::If"]
        if name == condition:
            return _chosen(yes if holds else no, condition, holds)
        # Both values stay in place, also one that leaves the property out.
        return {"Fn::If": [name, _chosen(yes, condition, holds), _chosen(no, condition, holds)]}
    chosen = {key: _chosen(value, condition, holds) for key, value in body.items()}
    return {key: value for key, value in chosen.items() if value != NO_VALUE and (value != {} or body[key] == {})}
