"""From what a study or a command line says to hosts: node sets, lists of them, inventories."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from assay.model.base import AssayError
from assay.model.named import read_named
from assay.model.site.host import LOCALHOST, MOST_HOSTS, THIS_HOST, Host, is_host_name
from assay.model.site.nodes import OPERATIONS, TooManyNodesError, read_nodes
from assay.model.source import Source, read_source
from assay.model.units import UnitError, one_of, parse_throughput
from assay.model.units import shown as shown_as_written

MOST_BYTES = 1 << 20
"""Size of an inventory above which it is no inventory."""
MOST_MEMBERS = 16 * MOST_HOSTS
"""Of all groups of an inventory, and of all groups that one node set names; each may be named in many."""
ENTRY_FIELDS = ("address", "user", "port", "jump", "identity", "link")
NODE_SET_HINT = "write node sets as client1, client[1-8] or rack[1-2]n[01-04]"
INVENTORY_HINT = "an inventory has `hosts:` (node set -> address, user, ...) and perhaps `groups:` (name -> node set)"

_GROUP = re.compile(r"(?<![^\s,!&^])@([^\s,!&^]*)")
Groups = Mapping[str, str]
"""Name of a group -> node set."""
Tell = Callable[[str], None]


def resolve_hosts(written: object, base: Path, tell: Tell = lambda _: None) -> tuple[Host, ...]:
    """The hosts that are meant, in the order they are written.

    Args:
        written: `localhost`, a node set such as `client[1-8]`, a list of such, or a mapping
            `{inventory: FILE, hosts: node set or list}` whose `hosts` may be left out for all hosts of the file, and
            may name the file's groups as `@NAME`.
        base: Folder at which a relative FILE starts.
        tell: Called with a line on what was ignored.

    Raises:
        AssayError: Not of that form, an unknown group, no host, a host named twice, more than `MOST_HOSTS`.
    """
    if isinstance(written, Mapping):
        return _from_inventory(written, base, tell)
    return tuple(THIS_HOST if name == LOCALHOST else Host(name=name) for name in node_names(written))


def node_names(written: object, groups: Groups | None = None) -> list[str]:
    """The names in a node set or a list of node sets.

    Args:
        written: Text, or a list of texts.
        groups: What `@NAME` stands for.

    Raises:
        AssayError: As `resolve_hosts`.
    """
    items = written if isinstance(written, list | tuple) else [written]
    names: list[str] = []
    for item in items:
        names += _expanded(item, groups or {})
        if len(names) > MOST_HOSTS:
            raise _too_many(shown(written))
    if not names:
        raise AssayError(f"hosts: {shown(written)} names no host", NODE_SET_HINT)
    _refuse_twice(names)
    return names


def read_hostfile(path: Path) -> tuple[Host, ...]:
    """Hosts of an inventory, in YAML or as plain text with a node set on each line.

    Raises:
        AssayError: It cannot be read, or as `resolve_hosts`.
    """
    return resolve_hosts({"inventory": str(path)}, Path.cwd())


def known_hosts(path: Path) -> tuple[Host, ...]:
    """All hosts that an inventory describes; several of them may be one machine.

    Raises:
        AssayError: It cannot be read.
    """
    return tuple(_read_inventory(path, lambda _: None)[0].values())


def portable_inventory(path: Path) -> bytes:
    """An inventory as it can be read from another folder: relative paths of keys are made absolute.

    Args:
        path: The file; if it is no inventory it is returned as it is, and refused where it is read.

    Raises:
        AssayError: It cannot be read.
    """
    data = _read_file(path)
    document = _source(data).data
    hosts = document.get("hosts") if isinstance(document, dict) else None
    entries = [about for about in hosts.values() if isinstance(about, dict)] if isinstance(hosts, dict) else []
    relative = [about for about in entries if isinstance(key := about.get("identity"), str) and key[:1] not in "/~"]
    for about in relative:
        about["identity"] = str(path.parent.absolute() / about["identity"])
    # `safe_dump` knows plain floats only.
    return yaml.safe_dump(_plain(document), sort_keys=False).encode() if relative else data


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return float(data) if isinstance(data, float) else data


def _read_file(path: Path) -> bytes:
    return read_named(path, f"cannot read the inventory {path}", INVENTORY_HINT, MOST_BYTES)


def _source(data: bytes) -> Source:
    # A host has an entry of its own: more of them than hosts are too many, which is seen before they are expanded.
    return read_source(data, "inventory", MOST_BYTES, MOST_HOSTS)


def _from_inventory(written: Mapping[Any, Any], base: Path, tell: Tell) -> tuple[Host, ...]:
    unknown = [str(key) for key in written if key not in ("inventory", "hosts")]
    if unknown or not isinstance(written.get("inventory"), str) or not written["inventory"]:
        fault = f"`{unknown[0]}` is not known there" if unknown else "no inventory is named"
        raise AssayError(f"hosts: {fault}", "write hosts: {inventory: FILE}, or with hosts: [node sets, @groups]")
    path = base / written["inventory"]
    known, groups = _read_inventory(path, tell)
    chosen = written.get("hosts")
    if chosen is None:
        hosts = list(known.values())
    else:
        hosts = [known.get(name) or _stranger(name, known, path) for name in node_names(chosen, groups)]
    _refuse_same_address(hosts)
    return tuple(hosts)


def _stranger(name: str, known: Mapping[str, Host], path: Path) -> Host:
    if name == LOCALHOST:
        return THIS_HOST
    raise AssayError(f"hosts: {name} is not in {path}", one_of(name, list(known)[:20]))


def _read_inventory(path: Path, tell: Tell) -> tuple[dict[str, Host], Groups]:
    data = _read_file(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"{path}:{line}: not a text file: byte 0x{data[error.start]:02x} is not UTF-8"
        raise AssayError(message, "save it as UTF-8 text") from None
    try:
        if path.suffix in (".yaml", ".yml") or re.search(r"^(hosts|groups)\s*:", text, re.MULTILINE):
            return _read_yaml(path, data)
        return _read_plain(path, text, tell), {}
    except AssayError as error:
        message = _bare(error)
        prefix = "" if message.startswith(str(path)) else f"{path}: "
        raise AssayError(prefix + message, error.hint, error.exit_code) from None


def _read_plain(path: Path, text: str, tell: Tell) -> dict[str, Host]:
    """One node set a line, as in an MPI hostfile, whose `slots=8` is of no use here."""
    names: list[str] = []
    ignored = 0
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        rest = [word for word in words[1:] if not re.fullmatch(r"(max[-_])?slots=\d+", word)]
        if rest:
            raise AssayError(f"{path}:{number}: `{rest[0]}` after the node set", "write one node set on each line")
        ignored += len(words) > 1
        try:
            names += node_names(words[0])
        except AssayError as error:
            raise AssayError(f"{path}:{number}: {_bare(error)}", error.hint) from None
        if len(names) > MOST_HOSTS:
            raise _too_many(f"{path}:{number}: all up to here")
    if ignored:
        tell(f"note: {path}: slots are ignored; `lanes` in the study says how much each host does")
    if not names:
        raise AssayError(f"{path}: names no host", NODE_SET_HINT)
    _refuse_twice(names)
    return {name: THIS_HOST if name == LOCALHOST else Host(name=name) for name in names}


def _read_yaml(path: Path, data: bytes) -> tuple[dict[str, Host], Groups]:
    source = _source(data)
    if source.problems:
        first = source.problems[0]
        raise AssayError(f"{path}:{first.line}: {first.message}", first.hint)
    document = source.data
    if not isinstance(document, dict) or not isinstance(document.get("hosts"), dict):
        raise AssayError(f"{path}: has no `hosts:` with node sets in it", INVENTORY_HINT)
    for key in document:
        if key not in ("hosts", "groups"):
            raise AssayError(f"{path}: `{key}` is not known there", INVENTORY_HINT)
    hosts = _read_hosts(path, source)
    return hosts, _read_groups(document.get("groups"), source, path, hosts)


def _read_hosts(path: Path, source: Source) -> dict[str, Host]:
    hosts: dict[str, Host] = {}
    for nodes, about in source.data["hosts"].items():
        try:
            names = node_names(nodes)
            if len(hosts) + len(names) > MOST_HOSTS:
                raise _too_many("what is named up to here")
            again = next((name for name in names if name in hosts), None)
            if again is not None:
                raise _twice(again)
            hosts |= {name: _entry(name, about, many=len(names) > 1, base=path.parent) for name in names}
        except AssayError as error:
            raise AssayError(f"{path}:{source.key_place(('hosts', nodes))[0]}: {_bare(error)}", error.hint) from None
    if not hosts:
        raise AssayError(f"{path}: names no host", INVENTORY_HINT)
    return hosts


def _read_groups(written: object, source: Source, path: Path, hosts: Mapping[str, Host]) -> Groups:
    """Groups of an inventory; each may use those before it.

    A group must be a part of the hosts: one that names others is most often a slip.
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
            if members > MOST_MEMBERS:
                raise AssayError(f"the groups have more than {MOST_MEMBERS:,} members in all", "remove some groups")
        except AssayError as error:
            raise AssayError(f"{path}:{source.key_place(('groups', name))[0]}: {_bare(error)}", error.hint) from None
    return groups


