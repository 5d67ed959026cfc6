"""Commands over OpenSSH's own client, against a private sshd on this machine."""

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from s3_servers import free_port
from ssh_tools import Sshd
from testbed_tools import GUARD, assert_soon

from assay.launch import shell as shell_module
from assay.launch.shell import NOT_FOUND, SshShell, close_shells, make_shell
from assay.model.base import AssayError
from assay.wires.remote_command import RemoteCommand

AWKWARD = ["a b", "it's", '"', "$HOME", "`id`", "*", "\\", "-n", "ä", "", "a\tb", "~", "!x", "#"]


@pytest.fixture
def shell(sshd: Sshd) -> SshShell:
    found = make_shell(sshd.host)
    assert isinstance(found, SshShell)
    return found


def test_words_arrive_as_they_are(shell: SshShell) -> None:
    answer = shell.run(["printf", "%s\\0", *AWKWARD], GUARD)
    assert answer.code == 0
    assert answer.out.split("\0")[:-1] == AWKWARD


def test_input_output_and_exit_code(shell: SshShell) -> None:
    data = os.urandom(300_000)
    answer = shell.run(["sha256sum"], GUARD, data)
    assert answer.out.split()[0] == hashlib.sha256(data).hexdigest()
    answer = shell.run(["sh", "-c", "echo $LC_ALL; echo wrong >&2; exit 3"], GUARD)
    assert (answer.code, answer.out, answer.err) == (3, "C.UTF-8\n", "wrong\n")


def test_a_missing_command_is_an_answer_not_a_broken_connection(shell: SshShell) -> None:
    assert shell.run(["no-such-command-here"], GUARD).code == NOT_FOUND


def test_exit_code_255_of_a_command_is_not_taken_for_a_broken_connection(shell: SshShell) -> None:
    assert shell.run(["sh", "-c", "exit 255"], GUARD).code == 255


def test_all_commands_share_one_connection(shell: SshShell) -> None:
    ports = {shell.run(["sh", "-c", "echo $SSH_CONNECTION"], GUARD).out for _ in range(4)}
    assert len(ports) == 1
    assert make_shell(shell.host) is shell


def test_a_command_that_takes_too_long_is_named(shell: SshShell) -> None:
    with pytest.raises(AssayError, match=r"host node1: `sleep` did not end within 0 s"):
        shell.run(["sleep", "30"], 0.3)


def test_what_was_started_survives_ctrl_c_of_the_terminal(shell: SshShell) -> None:
    process = shell.popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert os.getsid(process.pid) == process.pid != os.getsid(0)
        out, _ = process.communicate(b"still here", timeout=GUARD)
        assert out == b"still here"
    finally:
        process.kill()
        process.wait()


def test_the_sockets_folder_is_private_and_gone_when_closed(sshd: Sshd) -> None:
    shell = make_shell(sshd.host)
    shell.run(["true"], GUARD)
    folder = shell_module._Open.folder
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(len(str(path)) < 90 for path in folder.iterdir())
    assert isinstance(shell, SshShell) and shell.is_alive()
    close_shells()
    assert not folder.exists()
    assert not shell.is_alive()
    close_shells()


def test_a_connection_that_was_cut_is_made_anew(sshd: Sshd) -> None:
    shell = make_shell(sshd.host)
    assert isinstance(shell, SshShell)
    shell.run(["true"], GUARD)
    assert shell._control_master("exit")
    assert shell.run(["echo", "again"], GUARD).out == "again\n"


