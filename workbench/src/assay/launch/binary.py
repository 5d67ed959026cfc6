"""The engine's executable: where it is, which one it is, what it can do."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from assay.contract._generated import BackendCapabilities, Capabilities
from assay.model.base import EXIT_REFUSED, AssayError
from assay.plan.jobs import SPEC_VERSION

NAME = "assay-engine"
QUESTION_SECONDS = 60
"""Longest time the engine may take to say what it can do; probing a place includes opening files there."""


@dataclass(frozen=True)
class Engine:
    """An engine that speaks our contract.

    Attributes:
        sha256: Of the executable, in hex.
        capabilities: What it can do anywhere.
    """

    path: Path
    version: str
    sha256: str
    capabilities: Capabilities


def find_engine() -> Path:
    """The engine's executable: $ASSAY_ENGINE, beside the `assay` program, in the source tree, or on PATH.

    Raises:
        AssayError: There is none.
    """
    named = os.environ.get("ASSAY_ENGINE")
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named).absolute()
        raise AssayError(f"ASSAY_ENGINE={named}: not an executable file", "name the assay-engine program, or unset it")
    source_tree = Path(__file__).resolve().parents[4]
    for candidate in (Path(sys.argv[0]).absolute().parent / NAME, source_tree / "target/release" / NAME):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    on_path = shutil.which(NAME)
    if on_path:
        return Path(on_path).absolute()
    raise AssayError(
        f"{NAME} was not found", "build it with `make build`, or set ASSAY_ENGINE to its path", EXIT_REFUSED
    )


def load_engine(path: Path | None = None) -> Engine:
    """Find the engine, ask it what it can do, and check that it speaks our contract.

    Args:
        path: The executable; found by `find_engine` if None.

    Raises:
        AssayError: It is missing, does not answer, or speaks another version.
    """
    path = path or find_engine()
    text = _ask(path)
    version = _spec_version(text)
    if version is not None and version != SPEC_VERSION:
        raise AssayError(
            f"{path}: speaks version {version} of the contract, this workbench version {SPEC_VERSION}",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        )
    capabilities = _parse(path, text)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Engine(path, capabilities.engine_version, digest, capabilities)


def probe_place(engine: Path, kind: str, path: str) -> BackendCapabilities:
    """What the engine can do at one place, found by trying there.

    Args:
        engine: The executable.
        kind: `file` or `device`.
        path: A marked directory, or a block device.

    Raises:
        AssayError: The engine refuses the place.
    """
    option = "--device" if kind == "device" else "--root"
    capabilities = _parse(engine, _ask(engine, option, path))
    for backend in capabilities.backends:
        if backend.kind == kind and backend.place is not None:
            return backend
    raise AssayError(
        f"{engine}: says nothing of {path}", "install engine and workbench of the same release", EXIT_REFUSED
    )


def _ask(engine: Path, *arguments: str) -> str:
    command = [str(engine), "capabilities", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=QUESTION_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise AssayError(f"{engine}: cannot be started: {error.strerror}", "build it with `make build`") from error
    except subprocess.TimeoutExpired:
        raise AssayError(
            f"{' '.join(command)}: no answer in {QUESTION_SECONDS} s", "see whether the storage hangs", EXIT_REFUSED
        ) from None
    if done.returncode != 0:
        how = f"killed by signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise AssayError(last_line(done.stderr) or f"{' '.join(command)}: {how}", "", EXIT_REFUSED)
    return done.stdout.decode("utf-8", "replace")


def last_line(stderr: bytes) -> str:
    """The last line that says something, without a leading `error: `."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else ""


def _spec_version(text: str) -> int | None:
    try:
        found = json.loads(text).get("spec_version")
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, int) else None


def _parse(engine: Path, text: str) -> Capabilities:
    try:
        return Capabilities.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "output"
        raise AssayError(
            f"{engine}: its answer cannot be read: {place}: {first['msg']}",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        ) from None
