"""A box that is up: its hosts, how to get into them, and its servers."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import BoxState, RunningHost, RunningServer
from assay.model.units import one_of
from assay.servers.kinds import fill, found_words, load_kind
from assay.site.box.clean import take_down
from assay.site.box.process import boot_id
from assay.site.box.run import find_program, find_switch, run
from assay.site.box.state import host_process

READY_SECONDS = 20
STOP_SECONDS = 10.0
SPACES = ("--net", "--uts", "--mount", "--pid", "--ipc")


def prefix(pid: int, group: str, spaces: tuple[str, ...] = SPACES) -> list[str]:
    """The words that run a command inside a host.

    Args:
        pid: Of the host's init.
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
        state: What is stored of it.
    """

    folder: Path
    state: BoxState

    @property
    def name(self) -> str:
        """What it runs as."""
        return self.state.name

    @property
    def hosts(self) -> tuple[RunningHost, ...]:
        """Its hosts."""
        return self.state.hosts

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F`: it works inside and outside the box, and reads nothing of the user's."""
        return self.folder / "ssh_config"

    def host(self, name: str) -> RunningHost:
        """The host of this name.

        Raises:
            AssayError: There is none.
        """
        for host in self.hosts:
            if host.name == name:
                return host
        raise AssayError(f"box {self.name} has no host {name}", one_of(name, [host.name for host in self.hosts]))

    def alive(self, name: str) -> bool:
        """Whether a host still is."""
        return self.state.boot == boot_id() and host_process(self.host(name)).alive

    def enter(self, name: str) -> list[str]:
        """The words that go before a command to run it inside a host. It begins in /, so that paths must be absolute.

        Raises:
            AssayError: There is no such host, or it is dead.
        """
        host = self.host(name)
        if not self.alive(name):
            raise AssayError(f"host {name} of box {self.name} is dead", "take the box down, and up again", EXIT_REFUSED)
        return prefix(host.pid, host.group)

    def down(self) -> str:
        """Remove the box; returns and raises as `take_down`."""
        return take_down(self.name)

    def server_ready(self, name: str, server: RunningServer, within: float = 0.0) -> str:
        """Why a server does not answer; empty if it does within some seconds."""
        try:
            wait_ready(self.enter(name), self.host(name), server.kind, within, Path(server.configuration))
        except AssayError as error:
            return error.message
        return ""

    def stop_server(self, name: str, server: RunningServer, signal: str = "") -> None:
        """End a server and wait until it has.

        Args:
            name: Its host.
            server: One of the host's.
            signal: Such as KILL; the kind's own if empty.

        Raises:
            AssayError: It does not run, or does not end.
        """
        kind = load_kind(server.kind)
        words = [*self.enter(name), "sh", "-c"]
        run([*words, f"kill -{signal or kind.signal} $(cat {kind.pidfile})"], f"{server.kind} on {name}")
        end = time.monotonic() + STOP_SECONDS
        # The process has ended when its /proc entry is gone; the host's init reaps at once.
        while run([*words, f"test -e /proc/$(cat {kind.pidfile}) && echo there || true"], f"{server.kind} on {name}"):
            if time.monotonic() > end:
                raise AssayError(f"{server.kind} on {name} has not ended", "stop it with signal KILL", EXIT_REFUSED)
            time.sleep(0.02)
        run([*words, f"rm -f {kind.pidfile}"], f"{server.kind} on {name}")

    def start_server(self, name: str, server: RunningServer) -> None:
        """Start a server that was stopped, with the configuration it had, and wait until it answers.

        Raises:
            AssayError: It does not start or does not answer.
        """
        start(self.enter(name), self.host(name), server.kind, Path(server.configuration))
        wait_ready(self.enter(name), self.host(name), server.kind, READY_SECONDS, Path(server.configuration))


def start(enter: list[str], host: RunningHost, kind_name: str, configuration: Path, first: bool = False) -> None:
    """Run the commands that start a server.

    Args:
        enter: Words that run a command inside its host.
        host: The host.
        kind_name: Which server.
        configuration: Its written configuration; the log goes beside it.
        first: Also what comes once, before the first start.

    Raises:
        AssayError: A command fails.
    """
    kind, log = load_kind(kind_name), configuration.with_suffix(".log")
    words = {
        **found_words(kind),
        "host": host.name,
        "address": host.address,
        "configuration": str(configuration),
        "log": str(log),
    }
    for command in (*(kind.before if first else ()), *kind.start):
        _launch([*enter, *(fill(word, words) for word in command)], f"{kind_name} on {host.name}", log)


def _launch(words: list[str], what: str, log: Path) -> None:
    """Run a command that goes into the background. What it prints goes to the log: a pipe it would keep open."""
    with log.with_suffix(".out").open("ab") as out:
        try:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=READY_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise AssayError(f"{what}: it does not go into the background", last_words(log), EXIT_REFUSED) from None
    if done.returncode != 0:
        raise AssayError(f"{what}: exit code {done.returncode}", last_words(log), EXIT_REFUSED)


def last_words(log: Path) -> str:
    """The last line that a server wrote: its log may be gone when somebody looks."""
    for path in (log.with_suffix(".out"), log):
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        if lines:
            return f"it said: {lines[-1].strip()[:300]}"
    return "it said nothing"


def wait_ready(enter: list[str], host: RunningHost, kind_name: str, seconds: float, configuration: Path) -> None:
    """Wait until a server answers.

    Raises:
        AssayError: It does not in time.
    """
    kind = load_kind(kind_name)
    services = [f"{host.address}:{service}" for service in kind.ready]
    words = [find_switch(), "ready", "--within-ms", str(round(seconds * 1000)), *services]
    try:
        run([*enter, *words], f"{kind_name} on {host.name} does not answer")
    except AssayError as error:
        raise AssayError(error.message, last_words(configuration.with_suffix(".log")), EXIT_REFUSED) from None
