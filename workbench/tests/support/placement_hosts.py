"""Two hosts that are this machine, with an sshd each."""

import contextlib
import getpass
from pathlib import Path

from ssh_tools import path_with_ssh, private_sshd


def two_hosts(base: Path, environment: dict[str, str], stack: contextlib.ExitStack) -> str:
    """Start them; returns the line of a study that names them.

    Args:
        base: Gets `node1`, `node2`, an inventory, and a program `ssh` that knows their keys.
        environment: Its PATH gets that program.
        stack: Ends them.
    """
    nodes = []
    for name in ("node1", "node2"):
        (base / name).mkdir()
        nodes.append(stack.enter_context(private_sshd(base / name)))
    config = base / "ssh_config"
    known = " ".join(str(node.folder / "known_hosts") for node in nodes)
    config.write_text(
        f"Host *\n  User {getpass.getuser()}\n  UserKnownHostsFile {known}\n  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n  IdentityAgent none\n"
    )
    environment["PATH"] = path_with_ssh(base, config)
    lines = [
        f"  {node.folder.name}: {{address: 127.0.0.1, port: {node.port}, identity: {node.folder}/user}}\n"
        for node in nodes
    ]
    (base / "hosts.yaml").write_text(f"hosts:\n{''.join(lines)}")
    return "hosts: {inventory: hosts.yaml}\n"
