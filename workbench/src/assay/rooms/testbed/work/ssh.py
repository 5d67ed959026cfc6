"""ssh in a box, with its own keys and configuration; the user's files are neither read nor changed."""

import shlex
from pathlib import Path

from assay.model.site.box import BoxHost
from assay.site.installed import checked_output, find_program

HOST_MARKER = "/run/assay-host"
"""File that exists only on hosts of a box."""


def make_keys(folder: Path, names: list[str]) -> None:
    """Make an ssh key for each name: the client key, or the key of a host.

    Raises:
        AssayError: ssh-keygen fails.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    for name in names:
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"assay-{name}", "-f", str(folder / name)]
        checked_output(words, f"ssh key of {name}")


def write_files(folder: Path, members: tuple[BoxHost, ...], prefixes: dict[str, list[str]]) -> None:
    """Write the configuration of client and server, the known hosts and the authorized keys.

    Args:
        folder: Folder with the keys.
        members: The hosts.
        prefixes: Host -> words to put before a command to run it there.
    """
    known = []
    for member in members:
        key = " ".join((folder / f"{member.name}.pub").read_text().split()[:2])
        known.append(f"{member.name},{member.address} {key}\n")
    (folder / "known_hosts").write_text("".join(known))
    (folder / "authorized_keys").write_text((folder / "client_key.pub").read_text())
    (folder / "sshd_config").write_text(server_text(folder))
    (folder.parent / "ssh_config").write_text(client_text(folder, members, prefixes))


def server_text(folder: Path) -> str:
    """Return the sshd configuration of all hosts; key and address are options of each command."""
    lines = [
        f"AuthorizedKeysFile {folder}/authorized_keys .ssh/authorized_keys",
        "PidFile /run/sshd.pid",
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "PermitRootLogin prohibit-password",
        "UseDNS no",
        "MaxStartups 1000",
        "MaxSessions 1000",
        "Subsystem sftp internal-sftp",
        # Otherwise bash reads ~/.bashrc before each command (bash(1), "remote shell daemon"), which takes its own time.
        "SetEnv SHLVL=1",
    ]
    return "\n".join(lines) + "\n"


def client_text(folder: Path, members: tuple[BoxHost, ...], prefixes: dict[str, list[str]]) -> str:
    """Return the client configuration, for `ssh -F`.

    Hosts reach each other over the network of the box. That network is not visible outside the box: there, a command
    starts an sshd inside the host for each connection, which also keeps such traffic off the measured network.
    """
    lines = []
    for member in members:
        command = shlex.join([*prefixes[member.name], *server_command(folder, member), "-i"]).replace("%", "%%")
        lines += [f'Match originalhost {member.name} exec "test ! -e {HOST_MARKER}"', f"  ProxyCommand {command}"]
        lines += [f"Host {member.name}", f"  HostName {member.address}", f"  HostKeyAlias {member.name}"]
    # Users of the box have keys of their own.
    lines += [
        "Match localuser root",
        "  User root",
        f"  IdentityFile {folder}/client_key",
        "Host *",
        "  IdentityFile ~/.ssh/id_ed25519",
        "  IdentitiesOnly yes",
        f"  UserKnownHostsFile {folder}/known_hosts",
        "  GlobalKnownHostsFile /dev/null",
        "  StrictHostKeyChecking yes",
        "  BatchMode yes",
        "  LogLevel ERROR",
    ]
    return "\n".join(lines) + "\n"


def server_command(folder: Path, member: BoxHost) -> list[str]:
    """Return the command of a host's sshd, with an absolute path: sshd executes itself again for each connection."""
    program = find_program("sshd") or "/usr/sbin/sshd"
    log = f"{folder}/{member.name}.log"
    options = ["-o", f"HostKey={folder}/{member.name}", "-o", f"ListenAddress={member.address}:22"]
    return [program, "-f", f"{folder}/sshd_config", "-E", log, *options]
