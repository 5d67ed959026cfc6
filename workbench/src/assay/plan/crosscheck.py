"""Rules that involve several parts of a study, checked before it is expanded to cases."""

import itertools
import posixpath
from collections.abc import Iterator, Sequence

from assay.model.source import FieldFault
from assay.model.study.kinds import kinds
from assay.model.study.names import METADATA, MIXABLE, MIXES, OBJECTS, WORK, Group
from assay.model.study.needs import FSYNC, TIME, TargetNeed
from assay.model.study.parameters import DEFINITIONS, default_value, inapplicable_fields
from assay.model.study.study import VALUE_KINDS, Study, Workload
from assay.model.study.target import Target
from assay.model.units import choices_hint
from assay.plan.layout.replication import replication_faults
from assay.plan.layout.tasks import command_faults
from assay.plan.objects import OPERATIONS_USING
from assay.plan.tree import order_fault
from assay.plan.where import Condition, ExpressionError


def crosscheck(study: Study) -> Iterator[FieldFault]:
    """Yield the faults between fields that are each valid on their own."""
    if study.testbed is not None and not study.testbed.isprintable():
        hint = "write the name of a preset or file in one line"
        yield FieldFault(path=("testbed",), message="the name has unprintable characters", hint=hint)
    yield from _target_paths(study)
    yield from _started_servers(study)
    yield from _mounts(study)
    yield from _ranks(study)
    yield from _priced_targets(study)
    yield from _needs(study)
    yield from replication_faults(study)
    if study.stages is not None and study.stages.cost is not None and study.prices is None:
        message = "a cost needs prices, and the study names none"
        yield FieldFault(path=("stages", "cost"), message=message, hint="add a section `prices:` to the study")
    for name, workload in study.workloads.items():
        yield from _targets_named(study, name, workload)
        yield from _server_caches(study, name, workload)
        yield from _remounts(study, name, workload)
        yield from _kind_of_work(study, name, workload)
        yield from _kinds(study, name, workload)
        yield from _zipped(name, workload)
        yield from _expressions(study, name, workload)


def _target_paths(study: Study) -> Iterator[FieldFault]:
    placed = [
        (name, target, path)
        for name, target in study.targets.items()
        if target.has_kernel_path
        for path in target.paths
    ]
    for (first, first_target, first_path), (second, second_target, second_path) in itertools.combinations(placed, 2):
        field = ("targets", second, "path" if second_path == second_target.path else "shares")
        if first_path == second_path:
            message = f"{second_path} is already target `{first}`"
            yield FieldFault(path=field, message=message, hint="name each directory or device once")
        elif first_target.is_directory and second_target.is_directory and _nested(first_path, second_path):
            message = f"{second_path} and target `{first}` ({first_path}) are nested"
            yield FieldFault(path=field, message=message, hint="give each target a directory of its own")


def _started_servers(study: Study) -> Iterator[FieldFault]:
    """Refuse started servers with other hosts, which cannot reach the loopback of this machine."""
    for name, target in study.targets.items():
        if target.started_server and not study.is_local:
            message = "Assay starts servers on this machine only, but other hosts generate the load"
            hint = "name endpoints that these hosts reach, or leave `hosts` and `testbed` out"
            yield FieldFault(path=("targets", name, "server"), message=message, hint=hint)


def _ranks(study: Study) -> Iterator[FieldFault]:
    """Refuse targets behind MPI-IO without mpirun or srun, which start the ranks."""
    for name, target in study.targets.items():
        if target.through_mpi and study.launcher == "ssh":
            message = f"target {name} is reached through MPI, whose ranks only mpirun or srun can start"
            yield FieldFault(
                path=("targets", name, "kind"), message=message, hint="add a line such as `launcher: mpirun`"
            )


def _needs(study: Study) -> Iterator[FieldFault]:
    """Refuse needs that no workload or command measures."""
    for need in study.needs:
        if need.measure == TIME:
            yield from _time_need(study, need)
            continue
        words = " ".join(word for word in (need.workload, need.operation, need.measure) if word)
        if need.workload and need.workload not in study.workloads:
            hint = choices_hint(need.workload, study.workloads)
            yield FieldFault(path=("need",), message=f"`{need.workload}` is not a workload", hint=hint)
        elif need.measure == "throughput" and WORK[need.operation].group == "names":
            message = f"{need.operation} moves no data, so it has no MB/s"
            yield FieldFault(path=("need",), message=message, hint=f"write `{need.operation}: 20k IOPS`")
        elif not any(_measures(need, name, work) for name, work in study.workloads.items()):
            hint = f"add a workload with {'sync: o_dsync' if need.operation == FSYNC else need.operation}, or remove it"
            yield FieldFault(path=("need",), message=f"no workload measures {words}", hint=hint)


