"""Converts a parameter file of vdbench to a study that asks the same."""

import json
from collections.abc import Callable
from typing import Any

from assay.model.base import AssayError
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.notes import Notes
from assay.rooms.foreign.work.vdbench.disks import disk_workloads
from assay.rooms.foreign.work.vdbench.fields import numbers
from assay.rooms.foreign.work.vdbench.files import file_workloads
from assay.rooms.foreign.work.vdbench.options import OPTIONS
from assay.rooms.foreign.work.vdbench.places import Places
from assay.rooms.foreign.work.vdbench.scan import Definition, ParameterFile, scan_file

_HINT = "name a parameter file with sd=, wd= and rd=, or fsd=, fwd= and rd="
_MAX_INTERVAL = 3600
_MAX_SHOWN = 6
"""Parameters that are named with one reason."""


def vdbench_study(text: str, path: str, read: Callable[[str], str], variables: dict[str, str]) -> str:
    """Return the text of a study file that asks what a parameter file of vdbench does.

    Args:
        text: The parameter file.
        path: Its path, for messages.
        read: Returns the text of a file that it includes.
        variables: Values of its variables.

    Returns:
        The study, with a comment at its head for each parameter that is left out or has a different meaning.

    Raises:
        AssayError: vdbench would refuse the file, or there is nothing to measure.
    """
    file = scan_file(text, path, read, variables)
    notes = Notes()
    if file.has_host_variable:
        notes.add("$host", "left out of names and paths: each file is one lane's, on whatever host")
    _note_options(file, notes)
    if not file.of("rd"):
        raise AssayError(f"{path}: no run definition (rd=)", _HINT)
    if bool(file.of("sd")) == bool(file.of("fsd")):
        what = "both sd= and fsd=" if file.of("sd") else "no sd= and no fsd="
        raise AssayError(f"{path}: {what}", _HINT)
    places = Places(notes)
    make = disk_workloads if file.of("sd") else file_workloads
    workloads = make(file, places, notes)
    if not workloads:
        raise AssayError(f"{path}: no operation that Assay has", _HINT)
    if len(places.targets) == 1:
        workloads = {name: _without_target(fields) for name, fields in workloads.items()}
    study: dict[str, Any] = {"study": "from-vdbench", "targets": places.targets, "workloads": workloads, "repeats": 1}
    notes.add("repeats: 1", "as vdbench; an interval needs 3 repeats at least: change repeats")
    # A copy, so that YAML has no references from one workload to another.
    study = json.loads(json.dumps(study | _output(file, notes)))
    return study_text(study, head_comments(f"vdbench -f {path}", notes))


def _without_target(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "targets"}


def _output(file: ParameterFile, notes: Notes) -> dict[str, Any]:
    found = []
    for rd in file.of("rd"):
        found += numbers(rd.parameters.get("interval"))[:1]
    if not found:
        return {}
    if len(set(found)) > 1:
        notes.add("interval", f"a study has one: {min(found):g} seconds")
    return {"output": {"interval": f"{min(max(1, min(found)), _MAX_INTERVAL):g}s"}}


def _note_options(file: ParameterFile, notes: Notes) -> None:
    """Note each parameter that is left out, and why; those with the same reason in one line."""
    reasons: dict[str, dict[str, None]] = {}
    for definition in (file.general, *file.definitions):
        for name, parameter in definition.parameters.items():
            option = OPTIONS[definition.kind][name]
            if option.fate == "left out" and not _is_default(definition, name):
                reasons.setdefault(option.why, {})[parameter.text] = None
    for why, texts in reasons.items():
        others = f" and {len(texts) - _MAX_SHOWN} others" if len(texts) > _MAX_SHOWN else ""
        notes.add(f"{', '.join(list(texts)[:_MAX_SHOWN])}{others}", why)


def _is_default(definition: Definition, name: str) -> bool:
    """Whether a parameter asks for what is so anyway, such as `skew=100`, `pause=0` or a host that is this one."""
    values = definition.values(name)
    return values in (("0",), ("localhost",), ("0", "100")) or (name == "skew" and values == ("100",)) or not values
