"""Where Assay may write: directories it created or marked, and devices the user has given up.

A marked directory holds `.assay-target`, a JSON object; the engine refuses to write below any other. Everything here
works on an open directory without following symbolic links.
"""

import contextlib
import itertools
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.launch.devices import inspect_device
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
    if marker.keep and marker.run != own_run and _work_names(names):
        return [(f"{path}: holds data that run {marker.run} was told to keep", "remove it, or choose another path")]
    return []


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
    path: str, run_id: str, run_folder: Path, created_by_assay: bool = False, keep: bool = False
) -> Marker:
    """Make a directory with its marker in one step, or mark the existing one, and remove what a dead run left in it.

    The caller has inspected it, knows that no other living run has it, and has recorded it in the journal.

    Args:
        path: The directory.
        run_id: The run that claims it.
        run_folder: That run's folder.
        created_by_assay: An earlier part of this run made the directory.
        keep: The run leaves its data here on purpose.

    Raises:
        AssayError: It cannot be made or marked.
    """
    place = Path(path)
    try:
        if not place.exists():
            marker = Marker(run_id, str(run_folder.absolute()), True, keep)
            _make_marked(place, marker)
            return marker
        with _opened(place) as fd:
            names = _names(fd)
            if MARKER in names:
                earlier = read_marker(fd, place)
                created_by_assay = created_by_assay or earlier.created_by_assay
                if not earlier.keep:
                    _remove_work(fd)
            elif _foreign(place, names):
                message, hint = _foreign(place, names)[0]
                raise AssayError(message, hint, EXIT_REFUSED)
            marker = Marker(run_id, str(run_folder.absolute()), created_by_assay, keep)
            _write_marker(fd, marker)
            return marker
    except OSError as error:
        raise AssayError(
            f"{path}: cannot be made ready: {error.strerror}", "choose another place", EXIT_REFUSED
        ) from error


def _make_marked(place: Path, marker: Marker) -> None:
    """Make the directory under another name, mark it, and only then give it its own: it never exists unmarked."""
    _remove_unfinished(place)
    unfinished = _unfinished_name(place)
    unfinished.mkdir(mode=0o755)
    with _opened(unfinished) as fd:
        _write_marker(fd, marker)
    unfinished.rename(place)


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


def release_target(path: str, run_id: str) -> list[str]:
    """Remove what Assay made: directories of jobs, the marker, and the directory itself if Assay made it.

    Args:
        path: The directory.
        run_id: The run that claimed it; a directory of another run is left alone.

    Returns:
        What could not be removed, one line each.
    """
    place = Path(path)
    _remove_unfinished(place)
    try:
        with _opened(place) as fd:
            marker = read_marker(fd, place) if MARKER in _names(fd) else None
            if marker is None or marker.run != run_id or (marker.keep and _work_names(_names(fd))):
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
        place.rename(_unfinished_name(place))
        _remove_unfinished(place)
    except FileNotFoundError:
        return []
    except AssayError as error:
        return [error.message]
    except OSError as error:
        return [f"{place}: {error.strerror}"]
    return []


def remove_case_directory(path: str, name: str) -> bool:
    """Remove the directory of one job, which its engine could not; returns whether it is gone."""
    if not CASE_DIRECTORY.fullmatch(name):
        return False
    with contextlib.suppress(OSError), _opened(Path(path)) as fd:
        return not _remove_tree(fd, name)
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
