"""What tests of whole runs are given."""

import contextlib
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killing import Start
from run_tools import ASSAY
from s3_servers import ACCESS_KEY, FLAVOURS, SECRET_KEY, S3Server, installed, s3_server
from s3_tools import At, environment
from soak import times
from ssh_tools import Sshd, private_sshd
from table_servers import installed as installed_tables
from table_servers import table_server
from table_tools import TableAt

from assay.launch.shell import close_shells


def not_simulated(names: list[str]) -> list[str]:
    """Return services other than moto, if there are any: moto takes ten times their CPU time. `make soak` tries all."""
    return [name for name in names if name != "moto"] or names


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `assay run` in the test's folder; what still runs at the end of the test is killed."""
    started = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        command = [ASSAY, "run", *arguments]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], S3Server]]:
    """Services of S3 by name, each started when it is first asked for, and ended at the end of all tests."""
    with contextlib.ExitStack() as running:
        known: dict[str, S3Server] = {}

        def find(name: str) -> S3Server:
            if name not in known:
                known[name] = running.enter_context(s3_server(name, tmp_path_factory.mktemp(name)))
            return known[name]

        yield find


@pytest.fixture(params=times(not_simulated(installed()), installed()))
def at(request: pytest.FixtureRequest, services: Callable[[str], S3Server], tmp_path: Path) -> At:
    """A bucket of the test's own, not made yet, at each service that is to be had; see `not_simulated`."""
    return At(services(request.param), f"assay-{uuid.uuid4().hex[:20]}", tmp_path)


@pytest.fixture(params=installed(signs=True))
def guarded(request: pytest.FixtureRequest, services: Callable[[str], S3Server], tmp_path: Path) -> At:
    """The same, at each service that looks at signatures."""
    return At(services(request.param), f"assay-{uuid.uuid4().hex[:20]}", tmp_path)


@pytest.fixture
def fast(services: Callable[[str], S3Server], tmp_path: Path) -> At:
    """The same, at the first service that is more than a model of one; at the model if there is no other."""
    name = next(name for name in ("versitygw", "minio", "moto") if not FLAVOURS[name].why_not())
    return At(services(name), f"assay-{uuid.uuid4().hex[:20]}", tmp_path)


@pytest.fixture(scope="session")
def table_services(
    services: Callable[[str], S3Server], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], S3Server]]:
    """Services of DynamoDB by name, each started when it is first asked for, and ended at the end of all tests."""
    with contextlib.ExitStack() as running:
        known: dict[str, S3Server] = {}

        def find(name: str) -> S3Server:
            if name == "moto":
                return services(name)
            if name not in known:
                known[name] = running.enter_context(table_server(name, tmp_path_factory.mktemp(name)))
            return known[name]

        yield find


@pytest.fixture(params=times(not_simulated(installed_tables()), installed_tables()))
def table(request: pytest.FixtureRequest, table_services: Callable[[str], S3Server], tmp_path: Path) -> TableAt:
    """A table of the test's own, not made yet, at each service that is to be had; see `not_simulated`."""
    return TableAt(table_services(request.param), f"assay-{uuid.uuid4().hex[:20]}", tmp_path)


@pytest.fixture
def one_table(table_services: Callable[[str], S3Server], tmp_path: Path) -> TableAt:
    """The same, at the service that is most like DynamoDB."""
    return TableAt(table_services(installed_tables()[-1]), f"assay-{uuid.uuid4().hex[:20]}", tmp_path)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A service of the test's own, and the credentials for it in the environment that engines are started with."""
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    for name, value in environment(AWS_ACCESS_KEY_ID=ACCESS_KEY, AWS_SECRET_ACCESS_KEY=SECRET_KEY).items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    (tmp_path / "server").mkdir()
    with s3_server("moto", tmp_path / "server") as server:
        yield server


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with private_sshd(tmp_path_factory.mktemp("sshd")) as found:
        yield found
        close_shells()
