"""Installs and starts the engine on other hosts: copied once for each version, checked by its hash each time."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from assay.launch.binary import INSTALL_HINT, NAME, Engine
from assay.launch.launcher import Launcher, LocalLauncher, Process
from assay.launch.shell import CommandResult, Shell, make_shell
from assay.model.base import EXIT_INCOMPLETE, EXIT_REFUSED, AssayError
from assay.model.site.host import Host

COMMAND_SECONDS = 30.0
COPY_SECONDS = 300.0
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
_PLACES = 'for b in "${XDG_CACHE_HOME:-$HOME/.cache}/assay" "/var/tmp/assay-$(id -u)"; do f=$b/engine-$1/' + NAME + "; "
FIND_SCRIPT = (
    _HASH + _SAFE + 'echo "system=$(uname -sm)"; ' + _PLACES + 'echo "place=$b"; '
    'own "$b" && own "$b/engine-$1" && [ -f "$f" ] && [ -O "$f" ] && echo "hash=$(h "$f")"; done; true'
)
"""For sh, with the beginning of the hash; prints the system, the possible folders, and the hash of a copy in them."""
COPY_SCRIPT = (
    _HASH + _SAFE + f"b=$1; d=$b/engine-$2; f=$d/{NAME}; t=$d/.copy.$$; umask 077; "
    f'no() {{ echo "$b: cannot be used, or can be changed by others" >&2; exit {UNUSABLE_FOLDER}; }}; '
    # Another user may have made a folder or a link of this name in /var/tmp.
    '[ -L "$b" ] || mkdir -p "$b" 2>/dev/null; own "$b" || no; '
    # Empty folders are removed, too.
    'trap \'rm -f "$t"; rmdir "$d" "$b" 2>/dev/null\' EXIT; '
    '[ -L "$d" ] || [ -d "$d" ] || mkdir "$d" 2>/dev/null; '
    '{ own "$d" && [ -w "$d" ]; } || no; '
    f'cat >"$t" || exit {UNUSABLE_FOLDER}; chmod 755 "$t"; x=$(h "$t"); '
    f'[ -n "$x" ] || {{ echo "sha256sum: command not found" >&2; exit {NO_HASH}; }}; '
    f'[ "$x" = "$3" ] || {{ echo "the copy has the hash $x" >&2; exit {WRONG_HASH}; }}; '
    f'"$t" --version >/dev/null || exit {CANNOT_RUN}; mv -f "$t" "$f"'
)
"""For sh, with folder, beginning of the hash, hash; the file on standard input. The copy appears whole, or not."""


def ensure_engine(shell: Shell, engine: Engine) -> str:
    """Return the engine's path on a host; it is copied there unless an identical copy exists.

    Hosts of kind `local` and `box` see this machine's file system, and use the engine where it is.

    Raises:
        AssayError: The host cannot be reached, has another architecture, no space, or cannot run the engine.
    """
    host = shell.host
    if host.kind in ("local", "box"):
        return str(engine.path)
    begin = engine.sha256[:16]
    answer = shell.run(["sh", "-c", FIND_SCRIPT, "sh", begin], COMMAND_SECONDS)
    facts = [line.partition("=")[::2] for line in answer.out.splitlines()]
    system = next((value for key, value in facts if key == "system"), "")
    _check_system(host, system, answer)
    place, places = "", []
    for key, value in facts:
        if key == "place":
            place = value
            places.append(value)
        elif key == "hash" and value == engine.sha256:
            path = f"{place}/engine-{begin}/{NAME}"
            if shell.run([path, "--version"], COMMAND_SECONDS).code == 0:
                return path
    return _copy(shell, engine, places)


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


def _copy(shell: Shell, engine: Engine, places: Sequence[str]) -> str:
    host, begin = shell.host, engine.sha256[:16]
    try:
        content = engine.path.read_bytes()
    except OSError as error:
        raise AssayError(f"{engine.path}: {error.strerror}", INSTALL_HINT, EXIT_INCOMPLETE) from None
    problem = "no folder can hold it"
    for place in places:
        answer = shell.run(["sh", "-c", COPY_SCRIPT, "sh", place, begin, engine.sha256], COPY_SECONDS, content)
        if answer.code == 0:
            return f"{place}/engine-{begin}/{NAME}"
        problem = answer.last_line
        if answer.code == NO_HASH:
            break
    raise AssayError(
        f"host {host.name}: the engine cannot be copied there: {problem}", _remedy(problem, places), EXIT_REFUSED
    )


def _remedy(complaint: str, places: Sequence[str]) -> str:
    if "GLIBC" in complaint or "not found (required" in complaint:
        return "its C library is older than the engine's: use the static engine, which wheels of Assay carry"
    if "Permission denied" in complaint:
        return (
            f"programs cannot be executed in {' or '.join(places)}: set XDG_CACHE_HOME there to a folder without noexec"
        )
    if "hash" in complaint:
        return "the engine was replaced during the transfer, or the transfer broke: start again"
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
