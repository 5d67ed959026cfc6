"""Reads a study file into a `Study`, or reports all problems in it."""

import contextlib
import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assay.model.money.study_prices import StudyDesign, StudyPrices
from assay.model.money.use import Use
from assay.model.room import hook
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
from assay.model.study.commands import (
    ONLY_OF_REPLAYS,
    ONLY_OF_RUNS,
    SHARED_FIELDS,
    UNWRITTEN_FIELDS,
    InputFile,
    OutputFigure,
    StudyCommand,
    StudyReplay,
    as_workload,
)
from assay.model.study.kinds import kinds
from assay.model.study.parameters import DEFINITIONS, inapplicable_fields
from assay.model.study.replication import StudyReplication
from assay.model.study.schedule import Schedule
from assay.model.study.study import Exclusion, Output, Study, Workload, written_group
from assay.model.units import choices_hint, display_value
from assay.plan.crosscheck import crosscheck

if TYPE_CHECKING:
    from assay.model.study.peers import PeerWord

MIN_SIMILARITY = 0.75
"""Least similarity of a suggested word. Below it, words of other programs would be taken for misspelt ones of ours."""
_OTHER_WORDS = {
    "env": "environment",
    "timeout": "task_limit",
    "cmd": "run",
    "command": "run",
    "exec": "run",
    "input": "inputs",
    "output": "outputs",
}
"""Key that other programs have for what a command runs -> key of a study."""
_EXAMPLES = {
    "study": "my-study",
    "targets": "{disk: {kind: file, path: /var/tmp/assay-test}}",
    "workloads": "{first: {operations: [write, read], file_size: 64MiB, record_size: 64KiB}}",
    "operations": "[write, read]",
    "run": "[gzip, -k, $inputs/data]`, or `replay: build.trace.gz",
    "file_size": "64MiB",
    "record_size": "4KiB",
    "over": "24h",
    "when": "record_size == 4KiB",
    "why": "takes an hour",
    "book": "aws-eu-west-1",
    "designs": "{disk: {design: nfs-volumes, set: {capacity: 5TB}}}",
    "design": "nfs-volumes",
}


_COMMAND_PARAMETERS = frozenset(name for name, item in DEFINITIONS.items() if item.applies_to("programs"))


class LoadedStudy(NamedTuple):
    """The result of reading a study file.

    Attributes:
        study: The study; None if there are problems.
        source: The parsed file, with the line of each value.
        problems: Problems in the order of the file.
    """

    study: Study | None
    source: YamlSource
    problems: tuple[Problem, ...]


def load_study(
    data: bytes, base: str = "/", original: YamlSource | None = None, folder: str | None = None
) -> LoadedStudy:
    """Read a study file.

    Args:
        data: Content of the file.
        base: Absolute directory that relative target paths start from.
        folder: Absolute folder of the study, which relative paths of inputs start from; None for `base`.
        original: Original file, if `data` was generated from one: problems name its lines. None for lines of `data`.
    """
    source = read_source(data)
    if original is not None:
        source.values, source.keys = original.values, original.keys
    study = None
    if source.data is not None or not source.problems:
        study, problems = _validate(source, base, folder or base)
        source.problems.extend(without_consequences(problems, source))
    if study is not None:
        source.problems.extend(source.problem(fault) for fault in crosscheck(study))
    in_order = sorted_problems(source.problems)
    return LoadedStudy(None if in_order else study, source, in_order)


def _validate(source: YamlSource, base: str, folder: str) -> tuple[Study | None, list[Problem]]:
    if not isinstance(source.data, dict):
        message = f"a study is a mapping of `key: value` lines, not {display_value(source.data)}"
        hint = "start with `study: NAME`; `assay init` writes an example"
        return None, [Problem(line=1, column=1, message=message, hint=hint)]
    data, problems = _with_commands(source)
    data = _with_replication(data, source)
    merged, more = _with_defaults(data, source)
    problems += more
    try:
        study = Study.model_validate(merged, context={"base": base, "folder": folder})
    except ValidationError as error:
        details = root_errors(error)
        if any(detail["loc"][:1] == ("replication",) for detail in details):
            # Without its cases the study has no workload: that only follows.
            details = [detail for detail in details if detail["loc"] != ("workloads",)]
        misspelt = _misspelt(details, merged)
        found = [_problem(detail, source, merged) for detail in details if detail["loc"] not in misspelt]
        return None, problems + found
    return study, problems


