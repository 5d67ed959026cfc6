"""A run's targets: looked at, claimed, tried out, and given back."""

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from assay.contract._answers import BackendCapabilities, Look, Mark, PlaceAnswer, PlaceState
from assay.launch.abilities import tuning_problems
from assay.launch.binary import Engine, NoAnswerError, probe_device
from assay.launch.cgroup import find_hierarchy, release_group
from assay.launch.launcher import Launcher
from assay.launch.layers import buffered_loop, device_of
from assay.launch.places import (
    Owner,
    above_of,
    check_apart,
    claim_target,
    inspect_target,
    inspect_text,
    living_problem,
    look_at,
    look_problems,
    release_target,
    remains,
)
from assay.launch.placing import (
    MARGIN_SECONDS,
    PATIENCE_SECONDS,
    SHORT_PATIENCE_SECONDS,
    SilentError,
    patience_of,
)
from assay.launch.questions import clean_target, probe_target
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.foreign import plain
from assay.model.result.layers import in_memory
from assay.model.result.result import IN_MEMORY, Place
from assay.model.source import Source
from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.model.study.target import DeviceTarget, FileTarget, NfsTarget, NullTarget
from assay.model.units import about_size
from assay.plan.capable import backends_by_kind, capability_faults
from assay.plan.jobs import marked_target, nfs_target
from assay.run.below import layers_below
from assay.run.fleet import Fleet
from assay.run.listener import Say
from assay.store import JournalEntry, RunStore, foreign_run_state

EXPORT = "export"
"""Kind of the journal's entries for directories in exports."""
REMOTE = "directory of hosts"
"""Kind of the journal's entries for directories on other hosts."""
DIRECTORY = "directory"
"""Kind of the journal's entries for claimed directories."""
CGROUP = "cgroup"
"""Kind of the journal's entries for memory groups."""


def refuse(problems: Sequence[tuple[str, str]]) -> None:
    """Refuse the run if there are problems: one line each.

    Args:
        problems: What is wrong, and how to mend it; empty hints are left out.

    Raises:
        AssayError: There is a problem; exit code 3.
    """
    if not problems:
        return
    *others, last = dict.fromkeys(problems)
    raise AssayError(*last, EXIT_REFUSED, tuple(others))


def used_targets(study: Study, cases: Iterable[Case]) -> list[str]:
    """Names of the targets that have a case, in the study's order."""
    used = {case.target for case in cases}
    return [name for name in study.targets if name in used]


def target_path(study: Study, name: str) -> str:
    """Directory or device of a target; empty for the null target."""
    target = study.targets[name]
    return "" if isinstance(target, NullTarget) else target.path


def inspect_targets(study: Study, names: Sequence[str], destroy: bool, owner: Owner | None = None) -> None:
    """Look at the targets without changing anything.

    Args:
        study: The study.
        names: The targets that are used.
        destroy: The user has confirmed that devices may be overwritten.
        owner: The run that is resumed, whose markers are no obstacle.

    Raises:
        AssayError: Assay must not write to one of them; nothing was written.
    """
    problems: list[tuple[str, str]] = []
    places: dict[str, str] = {}
    marks: dict[str, Mark] = {}
    for name in study.seen_here(names):
        target, path = study.targets[name], target_path(study, name)
        if isinstance(target, FileTarget) and not inspect_text(path):
            found, places[name] = _look(study, name, owner, marks)
        else:
            found = inspect_target(target.kind, path, destroy)
            places |= {name: os.path.realpath(path)} if isinstance(target, DeviceTarget) else {}
        problems += [(f"target {name}: {message}", hint) for message, hint in found]
    refuse(problems)
    refuse(check_apart(places))
    for name, mark in marks.items():
        refuse(_in_use(name, target_path(study, name), mark, owner))


def _look(study: Study, name: str, owner: Owner | None, marks: dict[str, Mark]) -> tuple[list[tuple[str, str]], str]:
    """What is wrong with a directory, and its path without links; its mark is added to `marks`."""
    path = target_path(study, name)
    try:
        look = look_at(path, patience=patience_of(study))
    except AssayError as error:
        return [(f"{path}: {error.message}", error.hint or "choose another place, or change the rights")], path
    if look.mark is not None:
        marks[name] = look.mark
    return look_problems(look, owner), look.real_path


