"""The length of the sessions of a run, even of sessions whose workbench was killed.

A small file holds the last moment at which each session was known to be alive. While a session lasts, the file is
replaced every second, whole or not at all.
"""

import contextlib
import json
import math
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.model.base import AssayError
from assay.model.steady_clock import steady_time
from assay.store.entries import HEARTBEAT, HEARTBEAT_NEW, open_new
from assay.store.safe_files import read_file

MAX_BYTES = 1 << 20
BEAT_INTERVAL_SECONDS = 1.0


def last_alive(folder: Path) -> tuple[float, ...]:
    """Return when each session was last known to be alive, in seconds since 1970; unknown ones are left out."""
    try:
        stored = json.loads(read_file(folder, HEARTBEAT, MAX_BYTES))
        moments = tuple(float(moment) for moment in stored)
    except (AssayError, OSError, ValueError, TypeError, OverflowError, RecursionError):
        return ()
    return tuple(moment for moment in moments if math.isfinite(moment))


class Heartbeat:
    """Keeps the file up to date from the beginning of a block to its end.

    If it cannot be written, the run goes on, and the session counts up to the end of its last repeat.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare the heartbeat of the session that begins now.

        Args:
            folder: The run's folder.
        """
        self._folder = folder
        self._before = last_alive(folder)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._write()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._write()

    def _beat(self) -> None:
        while not self._over.wait(BEAT_INTERVAL_SECONDS):
            self._write()

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            with open_new(self._folder / HEARTBEAT_NEW) as file:
                file.write(json.dumps([*self._before, steady_time()]).encode())
            (self._folder / HEARTBEAT_NEW).replace(self._folder / HEARTBEAT)
