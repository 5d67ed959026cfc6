"""Commands on other hosts that end when they should: in time, when told to, and when nobody is there any more.

Killing an ssh client or an `nsenter` leaves the command behind it alone. So a command runs beside a reader of its
standard input, which ends it at the end of input: that comes when we close the pipe, and also when we are killed.
"""

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence

from assay.launch.answers import MOST_OUT, collect
from assay.launch.shell import CONNECTION, NOT_FOUND, Answer, Process, Shell
from assay.model.base import AssayError
from assay.model.units import about_size

SCRIPT = (
    "s=$1; shift; PATH=$PATH:/usr/sbin:/sbin; export PATH; "
    f'command -v "$1" >/dev/null 2>&1 || {{ echo "$1: command not found" >&2; exit {NOT_FOUND}; }}; '
    'exec 3<&0 </dev/null; "$@" 3<&- & p=$!; '
    # Neither of the two watchers holds a pipe that leads out, so that these end with the command.
    # They wait for their sleeps, so that a signal reaches the trap at once and no sleep outlives them.
    "{ while read -r x; do :; done; trap 'kill -9 $!; exit' TERM; kill $p; sleep 1 & wait $!; kill -9 $p; } "
    "<&3 >/dev/null 2>&1 & r=$!; "
    "{ exec 3<&-; trap 'kill -9 $!; exit' TERM; sleep $s & wait $!; kill $p; sleep 1 & wait $!; kill -9 $p; } "
    ">/dev/null 2>&1 & t=$!; "
    "wait $p; c=$?; kill $r $t 2>/dev/null; wait; exit $c"
)
"""For sh: seconds, then the command; its exit code is the command's. POSIX only, in one line, for any login shell."""

RUDE_SECONDS = 3.0
"""From the end of input to SIGKILL of the process on this side."""
SPARE_SECONDS = 5.0
"""A command that reaches its limit is ended over there first, and says so; then here."""


class StoppedError(Exception):
    """The leashes were let go; nothing more is started."""


class Leash:
    """One command, which ends at the latest when this is released."""

    def __init__(self, shell: Shell, argv: Sequence[str], seconds: float) -> None:
        """Start it.

        Args:
            shell: Where.
            argv: The command.
            seconds: After which it is ended.

        Raises:
            AssayError: The host cannot be reached.
        """
        self.shell = shell
        self.argv = argv
        self.seconds = seconds
        theirs, self._ours = os.pipe()
        self._lock = threading.Lock()
        self._heard = b""
        try:
            self.process: Process = shell.popen(
                ["sh", "-c", SCRIPT, "sh", str(max(1, round(seconds))), *argv],
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)

    def hear(self, word: bytes, seconds: float) -> bool:
        """Wait for a word on its standard output, which stays in `answer`; False if it ends or takes longer."""
        assert self.process.stdout is not None
        limit = time.monotonic() + seconds
        while word not in self._heard:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, limit - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not chunk:
                return False
            self._heard += chunk
        return True

    def answer(self) -> Answer:
        """Wait for its end.

        Raises:
            AssayError: It did not end in time.
        """
        heard = collect(self.process, None, self.seconds + SPARE_SECONDS)
        code = heard.code
        if heard.late or heard.long or code is None:
            self.release()
            how = f"says more than {about_size(MOST_OUT)}" if heard.long else f"did not end within {self.seconds:.0f} s"
            raise AssayError(f"host {self.shell.host.name}: `{self.argv[0]}` {how}")
        text, complaints = (self._heard + heard.out).decode("utf-8", "replace"), heard.err.decode("utf-8", "replace")
        if code == CONNECTION and self.shell.host.kind == "ssh":
            raise AssayError(
                f"host {self.shell.host.name}: the connection broke ({Answer(code, '', complaints).last_line})"
            )
        return Answer(code, text, complaints)

    def end_input(self) -> None:
        """Tell it to end."""
        with self._lock:
            if self._ours >= 0:
                os.close(self._ours)
                self._ours = -1

    def release(self) -> None:
        """End it and wait until it is gone from this side; a second call does nothing."""
        self.end_input()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(RUDE_SECONDS)
        if self.process.poll() is None:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(RUDE_SECONDS)

    def close(self) -> None:
        """Close the pipes that lead from it."""
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Leashes:
    """All commands of a measurement, so that they can be ended together from another thread."""

    def __init__(self) -> None:
        """None yet."""
        self._held: set[Leash] = set()
        self._closed = False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def hold(self, shell: Shell, argv: Sequence[str], seconds: float) -> Iterator[Leash]:
        """A command for the length of a `with` block; see `Leash`.

        Raises:
            StoppedError: `end_all` was called.
        """
        if self._closed:
            raise StoppedError
        leash = Leash(shell, argv, seconds)
        with self._lock:
            self._held.add(leash)
        try:
            if self._closed:
                raise StoppedError
            yield leash
        finally:
            leash.release()
            leash.close()
            with self._lock:
                self._held.discard(leash)

    def end_all(self) -> None:
        """End every command and start no more; those who wait for one see it end."""
        self._closed = True
        with self._lock:
            for leash in self._held:
                leash.end_input()

    def run(self, shell: Shell, argv: Sequence[str], seconds: float) -> Answer:
        """Execute a command to its end; see `Leash`."""
        with self.hold(shell, argv, seconds) as leash:
            return leash.answer()
