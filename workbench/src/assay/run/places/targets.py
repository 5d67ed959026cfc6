"""Inspects and probes a run's targets."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

from pydantic import BaseModel

from assay.contract._answers import BackendCapabilities, Look
from assay.kinds.handler import Inspection, handler_of
from assay.launch.binary import Engine, NoAnswerError, probe_device
from assay.launch.cgroup import find_controller
from assay.launch.devices import device_summary, inspect_device
from assay.launch.engine_commands import probe_target
from assay.launch.free_space import known_capabilities, mount_info
from assay.launch.launcher import Launcher
from assay.launch.layers import buffered_loop, device_of
from assay.launch.locks import close_all, lock_device
from assay.launch.place_commands import MARGIN_SECONDS, patience_of
from assay.launch.places import Owner, inspect_path
from assay.model.base import EXIT_REFUSED, AssayError, Code, PrintLine, WarningLine, warning
from assay.model.result.layers import is_in_memory
from assay.model.result.run import MEMORY_FILESYSTEMS, TargetPlace
from assay.model.source import YamlSource
from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.model.study.target import Target
from assay.model.units import about_size
from assay.plan.capability_check import backends_by_kind, capability_faults
from assay.run.places.target_layers import MachineLayerFinder

SERVICE_HINT = "correct the target in the study, or check its service"
PLACE_HINT = "name another directory or device, or repair this one"


def refuse(problems: Sequence[tuple[str, str]], code: Code | None = None) -> None:
    """Refuse the run if there are problems: one line each.

    Args:
        problems: What is wrong, and how to mend it; empty hints are left out.
        code: Code of the error.

    Raises:
        AssayError: There is a problem; exit code 3.
    """
    if not problems:
        return
    *others, last = dict.fromkeys(problems)
    raise AssayError(*last, EXIT_REFUSED, tuple(others), code)


def used_targets(study: Study, cases: Iterable[Case]) -> list[str]:
    """Return the names of the targets that have a case, in the study's order."""
    used = {case.target for case in cases}
    return [name for name in study.targets if name in used]


def target_path(study: Study, name: str) -> str:
    """Return the path of a target; empty if it has none."""
    return study.targets[name].path


def probe_targets(
    study: Study,
    names: Sequence[str],
    engine: Engine,
    launcher: Launcher,
    owner: Owner,
    destroy: bool,
    hosts: Mapping[str, Launcher] = MappingProxyType({}),
) -> dict[str, BackendCapabilities]:
    """Return what the engine can do at each target, found by trying; for the null target, what it states itself.

    Args:
        study: The study.
        names: The targets that are used.
        engine: The engine of this machine.
        launcher: Starts engines where exports, and directories of other hosts, can be reached.
        owner: The run that has claimed the directories.
        destroy: The user has confirmed that devices and buckets may be written to.
        hosts: All hosts that generate load, by name; empty if only this machine does.

    Raises:
        AssayError: The engine refuses a place.
    """
    probing = EngineProber(engine, launcher, owner.identity, patience_of(study) + MARGIN_SECONDS, destroy, hosts)
    backends = {}
    for name in names:
        try:
            backends[name] = handler_of(study.targets[name]).probe(probing)
        except AssayError as error:
            hung = f"{target_path(study, name)}: storage does not answer: " if isinstance(error, NoAnswerError) else ""
            raise AssayError(
                f"target {name}: {hung}{error.message}", hint_of(study.targets[name], error), EXIT_REFUSED
            ) from None
    return backends


def hint_of(target: Target, error: AssayError) -> str:
    """Return how to mend an engine's error about a target: the error's own hint, or where to look."""
    return error.hint or (PLACE_HINT if target.has_kernel_path else SERVICE_HINT)


class MachineLocker:
    """Locks devices for kinds of target, since only one process may use them (`assay.kinds.handler.Taking`)."""

    def __init__(self, destroy: bool, print_line: PrintLine, name: str = "") -> None:
        """Lock nothing yet.

        Args:
            destroy: The user has confirmed that devices may be overwritten.
            print_line: Prints a line.
            name: Name of the target; empty if the user has not named it.
        """
        self.destroy = destroy
        self.say = print_line
        self.before = f"target {name}: " if name else ""

    def device(self, path: str) -> list[int]:
        """Lock a device, and inspect it again: the path may lead to another device by now."""
        locks = lock_device(path)
        try:
            refuse([(f"{self.before}{text}", hint) for text, hint in inspect_device(path, self.destroy)])
        except AssayError:
            close_all(locks)
            raise
        self.say(f"{self.before}will be overwritten: {device_summary(path)}")
        return locks


