"""Studies of several hosts, and two hosts over ssh on this machine."""

import contextlib
import getpass
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_tools import Sshd, path_with_ssh, private_sshd
from testbed_tools import assert_soon

INVENTORY = 'hosts: {inventory: hosts.yaml, hosts: "@all"}'
STUDY = """study: together
question: Do they work as one?
targets:
  nowhere: {{kind: "null", latency: {{distribution: fixed, time: 1ms}}}}
workloads:
  grid:
    operations: [read]
    hosts: {hosts}
    lanes: 2
    file_size: 1MiB
    record_size: 4KiB
    runtime: {runtime}
    cache: keep
repeats: {repeats}
ceilings: none
{rest}
"""


def study(folder: Path, rest: str, hosts: object = "[1, 2, 3]", runtime: str = "200ms", repeats: int = 1) -> str:
    path = folder / "study.yaml"
    path.write_text(STUDY.format(rest=rest, hosts=hosts, runtime=runtime, repeats=repeats))
    return str(path)


@contextlib.contextmanager
def two_hosts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Sshd, Sshd]]:
    """`node1` and `node2`, an sshd each; an inventory of them in `work`, and an ssh that knows their keys."""
    with contextlib.ExitStack() as stack:
        nodes = []
        for name in ("node1", "node2"):
            (folder / name).mkdir()
            nodes.append(stack.enter_context(private_sshd(folder / name)))
        config = folder / "ssh_config"
        known = " ".join(str(node.folder / "known_hosts") for node in nodes)
        config.write_text(
            f"Host *\n  User {getpass.getuser()}\n  UserKnownHostsFile {known}\n  GlobalKnownHostsFile /dev/null\n"
            "  StrictHostKeyChecking yes\n  IdentityAgent none\n"
        )
        monkeypatch.setenv("PATH", path_with_ssh(folder, config))
        work = folder / "work"
        work.mkdir()
        lines = [
            f"  {node.folder.name}: {{address: 127.0.0.1, port: {node.port}, identity: ../{node.folder.name}/user}}\n"
            for node in nodes
        ]
        (work / "hosts.yaml").write_text(f"hosts:\n{''.join(lines)}groups:\n  all: node[1-2]\n")
        yield nodes[0], nodes[1]


def end_connections(folder: Path, workbench: int) -> None:
    """Those of a workbench that was killed among `two_hosts` would stay for a minute."""
    for sockets in Path("/tmp").glob(f"assay-ssh-{workbench}-*"):
        for control in sockets.iterdir():
            words = ["ssh", "-F", str(folder / "ssh_config"), "-S", str(control), "-O", "exit", "127.0.0.1"]
            subprocess.run(words, capture_output=True, check=False)
        assert_soon(lambda where=sockets: not [*where.iterdir()], lambda: "a connection stays")  # type: ignore[misc]
        sockets.rmdir()
