"""From the text of a study file to a Study, or to all that is wrong with it."""

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assay.model.money.study_prices import StudyDesign, StudyPrices
from assay.model.money.use import Use
from assay.model.source import (
    Fault,
    Path,
    Problem,
    Source,
    list_errors,
    named,
    read_source,
    shape_words,
    sorted_problems,
    without_echoes,
)
from assay.model.study.kinds import kinds
from assay.model.study.parameters import DEFINITIONS, fields_of_others
from assay.model.study.schedule import Schedule
from assay.model.study.study import Exclusion, Output, Study, Workload, group_written
from assay.model.units import one_of, shown
from assay.plan.crosscheck import crosscheck

if TYPE_CHECKING:
    from assay.model.study.peers import Peer

ALIKE = 0.75
"""Words that are less alike are hardly a slip of each other: those of other programs would be taken for ours."""
_EXAMPLES = {
    "study": "my-study",
    "targets": "{disk: {kind: file, path: /var/tmp/assay-test}}",
    "workloads": "{first: {operations: [write, read], file_size: 64MiB, record_size: 64KiB}}",
    "operations": "[write, read]",
    "file_size": "64MiB",
    "record_size": "4KiB",
    "over": "24h",
    "when": "record_size == 4KiB",
    "why": "takes an hour",
    "book": "aws-eu-west-1",
    "designs": "{disk: {design: nfs-volumes, set: {capacity: 5TB}}}",
    "design": "nfs-volumes",
}


class Loaded(NamedTuple):
    """A study file that was read.

    Attributes:
        study: None if there are problems.
        source: Where each value stands in the file.
        problems: In the order of the file.
    """

    study: Study | None
    source: Source
    problems: tuple[Problem, ...]


def load_study(data: bytes, base: str = "/", places: Source | None = None) -> Loaded:
    """Read a study file.

    Args:
        data: The file.
        base: Absolute directory where relative target paths start.
        places: The file that this one was made from, whose lines problems name; None: its own.
    """
    source = read_source(data)
    if places is not None:
        source.values, source.keys = places.values, places.keys
    study = None
    if source.data is not None or not source.problems:
        study, problems = _validate(source, base)
        source.problems.extend(without_echoes(problems, source))
    if study is not None:
        source.problems.extend(source.problem(fault) for fault in crosscheck(study))
    in_order = sorted_problems(source.problems)
    return Loaded(None if in_order else study, source, in_order)


def _validate(source: Source, base: str) -> tuple[Study | None, list[Problem]]:
    if not isinstance(source.data, dict):
        message = f"a study is a mapping of `key: value` lines, not {shown(source.data)}"
        hint = "start with `study: NAME`; `assay init` writes an example"
        return None, [Problem(line=1, column=1, message=message, hint=hint)]
    merged, problems = _with_defaults(source)
    try:
        study = Study.model_validate(merged, context={"base": base})
    except ValidationError as error:
        details = list_errors(error)
        misspelt = _misspelt(details, merged)
        found = [_problem(detail, source, merged) for detail in details if detail["loc"] not in misspelt]
        return None, problems + found
    return study, problems


def _with_defaults(source: Source) -> tuple[dict[str, Any], list[Problem]]:
    """The data with `defaults` copied into each workload that does not say otherwise and can use them."""
    data = dict(source.data)
    if "defaults" not in data:
        return data, []
    defaults, workloads = data.pop("defaults"), data.get("workloads")
    if not isinstance(defaults, dict):
        message = f"{shown(defaults)} is not a mapping"
        hint = "write `field: value` lines below `defaults:`"
        return data, [_at_key(source, ("defaults",), message, hint)]
    if isinstance(workloads, dict):
        data["workloads"] = {
            name: _completed(workload, defaults) if isinstance(workload, dict) else workload
            for name, workload in workloads.items()
        }
    return data, []


