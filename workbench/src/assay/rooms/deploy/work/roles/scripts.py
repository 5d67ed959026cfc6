"""The shell script of a role. It is the same for every host: values come from `/etc/assay/ROLE.env`.

A script is POSIX sh: a preamble (`preamble.sh`), the functions of the role's steps (`steps/*.sh`), and the list of its
steps. It serves first boots, ssh and boxes alike, so it needs nothing but what each distribution has.
"""

import base64
import functools
import gzip
import re
import shlex
from collections.abc import Mapping

from assay.model.base import AssayError
from assay.model.units import choices_hint
from assay.rooms.deploy.work.roles.description import (
    COMMON,
    RoleDescription,
    RoleVariable,
    known_variables,
    load_role,
    preamble,
    role_names,
    steps_of,
)
from assay.servers.filled_server import fill
from assay.servers.kinds import load_kind

__all__ = [
    "check_values",
    "env_path",
    "packed_script",
    "role_env",
    "role_names",
    "role_script",
    "role_variables",
    "script_path",
]

JOIN = "+"
"""Between the names of roles that one host has, such as `beegfs-management+beegfs-metadata`."""
_HEAD = """#!/bin/sh
# Role {role} of a host: {description}.
# Made by Assay; values are in /etc/assay/{role}.env. `--plan` shows what would be done, and changes nothing.
# shellcheck disable=SC2012,SC2015,SC2016,SC2034,SC2045,SC2317,SC2329
"""


@functools.cache
def role_script(role: str) -> str:
    """Return the script of a role, or of several with `+` between them, whose steps are then done in that order.

    Raises:
        AssayError: There is no such role.
    """
    roles = _roles(role)
    names = _step_names(roles)
    settings = {
        "ROLE": role,
        "STEPS": " ".join(names),
        "APT_PACKAGES": " ".join(package for one in roles for package in _apt_packages(one)),
        "DNF_PACKAGES": " ".join(package for one in roles for package in one.packages.dnf),
        "PORTS": " ".join(dict.fromkeys(port for one in roles for port in one.ports)),
        "REQUIRED": " ".join(name for name, about in role_variables(role).items() if about.is_required),
        "VARIABLES": " ".join(role_variables(role)),
        **{name: about.default for name, about in role_variables(role).items()},
    }
    lines = [f"{name}={shlex.quote(value) if value else ''}" for name, value in settings.items()]
    return "\n".join(
        [
            _HEAD.format(role=role, description="; ".join(one.description for one in roles)).rstrip(),
            *lines,
            preamble().rstrip(),
            *(step.body.rstrip() for step in steps_of(names)),
            *_server_parts(roles),
            'main "$@"',
            "",
        ]
    )


def packed_script(role: str) -> str:
    """Return the script of a role as cloud-init's `encoding: gz+b64` has it, without comments and indentation.

    User data of EC2 may have 16 KiB; the plain script of a server is larger.

    Raises:
        AssayError: There is no such role.
    """
    text = re.sub(r"^ *#(?!!).*\n|^ +", "", role_script(role), flags=re.M)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@functools.cache
def role_variables(role: str) -> Mapping[str, RoleVariable]:
    """Return the values that the script of a role uses, with their defaults in this role.

    Raises:
        AssayError: There is no such role.
    """
    roles = _roles(role)
    used = [*COMMON, *(name for step in steps_of(_step_names(roles)) for name in step.variables)]
    found = {}
    for name in dict.fromkeys(used):
        defaults = [one.defaults[name] for one in roles if name in one.defaults]
        required = any(name in one.required for one in roles)
        changes = {"is_required": required, **({"default": defaults[0]} if defaults else {})}
        found[name] = known_variables()[name].model_copy(update=changes)
    return found


def check_values(role: str, values: Mapping[str, str]) -> None:
    """Check the values for a role of one host.

    Raises:
        AssayError: One is unknown, missing or not of its form, or the roles cannot be on one host.
    """
    _server_parts(_roles(role))
    known = role_variables(role)
    for name, value in values.items():
        if name not in known:
            raise AssayError(f"the role {role} has no value {name}", choices_hint(name, list(known)))
        if not known[name].accepts(value):
            raise AssayError(f"{name}: `{value}` is not of the form it needs", known[name].meaning)
    for name, about in known.items():
        if about.is_required and not values.get(name):
            raise AssayError(f"the role {role} needs {name}", about.meaning)


def script_path(role: str) -> str:
    """Return where the script of a role is on its host; a host of several roles has those of each."""
    return f"/etc/assay/{role}.sh"


def env_path(role: str) -> str:
    """Return where the script of a role finds its values on its host."""
    return f"/etc/assay/{role}.env"


def role_env(values: Mapping[str, str]) -> str:
    """Return the text of the file of values of a role: lines KEY=VALUE without quotes."""
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _roles(role: str) -> tuple[RoleDescription, ...]:
    names = role.split(JOIN)
    roles = tuple(load_role(name) for name in names)
    if len(set(names)) < len(names):
        raise AssayError(f"the role {role} has one of its parts twice", "name each part once")
    return roles


def _step_names(roles: tuple[RoleDescription, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in roles for name in one.steps))


def _apt_packages(role: RoleDescription) -> tuple[str, ...]:
    return role.packages.apt or (load_kind(role.server).packages if role.server else ())


def _server_parts(roles: tuple[RoleDescription, ...]) -> list[str]:
    """Return the function that uses the configuration of the roles' server; one host has those of one server only.

    Raises:
        AssayError: The roles are of different servers.
    """
    parts = list(dict.fromkeys(_server_part(role) for role in roles if role.use))
    if len(parts) > 1:
        raise AssayError("roles of different servers cannot be on one host", "set them up one after the other")
    return parts


def _server_part(role: RoleDescription) -> str:
    lines = load_kind(role.server).configuration.splitlines(keepends=True)
    kept = "".join(line for line in lines if not (role.box_only and line.strip().startswith(role.box_only)))
    text = fill(kept, role.words).strip()
    if role.use == "run":
        return f"# shellcheck disable=SC1007,SC2046,SC2050,SC2086,SC2194\nserver_configuration() (\n{text}\n)"
    mark = "ASSAY_TEXT" if role.use == "text" else "'ASSAY_TEXT'"
    return f"server_configuration() {{\n    cat <<{mark}\n{text}\nASSAY_TEXT\n}}"
