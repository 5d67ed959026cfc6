"""S3 services for tests, as an ordinary user: moto's server, and versitygw and minio where they are installed.

Each listens on a free port of 127.0.0.1 only and keeps its data in a folder of the test. It ends with the test, and
with the test's process, however that ends.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from paths import REPOSITORY

HANG_GUARD = 600.0
"""Seconds after which a wait for something that must come is over. No test is meant to come near."""
ACCESS_KEY, SECRET_KEY = "ASSAYTESTACCESSKEY01", "assay-test-secret+key/With=Signs0"
PR_SET_PDEATHSIG = 1
BUILT = REPOSITORY / "target" / "servers"
"""Where `tools/servers.py` builds what no package has."""


@dataclass(frozen=True)
class Flavour:
    """A service that can be had, and what it is known to be able to do.

    Attributes:
        name: Of its program.
        command: Given the program's path, a folder for its data, and a port: its words.
        signs: It refuses what is signed wrongly.
        tells_sums: It says which checksum an object has of which only the sum was sent.
        slow: A thousand requests are felt.
        classes: Storage classes that it takes.
        keeps_classes: It says which class an object has.
    """

    name: str
    command: Callable[[str, Path, int], list[str]]
    signs: bool
    tells_sums: bool = True
    slow: bool = False
    classes: tuple[str, ...] = ("STANDARD",)
    keeps_classes: bool = True

    def program(self) -> str | None:
        """Path of its program; none if it is not installed."""
        if self.name == "moto":
            return sys.executable
        built = BUILT / self.name
        return str(built) if built.is_file() else shutil.which(self.name)

    def why_not(self) -> str:
        """Why it is not to be had; empty if it is."""
        if self.name == "moto":
            try:
                import flask_cors  # noqa: F401
            except ImportError:
                return "moto's server needs flask and flask-cors: run `make setup-test`"
            return ""
        if self.program():
            return ""
        return f"{self.name} is neither in PATH nor in {BUILT}: run `tools/servers.py {self.name}`, which needs go"


def _moto(program: str, folder: Path, port: int) -> list[str]:
    return [program, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


def _versitygw(program: str, folder: Path, port: int) -> list[str]:
    for name in ("iam", "data", "versions"):
        (folder / name).mkdir(exist_ok=True)
    words = [program, "--quiet", "--keep-alive", "--port", f"127.0.0.1:{port}", "--iam-dir", str(folder / "iam")]
    words += ["--virtual-domain", f"localhost:{port}", "--health", "/healthy"]
    return [*words, "posix", "--versioning-dir", str(folder / "versions"), str(folder / "data")]


def _minio(program: str, folder: Path, port: int) -> list[str]:
    return [program, "server", "--quiet", "--address", f"127.0.0.1:{port}", str(folder / "data")]


FLAVOURS = {
    "moto": Flavour("moto", _moto, False, tells_sums=False, slow=True, classes=("STANDARD", "STANDARD_IA")),
    "versitygw": Flavour("versitygw", _versitygw, True, keeps_classes=False),
    "minio": Flavour("minio", _minio, True, classes=("STANDARD", "REDUCED_REDUNDANCY")),
}


def _environment() -> dict[str, str]:
    """Without what the user has set for S3, and with the keys of root."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("AWS_", "VGW_", "MINIO_", "MOTO_"))}
    roots = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    # Its background work would be the loudest thing on a small machine.
    quiet = {
        "MINIO_SCANNER_SPEED": "slowest",
        "MINIO_UPDATE": "off",
        "MINIO_BROWSER": "off",
        "MINIO_DOMAIN": "localhost",
    }
    return {**kept, **roots, **quiet, "MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY}


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listened on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class S3Server:
    """A service that runs, or can be started again.

    Attributes:
        folder: Its data.
        port: Where it listens.
        host: Likewise.
    """

    flavour: Flavour
    folder: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    host: str = "127.0.0.1"
    _log: Path = field(init=False)

    def __post_init__(self) -> None:
        self._log = self.folder / "server.log"

    @property
    def endpoint(self) -> str:
        """Where it answers."""
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Start it, on the port that it had before; returns when it answers.

        A port that was free may be taken by the time the server asks for it: then another one is tried.
        """
        until, fixed = time.monotonic() + HANG_GUARD, self.port
        while time.monotonic() < until:
            self.port = fixed or free_port()
            words = self.flavour.command(str(self.flavour.program()), self.folder, self.port)
            with self._log.open("ab") as log:
                self.process = subprocess.Popen(
                    words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    env=_environment(), preexec_fn=die_with_parent,
                )  # fmt: skip
            if self._answers(until):
                return
            self.kill()
        raise AssertionError(f"{self.flavour.name} does not start: {self._log.read_text()[-2000:]}")

    def _answers(self, until: float) -> bool:
        """Wait until it answers in HTTP; false if it has ended before."""
        while self.process and self.process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=10) as wire:
                wire.sendall(b"GET /healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                if wire.recv(5) == b"HTTP/" and self.process.poll() is None and not self._starting():
                    return True
            time.sleep(0.05)
        return False

    def _starting(self) -> bool:
        """Whether it answers already, but not yet what it is asked."""
        if self.flavour.name != "minio":
            return False
        from s3_tools import client

        try:
            client(self).list_buckets()
        except Exception:
            return True
        return False

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.process and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        if self.process:
            self.process.wait()
        self.process = None


def installed(signs: bool = False) -> list[str]:
    """Names of the services that are to be had, or of those that look at signatures; for want of any, of another."""
    wanted = [name for name, flavour in FLAVOURS.items() if flavour.signs or not signs]
    return [name for name in wanted if not FLAVOURS[name].why_not()] or wanted[:1]


@contextlib.contextmanager
def s3_server(name: str, folder: Path) -> Iterator[S3Server]:
    """A service, gone afterwards; the test is skipped, aloud, if there is none."""
    flavour = FLAVOURS[name]
    if flavour.why_not():
        pytest.skip(flavour.why_not())
    server = S3Server(flavour, folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
