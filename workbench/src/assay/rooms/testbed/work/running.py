"""A box that is up: its hosts, commands to enter them, and its servers."""

import time
from dataclasses import dataclass
from pathlib import Path

from assay.journal.processes import boot_id
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box_state import BoxState, RunningHost, RunningServer
from assay.model.units import choices_hint
from assay.rooms.testbed.work.clean import take_down
from assay.rooms.testbed.work.servers import READY_TIMEOUT_SECONDS, UNMOUNT_SCRIPT, HostServer, existing_server
from assay.rooms.testbed.work.state import host_process
from assay.servers.kinds import load_kind
from assay.site.installed import checked_output, find_program, search_path

STOP_SECONDS = 10.0
NAMESPACE_OPTIONS = ("--net", "--uts", "--mount", "--pid", "--ipc")


def enter_words(pid: int, group: str, spaces: tuple[str, ...] = NAMESPACE_OPTIONS) -> list[str]:
    """Return the words to put before a command to run it inside a host.

    Args:
        pid: Process id of the host's init.
        group: Control group that limits the host's disks; empty for none.
        spaces: Options that say which namespaces to enter.
    """
    nsenter = find_program("nsenter") or "nsenter"
    words = [nsenter, "--target", str(pid), *spaces, "--"]
    if not group:
        return words
    return ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group, *words]


@dataclass(frozen=True)
class RunningBox:
    """A box that is up.

    Attributes:
        folder: Its folder.
        state: Its stored state.
    """

    folder: Path
    state: BoxState

    @property
    def name(self) -> str:
        """Name under which it runs."""
        return self.state.name

    @property
    def hosts(self) -> tuple[RunningHost, ...]:
        """Its hosts."""
        return self.state.hosts

    @property
    def ssh_config(self) -> Path:
        """Configuration for `ssh -F` that works inside and outside the box, and ignores the user's own."""
        return self.folder / "ssh_config"

    def host(self, name: str) -> RunningHost:
        """Return the host of this name.

        Raises:
            AssayError: There is none.
        """
        for host in self.hosts:
            if host.name == name:
                return host
        raise AssayError(f"box {self.name} has no host {name}", choices_hint(name, [host.name for host in self.hosts]))

    def is_alive(self, name: str) -> bool:
        """Return whether a host is still alive."""
        return self.state.boot == boot_id() and host_process(self.host(name)).is_alive

    def enter(self, name: str) -> list[str]:
        """Return the words to put before a command to run it inside a host. It starts in /, so paths must be absolute.

        Raises:
            AssayError: There is no such host, or it is dead.
        """
        host = self.host(name)
        if not self.is_alive(name):
            raise AssayError(f"host {name} of box {self.name} is dead", "take the box down, and up again", EXIT_REFUSED)
        return enter_words(host.pid, host.group)

    def enter_as(self, name: str, user: str) -> list[str]:
        """Return the words to put before a command to run it inside a host as a user of the box, in a new environment.

        Raises:
            AssayError: There is no such host or user, or the host is dead.
        """
        if user not in self.state.users:
            hint = choices_hint(user, self.state.users, none=f"add `users: [{user}]` to the box")
            raise AssayError(f"box {self.name} has no user {user}", hint)
        become = [f"--reuid={user}", f"--regid={user}", "--init-groups", "--reset-env"]
        path = f"PATH={search_path()}"
        return [*self.enter(name), find_program("setpriv") or "setpriv", *become, "--", "env", path]

    def down(self) -> str:
        """Remove the box. See `take_down` for what it returns and raises."""
        return take_down(self.name)

    def server_fault(self, name: str, server: RunningServer, within: float = 0.0) -> str:
        """Wait up to `within` seconds until a server answers; return why it does not, empty if it does."""
        try:
            self._serving(name, server).wait(within)
        except AssayError as error:
            return error.message
        return ""

    def stop_server(self, name: str, server: RunningServer, signal: str = "") -> None:
        """End a server and wait until it has ended.

        Args:
            name: Name of its host.
            server: The server.
            signal: Signal such as KILL; if empty, the usual one of its kind.

        Raises:
            AssayError: The server does not run, or does not end.
        """
        kind = load_kind(server.kind)
        if not kind.start:
            raise AssayError(f"{server.kind} on {name} has no process to stop", "", EXIT_REFUSED)
        words = [*self.enter(name), "sh", "-c"]
        checked_output([*words, f"kill -{signal or kind.signal} $(cat {kind.pidfile})"], f"{server.kind} on {name}")
        end = time.monotonic() + STOP_SECONDS
        # The process has ended when its /proc entry is gone: the host's init reaps immediately.
        while checked_output(
            [*words, f"test -e /proc/$(cat {kind.pidfile}) && echo there || true"], f"{server.kind} on {name}"
        ):
            if time.monotonic() > end:
                raise AssayError(f"{server.kind} on {name} has not ended", "stop it with signal KILL", EXIT_REFUSED)
            time.sleep(0.02)
        checked_output([*words, f"rm -f {kind.pidfile}"], f"{server.kind} on {name}")
        if server.mount is not None:
            checked_output([*words, UNMOUNT_SCRIPT, "sh", server.mount], f"{server.mount} on {name}")

    def start_server(self, name: str, server: RunningServer) -> None:
        """Start a stopped server again with the same configuration, and wait until it answers.

        Raises:
            AssayError: It does not start or does not answer.
        """
        self._serving(name, server).resume(READY_TIMEOUT_SECONDS)

    def _serving(self, name: str, server: RunningServer) -> HostServer:
        return existing_server(self.enter(name), self.host(name), server)
