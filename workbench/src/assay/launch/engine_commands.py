"""Short commands of an engine on any host: probe a target, and clean it."""

import json
from collections.abc import Sequence

from pydantic import ValidationError

from assay.contract._answers import BackendCapabilities, PlaceAnswer
from assay.launch.binary import MAX_ANSWER_BYTES, checked_answer, parse_capabilities
from assay.launch.commands import collect
from assay.launch.launcher import Launcher
from assay.model.base import EXIT_REFUSED, AssayError

ANSWER_SECONDS = 90.0
"""Longest time for an answer; the engine itself gives up on a silent server earlier."""


def run_engine_command(
    launcher: Launcher, arguments: Sequence[str], input_text: str = "", seconds: float | None = None
) -> str:
    """Run an engine command and return its output.

    Args:
        launcher: Starts the engine.
        arguments: Arguments of `assay-engine`.
        input_text: Its standard input.
        seconds: Time limit; `ANSWER_SECONDS` if None.

    Raises:
        AssayError: It fails, does not answer in time, or cannot be started.
    """
    longest = ANSWER_SECONDS if seconds is None else seconds
    result = collect(launcher.start(arguments), input_text.encode(), longest, MAX_ANSWER_BYTES)
    return checked_answer(f"assay-engine {' '.join(arguments)}", result, longest)


def probe_target(launcher: Launcher, target: str, seconds: float | None = None) -> BackendCapabilities:
    """Return what an engine can do with a target, found by trying it from the engine's host.

    Args:
        launcher: Starts the engine.
        target: The target of a job, as JSON.
        seconds: Time limit; `ANSWER_SECONDS` if None.

    Raises:
        AssayError: The engine refuses it.
    """
    text = run_engine_command(launcher, ["capabilities", "--target", "-"], target, seconds)
    return _of_place(text, json.loads(target)["kind"])


def _of_place(text: str, kind: str) -> BackendCapabilities:
    for backend in parse_capabilities("assay-engine capabilities", text).backends:
        if backend.kind == kind and backend.place is not None:
            return backend
    raise AssayError(
        f"the engine reports nothing about {kind}", "install engine and workbench of the same release", EXIT_REFUSED
    )


def clean_target(
    launcher: Launcher, target: str, whole: bool = False, patience: float | None = None, seconds: float | None = None
) -> PlaceAnswer:
    """Remove what a killed job has left.

    Args:
        launcher: Starts the engine.
        target: The job's target as JSON, or the job with what its engines reported (`LeftJob`).
        whole: Also remove the marked directory, if nothing else is in it.
        patience: Seconds without a removal after which it gives up; the engine's default if None.
        seconds: Time limit; `ANSWER_SECONDS` if None.

    Raises:
        AssayError: It could not be removed.
    """
    words = [] if patience is None else ["--patience", str(max(1, round(patience)))]
    text = run_engine_command(launcher, ["clean", *words, *(["--root"] if whole else []), "-"], target, seconds)
    try:
        return PlaceAnswer.model_validate_json(text.strip().rpartition("\n")[2])
    except ValidationError:
        hint = "install engine and workbench of the same release"
        raise AssayError("assay-engine clean: its answer cannot be parsed", hint, EXIT_REFUSED) from None
