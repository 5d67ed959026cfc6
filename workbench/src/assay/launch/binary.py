"""The engine's executable: where it is, which one it is, what it can do."""

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
from assay.launch.answers import Collected, collect
from assay.model.base import EXIT_REFUSED, AssayError, Code
from assay.model.foreign import plain
from assay.model.secret import redacted
from assay.model.units import about_size

NAME = "assay-engine"
MPI_NAME = "assay-engine-mpi"
"""The engine that is linked to an MPI: the same commands, and MPI-IO."""
MPI_MEND = (
    "build it on a machine with the MPI that its ranks will use: load its module, or apt-get install openmpi-bin "
    "libopenmpi-dev, then `make engine`; or set ASSAY_ENGINE_MPI to its path"
)
MEND = "install a wheel of Assay that is for this system, or build it with `make engine`"
REFUSED, NO_CREDENTIALS = 2, 3
"""Exit codes of an engine that refuses a job, and of one that does so because it finds no credentials."""
MOST_ANSWER = 1 << 20
"""Bytes; a real one has some thousand."""
QUESTION_SECONDS = 60.0
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


def find_shipped(name: str) -> Path | None:
    """A program that comes with this package, as a wheel carries it or `make engine` builds it; None if it does not.

    Args:
        name: `assay-engine` or `assay-switch`.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "bin" / name, package.parents[2] / "target/release" / name):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def become_engine() -> NoReturn:
    """The program `assay-engine` of an installed wheel: the engine itself takes the place of this process."""
    shipped = find_shipped(NAME)
    if shipped is None:
        print(f"error: {NAME} did not come with this package\nhint: {MEND}", file=sys.stderr)
        raise SystemExit(EXIT_REFUSED)
    os.execv(shipped, [NAME, *sys.argv[1:]])


def find_engine() -> Path:
    """The engine's executable: $ASSAY_ENGINE, that of this package, in the source tree, or on PATH.

    Raises:
        AssayError: There is none.
    """
    return _find(NAME, "ASSAY_ENGINE", f"{MEND}, or set ASSAY_ENGINE to its path")


def find_mpi_engine() -> Path:
    """The executable of the engine that is linked to an MPI: $ASSAY_ENGINE_MPI, in the source tree, or on PATH.

    Raises:
        AssayError: There is none.
    """
    return _find(MPI_NAME, "ASSAY_ENGINE_MPI", MPI_MEND)


def _find(name: str, variable: str, missing: str) -> Path:
    """A program that an environment variable names, or that is there; `missing` says what to do where it is not."""
    named = os.environ.get(variable)
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named).absolute()
        raise AssayError(f"{variable}={named}: not an executable file", f"name the {name} program, or unset it")
    found = find_shipped(name) or shutil.which(name)
    if not found:
        raise AssayError(f"{name} was not found", missing, EXIT_REFUSED)
    return Path(found).absolute()


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
    capabilities = parse_capabilities(str(path), text)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Engine(path, capabilities.engine_version, digest, capabilities)


def probe_device(engine: Path, path: str) -> BackendCapabilities:
    """What the engine can do with a block device, found by trying; directories are probed by `launch.questions`.

    Args:
        engine: The executable.
        path: The device.

    Raises:
        AssayError: The engine refuses the device.
    """
    capabilities = parse_capabilities(str(engine), _ask(engine, "--device", path))
    for backend in capabilities.backends:
        if backend.place is not None:
            return backend
    raise AssayError(
        f"{engine}: says nothing of {path}", "install engine and workbench of the same release", EXIT_REFUSED
    )


def _ask(engine: Path, *arguments: str) -> str:
    command = [str(engine), "capabilities", *arguments]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
    except OSError as error:
        raise AssayError(f"{engine}: cannot be started: {error.strerror}", MEND) from error
    return answer_of(" ".join(command), collect(process, None, QUESTION_SECONDS, MOST_ANSWER), QUESTION_SECONDS)


class NoAnswerError(AssayError):
    """The engine was waited for in vain."""


def answer_of(command: str, heard: Collected, seconds: float) -> str:
    """What an engine answered.

    Args:
        command: What it was asked, for messages.
        heard: What came of it.
        seconds: How long it was waited for.

    Raises:
        NoAnswerError: It said nothing in time.
        AssayError: It said no, or too much.
    """
    if heard.long:
        raise AssayError(
            f"{command}: the answer is longer than {about_size(MOST_ANSWER)}: this is no engine of ours",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        )
    if heard.late or heard.code is None:
        raise NoAnswerError(
            f"{command}: no answer in {seconds:.0f} s",
            "see whether the storage, or the way to the host, hangs",
            EXIT_REFUSED,
        )
    if heard.code != 0:
        how = f"killed by signal {-heard.code}" if heard.code < 0 else f"exit code {heard.code}"
        code = Code.NO_CREDENTIALS if heard.code == NO_CREDENTIALS else None
        raise AssayError(last_line(heard.err) or f"{command}: {how}", "", EXIT_REFUSED, code=code)
    return heard.out.decode("utf-8", "replace")


def last_line(stderr: bytes) -> str:
    """The last line that says something, without a leading `error: `."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").split("\n") if line.strip()]
    return plain(redacted(lines[-1].removeprefix("error: "))) if lines else ""


def _spec_version(text: str) -> int | None:
    try:
        found = json.loads(text).get("spec_version")
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, int) else None


def parse_capabilities(engine: str, text: str) -> Capabilities:
    """What an engine says that it can do, with texts that can be printed.

    Args:
        engine: Its name for messages.
        text: Its answer.

    Raises:
        AssayError: The answer is none.
    """
    try:
        return Capabilities.model_validate(_printable(Capabilities.model_validate_json(text).model_dump(mode="json")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = plain(".".join(str(part) for part in first["loc"])) or "output"
        raise AssayError(
            f"{engine}: its answer cannot be read: {place}: {plain(first['msg'])}",
            "install engine and workbench of the same release",
            EXIT_REFUSED,
        ) from None


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _printable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return plain(value) if isinstance(value, str) else value
