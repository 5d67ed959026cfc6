"""Turns the hosts of a study or a command line into `Host` objects: node sets, lists of them, inventories."""

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from assay.model.base import AssayError, LineError
from assay.model.quoting import TYPED_BY_USER, FileOrigin, hide_content
from assay.model.site.host import LOCALHOST, MAX_HOSTS, THIS_HOST, Host
from assay.model.source import YamlSource, read_source
from assay.model.units import choices_hint
from assay.model.user_files import read_user_file
from assay.site.inventory import ansible, sshconfig
from assay.site.inventory.ansible_vars import LIST_HINT, without_tags
from assay.site.inventory.foreign import ForeignInventory, ReportLine
from assay.site.inventory.lines import own_networks, read_lines
from assay.site.inventory.machines.documents import ANSIBLE, FORMS_HINT, parse_json, read_document, tool_of
from assay.site.inventory.names import HostInventory, login_hosts, node_names
from assay.site.inventory.own_format import ENTRY_FIELDS, INVENTORY_HINT, read_described

MAX_BYTES, MAX_JSON_BYTES = 1 << 20, 32 << 20
"""Largest inventory that is read; those in JSON have all attributes of each machine."""


_TABLES = (".csv", ".tsv", ".xls", ".xlsx", ".ods")
_OUTPUT_TEXT = re.compile(r"^\w+ = (\[|\{|\"|to(list|map|set)\()", re.M)
"""A line of the text of `terraform output`."""


def resolve_hosts(
    written: object, base: Path, report: ReportLine = lambda _: None, naming: FileOrigin = TYPED_BY_USER
) -> tuple[Host, ...]:
    """Return the named hosts, in the order they are written.

    Args:
        written: `localhost`, a node set such as `client[1-8]` or `bench@client[1-8]:2222`, a list of such, or a mapping
            `{inventory: FILE, hosts: node set or list}`. Without `hosts` it means all hosts of the file; `hosts` may
            name groups of the file as `@NAME`.
        base: Folder that a relative FILE starts from.
        report: Called with a line about what was ignored.
        naming: Whether messages may quote FILE: see `assay.model.quoting`.

    Raises:
        AssayError: The form is wrong, a group is unknown, no host is named, a host is named twice, or there are more
            than `MAX_HOSTS`.
    """
    if isinstance(written, Mapping):
        return _from_inventory(written, base, report, naming)
    return tuple(login_hosts(written))


def known_hosts(path: Path, naming: FileOrigin = TYPED_BY_USER) -> tuple[Host, ...]:
    """Return all hosts that an inventory describes; several of them may be one machine.

    Args:
        path: The file.
        naming: See `resolve_hosts`.

    Raises:
        AssayError: The file cannot be read.
    """
    return tuple(inventory_file(path, naming).hosts.values())


def portable_inventory(
    path: Path, naming: FileOrigin = TYPED_BY_USER, tool: str = "", user: str | None = None
) -> bytes:
    """Return an inventory that can be read from any folder: relative paths of keys are made absolute.

    An inventory of another program is converted to Assay's format.

    Args:
        path: The file.
        naming: See `resolve_hosts`.
        tool: See `read_inventory`.
        user: See `read_inventory`.

    Raises:
        AssayError: The file cannot be read, or is not an inventory.
    """
    data = read_data(path, tool)
    with _unquoted(path, naming, data):
        converted = converted_inventory(data, path, tool, user)
        if converted is not None:
            return converted
    document = _source(data).data
    hosts = document.get("hosts") if isinstance(document, dict) else None
    entries = [about for about in hosts.values() if isinstance(about, dict)] if isinstance(hosts, dict) else []
    relative = [about for about in entries if isinstance(key := about.get("identity"), str) and key[:1] not in "/~"]
    for about in relative:
        about["identity"] = str(path.parent.absolute() / about["identity"])
    # `safe_dump` accepts plain floats only.
    return yaml.safe_dump(_plain(document), sort_keys=False).encode() if relative else data


