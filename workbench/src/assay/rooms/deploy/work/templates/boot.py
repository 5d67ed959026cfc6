"""User data: a cloud-config that writes what a host is to be and the script that makes it so, and runs that.

Only the values in `/etc/assay/ROLE.env` come from the stack. The script is the same for all hosts of a role; it is
compressed, because user data is limited, and joined behind the values, so that nothing in it is taken for a reference.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.rooms.deploy.work.roles.scripts import env_path, script_path
from assay.rooms.deploy.work.templates.functions import join, sub

MAX_USER_DATA_BYTES = 16_384
"""Bytes of user data before base64.

Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
"""
REFERENCE_BYTES = 1000
"""Bytes that the values of references have at most beside addresses; the longest is that of a wait condition."""
ADDRESS = re.compile(r"\$\{\w+[.](?:PrivateIp|PrimaryPrivateIpAddress)\}")
LONGEST_ADDRESS = "255.255.255.255"
METADATA = "http://169.254.169.254/latest"
NAME_FROM_TAG = f"""\
- |
  token=$(curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' {METADATA}/api/token)
  name=$(curl -fsS -H "X-aws-ec2-metadata-token: $token" {METADATA}/meta-data/tags/instance/assay:host)
  echo "HOST_NAME=$name" >>"""
"""Before the name of the file of values: hosts that share a launch template read their names from their tags."""
OWN_NAME = "-"
"""Stands for the name that EC2 gives a host."""


@dataclass(frozen=True)
class HostFile:
    """A file that a host gets at its first boot.

    Attributes:
        mode: As of chmod, in octal digits.
        text: Its content, in which `${Name}` stands for a value of the stack.
    """

    path: str
    mode: str
    text: str


@dataclass(frozen=True)
class FirstBoot:
    """What the hosts of a launch template are to be.

    Attributes:
        role: Role, or several with `+` between them.
        packed_script: Script of the role as gzip in base64.
        values: Variables of the role; `${Name}` stands for a value of the stack.
        functions: Name -> what stands for it, where that is neither a parameter nor a resource.
        host_name: Name of the host; empty: its tag `assay:host` has it; `-`: EC2 names it.
        files: Further files.
        user: User who logs in.
        packages: Packages that the script of the role needs to begin.
    """

    role: str
    packed_script: str
    values: Mapping[str, str]
    functions: Mapping[str, Any] = field(default_factory=dict)
    host_name: str = OWN_NAME
    files: Sequence[HostFile] = ()
    user: str = "${LoginUser}"
    packages: tuple[str, ...] = ("curl",)


def user_data(boot: FirstBoot) -> dict[str, Any]:
    """Return the user data of a launch template."""
    return {"Fn::Base64": join("", [sub(_names_and_files(boot), **boot.functions), _script_and_run(boot)])}


def cloud_config(boot: FirstBoot) -> str:
    """Return the user data as a text, in which `${...}` stands for values."""
    return _names_and_files(boot) + _script_and_run(boot)


def _names_and_files(boot: FirstBoot) -> str:
    is_named = boot.host_name not in ("", OWN_NAME)
    values = {**({"HOST_NAME": boot.host_name} if is_named else {}), **boot.values}
    head = ["#cloud-config", "locale: C.UTF-8", "user:", f"  name: {boot.user}"]
    head += [f"hostname: {boot.host_name}"] if is_named else []
    head += [f"packages: [{', '.join(boot.packages)}]"] if boot.packages else []
    head += ["write_files:"]
    lines = "\n".join(f"{key}={value}" for key, value in values.items())
    for file in (*boot.files, HostFile(env_path(boot.role), "0600", lines)):
        head += [f"- path: {file.path}", f"  permissions: '{file.mode}'", "  content: |"]
        head += textwrap.indent(file.text, "    ").split("\n")
    return "\n".join(head) + "\n"


def _script_and_run(boot: FirstBoot) -> str:
    name_step = "" if boot.host_name else f"{NAME_FROM_TAG}{env_path(boot.role)}\n"
    return (
        f"- path: {script_path(boot.role)}\n"
        "  permissions: '0755'\n"
        f"  # Sets up the role {boot.role}. To read it: base64 -d | gunzip\n"
        "  encoding: gz+b64\n"
        f"  content: {boot.packed_script}\n"
        f"runcmd:\n{name_step}- [sh, {script_path(boot.role)}]\n"
    )


def user_data_bytes(data: Mapping[str, Any]) -> int:
    """Return the bytes of user data at most, with all references in place."""
    head, tail = data["Fn::Base64"]["Fn::Join"][1]
    text = head["Fn::Sub"] if isinstance(head["Fn::Sub"], str) else head["Fn::Sub"][0]
    return len(ADDRESS.sub(LONGEST_ADDRESS, text).encode()) + len(tail.encode()) + REFERENCE_BYTES