def _in_use(name: str, path: str, mark: Mark, owner: Owner | None) -> list[tuple[str, str]]:
    if owner is not None and owner.owns(mark):
        return []
    problem = living_problem(path, mark, foreign_run_state)
    return [(f"target {name}: {problem[0]}", problem[1])] if problem else []


def owner_of(store: RunStore) -> Owner:
    """The run as the owner of directories."""
    return Owner(store.folder.name, store.folder)


def claim_targets(
    study: Study,
    names: Sequence[str],
    store: RunStore,
    say: Say,
    fleet: Fleet | None = None,
    silent: set[str] | None = None,
) -> None:
    """Make and mark the directories; each is recorded in the journal before it is made.

    Args:
        study: The study.
        names: The targets that are used.
        store: The run.
        say: Takes what there is to say.
        fleet: The hosts on which they are; None for this machine.
        silent: Takes the path of a target whose storage does not answer.

    Raises:
        AssayError: A directory cannot be made or marked.
    """
    before = {
        entry.name: entry.details.get("claimed") for entry in store.journal() if entry.kind in (DIRECTORY, REMOTE)
    }
    for name in names:
        target = study.targets[name]
        if isinstance(target, NfsTarget):
            store.record(EXPORT, target.path, {})
        if not isinstance(target, FileTarget):
            continue
        try:
            if fleet is not None:
                _claim_elsewhere(target.path, store, fleet, patience_of(study), before.get(target.path), say)
            else:
                _claim_here(study, target.path, store, before.get(target.path), say)
        except SilentError as error:
            if silent is not None:
                silent.add(target.path)
            raise AssayError(f"target {name}: {error.message}", error.hint, error.exit_code) from None


def _claim_here(study: Study, path: str, store: RunStore, before: object, say: Say) -> None:
    keep, patience = study.output.keep_files, patience_of(study)
    known: dict[str, object] = {"above": above_of(path, patience=patience)} | ({"claimed": before} if before else {})
    entry = store.record(DIRECTORY, path, known)
    store.amend(entry, known)
    claimed = claim_target(path, owner_of(store), foreign_run_state, keep, patience=patience)
    store.amend(entry, {**known, "claimed": claimed.identity})
    _warn(claimed, say)
    _warn_other(path, before, claimed, say)


def _claim_elsewhere(path: str, store: RunStore, fleet: Fleet, patience: float, before: object, say: Say) -> None:
    entry = store.record(REMOTE, path, {})
    above: dict[str, str] = {}
    earlier = before if isinstance(before, dict) else {}
    found: dict[str, object] = dict(earlier)
    for host, launcher in zip(fleet.hosts, fleet.launchers, strict=True):
        try:
            above[host.name] = above_of(path, launcher, patience)
            store.amend(entry, {"claimed": dict(found), "above": dict(above)})
            claimed = claim_target(path, owner_of(store), foreign_run_state, False, launcher, True, patience)
        except AssayError as error:
            raise AssayError(f"host {host.name}: {error.message}", error.hint, error.exit_code) from None
        found[host.name] = claimed.identity
        store.amend(entry, {"claimed": dict(found), "above": dict(above)})
        _warn(claimed, say)
        _warn_other(f"host {host.name}: {path}", earlier.get(host.name), claimed, say)


def _warn_other(path: str, before: object, claimed: PlaceAnswer, say: Say) -> None:
    """Say that a run goes on in another directory than it had claimed, whose file system may be mounted no more."""
    if before and before != claimed.identity:
        say(f"warning: {path}: is not the directory that this run had claimed before: what that one holds stays")


def _warn(claimed: PlaceAnswer, say: Say) -> None:
    for line in remains(claimed):
        say(f"warning: could not be removed: {line}")


