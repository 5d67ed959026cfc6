"""Ansible inventories in INI, YAML and JSON: hosts, groups, and variables that say how to log in.

Sources: docs.ansible.com: How to build your inventory; plugins ansible.builtin.ini and ansible.builtin.yaml; Developing
dynamic inventory, for what `ansible-inventory --list` and inventory scripts print.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.model.base import AssayError, LineError
from assay.model.site.host import LOCALHOST, MAX_HOSTS, is_host_name
from assay.model.site.login import ipv6_login
from assay.model.source import YamlSource
from assay.site.inventory.ansible_vars import LIST_HINT, config_variables, stored_variables
from assay.site.inventory.foreign import ForeignInventory, ReportLine
from assay.site.inventory.jumps import jump_of_arguments
from assay.site.inventory.names import MAX_MEMBERS, ipv6_name, node_names, shown, too_many_error

_FIELDS = {
    "ansible_host": "address",
    "ansible_ssh_host": "address",
    "ansible_user": "user",
    "ansible_ssh_user": "user",
    "ansible_port": "port",
    "ansible_ssh_port": "port",
    "ansible_private_key_file": "identity",
    "ansible_ssh_private_key_file": "identity",
}
"""Of two variables for one field Ansible takes the last (plugin ansible.builtin.ssh)."""
_SSH_CONNECTIONS = ("ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh")
_THIS_MACHINE = (LOCALHOST, "127.0.0.1")
_NOT_TAKEN = re.compile(r"ansible_(ssh_pass|password|ssh_common_args|ssh_extra_args|become\w*)")
_JUMP_ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
_SECTION = re.compile(r"\[([^\[\]:]+)(?::(vars|children|hosts))?\]")
_LIKE_INI = re.compile(r"^[ \t]*\[[A-Za-z_][^\[\]]*\][ \t]*(?:[#;].*)?$|^[^#;\n]*\sansible_\w+[ \t]*=", re.M)
_NUMBERS = re.compile(r"\[(\d+):(\d+)(?::(\d+))?\]")
_LETTERS = re.compile(r"\[([a-z]):([a-z])\]|\[([A-Z]):([A-Z])\]")
_PORT = re.compile(r"(.*[^:\]]|.*\]):(\d+)")
_MAX_DEPTH = 32


@dataclass
class _Group:
    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Tree:
    path: Path
    groups: dict[str, _Group] = field(default_factory=dict)
    variables: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def group(self, name: str) -> _Group:
        return self.groups.setdefault(name, _Group())

    def add(self, group: str, written: str, variables: dict[str, Any], line: int) -> None:
        """Add hosts such as `web[01:50].example.org:2222` to a group."""
        port = _PORT.fullmatch(_NUMBERS.sub("", written)) and _PORT.fullmatch(written)
        if (login := ipv6_login(written)) is not None:
            own = {"ansible_host": login.nodes, "ansible_port": login.number}
            names = [ipv6_name(login.nodes)]
        else:
            nodes, own = (port[1], {"ansible_port": port[2]}) if port else (written, {})
            names = [name for one in _expand_letters(nodes) for name in node_names(_NUMBERS.sub(_range, one))]
        variables = {**own, **variables}
        for name in names:
            self.group(group).hosts[name] = None
            self.variables.setdefault(name, {}).update(variables)
            self.lines.setdefault(name, line)
        if len(self.variables) > MAX_HOSTS:
            raise too_many_error("all up to here")


def is_ini(text: str) -> bool:
    """Return whether a text looks like an Ansible inventory: sections in brackets, or `ansible_*` behind hosts."""
    return _LIKE_INI.search(text) is not None


def is_yaml(document: object) -> bool:
    """Return whether a YAML document looks like an Ansible inventory: every key is a group."""
    known = {"hosts", "children", "vars"}
    return (
        isinstance(document, dict)
        and bool(document)
        and not isinstance(document.get("hosts"), dict)
        and any(document.values())
        and all(about is None or (isinstance(about, dict) and set(about) <= known) for about in document.values())
    )


def read_ini(text: str, path: Path, report: ReportLine) -> ForeignInventory:
    """Return the hosts and groups of an INI inventory.

    Raises:
        AssayError: A line cannot be read, or depends on values that only Ansible knows.
    """
    tree, group, kind = _Tree(path), "ungrouped", "hosts"
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        try:
            section = _SECTION.fullmatch(re.sub(r"\s+[#;].*", "", line))
            if section:
                group, kind = section[1].strip(), section[2] or "hosts"
                tree.group(group)
            elif kind == "children":
                tree.group(group).children[line.split()[0]] = None
            elif kind == "vars":
                name, _, value = line.partition("=")
                tree.group(group).variables[name.strip()] = _unquoted(value)
            else:
                name, *words = _split_words(line)
                tree.add(group, name, dict(map(_variable, words)), number)
        except AssayError as error:
            raise LineError(path, number, error.what, error.hint) from None
    return _resolve(_with_files(tree), report)


def read_yaml(source: YamlSource, path: Path, report: ReportLine) -> ForeignInventory:
    """Return the hosts and groups of a YAML inventory.

    Raises:
        AssayError: As `read_ini`.
    """
    tree = _Tree(path)
    for name, about in source.data.items():
        _read_group(tree, source, (name,), about)
    return _resolve(_with_files(tree), report)


def is_list(document: object) -> bool:
    """Return whether a JSON document is what `ansible-inventory --list` or an inventory script prints."""
    if not isinstance(document, dict) or not document:
        return False
    groups = [about for name, about in document.items() if name != "_meta"]
    known = {"hosts", "children", "vars"}
    return ("_meta" in document or bool(groups)) and all(
        (isinstance(about, dict) and set(about) <= known)
        or (isinstance(about, list) and all(isinstance(host, str) for host in about))
        for about in groups
    )


def read_list(document: Mapping[str, Any], path: Path, report: ReportLine) -> ForeignInventory:
    """Return the hosts and groups of what `ansible-inventory --list` prints, where each host has all its variables.

    Raises:
        AssayError: As `read_ini`, or a part has another form.
    """
    tree = _Tree(path)
    meta = document.get("_meta")
    hosts = meta.get("hostvars") if isinstance(meta, dict) else None
    variables = hosts if isinstance(hosts, dict) else {}
    for name, about in document.items():
        if name == "_meta":
            continue
        parts = about if isinstance(about, dict) else {"hosts": about}
        listed, children, shared = (parts.get(key) or () for key in ("hosts", "children", "vars"))
        if not isinstance(listed, list | tuple) or not isinstance(children, list | tuple):
            raise AssayError(f"hosts and children of group {name} are lists", "store it as `ansible-inventory --list`")
        tree.group(name).variables.update(shared if isinstance(shared, dict) else {})
        tree.group(name).children.update(dict.fromkeys(map(str, children)))
        for host in map(str, listed):
            own = variables.get(host)
            tree.add(name, host, own if isinstance(own, dict) else {}, 1)
    for host in map(str, variables):
        if host not in tree.variables:
            own = variables[host]
            tree.add("ungrouped", host, own if isinstance(own, dict) else {}, 1)
    return _resolve(tree, report)


def _read_group(tree: _Tree, source: YamlSource, place: tuple[str, ...], about: object) -> None:
    group = tree.group(place[-1])
    line = source.key_position(place)[0]
    parts = {} if about is None else about
    if not isinstance(parts, dict) or len(place) > 2 * _MAX_DEPTH:
        raise LineError(tree.path, line, f"group {place[-1]} is not a mapping", "it has hosts, children and vars")
    hosts, children, variables = (parts.get(key) or {} for key in ("hosts", "children", "vars"))
    if not (isinstance(hosts, dict) and isinstance(children, dict) and isinstance(variables, dict)):
        message = f"hosts, children and vars of group {place[-1]} are mappings"
        raise LineError(tree.path, line, message, "write `NAME:` for a host, with a colon")
    group.variables.update(variables)
    for name, host_variables in hosts.items():
        at = source.key_position((*place, "hosts", name))[0]
        try:
            tree.add(place[-1], str(name), host_variables if isinstance(host_variables, dict) else {}, at)
        except AssayError as error:
            raise LineError(tree.path, at, error.what, error.hint) from None
    for name, child in children.items():
        group.children[name] = None
        _read_group(tree, source, (*place, "children", name), child)


def _split_words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise AssayError(f"the line cannot be read: {str(error).lower()}", "quote it as for a shell") from None


def _variable(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise AssayError(f"{shown(word)} behind a host is no variable", "write NAME=VALUE, without blanks around `=`")
    return name, value


def _unquoted(value: str) -> str:
    plain = value.strip()
    return plain[1:-1] if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'" else plain


def _range(match: re.Match[str]) -> str:
    return f"[{match[1]}-{match[2]}/{match[3]}]" if match[3] else f"[{match[1]}-{match[2]}]"


def _expand_letters(text: str) -> list[str]:
    """Return the names in a text with ranges of letters, such as `db-[a:f]`."""
    match = _LETTERS.search(text)
    if match is None:
        return [text]
    first, last = (match[1] or match[3]), (match[2] or match[4])
    letters = [chr(code) for code in range(ord(first), ord(last) + 1)]
    return [one for letter in letters for one in _expand_letters(text[: match.start()] + letter + text[match.end() :])]


def _with_files(tree: _Tree) -> _Tree:
    """Return the tree with the variables in files next to the inventory, which override its own, and ansible.cfg."""
    for name, variables in stored_variables(tree.path, "group_vars", dict.fromkeys(("all", *tree.groups))).items():
        tree.group(name).variables.update(variables)
    for setting, value in config_variables(tree.path).items():
        tree.group("all").variables.setdefault(setting, value)
    for name, variables in stored_variables(tree.path, "host_vars", tree.variables).items():
        tree.variables[name].update(variables)
    return tree


def _resolve(tree: _Tree, report: ReportLine) -> ForeignInventory:
    """Return the hosts with their merged variables: a host overrides its groups, an inner group the outer ones."""
    members: dict[str, dict[str, None]] = {}
    depths: dict[str, int] = {}
    for name in list(tree.groups):
        _members(tree, name, members, depths, ())
    order = sorted(tree.groups, key=lambda name: (-depths[name], name))
    order.sort(key=lambda name: name != "all")
    found, ignored, others = ForeignInventory(lines=tree.lines), dict[str, None](), dict[str, str]()
    holding: dict[str, list[str]] = {name: ["all"] if "all" in tree.groups else [] for name in tree.variables}
    for name in order:
        for host in members[name] if name != "all" else ():
            holding[host].append(name)
    for host, own in tree.variables.items():
        merged: dict[str, Any] = {}
        for group in holding[host]:
            merged.update(tree.groups[group].variables)
        merged.update(own)
        connection = str(merged.get("ansible_connection", "ssh"))
        if connection not in _SSH_CONNECTIONS and not (connection == "local" and host in _THIS_MACHINE):
            others[host] = connection
            continue
        found.fields[host] = _fields(host, merged, tree.path, tree.lines[host]) if connection != "local" else {}
        taken = _JUMP_ARGUMENTS if "jump" in found.fields[host] else ()
        ignored |= dict.fromkeys(name for name in merged if _NOT_TAKEN.fullmatch(str(name)) and name not in taken)
    _leave_out(found, others, tree, report)
    if ignored:
        report(f"note: {tree.path}: {', '.join(list(ignored)[:8])}: ignored; ssh's own configuration and keys apply")
    named = (name for name in tree.groups if name != "ungrouped" and is_host_name(name))
    found.groups = {
        name: [host for host in (members[name] if name != "all" else tree.variables) if host in found.fields]
        for name in named
    }
    return found


def _leave_out(found: ForeignInventory, others: dict[str, str], tree: _Tree, report: ReportLine) -> None:
    """Report hosts that Ansible reaches by other means than ssh, and take no load from this machine among other hosts.

    Raises:
        AssayError: No host is reached by ssh.
    """
    reached = [host for host in found.fields if host not in _THIS_MACHINE]
    if others and not reached:
        host, connection = next(iter(others.items()))
        hint = "call it localhost if it is this machine" if connection == "local" else "Assay reaches hosts by ssh"
        raise LineError(tree.path, tree.lines[host], f"{host}: ansible_connection is {connection}", hint)
    if others:
        names = ", ".join(f"{host} ({connection})" for host, connection in list(others.items())[:8])
        names += f" and {len(others) - 8} more" if len(others) > 8 else ""
        report(f"note: {tree.path}: not reached by ssh, left out: {names}")
    if reached and len(reached) < len(found.fields):
        found.clients = reached
        report(f"note: {tree.path}: this machine generates no load unless the study names it")


def _members(
    tree: _Tree, name: str, members: dict[str, dict[str, None]], depths: dict[str, int], above: tuple[str, ...]
) -> dict[str, None]:
    """Return the hosts of a group and of all groups below it; `depths` gets how many levels are below it."""
    if name in members:
        return members[name]
    if name in above or len(above) > _MAX_DEPTH:
        raise AssayError(f"group {name} is below itself", "take one of the groups out of `children`")
    group = tree.group(name)
    found, depth = dict(group.hosts), 0
    for child in group.children:
        found |= _members(tree, child, members, depths, (*above, name))
        depth = max(depth, depths[child] + 1)
    members[name], depths[name] = found, depth
    if sum(map(len, members.values())) > MAX_MEMBERS:
        raise AssayError(f"{tree.path}: the groups have more than {MAX_MEMBERS:,} members in all", "remove some groups")
    return found


def _fields(host: str, variables: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    """Return the fields of a host that Assay takes from its Ansible variables.

    Raises:
        AssayError: Only Ansible knows a value.
    """
    fields: dict[str, Any] = {}
    for name, ours in _FIELDS.items():
        value = variables.get(name)
        if value is None or value == "":
            continue
        if "{{" in str(value):
            message = f"{host}: {name}: only Ansible can resolve {value}"
            raise LineError(path, line, message, f"write the value itself there, or: {LIST_HINT}")
        fields[ours] = int(value) if ours == "port" and str(value).isdigit() else str(value)
    arguments = " ".join(str(variables[name]) for name in _JUMP_ARGUMENTS if variables.get(name))
    try:
        jump = jump_of_arguments(arguments)
    except AssayError as error:
        raise LineError(path, line, f"{host}: {error.what}", error.hint) from None
    return fields if jump is None else {**fields, "jump": jump}
