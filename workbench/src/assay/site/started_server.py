"""Servers that Assay starts on this machine for a run: one process each, on loopback only, without a box.

Each server and its folder are recorded in a journal before they are made. A server ends with its run, even if the run
is killed; the next run removes what a killed one has left.
"""

import contextlib
import os
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from assay.journal.entry import SERVER, Entry, Journal
from assay.journal.processes import ProcessIdentity, boot_id, start_time
from assay.journal.trees import FolderNumbers, make_folder, remove_tree
from assay.model.base import EXIT_REFUSED, AssayError, PrintLine, warning
from assay.model.escape import escape_line
from assay.model.site.box_servers import BoxServer
from assay.servers.filled_server import FilledServer, ServerPlace, install_hint
from assay.servers.kinds import ACCESS, SECRET_KEY, ServerKind, load_kind
from assay.site.installed import last_words, missing_requirements, search_path, version_of

LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
"""Longest wait for the first answer; generous, for slow and busy machines."""
STOP_SECONDS = 5.0
"""Longest wait for a server to end after each signal."""
POLL_INTERVAL_SECONDS = 0.05
_FOLDER = re.compile(r"assay-server-[0-9a-f]{16}")
DIE_WITH_PARENT = (
    "import ctypes, os, signal, sys; "
    "ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0); "
    "os.getppid() == int(sys.argv[1]) or os._exit(1); "
    "os.execvp(sys.argv[2], sys.argv[2:])"
)
"""Python code: execute a command that the kernel kills when this process ends (PR_SET_PDEATHSIG is 1, prctl(2))."""
SERVER_CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_SESSION_TOKEN": ""}
"""Environment with which engines reach such a server; it overrides the user's variables for other services."""