def _time_need(study: Study, need: TargetNeed) -> Iterator[FieldFault]:
    """Refuse a wall clock of anything but commands: that of a replication includes making and comparing its files."""
    replications = {case.name for name, entry in study.replication.items() for case in entry.cases(name)}
    commands = [name for name, work in study.workloads.items() if work.group == "programs" and name not in replications]
    if not commands:
        message, hint = "only commands have a time, and the study has none", "add `commands`, or remove it"
    elif not need.workload and replications:
        message, hint = "`time` names no command", f"write `{commands[0]} time`: replications have no such time"
    elif need.workload and need.workload not in commands:
        message, hint = f"`{need.workload}` is not a command", choices_hint(need.workload, commands)
    else:
        return
    yield FieldFault(path=("need",), message=message, hint=hint)


def _measures(need: TargetNeed, name: str, workload: Workload) -> bool:
    syncs = workload.axis("sync").values()
    return any(need.covers(name, operation, str(sync)) for operation in workload.operations for sync in syncs)


def _mounts(study: Study) -> Iterator[FieldFault]:
    """Refuse mounts on this machine, which are left to its user, and mount points with two different mounts."""
    points: dict[str, tuple[str, str]] = {}
    for name, target in study.targets.items():
        for place, mount in enumerate(target.study_mounts):
            path = ("targets", name, "mounts", place)
            if study.is_local:
                hint = "add `hosts` or `testbed`, or mount it yourself and leave `mounts` out"
                yield FieldFault(path=path, message="Assay mounts on hosts, and the study names none", hint=hint)
            known = points.setdefault(mount.at, (name, mount.model_dump_json()))
            if known[1] != mount.model_dump_json():
                message = f"{mount.at} is already where target `{known[0]}` has something else mounted"
                yield FieldFault(path=(*path, "at"), message=message, hint="give each mount a directory of its own")
    yield from _covered(study)


def _covered(study: Study) -> Iterator[FieldFault]:
    """Refuse a mount that hides another mount, or a target that does not declare the same mount."""
    mounts = [
        (name, place, mount.at) for name, one in study.targets.items() for place, mount in enumerate(one.study_mounts)
    ]
    for name, place, at in mounts:
        path, hint = ("targets", name, "mounts", place, "at"), "give each mount a directory of its own"
        for other, _, below in mounts:
            if below.startswith(f"{at}/"):
                message = f"{at} covers {below}, where target `{other}` has something mounted"
                yield FieldFault(path=path, message=message, hint=hint)
        for other, target in study.targets.items():
            if not target.through_kernel:
                continue
            if _nested(at, target.path) and at not in {mount.at for mount in target.study_mounts}:
                message = f"{at} covers {target.path} of target `{other}`, which does not say that it is mounted there"
                yield FieldFault(
                    path=path, message=message, hint=f"add the same mount to target `{other}`, or move one"
                )


def _priced_targets(study: Study) -> Iterator[FieldFault]:
    for name in study.prices.designs if study.prices is not None else ():
        if name not in study.targets:
            message = f"there is no target `{name}`"
            yield FieldFault(path=("prices", "designs", name), message=message, hint=choices_hint(name, study.targets))


def _nested(one: str, other: str) -> bool:
    return posixpath.commonpath([one, other]) in (one, other)


def _server_caches(study: Study, name: str, workload: Workload) -> Iterator[FieldFault]:
    """Refuse to drop server caches if no hosts are named: only caches of hosts that a run can enter can be dropped."""
    if study.is_local and "drop" in workload.axis("server_cache").values():
        message = "server_cache: drop, but the study names no hosts, so Assay cannot reach the server to drop its cache"
        hint = "add `testbed`, or `hosts` with an inventory that has the servers, too"
        yield FieldFault(path=("workloads", name, "server_cache"), message=message, hint=hint)


