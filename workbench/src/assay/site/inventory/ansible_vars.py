"""What files next to an inventory of Ansible say of logins: ansible.cfg, group_vars/GROUP.yml and host_vars/HOST.yml.

Source: docs.ansible.com, How to build your inventory, "Organizing host and group variables".
"""

import configparser
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assay.model.base import AssayError
from assay.model.site.host import is_host_name
from assay.model.source import read_source
from assay.model.user_files import path_kind, read_user_file

LIST_HINT = (
    "name a file with what `ansible-inventory -i INVENTORY --list` prints: it knows scripts, plugins and group_vars"
)
_ENDINGS = ("", ".yml", ".yaml", ".json")
_MAX_BYTES = 1 << 20
_SETTINGS = (
    ("defaults", "remote_user", "ansible_user"),
    ("defaults", "remote_port", "ansible_port"),
    ("defaults", "private_key_file", "ansible_ssh_private_key_file"),
    ("ssh_connection", "ssh_args", "ansible_ssh_extra_args"),
    ("ssh_connection", "ssh_common_args", "ansible_ssh_common_args"),
)
"""Section and name of a setting in ansible.cfg, and the variable that overrides it."""
_ENCRYPTED = b"$ANSIBLE_VAULT"
_TAGS = re.compile(rb"(?<=[\s,{\[])!(?:vault(?:-encrypted)?|unsafe)(?=\s)")
"""Tags of YAML that only Ansible knows: of text that it decrypts, and of text without templates."""


def without_tags(data: bytes) -> bytes:
    """Return YAML without the tags that Ansible adds to it."""
    return _TAGS.sub(b"", data)


def stored_variables(inventory: Path, folder: str, names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the variables `ansible_*` of groups or hosts: name -> variables.

    Args:
        inventory: Path of the inventory.
        folder: `group_vars` or `host_vars`, in the folder of the inventory.
        names: The groups or hosts.

    Raises:
        AssayError: A file there cannot be read, or there is a folder of files whose names only Ansible looks up.
    """
    found: dict[str, Mapping[str, Any]] = {}
    if path_kind(inventory.parent / folder) != "folder":
        return found
    for name in filter(is_host_name, names):
        for ending in _ENDINGS:
            path, shown = inventory.parent / folder / f"{name}{ending}", f"{folder}/{name}{ending}"
            found_there = path_kind(path)
            if found_there == "folder":
                raise AssayError(f"the variables in the folder {shown} are not read", LIST_HINT)
            if found_there == "file":
                found[name] = {**found.get(name, {}), **_variables(path, shown)}
    return found


def config_variables(inventory: Path) -> dict[str, str]:
    """Return what ansible.cfg in the folder of an inventory, or in the one above it, says of logins, as variables.

    Raises:
        AssayError: The file cannot be read.
    """
    folders = (inventory.parent, inventory.parent.parent)
    path = next((one / "ansible.cfg" for one in folders if path_kind(one / "ansible.cfg") == "file"), None)
    if path is None:
        return {}
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_user_file(path, f"cannot read {path}", LIST_HINT, _MAX_BYTES).decode("utf-8-sig"))
    except (configparser.Error, UnicodeDecodeError):
        raise AssayError("ansible.cfg there cannot be read", LIST_HINT) from None
    found = {name: parser.get(section, key, fallback="").strip() for section, key, name in _SETTINGS}
    if (key := found["ansible_ssh_private_key_file"]) and not key.startswith("~"):
        found["ansible_ssh_private_key_file"] = str(path.parent.absolute() / key)
    return {name: value for name, value in found.items() if value}


def _variables(path: Path, shown: str) -> dict[str, Any]:
    data = read_user_file(path, f"cannot read {shown}", LIST_HINT, _MAX_BYTES)
    if data.startswith(_ENCRYPTED):
        raise AssayError(f"{shown} is encrypted", LIST_HINT)
    source = read_source(without_tags(data), "inventory", _MAX_BYTES)
    if source.problems or not isinstance(source.data, dict | None):
        raise AssayError(f"{shown} has no variables that can be read as YAML", LIST_HINT)
    return {str(name): value for name, value in (source.data or {}).items() if str(name).startswith("ansible_")}
