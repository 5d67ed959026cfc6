"""DynamoDB services for tests: moto's server, and AWS's DynamoDB Local where it is installed.

DynamoDB Local listens on every address that it has. So it has a network of its own, of one process, in which only this
host reaches it; the network is gone with that process, and that with the test's process, however that ends.
"""

import contextlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from s3_servers import BUILT, FLAVOURS, HANG_GUARD, Flavour, S3Server, die_with_parent, s3_server

JARS = BUILT / "dynamodb-local"
"""Where `tools/servers.py` puts what Maven has of it."""
MAIN = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner"


@dataclass(frozen=True)
class LocalFlavour(Flavour):
    """DynamoDB Local: it counts units as the service does, and looks at no signature."""

    def program(self) -> str | None:
        """Of Java."""
        return shutil.which("java")

    def why_not(self) -> str:
        """As `Flavour.why_not`."""
        if os.geteuid() != 0:
            return "DynamoDB Local listens on every address: only root can give it a network of its own"
        missing = [name for name in ("java", "ip", "unshare", "nsenter") if not shutil.which(name)]
        if missing:
            return f"DynamoDB Local needs {', '.join(missing)}"
        if not next(JARS.glob("DynamoDBLocal-*.jar"), None):
            return f"DynamoDB Local is not in {JARS}: run `tools/servers.py dynamodb-local`, which needs maven"
        return ""


def _local(program: str, folder: Path, port: int) -> list[str]:
    words = [program, "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Djava.library.path={JARS}"]
    return [*words, "-cp", f"{JARS}/*", MAIN, "-dbPath", str(folder), "-port", str(port), "-disableTelemetry"]


TABLE_FLAVOURS: dict[str, Flavour] = {
    "moto": FLAVOURS["moto"],
    "dynamodb-local": LocalFlavour("dynamodb-local", _local, False),
}


@dataclass
class LocalServer(S3Server):
    """DynamoDB Local, which keeps its tables while it is down."""

    port: int = 8000
    _network: subprocess.Popen[bytes] | None = None
    _enter: list[str] = field(default_factory=list)

    def start(self) -> None:
        """As `S3Server.start`."""
        if not self._network:
            self._make_network()
        words = self.flavour.command(str(self.flavour.program()), self.folder, self.port)
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self._enter, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent,
            )  # fmt: skip
        assert self._answers(time.monotonic() + HANG_GUARD), self._log.read_text()[-2000:]

    def _make_network(self) -> None:
        """A network that a process holds, and a wire to it."""
        self._network = subprocess.Popen(["unshare", "-n", "sleep", "infinity"], preexec_fn=die_with_parent)
        pid, ours = self._network.pid, Path("/proc/self/ns/net").readlink()
        until = time.monotonic() + HANG_GUARD
        while Path(f"/proc/{pid}/ns/net").readlink() == ours:
            assert self._network.poll() is None and time.monotonic() < until, "a network of its own cannot be made"
            time.sleep(0.01)
        self._enter = ["nsenter", "-t", str(pid), "-n", "--"]
        near, self.host = self._addresses()
        wire = f"ddb{pid}"
        _ip("link", "add", wire, "type", "veth", "peer", "name", "assay0", "netns", str(pid))
        _ip("address", "add", f"{near}/30", "dev", wire)
        _ip("link", "set", wire, "up")
        for words in (["address", "add", f"{self.host}/30", "dev", "assay0"], ["link", "set", "assay0", "up"]):
            subprocess.run([*self._enter, "ip", *words], check=True)
        subprocess.run([*self._enter, "ip", "link", "set", "lo", "up"], check=True)

    @staticmethod
    def _addresses() -> tuple[str, str]:
        """Of this end of the wire and of the other; none that this host has a way to already."""
        known = _ip("-o", "route", "show")
        while True:
            near = f"10.214.{random.SystemRandom().randrange(256)}.{4 * random.SystemRandom().randrange(64)}"
            if f"{near}/30" not in known:
                base, last = near.rsplit(".", 1)
                return f"{base}.{int(last) + 1}", f"{base}.{int(last) + 2}"

    def leave(self) -> None:
        """End it, and take its network away."""
        self.kill()
        if self._network:
            self._network.kill()
            self._network.wait()
            self._network = None


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def table_server(name: str, folder: Path) -> Iterator[S3Server]:
    """A service, gone afterwards; the test is skipped, aloud, if there is none."""
    if name != "dynamodb-local":
        with s3_server(name, folder) as server:
            yield server
        return
    flavour = TABLE_FLAVOURS[name]
    if flavour.why_not():
        pytest.skip(flavour.why_not())
    local = LocalServer(flavour, folder)
    try:
        local.start()
        yield local
    finally:
        local.leave()


def installed() -> list[str]:
    """Names of the services that are to be had; moto, which says what it lacks, if there are none."""
    return [name for name, flavour in TABLE_FLAVOURS.items() if not flavour.why_not()] or ["moto"]
