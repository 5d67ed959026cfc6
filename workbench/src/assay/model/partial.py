"""Values of evidence from elsewhere, some of which may be missing: a missing value does not even have its default."""

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    SerializerFunctionWrapHandler,
    ValidatorFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)

from assay.model.frozen import Frozen

MISSING_TEXT = "not reported"
"""Printed in place of a missing value."""
_KEY = "not_reported"


class MissingValue(Exception):  # noqa: N818
    """A value was read that the evidence lacks. Callers that can do without it catch this.

    Attributes:
        name: Name of the field.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"it is not known {what} ({name})")
        self.name = name
        self.what = what


class Partial(Frozen):
    """A model in which some values may be *missing*: reading a missing one raises `MissingValue`.

    So nothing is concluded from a default that was never measured: a rule that reads a missing value gives no answer,
    and a rule that does not read it gives the same answer whatever the value is.

    Attributes:
        may_be_missing: Field that may be missing -> what follows "it is not known" in the message.
    """

    may_be_missing: ClassVar[dict[str, str]]

    @classmethod
    def partial(cls, **values: Any) -> Self:
        """Make an instance from incomplete evidence: a field of `may_be_missing` that is not in `values` is missing.

        Raises:
            pydantic.ValidationError: A value is of the wrong type, or a field outside `may_be_missing` is not given.
        """
        return cls.model_validate({**values, _KEY: [name for name in cls.may_be_missing if name not in values]})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read JSON as `model_validate_json` does, in little more than half the time if no value is missing.

        Raises:
            pydantic.ValidationError: The text is not the JSON of such a model.
        """
        if f'"{_KEY}"' in text:
            return cls.model_validate_json(text)
        result = _complete_class(cls).model_validate_json(text)
        object.__setattr__(result, "__class__", cls)
        return result  # type: ignore[return-value]

    @property
    def missing_names(self) -> tuple[str, ...]:
        """The names of the missing values, in the order of the fields."""
        present = self.__dict__
        if len(present) >= len(type(self).model_fields):
            return ()
        return tuple(name for name in type(self).model_fields if name not in present)

    def has(self, name: str) -> bool:
        """Whether a field has a value; None is one."""
        return name in self.__dict__

    def get_value(self, name: str, default: Any = None) -> Any:
        """Return the value of a field, or `default` if it is missing."""
        return self.__dict__.get(name, default)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise `MissingValue` for a missing value; Python calls this only for attributes that are not set."""
            if name in type(self).may_be_missing:
                raise MissingValue(name, type(self).may_be_missing[name])
            return super().__getattr__(name)

    @model_validator(mode="wrap")
    @classmethod
    def _accept_missing(cls, data: Any, handler: ValidatorFunctionWrapHandler) -> Self:
        names = data.get(_KEY) if isinstance(data, dict) else None
        if names is None:
            found: Self = handler(data)
            return found
        missing = [name for name in cls.may_be_missing if name in names]
        known = {name: value for name, value in data.items() if name != _KEY and name not in missing}
        for name in missing:
            if cls.model_fields[name].is_required():
                known[name] = 0
        found = handler(known)
        for name in missing:
            del found.__dict__[name]
        return found

    @model_serializer(mode="wrap")
    def _mark_missing(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        return {**values, _KEY: list(self.missing_names)} if self.missing_names else values


@cache
def _complete_class(kind: type[Partial]) -> type[Frozen]:
    """Return a class with the same fields without the wrap validator, which would turn all JSON into Python objects."""
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in kind.model_fields.items()}
    return create_model(kind.__name__, __base__=Frozen, **fields)
