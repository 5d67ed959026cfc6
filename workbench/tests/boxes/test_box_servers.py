"""Servers that offer more than directories: in no package, with peers, users and devices, mounted and not."""

import base64
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import GOLDEN
from testbed_tools import assert_nothing_left, need_box, own_processes, said, written

from assay.model.base import AssayError
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.up import bring_up

BOX = """
name: ring
hosts:
  client:
    mounts: [{source: none, at: /seen/here, type: tmpfs, options: size=1m}]
  s[1-2]:
    disks: [{size: 64MiB, mount: /store}, {size: 16MiB, device: raw}]
    servers: [{kind: ring, devices: [raw], buckets: [one, two], tables: [tab], users: [ann, bob], data: /store/data}]
"""


def describe(folder: Path, monkeypatch: pytest.MonkeyPatch, *changes: tuple[str, str]) -> None:
    """Put the description of the server into a folder of the user's."""
    text = (GOLDEN / "servers" / "ring.yaml").read_text().replace("PROGRAM", str(GOLDEN / "servers" / "ring.py"))
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "ring.yaml").write_text(text)
    monkeypatch.setenv("ASSAY_SERVERS", str(folder / "own"))
    monkeypatch.setenv("ASSAY_BOXES", str(folder / "boxes"))


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningBox]:
    """A box of two servers, with nothing left of it afterwards."""
    describe(tmp_path, monkeypatch)
    box = written(tmp_path, BOX)
    need_box(box)
    running = bring_up(box)
    try:
        yield running
    finally:
        running.down()
    assert_nothing_left(tmp_path / "boxes")


def ask(box: RunningBox, server: str, path: str, login: str = "") -> tuple[int, dict[str, Any]]:
    """Status and answer of a request by the client."""
    program = (
        "import sys, urllib.request, urllib.error\n"
        "request = urllib.request.Request(sys.argv[1], headers={'Authorization': 'Basic ' + sys.stdin.read()})\n"
        "try:\n    done = urllib.request.urlopen(request, timeout=30)\n"
        "except urllib.error.HTTPError as error:\n    done = error\n"
        "print(done.status, done.read().decode())\n"
    )
    word = base64.b64encode(login.encode()).decode()
    words = ["sh", "-c", f'printf %s {word} | "$@"', "sh", "python3", "-c", program, f"http://{server}:8000{path}"]
    status, _, body = said(box, "client", *words).partition(" ")
    return int(status), json.loads(body)


def test_servers_know_their_peers_and_offer_what_they_were_given(ring: RunningBox) -> None:
    addresses = {host.name: host.address for host in ring.hosts}
    for name, other in (("s1", "s2"), ("s2", "s1")):
        _, found = ask(ring, name, "/all")
        assert found["peers"] == addresses[other]
        assert found["first"] == addresses["s1"]
        assert found["joined"] == [other], "each joins when all answer, not before"
        assert (found["buckets"], found["tables"], found["users"]) == ("one;two;", "tab;", "ann;bob;")
        assert said(ring, name, "ls", "/store/data").split() == ["one", "two"]
        (server,) = ring.host(name).servers
        assert server.paths == {"raw": found["device"]}
        assert server.tables == ("tab",)
        assert server.version == "unknown"


def test_a_device_is_the_server_s_own_disk(ring: RunningBox) -> None:
    paths = [ring.host(name).servers[0].paths["raw"] for name in ("s1", "s2")]
    assert len(set(paths)) == 2
    said(ring, "s1", "sh", "-c", f"printf 12345678 | dd of={paths[0]} conv=notrunc oflag=sync status=none")
    assert ask(ring, "s1", "/all")[1]["head"] == b"12345678".hex()
    assert ask(ring, "s2", "/all")[1]["head"] == bytes(8).hex()
    assert int(said(ring, "s1", "blockdev", "--getsize64", paths[0])) == 16 << 20


def test_users_have_passwords_that_nobody_sees(ring: RunningBox) -> None:
    seen: set[str] = set()
    for name in ("s1", "s2"):
        (server,) = ring.host(name).servers
        for user, path in server.credentials.items():
            file = Path(path)
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            lines = dict(line.split("=", 1) for line in file.read_text().splitlines())
            assert lines["username"] == user
            assert ask(ring, name, "/secret", f"{user}:{lines['password']}")[0] == 200
            assert ask(ring, name, "/secret", f"{user}:wrong")[0] == 401
            seen.add(lines["password"])
    assert len(seen) == 2, "each user has one, at all servers of a kind"
    known = [path for path in ring.folder.rglob("*") if path.is_file() and path.parent.name != "secrets"]
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in own_processes(ring.folder.parent.parent)]
    told = b"".join([*(path.read_bytes() for path in known), *commands]).decode(errors="replace")
    assert not any(password in told for password in seen)


def test_a_host_mounts_when_all_servers_answer(ring: RunningBox) -> None:
    assert said(ring, "client", "findmnt", "-n", "-o", "FSTYPE", "/seen/here").strip() == "tmpfs"
    assert ring.host("client").mounts == ("/seen/here",)
    assert not Path("/seen").exists()


def test_a_program_that_stays_is_stopped_and_started_again(ring: RunningBox) -> None:
    (server,) = ring.host("s1").servers
    assert ring.server_fault("s1", server, 20) == ""
    ring.stop_server("s1", server)
    assert "refused" in ring.server_fault("s1", server)
    ring.start_server("s1", server)
    assert ring.server_fault("s1", server) == ""
    _, found = ask(ring, "s1", "/all")
    assert found["joined"] == [], "what comes once is not done again"


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ((", serve, $address", ", serve, 203.0.113.1"), "ring on s", "last line of its log: OSError"),
        (("[mkdir, -p, $data/$name]", "[mkdir, $data/none/$name]"), "`mkdir` ended with exit code 1", "cannot create"),
        (
            ("[$python, $program, passwd, $user]", "[sh, -c, 'cat; exit 7']"),
            "`sh` ended with exit code 7",
            "last line of its log: (a password)",
        ),
    ],
)
def test_what_fails_is_told_without_passwords_and_nothing_is_left(
    change: tuple[str, str], message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(tmp_path, monkeypatch, change)
    monkeypatch.setattr("assay.rooms.testbed.work.up.READY_TIMEOUT_SECONDS", 3)
    box = written(tmp_path, BOX)
    need_box(box)
    with pytest.raises(AssayError) as caught:
        bring_up(box)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert_nothing_left(tmp_path / "boxes")
