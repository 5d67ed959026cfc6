"""What a run refuses before anything is made or measured: one list of questions, which `assay check` asks, too.

A refusal that needs no load belongs here. What only other hosts can tell is asked by `assay preflight`, and by the run
when it reaches them.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.contract._answers import BackendCapabilities
from assay.kinds.place import Seen, keeper_of
from assay.launch.abilities import mpi_faults, tuning_faults
from assay.launch.binary import Engine, NoAnswerError
from assay.launch.launcher import LocalLauncher
from assay.launch.locks import close_all
from assay.launch.looking import MachineLooking
from assay.launch.places import Owner, check_apart, living_problem
from assay.launch.placing import MARGIN_SECONDS, patience_of
from assay.launch.room import Lying, Needs, lying_of, place_problems
from assay.launch.shell import make_shell
from assay.model.base import AssayError
from assay.model.foreign import plain
from assay.model.site.host import THIS_HOST
from assay.model.source import Fault
from assay.model.study.study import Study
from assay.plan.capable import capability_faults
from assay.plan.crosscheck import not_mounted, outside
from assay.run.planned import Plan
from assay.run.targets import EngineProbing, MachineTaking, hint_of, refuse
from assay.site.choose import site_of
from assay.store.keeping import keeping_problem
from assay.store.lock import foreign_run_state


@dataclass(frozen=True)
class Asked:
    """What there is to be asked about.

    Attributes:
        plan: The study.
        engine: Of this machine.
        destroy: The user has confirmed that devices may be overwritten.
        needs: What is asked of places besides; None of a run that goes on, whose data is there already.
        out: Folder in which the run is to be kept; None: it is kept already.
        owner: The run that goes on, whose marks are no obstacle.
        services: Services are asked, too. A run leaves them to when it has taken what it needs of this machine.
        absent: Takes, by target, what is not there yet and will be made, in words.
    """

    plan: Plan
    engine: Engine
    destroy: bool
    needs: Needs | None = None
    out: Path | None = None
    owner: Owner | None = None
    services: bool = False
    absent: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """What came out.

    Attributes:
        places: Directory of this machine -> where it lies.
        absent: Target -> what is not there yet and will be made, in words.
        faults: Why the study cannot be measured; empty if it can, as far as is seen from this machine.
    """

    places: Mapping[str, Lying]
    absent: Mapping[str, str]
    faults: tuple[Fault, ...]


def ask(asked: Asked) -> Answered:
    """Ask all questions; nothing is made, mounted or started, and no other host is asked."""
    seen = _look(asked.plan.study, asked.plan.places, asked.destroy, asked.owner)
    faults = [fault for question in QUESTIONS for fault in question(asked, seen)]
    return Answered(lying_of(asked.plan.study, seen), asked.absent, tuple(faults))


def refuse_impossible(asked: Asked) -> Mapping[str, Lying]:
    """Refuse a run that cannot be; returns where its directories lie.

    Raises:
        AssayError: It cannot be measured; a line for each reason, and nothing was made.
    """
    found = ask(asked)
    refuse([(_line(asked.plan, fault), fault.hint) for fault in found.faults])
    return found.places


def _line(plan: Plan, fault: Fault) -> str:
    """A fault where nobody has just written the file: of a target by its name."""
    if not fault.named:
        return fault.message
    if fault.path[0] == "targets":
        return f"target {fault.path[1]}: {fault.message}"
    problem = plan.source.problem(fault)
    return f"{plan.file}:{problem.line}: {problem.message}"


def refuse_place(study: Study, name: str, destroy: bool) -> None:
    """Refuse one target of which nothing but its place is known.

    Raises:
        AssayError: Assay must not write there.
    """
    faults = _of_places(study, _look(study, [name], destroy))
    refuse([(fault.message, fault.hint) for fault in faults])


def _look(study: Study, names: Sequence[str], destroy: bool, owner: Owner | None = None) -> dict[str, Seen]:
    """What is seen of the targets of this machine; storage that hangs is one more thing that is wrong with one."""
    looking = MachineLooking(destroy, owner, patience=patience_of(study))
    seen = {}
    for name in study.seen_here(names):
        target = study.targets[name]
        try:
            seen[name] = keeper_of(target).inspect(looking)
        except AssayError as error:
            hint = error.hint or "choose another place, or change the rights"
            seen[name] = Seen([(f"{target.path}: {error.message}", hint)])
    return seen


def _site(asked: Asked, _seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """Files, programs and rights of hosts and servers; those of a run that goes on are asked for as they come up."""
    study, needed = asked.plan.study, max((case.parameters.hosts for case in asked.plan.cases), default=1)
    if asked.out is None:
        return
    where = "testbed" if study.testbed is not None else "hosts" if study.hosts.nodes or study.hosts.inventory else ""
    try:
        site_of(study, asked.plan.folder).ready(needed)
    except AssayError as error:
        yield Fault(path=(where,) if where else (), message=error.message, hint=error.hint, named=False)


def _remounts(asked: Asked, _seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """Whether what is to be mounted anew is mounted by the study, or by its testbed."""
    study, cases = asked.plan.study, asked.plan.cases
    used = sorted({(case.workload, case.target) for case in cases if case.parameters.cache == "remount"})
    if not used:
        return
    with contextlib.suppress(AssayError):  # What is wrong with the site is said elsewhere.
        there = site_of(study, asked.plan.folder, kept=asked.out is None).mounted
        for workload, name in used:
            target = study.targets[name]
            if bare := outside(target, [*there, *(mount.at for mount in target.mounted)]):
                yield Fault(path=("workloads", workload, "cache"), **not_mounted(name, bare))


def _launcher(asked: Asked, _seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """The program that starts engines on all hosts; of a job that is still to come it may be there only then."""
    study = asked.plan.study
    if study.launcher == "ssh" or study.hosts.allocated:
        return
    from assay.launch.parallel.command import find_command

    try:
        find_command(study.launcher, make_shell(THIS_HOST))
    except AssayError as error:
        yield Fault(path=("launcher",), message=error.message, hint=error.hint, named=False)


def _mpi(asked: Asked, _seen: Mapping[str, Seen]) -> Iterator[Fault]:
    yield from mpi_faults(asked.plan.study, asked.plan.cases)


def _here_only(asked: Asked, _seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """What other hosts are never asked to do."""
    study, cases = asked.plan.study, asked.plan.cases
    if study.local:
        return
    for name in sorted({case.target for case in cases}):
        if study.targets[name].whole_device:
            message, hint = "devices are measured on this machine only", "leave hosts and testbed out"
            yield Fault(path=("targets", name), message=message, hint=hint)
    for workload in sorted({case.workload for case in cases if case.parameters.cache == "limit"}):
        message, hint = "limit works on this machine only", "use another cache policy"
        yield Fault(path=("workloads", workload, "cache"), message=message, hint=hint)


def _places(asked: Asked, seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """Whether Assay may write there, there is room, and no two targets or runs are in each other's way."""
    yield from _of_places(asked.plan.study, seen, asked.owner, asked.needs)


