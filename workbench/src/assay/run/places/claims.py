"""Things that a run makes outside its folder: claimed before it measures, and released whatever happens."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from assay.contract._answers import PlaceAnswer, PlaceState
from assay.journal.entry import CGROUP, DIRECTORY, EXPORT, JOB_EXTRAS, MOUNT, REMOTE, Entry
from assay.journal.removal import Remover, remove_open
from assay.kinds.handler import handler_of
from assay.launch.cgroup import release_group
from assay.launch.engine_commands import clean_target
from assay.launch.launcher import Launcher
from assay.launch.place_commands import PATIENCE_SECONDS, SILENT_PATIENCE_SECONDS, SilentStorageError, patience_of
from assay.launch.places import (
    Owner,
    claim_target,
    inspect_path,
    leftover_lines,
    parent_numbers,
    path_problems,
    release_target,
)
from assay.launch.shell import Shell
from assay.model.base import AssayError, PrintLine, warning
from assay.model.escape import escape_line
from assay.model.study.study import Study
from assay.run.fleet import Fleet
from assay.store import RunStore, foreign_run_state


def run_owner(store: RunStore) -> Owner:
    """Return the run as the owner of directories."""
    return Owner(store.made_as.name, store.made_as)


def claim_targets(
    study: Study,
    names: Sequence[str],
    store: RunStore,
    print_line: PrintLine,
    fleet: Fleet | None = None,
    silent: set[str] | None = None,
    destroy: bool = False,
) -> None:
    """Make and mark the directories; the journal records each before it is made.

    Args:
        study: The study.
        names: The targets that are used.
        store: The run.
        print_line: Prints a line.
        fleet: The hosts that have them; None: this machine.
        silent: Gets the path of a target whose storage does not answer.
        destroy: The user has confirmed that devices and buckets may be written to.

    Raises:
        AssayError: A directory cannot be made or marked.
    """
    claiming = RunClaimer(study, store, print_line, fleet, destroy)
    for name in names:
        target = study.targets[name]
        try:
            handler_of(target).claim(claiming)
        except SilentStorageError as error:
            if silent is not None:
                silent.add(target.path)
            raise error.at(f"target {name}") from None


class RunClaimer:
    """Makes and marks places for kinds of target (`assay.kinds.handler.Claiming`)."""

    def __init__(
        self, study: Study, store: RunStore, print_line: PrintLine, fleet: Fleet | None, destroy: bool
    ) -> None:
        """Make nothing yet; arguments as for `claim_targets`."""
        self.study = study
        self.store = store
        self.say = print_line
        self.fleet = fleet
        self.destroy = destroy
        self.before = {
            entry.name: entry.details.get("claimed") for entry in store.entries() if entry.kind in (DIRECTORY, REMOTE)
        }
        """Directory -> what this run had claimed when it was stopped."""

    def directory(self, path: str) -> None:
        """Make and mark a directory on each machine that generates load."""
        before = self.before.get(path)
        if self.fleet is not None and not self.fleet.is_local:
            _claim_on_hosts(path, self.store, self.fleet, patience_of(self.study), before, self.say)
        else:
            _claim_here(self.study, path, self.store, before, self.say)

    def by_engines(self, path: str) -> None:
        """Record that engines will make something in this place."""
        self.store.record(EXPORT, path, {"destroy": self.destroy})


def _claim_here(study: Study, path: str, store: RunStore, before: object, print_line: PrintLine) -> None:
    keep, patience = study.output.keep_files, patience_of(study)
    details: dict[str, object] = {"above": parent_numbers(path, patience=patience)} | (
        {"claimed": before} if before else {}
    )
    entry = store.record(DIRECTORY, path, details)
    store.amend(entry, details)
    is_other = before and not _has_own_mark(path, store, None, patience)
    claimed = claim_target(path, run_owner(store), foreign_run_state, keep, patience=patience)
    store.amend(entry, {**details, "claimed": claimed.identity})
    _warn(claimed, print_line)
    _warn_other(path, before if is_other else None, claimed, print_line)


def _claim_on_hosts(
    path: str, store: RunStore, fleet: Fleet, patience: float, before: object, print_line: PrintLine
) -> None:
    entry = store.record(REMOTE, path, {})
    above: dict[str, str] = {}
    earlier = before if isinstance(before, dict) else {}
    identities: dict[str, object] = dict(earlier)
    for host, launcher in zip(fleet.hosts, fleet.launchers, strict=True):
        try:
            above[host.name] = parent_numbers(path, launcher, patience)
            store.amend(entry, {"claimed": dict(identities), "above": dict(above)})
            is_other = host.name in earlier and not _has_own_mark(path, store, launcher, patience)
            claimed = claim_target(path, run_owner(store), foreign_run_state, False, launcher, True, patience)
        except AssayError as error:
            raise error.at(f"host {host.name}") from None
        identities[host.name] = claimed.identity
        store.amend(entry, {"claimed": dict(identities), "above": dict(above)})
        _warn(claimed, print_line)
        _warn_other(f"host {host.name}: {path}", earlier.get(host.name) if is_other else None, claimed, print_line)


def _has_own_mark(path: str, store: RunStore, launcher: Launcher | None, patience: float) -> bool:
    """Whether a directory has this run's mark: then it is the same as before, even if it was mounted anew."""
    return run_owner(store).owns(inspect_path(path, launcher, patience).mark)


