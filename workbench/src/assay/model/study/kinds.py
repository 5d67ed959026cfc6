"""The kinds of target: one folder each in `assay.kinds`, found by its name.

Kinds import this module, so it loads them by name, as plug-ins: a new kind needs no line anywhere else. A command loads
only the kinds that its study names; an incomplete folder is an error as soon as its kind is used or all kinds are
listed.
"""

import functools
import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Union, get_args

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from assay.model.study.target import MEMBERS, TRAITS, Target

KINDS_PACKAGE = "assay.kinds"
KIND_MODULES = ("study", "job", "estimate", "handler", "uri")
"""Modules that the folder of each kind has."""


@functools.cache
def kinds() -> Mapping[str, type[Target]]:
    """Return word in study files -> class of the targets, the commonest first.

    Raises:
        TypeError: A kind is incomplete.
    """
    classes = [_load(name, folder) for name, folder in _folders().items()]
    return MappingProxyType({kind_word(kind): kind for kind in sorted(classes, key=lambda kind: kind.rank)})


def _folders() -> dict[str, Path]:
    """Return word of each kind -> its folder."""
    entries = [entry for folder in import_module(KINDS_PACKAGE).__path__ for entry in sorted(Path(folder).iterdir())]
    return {entry.name: entry for entry in entries if (entry / "__init__.py").is_file()}


def kind_word(kind: type[Target]) -> str:
    """Return the word in study files for targets of a class."""
    (word,) = get_args(kind.model_fields["kind"].annotation)
    return str(word)


@functools.cache
def _load(name: str, folder: Path) -> type[Target]:
    """Import and check the class of a kind.

    Args:
        name: Name of its folder.
        folder: Path of its folder.
    """
    missing = [f"{part}.py" for part in KIND_MODULES if not (folder / f"{part}.py").is_file()]
    if missing:
        raise TypeError(f"{KINDS_PACKAGE}.{name} has no {', '.join(missing)}")
    module = import_module(f"{KINDS_PACKAGE}.{name}.study")
    own = [
        item
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Target) and item.__module__ == module.__name__
    ]
    if len(own) != 1:
        raise TypeError(f"{KINDS_PACKAGE}.{name}.study has {len(own)} classes of targets, not one")
    (kind,) = own
    undefined = [trait for trait in TRAITS if not hasattr(kind, trait)]
    undefined += [item for item in MEMBERS if item not in kind.model_fields and not hasattr(kind, item)]
    if undefined:
        raise TypeError(f"{KINDS_PACKAGE}.{name}.study.{kind.__name__} does not define {', '.join(undefined)}")
    if kind_word(kind) != name:
        raise TypeError(f"{KINDS_PACKAGE}.{name}.study.{kind.__name__} is of kind {kind_word(kind)}")
    return kind


class AnyKindField:
    """Annotation of a field that takes targets of all kinds, distinguished by `kind`."""

    @staticmethod
    def __get_pydantic_core_schema__(_source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the union of all classes; each class is loaded with the first target of its kind."""
        classes = {
            name: core_schema.with_info_plain_validator_function(functools.partial(_validated, name, folder))
            for name, folder in _folders().items()
        }
        return core_schema.tagged_union_schema(dict(classes), discriminator="kind")

    @staticmethod
    def __get_pydantic_json_schema__(_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON Schema of all classes."""
        union: Any = Union[tuple(kinds().values())]  # noqa: UP007
        every: TypeAdapter[Target] = TypeAdapter(Annotated[union, Field(discriminator="kind")])
        return handler(every.core_schema)


def _validated(name: str, folder: Path, value: Any, info: ValidationInfo) -> Target:
    """Return a target of a kind from what a study says about it."""
    return _load(name, folder).model_validate(value, context=info.context)
