"""Where Assay may write: directories it created or marked, and devices the user has given up.

A marked directory holds `.assay-target`, a JSON object; the engine refuses to write below any other. Everything here
works on an open directory without following symbolic links.
"""

import contextlib
import errno
import itertools
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from assay.launch.devices import inspect_device
from assay.launch.locks import PATIENCE_SECONDS, lock
from assay.model.base import EXIT_REFUSED, AssayError

MARKER = ".assay-target"
MARKER_NEW = ".assay-target.new"
CASE_DIRECTORY = re.compile(r"c\d+-r\d+")
"""Names of the directories that jobs work in: case and repeat."""
PROBE_FILE = re.compile(r"\.assay-probe-\d+")
"""Names of the files with which the engine tries out a place; it removes them unless it is killed."""
HARMLESS = {"lost+found", MARKER_NEW}
"""What may be in a directory that counts as empty: mkfs(8)'s own, and a marker whose writing was cut short."""

Problem = tuple[str, str]
"""What is wrong, and how to mend it."""


@dataclass(frozen=True)
class Marker:
    """Contents of `.assay-target`.

    Attributes:
        run: Id of the run that claimed the directory last.
        run_folder: Its folder, which tells whether it is still alive.
        created_by_assay: The directory itself is Assay's and goes when the run is over.
        keep: The run leaves its data here on purpose.
    """

    run: str
    run_folder: str
    created_by_assay: bool
    keep: bool = False

    def is_of(self, run_folder: str | Path) -> bool:
        """Whether the run of this folder claimed the directory; ids alone may be the same in two folders of runs."""
        return os.path.realpath(self.run_folder) == os.path.realpath(run_folder)


def inspect_target(kind: str, path: str, destroy: bool, own_run: str = "") -> list[Problem]:
    """Look at a target without changing anything.

    Args:
        kind: `file`, `device` or `null`.
        path: As in the study.
        destroy: The user has confirmed that devices may be overwritten.
        own_run: Id of the run that is resumed, whose data is no obstacle.

    Returns:
        Why Assay must not write there; empty if it may.
    """
    if kind == "null":
        return []
    if not path.startswith("/"):
        return [(f"{path}: not an absolute path", "write it in full, from /")]
    if any(part in ("..", ".") for part in path.split("/")):
        return [(f"{path}: has a . or .. part", "write the path without it")]
    if kind == "device":
        return inspect_device(path, destroy)
    return _inspect_directory(Path(path), own_run)


def _inspect_directory(path: Path, own_run: str) -> list[Problem]:
    if path == Path("/"):
        return [("/: the root of the file system", "name a directory below it that does not exist yet")]
    try:
        if not stat.S_ISDIR(path.parent.stat().st_mode):
            return [(f"{path.parent}: not a directory", "name a path in an existing directory")]
        if not os.access(path.parent, os.W_OK | os.X_OK) and not path.exists():
            return [(f"{path.parent}: no right to make a directory here", "choose another place, or change the rights")]
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if path.parent.exists():
            return []
        return [(f"{path.parent}: does not exist", f"make it first: mkdir -p {path.parent}")]
    except OSError as error:
        return [(f"{path}: {error.strerror}", "choose another place")]
    if stat.S_ISLNK(mode):
        return [(f"{path}: is a symbolic link", "name the directory itself")]
    if not stat.S_ISDIR(mode):
        return [(f"{path}: exists and is not a directory", "name a path that does not exist yet")]
    return _inspect_contents(path, own_run)


def _inspect_contents(path: Path, own_run: str) -> list[Problem]:
    try:
        with _opened(path) as fd:
            names = _names(fd)
            if MARKER not in names:
                return _foreign(path, names)
            marker = read_marker(fd, path)
    except AssayError as error:
        return [(error.message, error.hint)]
    except OSError as error:
        return [(f"{path}: {error.strerror}", "choose another place, or change the rights")]
    return [] if marker.run == own_run else _kept(path, names, marker)


def _kept(path: Path, names: set[str], marker: Marker) -> list[Problem]:
    if not marker.keep or not _work_names(names):
        return []
    return [(f"{path}: holds data that run {marker.run} was told to keep", "remove it, or choose another path")]


def _foreign(path: Path, names: set[str]) -> list[Problem]:
    strangers = sorted(names - HARMLESS)
    if not strangers:
        return []
    shown = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
    return [(f"{path}: not empty and not made by Assay (holds {shown})", "name a path that does not exist yet")]