def update_remounted(store: RunStore, fleet: Fleet, paths: Collection[str], count: int) -> None:
    """Update the device and inode numbers in the journal of directories whose file system was mounted anew.

    Args:
        store: The run, which has claimed them.
        fleet: The hosts.
        paths: The directories.
        count: It was mounted anew on this many of the hosts, the first ones.

    Raises:
        AssayError: A host does not report the numbers.
    """
    for entry in [entry for entry in store.entries() if entry.kind == REMOTE and entry.name in paths]:
        with ThreadPoolExecutor() as pool:
            numbers = list(pool.map(partial(_numbers, entry.name), fleet.shells[:count]))
        names = [host.name for host in fleet.hosts[:count]]
        updated = {
            key: {
                **entry.details.get(key, {}),
                **{name: pair[place] for name, pair in zip(names, numbers, strict=True)},
            }
            for place, key in enumerate(("claimed", "above"))
        }
        if any(entry.details.get(key) != value for key, value in updated.items()):
            store.amend(entry.id, {**entry.details, **updated})


def _numbers(path: str, shell: Shell) -> tuple[str, str]:
    """Return device:inode of a directory and of its parent, as engines report them; empty if the parent is the root."""
    above = str(Path(path).parent)
    answer = shell.run(["stat", "-c", "%d:%i", path, above], SILENT_PATIENCE_SECONDS)
    lines = answer.out.split()
    if answer.code != 0 or len(lines) != 2:
        raise AssayError(
            f"host {shell.host.name}: {escape_line(answer.last_line)}", "check whether it is mounted there"
        )
    return lines[0], "" if above == "/" else lines[1]


def _warn_other(path: str, before: object, claimed: PlaceAnswer, print_line: PrintLine) -> None:
    """Warn that a run goes on in another directory than it had claimed; its file system may be unmounted."""
    if before and before != claimed.identity:
        print_line(
            warning(
                f"{path}: is not the directory that this run claimed earlier: data in the earlier one is not removed"
            )
        )


def _warn(claimed: PlaceAnswer, print_line: PrintLine) -> None:
    for line in leftover_lines(claimed):
        print_line(warning(f"could not be removed: {line}"))