def _members(name: str, nodes: object, groups: Groups, hosts: Mapping[str, Host]) -> list[str]:
    if not is_host_name(name):
        raise AssayError(f"{shown(name)} is not a name of a group", "use letters, digits, `.`, `_` and `-`")
    members = node_names(nodes, groups)
    for member in members:
        if member not in hosts and member != LOCALHOST:
            raise AssayError(f"group {name}: {member} is none of the hosts", "name it below `hosts:`, too")
    return members


def _bare(error: AssayError) -> str:
    """The message without the word that other messages on hosts begin with."""
    return error.message.removeprefix("hosts: ")


def _entry(name: str, about: object, many: bool, base: Path) -> Host:
    """A host of a YAML inventory."""
    if about is None:
        about = {}
    if not isinstance(about, dict):
        raise AssayError(f"{name}: {shown(about)} is not a mapping", f"fields are {', '.join(ENTRY_FIELDS)}")
    for key in about:
        if key not in ENTRY_FIELDS:
            raise AssayError(f"{name}: there is no field `{key}`", one_of(key, ENTRY_FIELDS))
    if many and "address" in about:
        raise AssayError(f"{name} and others have the same address", "give each host its own address")
    fields = dict(about)
    if isinstance(fields.get("identity"), str):
        fields["identity"] = str(base / Path(fields["identity"]).expanduser())
    try:
        if "link" in fields:
            fields["link"] = parse_throughput(fields["link"])
        if name == LOCALHOST:
            return Host(name=name, kind="local", link=fields.get("link"))
        return Host(name=name, **fields)
    except UnitError as error:
        raise AssayError(f"{name}: link: {error.message}", error.hint) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise AssayError(f"{name}: {place}: {first['msg'].removeprefix('Value error, ')}") from None