def check_apart(paths: dict[str, str]) -> list[Problem]:
    """Targets must not lie in each other.

    Args:
        paths: Name of the target -> its directory or device.
    """
    problems = []
    items = sorted((os.path.realpath(path), name) for name, path in paths.items())
    for (outer, first), (inner, second) in itertools.combinations(items, 2):
        if inner == outer or inner.startswith(outer.rstrip("/") + "/"):
            problems.append((f"targets {first} and {second} share {outer}", "give each its own path"))
    return problems


def read_marker(fd: int, path: Path) -> Marker:
    """The marker of an open directory.

    Args:
        fd: The directory.
        path: For the message.

    Raises:
        AssayError: The marker is no regular file, or not Assay's.
    """
    bad = AssayError(
        f"{path / MARKER}: not a marker of Assay's",
        "if the directory may be overwritten, remove this file",
        EXIT_REFUSED,
    )
    try:
        marker_fd = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=fd)
        with os.fdopen(marker_fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(marker_fd).st_mode):
                raise bad
            found = json.loads(file.read(65536))
        return Marker(str(found["run"]), str(found["run_folder"]), bool(found["created_by_assay"]), bool(found["keep"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise bad from None


def target_marker(path: str) -> Marker | None:
    """The marker at a path; None if there is no directory or no marker there."""
    try:
        with _opened(Path(path)) as fd:
            return read_marker(fd, Path(path)) if MARKER in _names(fd) else None
    except OSError:
        return None


def claim_target(
    path: str,
    run_id: str,
    run_folder: Path,
    alive: Callable[[Path], bool],
    created_by_assay: bool = False,
    keep: bool = False,
) -> Marker:
    """Make a directory with its marker in one step, or mark the existing one, and remove what a dead run left in it.

    The caller has inspected it and recorded it in the journal. Of two runs that claim it at the same time one gets it.

    Args:
        path: The directory.
        run_id: The run that claims it.
        run_folder: That run's folder.
        alive: Whether the run of such a folder is at work.
        created_by_assay: An earlier part of this run made the directory.
        keep: The run leaves its data here on purpose.

    Raises:
        AssayError: It cannot be made or marked, or another living run has it.
    """
    place = Path(path)
    marker = Marker(run_id, os.path.realpath(run_folder), created_by_assay, keep)
    try:
        try:
            return _claim(place, marker, alive)
        except FileNotFoundError:
            # Its run has given it back between two looks of ours.
            return _claim(place, marker, alive)
    except OSError as error:
        raise AssayError(
            f"{path}: cannot be made ready: {error.strerror}", "choose another place", EXIT_REFUSED
        ) from error


def _claim(place: Path, marker: Marker, alive: Callable[[Path], bool]) -> Marker:
    made = replace(marker, created_by_assay=True)
    # Under the parent's lock also the look: another run that is making the directory now has then done so.
    with _parent_locked(place):
        if not os.path.lexists(place) and _make_marked(place, made):
            return made
    with _locked(place) as fd:
        return _mark(fd, place, marker, alive)


def _mark(fd: int, place: Path, marker: Marker, alive: Callable[[Path], bool]) -> Marker:
    """Mark an open and locked directory, unless somebody else has it."""
    names = _names(fd)
    if MARKER not in names:
        _refuse(_foreign(place, names))
        _write_marker(fd, marker)
        return marker
    earlier = read_marker(fd, place)
    if not earlier.is_of(marker.run_folder):
        if alive(Path(earlier.run_folder)):
            raise AssayError(f"{place}: is in use by run {earlier.run}", "wait for that run, or stop it", EXIT_REFUSED)
        _refuse(_kept(place, names, earlier))
    marker = replace(marker, created_by_assay=marker.created_by_assay or earlier.created_by_assay)
    _write_marker(fd, marker)
    if not earlier.keep:
        _remove_work(fd)
    return marker


def _refuse(problems: list[Problem]) -> None:
    if problems:
        message, hint = problems[0]
        raise AssayError(message, hint, EXIT_REFUSED)


def _make_marked(place: Path, marker: Marker) -> bool:
    """Make the directory under another name, mark it, and only then give it its own: it never holds data unmarked.

    Returns:
        False if somebody else made a directory of this name meanwhile, which is left alone.
    """
    _remove_unfinished(place)
    unfinished = _unfinished_name(place)
    unfinished.mkdir(mode=0o755)
    with _opened(unfinished) as fd:
        _write_marker(fd, marker)
    try:
        # rename(2) would replace an empty directory of somebody else's; mkdir(2) takes the name or fails.
        place.mkdir(mode=0o755)
        unfinished.rename(place)
    except OSError as error:
        _remove_unfinished(place)
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        return False
    return True


@contextlib.contextmanager
def _parent_locked(place: Path) -> Iterator[None]:
    """Keep other runs from working with the unfinished name meanwhile, if the parent can be locked."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(PermissionError):
            fd = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            lock(fd, PATIENCE_SECONDS)
        yield


@contextlib.contextmanager
def _locked(place: Path) -> Iterator[int]:
    """Open a directory and lock it: its marker and the directories of jobs in it change only under this lock."""
    while True:
        with _opened(place) as fd:
            if not lock(fd, PATIENCE_SECONDS):
                raise AssayError(f"{place}: is in use by another run", "try again later", EXIT_REFUSED)
            found = place.lstat()
            # Whoever had the lock before may have put another directory in its place.
            if os.path.samestat(os.fstat(fd), found):
                yield fd
                return


def _unfinished_name(place: Path) -> Path:
    return place.with_name(f".{place.name}.assay-new")


def _remove_unfinished(place: Path) -> None:
    """Remove what a claim or release that was cut short left beside the directory."""
    unfinished = _unfinished_name(place)
    with contextlib.suppress(OSError):
        with _opened(unfinished) as fd:
            _unlink_marker(fd)
        unfinished.rmdir()


def _unlink_marker(fd: int) -> None:
    for name in (MARKER_NEW, MARKER):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=fd)


def _write_marker(fd: int, marker: Marker) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(MARKER_NEW, dir_fd=fd)
    text = json.dumps({"written_by": "assay", **asdict(marker)}, indent=1) + "\n"
    marker_fd = os.open(
        MARKER_NEW, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=fd
    )
    with os.fdopen(marker_fd, "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(MARKER_NEW, MARKER, src_dir_fd=fd, dst_dir_fd=fd)


def release_target(path: str, run_folder: Path) -> list[str]:
    """Remove what Assay made: directories of jobs, the marker, and the directory itself if Assay made it.

    Args:
        path: The directory.
        run_folder: Folder of the run that claimed it; a directory of another run is left alone.

    Returns:
        What could not be removed, one line each.
    """
    place = Path(path)
    try:
        if not os.path.lexists(place):
            with _parent_locked(place):
                _remove_unfinished(place)
            return []
        with _locked(place) as fd:
            return _release(fd, place, run_folder)
    except FileNotFoundError:
        return []
    except AssayError as error:
        return [error.message]
    except OSError as error:
        return [f"{place}: {error.strerror}"]


def _release(fd: int, place: Path, run_folder: Path) -> list[str]:
    names = _names(fd)
    marker = read_marker(fd, place) if MARKER in names else None
    if marker is None or not marker.is_of(run_folder) or (marker.keep and _work_names(names)):
        return []
    left = _remove_work(fd)
    if left:
        return [f"{place / name}: {reason}" for name, reason in left]
    others = sorted(_names(fd) - {MARKER, MARKER_NEW})
    if not marker.created_by_assay or others:
        _unlink_marker(fd)
    if not marker.created_by_assay:
        return []
    if others:
        return [f"{place}: holds files that are not Assay's: {', '.join(others[:3])}"]
    with _parent_locked(place):
        _remove_unfinished(place)
        place.rename(_unfinished_name(place))
        _remove_unfinished(place)
    return []


def remove_case_directory(path: str, name: str, run_folder: Path) -> bool:
    """Remove the directory of one job, which its engine could not.

    Args:
        path: The target's directory.
        name: Such as `c0001-r1`.
        run_folder: Folder of the run that claimed the target; in a directory of another run nothing is removed.

    Returns:
        Whether it is gone.
    """
    if not CASE_DIRECTORY.fullmatch(name):
        return False
    with contextlib.suppress(OSError, AssayError), _locked(Path(path)) as fd:
        return read_marker(fd, Path(path)).is_of(run_folder) and not _remove_tree(fd, name)
    return not (Path(path) / name).exists()


def _remove_work(fd: int) -> list[tuple[str, str]]:
    """Remove what engines left; returns what could not be removed, and why."""
    left = []
    for name in sorted(_names(fd)):
        if PROBE_FILE.fullmatch(name):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=fd)
        if CASE_DIRECTORY.fullmatch(name):
            reason = _remove_tree(fd, name)
            if reason:
                left.append((name, reason))
    return left


def _remove_tree(fd: int, name: str) -> str:
    """Remove a directory below an open one, never through a symbolic link; returns why not, or nothing."""
    try:
        shutil.rmtree(name, dir_fd=fd)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _work_names(names: set[str]) -> list[str]:
    return sorted(name for name in names if CASE_DIRECTORY.fullmatch(name))


def _names(fd: int) -> set[str]:
    return set(os.listdir(fd))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)