def _completed(workload: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """A workload with the defaults it does not override; what only operations of other kinds have is left out.

    That data is in a set of files a workload says itself: `files` among the defaults are those of names.
    """
    whole = {**workload, **{key: value for key, value in defaults.items() if key not in workload}}
    group = group_written(whole)
    others = set(fields_of_others(group))
    others |= {"file_size", "total_size"} if {"file_size", "total_size", "file_sizes"}.intersection(workload) else set()
    said = {"files", "total_files"}.intersection(workload)
    if said:
        others |= {"files", "total_files"} - said
    elif group == "data":
        others |= {name for name, item in DEFINITIONS.items() if item.of_sets}
    return {key: value for key, value in whole.items() if key in workload or key not in others}


def _misspelt(details: list[ErrorDetails], merged: dict[str, Any]) -> set[tuple[int | str, ...]]:
    """Missing fields that are there under a misspelt name: one mistake is one problem."""
    places = set()
    for detail in details:
        if detail["type"] == "extra_forbidden":
            meant = _meant(_path(detail["loc"], merged, ""))
            places |= {(*detail["loc"][:-1], word) for word in meant}
    return {detail["loc"] for detail in details if detail["type"] == "missing"} & places


def _problem(detail: ErrorDetails, source: Source, merged: dict[str, Any]) -> Problem:
    kind = detail["type"]
    path = _path(detail["loc"], merged, kind)
    if kind == "study":
        context = detail["ctx"]
        path = (*path, *context["inner"])
        if "[key]" in detail["loc"]:
            return _at_key(source, path, context["message"], context["hint"])
        return source.problem(Fault(path=path, message=context["message"], hint=context["hint"]))
    message, hint = _words(detail, path)
    if kind == "extra_forbidden":
        return _at_key(source, path, message, hint, path[:-1])
    if kind == "missing" and len(path) > 1:
        return _at_key(source, path[:-1], message, hint)
    return source.problem(Fault(path=path, message=message, hint=hint, named=kind != "missing"))


def _at_key(source: Source, path: Path, message: str, hint: str, name: Path | None = None) -> Problem:
    line, column = source.key_place(path)
    shown_path = source.written(path) if name is None else name
    if name is not None and source.written(path)[:1] == ("defaults",):
        shown_path = ("defaults",)
    return Problem(line=line, column=column, message=named(shown_path, message), hint=hint)


def _path(location: tuple[int | str, ...], data: Any, kind: str) -> Path:
    """Pydantic's location without what is not in the file; the name of a missing field stays."""
    path: list[int | str] = []
    for place, part in enumerate(location):
        last = place == len(location) - 1
        present = part in data if isinstance(data, dict) else isinstance(data, list) and part in range(len(data))
        if present:
            data = data[part]
        elif not (kind == "missing" and last):
            continue
        path.append(part)
    return tuple(path)


def _words(detail: ErrorDetails, path: Path) -> tuple[str, str]:
    """Pydantic's message in this tool's words, and a hint."""
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "missing":
        field = str(path[-1])
        return f"`{field}` is missing", f"add a line such as `{field}: {_example(field)}`"
    if kind == "extra_forbidden":
        return f"unknown key `{path[-1]}`", _key_hint(path, detail["loc"])
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _tag_words(given, context, path)
    common = shape_words(detail)
    if common is not None:
        return common
    if kind == "too_long":
        return f"it has more than {context['max_length']} entries", "split it into several workloads"
    return detail["msg"].lower(), "see docs/guides/write-a-study.md"


def _example(field: str) -> str:
    """How a field may be written that is missing."""
    found = [kind.examples[field] for kind in kinds().values() if field in kind.examples]
    return _EXAMPLES.get(field) or (found[0] if found else "...")


def _tag_words(given: Any, context: dict[str, Any], path: Path) -> tuple[str, str]:
    tag = context["discriminator"].strip("'")
    words = [_tag_value(model) for model in _models((*path, tag))]
    if not isinstance(given, dict):
        return f"{shown(given)} is not a mapping", f"write {{{tag}: {words[0]}, ...}}"
    if tag not in given:
        return f"`{tag}` is missing", f"add {tag}: one of {', '.join(words)}"
    if given[tag] is None and "null" in words:
        return "its kind is empty", 'write the null target\'s kind in quotes: kind: "null"'
    return f"{shown(given[tag])} is not a {tag}", one_of(given[tag], words)


def _key_hint(path: Path, location: tuple[int | str, ...]) -> str:
    others = [model for model in _models(path) if path[-1] in _keys(model)]
    if others:
        return f"it is only for {' and '.join(map(_tag, others))}"
    if peer := _peer(path):
        return peer.hint(str(path[-1]))
    # Where the kind is known, words of the other kinds are of no use.
    word = str(location[-2]) if len(location) > 1 else ""
    models = _models(path)
    same = [model for model in models if len(models) > 1 and _tag_value(model) == word]
    known = _keys(same[0]) if same else _known_keys(path)
    near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=ALIKE)
    return f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(known)}"


def _tag(model: type[BaseModel]) -> str:
    """What says in the file that a mapping is of this class: `kind: file`."""
    value = _tag_value(model)
    # YAML takes this word for nothing, unless it is quoted.
    return f'{_tag_field(model)}: "null"' if value == "null" else f"{_tag_field(model)}: {value}"


def _tag_field(model: type[BaseModel]) -> str:
    """The field that tells a class from others that may stand in its place; empty if it is the only one."""
    return next((name for name, field in model.model_fields.items() if get_origin(field.annotation) is Literal), "")


def _tag_value(model: type[BaseModel]) -> str:
    field = _tag_field(model)
    return str(get_args(model.model_fields[field].annotation)[0]) if field else ""


def _peer(path: Path) -> "Peer | None":
    """What another program's word at this place is called here."""
    from assay.model.study.peers import TARGETS, WORKLOADS

    match path:
        case ("targets", _, str(word)):
            return TARGETS.get(word)
        case (str(word),) | ("workloads", _, str(word)):
            return WORKLOADS.get(word)
    return None


def _meant(path: Path) -> list[str]:
    if peer := _peer(path):
        return [peer.ours]
    return difflib.get_close_matches(str(path[-1]), _known_keys(path), n=1, cutoff=ALIKE)


def _known_keys(path: Path) -> list[str]:
    models = _models(path)
    known = dict.fromkeys(key for model in models for key in _keys(model))
    return [*known, "defaults"] if models == (Study,) else [*known]


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(path: Path) -> tuple[type[BaseModel], ...]:
    """What the mapping that holds the last part of a path may be."""
    match path[:-1]:
        case ("targets", _, *fields):
            return _within(tuple(kinds().values()), fields)
        case ("workloads", _):
            return (Workload,)
        case ("workloads", _, "exclude", _):
            return (Exclusion,)
        case ("output",):
            return (Output,)
        case ("schedule",):
            return (Schedule,)
        case ("prices",):
            return (StudyPrices,)
        case ("prices", "use"):
            return (Use,)
        case ("prices", "designs", _):
            return (StudyDesign,)
    return (Study,)


def _within(models: tuple[type[BaseModel], ...], fields: list[int | str]) -> tuple[type[BaseModel], ...]:
    """What a field of a field ... of one of these classes may be; numbers are places in lists."""
    for field in fields:
        if isinstance(field, str):
            found = [model.model_fields[field].annotation for model in models if field in model.model_fields]
            models = tuple(dict.fromkeys(inner for annotation in found for inner in _classes(annotation)))
    return models


def _classes(annotation: Any) -> Iterator[type[BaseModel]]:
    """The classes that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _classes(part)
