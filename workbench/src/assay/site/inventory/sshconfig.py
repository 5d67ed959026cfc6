"""Hosts of an ssh configuration file: their addresses, and how to log in."""

import re

from assay.model.base import LineError
from assay.site.inventory.foreign import ForeignInventory, ReportLine

_FIELDS = {"hostname": "address", "user": "user", "port": "port", "proxyjump": "jump", "identityfile": "identity"}
_LINE = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*?)\s*")
_HEAD = re.compile(
    r"^[ \t]*host(?:[ \t]*=|[ \t])[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*"
    r"[ \t]*(?:hostname|user|port|identityfile|proxyjump|forwardagent|stricthostkeychecking|host)[ \t=]",
    re.I | re.M,
)


def is_ssh_config(text: str) -> bool:
    """Return whether a text looks like an ssh configuration: a `Host` line followed by an ssh keyword."""
    return _HEAD.search(text) is not None


def read_ssh_config(text: str, name: str, report: ReportLine) -> ForeignInventory:
    """Return the hosts that the file names. For each field the first matching block counts; patterns name no hosts.

    Args:
        text: Text of the file.
        name: Name of the file, for messages.
        report: Called with a line about what was ignored.

    Raises:
        AssayError: The file has a `Match` block, which only ssh can evaluate.
    """
    found, blocks = ForeignInventory(), list[tuple[list[str], dict[str, str]]]()
    blocks.append((["*"], {}))
    others: dict[str, None] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(raw)
        if not match or raw.lstrip().startswith("#"):
            continue
        word, value = match[1].lower(), match[2].strip('"')
        if word == "match":
            message = "only ssh can evaluate `Match`"
            raise LineError(name, number, message, "name the hosts in the study: ssh reads its own configuration")
        if word == "host":
            blocks.append((value.split(), {}))
            for alias in value.split():
                if not set(alias) & set("*?!"):
                    found.lines.setdefault(alias, number)
        elif word in _FIELDS:
            blocks[-1][1].setdefault(_FIELDS[word], value)
        else:
            others[match[1]] = None
    for alias in found.lines:
        found.fields[alias] = _fields(alias, blocks)
    if others:
        report(f"note: {name}: {', '.join(list(others)[:8])}: ignored here; ssh's own configuration applies")
    return found


def _fields(alias: str, blocks: list[tuple[list[str], dict[str, str]]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for patterns, block in blocks:
        if any(_matches(alias, one) for one in patterns) and not any(
            one[:1] == "!" and _matches(alias, one[1:]) for one in patterns
        ):
            for key, value in block.items():
                fields.setdefault(key, value)
    if fields.get("jump") == "none":
        del fields["jump"]
    if "port" in fields and str(fields["port"]).isdigit():
        fields["port"] = int(str(fields["port"]))
    if "address" in fields:
        fields["address"] = str(fields["address"]).replace("%h", alias)
    return fields


def _matches(alias: str, pattern: str) -> bool:
    """Return whether an alias matches an ssh pattern: `*` is any text, `?` one character."""
    plain = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(plain, alias) is not None
