"""The checks that can refuse a run before anything is made or measured. `assay check` makes the same checks.

Every refusal that needs no load belongs here. Facts that only other hosts know are checked by `assay preflight`, and by
the run when it reaches the hosts.
"""

import contextlib
import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.contract._answers import BackendCapabilities, TraceContents
from assay.kinds.handler import Inspection, handler_of
from assay.launch.binary import Engine, NoAnswerError
from assay.launch.free_space import MountInfo, SpaceRequirement, mount_infos, place_problems
from assay.launch.inspector import MachineInspector
from assay.launch.launcher import LocalLauncher
from assay.launch.locks import close_all
from assay.launch.machine_checks import mpi_faults, tuning_faults
from assay.launch.place_commands import MARGIN_SECONDS, patience_of
from assay.launch.places import Owner, other_run_problem, overlap_problems
from assay.launch.shell import make_shell
from assay.launch.traces import trace_contents
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.site.host import THIS_HOST
from assay.model.source import FieldFault
from assay.model.study.study import Study
from assay.plan.capability_check import capability_faults
from assay.plan.crosscheck import unmounted_fault, unmounted_path
from assay.run.places.targets import EngineProber, MachineLocker, hint_of, refuse
from assay.run.program_files import program_faults, sha256_fault
from assay.run.study_plan import Plan
from assay.site.choose import site_of
from assay.store.lock import foreign_run_state
from assay.store.runs_folder import runs_folder_problem


@dataclass(frozen=True)
class CheckRequest:
    """The input of the checks.

    Attributes:
        plan: The study.
        engine: The engine of this machine.
        destroy: The user has confirmed that devices may be overwritten.
        space: Space that places must have; None for a run that is resumed, whose data exists already.
        out: Folder in which the run is to be stored; None if it is stored already.
        owner: The run that is resumed, whose marks are no obstacle.
        services: Also check services. A run checks them only after it has claimed what it needs of this machine.
        absent: Filled with what does not exist yet and will be made, in words, for each target.
        traces: Filled with what the traces hold, by workload.
    """

    plan: Plan
    engine: Engine
    destroy: bool
    space: SpaceRequirement | None = None
    out: Path | None = None
    owner: Owner | None = None
    services: bool = False
    absent: dict[str, str] = field(default_factory=dict)
    traces: dict[str, TraceContents] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckResult:
    """The result of the checks.

    Attributes:
        places: Directory of this machine -> the file system that it is on.
        absent: Target -> what does not exist yet and will be made, in words.
        traces: Workload -> what the trace holds that it replays.
        faults: Why the study cannot be measured; empty if it can, judging from this machine.
    """

    places: Mapping[str, MountInfo]
    absent: Mapping[str, str]
    traces: Mapping[str, TraceContents]
    faults: tuple[FieldFault, ...]


def run_checks(request: CheckRequest) -> CheckResult:
    """Make all checks; nothing is made, mounted or started, and no other host is contacted."""
    inspected = _inspect(request.plan.study, request.plan.places, request.destroy, request.owner)
    faults = [fault for check in CHECKS for fault in check(request, inspected)]
    return CheckResult(mount_infos(request.plan.study, inspected), request.absent, request.traces, tuple(faults))


def refuse_impossible(request: CheckRequest) -> Mapping[str, MountInfo]:
    """Refuse a run that cannot be measured; returns the file systems of its directories.

    Raises:
        AssayError: It cannot be measured; a line for each reason, and nothing was made.
    """
    result = run_checks(request)
    refuse([(_line(request.plan, fault), fault.hint) for fault in result.faults])
    return result.places


def _line(plan: Plan, fault: FieldFault) -> str:
    """Return a fault as a line for a user who has not just edited the file: a fault of a target names the target."""
    if not fault.names_field:
        return fault.message
    if fault.path[0] == "targets":
        return f"target {fault.path[1]}: {fault.message}"
    problem = plan.source.problem(fault)
    return f"{plan.file}:{problem.line}: {problem.message}"


def refuse_place(study: Study, name: str, destroy: bool) -> None:
    """Refuse one target of which only the place is known.

    Raises:
        AssayError: Assay must not write there.
    """
    faults = _place_faults(study, _inspect(study, [name], destroy))
    refuse([(fault.message, fault.hint) for fault in faults])


