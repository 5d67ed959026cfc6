"""Rules that tie several parts of a study together, before any case is made."""

import itertools
import posixpath
from collections.abc import Iterator

from assay.model.study import KINDS, FileTarget, NullTarget, Study, Workload
from assay.model.units import one_of
from assay.plan.source import Fault
from assay.plan.where import Condition, ExpressionError


def crosscheck(study: Study) -> Iterator[Fault]:
    """Everything that is wrong between fields that are right in themselves."""
    yield from _target_paths(study)
    for name, workload in study.workloads.items():
        yield from _targets_named(study, name, workload)
        yield from _zipped(name, workload)
        yield from _expressions(study, name, workload)


def _target_paths(study: Study) -> Iterator[Fault]:
    placed = {name: target for name, target in study.targets.items() if not isinstance(target, NullTarget)}
    for (first, one), (second, other) in itertools.combinations(placed.items(), 2):
        if one.path == other.path:
            message = f"{other.path} is already target `{first}`"
            yield Fault(path=("targets", second, "path"), message=message, hint="name each place once")
        elif isinstance(one, FileTarget) and isinstance(other, FileTarget) and _nested(one.path, other.path):
            message = f"{other.path} and target `{first}` ({one.path}) lie in each other"
            yield Fault(
                path=("targets", second, "path"), message=message, hint="give each target a directory of its own"
            )


def _nested(one: str, other: str) -> bool:
    return posixpath.commonpath([one, other]) in (one, other)


def _targets_named(study: Study, name: str, workload: Workload) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, target in enumerate(workload.targets or ()):
        path = ("workloads", name, "targets", place)
        if target not in study.targets:
            message = f"there is no target `{target}`"
            yield Fault(path=path, message=message, hint=one_of(target, study.targets))
        elif target in seen:
            message = f"`{target}` comes twice"
            yield Fault(path=path, message=message, hint="name each target once")
        seen.add(target)


def _zipped(name: str, workload: Workload) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, group in enumerate(workload.zip):
        path = ("workloads", name, "zip", place)
        wrong = _zip_members(group, workload, seen)
        if wrong:
            yield Fault(path=path, message=wrong[0], hint=wrong[1])
            continue
        seen.update(group)
        counts = {field: workload.axis(field).count() for field in group}
        if len(set(counts.values())) > 1:
            lengths = ", ".join(f"{field} has {count}" for field, count in counts.items())
            yield Fault(path=path, message=f"{lengths} values", hint="zipped axes need equally many values")


def _zip_members(group: tuple[str, ...], workload: Workload, seen: set[str]) -> tuple[str, str] | None:
    if len(group) < 2:
        return "a group needs at least two axes", "write zip: [[lanes, queue_depth]]"
    for field in group:
        if field not in KINDS:
            return f"there is no field `{field}`", one_of(field, KINDS)
        if not workload.axis(field).swept:
            return f"`{field}` is not an axis", "give it a list of values, or take it out of zip"
        if field in seen or group.count(field) > 1:
            return f"`{field}` comes twice", "name each axis in one group only"
    return None


def _expressions(study: Study, name: str, workload: Workload) -> Iterator[Fault]:
    written: dict[tuple[str, ...], str] = {
        ("exclude", rule, "when"): item.when for rule, item in workload.exclude.items()
    }
    if workload.where is not None:
        written["where",] = workload.where
    for field, text in written.items():
        path = ("workloads", name, *field)
        try:
            Condition(text, tuple(study.targets), tuple(study.workloads))
        except ExpressionError as error:
            yield Fault(path=path, message=error.message, hint=error.hint)
