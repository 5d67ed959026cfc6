"""Runs commands on hosts: on this machine, by OpenSSH's own client, by srun, or inside a host of a box.

OpenSSH's own client is used so that the user's configuration, jump hosts, agents and hardware keys work. All commands
to a host share one connection.
"""

import atexit
import contextlib
import os
import re
import shlex
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Protocol

from assay.launch.commands import MAX_STDOUT_BYTES, STDERR_TAIL_BYTES, collect, end_process, run_program
from assay.launch.ssh_faults import explain_failure
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.site.host import Host
from assay.model.units import about_size

Process = subprocess.Popen[bytes]
Stream = int | IO[bytes] | None

LOCALE = "C.UTF-8"
CONNECT_SECONDS = 10
"""Longest wait for a TCP connection to sshd."""
LOGIN_SECONDS = 45.0
"""Longest wait for a whole login: several jump hosts, slow name servers."""
LEAVE_SECONDS = 5.0
NOT_FOUND = 127
"""Exit code of a shell, of env(1) and of nsenter(1) when there is no such command."""
SOCKETS_PREFIX = "assay-ssh-"
"""Beginning of the name of the folder in /tmp with a workbench's shared connections; only its user can enter it."""
_FOLDER = re.compile(r"assay-ssh-(?P<pid>\d+)-[a-z0-9_]{8}")
_SOCKET = re.compile(r"\d+(\.\w+)?")
"""Names of sockets, including the temporary ones that ssh makes first."""
SSH_FAILED = 255
"""Exit code of ssh(1) when the connection failed, or the command was killed by a signal."""

SSH_OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": str(CONNECT_SECONDS),
    "ServerAliveInterval": "2",
    "ServerAliveCountMax": "3",
    "ControlMaster": "auto",
    "ControlPersist": "60s",
    "LogLevel": "ERROR",
    # Settings of users for their own logins, which would disturb ours.
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "EscapeChar": "none",
}


