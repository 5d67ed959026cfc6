"""Inspects, claims and cleans directories under test by an engine, so that hanging storage blocks only that process."""

import contextlib
import os
import selectors
import time
from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

from pydantic import ValidationError

from assay.contract._answers import Claim, FileTarget, PlaceAnswer
from assay.launch.binary import find_engine, last_line
from assay.launch.launcher import Launcher, LocalLauncher, Process
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.study.study import Study

PATIENCE_SECONDS = 60.0
"""Storage without progress for so many seconds counts as hung."""
SILENT_PATIENCE_SECONDS = 5.0
"""The same for storage that has not answered before."""
MARGIN_SECONDS = 15.0
"""Extra seconds after which the engine, or the connection to it, counts as hung."""
MAX_SECONDS = 3600.0
"""Longest time for an answer, even if the engine reports progress."""
ANSWER_BYTES = 1 << 20
LEAVE_SECONDS = 1.0
WORKING = b'{"working"'


class PlaceReply(Protocol):
    """The fields that all answers have."""

    error: str
    silent: bool

    @classmethod
    def model_validate_json(cls, line: bytes) -> Self:
        """Parse an answer."""
        ...


Answer = TypeVar("Answer", bound=PlaceReply)


def patience_of(study: Study, silent: bool = False) -> float:
    """Return seconds without progress after which storage that is inspected, claimed or cleaned counts as hung.

    Args:
        study: The study, which may set it.
        silent: The storage has not answered before.
    """
    patience = (study.patience or 0) / 1e9 or PATIENCE_SECONDS
    return min(patience, SILENT_PATIENCE_SECONDS) if silent else patience


class SilentStorageError(AssayError):
    """The storage of a place does not answer."""


def inspect(launcher: Launcher, root: str, patience: float = PATIENCE_SECONDS) -> PlaceAnswer:
    """Inspect a directory without changing anything; errors as for `ask`."""
    return query_place(launcher, ["inspect", root], "", patience)


def claim(launcher: Launcher, request: Claim, patience: float = PATIENCE_SECONDS) -> PlaceAnswer:
    """Make and mark a directory, or mark an existing one; errors as for `ask`."""
    return query_place(launcher, ["claim"], request.model_dump_json(), patience)


def release(launcher: Launcher, root: str, run: str, patience: float = PATIENCE_SECONDS) -> PlaceAnswer:
    """Release a claimed directory; errors as for `ask`."""
    target = FileTarget(kind="file", root=root, directory="any", run=run)
    return query_place(launcher, ["clean", "--root"], target.model_dump_json(), patience)


def clean(launcher: Launcher, root: str, name: str, run: str, patience: float = PATIENCE_SECONDS) -> PlaceAnswer:
    """Remove the directory of one job; errors as for `ask`."""
    target = FileTarget(kind="file", root=root, directory=name, run=run)
    return query_place(launcher, ["clean"], target.model_dump_json(), patience)


def query_place(launcher: Launcher, words: Sequence[str], question: str, patience: float) -> PlaceAnswer:
    """Return an engine's answer about a place; arguments and errors as for `answered`."""
    return run_place_command(launcher, words, question, patience, PlaceAnswer)


def run_place_command(
    launcher: Launcher, words: Sequence[str], question: str, patience: float, kind: type[Answer]
) -> Answer:
    """Run a command of an engine and return its answer.

    Args:
        launcher: Starts the engine.
        words: The command; the option `--patience` is added.
        question: Its standard input.
        patience: Seconds without progress after which the storage counts as hung; at least 1.
        kind: Type of the answer.

    Raises:
        SilentStorageError: The storage or the engine does not answer.
        AssayError: The engine reports an error, or cannot be started.
    """
    command = [words[0], "--patience", str(max(1, round(patience))), *words[1:]]
    process = launcher.start(command)
    try:
        line, complaint = _read_answer(process, question.encode(), patience + MARGIN_SECONDS)
        if line is None:
            raise AssayError(_failure(words[0], complaint, _exit_code(process)), "", EXIT_REFUSED)
    finally:
        _end(process)
    try:
        answer = kind.model_validate_json(line)
    except ValidationError:
        raise AssayError(
            f"assay-engine {words[0]}: its answer cannot be parsed",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        ) from None
    if answer.silent:
        raise SilentStorageError(
            escape_line(answer.error), "check whether the storage or the connection to it hangs", EXIT_REFUSED
        )
    if answer.error:
        raise AssayError(escape_line(answer.error), "", EXIT_REFUSED)
    return answer


def _failure(command: str, complaint: bytes, code: int | None) -> str:
    """Return why there was no answer, in one line."""
    message = last_line(complaint)
    if message.startswith("nsenter: "):
        return f"the host cannot be entered; it no longer exists: {message.removeprefix('nsenter: ')}"
    ended = f"ended with exit code {code}" if code is not None else "does not end"
    return f"assay-engine {command}: {message or ended}"


def _read_answer(process: Process, question: bytes, patience: float) -> tuple[bytes | None, bytes]:
    """Return the line with the answer (None if there is none), and the end of standard error.

    The pipes of an engine that waits for storage stay open after its answer, so their end is not waited for.
    """
    assert process.stdin and process.stdout and process.stderr
    with contextlib.suppress(OSError):
        os.write(process.stdin.fileno(), question)
    with contextlib.suppress(OSError):
        process.stdin.close()
    buffer, complaint, end = b"", b"", time.monotonic() + MAX_SECONDS
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(min(patience, end - time.monotonic()))
            if not ready:
                raise SilentStorageError(
                    f"storage does not answer: no output from assay-engine for {patience:.0f} s",
                    "check whether the storage or the connection to the host hangs",
                    EXIT_REFUSED,
                )
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    complaint = (complaint + chunk)[-8192:]
                else:
                    buffer += chunk
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                if line.strip() and not line.startswith(WORKING):
                    return line, complaint
            if len(buffer) > ANSWER_BYTES or time.monotonic() > end:
                raise AssayError("assay-engine printed too much without an answer", "", EXIT_REFUSED)
    return None, complaint


def _exit_code(process: Process) -> int | None:
    with contextlib.suppress(Exception):
        return process.wait(LEAVE_SECONDS)
    return None


def _end(process: Process) -> None:
    """Kill the process if it still runs, without waiting for one that cannot be killed, and close its pipes."""
    if _exit_code(process) is None:
        process.kill()
        _exit_code(process)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def local_launcher() -> Launcher:
    """Return the launcher of the engine of this machine.

    Raises:
        AssayError: There is none.
    """
    return LocalLauncher(find_engine())