def _remounts(study: Study, name: str, workload: Workload) -> Iterator[FieldFault]:
    """Refuse remounts of what Assay does not mount itself. Mounts of a box are checked later, with the box."""
    if "remount" not in workload.axis("cache").values():
        return
    path = ("workloads", name, "cache")
    if study.is_local:
        message = "cache: remount, but the study names no hosts, and Assay mounts on hosts only"
        yield FieldFault(path=path, message=message, hint="add `hosts` or `testbed`, and `mounts` to the target")
        return
    for one, target in ((one, study.targets[one]) for one in workload.targets or study.targets if one in study.targets):
        if not (target.is_directory and target.through_kernel):
            message = f"cache: remount, and target {one} is {target.noun}, which no host has mounted"
            yield FieldFault(path=path, message=message, hint="name the targets that have mounts in `targets`")
        elif study.testbed is None and (bare := unmounted_path(target, [mount.at for mount in target.study_mounts])):
            yield FieldFault(path=path, **unmounted_fault(one, bare))


def unmounted_path(target: Target, points: Sequence[str]) -> str | None:
    """Return the first directory of a target that is under none of the mount points; None if all are under one.

    Args:
        target: The target.
        points: Mount points.
    """
    is_mounted = [any(f"{path}/".startswith(f"{at}/") for at in points) for path in target.paths]
    return next((path for path, mounted in zip(target.paths, is_mounted, strict=True) if not mounted), None)


def unmounted_fault(name: str, path: str) -> dict[str, str]:
    """Return message and hint about a directory of a target that cannot be remounted."""
    message = f"cache: remount, but {path} of target {name} is in no file system that Assay mounts"
    return {"message": message, "hint": "add `mounts` to the target, or use cache: drop"}


def _targets_named(study: Study, name: str, workload: Workload) -> Iterator[FieldFault]:
    names: set[str] = set()
    for place, target in enumerate(workload.targets or ()):
        path = ("workloads", name, "targets", place)
        if target not in study.targets:
            message = f"there is no target `{target}`"
            yield FieldFault(path=path, message=message, hint=choices_hint(target, study.targets))
        elif target in names:
            message = f"`{target}` comes twice"
            yield FieldFault(path=path, message=message, hint="name each target once")
        names.add(target)


def _kinds(study: Study, name: str, workload: Workload) -> Iterator[FieldFault]:
    """Check a workload against each of its targets, with the rules of the target's kind."""
    for target in workload.targets or study.targets:
        if target in study.targets:
            yield from _holds_group(target, study.targets[target], name, workload)
            yield from _through_mpi(target, study.targets[target], name, workload)
            yield from study.targets[target].crosscheck(target, name, workload)


def _holds_group(name: str, target: Target, workload: str, work: Workload) -> Iterator[FieldFault]:
    """Refuse a target that does not hold the data, names or objects that a workload works on."""
    if work.group in target.groups:
        return
    message = f"target {name} is {target.noun}, which has no {_GROUP_NOUNS[work.group]}"
    possible = " or ".join(_EXAMPLE_OPERATIONS[group] for group in target.groups if group in _EXAMPLE_OPERATIONS)
    others = " or ".join(word for word, kind in kinds().items() if work.group in kind.groups and kind.keeps_data)
    if work.group == "programs":
        hint = f"name targets of kind {others} in `targets` of the command"
        yield FieldFault(path=("workloads", workload, "targets"), message=message, hint=hint)
        return
    hint = f"use operations such as {possible} there, or name a target of kind {others} in `targets` of the workload"
    yield FieldFault(path=("workloads", workload, "operations"), message=message, hint=hint)


def _through_mpi(name: str, target: Target, workload: str, work: Workload) -> Iterator[FieldFault]:
    """Refuse parameters of MPI-IO with other targets."""
    if target.through_mpi:
        return
    for field in (field for field, item in DEFINITIONS.items() if item.through_mpi):
        if work.axis(field).values() != (default_value(field, work.group),):
            message = f"{field} is for targets behind MPI-IO, and target {name} is {target.noun}"
            hint = "remove it, or limit the workload to targets of kind mpiio with `targets`"
            yield FieldFault(path=("workloads", workload, field), message=message, hint=hint)


