"""Hosts of an ssh configuration file: their addresses, and how to log in."""

import re
from pathlib import Path
from typing import Any

from assay.model.base import AssayError, LineError
from assay.model.site.host import LOCALHOST
from assay.site.inventory.foreign import ForeignInventory, ReportLine
from assay.site.inventory.jumps import JUMP_WORDS, jump_of

_FIELDS = {"hostname": "address", "user": "user", "port": "port", "identityfile": "identity"}
_LOGIN = re.compile(r"(?:(?P<user>[^@]+)@)?(?P<host>[^@:\[\]/]+)(?::(?P<port>\d+))?")
_LINE = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*?)\s*")
_HEAD = re.compile(
    r"^[ \t]*host(?:[ \t]*=|[ \t])[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*"
    r"[ \t]*(?:hostname|user|port|identityfile|proxyjump|proxycommand|forwardagent|stricthostkeychecking|host)[ \t=]",
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
        AssayError: The file has a `Match` block or a `ProxyCommand`, which only ssh can evaluate.
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
        elif word in _FIELDS or word in JUMP_WORDS:
            blocks[-1][1].setdefault(_FIELDS.get(word, word), value)
        else:
            others[match[1]] = None
    if found.lines.pop(LOCALHOST, None):
        report(f"note: {name}: {LOCALHOST} is ignored: it is this machine, or a port of it that leads elsewhere")
    for alias, number in found.lines.items():
        try:
            found.fields[alias] = _fields(alias, blocks)
        except AssayError as error:
            raise LineError(name, number, f"{alias}: {error.what}", error.hint) from None
    if Path(name) != Path("~/.ssh/config").expanduser():
        for fields in found.fields.values():
            if "jump" in fields:
                fields["jump"] = _resolved_jump(fields["jump"], blocks)
    if others:
        report(f"note: {name}: {', '.join(list(others)[:8])}: ignored here; ssh's own configuration applies")
    return found


def _fields(alias: str, blocks: list[tuple[list[str], dict[str, str]]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for patterns, block in blocks:
        if any(_matches(alias, one) for one in patterns) and not any(
            one[:1] == "!" and _matches(alias, one[1:]) for one in patterns
        ):
            for key, value in block.items():
                fields.setdefault(key, value)
    jump = jump_of({word: fields.pop(word) for word in JUMP_WORDS if word in fields})
    # `Host *` may send the jump host through itself.
    if jump is not None and jump != alias:
        fields["jump"] = jump
    if "port" in fields and str(fields["port"]).isdigit():
        fields["port"] = int(str(fields["port"]))
    if "address" in fields:
        fields["address"] = str(fields["address"]).replace("%h", alias)
    return fields


def _resolved_jump(jump: str, blocks: list[tuple[list[str], dict[str, str]]], inner: tuple[str, ...] = ()) -> str:
    """Return jump hosts with what the file says of them: ssh looks them up in the user's own configuration only."""
    found: list[str] = []
    for part in jump.split(","):
        match = _LOGIN.fullmatch(part)
        if match is None:
            found.append(part)
            continue
        about = _fields(match["host"], blocks)
        outer = about.get("jump")
        if outer and not found and outer not in inner:
            # The first one may be reached through others itself.
            found.append(_resolved_jump(outer, blocks, (*inner, jump, outer)))
        user, port = match["user"] or about.get("user"), match["port"] or about.get("port")
        address = str(about.get("address", match["host"]))
        place = f"[{address}]" if ":" in address else address
        found.append(f"{f'{user}@' if user else ''}{place}{f':{port}' if port else ''}")
    return ",".join(found)


def _matches(alias: str, pattern: str) -> bool:
    """Return whether an alias matches an ssh pattern: `*` is any text, `?` one character."""
    plain = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(plain, alias) is not None
