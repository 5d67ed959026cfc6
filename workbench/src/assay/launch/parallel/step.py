"""One command of a launcher, and the exchange with the engines that it started on each host."""

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from assay.contract.bounds import Bounds
from assay.contract.messages import Event
from assay.launch.conversation import READ_BYTES, Conversation, Grace
from assay.launch.launcher import Pings, Process
from assay.launch.parallel.command import LauncherCommand, Program, launcher_environment, new_key
from assay.launch.parallel.frames import FrameReader, HostLine
from assay.launch.parallel.line_senders import ALL, FileSender, LineSender, PipeSender
from assay.launch.shell import Shell
from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.escape import escape_line
from assay.model.site.host import Host

MAX_OUTPUT_BYTES = 16 << 10
"""Bytes kept of the launcher's own output, from its end."""
SAME_PING_NS = 5_000_000
"""Pings of several hosts within this time are sent as one."""
MAX_NAME = 255
"""Most characters of a host's name for itself."""
MAX_SIGNAL, MAX_CODE = 64, 255
"""Valid exit codes are -MAX_SIGNAL to MAX_CODE."""
LEAVE_SECONDS = 5.0
"""Seconds to wait for a launcher whose processes have all ended, and again after each SIGTERM."""
WORDS_FILE = ".words-"
"""Beginning of the name of a words file in the folder of a run."""
_RULER = re.compile(r"[-=*\s]*")
_ERROR = re.compile(
    r"error|fail|kill|cannot|unable|not found|no such|denied|cancel|lost|refus|time limit|invalid", re.I
)


class EngineStep:
    """The processes that one command started; the first process of each host talks for that host."""

    def __init__(self, process: Process, words: LineSender, hosts: Sequence[str]) -> None:
        """Start with nothing read or sent.

        Args:
            process: The launcher, with pipes for its output.
            words: Sends lines to the hosts.
            hosts: Names of the hosts, in the order of their numbers.
        """
        self.process, self.hosts = process, hosts
        self._known = {name.partition(".")[0]: name for name in hosts}
        self._words, self._frames = words, FrameReader(len(hosts))
        self._talks: dict[int, HostConversation] = {}
        self._named: dict[int, str] = {}
        self._launcher_output = b""
        self._job_sent = False
        self.pings = Pings()
        self._open = 0

    def join(self, node: int, talk: "HostConversation") -> None:
        """Pass the lines of a host to `talk`."""
        self._talks[node] = talk
        self._frames.expect(node, talk.bounds.line_bytes)

    def send_job(self, job: bytes) -> None:
        """Send the job, once for all hosts: each host fills in its own number."""
        if not self._job_sent:
            self._job_sent = True
            self._words.send(ALL, job)

    def send(self, node: int, line: bytes) -> None:
        """Send a line to one host."""
        self._words.send(str(node), line)

    def send_ping(self, answered: int) -> None:
        """Send a ping to all hosts, unless one was just sent that this host has not answered yet.

        Args:
            answered: Number of the last ping that the host has answered.
        """
        if not self.pings.is_pending(answered, SAME_PING_NS):
            self._words.send(ALL, b'{"ping":%d}' % self.pings.next())

    def attach(self, selector: selectors.BaseSelector) -> None:
        """Register the launcher's pipes with a selector, when the first of the hosts' talks calls it."""
        if self._open:
            return
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, self._receive)
            self._open += 1
        self._selector = selector
        self._words.attach(selector)

    @property
    def has_ended(self) -> bool:
        """Whether the launcher has ended, and all its output was read."""
        return not self._open and self.process.poll() is not None

    @property
    def output_closed(self) -> bool:
        """Whether the launcher's output is at its end."""
        return not self._open

    @property
    def error_line(self) -> str:
        """The launcher's own output in one line: its first error, or else its first line; empty without output."""
        lines = [escape_line(line.strip()) for line in self._launcher_output.decode("utf-8", "replace").splitlines()]
        texts = [line for line in lines if not _RULER.fullmatch(line)]
        return next((line for line in texts if _ERROR.search(line)), texts[0] if texts else "")

    def host_of(self, node: int) -> str:
        """Return the name of a host: ours for this number, unless the host reports the name of another one."""
        reported = self._named.get(node, "").partition(".")[0]
        return self._known.get(reported, self.hosts[node])

    def close(self) -> None:
        """End the launcher and all processes that it started."""
        self._words.close()
        for number in (0, signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LEAVE_SECONDS)
                break
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _receive(self, pipe: IO[bytes]) -> bool:
        piece = os.read(pipe.fileno(), READ_BYTES)
        if not piece:
            self._selector.unregister(pipe)
            self._open -= 1
            return True
        lines, others = self._frames.feed(piece) if pipe is self.process.stderr else ([], [piece])
        for text in others:
            self._launcher_output = (self._launcher_output + text.rstrip(b"\n") + b"\n")[-MAX_OUTPUT_BYTES:]
        for line in lines:
            self._take(line)
        if self._frames.lost is not None:
            for talk in self._talks.values():
                talk.fail("the launcher lost part of the engines' output")
        if self._frames.long is not None:
            for talk in self._talks.values():
                talk.fail("the launcher's stream has a line that is longer than engines print")
        return True

    def _take(self, line: HostLine) -> None:
        talk = self._talks.get(line.node)
        if talk is None:
            return
        match line.kind:
            case "host":
                self._named[line.node] = escape_line(line.text.decode("utf-8", "replace"), MAX_NAME)
            case "event":
                talk.on_line(line.text)
            case _:
                talk.process.set_result(line.text)