@dataclass(frozen=True)
class CommandResult:
    """Exit code and output of a command.

    Attributes:
        code: Exit code; negative if it was killed by a signal; `NOT_FOUND` if there is no such command.
        out: Standard output.
        err: Standard error.
    """

    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        """The last line of standard error that is not blank; else the exit code."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return escape_line(redact(lines[-1])) if lines else f"exit code {self.code}"


class Shell(Protocol):
    """Starts commands on a host. Each process is in a session of its own: Ctrl-C reaches the workbench only."""

    host: Host

    def popen(
        self, argv: Sequence[str], *, stdin: Stream = None, stdout: Stream = None, stderr: Stream = None
    ) -> Process:
        """Start a command, and return the process on this machine; its pipes are connected to the command.

        Killing that process does not always kill the command; end of input ends it, if the command reads its input.

        Raises:
            AssayError: It cannot be started, or the host cannot be reached.
        """
        ...

    def run(self, argv: Sequence[str], timeout_s: float, input_bytes: bytes | None = None) -> CommandResult:
        """Execute a command to its end.

        Args:
            argv: Program and arguments; no shell interprets them.
            timeout_s: Seconds.
            input_bytes: Its standard input.

        Raises:
            AssayError: The host cannot be reached, or the command took longer.
        """
        ...

    def close(self) -> None:
        """Close what is kept open between commands; the next command may open it again."""
        ...


class LocalShell:
    """Commands on this machine."""

    def __init__(self, host: Host) -> None:
        """Use a host of kind `local`."""
        self.host = host

    def popen(
        self, argv: Sequence[str], *, stdin: Stream = None, stdout: Stream = None, stderr: Stream = None
    ) -> Process:
        """See `Shell`."""
        return _start(self.host, argv, stdin, stdout, stderr)

    def run(self, argv: Sequence[str], timeout_s: float, input_bytes: bytes | None = None) -> CommandResult:
        """See `Shell`."""
        if os.sep not in argv[0] and not shutil.which(argv[0]):
            return CommandResult(NOT_FOUND, "", f"{argv[0]}: command not found")
        return _converse(self.host, self.popen, argv, timeout_s, input_bytes)

    def close(self) -> None:
        """Do nothing: no connection is kept open."""


class BoxShell:
    """Commands in a host of a cluster in a box; they enter its namespaces first."""

    def __init__(self, host: Host) -> None:
        """Use a host of kind `box`."""
        self.host = host

    def popen(
        self, argv: Sequence[str], *, stdin: Stream = None, stdout: Stream = None, stderr: Stream = None
    ) -> Process:
        """See `Shell`."""
        return _start(self.host, [*self.host.enter, *argv], stdin, stdout, stderr)

    def run(self, argv: Sequence[str], timeout_s: float, input_bytes: bytes | None = None) -> CommandResult:
        """See `Shell`."""
        answer = _converse(self.host, self.popen, argv, timeout_s, input_bytes)
        if answer.code and answer.err.startswith("nsenter: ") and answer.code != NOT_FOUND:
            raise AssayError(
                f"host {self.host.name}: cannot be entered: {answer.last_line.removeprefix('nsenter: ')}",
                "it no longer exists, or Assay needs root: see `assay testbed status`",
                EXIT_REFUSED,
            )
        return answer

    def close(self) -> None:
        """Do nothing: no connection is kept open."""


class SlurmShell:
    """Commands on a node of this process's allocation; each is a step of its own that shares the node with others."""

    def __init__(self, host: Host) -> None:
        """Use a host of kind `slurm`."""
        self.host = host

    def popen(
        self, argv: Sequence[str], *, stdin: Stream = None, stdout: Stream = None, stderr: Stream = None
    ) -> Process:
        """See `Shell`."""
        step = ["srun", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={self.host.address}", "--mpi=none"]
        step += ["--cpu-bind=none", "--quiet", "--job-name=assay"]
        return _start(self.host, [*step, "env", f"LC_ALL={LOCALE}", *argv], stdin, stdout, stderr)

    def run(self, argv: Sequence[str], timeout_s: float, input_bytes: bytes | None = None) -> CommandResult:
        """See `Shell`."""
        answer = _converse(self.host, self.popen, argv, timeout_s, input_bytes)
        if answer.code and (
            srun_errors := [line for line in answer.err.splitlines() if line.startswith("srun: error: ")]
        ):
            complaint = escape_line(srun_errors[0].removeprefix("srun: error: "))
            # If the command itself failed, srun reports that in the same form.
            if not re.search(r": task 0: ", complaint):
                raise AssayError(
                    f"host {self.host.name}: srun cannot start anything there: {complaint}",
                    "`squeue` and `sinfo` show details",
                    EXIT_REFUSED,
                )
        return answer

    def close(self) -> None:
        """Do nothing: no connection is kept open."""


class SshShell:
    """Commands over one shared ssh connection, which the first command opens."""

    def __init__(self, host: Host) -> None:
        """Use a host of kind `ssh`; connect nothing yet."""
        self.host = host
        self._control: Path | None = None
        self._connecting = threading.Lock()

    def popen(
        self, argv: Sequence[str], *, stdin: Stream = None, stdout: Stream = None, stderr: Stream = None
    ) -> Process:
        """See `Shell`."""
        self.connect()
        return _start(self.host, [*self._ssh(), self._remote(argv)], stdin, stdout, stderr)

    def run(self, argv: Sequence[str], timeout_s: float, input_bytes: bytes | None = None) -> CommandResult:
        """See `Shell`."""
        answer = _converse(self.host, self.popen, argv, timeout_s, input_bytes)
        if answer.code == SSH_FAILED and not self.is_alive():
            raise explain_failure(self.host, answer.err)
        return answer

    def connect(self) -> None:
        """Make the shared connection unless there is one.

        Raises:
            AssayError: The host cannot be reached; the message explains why.
        """
        with self._connecting:
            if self._control is not None:
                return
            self._control = _new_control()
            code, err = self._try_login(self._ssh())
            if code == 0:
                return
            if code == SSH_FAILED and self.host.jump and ("onnection closed" in err or not err.strip()):
                # With a shared connection ssh does not show the errors of the jump host.
                code, err = self._try_login(self._ssh(share=False))
                if code == 0:
                    return
            self._control = None
        if code == SSH_FAILED:
            raise explain_failure(self.host, err)
        message = f"host {self.host.name}: logs in, but cannot run `true`: {CommandResult(code, '', err).last_line}"
        raise AssayError(message, f"try it by hand: {self.login_command()}", EXIT_REFUSED)

    def is_alive(self) -> bool:
        """Return whether the shared connection works."""
        return self._control_master("check")

    def close(self) -> None:
        """End the shared connection."""
        if self._control is not None:
            self._control_master("exit")
            with contextlib.suppress(OSError):
                self._control.unlink()
            self._control = None

    def login_command(self) -> str:
        """Return the ssh command by which a user would log in."""
        return shlex.join(["ssh", *self._way(), self.host.address])

    def _try_login(self, ssh: list[str]) -> tuple[int, str]:
        # A file, because a pipe would stay open for as long as the shared connection.
        with tempfile.TemporaryFile() as complaints:
            process = _start(self.host, [*ssh, "true"], subprocess.DEVNULL, subprocess.DEVNULL, complaints)
            try:
                code = process.wait(LOGIN_SECONDS)
            except subprocess.TimeoutExpired:
                return SSH_FAILED, f"Connection timed out: no login within {LOGIN_SECONDS:.0f} s"
            finally:
                end_process(process)
            complaints.seek(0)
            return code, complaints.read(STDERR_TAIL_BYTES).decode("utf-8", "replace")

    def _control_master(self, what: str) -> bool:
        if self._control is None:
            return False
        command = [*self._ssh()[:-1], "-O", what, self.host.address]
        try:
            return run_program(command, LEAVE_SECONDS).code == 0
        except OSError:
            return False

    def _ssh(self, share: bool = True) -> list[str]:
        """Return the client with its options; the last word is the address."""
        path = str(self._control).replace("%", "%%") if share else "none"
        options = {**SSH_OPTIONS, "ControlPath": path}
        if not share:
            options["ControlMaster"] = "no"
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return ["ssh", "-T", *words, *self._way(), self.host.address]

    def _way(self) -> list[str]:
        host, words = self.host, []
        for option, value in (("-F", host.ssh_config), ("-l", host.user), ("-p", host.port), ("-J", host.jump)):
            if value is not None:
                words += [option, str(value)]
        if host.identity is not None:
            words += ["-i", host.identity, "-o", "IdentitiesOnly=yes"]
        return words

    @staticmethod
    def _remote(argv: Sequence[str]) -> str:
        """Return the command as one string, because sshd passes it to the user's login shell."""
        return shlex.join(["env", f"LC_ALL={LOCALE}", *argv])


def _start(host: Host, command: Sequence[str], stdin: Stream, stdout: Stream, stderr: Stream) -> Process:
    try:
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, "LC_ALL": LOCALE},
            cwd="/",
        )
    except OSError as error:
        raise missing_program_error(host, command[0], error) from None


