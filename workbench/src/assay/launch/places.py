"""Directories in which Assay may write: those that it has made or marked for a run.

A marked directory holds `.assay-target`, a JSON object; the engine refuses to write in any other directory. The engine
also makes and removes everything there: it follows no link, crosses no mount, and removes only what jobs made.
"""

import hashlib
import itertools
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.contract._answers import Claim, Look, Mark, PlaceAnswer, PlaceState
from assay.launch import place_commands
from assay.launch.launcher import Launcher
from assay.launch.place_commands import PATIENCE_SECONDS
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line

MARKER = ".assay-target"
CLAIM_ATTEMPTS = 3
"""Attempts to claim a directory that other processes make and remove at the same moment."""

Problem = tuple[str, str]
"""What is wrong, and a hint how to mend it."""


@dataclass(frozen=True)
class Owner:
    """The run for which a directory is claimed.

    Attributes:
        run: Id of the run.
        folder: Folder of the run, which shows whether it is still at work.
    """

    run: str
    folder: Path

    @property
    def identity(self) -> str:
        """Unique identity of the run, different even from copies of its folder: 32 hexadecimal digits."""
        text = "\0".join((self.run, os.path.realpath(self.folder), _machine()))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]

    @property
    def name(self) -> str:
        """Prefix of its directories in places shared with other users, whose runs may have the same id."""
        return f"{self.run}-{self.identity[:8]}"

    def owns(self, mark: Mark | None) -> bool:
        """Return whether a mark is of this run."""
        return mark is not None and mark.identity == self.identity

    def mark(self, keep: bool, elsewhere: bool = False) -> Mark:
        """Return the mark to write; on other hosts (`elsewhere`) without the folder, which is not valid there."""
        folder = "" if elsewhere else os.path.realpath(self.folder)
        return Mark(run=self.run, run_folder=folder, identity=self.identity, created_by_assay=False, keep=keep)


def _machine() -> str:
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip() or platform.node()
    except (OSError, ValueError):
        return platform.node()


def path_problems(path: str) -> list[Problem]:
    """Return what is wrong with the text of a path; empty if it is valid."""
    if not path.startswith("/"):
        return [(f"{path}: not an absolute path", "write it in full, from /")]
    if any(part in ("..", ".") for part in path.split("/")):
        return [(f"{path}: has a . or .. part", "write the path without it")]
    if Path(path) == Path("/"):
        return [("/: the root of the file system", "name a directory below it that does not exist yet")]
    name = Path(path).name
    if name.startswith(".") and name.endswith(".assay-new"):
        return [(f"{path}: has a name that Assay reserves", "choose another name")]
    return []


def inspect_path(path: str, launcher: Launcher | None = None, patience: float = PATIENCE_SECONDS) -> Look:
    """Inspect a path of this machine.

    Raises:
        SilentStorageError: The storage does not answer.
        AssayError: It cannot be inspected.
    """
    found = place_commands.inspect(launcher or place_commands.local_launcher(), path, patience).look
    if found is None:
        raise AssayError(f"{path}: the engine reports nothing about it", "", EXIT_REFUSED)
    return found


def claim_problems(look: Look, owner: Owner | None) -> list[Problem]:
    """Return why a run must not claim an inspected path; empty if it may. Runs at work there are not checked."""
    path, parent = look.path, str(Path(look.path).parent)
    match look.state:
        case PlaceState.absent:
            return []
        case PlaceState.no_parent:
            return [(f"{parent}: does not exist", f"make it first: mkdir -p {parent}")]
        case PlaceState.parent_not_directory:
            return [(f"{parent}: not a directory", "name a path in an existing directory")]
        case PlaceState.read_only_parent:
            return [(f"{parent}: no right to make a directory here", "choose another directory, or change the rights")]
        case PlaceState.link:
            return [(f"{path}: is a symbolic link", "name the directory itself")]
        case PlaceState.not_directory:
            return [(f"{path}: exists and is not a directory", "name a path that does not exist yet")]
        case PlaceState.directory:
            return _contents_problems(look, owner)


