"""What a run makes outside its folder: claimed before it is measured, and given back whatever happens."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from assay.contract._answers import PlaceAnswer, PlaceState
from assay.journal.entry import CGROUP, DIRECTORY, EXPORT, MADE, MOUNT, REMOTE, Entry
from assay.journal.removal import Remover, remove_open
from assay.kinds.place import keeper_of
from assay.launch.cgroup import release_group
from assay.launch.launcher import Launcher
from assay.launch.places import (
    Owner,
    above_of,
    claim_target,
    inspect_text,
    look_at,
    release_target,
    remains,
)
from assay.launch.placing import PATIENCE_SECONDS, SHORT_PATIENCE_SECONDS, SilentError, patience_of
from assay.launch.questions import clean_target
from assay.launch.shell import Shell
from assay.model.base import AssayError, Say, warning
from assay.model.foreign import plain
from assay.model.study.study import Study
from assay.run.fleet import Fleet
from assay.store import RunStore, foreign_run_state


def owner_of(store: RunStore) -> Owner:
    """The run as the owner of directories."""
    return Owner(store.made_as.name, store.made_as)


def claim_targets(
    study: Study,
    names: Sequence[str],
    store: RunStore,
    say: Say,
    fleet: Fleet | None = None,
    silent: set[str] | None = None,
    destroy: bool = False,
) -> None:
    """Make and mark the directories; each is recorded in the journal before it is made.

    Args:
        study: The study.
        names: The targets that are used.
        store: The run.
        say: Takes what there is to say.
        fleet: The hosts on which they are; None for this machine.
        silent: Takes the path of a target whose storage does not answer.
        destroy: The user has confirmed that devices and buckets may be written to.

    Raises:
        AssayError: A directory cannot be made or marked.
    """
    claiming = RunClaiming(study, store, say, fleet, destroy)
    for name in names:
        target = study.targets[name]
        try:
            keeper_of(target).claim(claiming)
        except SilentError as error:
            if silent is not None:
                silent.add(target.path)
            raise error.at(f"target {name}") from None


class RunClaiming:
    """What kinds of target make and mark places with (`assay.kinds.place.Claiming`)."""

    def __init__(self, study: Study, store: RunStore, say: Say, fleet: Fleet | None, destroy: bool) -> None:
        """Nothing is made yet; arguments as of `claim_targets`."""
        self.study = study
        self.store = store
        self.say = say
        self.fleet = fleet
        self.destroy = destroy
        self.before = {
            entry.name: entry.details.get("claimed") for entry in store.journal() if entry.kind in (DIRECTORY, REMOTE)
        }
        """Directory -> what this run had claimed before it went on."""

    def directory(self, path: str) -> None:
        """Make and mark a directory, on each of the machines that generate the load."""
        before = self.before.get(path)
        if self.fleet is not None:
            _claim_elsewhere(path, self.store, self.fleet, patience_of(self.study), before, self.say)
        else:
            _claim_here(self.study, path, self.store, before, self.say)

    def by_engines(self, path: str) -> None:
        """Record that engines will make something there."""
        self.store.record(EXPORT, path, {"destroy": self.destroy})


def _claim_here(study: Study, path: str, store: RunStore, before: object, say: Say) -> None:
    keep, patience = study.output.keep_files, patience_of(study)
    known: dict[str, object] = {"above": above_of(path, patience=patience)} | ({"claimed": before} if before else {})
    entry = store.record(DIRECTORY, path, known)
    store.amend(entry, known)
    other = before and not _marked(path, store, None, patience)
    claimed = claim_target(path, owner_of(store), foreign_run_state, keep, patience=patience)
    store.amend(entry, {**known, "claimed": claimed.identity})
    _warn(claimed, say)
    _warn_other(path, before if other else None, claimed, say)


def _claim_elsewhere(path: str, store: RunStore, fleet: Fleet, patience: float, before: object, say: Say) -> None:
    entry = store.record(REMOTE, path, {})
    above: dict[str, str] = {}
    earlier = before if isinstance(before, dict) else {}
    found: dict[str, object] = dict(earlier)
    for host, launcher in zip(fleet.hosts, fleet.launchers, strict=True):
        try:
            above[host.name] = above_of(path, launcher, patience)
            store.amend(entry, {"claimed": dict(found), "above": dict(above)})
            other = host.name in earlier and not _marked(path, store, launcher, patience)
            claimed = claim_target(path, owner_of(store), foreign_run_state, False, launcher, True, patience)
        except AssayError as error:
            raise error.at(f"host {host.name}") from None
        found[host.name] = claimed.identity
        store.amend(entry, {"claimed": dict(found), "above": dict(above)})
        _warn(claimed, say)
        _warn_other(f"host {host.name}: {path}", earlier.get(host.name) if other else None, claimed, say)


def _marked(path: str, store: RunStore, launcher: Launcher | None, patience: float) -> bool:
    """Whether a directory has the mark of this run: it is the one of before, although it may be mounted anew."""
    return owner_of(store).owns(look_at(path, launcher, patience).mark)


def note_remounted(store: RunStore, fleet: Fleet, paths: Collection[str], count: int) -> None:
    """Write down anew by what numbers directories are known that lie in what was mounted anew.

    Args:
        store: The run, which has claimed them.
        fleet: The hosts.
        paths: The directories.
        count: It was mounted anew on so many of the hosts, the first ones.

    Raises:
        AssayError: A host does not say.
    """
    for entry in [entry for entry in store.journal() if entry.kind == REMOTE and entry.name in paths]:
        with ThreadPoolExecutor() as pool:
            told = list(pool.map(partial(_numbers, entry.name), fleet.shells[:count]))
        names = [host.name for host in fleet.hosts[:count]]
        now = {
            key: {**entry.details.get(key, {}), **{name: one[place] for name, one in zip(names, told, strict=True)}}
            for place, key in enumerate(("claimed", "above"))
        }
        if any(entry.details.get(key) != found for key, found in now.items()):
            store.amend(entry.id, {**entry.details, **now})


def _numbers(path: str, shell: Shell) -> tuple[str, str]:
    """Device and inode of a directory and of the one above, as engines tell them; empty of the root."""
    above = str(Path(path).parent)
    answer = shell.run(["stat", "-c", "%d:%i", path, above], SHORT_PATIENCE_SECONDS)
    lines = answer.out.split()
    if answer.code != 0 or len(lines) != 2:
        raise AssayError(f"host {shell.host.name}: {plain(answer.last_line)}", "see whether it is mounted there")
    return lines[0], "" if above == "/" else lines[1]


def _warn_other(path: str, before: object, claimed: PlaceAnswer, say: Say) -> None:
    """Say that a run goes on in another directory than it had claimed, whose file system may be mounted no more."""
    if before and before != claimed.identity:
        say(warning(f"{path}: is not the directory that this run had claimed before: what that one holds stays"))


def _warn(claimed: PlaceAnswer, say: Say) -> None:
    for line in remains(claimed):
        say(warning(f"could not be removed: {line}"))


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

    def seconds(entry: Entry) -> float:
        return min(patience, SHORT_PATIENCE_SECONDS) if entry.name in silent else patience

    def of_hosts(entry: Entry) -> list[str] | None:
        return None if keep or fleet is None else _release_elsewhere(entry, store, fleet, seconds(entry))

    removers: dict[str, Remover] = {
        # Only engines make anything in an export.
        EXPORT: lambda entry: _release_export(entry, study, launcher, owner_of(store)) if store.attempts() else [],
        REMOTE: of_hosts,
        DIRECTORY: lambda entry: _release(entry, store, seconds(entry)),
        # Whoever has mounted it takes it away when all else is removed.
        MOUNT: lambda entry: None,  # noqa: ARG005
        # It went with the job's directory, or is needed to remove that later.
        MADE: lambda entry: None,  # noqa: ARG005
        CGROUP: lambda entry: release_group(entry.name, store.made_as.name),
    }
    return remove_open(store, {kind: _telling(remover, silent) for kind, remover in removers.items()})


def _telling(remover: Remover, silent: Collection[str]) -> Remover:
    """As a remover, but what storage that did not answer still holds is told as such."""

    def remove(entry: Entry) -> list[str] | None:
        problems = remover(entry)
        note = " (its storage did not answer)" if entry.name in silent else ""
        return problems and [f"{line}{note}" for line in problems]

    return remove


def _release_elsewhere(entry: Entry, store: RunStore, fleet: Fleet, patience: float) -> list[str]:
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
    emptied = look.state == PlaceState.directory and look.identity == claimed and unmarked
    return emptied or look.state == PlaceState.absent


def _release_export(entry: Entry, study: Study | None, launcher: Launcher | None, owner: Owner) -> list[str]:
    """A journal is a claim, not an order: only an export or bucket that the study names is cleaned."""
    targets = study.targets.values() if study is not None else ()
    target = next((one for one in targets if one.made_by_engines and one.path == entry.name), None)
    if study is None or target is None:
        return [plain(f"{entry.name}: is no export or bucket of this study: left alone")]
    if launcher is None:
        return [f"{entry.name}: no host can reach it"]
    left = [plain(f"{entry.name}: may still have data of {name}") for name in entry.details.get("left", ())]
    job_target = target.job_target(run=owner.identity, destroy=bool(entry.details.get("destroy")))
    try:
        answer = clean_target(launcher, job_target.model_dump_json(), whole=True)
    except AssayError as error:
        return [*left, f"{entry.name}: {error.message}"]
    # What is kept on purpose is in it, and so is it.
    return left if study.output.keep_files else [*left, *remains(answer)]


def _release(entry: Entry, store: RunStore, patience: float) -> list[str] | None:
    """Give a directory of this machine back; returns why it is still there, None if it is to stay."""
    if inspect_text(entry.name):
        return [plain(f"{entry.name}: nothing that a run makes: left alone")]
    claimed, above = (entry.details.get(key, "") for key in ("claimed", "above"))
    return release_target(entry.name, owner_of(store), claimed, patience=patience, above=str(above))