def _expanded(written: object, groups: Groups) -> list[str]:
    """The names in one node set, each once, in its order."""
    if not isinstance(written, str):
        raise AssayError(f"hosts: {shown(written)} is not a node set", NODE_SET_HINT)
    written = " ".join(written.split())
    if not written:
        raise AssayError("hosts: the node set is empty", NODE_SET_HINT)
    if not written.isprintable():
        raise AssayError(f"hosts: {written!a} has unprintable characters", NODE_SET_HINT)
    if written == LOCALHOST:
        return [LOCALHOST]
    _refuse_unknown_groups(written, groups)
    named = sum(groups[name].count(" ") + 1 for name in re.findall(_GROUP, written))
    if named > MOST_MEMBERS:
        raise _too_many(shown(written))
    try:
        names = read_nodes(written, MOST_HOSTS, {name: groups[name].split() for name in re.findall(_GROUP, written)})
    except TooManyNodesError:
        raise _too_many(shown(written)) from None
    except ValueError as error:
        raise AssayError(f"hosts: {shown(written)} is not a node set: {error}", NODE_SET_HINT) from None
    if set(written) & set(f"{OPERATIONS}@"):
        names = list(dict.fromkeys(names))
    _refuse_twice(names)
    wrong = next((name for name in names if not is_host_name(name)), None)
    if wrong is not None:
        hint = "user, port and address of a host stand in an inventory, or in your ssh configuration"
        raise AssayError(f"hosts: {shown(wrong)} is not a host name", hint)
    return names


def _refuse_unknown_groups(text: str, groups: Groups) -> None:
    for name in re.findall(_GROUP, text):
        if name not in groups:
            hint = one_of(name, groups, none="groups stand in an inventory: hosts: {inventory: FILE}")
            raise AssayError(f"hosts: there is no group `@{name}`", hint)


def _refuse_twice(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _twice(name)
        seen.add(name)


def _twice(name: str) -> AssayError:
    return AssayError(f"hosts: {name} is named twice", "name each host once; `lanes` is how much one host does")


def _refuse_same_address(hosts: Iterable[Host]) -> None:
    seen: dict[tuple[str, int | None, str | None], str] = {}
    for host in hosts:
        place = host.address, host.port, host.jump
        if place in seen:
            raise AssayError(
                f"hosts: {seen[place]} and {host.name} have the same address {host.address}", "name each host once"
            )
        seen[place] = host.name


def shown(written: object) -> str:
    """What was written, short and on one line."""
    text = " ".join(shown_as_written(written).split())
    return text if text.isprintable() else ascii(text)


def _too_many(what: str) -> AssayError:
    return AssayError(f"hosts: {what} is more than {MOST_HOSTS} hosts", "use fewer hosts and more lanes")
