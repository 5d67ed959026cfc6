"""HOSTS.yaml: hosts, and the role and values of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.quoting import FileOrigin
from assay.model.site.host import Host
from assay.model.units import choices_hint
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_located_model
from assay.rooms.deploy.work.roles.description import known_variables
from assay.rooms.deploy.work.roles.scripts import check_values, role_variables
from assay.site.inventory.hosts import resolve_hosts

GUIDE = "docs/guides/deploy.md"
MOUNT_WAIT, MOUNT_WAIT_SECONDS = "MOUNT_WAIT_S", 60
HINT = "write roles: [{hosts: server1, role: nfs-server, values: {ALLOWED: 10.0.0.0/16}}]"


class HostRole(Frozen):
    """Hosts that get the same role and values."""

    hosts: str | tuple[str, ...] | None = Field(
        None, description="Node set, or a list of them, or @GROUP of the inventory; without it all of the inventory."
    )
    role: str = Field(description="Name of a role, or of several with `+` between them.")
    values: dict[str, Any] = Field({}, description="Value by name; a list is joined with spaces.")


class HostsFile(Frozen):
    """The file as it is written."""

    inventory: str = Field("", description="File that says how hosts are reached; any form that Assay reads.")
    values: dict[str, Any] = Field({}, description="Values for all roles that know them.")
    roles: tuple[HostRole, ...] = Field(min_length=1, description="In the order in which they are set up.")


@dataclass(frozen=True)
class HostTask:
    """A host that is to be set up.

    Attributes:
        host: The host.
        role: Its role.
        values: Its values, all checked.
        stage: Its place in `roles`; a stage begins when all hosts of the one before are set up.
    """

    host: Host
    role: str
    stage: int
    values: Mapping[str, str] = field(default_factory=dict)


def read_hosts_file(path: Path, report: Callable[[str], None]) -> tuple[HostTask, ...]:
    """Return what is to be set up, in the order of the file.

    Args:
        path: The file; paths in it start from its folder.
        report: Called with a line about what an inventory has and Assay ignores.

    Raises:
        AssayError: The file, a host, a role or a value is not as it must be.
    """
    data = read_user_file(path, f"cannot read {path}", HINT, MAX_FILE_BYTES)
    written, source = read_located_model(HostsFile, data, str(path), GUIDE, "hosts file")
    tasks: list[HostTask] = []
    for name in written.values:
        if name not in known_variables():
            raise AssayError(f"{path}: no role has a value {name}", choices_hint(name, list(known_variables())))
    for stage, entry in enumerate(written.roles):
        line = source.values.get(("roles", stage), (1, 1))[0]
        try:
            values = _values(entry, written.values)
            tasks += [HostTask(host, entry.role, stage, values) for host in _hosts(entry, written, path, report)]
        except AssayError as error:
            raise AssayError(f"{path}:{line}: {error.message}", error.hint, error.exit_code) from None
    _refuse_two_roles(tasks, path)
    return tuple(tasks)


def _hosts(entry: HostRole, file: HostsFile, path: Path, report: Callable[[str], None]) -> tuple[Host, ...]:
    folder = path.absolute().parent
    names = list(entry.hosts) if isinstance(entry.hosts, tuple) else entry.hosts
    if file.inventory:
        chosen = {"inventory": file.inventory, **({} if names is None else {"hosts": names})}
        return resolve_hosts(chosen, folder, report, FileOrigin(folder))
    if names is None:
        raise AssayError("no hosts are named", "write hosts: NODESET, or name an inventory")
    return resolve_hosts(names, folder, report)


def _values(entry: HostRole, common: Mapping[str, Any]) -> dict[str, str]:
    known = role_variables(entry.role)
    # Servers are set up before: a mount that fails then will not come later, as it may at the first boot of a stack.
    waits = {MOUNT_WAIT: MOUNT_WAIT_SECONDS} if MOUNT_WAIT in known else {}
    chosen = {**waits, **{name: value for name, value in common.items() if name in known}, **entry.values}
    values = {name: _text(name, value) for name, value in chosen.items()}
    check_values(entry.role, values)
    return values


def _text(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        raise AssayError(f"{name}: a mapping is not a value", "write text, a number, or a list of such")
    if isinstance(value, list | tuple):
        return " ".join(_text(name, item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _refuse_two_roles(tasks: list[HostTask], path: Path) -> None:
    roles: dict[str, str] = {}
    for task in tasks:
        if task.host.name in roles:
            hint = f"give it both in one entry: role: {roles[task.host.name]}+{task.role}"
            raise AssayError(f"{path}: {task.host.name} is in two entries of `roles`", hint)
        roles[task.host.name] = task.role