@dataclass(frozen=True)
class StartedServer:
    """A running server.

    Attributes:
        kind: Kind of the server.
        port: Port on loopback.
        url: URL that answers once the server is ready.
        folder: Folder with its data and its log.
        process: Its process.
    """

    kind: ServerKind
    port: int
    url: str
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the server that are stored with a run."""
        return {"version": version_of(self.kind), "started by": "Assay, on this machine, for the run"}

    @property
    def end_reason(self) -> str:
        """How the server ended, with the last line of its log; empty while it runs."""
        code = self.process.poll()
        if code is None:
            return ""
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"it {how}; {last_words(_log(self.folder))}"


def check_installed(name: str) -> None:
    """Check that a kind of server is installed.

    Raises:
        AssayError: It is not; the hint says how to install it.
    """
    kind = load_kind(name)
    if missing := missing_requirements(kind):
        verb = "is" if len(missing) == 1 else "are"
        message = f"server {name} needs {', '.join(missing)}, which {verb} not installed"
        hint = f"{install_hint(kind)}; or leave out the targets with `server: {name}`"
        raise AssayError(message, hint, EXIT_REFUSED)


@contextlib.contextmanager
def running_server(name: str, journal: Journal, print_line: PrintLine) -> Iterator[StartedServer]:
    """Run a server for the length of a `with` block.

    Args:
        name: Kind of the server.
        journal: Journal that records the server before it is started.
        print_line: Prints a warning for each thing that could not be removed at the end.

    Raises:
        AssayError: The server does not start.
    """
    check_installed(name)
    folder = Path(tempfile.gettempdir()).resolve() / f"assay-server-{secrets.token_hex(8)}"
    entry = journal.record(SERVER, str(folder))
    server: StartedServer | None = None
    made: FolderNumbers | None = None
    data: FolderNumbers | None = None
    try:
        made = _make(folder)
        journal.amend(entry, {"made": made})
        data = _make(folder / "data")
        server = _start(load_kind(name), folder)
        record = {
            "made": made,
            "data": data,
            "pid": server.process.pid,
            "start": start_time(server.process.pid),
            "boot": boot_id(),
        }
        journal.amend(entry, record)
        _wait(server)
        yield server
    finally:
        if server is not None:
            _end(server)
        left = _remove(folder, made, data)
        for line in left:
            print_line(warning(f"could not be removed: {line}"))
        if not left:
            journal.mark_removed(entry)


def _make(folder: Path) -> FolderNumbers:
    try:
        return make_folder(folder)
    except OSError as error:
        raise AssayError(f"{folder}: {error.strerror}", "set TMPDIR to another folder", EXIT_REFUSED) from error


def _start(kind: ServerKind, folder: Path) -> StartedServer:
    """Start the process of a server, without waiting until it answers."""
    port = _free_port()
    # The server starts without buckets and tables: engines make those.
    offering = BoxServer.model_construct(kind=kind.kind, data=str(folder / "data"))
    place = ServerPlace("localhost", LOOPBACK, folder / "server.conf", port=port)
    filled = FilledServer(kind, offering, place)
    (command,), (url,) = filled.commands(kind.start), filled.services()
    # The user's AWS variables are meant for other services.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with place.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", DIE_WITH_PARENT, str(os.getpid()), *command.argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**environment, "PATH": search_path()},
            # Ctrl-C must reach the workbench only.
            start_new_session=True,
        )
    return StartedServer(kind, port, url, folder, process)


def _log(folder: Path) -> Path:
    return folder / "server.log"


def _free_port() -> int:
    """Return a free port on loopback."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(server: StartedServer) -> None:
    """Wait until a server answers.

    Raises:
        AssayError: It ended, or did not answer in time.
    """
    end = time.monotonic() + START_SECONDS
    while True:
        answers = _answers(server.url)
        if server.end_reason:
            raise AssayError(f"server {server.kind.kind} does not start", server.end_reason, EXIT_REFUSED)
        if answers:
            return
        if time.monotonic() > end:
            message = f"server {server.kind.kind} does not answer within {START_SECONDS:.0f} s"
            raise AssayError(message, last_words(_log(server.folder)), EXIT_REFUSED)
        time.sleep(POLL_INTERVAL_SECONDS)


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    # Imported late: it loads TLS, which takes longer than everything else in a check of a study.
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(parts.hostname or LOOPBACK, parts.port, timeout=5)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status < 500
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _end(server: StartedServer) -> None:
    """End a server with its own signal, or with SIGKILL if it does not end in time."""
    process = server.process
    for number in (signal.Signals[f"SIG{server.kind.signal}"], signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
            return


def remove_leftover_server(entry: Entry) -> list[str]:
    """End and remove a server that a killed run has left behind.

    Args:
        entry: Journal entry of a process that no longer exists.

    Returns:
        What could not be removed and why, one line each.
    """
    folder, details = Path(entry.name), entry.details
    if not _FOLDER.fullmatch(folder.name):
        return [escape_line(f"{entry.name}: not a folder of Assay: left alone")]
    pid, start = details.get("pid"), details.get("start")
    if isinstance(pid, int) and isinstance(start, int) and details.get("boot") == boot_id():
        _kill(ProcessIdentity(pid, start))
    return _remove(folder, _numbers(details.get("made")), _numbers(details.get("data")))


def _remove(folder: Path, made: FolderNumbers | None, data: FolderNumbers | None) -> list[str]:
    """Remove the folder of a server unless it or its data folder was replaced; return what is left and why."""
    left = [] if data is None else remove_tree(folder / "data", data)
    return left or remove_tree(folder, made)


def _numbers(value: object) -> FolderNumbers | None:
    """Return device and inode of a folder as a journal states them; None if they are missing."""
    match value:
        case [int(device), int(inode)]:
            return device, inode
    return None


def _kill(process: ProcessIdentity) -> None:
    with contextlib.suppress(ProcessLookupError):
        fd = os.pidfd_open(process.pid)
        try:
            # The descriptor pins the process that has this id now; only after that can its identity be checked.
            if process.is_alive:
                signal.pidfd_send_signal(fd, signal.SIGKILL)
                select.select([fd], [], [], STOP_SECONDS)
        finally:
            os.close(fd)
