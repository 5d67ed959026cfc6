"""How commands get to hosts, without any ssh server: this machine, boxes, and ssh programs that fail."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from ssh_tools import fake_ssh

from assay.launch.shell import NOT_FOUND, BoxShell, LocalShell, SshShell, make_shell
from assay.launch.ssh_faults import explain_failure
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST, Host

NODE = Host(name="node1", address="10.0.0.9", user="ann")

COMPLAINTS = {
    "ssh: Could not resolve hostname node1: Name or service not known": "its name cannot be resolved",
    "ssh: connect to host 10.0.0.9 port 22: Connection refused": "refuses the connection",
    "ssh: connect to host 10.0.0.9 port 22: Connection timed out": "does not answer",
    "Connection timed out during banner exchange\nConnection to 10.0.0.9 port 22 timed out": "does not answer",
    "Timeout, server 10.0.0.9 not responding.": "does not answer",
    "ssh: connect to host 10.0.0.9 port 22: No route to host": "no route",
    "No ED25519 host key is known for node1 and you have requested strict checking.\n"
    "Host key verification failed.": "its host key is not known",
    "@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@@\n"
    "Host key verification failed.": "another machine answers at 10.0.0.9",
    "ann@10.0.0.9: Permission denied (publickey).": "does not let ann in",
    "Received disconnect from 10.0.0.9 port 22:2: Too many authentication failures": "does not let ann in",
    "/home/a/.ssh/config: line 3: Bad configuration option: prt": "does not accept its configuration",
    "kex_exchange_identification: Connection closed by remote host": "closed the connection",
    "Unable to negotiate with 10.0.0.9 port 22: no matching host key type found.": "have no algorithm in common",
    "something nobody has seen before": "the connection failed",
    "": "ssh gives no reason",
}


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_each_failure_of_ssh_is_told_apart(complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ssh(tmp_path, complaint)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(AssayError) as caught:
        SshShell(NODE).run(["true"], 600)
    assert caught.value.message.startswith("host node1: ")
    assert COMPLAINTS[complaint] in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_what_is_said_names_the_machine_to_mend() -> None:
    changed = explain_failure(NODE, "Host key for 10.0.0.9 has changed and you have requested strict checking.")
    assert "ssh-keygen -R 10.0.0.9" in changed.hint
    closed = explain_failure(
        NODE.model_copy(update={"jump": "gate"}), "ssh: connect to host gate port 22: Connection refused"
    )
    assert "through gate" in closed.message


def test_a_missing_ssh_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AssayError, match="host node1: `ssh` was not found") as caught:
        SshShell(NODE).run(["true"], 600)
    assert "openssh-client" in caught.value.hint


def test_a_login_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("assay.launch.shell.LOGIN_SECONDS", 0.3)
    with pytest.raises(AssayError, match="does not answer"):
        SshShell(NODE).run(["true"], 600)


def test_options_stand_before_the_address_and_users_words_are_no_options() -> None:
    host = Host(name="n", address="10.1.1.1", user="u", port=2222, jump="a@b:22", identity="/k", ssh_config="/c")
    words = SshShell(host)._ssh()
    assert words[-1] == "10.1.1.1"
    for option, value in (("-l", "u"), ("-p", "2222"), ("-J", "a@b:22"), ("-i", "/k"), ("-F", "/c")):
        assert words[words.index(option) + 1] == value


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "-oProxyCommand=x"},
        {"name": "a", "address": "-oProxyCommand=x"},
        {"name": "a", "user": "-x"},
        {"name": "a", "jump": "-x"},
        {"name": "a", "jump": "b,-x"},
        {"name": "a b"},
        {"name": ""},
        {"name": "a", "port": 0},
        {"name": "a", "kind": "box"},
        {"name": "a", "enter": ("nsenter",)},
    ],
)
def test_no_field_of_a_host_can_become_an_option(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Host.model_validate(fields)


def test_this_machine() -> None:
    shell = make_shell(THIS_HOST)
    assert isinstance(shell, LocalShell)
    assert shell.run(["sh", "-c", "cat; pwd; echo $LC_ALL >&2; exit 4"], 600, b"in\n") == (
        shell.run(["sh", "-c", "echo in; echo /; echo C.UTF-8 >&2; exit 4"], 600)
    )
    assert shell.run(["no-such-command-here"], 600).code == NOT_FOUND
    with pytest.raises(AssayError, match="`sleep` did not end within"):
        shell.run(["sleep", "30"], 0.2)
    with pytest.raises(AssayError, match="host localhost: `/no/such` was not found"):
        shell.run(["/no/such"], 600)


def test_a_box_is_entered_first() -> None:
    shell = make_shell(Host(name="h1", kind="box", enter=("env", "WHERE=box")))
    assert isinstance(shell, BoxShell)
    assert shell.run(["sh", "-c", "echo $WHERE"], 600).out == "box\n"
    assert shell.run(["no-such-command-here"], 600).code == NOT_FOUND


def test_a_box_that_is_gone_is_told() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    shell = make_shell(Host(name="h1", kind="box", enter=("nsenter", "-t", str(gone.pid), "-n", "--")))
    with pytest.raises(AssayError, match="host h1: cannot be entered"):
        shell.run(["true"], 600)
