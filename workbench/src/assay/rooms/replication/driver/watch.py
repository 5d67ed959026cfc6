"""Changes of a tree as the kernel reports them (inotify(7)): the trigger on change."""

from __future__ import annotations

import ctypes
import os
import select
import time

_EVENTS = 0x2 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200
"""IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE."""
GATHER_SECONDS = 0.1
"""Changes that follow so soon are replicated together."""


class TreeWatch:
    """Watches the directories of a tree."""

    def __init__(self, root: str) -> None:
        """Begin to watch."""
        self._root, self._library = root, ctypes.CDLL(None)
        self._descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._add()

    def _add(self) -> None:
        for folder, _, _ in os.walk(self._root):
            # A directory that is watched already stays so.
            self._library.inotify_add_watch(self._descriptor, os.fsencode(folder), _EVENTS)

    def wait(self, seconds: float) -> bool:
        """Wait for a change, and for those that follow at once; false if there was none."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return False
        time.sleep(GATHER_SECONDS)
        while select.select([self._descriptor], [], [], 0)[0]:
            os.read(self._descriptor, 1 << 16)
        self._add()
        return True

    def close(self) -> None:
        """End watching."""
        os.close(self._descriptor)
