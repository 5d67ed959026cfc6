"""Jump hosts in options of ssh: `-J`, `ProxyJump`, and a `ProxyCommand` that is itself an ssh."""

import getopt
import re
import shlex
from collections.abc import Sequence
from pathlib import PurePath

from assay.model.base import AssayError

JUMP_WORDS = ("proxyjump", "proxycommand")
_LETTERS = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:"
"""Options of ssh(1), with a colon where a value follows."""
_LONG = {"-J": "proxyjump", "-l": "user", "-p": "port"}
_NETCAT = re.compile(r"(\S*/)?(nc|ncat|netcat)\s(.*\s)?%h[\s:]%p")
_FORWARD = re.compile(r"(%h|\[%h\]):%p")
_HINT = "write ProxyJump, or name the hosts in the study: ssh reads its own configuration"


def jump_of_arguments(arguments: str) -> str | None:
    """Return the jump hosts that arguments of ssh name, as `ssh -J` takes them; None without any.

    Raises:
        AssayError: The arguments cannot be read, or only ssh knows what a file or a `ProxyCommand` there means.
    """
    try:
        settings, _ = _settings(shlex.split(arguments))
    except (ValueError, getopt.GetoptError) as error:
        raise AssayError(
            f"arguments of ssh cannot be read: {str(error).lower()}", "quote them as for a shell"
        ) from None
    if "-F" in settings:
        raise AssayError(f"only ssh can use {settings['-F']}", "name that configuration of ssh as the file with hosts")
    return jump_of(settings)


def jump_of(settings: dict[str, str]) -> str | None:
    """Return the jump hosts of ssh's settings `proxyjump` and `proxycommand`; the first of both counts (ssh_config(5)).

    Raises:
        AssayError: Only ssh can run the `ProxyCommand`.
    """
    word = next((word for word in settings if word in JUMP_WORDS), "")
    command = settings.get(word, "none").strip()
    if word == "proxyjump" or command.lower() in ("", "none"):
        return command if command.lower() not in ("", "none") else None
    try:
        program, *words = shlex.split(command)
        nearer, rest = _settings(words)
        more, remote = _settings(rest[1:])
    except (ValueError, getopt.GetoptError):
        raise _unknown(command) from None
    inner = {**more, **nearer}
    forwards = _FORWARD.fullmatch(inner.get("-W", "")) and not remote
    if PurePath(program).name != "ssh" or not rest or not (forwards or _NETCAT.fullmatch(" ".join(remote))):
        raise _unknown(command)
    gate = rest[0].removeprefix("ssh://")
    user, port, outer = inner.get("user"), inner.get("port"), jump_of(inner)
    login = f"{f'{user}@' if user and '@' not in gate else ''}{gate}{f':{port}' if port else ''}"
    return f"{outer},{login}" if outer else login


def _settings(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return settings in words of a command line of ssh, the first value of each, and the words from the host on."""
    options, rest = getopt.getopt(list(words), _LETTERS)
    found: dict[str, str] = {}
    for option, value in options:
        if option == "-o":
            word, _, value = re.sub(r"\s*=\s*|\s+", " ", value.strip(), count=1).partition(" ")
            option = word.lower()
        found.setdefault(_LONG.get(option, option), value)
    return found, rest


def _unknown(command: str) -> AssayError:
    return AssayError(f"only ssh can run the ProxyCommand {command.split()[0]}", _HINT)
