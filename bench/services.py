"""The services that rows of objects and items speak to: started, emptied and stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from model import AbsentError, Service, Setting

HOST = "127.0.0.1"
KEYS = ("assay-bench", "assay-bench-secret")
PATIENCE_SECONDS = 10.0
"""How long a service may take to answer, and to end."""


@contextlib.contextmanager
def serving(name: str | None, setting: Setting) -> Iterator[None]:
    """The service runs, and the setting names it; or says why there is none. Without a name there is nothing to do."""
    if name is None:
        yield
        return
    process = None
    folder = setting.memory / "service"
    try:
        folder.mkdir(mode=0o700)
        process, setting.service = STARTS[name](setting, folder)
    except AbsentError as error:
        setting.service_absent = str(error)
    try:
        yield
    finally:
        setting.service = None
        if process is not None:
            _stop(process)
        shutil.rmtree(folder)


def _null(setting: Setting, folder: Path) -> tuple[subprocess.Popen[str], Service]:
    """Assay's own service in memory, which throws contents away. It ends when its standard input does."""
    process = _start([setting.tool("assay-service"), f"{HOST}:0"], folder)
    endpoint = process.stdout.readline().strip()
    if not endpoint.startswith("http://"):
        _stop(process)
        raise AbsentError("assay-service did not start")
    return process, Service(endpoint.removeprefix("http://"), *KEYS, lambda: None)


def _gateway(setting: Setting, folder: Path) -> tuple[subprocess.Popen[str], Service]:
    """The Versity gateway with its files in memory. Without --keep-alive it ends each connection after one request."""
    data = folder / "data"
    data.mkdir()
    address = f"{HOST}:{_free_port()}"
    words = [setting.tool("versitygw"), "--quiet", "--keep-alive", "--port", address, "posix", str(data)]
    # A bench that is killed must not leave it behind.
    leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    keys = dict(zip(("ROOT_ACCESS_KEY", "ROOT_SECRET_KEY"), KEYS, strict=True))
    process = _start([*leash, *words], folder, keys)
    _wait(process, address)
    return process, Service(address, *KEYS, lambda: _empty(data))


def _moto(_: Setting, folder: Path) -> tuple[subprocess.Popen[str], Service]:
    """A server of moto's, which has tables in memory; each run makes one of its own."""
    address = f"{HOST}:{_free_port()}"
    host, port = address.split(":")
    leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    words = [*leash, sys.executable, "-W", "ignore", "-m", "moto.server", "-H", host, "-p", port]
    process = _start(words, folder, {"PYTHONDONTWRITEBYTECODE": "1"})
    _wait(process, address)
    return process, Service(address, *KEYS, lambda: None)


STARTS: dict[str, Callable[[Setting, Path], tuple[subprocess.Popen[str], Service]]] = {
    "assay-service": _null,
    "versitygw": _gateway,
    "moto": _moto,
}


def _start(words: list[str], folder: Path, variables: dict[str, str] | None = None) -> subprocess.Popen[str]:
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=log if variables else subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=folder,
            env={**os.environ, **(variables or {})},
        )


def _stop(process: subprocess.Popen[str]) -> None:
    process.stdin.close()
    process.terminate()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def _wait(process: subprocess.Popen[str], address: str) -> None:
    """Until it takes connections."""
    host, port = address.split(":")
    begin = time.monotonic()
    while process.poll() is None and time.monotonic() < begin + PATIENCE_SECONDS:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1.0):
            return
        time.sleep(0.02)
    _stop(process)
    raise AbsentError(f"{Path(process.args[0]).name} did not start")


def _empty(data: Path) -> None:
    """All buckets, which are directories."""
    for bucket in data.iterdir():
        shutil.rmtree(bucket)