def _contents_problems(look: Look, owner: Owner | None) -> list[Problem]:
    if look.bad_mark:
        hint = "if the directory may be overwritten, remove this file"
        return [(f"{look.path}/{MARKER}: not a marker of Assay", hint)]
    if look.mark is None:
        if not look.names:
            return []
        shown = escape_line(", ".join(look.names[:3]) + (", ..." if len(look.names) > 3 else ""))
        message = f"{look.path}: not empty and not made by Assay (holds {shown})"
        return [(message, "name a path that does not exist yet")]
    is_own = owner is not None and owner.owns(look.mark)
    if look.mark.keep and look.has_work and not is_own:
        message = f"{look.path}: holds data that run {escape_line(look.mark.run, 100)} keeps there"
        return [(message, "remove it, or choose another path")]
    return []


def overlap_problems(paths: Mapping[str, str]) -> list[Problem]:
    """Return a problem for each pair of targets where one contains the other, or both are the same.

    Args:
        paths: Name of the target -> its directory or device, without symbolic links.
    """
    problems = []
    items = sorted((path, name) for name, path in paths.items())
    for (outer, first), (inner, second) in itertools.combinations(items, 2):
        if inner == outer or inner.startswith(outer.rstrip("/") + "/"):
            problems.append((f"targets {first} and {second} share {outer}", "give each target its own path"))
    return problems


def claim_target(
    path: str,
    owner: Owner,
    alive: Callable[[Path], bool | None],
    keep: bool = False,
    launcher: Launcher | None = None,
    elsewhere: bool = False,
    patience: float = PATIENCE_SECONDS,
) -> PlaceAnswer:
    """Make a directory with its mark in one step, or mark the existing one, and remove what a dead run left in it.

    The caller must record it in the journal first. If two runs claim it at the same time, only one succeeds.

    Args:
        path: The directory.
        owner: The run that claims it.
        alive: Returns whether the run with this folder is at work; None if unknown.
        keep: The run leaves its data there on purpose.
        launcher: Starts the engine; the engine of this machine if None.
        elsewhere: The directory is on another host, where it is unknown whether another run is at work.
        patience: Seconds after which storage that does not answer counts as hung.

    Returns:
        The new mark, the numbers (device and inode) of the directory, and what could not be removed.

    Raises:
        AssayError: It cannot be made or marked, or another run has it.
    """
    engine = launcher or place_commands.local_launcher()
    for _ in range(CLAIM_ATTEMPTS):
        look = inspect_path(path, engine, patience)
        problems = claim_problems(look, owner)
        if problems:
            raise AssayError(problems[0][0], problems[0][1], EXIT_REFUSED)
        over = look.mark
        if over is not None and not owner.owns(over):
            problem = other_run_problem(path, over, alive, elsewhere)
            if problem:
                raise AssayError(*problem, EXIT_REFUSED)
        request = Claim(root=path, mark=owner.mark(keep, elsewhere), over=over)
        claimed = place_commands.claim(engine, request, patience)
        if claimed.mark is not None:
            return claimed
    raise AssayError(f"{path}: is in use by another run", "try again later", EXIT_REFUSED)


def is_of_other_machine(mark: Mark) -> bool:
    """Return whether a mark is of a run on another machine, so that its state is unknown here."""
    if not mark.identity:
        return False
    return not mark.run_folder or Owner(mark.run, Path(mark.run_folder)).identity != mark.identity


