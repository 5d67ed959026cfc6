"""One command of a launcher, the hosts on which it has started engines, and the exchange with each of them."""

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
from assay.launch.parallel.command import Command, Program, new_key, surroundings
from assay.launch.parallel.frames import Frames, Line
from assay.launch.parallel.words import ALL, FileWords, PipeWords, Words
from assay.launch.shell import Shell
from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.foreign import plain
from assay.model.site.host import Host

KEPT_WORDS = 16 << 10
"""Of the launcher's own words so much is kept."""
SAME_PING_NS = 5_000_000
"""Hosts that are to be pinged within so long get one ping together."""
MOST_NAME = 255
"""Characters of what a host calls itself."""
MOST_SIGNAL, MOST_CODE = 64, 255
"""Exit codes are from the negative of the first to the second."""
LEAVE_SECONDS = 5.0
"""A launcher whose processes have all ended is waited for so long, and so long again after SIGTERM."""
WORDS_FILE = ".words-"
"""How the name begins of a file of words in the folder of a run."""
_RULER = re.compile(r"[-=*\s]*")
_ERROR = re.compile(
    r"error|fail|kill|cannot|unable|not found|no such|denied|cancel|lost|refus|time limit|invalid", re.I
)


class Step:
    """Processes that one command has started, the first of each host speaking for it."""

    def __init__(self, process: Process, words: Words, hosts: Sequence[str]) -> None:
        """Nothing was said yet.

        Args:
            process: The launcher, with pipes for its output.
            words: The way down.
            hosts: Their names, in the order of their numbers.
        """
        self.process, self.hosts = process, hosts
        self._known = {name.partition(".")[0]: name for name in hosts}
        self._words, self._frames = words, Frames(len(hosts))
        self._talks: dict[int, HostTalk] = {}
        self._named: dict[int, str] = {}
        self._own = b""
        self._job_said = False
        self.pings = Pings()
        self._open = 0

    def join(self, node: int, talk: "HostTalk") -> None:
        """What this host says is heard by `talk`."""
        self._talks[node] = talk
        self._frames.expect(node, talk.bounds.line_bytes)

    def say_job(self, job: bytes) -> None:
        """The job, which is one for all: each host puts its number in."""
        if not self._job_said:
            self._job_said = True
            self._words.say(ALL, job)

    def say(self, node: int, line: bytes) -> None:
        """A line for one host."""
        self._words.say(str(node), line)

    def ask_time(self, answered: int) -> None:
        """Send a ping to all hosts, unless one was just sent whose answer a host has yet to give.

        Args:
            answered: Number of the last one that the host has answered.
        """
        if not self.pings.waiting(answered, SAME_PING_NS):
            self._words.say(ALL, b'{"ping":%d}' % self.pings.next())

    def attach(self, selector: selectors.BaseSelector) -> None:
        """Listen with this selector; the hosts' talks call it, and the first does it."""
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
    def over(self) -> bool:
        """The launcher has ended, and all it had to say was heard."""
        return not self._open and self.process.poll() is not None

    @property
    def silent(self) -> bool:
        """Nothing more will come through the launcher's stream."""
        return not self._open

    @property
    def complaint(self) -> str:
        """What the launcher itself has said, as one line: its first complaint, or else how it begins."""
        lines = [plain(line.strip()) for line in self._own.decode("utf-8", "replace").splitlines()]
        told = [line for line in lines if not _RULER.fullmatch(line)]
        return next((line for line in told if _ERROR.search(line)), told[0] if told else "")

    def host_of(self, node: int) -> str:
        """The name of a host: ours, unless what it says of itself is that of another of them."""
        said = self._named.get(node, "").partition(".")[0]
        return self._known.get(said, self.hosts[node])

    def close(self) -> None:
        """End the launcher and all that it has started."""
        self._words.end()
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
            self._own = (self._own + text.rstrip(b"\n") + b"\n")[-KEPT_WORDS:]
        for line in lines:
            self._take(line)
        if self._frames.lost is not None:
            for talk in self._talks.values():
                talk.find_fault("the launcher has lost something of what the engines said")
        if self._frames.long is not None:
            for talk in self._talks.values():
                talk.find_fault("the launcher's stream has a line that is longer than engines print")
        return True

    def _take(self, line: Line) -> None:
        talk = self._talks.get(line.node)
        if talk is None:
            return
        match line.holds:
            case "host":
                self._named[line.node] = plain(line.text.decode("utf-8", "replace"), MOST_NAME)
            case "event":
                talk.hear(line.text)
            case _:
                talk.process.ended_with(line.text)