def release_targets(
    store: RunStore,
    study: Study | None = None,
    launcher: Launcher | None = None,
    fleet: Fleet | None = None,
    keep: bool = False,
    silent: Collection[str] = (),
    patience: float = PATIENCE_SECONDS,
) -> list[str]:
    """Remove everything that the run made outside its folder; returns what could not be removed, one line each.

    Args:
        store: The run, open for writing.
        study: Its study, which names the exports; left out where there are none.
        launcher: Where exports can be reached from; left out where there can be none.
        fleet: The other hosts, if there are any.
        keep: Data on other hosts stays where it is.
        silent: Paths of targets whose storage did not answer.
        patience: Seconds after which storage that does not answer counts as hung.
    """
    left = []
    for entry in store.journal():
        seconds = min(patience, SHORT_PATIENCE_SECONDS) if entry.name in silent else patience
        if entry.kind == EXPORT:
            # Only engines make anything in an export.
            problems: list[str] | None = _release_export(entry, study, launcher) if store.attempts() else []
        elif entry.kind == REMOTE:
            problems = None if keep or fleet is None else _release_elsewhere(entry, store, fleet, seconds)
        else:
            problems = _release(entry, store, seconds)
        if entry.name in silent:
            problems = problems and [f"{line} (its storage did not answer)" for line in problems]
        left += problems or []
        if problems == []:
            # A results disk that is full must not keep the next target from being given back.
            with contextlib.suppress(AssayError):
                store.removed(entry.id)
    return left


def _release_elsewhere(entry: JournalEntry, store: RunStore, fleet: Fleet, patience: float) -> list[str]:
    claimed, above = (entry.details.get(key) or {} for key in ("claimed", "above"))
    left, released = [], False
    for host, launcher in zip(fleet.hosts, fleet.launchers, strict=True):
        numbers = str(claimed.get(host.name, ""))
        over = str(above.get(host.name, ""))
        lines = release_target(entry.name, owner_of(store), numbers, launcher, patience, over)
        if lines and released and _given_back(entry.name, numbers, launcher, patience):
            lines = []
        released |= lines == []
        left += [f"host {host.name}: {line}" for line in lines or []]
    return left


def _given_back(path: str, claimed: str, launcher: Launcher, patience: float) -> bool:
    """Whether a directory that hosts share is the one that was claimed, and another host has taken all out of it."""
    try:
        look = look_at(path, launcher, patience)
    except AssayError:
        return False
    unmarked = look.mark is None and not look.bad_mark and not look.has_work
    return look.state == PlaceState.directory and look.identity == claimed and unmarked


def _release_export(entry: JournalEntry, study: Study | None, launcher: Launcher | None) -> list[str]:
    """A journal is a claim, not an order: only an export that the study names is cleaned."""
    targets = study.targets.values() if study is not None else ()
    target = next((one for one in targets if isinstance(one, NfsTarget) and one.path == entry.name), None)
    if target is None:
        return [plain(f"{entry.name}: is no export of this study: left alone")]
    if launcher is None:
        return [f"{entry.name}: no host can reach it"]
    try:
        clean_target(launcher, nfs_target(target, "none").model_dump_json(), whole=True)
    except AssayError as error:
        return [f"{entry.name}: {error.message}"]
    return []


def _release(entry: JournalEntry, store: RunStore, patience: float) -> list[str] | None:
    """Remove one thing of the journal; returns why it is still there, None if it is to stay."""
    if entry.kind == CGROUP:
        return release_group(entry.name, store.folder.name)
    if entry.kind != DIRECTORY or inspect_text(entry.name):
        return [plain(f"{entry.name}: nothing that a run makes: left alone")]
    claimed, above = (entry.details.get(key, "") for key in ("claimed", "above"))
    return release_target(entry.name, owner_of(store), claimed, patience=patience, above=str(above))


