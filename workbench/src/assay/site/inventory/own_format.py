"""Inventories in Assay's own YAML format: `hosts:` and optionally `groups:` and `clients:`."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from assay.model.base import AssayError, LineError
from assay.model.site.host import LOCALHOST, MAX_HOSTS, Host, is_host_name
from assay.model.source import YamlSource
from assay.model.units import UnitError, choices_hint, parse_throughput
from assay.site.inventory.names import (
    MAX_MEMBERS,
    Groups,
    HostInventory,
    duplicate_error,
    node_names,
    shown,
    too_many_error,
)

ENTRY_FIELDS = ("address", "user", "port", "jump", "identity", "link", "instance")
INVENTORY_HINT = "an inventory has `hosts:` (node set -> address, user, ...) and perhaps `groups:` (name -> node set)"


def read_described(path: Path, source: YamlSource) -> HostInventory:
    """Return the hosts and groups of an inventory, and which hosts generate the load if a study names none.

    Raises:
        AssayError: The file is not an inventory, or an entry is wrong.
    """
    document = source.data
    if not isinstance(document, dict) or not isinstance(document.get("hosts"), dict):
        raise AssayError("has no `hosts:` with node sets in it", INVENTORY_HINT)
    for key in document:
        if key not in ("hosts", "groups", "clients"):
            raise AssayError(f"`{key}` is not a valid key there", INVENTORY_HINT)
    hosts = _read_hosts(path, source)
    groups = _read_groups(document.get("groups"), source, path, hosts)
    if document.get("clients") in (None, []):
        return HostInventory(hosts, groups, document.get("clients"))
    try:
        return HostInventory(hosts, groups, _members("clients", document["clients"], groups, hosts))
    except AssayError as error:
        raise LineError(path, source.key_position(("clients",))[0], error.what, error.hint) from None


def _read_hosts(path: Path, source: YamlSource) -> dict[str, Host]:
    hosts: dict[str, Host] = {}
    for nodes, about in source.data["hosts"].items():
        try:
            names = node_names(nodes)
            if len(hosts) + len(names) > MAX_HOSTS:
                raise too_many_error("what is named up to here")
            repeated = next((name for name in names if name in hosts), None)
            if repeated is not None:
                raise duplicate_error(repeated)
            hosts |= {name: host_entry(name, about, many=len(names) > 1, base=path.parent) for name in names}
        except AssayError as error:
            raise LineError(path, source.key_position(("hosts", nodes))[0], error.what, error.hint) from None
    if not hosts:
        raise AssayError("names no host", INVENTORY_HINT)
    return hosts


def _read_groups(written: object, source: YamlSource, path: Path, hosts: Mapping[str, Host]) -> Groups:
    """Return the groups of an inventory; each may use those before it.

    Members of a group must be hosts of the inventory: any other name is most often a typing error.
    """
    if written is None:
        return {}
    if not isinstance(written, dict):
        raise AssayError("`groups` is not a mapping", INVENTORY_HINT)
    groups: dict[str, str] = {}
    members = 0
    for name, nodes in written.items():
        try:
            groups[name] = " ".join(_members(name, nodes, groups, hosts))
            members += groups[name].count(" ") + 1
            if members > MAX_MEMBERS:
                raise AssayError(f"the groups have more than {MAX_MEMBERS:,} members in all", "remove some groups")
        except AssayError as error:
            raise LineError(path, source.key_position(("groups", name))[0], error.what, error.hint) from None
    return groups


def _members(name: str, nodes: object, groups: Groups, hosts: Mapping[str, Host]) -> list[str]:
    if not is_host_name(name):
        raise AssayError(f"{shown(name)} is not a name of a group", "use letters, digits, `.`, `_` and `-`")
    members = node_names(nodes, groups)
    for member in members:
        if member not in hosts and member != LOCALHOST:
            raise AssayError(
                f"group {name}: {member} is not one of the hosts of the inventory", "name it below `hosts:`, too"
            )
    return members


PORT_HINT = "write a number from 1 to 65535"


def host_entry(name: str, about: object, many: bool, base: Path) -> Host:
    """Return a host of a YAML inventory.

    Args:
        name: Name of the host.
        about: Its fields as written; None for none.
        many: The entry describes several hosts, which cannot share an address.
        base: Folder that relative paths of keys start from.

    Raises:
        AssayError: A field is unknown or wrong.
    """
    if about is None:
        about = {}
    if not isinstance(about, dict):
        raise AssayError(f"{name}: {shown(about)} is not a mapping", f"fields are {', '.join(ENTRY_FIELDS)}")
    for key in about:
        if key not in ENTRY_FIELDS:
            raise AssayError(f"{name}: there is no field `{key}`", choices_hint(key, ENTRY_FIELDS))
    if many and "address" in about:
        raise AssayError(f"{name} and others have the same address", "give each host its own address")
    fields = dict(about)
    if isinstance(fields.get("identity"), str):
        fields["identity"] = str(base / Path(fields["identity"]).expanduser())
    try:
        if "link" in fields:
            fields["link"] = parse_throughput(fields["link"])
        if name == LOCALHOST:
            if elsewhere := {key for key in ("address", "port", "jump") if fields.get(key) not in (None, LOCALHOST)}:
                hint = "give a host that is reached through a port of this machine another name"
                raise AssayError(f"{name}: {min(elsewhere)}: {name} is this machine itself", hint)
            return Host(name=name, kind="local", link=fields.get("link"))
        return Host(name=name, **fields)
    except UnitError as error:
        raise AssayError(f"{name}: link: {error.message}", error.hint) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["loc"] == ("port",):
            raise AssayError(f"{name}: port: {shown(fields['port'])} is not a port", PORT_HINT) from None
        hint = f"docs/guides/hosts.md has the fields: {', '.join(ENTRY_FIELDS)}"
        raise AssayError(f"{name}: {place}: {first['msg'].removeprefix('Value error, ')}", hint) from None