def missing_program_error(host: Host, program: str, error: OSError | None = None) -> AssayError:
    """Return the error that a program cannot be started.

    Args:
        host: The host where it should run, or to which it should connect.
        program: Name of the program.
        error: The error when it was started; None: the program was not found.
    """
    is_missing = error is None or isinstance(error, FileNotFoundError)
    reason = "was not found" if is_missing or error is None else f"cannot be started: {error.strerror}"
    hint = "apt-get install openssh-client" if program == "ssh" else "install it there"
    return AssayError(f"host {host.name}: `{program}` {reason}", hint, EXIT_REFUSED)


class _Starter(Protocol):
    def __call__(self, argv: Sequence[str], *, stdin: Stream, stdout: Stream, stderr: Stream) -> Process: ...


def _converse(
    host: Host, start: _Starter, argv: Sequence[str], timeout: float, input_bytes: bytes | None
) -> CommandResult:
    source = subprocess.DEVNULL if input_bytes is None else subprocess.PIPE
    process = start(argv, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    result = collect(process, input_bytes, timeout)
    name = Path(argv[0]).name
    if result.overflowed:
        message = f"host {host.name}: `{name}` printed more than {about_size(MAX_STDOUT_BYTES)}"
        raise AssayError(message, "try it there by hand", EXIT_REFUSED)
    if result.timed_out or result.code is None:
        raise AssayError(
            f"host {host.name}: `{name}` did not end within {timeout:.0f} s",
            "find out what the host is waiting for",
            EXIT_REFUSED,
        )
    return CommandResult(result.code, result.out.decode("utf-8", "replace"), result.err.decode("utf-8", "replace"))


class _Open:
    """The open shells of this process, one for each host, and the folder of their connections' sockets."""

    shells: ClassVar[dict[Host, Shell]] = {}
    folder: Path | None = None
    count = 0
    lock = threading.RLock()


def make_shell(host: Host) -> Shell:
    """Return the shell of a host: the same one until `close_shells`, so that its connection is shared."""
    kinds: dict[str, Callable[[Host], Shell]] = {
        "local": LocalShell,
        "box": BoxShell,
        "ssh": SshShell,
        "slurm": SlurmShell,
    }
    with _Open.lock:
        if host not in _Open.shells:
            _Open.shells[host] = kinds[host.kind](host)
        return _Open.shells[host]


def close_shells() -> None:
    """End all shared connections and remove their folder; a second call does nothing."""
    with _Open.lock:
        while _Open.shells:
            _Open.shells.popitem()[1].close()
        if _Open.folder is not None:
            _remove_sockets(_Open.folder)
            _Open.folder = None


atexit.register(close_shells)


def _new_control() -> Path:
    """Return the path for the socket of a new shared connection.

    The path is short, because the path of a socket has at most 107 bytes (unix(7)) and ssh appends 17 at first.
    """
    with _Open.lock:
        if _Open.folder is None:
            _remove_stale(Path("/tmp"))
            _Open.folder = Path(tempfile.mkdtemp(prefix=f"{SOCKETS_PREFIX}{os.getpid()}-", dir="/tmp"))
        _Open.count += 1
        return _Open.folder / str(_Open.count)


def _remove_stale(parent: Path) -> None:
    """Remove the folders of workbenches that were killed, unless a connection in them still works."""
    for folder in parent.glob(f"{SOCKETS_PREFIX}*"):
        found = _FOLDER.fullmatch(folder.name)
        if found is not None and not Path("/proc", found["pid"]).exists():
            _remove_sockets(folder)


def _remove_sockets(folder: Path) -> None:
    """Remove the dead sockets in a folder of this user, and the folder if it is then empty."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.fstat(fd).st_uid != os.geteuid():
                return
            for name in [path.name for path in folder.iterdir()]:
                mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
                if _SOCKET.fullmatch(name) and stat.S_ISSOCK(mode) and not _answers(folder / name):
                    os.unlink(name, dir_fd=fd)
        finally:
            os.close(fd)
        folder.rmdir()


def _answers(path: Path) -> bool:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
        return client.connect_ex(str(path)) == 0
