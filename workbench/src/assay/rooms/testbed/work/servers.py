"""Servers of a box: started in steps, so that each finds the others; stopped and started again."""

import os
import secrets
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box_servers import BoxServer
from assay.model.site.box_state import RunningHost, RunningServer
from assay.rooms.testbed.work.programs import find_switch
from assay.servers.filled_server import FilledServer, ServerCommand, ServerPlace, digest
from assay.servers.kinds import CommandStep, ServerKind, load_kind
from assay.site.installed import checked_output, last_words, version_of

READY_TIMEOUT_SECONDS = 240
"""Longer than any server needs on a machine whose cores have other work, too."""
POLL_INTERVAL_SECONDS = 0.05
"""Time between two checks whether a server has mounted its directory."""
MOUNTED_SCRIPT = 'findmnt --noheadings --types notmpfs --mountpoint "$1"'
ANSWERS_SCRIPT = f'{MOUNTED_SCRIPT}; stat "$1"; {MOUNTED_SCRIPT}'
"""Script for sh: fails unless a program has mounted the directory $1 and answers there. A tmpfs does not count: it is
the host's own empty directory. The mount is checked before and after a request, because a program that mounts and then
finds that it cannot work unmounts at its first request."""
UNMOUNT_SCRIPT = f'if {MOUNTED_SCRIPT}; then umount --lazy "$1"; fi'
"""Script for sh: unmounts what a killed program has left mounted at $1."""
SECRETS = "secrets"
"""Name of the folder with the passwords of the servers' users; only root may enter it."""
DAEMON_SCRIPT = 'pidfile=$1; shift; setsid "$@" </dev/null & echo $! >"$pidfile"'
"""Script for sh: runs a command in the background. Arguments: file for its process id, command."""


@dataclass(frozen=True)
class HostServer:
    """A server on its host.

    Attributes:
        enter: Words to put before a command to run it inside the host.
        filled: Description of the server, with all placeholders filled in.
    """

    enter: list[str]
    filled: FilledServer = field(repr=False)

    @property
    def label(self) -> str:
        """Kind and host of the server, for messages."""
        return f"{self.filled.kind.kind} on {self.filled.place.host}"

    @property
    def log(self) -> Path:
        """Path of its log."""
        return self.filled.place.log

    @property
    def upstream(self) -> str:
        """Address of the host whose servers it re-exports; empty if it does not."""
        return self.filled.place.upstream

    def begin(self) -> None:
        """Write the configuration, and start the server for the first time.

        Raises:
            AssayError: A command fails.
        """
        kind = self.filled.kind
        self.filled.place.configuration.write_text(self.filled.configuration())
        if folders := [*kind.folders, *([self.filled.server.mount] if self.filled.server.mount else [])]:
            checked_output([*self.enter, "mkdir", "-p", *folders], self.label)
        self._run(kind.before)
        self.start()

    def start(self) -> None:
        """Run the commands that start the server.

        Raises:
            AssayError: One fails.
        """
        kind = self.filled.kind
        commands = self.filled.commands(kind.start)
        if kind.foreground and commands:
            last = commands.pop()
            words = ("sh", "-c", DAEMON_SCRIPT, "sh", kind.pidfile, *last.argv)
            commands.append(ServerCommand(words, last.stdin_text))
        for command in commands:
            self._launch(command)

    def run_later_steps(self, after: str) -> None:
        """Run the steps that follow when this server answers (`own`) or when all servers answer (`all`).

        Raises:
            AssayError: A command fails.
        """
        self._run(step for step in self.filled.kind.after_ready if step.after == after)

    def resume(self, seconds: float) -> None:
        """Start the server again after it was stopped, and wait until it answers.

        Raises:
            AssayError: It does not start, or does not answer in time.
        """
        self.start()
        self.wait(seconds)
        self._run(step for step in self.filled.kind.after_ready if step.on_restart)

    def wait(self, seconds: float) -> None:
        """Wait until the server answers and has mounted its directory, if it has one.

        Raises:
            AssayError: It does not in time.
        """
        services, words = self.filled.services(), [find_switch(), "ready", "--within-ms", str(round(seconds * 1000))]
        end = time.monotonic() + seconds
        try:
            if services:
                checked_output([*self.enter, *words, *services], f"{self.label} does not answer")
            while (mount := self.filled.server.mount) and not is_mounted(self.enter, mount):
                if time.monotonic() > end:
                    raise AssayError(f"{self.label} has mounted nothing at {mount}", "", EXIT_REFUSED)
                time.sleep(POLL_INTERVAL_SECONDS)
        except AssayError as error:
            raise AssayError(error.message, last_words(self.log), EXIT_REFUSED) from None

    def _run(self, steps: Iterable[CommandStep]) -> None:
        for command in self.filled.commands(steps):
            self._launch(command)

    def _launch(self, command: ServerCommand) -> None:
        """Run a command. Its output goes to a file, because a daemon would keep a pipe open."""
        input_bytes = command.stdin_text.encode()
        with self.log.with_suffix(".out").open("ab") as out:
            try:
                done = subprocess.run(
                    [*self.enter, *command.argv],
                    input=input_bytes,
                    stdout=out,
                    stderr=out,
                    timeout=READY_TIMEOUT_SECONDS,
                    check=False,
                    cwd="/",
                )
            except subprocess.TimeoutExpired:
                message = f"{self.label}: `{command.argv[0]}` neither ends nor goes into the background"
                raise AssayError(message, self._hint(), EXIT_REFUSED) from None
        if done.returncode != 0:
            message = f"{self.label}: `{command.argv[0]}` ended with exit code {done.returncode}"
            raise AssayError(message, self._hint(), EXIT_REFUSED)

    def _hint(self) -> str:
        """Return the last line of the log, without passwords that a command may have printed."""
        hint = last_words(self.log)
        for password in self.filled.place.passwords.values():
            hint = hint.replace(password, "(a password)")
        return hint

    def running_state(self) -> RunningServer:
        """Return what is stored of the server in the state of the box."""
        kind, place = self.filled.kind, self.filled.place
        folder = secrets_of(place.configuration.parent.parent)
        return RunningServer(
            **self.filled.server.model_dump(include=set(BoxServer.model_fields)),
            version=version_of(kind),
            configuration=str(place.configuration),
            sha256=digest(self.filled.configuration()),
            paths={name: place.devices[name] for name in self.filled.server.devices},
            peers=dict(place.peers),
            upstream_address=place.upstream,
            credentials={user: str(folder / secret_name(kind, user)) for user in place.passwords},
        )