class HostProcess:
    """The engines of one host of a step, with the process interface that `Conversation` needs."""

    stdin = stdout = stderr = None

    def __init__(self, step: EngineStep, node: int) -> None:
        """Take them as running."""
        self._step, self._node = step, node
        self.pid = step.process.pid
        self.returncode: int | None = None
        self.complaint = b""

    def set_result(self, text: bytes) -> None:
        """Record how they ended, from the last line of the host (JSON with `code` and `complaint`)."""
        if self.returncode is not None:
            return
        try:
            report = json.loads(text)
            code, complaint = report["code"], report["complaint"]
            if type(code) is not int or not -MAX_SIGNAL <= code <= MAX_CODE:
                raise ValueError
            self.returncode, self.complaint = code, str(complaint).encode("utf-8", "replace")
        except (ValueError, KeyError, TypeError, RecursionError):
            self.returncode, self.complaint = 1, b"the host's exit report cannot be parsed"

    def poll(self) -> int | None:
        """Return the exit code if they, or the launcher, have ended; else None."""
        if self.returncode is None and self._step.has_ended:
            self.returncode = self._step.process.returncode or 1
            self.complaint = self._step.error_line.encode()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, without reading output.

        Raises:
            subprocess.TimeoutExpired: They did not end in time.
        """
        end = time.monotonic() + (timeout or 0.0)
        while self.poll() is None:
            if time.monotonic() >= end:
                raise subprocess.TimeoutExpired("engines of a host", timeout or 0.0)
            time.sleep(0.01)
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        """Send SIGTERM to the engines."""
        self._step.send(self._node, b"!15")

    def kill(self) -> None:
        """Send SIGKILL to the engines."""
        self._step.send(self._node, b"!9")


class HostConversation(Conversation):
    """The exchange with the engines of one host of a step."""

    process: HostProcess  # type: ignore[assignment]

    def __init__(
        self,
        step: EngineStep,
        node: int,
        job: bytes,
        silence_limit: float,
        on_event: Callable[[Event], None],
        grace: Grace | None,
        *,
        bounds: Bounds,
    ) -> None:
        """See `Conversation`.

        Args:
            step: The step that started them.
            node: Number of the host.
            job: As for `Conversation`.
            silence_limit: As for `Conversation`.
            on_event: As for `Conversation`.
            grace: As for `Conversation`.
            bounds: As for `Conversation`.
        """
        super().__init__(HostProcess(step, node), b"", silence_limit, on_event, grace, bounds=bounds)  # type: ignore[arg-type]
        self._step, self._node, self._job = step, node, job
        self.pings = step.pings
        step.join(node, self)

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `Conversation`."""
        self._step.attach(selector)
        self._step.send_job(self._job)

    def send(self, line: bytes) -> None:
        """See `Conversation`."""
        self._step.send(self._node, line)

    def send_ping(self, answered: int) -> None:
        """See `Conversation`."""
        self._step.send_ping(answered)

    @property
    def is_reading(self) -> bool:
        """See `Conversation`."""
        return self.process.returncode is None and not self._step.output_closed

    @property
    def name(self) -> str:
        """See `Conversation`."""
        return self._step.host_of(self._node)

    def on_line(self, line: bytes) -> None:
        """Process a line of the host."""
        self.feed(line + b"\n")

    def verdict(self) -> tuple[str, str]:
        """See `Conversation`; the reason includes the last errors of the engines, and those of the launcher."""
        self.add_stderr(self.process.complaint)
        status, reason = super().verdict()
        own = self._step.error_line
        if status == "crashed" and own and own not in reason:
            reason = f"{reason}; the launcher reports: {own}"
        return status, reason


@dataclass(frozen=True)
class StepLauncher:
    """Starts the engines of a job on several hosts with one command.

    Attributes:
        command: The launcher.
        head: Shell of the machine where the command runs.
        hosts: All hosts of the run.
        program: The program to start.
        folder: Folder for words files, on storage that all hosts share.
    """

    command: LauncherCommand
    head: Shell
    hosts: Sequence[Host]
    program: Program
    folder: Path

    def start(self, nodes: int, tasks: int) -> EngineStep:
        """Start the engines on the first hosts.

        Args:
            nodes: Number of hosts.
            tasks: Number of engines on each host.

        Raises:
            AssayError: The launcher cannot be started, or the words file cannot be made.
        """
        key = new_key()
        file = None if self.command.feeds_all else self.folder / f"{WORDS_FILE}{key}"
        hosts = self.hosts[:nodes]
        line = [
            *self.command.words([_launcher_name(host) for host in hosts], tasks, self.program.mpi),
            *self.program.words(self.command, tasks, key, file),
        ]
        more = launcher_environment(self.head.host.kind == "box")
        if more:
            line = ["env", *(f"{name}={value}" for name, value in more.items()), *line]
        try:
            words: LineSender | None = FileSender(file) if file else None
        except OSError as error:
            message = f"{self.folder}: {error.strerror}"
            raise AssayError(message, "make the folder of the run writable", EXIT_INCOMPLETE) from None
        source = subprocess.DEVNULL if words else subprocess.PIPE
        process = self.head.popen(line, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if words is None:
            assert process.stdin is not None
            words = PipeSender(process.stdin)
        return EngineStep(process, words, [host.name for host in hosts])


def _launcher_name(host: Host) -> str:
    """Return a host as the launcher knows it: by its address if it is reached by ssh, else by its name."""
    return host.address if host.kind == "ssh" else host.name