def other_run_problem(
    path: str, mark: Mark, alive: Callable[[Path], bool | None], elsewhere: bool = False
) -> Problem | None:
    """Return why the mark of another run must not be replaced; None if that run has ended.

    Args:
        path: The directory.
        mark: Its mark.
        alive: As for `claim_target`.
        elsewhere: As for `claim_target`.
    """
    run = escape_line(mark.run, 100)
    hint = "if that run has ended, continue it (--resume), or unmount what is below the directory and remove it"
    if elsewhere or is_of_other_machine(mark):
        return f"{path} is marked by another run, {run}", hint
    if not mark.run_folder:
        return None
    match alive(Path(mark.run_folder)):
        case True:
            return f"{path}: is in use by run {run}", "wait for that run, or stop it"
        case None:
            folder = escape_line(mark.run_folder, 200)
            return f"{path}: is marked by run {run}, whose folder {folder} cannot be read", hint
    return None


def release_target(
    path: str,
    owner: Owner,
    claimed: str = "",
    launcher: Launcher | None = None,
    patience: float = PATIENCE_SECONDS,
    parent: str = "",
) -> list[str] | None:
    """Remove what Assay made in a directory: those of jobs, the marker, and the directory itself if Assay made it.

    Args:
        path: The directory.
        owner: The run that claimed it; a directory of another run is left alone.
        claimed: Numbers (device and inode) of the directory when it was claimed; empty if it was not.
        launcher: Starts the engine; the engine of this machine if None.
        patience: Seconds after which storage that does not answer counts as hung.
        parent: Numbers of the parent directory before the claim (see `parent_numbers`); empty if unknown.

    Returns:
        One line for each thing that is still there and should not be; None if data stays on purpose.
    """
    engine = launcher or place_commands.local_launcher()
    try:
        answer = place_commands.release(engine, path, owner.identity, patience)
        if answer.absent and parent and parent_numbers(path, engine, patience) != parent:
            message = (
                f"{path}: its parent directory was replaced or unmounted since the run began: the new one is left alone"
            )
            return [message, *leftover_lines(answer)]
    except AssayError as error:
        return [f"{path}: {error.message}"]
    if answer.foreign and not claimed:
        return []
    return None if answer.retained else leftover_lines(answer)


def parent_numbers(path: str, launcher: Launcher | None = None, patience: float = PATIENCE_SECONDS) -> str:
    """Return the numbers of the parent directory; they change if its file system is unmounted.

    Args:
        path: The directory.
        launcher: Starts the engine; the engine of this machine if None.
        patience: Seconds after which storage that does not answer counts as hung.

    Returns:
        Device and inode; empty if the parent does not exist or is the root directory.

    Raises:
        AssayError: It cannot be inspected.
    """
    above = str(Path(path).parent)
    return "" if above == "/" else inspect_path(above, launcher, patience).identity


def leftover_lines(answer: PlaceAnswer) -> list[str]:
    """Return one line for each thing that an engine could not remove."""
    return [escape_line(f"{left.path}: {left.why}") for left in answer.left]


def remove_case_directory(
    path: str,
    name: str,
    owner: Owner,
    hosts: Mapping[str, Launcher] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> list[str]:
    """Remove the directory of one job, if its engine did not.

    Args:
        path: The target's directory.
        name: Such as `c0001-r1`.
        owner: The run that claimed the target; nothing is removed in a directory of another run.
        hosts: Name of each host that reaches it -> launcher of the engine there; None: this machine.
        patience: Seconds after which storage that does not answer counts as hung.

    Returns:
        One line for each thing that is still there.

    Raises:
        SilentStorageError: The storage does not answer.
        AssayError: It failed on a host; the other hosts are done.
    """
    left: list[str] = []
    faults: list[AssayError] = []
    for host, launcher in (hosts or {"": place_commands.local_launcher()}).items():
        try:
            left += leftover_lines(place_commands.clean(launcher, path, name, owner.identity, patience))
        except AssayError as error:
            named = f"host {host}: {error.message}" if host else error.message
            faults.append(type(error)(named, error.hint, error.exit_code))
    if faults:
        raise faults[0]
    return list(dict.fromkeys(left))