def _inspect(study: Study, names: Sequence[str], destroy: bool, owner: Owner | None = None) -> dict[str, Inspection]:
    """Inspect the targets of this machine; storage that hangs is one of the problems of its target."""
    inspector = MachineInspector(destroy, owner, patience=patience_of(study))
    inspected = {}
    for name in study.inspectable_targets(names):
        target = study.targets[name]
        try:
            inspected[name] = handler_of(target).inspect(inspector)
        except AssayError as error:
            hint = error.hint or "choose another directory, or change its permissions"
            inspected[name] = Inspection([(f"{target.path}: {error.message}", hint)])
    return inspected


def _site(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check files, programs and rights of hosts and servers; for a resumed run, bringing up the site checks them."""
    study, needed = request.plan.study, max((case.parameters.hosts for case in request.plan.cases), default=1)
    if request.out is None:
        return
    where = "testbed" if study.testbed is not None else "" if study.hosts.is_empty else "hosts"
    try:
        site_of(study, request.plan.folder).check_ready(needed)
    except AssayError as error:
        yield FieldFault(path=(where,) if where else (), message=error.message, hint=error.hint, names_field=False)


def _remounts(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that what is to be remounted is mounted by the study, or by its box."""
    study, cases = request.plan.study, request.plan.cases
    pairs = sorted({(case.workload, case.target) for case in cases if case.parameters.cache == "remount"})
    if not pairs:
        return
    with contextlib.suppress(AssayError):  # `_site` reports what is wrong with the site.
        mount_points = site_of(study, request.plan.folder, is_run_folder=request.out is None).mount_points
        for workload, name in pairs:
            target = study.targets[name]
            if bare := unmounted_path(target, [*mount_points, *(mount.at for mount in target.study_mounts)]):
                yield FieldFault(path=("workloads", workload, "cache"), **unmounted_fault(name, bare))


def _launcher(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that the program that starts engines on all hosts exists; a job that is yet to start may have it later."""
    study = request.plan.study
    if study.launcher == "ssh" or study.hosts.is_allocated:
        return
    from assay.launch.parallel.command import find_command

    try:
        find_command(study.launcher, make_shell(THIS_HOST))
    except AssayError as error:
        yield FieldFault(path=("launcher",), message=error.message, hint=error.hint, names_field=False)


def _mpi(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    yield from mpi_faults(request.plan.study, request.plan.cases)


def _here_only(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that other hosts need not do what only this machine can."""
    study, cases = request.plan.study, request.plan.cases
    if study.is_local:
        return
    for name in sorted({case.target for case in cases}):
        if study.targets[name].whole_device:
            message, hint = "devices can be measured only on this machine", "leave out `hosts` and `testbed`"
            yield FieldFault(path=("targets", name), message=message, hint=hint)
    for workload in sorted({case.workload for case in cases if case.parameters.cache == "limit"}):
        message, hint = "`cache: limit` works only on this machine", "use another cache policy"
        yield FieldFault(path=("workloads", workload, "cache"), message=message, hint=hint)


def _places(request: CheckRequest, inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that Assay may write to the places, that they have the space, and that no two targets or runs conflict."""
    yield from _place_faults(request.plan.study, inspected, request.owner, request.space)


def _place_faults(
    study: Study, inspected: Mapping[str, Inspection], owner: Owner | None = None, needs: SpaceRequirement | None = None
) -> Iterator[FieldFault]:
    problems = {name: [*found.problems] for name, found in inspected.items()}
    for name, found in inspected.items():
        if found.mark is not None and not (owner is not None and owner.owns(found.mark)):
            conflict = other_run_problem(study.targets[name].path, found.mark, foreign_run_state)
            problems[name] += [conflict] if conflict else []
    for name, space_problems in (place_problems(study, inspected, needs) if needs is not None else {}).items():
        problems[name] += space_problems
    for name, target_problems in problems.items():
        for message, hint in target_problems:
            yield FieldFault(path=("targets", name, "path"), message=message, hint=hint)
    for message, hint in overlap_problems(
        {name: found.real_path for name, found in inspected.items() if found.real_path}
    ):
        yield FieldFault(path=("targets",), message=message, hint=hint, names_field=False)


def _devices(request: CheckRequest, inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that devices can be locked, by locking them for a moment: another run may use one."""
    study = request.plan.study
    for name in (name for name, found in inspected.items() if study.targets[name].whole_device and not found.problems):
        try:
            close_all(handler_of(study.targets[name]).lock(MachineLocker(request.destroy, lambda _: None)))
        except AssayError as error:
            yield FieldFault(path=("targets", name, "path"), message=error.message, hint=error.hint)


def _capabilities(request: CheckRequest, inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that this machine and its places can do what the cases need; the run checks other hosts."""
    plan, study = request.plan, request.plan.study
    yield from tuning_faults(plan.cases)
    if not study.is_local:
        return
    patience = patience_of(study) + MARGIN_SECONDS
    backends: dict[str, BackendCapabilities] = {}
    for name in plan.places:
        target, inspection = study.targets[name], inspected.get(name, Inspection())
        if inspection.problems or not (request.services or target.has_kernel_path):
            continue
        engine = plan.engines.get(name, request.engine)
        probing = EngineProber(engine, LocalLauncher(engine.path), "", patience, destroy=True)
        try:
            capabilities = handler_of(target).probe_before_claim(probing, inspection)
        except AssayError as error:
            hung = f"{target.path}: storage does not answer: " if isinstance(error, NoAnswerError) else ""
            yield FieldFault(path=("targets", name), message=f"{hung}{error.message}", hint=hint_of(target, error))
            continue
        backends |= {name: capabilities} if capabilities is not None else {}
        if capabilities is not None and capabilities.place is not None and capabilities.place.absent:
            request.absent[name] = escape_line(capabilities.place.absent)
    yield from capability_faults(plan.cases, backends)


def _storing(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that the results can be stored."""
    problem = runs_folder_problem(request.out) if request.out is not None else None
    if problem is not None:
        yield FieldFault(path=(), message=problem[0], hint=problem[1], names_field=False)


def _programs(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check programs and input files of commands, if this machine executes them."""
    study = request.plan.study
    if study.is_local and study.testbed is None:
        for name in dict.fromkeys(case.workload for case in request.plan.cases):
            command = study.workloads[name].command
            if command is not None:
                yield from program_faults(("commands", name), command)


def _traces(request: CheckRequest, inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check that traces can be replayed, are the ones that the study means, and that their files fit."""
    study = request.plan.study
    for name in dict.fromkeys(case.workload for case in request.plan.cases):
        replay, field_path = study.workloads[name].replay, ("commands", name, "replay")
        if replay is None:
            continue
        path, sha256 = replay.replay.path, replay.replay.sha256
        try:
            contents = request.traces[name] = trace_contents(request.engine, path)
        except AssayError as error:
            hint = error.hint or "name a trace that `assay record` or `assay trace import` has written"
            yield FieldFault(path=field_path, message=error.message, hint=hint)
            continue
        if sha256 not in (None, contents.sha256):
            yield sha256_fault(field_path, path, contents.sha256, sha256)
    if request.space is None:
        return
    needs: dict[str, int] = {}
    for case in request.plan.cases:
        if case.workload in request.traces:
            copies = request.traces[case.workload].space_bytes * (case.parameters.tasks or 1)
            needs[case.target] = max(needs.get(case.target, 0), copies)
    for name, problems in place_problems(study, inspected, SpaceRequirement(needs, allows_root=True)).items():
        for message, hint in problems:
            yield FieldFault(path=("targets", name, "path"), message=message, hint=hint)


def _replications(request: CheckRequest, _inspected: Mapping[str, Inspection]) -> Iterator[FieldFault]:
    """Check what replications need of a box, whose hosts have this machine's programs."""
    study = request.plan.study
    if not study.replication or study.testbed is None:
        return
    for name, entry in study.replication.items():
        for program in entry.programs():
            if shutil.which(program) is None:
                message, hint = f"this machine has no program {program}, which the hosts of the box need", "install it"
                yield FieldFault(path=("replication", name, "replicator"), message=message, hint=hint)
    with contextlib.suppress(AssayError):  # `_site` reports what is wrong with the site.
        site = site_of(study, request.plan.folder, is_run_folder=request.out is None)
        for name, entry in study.replication.items():
            for host, target in itertools.product(entry.btrfs_hosts(), entry.targets or study.targets):
                found = site.filesystem_at(host, study.targets[target].path)
                if found != "btrfs":
                    message = f"{study.targets[target].path} on {host} has no snapshots"
                    message += f": it is on {found}" if found else ": it is on no disk of the box"
                    hint = "give the host a disk with `filesystem: btrfs` there"
                    yield FieldFault(path=("replication", name), message=message, hint=hint)


Check = Callable[[CheckRequest, Mapping[str, Inspection]], Iterator[FieldFault]]
CHECKS: tuple[Check, ...] = (
    _places,
    _devices,
    _capabilities,
    _here_only,
    _remounts,
    _mpi,
    _launcher,
    _site,
    _storing,
    _programs,
    _traces,
    _replications,
)
"""All checks; each reports faults by their place in the study, if they have one."""
