"""This machine as a site, with the servers that targets have it start."""

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.model.base import EXIT_REFUSED, AssayError, PrintLine, warning
from assay.model.site.host import THIS_HOST
from assay.model.study.target import Target
from assay.site.site import SERVER_SECONDS, Site, SiteState

if TYPE_CHECKING:
    from assay.journal.entry import Entry
    from assay.site.started_server import StartedServer


class LocalSite(Site):
    """This machine generates the load, and runs the servers that targets name (`Target.started_server`)."""

    more_hosts_hint = "add a line such as `hosts: client[1-8]`"

    def __init__(self, targets: Mapping[str, Target] = MappingProxyType({})) -> None:
        """Start nothing yet.

        Args:
            targets: Those of the study.
        """
        self._wanted: dict[str, list[str]] = {}
        """Kind of server -> names of the targets that use it."""
        for name, target in targets.items():
            if target.started_server:
                self._wanted.setdefault(target.started_server, []).append(name)
        self._targets = targets
        self._running: dict[str, StartedServer] = {}
        self._stack = contextlib.ExitStack()

    def check(self, needed: int) -> None:
        """See `Site`: there is only one host."""
        if needed > 1:
            raise AssayError(f"the study needs {needed} hosts, but names none", self.more_hosts_hint, EXIT_REFUSED)

    def check_ready(self, _needed: int) -> None:
        """See `Site`: the servers must be installed."""
        if self._wanted:
            from assay.site.started_server import check_installed

            for kind in self._wanted:
                check_installed(kind)

    def startup_seconds(self, _needed: int) -> float:
        """See `Site`."""
        return SERVER_SECONDS * len(self._wanted)

    def up(self, print_line: PrintLine) -> SiteState:
        """See `Site`; each kind of server is one process, which all its targets share."""
        from assay.journal.entry import SERVER
        from assay.journal.process_journal import remove_orphans

        remove_orphans({SERVER: _remove_left})
        if not self._wanted:
            return SiteState((THIS_HOST,), is_local=True)
        try:
            self._start(print_line)
            return self._state()
        except BaseException:
            self._stack.close()
            raise

    def _start(self, print_line: PrintLine) -> None:
        from assay.journal.process_journal import process_journal
        from assay.site.started_server import running_server

        journal = self._stack.enter_context(process_journal())
        for kind, names in self._wanted.items():
            print_line(
                f"server {kind} starts on this machine, for {', '.join(names)}: results are for this local server, not"
                " for AWS"
            )
            self._running[kind] = self._stack.enter_context(running_server(kind, journal, print_line))

    def _state(self) -> SiteState:
        from assay.site.started_server import SERVER_CREDENTIALS

        served = [(name, self._running[kind]) for kind, names in self._wanted.items() for name in names]
        return SiteState(
            (THIS_HOST,),
            targets={name: self._targets[name].at_port(server.port) for name, server in served},
            server_facts={f"server {kind}": server.facts for kind, server in self._running.items()},
            engine_variables={name: SERVER_CREDENTIALS for name, _ in served},
            is_local=True,
        )

    def down(self, print_line: PrintLine) -> None:
        """See `Site`; prints which servers had ended before."""
        for kind, server in self._running.items():
            if server.end_reason:
                print_line(warning(f"server {kind} ended before the run was complete: {server.end_reason}"))
        self._running = {}
        self._stack.close()


def _remove_left(entry: "Entry") -> list[str]:
    from assay.site.started_server import remove_leftover_server

    return remove_leftover_server(entry)
