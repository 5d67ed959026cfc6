"""Stores what models have in common once, so that many runs can be held in memory at the same time."""

from typing import Any

from pydantic import BaseModel


class SharedValues:
    """Names of fields, texts and numbers that all models shared so far have in common."""

    def __init__(self) -> None:
        """Start without any."""
        self._field_sets: dict[frozenset[str], set[str]] = {}
        self._values: dict[type, dict[Any, Any]] = {str: {}, int: {}, float: {}}

    def share(self, model: BaseModel) -> None:
        """Replace equal texts, numbers and sets of field names in a model and all models within it by one object each.

        Pydantic keeps a set of the fields that were set with every model, which takes as much memory as its values;
        models that were read from JSON have all their values on their own.
        """
        stack: list[Any] = [model]
        while stack:
            value = stack.pop()
            if isinstance(value, BaseModel):
                names = value.__pydantic_fields_set__
                object.__setattr__(
                    value, "__pydantic_fields_set__", self._field_sets.setdefault(frozenset(names), names)
                )
                self._share_in(value.__dict__, stack)
            elif isinstance(value, dict):
                self._share_in(value, stack)
            elif value and not isinstance(value[0], float | int):
                stack += [one for one in value if isinstance(one, BaseModel | tuple | list | dict)]

    def _share_in(self, values: dict[Any, Any], stack: list[Any]) -> None:
        for key, value in values.items():
            kind = type(value)
            # Zeros may have a sign, and Python has small integers once anyway.
            if kind in self._values and value:
                # The key stays, so that the dictionary does not change while it is read.
                values[key] = self._values[kind].setdefault(value, value)
            elif kind in (tuple, list, dict) or isinstance(value, BaseModel):
                stack.append(value)
