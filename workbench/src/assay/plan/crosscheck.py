"""Rules that tie several parts of a study together, before any case is made."""

import itertools
import posixpath
from collections.abc import Iterator

from assay.model.source import Fault
from assay.model.study.names import METADATA
from assay.model.study.parameters import TREE_FIELDS
from assay.model.study.study import KINDS, Study, Workload
from assay.model.units import one_of
from assay.plan.tree import order_fault
from assay.plan.where import Condition, ExpressionError


def crosscheck(study: Study) -> Iterator[Fault]:
    """Everything that is wrong between fields that are right in themselves."""
    if study.testbed is not None and not study.testbed.isprintable():
        hint = "write the name of a preset or file in one line"
        yield Fault(path=("testbed",), message="the name has unprintable characters", hint=hint)
    yield from _target_paths(study)
    yield from _priced_targets(study)
    for name, workload in study.workloads.items():
        yield from _targets_named(study, name, workload)
        yield from _kind_of_work(name, workload)
        yield from _kinds(study, name, workload)
        yield from _zipped(name, workload)
        yield from _expressions(study, name, workload)


def _target_paths(study: Study) -> Iterator[Fault]:
    placed = {name: target for name, target in study.targets.items() if target.on_machine}
    for (first, one), (second, other) in itertools.combinations(placed.items(), 2):
        if one.path == other.path:
            message = f"{other.path} is already target `{first}`"
            yield Fault(path=("targets", second, "path"), message=message, hint="name each place once")
        elif one.is_directory and other.is_directory and _nested(one.path, other.path):
            message = f"{other.path} and target `{first}` ({one.path}) lie in each other"
            yield Fault(
                path=("targets", second, "path"), message=message, hint="give each target a directory of its own"
            )


def _priced_targets(study: Study) -> Iterator[Fault]:
    for name in study.prices.designs if study.prices is not None else ():
        if name not in study.targets:
            message = f"there is no target `{name}`"
            yield Fault(path=("prices", "designs", name), message=message, hint=one_of(name, study.targets))


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


def _kinds(study: Study, name: str, workload: Workload) -> Iterator[Fault]:
    """What the kinds of its targets have to say."""
    for target in workload.targets or study.targets:
        if target in study.targets:
            yield from study.targets[target].crosscheck(target, name, workload)


def _kind_of_work(name: str, workload: Workload) -> Iterator[Fault]:
    """A workload is either about data or about names, and has the fields of its kind."""
    path = ("workloads", name)
    if not workload.metadata:
        for field in sorted(TREE_FIELDS):
            if workload.axis(field) != Workload.model_fields[field].get_default(call_default_factory=True):
                message = f"{field} is for metadata operations, which this workload has none of"
                yield Fault(path=(*path, field), message=message, hint=f"remove it, or use {', '.join(METADATA)}")
        return
    other = [operation for operation in dict.fromkeys(workload.operations) if operation not in METADATA]
    if other:
        names = ", ".join(operation for operation in dict.fromkeys(workload.operations) if operation in METADATA)
        message = f"a workload is about names ({names}) or about data ({', '.join(other)}), not both"
        yield Fault(path=(*path, "operations"), message=message, hint="write two workloads")
        return
    if None in workload.axis("files").values():
        yield Fault(path=path, message="`files` is missing", hint="add a line such as `files: 10000`")
    if workload.axis("record_size").values() != (None,):
        message = "metadata operations have no records: file_size is the contents of each file"
        yield Fault(path=(*path, "record_size"), message=message, hint="remove it")
    wrong = order_fault(workload.operations)
    if wrong:
        yield Fault(path=(*path, "operations"), message=wrong[0], hint=wrong[1])


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
