"""The engine on other hosts: copied once, checked each time, started with pipes."""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from run_tools import needs_engine
from ssh_tools import Sshd
from testbed_tools import GUARD, assert_soon

from assay.contract._generated import Capabilities
from assay.launch.binary import Engine, load_engine
from assay.launch.engine import run_job
from assay.launch.install import (
    COPY_SCRIPT,
    FIND_SCRIPT,
    UNUSABLE_FOLDER,
    HostLauncher,
    ensure_data,
    ensure_engine,
    launcher_for,
)
from assay.launch.launcher import LocalLauncher
from assay.launch.shell import CommandResult, Shell, make_shell
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST, Host
from assay.plan.jobs import SPEC_VERSION

PROGRAM = '#!/bin/sh\n[ "$1" = --version ] && echo \'assay-engine 9\' && exit\nread -r line; echo "$* $line"\n'


def made_engine(folder: Path, text: str = PROGRAM) -> Engine:
    """One that no other run of the tests has: hosts keep what they got by its hash, and here they are one machine."""
    path = folder / "assay-engine"
    text += f"# {os.urandom(8).hex()}\n"
    path.write_text(text)
    path.chmod(0o755)
    return Engine(path, "9", hashlib.sha256(text.encode()).hexdigest(), Capabilities.model_construct())