def _socket(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    return made


def test_leftovers_of_a_killed_workbench_are_removed_and_nothing_else() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        parent = Path(name)
        stale, listening, noted, used, named, foreign = (
            parent / f"assay-ssh-{middle}"
            for middle in (
                *(f"{gone.pid}-abcdefg{number}" for number in range(3)),
                f"{os.getpid()}-abcdefgh",
                f"{gone.pid}-photos of the sea",
                f"{gone.pid}-abcdefgi",
            )
        )
        for folder in (stale, listening, noted, used, named, foreign):
            folder.mkdir(mode=0o700)
            _socket(folder / "1").close()
        (noted / "letter.txt").write_text("mine")
        (noted / "2").write_text("mine")
        (noted / "3").symlink_to(noted / "letter.txt")
        os.chown(foreign, 12345 if os.geteuid() == 0 else os.getuid(), -1)
        (parent / f"assay-ssh-{gone.pid}-abcdefgj").symlink_to(named)
        with contextlib.closing(_socket(listening / "2")) as there:
            there.listen()
            shell_module._remove_stale(parent)
        assert not stale.exists()
        assert [path.name for path in listening.iterdir()] == ["2"]
        assert sorted(path.name for path in noted.iterdir()) == ["2", "3", "letter.txt"]
        assert (used / "1").exists() and (named / "1").exists()
        assert (foreign / "1").exists() or os.geteuid() != 0


def test_a_leashed_command_ends_with_its_input_also_over_there(shell: SshShell, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    leash = RemoteCommand(shell, ["sh", "-c", f"echo $$ > {mark}; exec sleep 60"], 60)
    pid = _written(mark)
    os.kill(leash.process.pid, signal.SIGKILL)
    leash.release()
    leash.close()
    _gone(pid)


def test_an_unknown_host_key_is_told(sshd: Sshd, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text((sshd.folder / "ssh_config").read_text().replace(str(sshd.folder / "known_hosts"), "/dev/null"))
    with pytest.raises(AssayError, match="host node1: its host key is not known") as caught:
        SshShell(sshd.host.model_copy(update={"ssh_config": str(config)})).run(["true"], GUARD)
    assert "log in once by hand" in caught.value.hint


def test_a_changed_host_key_is_told(sshd: Sshd, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{sshd.port} {(sshd.folder / 'user.pub').read_text()}")
    config = tmp_path / "config"
    config.write_text((sshd.folder / "ssh_config").read_text().replace(str(sshd.folder / "known_hosts"), str(known)))
    with pytest.raises(AssayError, match="another machine answers"):
        SshShell(sshd.host.model_copy(update={"ssh_config": str(config)})).run(["true"], GUARD)


def test_a_key_that_is_not_let_in_is_told(sshd: Sshd, tmp_path: Path) -> None:
    key = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    host = sshd.host.model_copy(update={"identity": str(key), "user": "somebody"})
    with pytest.raises(AssayError, match=r"host node1: does not let somebody in \(ssh: .*Permission denied") as caught:
        SshShell(host).run(["true"], GUARD)
    assert "ssh-copy-id" in caught.value.hint


def test_a_port_without_sshd_is_told(sshd: Sshd) -> None:
    host = sshd.host.model_copy(update={"port": free_port()})
    with pytest.raises(AssayError, match=r"host node1: refuses the connection"):
        SshShell(host).run(["true"], GUARD)


def test_a_jump_host_is_used_and_its_refusal_is_told(sshd: Sshd, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        f"Host through\n  HostName 127.0.0.1\n  Port {sshd.port}\n  IdentityFile {sshd.folder}/user\n"
        f"Host closed\n  HostName 127.0.0.1\n  Port {free_port()}\n" + (sshd.folder / "ssh_config").read_text()
    )
    host = sshd.host.model_copy(update={"ssh_config": str(config), "jump": "through"})
    found = SshShell(host)
    try:
        assert found.run(["echo", "there"], GUARD).out == "there\n"
    finally:
        found.close()
    with pytest.raises(AssayError, match="refuses the connection: no sshd listens there through closed"):
        SshShell(host.model_copy(update={"jump": "closed"})).run(["true"], GUARD)


def _written(mark: Path) -> int:
    assert_soon(lambda: mark.exists() and bool(mark.read_text().strip()), lambda: "the command was not started")
    return int(mark.read_text())


def _gone(pid: int) -> None:
    assert_soon(lambda: not Path(f"/proc/{pid}").exists(), lambda: f"process {pid} is still there")