def _of_places(
    study: Study, seen: Mapping[str, Seen], owner: Owner | None = None, needs: Needs | None = None
) -> Iterator[Fault]:
    problems = {name: [*found.problems] for name, found in seen.items()}
    for name, found in seen.items():
        if found.mark is not None and not (owner is not None and owner.owns(found.mark)):
            living = living_problem(study.targets[name].path, found.mark, foreign_run_state)
            problems[name] += [living] if living else []
    for name, more in (place_problems(study, seen, needs) if needs is not None else {}).items():
        problems[name] += more
    for name, all_of_it in problems.items():
        for message, hint in all_of_it:
            yield Fault(path=("targets", name, "path"), message=message, hint=hint)
    for message, hint in check_apart({name: found.real_path for name, found in seen.items() if found.real_path}):
        yield Fault(path=("targets",), message=message, hint=hint, named=False)


def _devices(asked: Asked, seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """Devices are taken for a moment: another run may have one."""
    study = asked.plan.study
    for name in (name for name, found in seen.items() if study.targets[name].whole_device and not found.problems):
        try:
            close_all(keeper_of(study.targets[name]).take(MachineTaking(asked.destroy, lambda _: None)))
        except AssayError as error:
            yield Fault(path=("targets", name, "path"), message=error.message, hint=error.hint)


def _able(asked: Asked, seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """What this machine and its places can do of what the cases ask; other hosts are asked by the run."""
    plan, study = asked.plan, asked.plan.study
    yield from tuning_faults(plan.cases)
    if not study.local:
        return
    patience = patience_of(study) + MARGIN_SECONDS
    backends: dict[str, BackendCapabilities] = {}
    for name in plan.places:
        target, found = study.targets[name], seen.get(name, Seen())
        if found.problems or not (asked.services or target.on_machine):
            continue
        engine = plan.engines.get(name, asked.engine)
        probing = EngineProbing(engine, LocalLauncher(engine.path), "", patience, destroy=True)
        try:
            able = keeper_of(target).foresee(probing, found)
        except AssayError as error:
            hung = f"{target.path}: storage does not answer: " if isinstance(error, NoAnswerError) else ""
            yield Fault(path=("targets", name), message=f"{hung}{error.message}", hint=hint_of(target, error))
            continue
        backends |= {name: able} if able is not None else {}
        if able is not None and able.place is not None and able.place.absent:
            asked.absent[name] = plain(able.place.absent)
    yield from capability_faults(plan.cases, backends)


def _keeping(asked: Asked, _seen: Mapping[str, Seen]) -> Iterator[Fault]:
    """The results have to be kept somewhere."""
    problem = keeping_problem(asked.out) if asked.out is not None else None
    if problem is not None:
        yield Fault(path=(), message=problem[0], hint=problem[1], named=False)


Question = Callable[[Asked, Mapping[str, Seen]], Iterator[Fault]]
QUESTIONS: tuple[Question, ...] = (_places, _devices, _able, _here_only, _remounts, _mpi, _launcher, _site, _keeping)
"""Each names what is wrong, as it stands in the study where it does."""