def probe_targets(
    study: Study, names: Sequence[str], engine: Engine, launcher: Launcher, owner: Owner
) -> dict[str, BackendCapabilities]:
    """What the engine can do at each target, found by trying; for the null target what it says of itself.

    Args:
        study: The study.
        names: The targets that are used.
        engine: The engine of this machine.
        launcher: Where exports, and directories of other hosts, can be reached from.
        owner: The run that has claimed the directories.

    Raises:
        AssayError: The engine refuses a place.
    """
    general = backends_by_kind(engine.capabilities.backends)
    found = {}
    for name in names:
        kind = study.targets[name].kind
        if kind == "null" and kind in general:
            found[name] = general[kind]
            continue
        target = study.targets[name]
        try:
            if isinstance(target, NfsTarget):
                found[name] = probe_target(launcher, nfs_target(target, "none").model_dump_json())
                continue
            if isinstance(target, FileTarget):
                marked = marked_target(target, owner.identity).model_dump_json()
                found[name] = probe_target(launcher, marked, patience_of(study) + MARGIN_SECONDS)
                continue
            found[name] = probe_device(engine.path, target_path(study, name))
        except AssayError as error:
            hung = f"{target_path(study, name)}: storage does not answer: " if isinstance(error, NoAnswerError) else ""
            raise AssayError(f"target {name}: {hung}{error.message}", error.hint, EXIT_REFUSED) from None
    return found


def check_capable(
    study: Study, cases: Sequence[Case], backends: dict[str, BackendCapabilities], source: Source, file: str
) -> None:
    """Refuse cases that cannot be done, before anything is measured.

    Args:
        study: The study.
        cases: Its cases.
        backends: Target -> what can be done there.
        source: Where each value stands in the study file.
        file: The study file's name for the message.

    Raises:
        AssayError: There is such a case; each distinct reason is one line.
    """
    problems = [source.problem(fault) for fault in capability_faults(study, cases, backends)]
    refuse([(f"{file}:{problem.line}: {problem.message}", problem.hint) for problem in problems])
    refuse([(f"{file}: {text}", hint) for case in cases for text, hint in tuning_problems(case.parameters)])
    if any(case.parameters.cache == "limit" for case in cases):
        find_hierarchy()


def looks_at(study: Study, names: Sequence[str]) -> dict[str, Look]:
    """What an engine sees of each directory of this machine.

    Raises:
        AssayError: The storage does not answer.
    """
    here = [name for name in study.seen_here(names) if isinstance(study.targets[name], FileTarget)]
    return {name: look_at(target_path(study, name), patience=patience_of(study)) for name in here}


def make_places(study: Study, backends: dict[str, BackendCapabilities], looks: Mapping[str, Look]) -> tuple[Place, ...]:
    """Where the targets turned out to be; the directories themselves, which may hang, are not touched."""
    places = []
    for name, backend in backends.items():
        place, target, path = backend.place, study.targets[name], target_path(study, name)
        filesystem = place.filesystem if place else backend.kind
        layers = layers_below(target, filesystem, looks.get(name), bool(study.seen_here([name])))
        stacked_on = buffered_loop(layers)
        places.append(
            Place(
                target=name,
                kind=backend.kind,
                path=path,
                filesystem=layers[0].name if filesystem == "unknown" and layers else filesystem,
                memory_backed=filesystem in IN_MEMORY or in_memory(layers),
                direct_bypasses_cache=backend.direct_bypasses_cache and stacked_on is None,
                free_bytes=place.free_bytes if place else 0,
                device=path if backend.kind == "device" else device_of(layers),
                limits=tuple(place.limits) if place else (),
                stacked_on=stacked_on,
                servers=target.host_names if isinstance(target, NfsTarget) else (),
                layers=layers,
            )
        )
    return tuple(places)


def space_notes(peak_space: Mapping[str, int], places: Iterable[Place]) -> list[str]:
    """One line for each target that is too small for a case; such a case will show the error it meets.

    Args:
        peak_space: Target -> bytes of test data in place at once.
        places: The targets.
    """
    notes = []
    for place in places:
        size = peak_space.get(place.target, 0)
        if place.kind != "null" and size > place.free_bytes:
            what = f"needs {about_size(size)}, {about_size(place.free_bytes)} are free"
            notes.append(f"warning: target {place.target} ({place.path}): {what}: there will be errors")
    return notes
