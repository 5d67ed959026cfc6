"""Traces that are replayed: what is in one, as the engine reads it, and how it gets to other hosts."""

from functools import cache
from pathlib import Path

from pydantic import ValidationError

from assay.contract._answers import TraceContents
from assay.launch.binary import Engine
from assay.launch.engine_commands import run_engine_command
from assay.launch.install import ensure_data
from assay.launch.launcher import LocalLauncher
from assay.launch.shell import Shell
from assay.model.base import EXIT_REFUSED, AssayError

SURVEY_SECONDS = 3600.0
"""Longest time to read a trace to its end: the engine reads some million operations a second."""


def trace_contents(engine: Engine, path: str) -> TraceContents:
    """Return what is in a trace of this machine, read to its end; once for each state of the file.

    Raises:
        AssayError: The engine cannot replay it.
    """
    try:
        state = Path(path).stat()
    except OSError as error:
        raise AssayError(f"{path}: {error.strerror}", "name a trace that exists", EXIT_REFUSED) from None
    return _contents(engine.path, path, state.st_mtime_ns, state.st_size)


@cache
def _contents(engine: Path, path: str, _changed: int, _size: int) -> TraceContents:
    text = run_engine_command(LocalLauncher(engine), ["survey", path], seconds=SURVEY_SECONDS)
    try:
        return TraceContents.model_validate_json(text)
    except ValidationError:
        hint = "install engine and workbench of the same release"
        raise AssayError("assay-engine survey: its answer cannot be parsed", hint, EXIT_REFUSED) from None


def ensure_trace(shell: Shell, path: str, sha256: str) -> str:
    """Return the path of a trace on a host; it is copied there unless an identical copy exists.

    Raises:
        AssayError: The host cannot be reached, or has no place for it.
    """
    return ensure_data(shell, Path(path), sha256, f"trace-{sha256[:16]}")