def _with_commands(source: YamlSource) -> tuple[dict[str, Any], list[Problem]]:
    """Return the data with each command among the workloads, as which it is read."""
    data = dict(source.data)
    workloads = data.get("workloads", {})
    for name, workload in workloads.items() if isinstance(workloads, dict) else ():
        for key in {"command", "replay"}.intersection(workload or ()):
            path, hint = ("workloads", name, key), "write it below `commands:`, beside `workloads:`"
            return data, [_at_key(source, path, f"unknown key `{key}`", hint, path[:-1])]
    if "commands" not in data:
        return data, []
    commands = data.pop("commands")
    if not isinstance(commands, dict) or not commands:
        message = f"{display_value(commands)} is not a mapping"
        return data, [_at_key(source, ("commands",), message, "write `NAME: {run: [PROGRAM, ...]}` below `commands:`")]
    if not isinstance(workloads, dict):
        return data, []
    problems = [
        _at_key(source, ("commands", name), f"`{name}` is a workload, too", "give it another name")
        for name in commands
        if name in workloads
    ]
    source.commands = frozenset(commands)
    fields = _COMMAND_PARAMETERS
    data["workloads"] = {**workloads, **{name: as_workload(command, fields) for name, command in commands.items()}}
    return data, problems


def _with_replication(data: dict[str, Any], source: YamlSource) -> dict[str, Any]:
    """Return the data with a command for each case of `replication`, and with its hosts if the study names none.

    Entries with faults are left as they are: validating the study reports them.
    """
    written = data.get("replication")
    if not written:
        return data
    entries: dict[str, StudyReplication] = {}
    for name, entry in written.items() if isinstance(written, dict) else ():
        with contextlib.suppress(ValidationError):
            entries[name] = StudyReplication.model_validate(entry)
    workloads = dict(data.get("workloads") or {})
    replicated: dict[str, str] = {}
    for name, entry in entries.items():
        commands = hook("replication_commands")(name, entry)
        workloads |= {case: as_workload(command, _COMMAND_PARAMETERS) for case, command in commands.items()}
        replicated |= dict.fromkeys(commands, name)
    source.replicated = replicated
    if not entries:
        return {**data, "workloads": workloads}
    first = next(iter(entries.values()))
    return {"hosts": [first.source, first.replica], **data, "workloads": workloads}


def _with_defaults(data: dict[str, Any], source: YamlSource) -> tuple[dict[str, Any], list[Problem]]:
    """Return the data with `defaults` copied into each workload that can use them and does not override them."""
    if "defaults" not in data:
        return data, []
    defaults, workloads = data.pop("defaults"), data.get("workloads")
    if not isinstance(defaults, dict):
        message = f"{display_value(defaults)} is not a mapping"
        hint = "write `field: value` lines below `defaults:`"
        return data, [_at_key(source, ("defaults",), message, hint)]
    if isinstance(workloads, dict):
        data["workloads"] = {
            name: _completed(workload, defaults) if isinstance(workload, dict) else workload
            for name, workload in workloads.items()
        }
    return data, []