_GROUP_NOUNS: dict[Group, str] = {
    "data": "data of files",
    "names": "names of files",
    "objects": "objects",
    "programs": "directory in which programs can work",
}
_EXAMPLE_OPERATIONS: dict[Group, str] = {"data": "write", "names": "create", "objects": "put"}
_WORDS: dict[Group, str] = {"data": "data", "names": "names", "objects": "objects", "programs": "programs"}
_OPERATIONS: dict[Group, str] = {
    "data": "operations on data",
    "names": "metadata operations",
    "objects": "operations on objects",
    "programs": "commands",
}
_INSTEAD: dict[tuple[str, Group], str] = {
    ("record_size", "names"): "metadata operations have no records: file_size is the contents of each file",
    ("record_size", "objects"): "operations on objects have no records: object_size is the size of each object",
    ("file_size", "objects"): "operations on objects have no files: object_size is the size of each object",
    **dict.fromkeys(
        (("threads", "data"), ("threads", "names"), ("threads", "objects")),
        "threads is what a command is to use; those of a workload, as vdbench's threads, are lanes: write lanes: 16",
    ),
    ("read_percent", "objects"): "operations on objects have the shares of their mix in mix",
}
"""(parameter, group of operations) -> what replaces the parameter there."""


def _kind_of_work(study: Study, name: str, workload: Workload) -> Iterator[FieldFault]:
    """Check that a workload has operations of one group (data, names or objects) and only fields of that group."""
    path, group = ("workloads", name), workload.group
    by_group: dict[Group, list[str]] = {}
    for operation in dict.fromkeys(workload.operations):
        by_group.setdefault(WORK[operation].group, []).append(operation)
    if len(by_group) > 1:
        parts = [
            f"{_WORDS[one]} ({', '.join(by_group[one])})"
            for one in ("names", "objects", "data", "programs")
            if one in by_group
        ]
        message = f"a workload has operations on {' or on '.join(parts)}, not on both"
        yield FieldFault(path=(*path, "operations"), message=message, hint="write two workloads")
        return
    if group == "programs":
        yield from command_faults(path, workload, study.is_local or study.testbed is not None)
        return
    for field in (field for field in DEFINITIONS if field in inapplicable_fields(group)):
        if workload.axis(field).values() != (default_value(field, group),):
            yield FieldFault(path=(*path, field), **_misplaced(field, group))
    if group == "names":
        yield from _names_work(path, workload)
    if group == "data":
        yield from _set_work(path, workload)
        yield from _shares(path, workload)
    yield from _files_once(path, workload)
    if group == "objects":
        targets = [study.targets[one] for one in workload.targets or study.targets if one in study.targets]
        made = not targets or not all(target.is_read_only for target in targets)
        yield from _object_work(path, workload, made)


def _misplaced(field: str, group: Group) -> dict[str, str]:
    """Return message and hint about a field that operations of a group do not have."""
    if instead := _INSTEAD.get((field, group)):
        return {"message": instead, "hint": "remove it"}
    owners = DEFINITIONS[field].only
    use = {"names": METADATA, "objects": OBJECTS}.get(owners[0])
    hint = "remove it" if use is None else f"remove it, or use {', '.join(use)}"
    words = " and ".join(_OPERATIONS[owner] for owner in owners)
    return {"message": f"{field} is for {words}, which this workload does not have", "hint": hint}


def _names_work(path: tuple[str, str], workload: Workload) -> Iterator[FieldFault]:
    if not _has_files(workload):
        yield FieldFault(path=path, message="`files` is missing", hint="add a line such as `files: 10000`")
    wrong = order_fault(workload.operations)
    if wrong:
        yield FieldFault(path=(*path, "operations"), message=wrong[0], hint=wrong[1])


def _has_files(workload: Workload) -> bool:
    """Return whether `files` or `total_files` states the number of files in every case."""
    return any(None not in workload.axis(name).values() for name in ("files", "total_files"))


def _set_work(path: tuple[str, str], workload: Workload) -> Iterator[FieldFault]:
    """Refuse parameters of sets of files for a workload on data that is not on a set."""
    if _has_files(workload):
        return
    for name in ("files", "total_files"):
        if workload.axis(name).values() != (None,):
            hint = "write numbers only, or leave it out"
            yield FieldFault(path=(*path, name), message="a set of files needs a number in every case", hint=hint)
            return
    for field in (name for name, item in DEFINITIONS.items() if item.sets_only):
        if workload.axis(field).values() != (default_value(field, "data"),):
            message = f"{field} is for a set of files, but the number of files is not set"
            hint = "add a line such as `total_files: 10000`, or remove it"
            yield FieldFault(path=(*path, field), message=message, hint=hint)


