"""This machine as a site, with the servers that targets have it start."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.model.base import EXIT_REFUSED, AssayError, Say, warning
from assay.model.site.host import THIS_HOST
from assay.model.study.target import Target
from assay.site.site import SERVER_SECONDS, Standing

if TYPE_CHECKING:
    from assay.journal.entry import Entry
    from assay.site.started import StartedServer


class LocalSite:
    """This machine generates the load, and runs the servers that targets name (`Target.started`)."""

    more = "add a line such as `hosts: client[1-8]`"

    def __init__(self, targets: Mapping[str, Target] = MappingProxyType({})) -> None:
        """Start nothing yet.

        Args:
            targets: Those of the study.
        """
        self._wanted: dict[str, list[str]] = {}
        """Kind of server -> names of the targets that use it."""
        for name, target in targets.items():
            if target.started:
                self._wanted.setdefault(target.started, []).append(name)
        self._targets = targets
        self._running: dict[str, StartedServer] = {}
        self._stack = contextlib.ExitStack()

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """No files: this machine needs none."""
        return {}

    @property
    def mounted(self) -> Sequence[str]:
        """See `Site`."""
        return ()

    def check(self, needed: int) -> None:
        """See `Site`: there is only one host."""
        if needed > 1:
            raise AssayError(f"the study needs {needed} hosts, but names none", self.more, EXIT_REFUSED)

    def ready(self, _needed: int) -> None:
        """See `Site`: the servers must be installed."""
        if self._wanted:
            from assay.site.started import check_installed

            for kind in self._wanted:
                check_installed(kind)

    def takes(self, _needed: int) -> float:
        """See `Site`."""
        return SERVER_SECONDS * len(self._wanted)

    def up(self, say: Say) -> Standing:
        """See `Site`; each kind of server is one process, which all its targets share."""
        from assay.journal.entry import SERVER
        from assay.journal.own import remove_orphans

        remove_orphans({SERVER: _remove_left})
        if not self._wanted:
            return Standing((THIS_HOST,), here=True)
        try:
            self._start(say)
            return self._state()
        except BaseException:
            self._stack.close()
            raise

    def _start(self, say: Say) -> None:
        from assay.journal.own import own_journal
        from assay.site.started import started

        journal = self._stack.enter_context(own_journal())
        for kind, names in self._wanted.items():
            say(
                f"server {kind} starts on this machine, for {', '.join(names)}: the numbers are about it, not about AWS"
            )
            self._running[kind] = self._stack.enter_context(started(kind, journal, say))

    def _state(self) -> Standing:
        from assay.site.started import KEYS

        served = [(name, self._running[kind]) for kind, names in self._wanted.items() for name in names]
        return Standing(
            (THIS_HOST,),
            targets={name: self._targets[name].served_at(server.port) for name, server in served},
            environment={f"server {kind}": server.facts for kind, server in self._running.items()},
            variables={name: KEYS for name, _ in served},
            here=True,
        )

    def down(self, say: Say) -> None:
        """See `Site`; prints which servers had ended before."""
        for kind, server in self._running.items():
            if server.ended:
                say(warning(f"server {kind} was gone before the run was over: {server.ended}"))
        self._running = {}
        self._stack.close()


def _remove_left(entry: "Entry") -> list[str]:
    from assay.site.started import remove_left

    return remove_left(entry)
