"""Empties the page caches of hosts that serve storage, so that they answer from disks."""

import threading
from collections.abc import Sequence

from assay.launch.shell import Shell
from assay.model.base import AssayError

SECONDS = 300.0
_SCRIPT = "sync && echo 3 > /proc/sys/vm/drop_caches"
"""What is dirty is written first: only clean pages are dropped (proc_sys_vm(5))."""


class Emptying:
    """The caches of some hosts."""

    def __init__(self, shells: Sequence[Shell], shared: bool) -> None:
        """Nothing is done yet.

        Args:
            shells: Of the hosts.
            shared: They share one kernel, as in a cluster in a box: its cache is emptied once.
        """
        self._shells = list(shells)[:1] if shared else list(shells)

    def __call__(self) -> None:
        """Empty all of them at the same time, and wait for it.

        Raises:
            AssayError: One cannot be emptied.
        """
        problems: list[str] = []
        threads = [threading.Thread(target=self._one, args=(shell, problems)) for shell in self._shells]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise AssayError(problems[0], "it takes root there; or leave `server_cache` out")

    @staticmethod
    def _one(shell: Shell, problems: list[str]) -> None:
        try:
            answer = shell.run(["sh", "-c", _SCRIPT], SECONDS)
        except AssayError as error:
            problems.append(f"{shell.host.name}: its caches cannot be dropped: {error.message}")
            return
        if answer.code != 0:
            problems.append(f"{shell.host.name}: its caches cannot be dropped: {answer.last_line}")