def _files_once(path: tuple[str, str], workload: Workload) -> Iterator[FieldFault]:
    """Refuse pairs of parameters that state the same thing twice."""
    pairs = (
        ("files", "total_files", None),
        ("file_size", "file_sizes", 0),
        ("file_size", "total_size", 0),
        ("file_sizes", "total_size", None),
        ("file_size", "segments", 0),
        ("total_size", "segments", None),
    )
    for one, other, unset in pairs:
        if workload.axis(other).values() != (None,) and workload.axis(one).values() != (unset,):
            message = f"{one} and {other} both set the size or number of files"
            yield FieldFault(path=(*path, other), message=message, hint=f"remove {one}, or {other}")
    if workload.axis("streams").values() != (None,) and workload.axis("lanes").values() != (1,):
        message = "streams and lanes both set the number of threads"
        yield FieldFault(path=(*path, "streams"), message=message, hint="remove lanes, or streams")
    if workload.axis("total_size").values() != (None,) and _has_files(workload):
        message = "the size of a set of files follows from its files; total_size is for one file of each lane"
        yield FieldFault(path=(*path, "total_size"), message=message, hint="remove it; total_files keeps the whole set")


def _shares(path: tuple[str, str], workload: Workload) -> Iterator[FieldFault]:
    """Refuse shares of a mix in a form that none of the operations uses."""
    with_mix = sorted(set(MIXABLE).intersection(workload.operations))
    with_percent = sorted((MIXES - set(MIXABLE)).intersection(workload.operations))
    if workload.axis("mix").values() != (None,) and not with_mix:
        message = "mix is for file_mix and object_mix, which this workload does not have"
        hint = (
            f"{with_percent[0]} takes read_percent" if with_percent else "remove it, or add file_mix to its operations"
        )
        yield FieldFault(path=(*path, "mix"), message=message, hint=hint)
    if (
        workload.axis("read_percent").values() != (default_value("read_percent", "data"),)
        and with_mix
        and not with_percent
    ):
        message = f"read_percent is for random_mix and sequential_mix, and {with_mix[0]} takes mix"
        yield FieldFault(
            path=(*path, "read_percent"), message=message, hint="remove it, and write mix: {read: 70, write: 30}"
        )


def _object_work(path: tuple[str, str], workload: Workload, made: bool) -> Iterator[FieldFault]:
    if made and None in workload.axis("object_size").values():
        yield FieldFault(path=path, message="`object_size` is missing", hint="add a line such as `object_size: 64KiB`")
    if None in workload.axis("objects").values():
        message, hint = "`objects` is empty", "write how many each lane has, or leave the line out for 1000"
        yield FieldFault(path=(*path, "objects"), message=message, hint=hint)
    for field, operations in OPERATIONS_USING.items():
        if not operations.intersection(workload.operations) and workload.axis(field).values() != (
            default_value(field, "objects"),
        ):
            words = " or ".join(sorted(operations))
            message = f"{field} is for {words}, which this workload does not have"
            yield FieldFault(path=(*path, field), message=message, hint=f"remove it, or add {words} to its operations")


def _zipped(name: str, workload: Workload) -> Iterator[FieldFault]:
    earlier: set[str] = set()
    for place, group in enumerate(workload.zip):
        path = ("workloads", name, "zip", place)
        wrong = _zip_members(group, workload, earlier)
        if wrong:
            yield FieldFault(path=path, message=wrong[0], hint=wrong[1])
            continue
        earlier.update(group)
        counts = {field: workload.axis(field).count() for field in group}
        if len(set(counts.values())) > 1:
            lengths = ", ".join(f"{field} has {count}" for field, count in counts.items())
            yield FieldFault(path=path, message=f"{lengths} values", hint="zipped axes need equally many values")


def _zip_members(group: tuple[str, ...], workload: Workload, earlier: set[str]) -> tuple[str, str] | None:
    if len(group) < 2:
        return "a group needs at least two axes", "write zip: [[lanes, queue_depth]]"
    for field in group:
        if field not in VALUE_KINDS:
            return f"there is no field `{field}`", choices_hint(field, VALUE_KINDS)
        if not workload.axis(field).swept:
            return f"`{field}` is not an axis", "give it a list of values, or take it out of zip"
        if field in earlier or group.count(field) > 1:
            return f"`{field}` comes twice", "name each axis in one group only"
    return None


def _expressions(study: Study, name: str, workload: Workload) -> Iterator[FieldFault]:
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
            yield FieldFault(path=path, message=error.message, hint=error.hint)