def _completed(workload: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return a workload with the defaults that it does not override, without those for other groups of operations.

    A workload on data uses a set of files only if it says so itself: `files` in the defaults is for metadata workloads.
    """
    combined = {**workload, **{key: value for key, value in defaults.items() if key not in workload}}
    group = written_group(combined)
    unwanted = set(inapplicable_fields(group))
    unwanted |= (
        {"file_size", "total_size"} if {"file_size", "total_size", "file_sizes"}.intersection(workload) else set()
    )
    stated = {"files", "total_files"}.intersection(workload)
    if stated:
        unwanted |= {"files", "total_files"} - stated
    elif group == "data":
        unwanted |= {name for name, item in DEFINITIONS.items() if item.sets_only}
    return {key: value for key, value in combined.items() if key in workload or key not in unwanted}


def _misspelt(details: list[ErrorDetails], merged: dict[str, Any]) -> set[tuple[int | str, ...]]:
    """Return missing fields that are present under a misspelt name, so that one mistake gives only one problem."""
    places = set()
    for detail in details:
        if detail["type"] == "extra_forbidden":
            likely = _likely_keys(_path(detail["loc"], merged, ""))
            places |= {(*detail["loc"][:-1], word) for word in likely}
    return {detail["loc"] for detail in details if detail["type"] == "missing"} & places


def _problem(detail: ErrorDetails, source: YamlSource, merged: dict[str, Any]) -> Problem:
    kind = detail["type"]
    path = _path(detail["loc"], merged, kind)
    if kind == "study":
        context = detail["ctx"]
        path = (*path, *context["inner"])
        if "[key]" in detail["loc"]:
            return _at_key(source, path, context["message"], context["hint"])
        return source.problem(FieldFault(path=path, message=context["message"], hint=context["hint"]))
    message, hint = _words(detail, path)
    if kind == "extra_forbidden":
        return _at_key(source, path, message, hint, path[:-1])
    if kind == "missing" and len(path) > 1:
        return _at_key(source, path[:-1], message, hint)
    return source.problem(FieldFault(path=path, message=message, hint=hint, names_field=kind != "missing"))


def _at_key(source: YamlSource, path: Path, message: str, hint: str, name: Path | None = None) -> Problem:
    line, column = source.key_position(path)
    shown_path = source.written_path(path) if name is None else source.in_commands(name)
    if name is not None and source.written_path(path)[:1] == ("defaults",):
        shown_path = ("defaults",)
    return Problem(line=line, column=column, message=with_field_name(shown_path, message), hint=hint)


def _path(location: tuple[int | str, ...], data: Any, kind: str) -> Path:
    """Return pydantic's location without parts that are not in the file; the name of a missing field stays."""
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
    """Return pydantic's message in Assay's words, and a hint."""
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "missing":
        field = str(path[-1])
        return f"`{field}` is missing", f"add a line such as `{field}: {_example(field)}`"
    if kind == "extra_forbidden":
        return f"unknown key `{path[-1]}`", _key_hint(path, detail["loc"])
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _tag_words(value, context, path)
    common = type_message(detail)
    if common is not None:
        return common
    if kind == "too_long":
        return f"there are more than {context['max_length']} entries", "split it into several workloads"
    return detail["msg"].lower(), "see docs/guides/write-a-study.md"


def _example(field: str) -> str:
    """Return an example value for a missing field."""
    found = [kind.examples[field] for kind in kinds().values() if field in kind.examples]
    return _EXAMPLES.get(field) or (found[0] if found else "...")


def _tag_words(value: Any, context: dict[str, Any], path: Path) -> tuple[str, str]:
    tag = context["discriminator"].strip("'")
    words = [_tag_value(model) for model in _models((*path, tag))]
    if not isinstance(value, dict):
        return f"{display_value(value)} is not a mapping", f"write {{{tag}: {words[0]}, ...}}"
    if tag not in value:
        return f"`{tag}` is missing", f"add {tag}: one of {', '.join(words)}"
    if value[tag] is None and "null" in words:
        return "its kind is empty", 'write the null target\'s kind in quotes: kind: "null"'
    return f"{display_value(value[tag])} is not a {tag}", choices_hint(value[tag], words)


def _key_hint(path: Path, location: tuple[int | str, ...]) -> str:
    others = [model for model in _models(path) if path[-1] in _keys(model)]
    if others:
        return f"it is only for {' and '.join(map(_tag, others))}"
    if peer := _peer(path):
        return peer.hint(str(path[-1]))
    if _models(path) == (StudyCommand,) and (word := _OTHER_WORDS.get(str(path[-1]))):
        return f"did you mean `{word}`?"
    # If the kind is known, keys of other kinds are no help.
    word = str(location[-2]) if len(location) > 1 else ""
    models = _models(path)
    same = [model for model in models if len(models) > 1 and _tag_value(model) == word]
    known = _keys(same[0]) if same else _known_keys(path)
    near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=MIN_SIMILARITY)
    return f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(known)}"