class HostProcess:
    """The engines of one host of a step, as one process: what `Conversation` wants to know of it."""

    stdin = stdout = stderr = None

    def __init__(self, step: Step, node: int) -> None:
        """They were started."""
        self._step, self._node = step, node
        self.pid = step.process.pid
        self.returncode: int | None = None
        self.complaint = b""

    def ended_with(self, text: bytes) -> None:
        """They have said how they have ended."""
        if self.returncode is not None:
            return
        try:
            said = json.loads(text)
            code, complaint = said["code"], said["complaint"]
            if type(code) is not int or not -MOST_SIGNAL <= code <= MOST_CODE:
                raise ValueError
            self.returncode, self.complaint = code, str(complaint).encode("utf-8", "replace")
        except (ValueError, KeyError, TypeError, RecursionError):
            self.returncode, self.complaint = 1, b"the host's last words cannot be read"

    def poll(self) -> int | None:
        """Exit code if they have ended, or with the launcher."""
        if self.returncode is None and self._step.over:
            self.returncode = self._step.process.returncode or 1
            self.complaint = self._step.complaint.encode()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; nothing is read meanwhile.

        Raises:
            subprocess.TimeoutExpired: It did not come.
        """
        end = time.monotonic() + (timeout or 0.0)
        while self.poll() is None:
            if time.monotonic() >= end:
                raise subprocess.TimeoutExpired("engines of a host", timeout or 0.0)
            time.sleep(0.01)
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        """SIGTERM for the engines."""
        self._step.say(self._node, b"!15")

    def kill(self) -> None:
        """SIGKILL for the engines."""
        self._step.say(self._node, b"!9")


class HostTalk(Conversation):
    """The exchange with the engines of one host of a step."""

    process: HostProcess  # type: ignore[assignment]

    def __init__(
        self,
        step: Step,
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
            step: What has started them.
            node: Number of the host.
            job: As of `Conversation`; likewise all others.
            silence_limit: Likewise.
            on_event: Likewise.
            grace: Likewise.
            bounds: Likewise.
        """
        super().__init__(HostProcess(step, node), b"", silence_limit, on_event, grace, bounds=bounds)  # type: ignore[arg-type]
        self._step, self._node, self._job = step, node, job
        self.pings = step.pings
        step.join(node, self)

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `Conversation`."""
        self._step.attach(selector)
        self._step.say_job(self._job)

    def say(self, line: bytes) -> None:
        """See `Conversation`."""
        self._step.say(self._node, line)

    def ask_time(self, answered: int) -> None:
        """See `Conversation`."""
        self._step.ask_time(answered)

    @property
    def reading(self) -> bool:
        """See `Conversation`."""
        return self.process.returncode is None and not self._step.silent

    @property
    def name(self) -> str:
        """See `Conversation`."""
        return self._step.host_of(self._node)

    def hear(self, line: bytes) -> None:
        """A line of the host."""
        self.take_in(line + b"\n")

    def verdict(self) -> tuple[str, str]:
        """See `Conversation`; what the engines complained of last, or else the launcher."""
        self.complain(self.process.complaint)
        status, reason = super().verdict()
        own = self._step.complaint
        if status == "crashed" and own and own not in reason:
            reason = f"{reason}; the launcher says: {own}"
        return status, reason


@dataclass(frozen=True)
class StepLauncher:
    """Starts the engines of a job on several hosts with one command.

    Attributes:
        command: The launcher.
        head: Where it is typed.
        hosts: All that there are.
        program: What is started.
        folder: Where files of words may be made, on storage that all hosts share.
    """

    command: Command
    head: Shell
    hosts: Sequence[Host]
    program: Program
    folder: Path

    def start(self, nodes: int, tasks: int) -> Step:
        """Start the engines on the first hosts.

        Args:
            nodes: So many hosts.
            tasks: Engines on each.

        Raises:
            AssayError: The launcher cannot be started, or the words not be written.
        """
        key = new_key()
        file = None if self.command.to_all else self.folder / f"{WORDS_FILE}{key}"
        hosts = self.hosts[:nodes]
        line = [
            *self.command.words([_typed(host) for host in hosts], tasks, self.program.mpi),
            *self.program.words(self.command, tasks, key, file),
        ]
        more = surroundings(self.head.host.kind == "box")
        if more:
            line = ["env", *(f"{name}={value}" for name, value in more.items()), *line]
        try:
            words: Words | None = FileWords(file) if file else None
        except OSError as error:
            message = f"{self.folder}: {error.strerror}"
            raise AssayError(message, "make the folder of the run writable", EXIT_INCOMPLETE) from None
        source = subprocess.DEVNULL if words else subprocess.PIPE
        process = self.head.popen(line, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if words is None:
            assert process.stdin is not None
            words = PipeWords(process.stdin)
        return Step(process, words, [host.name for host in hosts])


def _typed(host: Host) -> str:
    """A host as launchers know it: those that are reached by ssh they reach so, too."""
    return host.address if host.kind == "ssh" else host.name
