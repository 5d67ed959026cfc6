"""The engine's executable: finds it, identifies it, and reads its capabilities."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from assay.contract import SPEC_VERSION
from assay.contract._answers import BackendCapabilities, Capabilities
from assay.launch.commands import ProcessOutput, collect
from assay.model.base import EXIT_REFUSED, AssayError, Code
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.units import about_size

NAME = "assay-engine"
MPI_NAME = "assay-engine-mpi"
"""The engine that is linked to an MPI: it has the same commands, and MPI-IO."""
MPI_INSTALL_HINT = (
    "build it on a machine with the MPI that runs the ranks: load its module, or apt-get install openmpi-bin "
    "libopenmpi-dev, then `make engine`; or set ASSAY_ENGINE_MPI to its path"
)
INSTALL_HINT = "install the wheel of Assay for this system, or build it with `make engine`"
REFUSED, NO_CREDENTIALS = 2, 3
"""Exit codes of an engine that refuses a job, and of one that refuses it because it finds no credentials."""
MAX_ANSWER_BYTES = 1 << 20
"""Most bytes of an answer; a real one has a few thousand."""
CAPABILITIES_SECONDS = 60.0
"""Longest time to report capabilities; probing a place includes opening files there."""


@dataclass(frozen=True)
class Engine:
    """An engine that speaks our contract.

    Attributes:
        sha256: Hash of the executable, in hex.
        capabilities: What it can do, independent of a place.
    """

    path: Path
    version: str
    sha256: str
    capabilities: Capabilities


def find_shipped(name: str) -> Path | None:
    """Return the path of a program that a wheel carries or `make engine` has built; None if there is none.

    Args:
        name: `assay-engine` or `assay-switch`.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "bin" / name, package.parents[2] / "target/release" / name):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def become_engine() -> NoReturn:
    """Replace this process by the engine; entry point of the command `assay-engine` of an installed wheel."""
    shipped = find_shipped(NAME)
    if shipped is None:
        print(f"error: {NAME} did not come with this package\nhint: {INSTALL_HINT}", file=sys.stderr)
        raise SystemExit(EXIT_REFUSED)
    os.execv(shipped, [NAME, *sys.argv[1:]])


def find_engine() -> Path:
    """Return the engine's executable: $ASSAY_ENGINE, the one of this package or source tree, or the one on PATH.

    Raises:
        AssayError: There is none.
    """
    return _find(NAME, "ASSAY_ENGINE", f"{INSTALL_HINT}, or set ASSAY_ENGINE to its path")


def find_mpi_engine() -> Path:
    """Return the executable of the engine with MPI: $ASSAY_ENGINE_MPI, or the one of the source tree or on PATH.

    Raises:
        AssayError: There is none.
    """
    return _find(MPI_NAME, "ASSAY_ENGINE_MPI", MPI_INSTALL_HINT)


def _find(name: str, variable: str, missing: str) -> Path:
    """Return the program that an environment variable names, or that is installed; `missing` is the hint if none is."""
    override = os.environ.get(variable)
    if override:
        if os.access(override, os.X_OK) and Path(override).is_file():
            return Path(override).absolute()
        raise AssayError(f"{variable}={override}: not an executable file", f"name the {name} program, or unset it")
    found = find_shipped(name) or shutil.which(name)
    if not found:
        raise AssayError(f"{name} was not found", missing, EXIT_REFUSED)
    return Path(found).absolute()


def load_engine(path: Path | None = None) -> Engine:
    """Find the engine, read its capabilities, and check that its contract version is ours.

    Args:
        path: The executable; `find_engine` finds it if None.

    Raises:
        AssayError: It is missing, does not answer, or has another contract version.
    """
    path = path or find_engine()
    text = _capabilities_text(path)
    version = _spec_version(text)
    if version is not None and version != SPEC_VERSION:
        raise AssayError(
            f"{path}: speaks version {version} of the contract, this workbench version {SPEC_VERSION}",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        )
    capabilities = parse_capabilities(str(path), text)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Engine(path, capabilities.engine_version, digest, capabilities)


def probe_device(engine: Path, path: str) -> BackendCapabilities:
    """Return what the engine can do with a block device, found by trying; `launch.questions` probes directories.

    Args:
        engine: The executable.
        path: The device.

    Raises:
        AssayError: The engine refuses the device.
    """
    capabilities = parse_capabilities(str(engine), _capabilities_text(engine, "--device", path))
    for backend in capabilities.backends:
        if backend.place is not None:
            return backend
    raise AssayError(
        f"{engine}: reports nothing about {path}", "install engine and workbench of the same release", EXIT_REFUSED
    )


def _capabilities_text(engine: Path, *arguments: str) -> str:
    command = [str(engine), "capabilities", *arguments]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
    except OSError as error:
        raise AssayError(f"{engine}: cannot be started: {error.strerror}", INSTALL_HINT) from error
    return checked_answer(
        " ".join(command), collect(process, None, CAPABILITIES_SECONDS, MAX_ANSWER_BYTES), CAPABILITIES_SECONDS
    )


class NoAnswerError(AssayError):
    """The engine did not answer in time."""


def checked_answer(command: str, result: ProcessOutput, seconds: float) -> str:
    """Return the output of an engine, or raise an error if it failed.

    Args:
        command: The command, for messages.
        result: Its exit code and output.
        seconds: The time limit it had, for messages.

    Raises:
        NoAnswerError: It did not answer in time.
        AssayError: It failed or printed too much.
    """
    if result.overflowed:
        raise AssayError(
            f"{command}: the answer is longer than {about_size(MAX_ANSWER_BYTES)}: this is not an engine of Assay",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        )
    if result.timed_out or result.code is None:
        raise NoAnswerError(
            f"{command}: no answer in {seconds:.0f} s",
            "check whether the storage or the connection to the host hangs",
            EXIT_REFUSED,
        )
    if result.code != 0:
        how = f"killed by signal {-result.code}" if result.code < 0 else f"exit code {result.code}"
        code = Code.NO_CREDENTIALS if result.code == NO_CREDENTIALS else None
        raise AssayError(last_line(result.err) or f"{command}: {how}", "", EXIT_REFUSED, code=code)
    return result.out.decode("utf-8", "replace")


def last_line(stderr: bytes) -> str:
    """Return the last line that is not blank, without a leading `error: `."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").split("\n") if line.strip()]
    return escape_line(redact(lines[-1].removeprefix("error: "))) if lines else ""


def _spec_version(text: str) -> int | None:
    try:
        found = json.loads(text).get("spec_version")
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, int) else None


def parse_capabilities(engine: str, text: str) -> Capabilities:
    """Parse the capabilities that an engine reports, and make their texts safe to print.

    Args:
        engine: Its name, for messages.
        text: Its answer.

    Raises:
        AssayError: The answer is invalid.
    """
    try:
        return Capabilities.model_validate(_printable(Capabilities.model_validate_json(text).model_dump(mode="json")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = escape_line(".".join(str(part) for part in first["loc"])) or "output"
        raise AssayError(
            f"{engine}: its answer cannot be parsed: {place}: {escape_line(first['msg'])}",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        ) from None


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _printable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return escape_line(value) if isinstance(value, str) else value