class Counting:
    """A shell that remembers how often something was sent to standard input."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.host, self.copies = shell, shell.host, 0

    def run(self, argv: list[str], timeout: float, given: bytes | None = None) -> CommandResult:
        self.copies += given is not None
        return self.shell.run(argv, timeout, given)


def counting(sshd: Sshd) -> Counting:
    return Counting(make_shell(sshd.host))


def test_copied_once_and_checked_each_time(sshd: Sshd, tmp_path: Path) -> None:
    engine, shell = made_engine(tmp_path), counting(sshd)
    path = Path(ensure_engine(shell, engine))
    assert path == sshd.home / f".cache/assay/engine-{engine.sha256[:16]}/assay-engine"
    assert path.read_text() == engine.path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
    assert ensure_engine(shell, engine) == str(path)
    assert shell.copies == 1
    path.write_text("#!/bin/sh\necho something else\n")
    assert ensure_engine(shell, engine) == str(path)
    assert shell.copies == 2
    assert path.read_text() == engine.path.read_text()
    assert [item.name for item in path.parent.iterdir()] == ["assay-engine"]


def test_data_is_copied_once_and_is_no_program(sshd: Sshd, tmp_path: Path) -> None:
    content, shell = os.urandom(5000), counting(sshd)
    (tmp_path / "t.trace.gz").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    words = (shell, tmp_path / "t.trace.gz", digest, f"trace-{digest[:16]}")
    path = Path(ensure_data(*words))
    assert path == sshd.home / f".cache/assay/trace-{digest[:16]}/data" and path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (ensure_data(*words), shell.copies) == (str(path), 1)
    (tmp_path / "t.trace.gz").write_bytes(b"another")
    path.unlink()
    with pytest.raises(AssayError, match=r"t\.trace\.gz cannot be copied there: the copy has the hash"):
        ensure_data(*words)


def test_two_versions_stand_side_by_side(sshd: Sshd, tmp_path: Path) -> None:
    for part in ("a", "b"):
        (tmp_path / part).mkdir()
    engines = [made_engine(tmp_path / "a"), made_engine(tmp_path / "b")]
    paths = [ensure_engine(make_shell(sshd.host), engine) for engine in engines]
    assert [Path(path).read_text() for path in paths] == [engine.path.read_text() for engine in engines]


def test_one_that_cannot_run_there_is_not_left_there(sshd: Sshd, tmp_path: Path) -> None:
    engine = made_engine(tmp_path, '#!/bin/sh\necho "version \\`GLIBC_2.99\' not found" >&2\nexit 1\n')
    with pytest.raises(
        AssayError, match=r"host node1: the engine cannot be copied there: version .GLIBC_2.99"
    ) as caught:
        ensure_engine(make_shell(sshd.host), engine)
    assert "static engine" in caught.value.hint
    for folder in (sshd.home / ".cache/assay", Path(f"/var/tmp/assay-{os.getuid()}")):
        left = folder / f"engine-{engine.sha256[:16]}"
        assert not left.exists() or not [*left.iterdir()]
        if left.exists():
            left.rmdir()


def test_a_home_that_cannot_be_used_is_gone_around(sshd: Sshd, tmp_path: Path) -> None:
    engine, shell = made_engine(tmp_path), counting(sshd)
    cache = sshd.home / ".cache"
    kept = sshd.home / "kept"
    if cache.exists():
        cache.rename(kept)
    # Root writes where it likes, but not below a file.
    cache.write_text("")
    try:
        path = Path(ensure_engine(shell, engine))
        assert path == Path(f"/var/tmp/assay-{os.getuid()}/engine-{engine.sha256[:16]}/assay-engine")
        assert path.read_text() == engine.path.read_text()
        assert ensure_engine(shell, engine) == str(path)
    finally:
        shutil.rmtree(f"/var/tmp/assay-{os.getuid()}/engine-{engine.sha256[:16]}", ignore_errors=True)
        cache.unlink()
        if kept.exists():
            kept.rename(cache)


@pytest.mark.parametrize("where", ["", "engine-0123456789abcdef"])
def test_a_link_of_the_folder_s_name_is_not_followed(tmp_path: Path, where: str) -> None:
    """Whoever made it first in /var/tmp chooses where it leads."""
    theirs = tmp_path / "theirs"
    empty = theirs / "engine-0123456789abcdef"
    empty.mkdir(parents=True)
    place = tmp_path / "place"
    if where:
        place.mkdir()
    (place / where).symlink_to(empty if where else theirs)
    words = ["sh", "-c", COPY_SCRIPT, "sh", str(place), "engine-0123456789abcdef", "assay-engine", "0" * 64, "755"]
    done = subprocess.run(words, input=b"#!/bin/sh\n", capture_output=True, check=False)
    assert (done.returncode, b"cannot be used" in done.stderr) == (UNUSABLE_FOLDER, True)
    assert empty.is_dir() and list(empty.iterdir()) == []
    (theirs / empty.name).rmdir()
    done = subprocess.run(words, input=b"#!/bin/sh\n", capture_output=True, check=False)
    assert done.returncode == UNUSABLE_FOLDER
    assert list(theirs.iterdir()) == []


BEGIN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("change", "taken"),
    [
        ("true", True),
        ("chmod 1777 .", True),
        ("mv up/place/assay real && ln -s ../../real up/place/assay", False),
        *(
            (f"chmod {mode} {where}", False)
            for mode in ("777", "775", "757")
            for where in ("up/place/assay", "up/place", "up")
        ),
        *((f"chmod {mode} up/place/assay/engine-{BEGIN}", False) for mode in ("777", "1777")),
        ("chmod 1777 up/place/assay", False),
        *((f"chown 65534 {where}", False) for where in ("up", "up/place/assay", f"up/place/assay/engine-{BEGIN}")),
    ],
)
def test_an_engine_lies_where_nobody_else_can_put_another(tmp_path: Path, change: str, taken: bool) -> None:
    """On hosts, neither copied nor found where others may replace it: in the folder or in one that leads to it."""
    if os.geteuid() != 0 and "chown" in change:
        pytest.skip("SKIPPED: only root can give a folder away")
    cache, program = tmp_path / "up" / "place", b"#!/bin/sh\n"
    folder = cache / "assay" / f"engine-{BEGIN}"
    folder.mkdir(parents=True)
    for path in (tmp_path / "up", cache, cache / "assay", folder):
        path.chmod(0o755)
    (folder / "assay-engine").write_bytes(program)
    subprocess.run(["sh", "-ec", change], cwd=tmp_path, check=True)
    digest = hashlib.sha256(program).hexdigest()
    home = {**os.environ, "XDG_CACHE_HOME": str(cache), "HOME": str(tmp_path)}
    looked = subprocess.run(
        ["sh", "-c", FIND_SCRIPT, "sh", f"engine-{BEGIN}", "assay-engine"],
        env=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (f"hash={digest}" in looked.stdout) == taken, looked.stderr
    words = ["sh", "-c", COPY_SCRIPT, "sh", str(cache / "assay"), f"engine-{BEGIN}", "assay-engine", digest, "755"]
    copied = subprocess.run(words, input=program, env=home, capture_output=True, check=False)
    assert copied.returncode == (0 if taken else UNUSABLE_FOLDER), copied.stderr


def test_the_hash_of_a_changed_file_is_not_accepted(sshd: Sshd, tmp_path: Path) -> None:
    engine = made_engine(tmp_path, PROGRAM + "# first\n")
    engine.path.write_text(PROGRAM + "# replaced meanwhile\n")
    with pytest.raises(AssayError, match="has the hash"):
        ensure_engine(make_shell(sshd.host), engine)


def test_another_architecture_is_refused_before_anything_is_copied(tmp_path: Path) -> None:
    class Elsewhere:
        host = Host(name="pi")

        def run(self, argv: list[str], timeout: float, given: bytes | None = None) -> CommandResult:
            assert given is None
            return CommandResult(0, "system=Linux riscv64\nplace=/x\n", "")

    with pytest.raises(AssayError, match="host pi: is Linux riscv64, the engine is for"):
        ensure_engine(Elsewhere(), made_engine(tmp_path))  # type: ignore[arg-type]


def test_the_launcher_talks_with_an_engine_over_there(sshd: Sshd, tmp_path: Path) -> None:
    launcher = launcher_for(sshd.host, made_engine(tmp_path))
    assert isinstance(launcher, HostLauncher)
    process = launcher.start(["run", "-"])
    assert isinstance(process, subprocess.Popen)
    out, err = process.communicate(b'{"job": "it\'s"}\n', timeout=GUARD)
    assert (process.returncode, out, err) == (0, b'run - {"job": "it\'s"}\n', b"")


@needs_engine
def test_the_real_engine_does_a_job_over_there_and_ends_with_its_connection(sshd: Sshd) -> None:
    launcher = launcher_for(sshd.host, load_engine())
    job = {
        "spec_version": SPEC_VERSION,
        "id": "over-there",
        "target": {"kind": "null"},
        "file_size_bytes": 1 << 20,
        "record_size_bytes": 4096,
        "phases": [{"operation": "write"}],
    }
    outcome = run_job(launcher, json.dumps(job), 30.0)
    assert (outcome.status, outcome.reason) == ("ok", "")
    assert '"bye"' in outcome.events
    process = launcher.start(["run", "-"])
    assert isinstance(launcher, HostLauncher)
    assert_soon(lambda: launcher.path in _running(), lambda: "no engine was seen")
    process.kill()
    process.communicate()
    assert_soon(lambda: launcher.path not in _running(), lambda: "the engine lives on")


def _running() -> set[str]:
    """First words of the command lines of all processes."""
    found = set()
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit():
                found.add((folder / "cmdline").read_bytes().split(b"\0")[0].decode("utf-8", "replace"))
    return found


def test_hosts_that_see_our_files_use_the_engine_where_it_is(tmp_path: Path) -> None:
    engine = made_engine(tmp_path)
    assert isinstance(launcher_for(THIS_HOST, engine), LocalLauncher)
    box = Host(name="h1", kind="box", enter=("env", "X=1"))
    launcher = launcher_for(box, engine)
    assert isinstance(launcher, HostLauncher)
    assert launcher.path == str(engine.path)
    out, _ = launcher.start(["run"]).communicate(b"job\n", timeout=GUARD)
    assert out == b"run job\n"