def converted_inventory(data: bytes, path: Path, tool: str = "", user: str | None = None) -> bytes | None:
    """Return an inventory of another program in Assay's format; None if it is in Assay's format, or plain lines.

    Arguments and errors as in `read_inventory`.
    """
    read_inventory(data, path, tool=tool, user=user)
    text = data.decode("utf-8-sig")
    source = _source(data) if _is_yaml(path, text) else None
    foreign = _foreign(path, text, source, lambda _: None, tool, user)
    if foreign is None:
        return None
    return inventory_text(foreign.hosts(path.absolute()))


def inventory_text(inventory: HostInventory) -> bytes:
    """Return an inventory in Assay's format; paths of keys are as they are."""
    about = {
        host.name: {
            key: value for key in ENTRY_FIELDS if (value := getattr(host, key)) is not None and value != host.name
        }
        for host in inventory.hosts.values()
    }
    document: dict[str, Any] = {"hosts": about}
    if inventory.groups:
        document["groups"] = dict(inventory.groups)
    if inventory.clients is not None:
        document["clients"] = list(inventory.clients)
    return yaml.safe_dump(_plain(document), sort_keys=False).encode()


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return float(data) if isinstance(data, float) else data


def _unquoted(path: Path, naming: FileOrigin, data: bytes) -> contextlib.AbstractContextManager[None]:
    see = f"assay preflight --inventory {path} --servers HOST"
    return hide_content(path, "an inventory", see, naming, path, data)


def read_data(path: Path, tool: str = "") -> bytes:
    """Return the content of an inventory, perhaps of a tool.

    Raises:
        AssayError: It cannot be read.
    """
    hint = LIST_HINT if tool == ANSIBLE else INVENTORY_HINT
    return read_user_file(path, f"cannot read the inventory {path}", hint, MAX_JSON_BYTES)


def _source(data: bytes) -> YamlSource:
    # Each host has its own entry, so that more entries than hosts allowed are refused before they are expanded.
    return read_source(without_tags(data), "inventory", MAX_BYTES, MAX_HOSTS)


def _from_inventory(written: Mapping[Any, Any], base: Path, report: ReportLine, naming: FileOrigin) -> tuple[Host, ...]:
    unknown = [str(key) for key in written if key not in ("inventory", "hosts")]
    if unknown or not isinstance(written.get("inventory"), str) or not written["inventory"]:
        fault = f"`{unknown[0]}` is not a valid key there" if unknown else "no inventory is named"
        raise AssayError(f"{fault}", "write hosts: {inventory: FILE}, or with hosts: [node sets, @groups]").at("hosts")
    path = base / written["inventory"]
    return chosen_hosts(inventory_file(path, naming, report), written.get("hosts"), path)


def chosen_hosts(inventory: HostInventory, chosen: object, name: object) -> tuple[Host, ...]:
    """Return the hosts of an inventory that a study names.

    Args:
        inventory: The inventory.
        chosen: Node sets and groups; None for those that generate the load in any case.
        name: Name of the inventory, for messages.

    Raises:
        AssayError: One is not in it, or none is named and it is unknown which generate the load.
    """
    known = inventory.hosts
    if chosen is None and inventory.clients == []:
        groups = ", ".join(f"@{group}" for group in list(inventory.groups)[:8])
        hint = f"name them: hosts: {{..., hosts: NODES}}{f', or a group: {groups}' if groups else ''}"
        raise AssayError(f"which hosts of {name} generate the load is unknown", hint).at("hosts")
    names = list(inventory.clients or known) if chosen is None else node_names(chosen, inventory.groups)
    hosts = [known.get(host) or _not_listed(host, known, name) for host in names]
    _refuse_same_address(hosts)
    return tuple(hosts)


def _not_listed(name: str, known: Mapping[str, Host], path: object) -> Host:
    if name == LOCALHOST:
        return THIS_HOST
    raise AssayError(f"{name} is not in {path}", choices_hint(name, list(known)[:20])).at("hosts")


