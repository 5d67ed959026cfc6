"""YAML files of this package and of users: read into a model, or refused with the line to fix."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assay.model.base import LineError
from assay.model.source import (
    FieldFault,
    Path,
    Problem,
    YamlSource,
    read_source,
    root_errors,
    sorted_problems,
    type_message,
    with_field_name,
    without_consequences,
)
from assay.model.units import choices_hint, display_value

Model = TypeVar("Model", bound=BaseModel)


def read_model(
    model: type[Model], data: bytes, file: str, guide: str, label: str = "", is_shipped: bool = False
) -> Model:
    """Read a file into a model.

    Args:
        model: Class of the result.
        data: Content of the file.
        file: Name of the file, for the message.
        guide: Document that describes the format, for hints that have nothing better.
        label: What the file is, for messages; empty: messages do not name it.
        is_shipped: The file is part of Assay.

    Raises:
        AssayError: The file does not fit the model; the message begins with `file:line:`.
    """
    return read_located_model(model, data, file, guide, label, is_shipped)[0]


def read_located_model(
    model: type[Model], data: bytes, file: str, guide: str, label: str = "", is_shipped: bool = False
) -> tuple[Model, YamlSource]:
    """Read a file as `read_model` does; return the source, too, which has the lines of its values."""
    value, source = read_with_problems(model, data, guide, label, is_shipped)
    if value is None:
        first = source.problems[0]
        raise LineError(file, first.line, first.message, first.hint)
    return value, source


def read_with_problems(
    model: type[Model], data: bytes, guide: str, label: str = "", is_shipped: bool = False
) -> tuple[Model | None, YamlSource]:
    """Read a file into a model, or return None and a source with all problems, in file order.

    Arguments as in `read_model`.
    """
    source = read_source(data, label, is_shipped=is_shipped)
    checked = None
    if isinstance(source.data, dict):
        try:
            checked = model.model_validate(source.data)
        except ValidationError as error:
            source.problems.extend(without_consequences(_problems(error, source, model, guide), source))
    elif not source.problems:
        message = f"the file is {display_value(source.data)}, not a mapping of `key: value` lines"
        source.problems.append(Problem(line=1, column=1, message=message, hint=f"see {guide}"))
    source.problems = list(sorted_problems(source.problems))
    return (None if source.problems else checked), source


def first_problem(error: ValidationError, source: YamlSource, model: type[BaseModel], guide: str) -> Problem:
    """Return the first problem to fix, in file order."""
    return sorted_problems(_problems(error, source, model, guide))[0]


def _problems(error: ValidationError, source: YamlSource, model: type[BaseModel], guide: str) -> list[Problem]:
    return [_problem(detail, source, model, guide) for detail in root_errors(error)]


def _problem(detail: ErrorDetails, source: YamlSource, model: type[BaseModel], guide: str) -> Problem:
    fault = _fault(detail, source.data, model, guide)
    if detail["type"] not in ("extra_forbidden", "missing"):
        return source.problem(fault)
    line, column = source.key_position(_written(detail["loc"], source.data))
    return Problem(line=line, column=column, message=with_field_name(fault.path, fault.message), hint=fault.hint)


def _fault(detail: ErrorDetails, data: Any, model: type[BaseModel], guide: str) -> FieldFault:
    kind, path, context = detail["type"], _written(detail["loc"], data), detail.get("ctx", {})
    if kind == "study":
        return FieldFault(path=(*path, *context["inner"]), message=context["message"], hint=context["hint"])
    if kind == "extra_forbidden":
        hint = choices_hint(path[-1], _known(detail["loc"][:-1], model))
        return FieldFault(path=path[:-1], message=f"unknown key `{path[-1]}`", hint=hint)
    if kind == "missing":
        message = f"`{detail['loc'][-1]}` is missing"
        return FieldFault(path=path, message=message, hint=f"add it; see {guide}")
    message, hint = type_message(detail) or (detail["msg"].lower(), f"see {guide}")
    return FieldFault(path=path, message=message, hint=hint)


def first_fault(error: ValidationError, data: Any, model: type[BaseModel], guide: str) -> FieldFault:
    """Return the first fault of a value whose file is not known; its path begins at the value.

    Args:
        error: What `model` says of the value.
        data: The value as it was read.
        model: The class that refused it.
        guide: Document that describes the format.
    """
    return _fault(root_errors(error)[0], data, model, guide)


def _written(location: tuple[int | str, ...], data: Any) -> Path:
    """Return the part of Pydantic's location that is in the file."""
    path: list[int | str] = []
    for part in location:
        present = part in data if isinstance(data, dict) else isinstance(data, list) and part in range(len(data))
        if present:
            data = data[part]
            path.append(part)
    return tuple(path)


def _known(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Return the keys of the mapping at a location, found by following the model's annotations."""
    for part in location:
        field = model.model_fields.get(str(part))
        inner = _inner(field.annotation) if field else None
        model = inner or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _inner(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        model = _inner(part)
        if model is not None:
            return model
    return None
