"""Evidence from elsewhere does not tell everything, and what it does not tell has no value, not even a default."""

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

NOT_TOLD = "not told"
"""Printed in place of what nobody has told."""
_KEY = "not_told"


class NotTold(Exception):  # noqa: N818
    """Something was asked for that nobody has told. Who can do without it catches this.

    Attributes:
        name: Of the field.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"it is not known {what} ({name})")
        self.name = name
        self.what = what


class Telling(Frozen):
    """Values of which some may be *not told*: whoever reads one of those gets `NotTold`.

    So nothing can be concluded from a default that nobody has chosen: a rule that looks at what was not told has no
    answer, and one that does not look at it has the same answer whatever it is.

    Attributes:
        may_be_untold: Field -> what follows "it is not known" if it is missing.
    """

    may_be_untold: ClassVar[dict[str, str]]

    @classmethod
    def told(cls, **values: Any) -> Self:
        """Those of evidence from elsewhere: what may be untold and is not among `values` is not told.

        Raises:
            pydantic.ValidationError: A value is of the wrong type, or one that is always told is missing.
        """
        return cls.model_validate({**values, _KEY: [name for name in cls.may_be_untold if name not in values]})

    @classmethod
    def read(cls, text: str) -> Self:
        """From JSON: as `model_validate_json`, in little more than half of the time if all of it is known.

        Raises:
            pydantic.ValidationError: It is not what was dumped.
        """
        if f'"{_KEY}"' in text:
            return cls.model_validate_json(text)
        found = _all_told(cls).model_validate_json(text)
        object.__setattr__(found, "__class__", cls)
        return found  # type: ignore[return-value]

    @property
    def not_told(self) -> tuple[str, ...]:
        """What nobody has told, in the order of the fields."""
        known = self.__dict__
        if len(known) >= len(type(self).model_fields):
            return ()
        return tuple(name for name in type(self).model_fields if name not in known)

    def tells(self, name: str) -> bool:
        """Whether a field has a value, be it None."""
        return name in self.__dict__

    def known(self, name: str, otherwise: Any = None) -> Any:
        """The value of a field, or something else where nobody has told it."""
        return self.__dict__.get(name, otherwise)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Only what is not there is looked for here."""
            if name in type(self).may_be_untold:
                raise NotTold(name, type(self).may_be_untold[name])
            return super().__getattr__(name)

    @model_validator(mode="wrap")
    @classmethod
    def _without_what_is_not_told(cls, given: Any, handler: ValidatorFunctionWrapHandler) -> Self:
        names = given.get(_KEY) if isinstance(given, dict) else None
        if names is None:
            found: Self = handler(given)
            return found
        untold = [name for name in cls.may_be_untold if name in names]
        known = {name: value for name, value in given.items() if name != _KEY and name not in untold}
        for name in untold:
            if cls.model_fields[name].is_required():
                known[name] = 0
        found = handler(known)
        for name in untold:
            del found.__dict__[name]
        return found

    @model_serializer(mode="wrap")
    def _with_what_is_not_told(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        return {**values, _KEY: list(self.not_told)} if self.not_told else values


@cache
def _all_told(kind: type[Telling]) -> type[Frozen]:
    """A class with the same fields, without the validator, for which all JSON would become objects of Python first."""
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in kind.model_fields.items()}
    return create_model(kind.__name__, __base__=Frozen, **fields)