def inventory_file(
    path: Path,
    naming: FileOrigin = TYPED_BY_USER,
    report: ReportLine = lambda _: None,
    tool: str = "",
    user: str | None = None,
) -> HostInventory:
    """Return what a file says of hosts.

    Args:
        path: The file.
        naming: See `resolve_hosts`.
        report: See `resolve_hosts`.
        tool: See `read_inventory`.
        user: See `read_inventory`.

    Raises:
        AssayError: It cannot be read, or is not an inventory.
    """
    data = read_data(path, tool)
    with _unquoted(path, naming, data):
        return read_inventory(data, path, report, tool, user)


def read_inventory(
    data: bytes, path: Path, report: ReportLine = lambda _: None, tool: str = "", user: str | None = None
) -> HostInventory:
    """Return the hosts and groups of an inventory, whose form is known by its content.

    Args:
        data: Its content.
        path: Path of the file, or name of what was read; messages begin with it.
        report: Called with a line about what was ignored.
        tool: Word of the tool that wrote it; empty for any form.
        user: User to log in as where the tool is not Ansible, whatever the content says.

    Raises:
        AssayError: It is not an inventory, or one of another tool.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"not a text file: byte 0x{data[error.start]:02x} is not UTF-8"
        raise LineError(path, line, message, "save it as UTF-8 text") from None
    try:
        source = _source(data) if _is_yaml(path, text) else None
        if source is not None and source.problems:
            first = source.problems[0]
            raise LineError(path, first.line, first.message, first.hint)
        foreign = _foreign(path, text, source, report, tool, user)
        if foreign is not None:
            return foreign.hosts(path)
        if source is not None:
            return read_described(path, source)
        if len(data) > MAX_BYTES:
            raise AssayError(f"larger than {MAX_BYTES >> 20} MiB, the limit for such files", INVENTORY_HINT)
        if path.suffix.lower() in _TABLES:
            raise AssayError("is a table", "write a plain file, with a line `ADDRESS NAME` or `NAME` for each host")
        hosts = read_lines(path, text, report)
        return HostInventory(hosts, {}, own_networks(hosts, report))
    except LineError:
        raise
    except AssayError as error:
        raise AssayError(f"{path}: {error.what}", error.hint, error.exit_code) from None


def _is_yaml(path: Path, text: str) -> bool:
    return (
        path.suffix in (".yaml", ".yml")
        or re.search(r"^(hosts|groups|all)\s*:\s*$|^(hosts|groups)\s*:|\A\s*{\s*\"hosts\"\s*:\s*{", text, re.M)
        is not None
    )


def _foreign(
    path: Path, text: str, source: YamlSource | None, report: ReportLine, tool: str = "", user: str | None = None
) -> ForeignInventory | None:
    """Return what an inventory of another program describes; None if the format is Assay's own, or plain lines."""
    document = parse_json(text) if source is None else None
    if document is not None:
        if tool and tool_of(document) != tool:
            raise AssayError(f"is no JSON of {tool}", FORMS_HINT)
        return read_document(document, path, report, user)
    if _OUTPUT_TEXT.search(text) is not None:
        raise AssayError("is what `terraform output` prints as text", "store what `terraform output -json` prints")
    if tool not in ("", ANSIBLE):
        raise AssayError(f"is no JSON of {tool}", FORMS_HINT)
    if source is not None and (tool or ansible.is_yaml(source.data)):
        if not ansible.is_yaml(source.data):
            raise AssayError("is no inventory of Ansible with hosts in it", LIST_HINT)
        return ansible.read_yaml(source, path, report)
    if source is None and tool and text.startswith("#!"):
        raise AssayError("is a program, which is not started", LIST_HINT)
    if source is None and (tool or ansible.is_ini(text)):
        return ansible.read_ini(text, path, report)
    return sshconfig.read_ssh_config(text, str(path), report) if sshconfig.is_ssh_config(text) else None


def _refuse_same_address(hosts: Iterable[Host]) -> None:
    names: dict[tuple[str, int | None, str | None], str] = {}
    for host in hosts:
        place = host.address.lower(), host.port, host.jump
        if place in names:
            raise AssayError(
                f"hosts: {names[place]} and {host.name} have the same address {host.address}", "name each host once"
            )
        names[place] = host.name