def release_targets(
    store: RunStore,
    study: Study | None = None,
    launcher: Launcher | None = None,
    fleet: Fleet | None = None,
    keep: bool = False,
    silent: Collection[str] = (),
    patience: float = PATIENCE_SECONDS,
) -> list[str]:
    """Remove everything that the run made outside its folder; returns a line for each thing that could not be removed.

    Args:
        store: The run, open for writing.
        study: Its study, which names the exports; left out if there are none.
        launcher: Starts engines where exports can be reached; left out if there can be none.
        fleet: The other hosts, if there are any.
        keep: Data on other hosts stays.
        silent: Paths of targets whose storage did not answer.
        patience: Seconds after which storage that does not answer counts as hung.
    """

    def patience_for(entry: Entry) -> float:
        return min(patience, SILENT_PATIENCE_SECONDS) if entry.name in silent else patience

    def release_on_hosts(entry: Entry) -> list[str] | None:
        if keep or fleet is None or fleet.is_local:
            return None
        return _release_on_hosts(entry, store, fleet, patience_for(entry))

    removers: dict[str, Remover] = {
        # Only engines make anything in an export.
        EXPORT: lambda entry: _release_export(entry, study, launcher, run_owner(store)) if store.attempts() else [],
        REMOTE: release_on_hosts,
        DIRECTORY: lambda entry: _release(entry, store, patience_for(entry)),
        # The mounting code unmounts it after everything else is removed.
        MOUNT: lambda entry: None,  # noqa: ARG005
        # It was removed with the job's directory, or is needed to remove that later.
        JOB_EXTRAS: lambda entry: None,  # noqa: ARG005
        CGROUP: lambda entry: release_group(entry.name, store.made_as.name),
    }
    return remove_open(store, {kind: _with_silence_note(remover, silent) for kind, remover in removers.items()})


def _with_silence_note(remover: Remover, silent: Collection[str]) -> Remover:
    """Wrap a remover so that its lines say if the storage did not answer."""

    def remove(entry: Entry) -> list[str] | None:
        problems = remover(entry)
        note = " (its storage did not answer)" if entry.name in silent else ""
        return problems and [f"{line}{note}" for line in problems]

    return remove


def _release_on_hosts(entry: Entry, store: RunStore, fleet: Fleet, patience: float) -> list[str]:
    claimed, above = (entry.details.get(key) or {} for key in ("claimed", "above"))
    problems, released = [], False
    for host, launcher in zip(fleet.hosts, fleet.launchers, strict=True):
        numbers = str(claimed.get(host.name, ""))
        parent = str(above.get(host.name, ""))
        lines = release_target(entry.name, run_owner(store), numbers, launcher, patience, parent)
        if lines and released and _was_emptied(entry.name, numbers, launcher, patience):
            lines = []
        released |= lines == []
        problems += [f"host {host.name}: {line}" for line in lines or []]
    return problems


def _was_emptied(path: str, claimed: str, launcher: Launcher, patience: float) -> bool:
    """Whether a directory that hosts share is the claimed one, and another host has already emptied it."""
    try:
        look = inspect_path(path, launcher, patience)
    except AssayError:
        return False
    unmarked = look.mark is None and not look.bad_mark and not look.has_work
    emptied = look.state == PlaceState.directory and look.identity == claimed and unmarked
    return emptied or look.state == PlaceState.absent


def _release_export(entry: Entry, study: Study | None, launcher: Launcher | None, owner: Owner) -> list[str]:
    """Clean an export or bucket, but only one that the study names: a journal is a claim, not an order."""
    targets = study.targets.values() if study is not None else ()
    target = next((one for one in targets if one.is_made_by_engines and one.path == entry.name), None)
    if study is None or target is None:
        return [escape_line(f"{entry.name}: is not an export or bucket of this study: not touched")]
    if launcher is None:
        return [f"{entry.name}: no host can reach it"]
    problems = [escape_line(f"{entry.name}: may still have data of {name}") for name in entry.details.get("left", ())]
    job_target = target.job_target(run=owner.identity, destroy=bool(entry.details.get("destroy")))
    try:
        answer = clean_target(launcher, job_target.model_dump_json(), whole=True)
    except AssayError as error:
        return [*problems, f"{entry.name}: {error.message}"]
    # With keep_files, the export keeps its files and so its directory.
    return problems if study.output.keep_files else [*problems, *leftover_lines(answer)]


def _release(entry: Entry, store: RunStore, patience: float) -> list[str] | None:
    """Release a directory of this machine; returns why it is still there, None if it is to stay."""
    if path_problems(entry.name):
        return [escape_line(f"{entry.name}: not made by a run: not touched")]
    claimed, above = (entry.details.get(key, "") for key in ("claimed", "above"))
    return release_target(entry.name, run_owner(store), claimed, patience=patience, parent=str(above))
