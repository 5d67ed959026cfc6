"""Machines that generate load, and how they are reached."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from assay.model.frozen import Frozen

LOCALHOST = "localhost"
"""The name of this machine."""
MAX_HOSTS = 4096

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,252}")
_ADDRESS = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9._:%-]{0,252}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@\\-]{0,252}")
_JUMP = re.compile(
    r"(?:ssh://)?(?:[A-Za-z0-9_][A-Za-z0-9._\\-]*@)?(?:[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9a-fA-F:.%]+\])(?::[0-9]{1,5})?"
)


def is_host_name(text: str) -> bool:
    """Whether a text can be the name of a host. A leading `-` is refused: ssh would take it for an option."""
    return _NAME.fullmatch(text) is not None


class Host(Frozen):
    """A machine and how it is reached.

    Attributes:
        name: Name in results.
        address: Host name, IP address, or a `Host` of the user's ssh configuration; by default the name.
        user: User to log in as; None: the default of ssh.
        port: Port of sshd; None: the default of ssh.
        jump: Jump hosts, `[USER@]HOST[:PORT]`, separated by commas (`ssh -J`).
        identity: File of the private key (`ssh -i`).
        ssh_config: File to use instead of the user's ssh configuration (`ssh -F`).
        kind: `local`: this machine; `ssh`: reached by the ssh client; `box`: a host of a cluster in a box; `slurm`: a
            node of this process's allocation, reached by srun.
        enter: For kind box: command prefix that runs a command there, such as `nsenter` with its options.
        link: Stated bytes per second of its network link; None if not stated.
        site: Its site, if hosts are at several sites; else empty.
        line: Stated bytes per second of the line that its site shares to other sites; None if not stated.
        instance: Id of the instance in its cloud, which no other instance ever has; None if unknown.
    """

    name: str
    address: str = ""
    user: str | None = None
    port: int | None = Field(None, ge=1, le=65535)
    jump: str | None = None
    identity: str | None = None
    ssh_config: str | None = None
    kind: Literal["local", "ssh", "box", "slurm"] = "ssh"
    enter: tuple[str, ...] = ()
    link: float | None = Field(None, gt=0)
    site: str = ""
    line: float | None = Field(None, gt=0)
    instance: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _own_address(cls, written: object) -> object:
        if isinstance(written, dict) and not written.get("address"):
            return {**written, "address": written.get("name", "")}
        return written

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not is_host_name(name):
            raise ValueError(f"`{name}` is not a host name")
        return name

    @field_validator("address")
    @classmethod
    def _check_address(cls, address: str) -> str:
        if not _ADDRESS.fullmatch(address):
            raise ValueError(f"`{address}` is not a host name or an IP address")
        return address

    @field_validator("user")
    @classmethod
    def _check_user(cls, user: str | None) -> str | None:
        if user is not None and not _USER.fullmatch(user):
            raise ValueError(f"`{user}` is not a user's name")
        return user

    @field_validator("jump")
    @classmethod
    def _check_jump(cls, jump: str | None) -> str | None:
        if jump is not None and not all(_JUMP.fullmatch(part) for part in jump.split(",")):
            raise ValueError(f"`{jump}` is not a jump host: write [USER@]HOST[:PORT], several with commas between")
        return jump

    @field_validator("instance")
    @classmethod
    def _check_instance(cls, instance: str | None) -> str | None:
        if instance is not None and not is_host_name(instance):
            raise ValueError(f"`{instance}` is not the id of an instance")
        return instance

    @model_validator(mode="after")
    def _check_kind(self) -> "Host":
        if (self.kind == "box") != bool(self.enter):
            raise ValueError("the command that enters a host is required for hosts of kind box, and only for them")
        return self


THIS_HOST = Host(name=LOCALHOST, kind="local")


def instance_ids(hosts: Iterable[Host]) -> dict[str, str]:
    """Return the instance of each host for which it is known, by the host's name."""
    return {host.name: host.instance for host in hosts if host.instance}


class HostMount(NamedTuple):
    """A file system that Assay mounted when it made a host.

    Attributes:
        at: Mount point.
        source: Source of the mount.
        command: Command that mounts it.
    """

    at: str
    source: str
    command: tuple[str, ...]
