"""Short questions to an engine, wherever it is: what can be done at a place, and removing what is left there."""

import json
from collections.abc import Sequence

from pydantic import ValidationError

from assay.contract._answers import BackendCapabilities, PlaceAnswer
from assay.launch.answers import collect
from assay.launch.binary import MOST_ANSWER, answer_of, parse_capabilities
from assay.launch.launcher import Launcher
from assay.model.base import EXIT_REFUSED, AssayError

ANSWER_SECONDS = 90.0
"""Longest time for an answer; a server that does not reply is waited for by the engine itself, for less."""


def ask_engine(launcher: Launcher, arguments: Sequence[str], question: str = "", seconds: float | None = None) -> str:
    """What an engine prints for these arguments.

    Args:
        launcher: Where it runs.
        arguments: Of `assay-engine`.
        question: For its standard input.
        seconds: Longest time for the answer; `ANSWER_SECONDS` if left out.

    Raises:
        AssayError: It says no, does not answer in time, or cannot be started.
    """
    longest = ANSWER_SECONDS if seconds is None else seconds
    heard = collect(launcher.start(arguments), question.encode(), longest, MOST_ANSWER)
    return answer_of(f"assay-engine {' '.join(arguments)}", heard, longest)


def probe_target(launcher: Launcher, target: str, seconds: float | None = None) -> BackendCapabilities:
    """What can be done at a target, found by trying from there.

    Args:
        launcher: Where the engine runs.
        target: The target of a job as JSON.
        seconds: Longest time for the answer; `ANSWER_SECONDS` if left out.

    Raises:
        AssayError: The engine refuses it.
    """
    text = ask_engine(launcher, ["capabilities", "--target", "-"], target, seconds)
    return _of_place(text, json.loads(target)["kind"])


def _of_place(text: str, kind: str) -> BackendCapabilities:
    for backend in parse_capabilities("assay-engine capabilities", text).backends:
        if backend.kind == kind and backend.place is not None:
            return backend
    raise AssayError(
        f"the engine says nothing of {kind}", "install engine and workbench of the same release", EXIT_REFUSED
    )


def clean_target(
    launcher: Launcher, target: str, whole: bool = False, patience: float | None = None, seconds: float | None = None
) -> PlaceAnswer:
    """Remove what a job that was killed has left.

    Args:
        launcher: Where the engine runs.
        target: The job's target as JSON, or the job with what its engines have told (`LeftJob`).
        whole: Remove the marked directory too, if nothing else is in it.
        patience: Seconds in which something must be removed, else the service counts as one that has no end.
        seconds: Longest time for all of it; `ANSWER_SECONDS` if left out.

    Raises:
        AssayError: It could not be removed.
    """
    words = [] if patience is None else ["--patience", str(max(1, round(patience)))]
    text = ask_engine(launcher, ["clean", *words, *(["--root"] if whole else []), "-"], target, seconds)
    try:
        return PlaceAnswer.model_validate_json(text.strip().rpartition("\n")[2])
    except ValidationError:
        hint = "install engine and workbench of the same release"
        raise AssayError("assay-engine clean: its answer cannot be read", hint, EXIT_REFUSED) from None
