"""Empties the page caches of storage servers, so that they answer from their disks."""

import threading
from collections.abc import Sequence

from assay.launch.shell import Shell
from assay.model.base import AssayError

SECONDS = 300.0
_SCRIPT = "sync && echo 3 > /proc/sys/vm/drop_caches"
"""Dirty pages are written first, since only clean pages are dropped (proc_sys_vm(5))."""


class CacheDropper:
    """Empties the page caches of some hosts."""

    def __init__(self, shells: Sequence[Shell], shared: bool) -> None:
        """Do nothing yet.

        Args:
            shells: Shells of the hosts.
            shared: The hosts share one kernel, as in a cluster in a box: its cache is emptied once.
        """
        self._shells = list(shells)[:1] if shared else list(shells)

    def __call__(self) -> None:
        """Empty all caches at the same time, and wait until that is done.

        Raises:
            AssayError: One cannot be emptied.
        """
        problems: list[str] = []
        threads = [threading.Thread(target=self._drop_caches, args=(shell, problems)) for shell in self._shells]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise AssayError(problems[0], "use root there, or leave `server_cache` out")

    @staticmethod
    def _drop_caches(shell: Shell, problems: list[str]) -> None:
        try:
            answer = shell.run(["sh", "-c", _SCRIPT], SECONDS)
        except AssayError as error:
            problems.append(f"{shell.host.name}: its caches cannot be dropped: {error.message}")
            return
        if answer.code != 0:
            problems.append(f"{shell.host.name}: its caches cannot be dropped: {answer.last_line}")
