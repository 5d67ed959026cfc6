"""Puts files on other hosts, the engine above all: copied once for each content, checked by its hash each time."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.launch.binary import INSTALL_HINT, NAME, Engine
from assay.launch.launcher import Launcher, LocalLauncher, Process
from assay.launch.shell import CommandResult, Shell, make_shell
from assay.model.base import EXIT_INCOMPLETE, EXIT_REFUSED, AssayError
from assay.model.site.host import Host

COMMAND_SECONDS = 30.0
COPY_SECONDS = 300.0
PROGRAM_MODE, DATA_MODE = "755", "600"
UNUSABLE_FOLDER, WRONG_HASH, CANNOT_RUN, NO_HASH = 21, 22, 23, 24
"""Exit codes of the scripts below."""

_HASH = (
    'h() { { sha256sum "$1" || shasum -a 256 "$1" || openssl dgst -sha256 -r "$1"; } 2>/dev/null | '
    "{ read -r x y && echo $x; }; }; "
)
_SAFE = (
    'u=$(id -u); mode() { echo 0$(stat -L -c %a "$1"); }; '
    # Owned by root or this user, and writable by no one else, or sticky such as /tmp.
    'safe() { case $(stat -L -c %u "$1") in 0 | $u) ;; *) return 1 ;; esac; m=$(mode "$1"); '
    "[ $((m & 022)) -eq 0 ] || [ $((m & 01000)) -ne 0 ]; }; "
    'way() { w=$1; while safe "$w"; do if [ "$w" = / ]; then return 0; fi; w=$(dirname "$w"); done; return 1; }; '
    'own() { [ -d "$1" ] && [ -O "$1" ] && [ $(($(mode "$1") & 022)) -eq 0 ] && '
    '[ "$(cd "$1" && pwd -P)" = "$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")" ] && '
    'way "$1" && way "$(cd "$1" && pwd -P)"; }; '
)
"""For sh: `own` checks that a folder is no link, and that no other user can change it or a folder above it."""
_PLACES = 'for b in "${XDG_CACHE_HOME:-$HOME/.cache}/assay" "/var/tmp/assay-$(id -u)"; do f=$b/$1/$2; '
FIND_SCRIPT = (
    _HASH + _SAFE + 'echo "system=$(uname -sm)"; ' + _PLACES + 'echo "place=$b"; '
    'own "$b" && own "$b/$1" && [ -f "$f" ] && [ -O "$f" ] && echo "hash=$(h "$f")"; done; true'
)
"""For sh, with folder and name of a file; prints the system, the places where the folder may be, and the hash of a copy
in them."""
COPY_SCRIPT = (
    _HASH + _SAFE + "b=$1; d=$b/$2; f=$d/$3; t=$d/.copy.$$; umask 077; "
    f'no() {{ echo "$b: cannot be used, or can be changed by others" >&2; exit {UNUSABLE_FOLDER}; }}; '
    # Another user may have made a folder or a link of this name in /var/tmp.
    '[ -L "$b" ] || mkdir -p "$b" 2>/dev/null; own "$b" || no; '
    # Empty folders are removed, too.
    'trap \'rm -f "$t"; rmdir "$d" "$b" 2>/dev/null\' EXIT; '
    '[ -L "$d" ] || [ -d "$d" ] || mkdir "$d" 2>/dev/null; '
    '{ own "$d" && [ -w "$d" ]; } || no; '
    f'cat >"$t" || exit {UNUSABLE_FOLDER}; chmod "$5" "$t"; x=$(h "$t"); '
    f'[ -n "$x" ] || {{ echo "sha256sum: command not found" >&2; exit {NO_HASH}; }}; '
    f'[ "$x" = "$4" ] || {{ echo "the copy has the hash $x" >&2; exit {WRONG_HASH}; }}; '
    f'[ "$5" != {PROGRAM_MODE} ] || "$t" --version >/dev/null || exit {CANNOT_RUN}; mv -f "$t" "$f"'
)
"""For sh, with place, folder, name, hash, mode; the file on standard input. The copy appears whole, or not."""


def ensure_engine(shell: Shell, engine: Engine) -> str:
    """Return the engine's path on a host; it is copied there unless an identical copy exists.

    Hosts of kind `local` and `box` see this machine's file system, and use the engine where it is.

    Raises:
        AssayError: The host cannot be reached, has another architecture, no space, or cannot run the engine.
    """
    file = _CopiedFile("the engine", engine.path, engine.sha256, f"engine-{engine.sha256[:16]}", NAME, PROGRAM_MODE)
    return _ensure(shell, file)


def ensure_data(shell: Shell, path: Path, sha256: str, folder: str) -> str:
    """Return the path of a file of data on a host, as `ensure_engine` does of the engine.

    Args:
        shell: Shell of the host.
        path: The file on this machine.
        sha256: Its SHA-256 in hex.
        folder: Name of the folder that holds it there.
    """
    return _ensure(shell, _CopiedFile(str(path), path, sha256, folder, "data", DATA_MODE))


class _CopiedFile(NamedTuple):
    """A file of this machine, what it is, and the folder, name and mode of its copy on other hosts."""

    what: str
    path: Path
    sha256: str
    folder: str
    name: str
    mode: str


def _ensure(shell: Shell, file: _CopiedFile) -> str:
    host = shell.host
    if host.kind in ("local", "box"):
        return str(file.path)
    answer = shell.run(["sh", "-c", FIND_SCRIPT, "sh", file.folder, file.name], COMMAND_SECONDS)
    facts = [line.partition("=")[::2] for line in answer.out.splitlines()]
    system = next((value for key, value in facts if key == "system"), "")
    _check_system(host, system, answer)
    place, places = "", []
    for key, value in facts:
        if key == "place":
            place = value
            places.append(value)
        elif key == "hash" and value == file.sha256:
            path = f"{place}/{file.folder}/{file.name}"
            if file.mode == DATA_MODE or shell.run([path, "--version"], COMMAND_SECONDS).code == 0:
                return path
    return _copy(shell, file, places)


def _check_system(host: Host, system: str, answer: CommandResult) -> None:
    here = f"{os.uname().sysname} {os.uname().machine}"
    if not system:
        raise AssayError(f"host {host.name}: cannot execute sh: {answer.last_line}", "", EXIT_REFUSED)
    if system != here:
        raise AssayError(
            f"host {host.name}: is {system}, the engine is for {here}",
            "start the run on a machine with the same system as the hosts",
            EXIT_REFUSED,
        )


def _copy(shell: Shell, file: _CopiedFile, places: Sequence[str]) -> str:
    host = shell.host
    try:
        content = file.path.read_bytes()
    except OSError as error:
        raise AssayError(f"{file.path}: {error.strerror}", INSTALL_HINT, EXIT_INCOMPLETE) from None
    problem = "no folder can hold it"
    for place in places:
        words = (place, file.folder, file.name, file.sha256, file.mode)
        answer = shell.run(["sh", "-c", COPY_SCRIPT, "sh", *words], COPY_SECONDS, content)
        if answer.code == 0:
            return f"{place}/{file.folder}/{file.name}"
        problem = answer.last_line
        if answer.code == NO_HASH:
            break
    raise AssayError(
        f"host {host.name}: {file.what} cannot be copied there: {problem}", _remedy(problem, places), EXIT_REFUSED
    )


def _remedy(complaint: str, places: Sequence[str]) -> str:
    if "GLIBC" in complaint or "not found (required" in complaint:
        return "its C library is older than the engine's: use the static engine, which wheels of Assay carry"
    if "Permission denied" in complaint:
        return (
            f"programs cannot be executed in {' or '.join(places)}: set XDG_CACHE_HOME there to a folder without noexec"
        )
    if "hash" in complaint:
        return "the file was replaced during the transfer, or the transfer broke: start again"
    if "sha256sum" in complaint:
        return "install coreutils there"
    return f"make {' or '.join(places)} writable for you alone, with a few MB of space"


class HostLauncher:
    """Starts the engine on another host; its process on this machine is the client that connects to it."""

    def __init__(self, shell: Shell, path: str) -> None:
        """Use this executable.

        Args:
            shell: Shell of the host.
            path: Path of the executable there.
        """
        self.shell = shell
        self.path = path

    def start(self, arguments: Sequence[str]) -> Process:
        """See `assay.launch.launcher.Launcher`. The engine ends by itself when its pipes are closed.

        Raises:
            AssayError: The host cannot be reached.
        """
        return self.shell.popen(
            [self.path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )


def launcher_for(host: Host, engine: Engine) -> Launcher:
    """Return the launcher of a host; the engine is copied there first if necessary.

    Raises:
        AssayError: As `ensure_engine`.
    """
    if host.kind == "local":
        return LocalLauncher(Path(engine.path))
    shell = make_shell(host)
    return HostLauncher(shell, ensure_engine(shell, engine))
