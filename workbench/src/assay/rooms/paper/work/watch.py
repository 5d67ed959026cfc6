"""Makes a paper again when something that it is made of changes: the description, files that it names, or its runs."""

import contextlib
import itertools
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.model.base import AssayError, PrintLine
from assay.model.source import read_source
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.store import find_run

FileTimes = Mapping[str, tuple[int, int]]
"""Path -> time of the last change in nanoseconds, and size in bytes."""
_MAX_PATH = 1024
_MAX_ENTRIES = 1000
"""Most files of a folder that are watched."""
_PASSING = ("-shm", ".lock")
"""Ends of names of files that change when a run is only read."""


def build_at_changes(
    build: Callable[[], str], file_times: Callable[[], FileTimes], wait: Callable[[], None], print_line: PrintLine
) -> None:
    """Build once, then after each change, until `wait` raises KeyboardInterrupt.

    Args:
        build: Makes the paper; returns a line for the user. Its `AssayError` is printed, and the next change awaited.
        file_times: Returns what the paper is made of. It is called before each build, so that a change during one
            leads to another.
        wait: Waits until it is time to look again.
        print_line: Prints the line of each build.
    """
    before: FileTimes | None = None
    while True:
        now = file_times()
        if now != before:
            try:
                print_line(build())
            except AssayError as error:
                print_line(" ".join(f"error: {error.message}{f' (hint: {error.hint})' if error.hint else ''}".split()))
            except Exception as error:
                # A fault of Assay's own must not end the watch: the next change may be without it.
                print_line(" ".join(f"error: {type(error).__name__}: {error}".split())[:_MAX_PATH])
            before = now
        wait()


class PaperFiles:
    """The files that a paper is made of.

    Args:
        sources: A description, or runs as the user names them.
        is_description: The only source is a description.
        root: Folder of all runs.
    """

    def __init__(self, sources: list[str], is_description: bool, root: Path) -> None:
        self._description = Path(sources[0]) if is_description else None
        self._refs = [] if is_description else sources
        self._named: list[Path] = []
        self._root = root
        self._found_at: FileTimes | None = None

    def times(self) -> FileTimes:
        """Return the times of all files; runs and named files are looked up again if description or runs change."""
        first = [self._root, *([self._description] if self._description else [])]
        found = dict(_times(first))
        if found != self._found_at:
            self._named = [*self._look_up()]
            self._found_at = dict(found)
        found.update(_times(self._named, inside=True))
        return found

    def _look_up(self) -> Iterator[Path]:
        refs = self._refs
        if self._description is not None:
            data = _content(self._description)
            runs = data.get("runs") if isinstance(data, dict) else None
            refs = [str(ref) for ref in runs.values()] if isinstance(runs, dict) else []
            yield from (self._description.parent / text for text in _texts(data))
        for ref in refs:
            try:
                yield find_run(ref, self._root)
            except AssayError:
                # It is what another tool wrote, or it comes later.
                yield Path(ref)


def _content(description: Path) -> Any:
    """Return what is in a description; None while it cannot be read: the build says why."""
    try:
        return read_source(read_user_file(description, str(description), "", MAX_FILE_BYTES)).data
    except AssayError:
        return None


def _texts(data: Any) -> Iterator[str]:
    """Yield all texts of a description that could be the name of a file."""
    if isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
    elif isinstance(data, str) and data and "\n" not in data and "\0" not in data and len(data) < _MAX_PATH:
        yield data


def _times(paths: list[Path], inside: bool = False) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the times of files and folders, and with `inside` those of what is directly in these folders."""
    for path in paths:
        # What does not exist has no time; if it comes, that is a change.
        with contextlib.suppress(OSError):
            status = path.stat()
            yield str(path), (status.st_mtime_ns, status.st_size)
            if inside and stat.S_ISDIR(status.st_mode):
                yield from _times_in(path)


def _times_in(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    with os.scandir(folder) as entries:
        for entry in itertools.islice(entries, _MAX_ENTRIES):
            if not entry.name.endswith(_PASSING):
                status = entry.stat(follow_symlinks=False)
                yield entry.path, (status.st_mtime_ns, status.st_size)