class EngineProber:
    """Asks the engine what it can do, for kinds of target (`assay.kinds.handler.Probing`)."""

    def __init__(
        self,
        engine: Engine,
        launcher: Launcher,
        run: str,
        patience: float,
        destroy: bool,
        hosts: Mapping[str, Launcher] = MappingProxyType({}),
    ) -> None:
        """Probe nothing yet.

        Args:
            engine: The engine of this machine.
            launcher: Starts engines where exports, and directories of other hosts, can be reached.
            run: Identity of the run.
            patience: Seconds to wait for storage that hangs.
            destroy: As for `probe_targets`.
            hosts: As for `probe_targets`.
        """
        self.hosts = hosts
        self.destroy = destroy
        self.engine = engine
        self.launcher = launcher
        self.run = run
        self.patience = patience

    def general(self, kind: str) -> BackendCapabilities:
        """Return what the engine states about a kind of target, without trying."""
        backends = backends_by_kind(self.engine.capabilities.backends)
        if kind not in backends:
            raise AssayError(f"the engine has no {kind} targets", "install engine and workbench of the same release")
        return backends[kind]

    def probe_target(self, target: BaseModel, may_hang: bool = False, everywhere: bool = False) -> BackendCapabilities:
        """Return what the engine found by trying; on several hosts, what the first host found."""
        text, seconds = target.model_dump_json(), self.patience if may_hang else None
        if not everywhere or not self.hosts:
            return probe_target(self.launcher, text, seconds)
        from assay.launch.environment.remote import AT_ONCE

        def probe(host: str) -> BackendCapabilities:
            try:
                return probe_target(self.hosts[host], text, seconds)
            except AssayError as error:
                raise error.at(f"host {host}") from None

        with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            first, *_ = pool.map(probe, self.hosts)
        return first

    def device(self, path: str) -> BackendCapabilities:
        """Return what the engine found by trying a device of this machine."""
        return probe_device(self.engine.path, path)

    def directory(self, kind: str, inspection: Inspection) -> BackendCapabilities:
        """Return what the engine can do in a directory of this machine, judging from the layers below."""
        return known_capabilities(self.general(kind), mount_info(inspection.real_path, inspection.space))


def check_capable(
    cases: Sequence[Case], backends: dict[str, BackendCapabilities], source: YamlSource, file: str
) -> None:
    """Refuse cases that cannot be done, before anything is measured.

    Args:
        cases: Cases of the study.
        backends: Target -> what can be done there.
        source: The position of each value in the study file.
        file: The study file's name for the message.

    Raises:
        AssayError: There is such a case; each distinct reason is one line.
    """
    faults = capability_faults(cases, backends)
    problems = [source.problem(fault) for fault in faults]
    code = next((fault.code for fault in faults if fault.code is not None), None)
    refuse([(f"{file}:{problem.line}: {problem.message}", problem.hint) for problem in problems], code)
    if any(case.parameters.cache == "limit" for case in cases):
        find_controller()


def look_at_directories(study: Study, names: Sequence[str]) -> dict[str, Look]:
    """Return what an engine sees of each directory of this machine.

    Raises:
        AssayError: The storage does not answer.
    """
    names_here = [name for name in study.inspectable_targets(names) if study.targets[name].is_directory]
    return {name: inspect_path(target_path(study, name), patience=patience_of(study)) for name in names_here}


def make_places(
    study: Study, backends: dict[str, BackendCapabilities], looks: Mapping[str, Look]
) -> tuple[TargetPlace, ...]:
    """Describe where the targets are, without access to the directories, which may hang."""
    places = []
    for name, backend in backends.items():
        place, target, path = backend.place, study.targets[name], target_path(study, name)
        filesystem = place.filesystem if place else backend.kind
        layers = handler_of(target).layers(filesystem, looks.get(name), MachineLayerFinder())
        stacked_on = buffered_loop(layers)
        places.append(
            TargetPlace(
                target=name,
                kind=backend.kind,
                path=path,
                filesystem=layers[0].name if filesystem == "unknown" and layers else filesystem,
                memory_backed=filesystem in MEMORY_FILESYSTEMS or is_in_memory(layers),
                direct_bypasses_cache=backend.direct_bypasses_cache and stacked_on is None,
                free_bytes=place.free_bytes if place else None,
                device=path if target.whole_device else device_of(layers),
                limits=tuple(place.limits) if place else (),
                stacked_on=stacked_on,
                servers=target.server_names,
                remote=target.keeps_data and not target.through_kernel,
                layers=layers,
                started_server=target.started_server,
            )
        )
    return tuple(places)


def space_notes(peak_space: Mapping[str, int], places: Iterable[TargetPlace]) -> list[WarningLine]:
    """Return a line for each target that is too small for a case; such a case will have errors.

    Args:
        peak_space: Target -> most bytes of test data that exist at once.
        places: The targets.
    """
    notes = []
    for place in places:
        size = peak_space.get(place.target, 0)
        if place.free_bytes is not None and size > place.free_bytes:
            what = f"needs {about_size(size)}, {about_size(place.free_bytes)} are free"
            notes.append(warning(f"target {place.target} ({place.path}): {what}: the run will have errors"))
    return notes