def _tag(model: type[BaseModel]) -> str:
    """Return the line that marks a mapping as of this class: `kind: file`."""
    value = _tag_value(model)
    # YAML reads an unquoted null as no value.
    return f'{_tag_field(model)}: "null"' if value == "null" else f"{_tag_field(model)}: {value}"


def _tag_field(model: type[BaseModel]) -> str:
    """Return the field that distinguishes a class from its alternatives; empty if there are none."""
    return next((name for name, field in model.model_fields.items() if get_origin(field.annotation) is Literal), "")


def _tag_value(model: type[BaseModel]) -> str:
    field = _tag_field(model)
    return str(get_args(model.model_fields[field].annotation)[0]) if field else ""


def _peer(path: Path) -> "PeerWord | None":
    """Return Assay's counterpart of another program's key at this place; None if there is none."""
    from assay.model.study.peers import TARGETS, WORKLOADS

    match path:
        case ("targets", _, str(word)):
            return TARGETS.get(word)
        case (str(word),) | ("workloads", _, str(word)) | ("workloads", _, "replay", str(word)):
            return WORKLOADS.get(word)
    return None


def _likely_keys(path: Path) -> list[str]:
    if peer := _peer(path):
        return [peer.field]
    if _models(path) == (StudyCommand,) and (word := _OTHER_WORDS.get(str(path[-1]))):
        return [word]
    return difflib.get_close_matches(str(path[-1]), _known_keys(path), n=1, cutoff=MIN_SIMILARITY)


def _known_keys(path: Path) -> list[str]:
    models = _models(path)
    known = dict.fromkeys(key for model in models for key in _keys(model))
    if models in ((StudyCommand,), (StudyReplay,)):
        others = ONLY_OF_REPLAYS if models == (StudyCommand,) else ONLY_OF_RUNS
        own = (name for name in known if name not in UNWRITTEN_FIELDS)
        return [*own, *SHARED_FIELDS, *sorted(_COMMAND_PARAMETERS.difference(others))]
    return [*known, "defaults", "commands"] if models == (Study,) else [*known]


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(path: Path) -> tuple[type[BaseModel], ...]:
    """Return the classes that the mapping with the last part of a path may have."""
    match path[:-1]:
        case ("targets", _, *fields):
            return _within(tuple(kinds().values()), fields)
        case ("workloads", _):
            return (Workload,)
        case ("workloads", _, "command"):
            return (StudyCommand,)
        case ("workloads", _, "replay"):
            return (StudyReplay,)
        case ("workloads", _, "replay", "replay"):
            return (InputFile,)
        case ("workloads", _, "command", "inputs", _):
            return (InputFile,)
        case ("workloads", _, "command", "figures", _):
            return (OutputFigure,)
        case ("workloads", _, "exclude", _):
            return (Exclusion,)
        case ("replication", _):
            return (StudyReplication,)
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
    """Return the classes of a nested field of these classes; numbers in `fields` are list positions."""
    for field in fields:
        if isinstance(field, str):
            found = [model.model_fields[field].annotation for model in models if field in model.model_fields]
            models = tuple(dict.fromkeys(inner for annotation in found for inner in _classes(annotation)))
    return models


def _classes(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the classes that a type annotation contains."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _classes(part)