def new_server(
    enter: list[str],
    host: RunningHost,
    server: BoxServer,
    folder: Path,
    peers: Mapping[str, str],
    paths: Mapping[str, str],
    upstream: str,
) -> HostServer:
    """Return a server that was never started. Passwords of its users are made, in files that only root may read.

    Args:
        enter: Words to put before a command to run it inside the host.
        host: The host.
        server: The server as the file of the box describes it.
        folder: Folder of the box.
        peers: Host -> its address, for all hosts with a server of this kind.
        paths: Device of the host -> its path.
        upstream: Address of the host whose servers it re-exports; empty if it does not.

    Raises:
        AssayError: Something that it needs is missing.
    """
    kind = load_kind(server.kind)
    passwords = {user: _make_password(folder, kind, user) for user in server.users}
    configuration = folder / "servers" / f"{host.name}-{server.kind}.conf"
    place = ServerPlace(host.name, host.address, configuration, peers, paths, passwords, upstream=upstream)
    configuration.parent.mkdir(exist_ok=True)
    return HostServer(enter, FilledServer(kind, server, place))


def existing_server(enter: list[str], host: RunningHost, server: RunningServer) -> HostServer:
    """Return a server that was started before.

    Args:
        enter: Words to put before a command to run it inside the host.
        host: The host.
        server: Its stored state.

    Raises:
        AssayError: Something that it needs is missing.
    """
    passwords = {user: _password(Path(path)) for user, path in server.credentials.items()}
    configuration, upstream = Path(server.configuration), server.upstream_address
    place = ServerPlace(
        host.name, host.address, configuration, server.peers, server.paths, passwords, upstream=upstream
    )
    return HostServer(enter, FilledServer(load_kind(server.kind), server, place))


def secrets_of(folder: Path) -> Path:
    """Return the folder with the passwords of a box."""
    return folder / SECRETS


def secret_name(kind: ServerKind, user: str) -> str:
    """Return the name of the file with a user's password, which all servers of a kind share."""
    return f"{kind.kind}-{user}"


def _make_password(folder: Path, kind: ServerKind, user: str) -> str:
    """Return the password of a user for the servers of a kind; make it if there is none yet."""
    path = secrets_of(folder) / secret_name(kind, user)
    if path.exists():
        return _password(path)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    password = secrets.token_urlsafe(18)
    # The form that mount.cifs(8) reads.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"username={user}\npassword={password}\n")
    return password


def _password(path: Path) -> str:
    try:
        return path.read_text().partition("password=")[2].rstrip("\n")
    except OSError as error:
        raise AssayError(f"{path}: {error.strerror}", "take the box down, and up again", EXIT_REFUSED) from None


def is_mounted(enter: list[str], mount: str) -> bool:
    """Return whether a program of a host has mounted a directory and answers there.

    Args:
        enter: Words to put before a command to run it inside the host.
        mount: The directory.
    """
    words = [*enter, "sh", "-e", "-c", ANSWERS_SCRIPT, "sh", mount]
    nothing = subprocess.DEVNULL
    done = subprocess.run(
        words, stdin=nothing, stdout=nothing, stderr=nothing, timeout=READY_TIMEOUT_SECONDS, check=False
    )
    return done.returncode == 0
